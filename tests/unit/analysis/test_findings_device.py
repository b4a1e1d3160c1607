"""What the device is, and who else used it."""

from typing import Any

import pytest
from handmade import DISK, Given, direction, environment, fio, ioping, latency, on_disk, run, samples, system
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.model.device import Device, DeviceKind, Mount, Transport
from diskprof.model.limit import Trial
from diskprof.model.plan import Hazard, Severity
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import Environment, Finding, Latency, Run, Weight
from diskprof.model.sample import Direction, LatencyKind, SystemSample
from diskprof.model.target import Target, TargetKind

MB = 1e6
READ = fio(read=direction(100 * MB / 4096))


def named(name: str, tested: Run, seen: tuple[SystemSample, ...] = ()) -> Finding | None:
    return next((finding for finding in find(tested, (), seen) if finding.name == name), None)


def test_more_bytes_than_the_tests_own_are_somebody_elses() -> None:
    found = named("other-io", run(READ), system(read_rate=150 * MB, write_rate=20 * MB))
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence == (
        "the device read 150 MB/s, 100 MB/s from the test; the device wrote 20.0 MB/s, none from the test"
    )


def process(pid: int, name: str, read: float, write: float = 0) -> ProcessIo:
    """What it moved in the 10 s that the kernel saw, in bytes."""
    return ProcessIo(0, pid, 1, name, round(read), round(write), 0, 10**10)


def test_who_it_was_is_named_with_its_share() -> None:
    others = (process(7, "dd", 35e8), process(8, "cp", 1e8, 2e8), process(9, "sshd", 1e7))
    found = named("other-io", replace(run(READ), processes=others), system(read_rate=220 * MB, write_rate=5 * MB))
    assert found is not None
    assert found.evidence.endswith(
        "; dd (pid 7) read 117 MB/s, 93% of it; cp (pid 8) read 3.33 MB/s and wrote 6.67 MB/s, 8% of it"
    )
    assert [(each.pid, each.name, round(each.share or 0, 2)) for each in found.processes] == [
        (7, "dd", 0.93),
        (8, "cp", 0.08),
    ]
    assert found.advice == "Stop these processes or wait, and run the test again."


def test_nobody_is_named_where_nothing_is_found() -> None:
    calm = replace(run(READ), processes=(process(7, "dd", 1e8),))
    assert named("other-io", calm, system(read_rate=103 * MB)) is None


def test_no_share_is_more_than_the_whole() -> None:
    """What is written to the page cache may come to the disk after the test."""
    later = replace(run(READ), processes=(process(7, "dd", 0, 9e9),))
    found = named("other-io", later, system(read_rate=100 * MB, write_rate=20 * MB))
    assert found is not None
    assert [each.share for each in found.processes] == [1.0]
    assert "Stop this process or wait" in found.advice


def test_processes_that_may_not_be_seen_are_told_of_where_nobody_can_be_named() -> None:
    hidden = environment(hidden_processes=112)
    found = named("other-io", run(READ, environment=hidden), system(read_rate=150 * MB))
    assert found is not None
    assert "; the I/O of 112 processes of other users could not be read" in found.evidence
    assert "as root" in found.advice
    found = named("other-io", run(READ, environment=environment(hidden_processes=1)), system(read_rate=150 * MB))
    assert found and "; the I/O of 1 process of other users could not be read" in found.evidence
    known = replace(run(READ, environment=hidden), processes=(process(7, "dd", 15e8),))
    found = named("other-io", known, system(read_rate=150 * MB))
    assert found is not None and "112" not in found.evidence and "root" not in found.advice


def test_those_of_several_tests_are_together() -> None:
    both = run(READ, replace(READ, planned=replace(READ.planned, name="next")))
    others = (process(7, "dd", 1e9), replace(process(7, "dd", 2e9), test=1), replace(process(8, "cp", 1e9), test=1))
    seen = (*system(read_rate=200 * MB), *system(test=1, read_rate=200 * MB))
    found = named("other-io", replace(both, processes=others), seen)
    assert found is not None and found.test == ""
    assert [(each.pid, round(each.share or 0, 2)) for each in found.processes] == [(7, 0.67), (8, 0.33)]


@pytest.mark.parametrize(("read", "write"), [(100, 0), (108, 0), (100, 9), (95, 0), (0, 0)])
def test_a_tenth_more_is_nobodys(read: float, write: float) -> None:
    assert named("other-io", run(READ), system(read_rate=read * MB, write_rate=write * MB)) is None


def test_a_little_is_nobodys_however_small_the_test() -> None:
    one = ioping("latency", "-c", "10", read=direction(1, seconds=10))
    assert named("other-io", run(one), system(read_rate=4.9 * MB)) is None
    assert named("other-io", run(one), system(read_rate=5.1 * MB)) is not None


def test_the_pauses_of_ioping_are_time_too() -> None:
    """Ten requests in ten seconds, of which ioping says 1000 a second, because that is what the disk took for each."""
    told = replace(direction(1, seconds=10), iops=1000.0, bandwidth_bytes_per_s=4096e3)
    found = named("other-io", run(ioping("latency", "-c", "10", read=told)), system(read_rate=8 * MB))
    assert found is not None
    assert found.evidence == "the device read 8.00 MB/s, 4.10 kB/s from the test"


def test_read_ahead_is_no_other_io() -> None:
    buffered = fio(direct=False, read=direction(100 * MB / 4096))
    assert named("other-io", run(buffered), system(read_rate=300 * MB, write_rate=0.0)) is None
    assert named("other-io", run(buffered), system(read_rate=100 * MB, write_rate=30 * MB)) is not None


def test_a_mirror_writes_everything_twice() -> None:
    mirror = fio(rw="randwrite", write=direction(100 * MB / 4096))
    two = environment(disks=(DISK, replace(DISK, name="nvme1n1")))
    assert named("other-io", run(mirror, environment=two), system(read_rate=0.0, write_rate=200 * MB)) is None


def test_one_request_a_second_wakes_a_drive_up() -> None:
    one = ioping("latency", "-c", "10", read=direction(1, seconds=10))
    found = named("idle-states", run(one))
    assert found is not None
    assert found.evidence == "one request every 1 s, on nvme0n1"


@pytest.mark.parametrize(
    ("test", "more"),
    [
        (ioping("seek", "-R", "-D", read=direction(9_000)), {}),
        (ioping("latency", "-i", "10ms", read=direction(90)), {}),
        (READ, {}),
        (ioping("latency", read=direction(1)), {"transport": Transport.SATA}),
    ],
)
def test_a_drive_at_work_or_of_another_kind_does_not_sleep(test: Given, more: dict[str, object]) -> None:
    assert named("idle-states", run(test, environment=on_disk(**more))) is None


def test_a_virtual_machines_drive_is_not_said_to_sleep_and_a_containers_is() -> None:
    one = ioping("latency", read=direction(1))
    assert named("idle-states", run(one, environment=environment(virtualisation="KVM"))) is None
    assert named("idle-states", run(one, environment=environment(virtualisation="KVM, container"))) is None
    assert named("idle-states", run(one, environment=environment(virtualisation="container"))) is not None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"transport": Transport.VIRTIO, "model": ""}, "a virtual disk"),
        ({"model": "QEMU HARDDISK", "transport": Transport.SATA}, "a virtual disk"),
        ({"model": "Amazon Elastic Block Store"}, "a virtual disk"),
        ({"transport": Transport.ISCSI}, "a network disk"),
        ({"kind": DeviceKind.LOOP, "model": "", "backing_file": "/srv/disk.img"}, "a file on another file system"),
    ],
)
def test_disks_that_are_none(changes: dict[str, object], words: str) -> None:
    found = named("virtual-disk", run(READ, environment=on_disk(**changes)))
    assert found is not None
    assert found.weight is Weight.NOTE
    assert words in found.message


def test_a_network_file_system_is_somewhere_else() -> None:
    away = environment(device=None, disks=(), mount=Mount("/mnt/data", "nfs4", ("rw", "vers=4.2")))
    found = named("virtual-disk", run(READ, environment=away))
    assert found is not None
    assert "a network file system" in found.message
    assert found.evidence == "/mnt/data is nfs4"


def test_a_real_disk_is_one() -> None:
    assert named("virtual-disk", run(READ)) is None
    assert named("virtual-disk", run(READ, environment=environment(device=None, disks=()))) is None


def partition(start: int, physical: int = 512) -> Device:
    return replace(
        DISK, name="sda1", kind=DeviceKind.PARTITION, start_bytes=start, physical_block_size=physical, parents=("sda",)
    )


@pytest.mark.parametrize(
    ("start", "physical", "told"),
    [(63 * 512, 512, True), (1 << 20, 512, False), (4096, 512, False), (4096, 16384, True)],
)
def test_a_partition_begins_on_a_boundary_or_does_not(start: int, physical: int, told: bool) -> None:
    found = named("misaligned", run(READ, environment=environment(device=partition(start, physical))))
    assert (found is not None) is told


def test_a_partition_below_a_volume_counts_too() -> None:
    volume = replace(DISK, name="dm-0", kind=DeviceKind.LVM, parents=("sda1",))
    below = environment(device=volume, layers=(partition(63 * 512),))
    found = named("misaligned", run(READ, environment=below))
    assert found is not None
    assert found.evidence == "sda1 starts at byte 32256, not a multiple of 4096"
    assert named("misaligned", run(READ, environment=environment(device=volume, layers=(partition(1 << 20),)))) is None


def test_a_whole_disk_begins_nowhere() -> None:
    assert named("misaligned", run(READ)) is None


def test_limits_of_a_cgroup_are_passed_on() -> None:
    found = named("cgroup-limits", run(READ, environment=environment(cgroup_limits=("io.max riops=5000", "cpu.max 2"))))
    assert found is not None
    assert found.evidence == "io.max riops=5000; cpu.max 2"
    assert named("cgroup-limits", run(READ)) is None


def submitted(slat: float, clat: float, **more: object) -> Run:
    """A test whose reads take so many us until the kernel has them, and so many after that."""
    parts = {"slat": Latency(mean=slat * 1e3) if slat else None, "clat": latency(clat * 1e3)}
    read = replace(direction(8_000, figures=latency((slat + clat) * 1e3)), **parts)
    return run(fio(read=read, **more))  # type: ignore[arg-type]


def test_what_is_done_while_it_is_submitted_is_a_note() -> None:
    found = named("submission", submitted(122, 2.33, direct=False))
    assert found is not None
    assert found.weight is Weight.NOTE
    assert found.evidence == "reads: slat 122 us, clat 2.33 us mean"
    assert found.advice.startswith("Use direct=1")
    full = named("submission", submitted(900, 300))
    assert full is not None
    assert full.advice.startswith("Full queue")
    assert named("submission", submitted(24.1, 72)) is not None


def test_a_fio_without_a_distribution_of_lat_is_told_once() -> None:
    read = replace(direction(8_000), latency_kind=LatencyKind.CLAT)
    found = [each for each in find(run(fio("a", read=read), fio("b", read=read)), (), ()) if each.name == "only-clat"]
    assert [each.weight for each in found] == [Weight.NOTE]
    assert named("only-clat", run(fio(read=direction(8_000)))) is None


@pytest.mark.parametrize(
    "tested",
    [
        submitted(23, 72),
        submitted(4, 0.3),
        submitted(9.9, 1),
        submitted(0, 90),
        run(fio(read=direction(9))),
    ],
)
def test_submitting_that_takes_no_time_to_speak_of_is_none(tested: Run) -> None:
    assert named("submission", tested) is None


def apart(seconds: float, longest: float, numjobs: int = 2) -> Finding | None:
    """Of jobs that measured for so long from first to last, and the longest of them for so long."""
    both = run(fio(numjobs=numjobs, read=direction(4_000, seconds=longest)))
    taken = samples([4_000.0] * 4 + [0.0] * 8 + [2_000.0] * (round(seconds / 0.25) - 12))
    found = {each.name: each for each in find(both, taken, ())}
    assert "jobs-apart" not in found or not {"stall", "not-steady", "burst"} & found.keys()
    return found.get("jobs-apart")


def test_jobs_that_run_one_after_another_have_no_common_rate() -> None:
    found = apart(6.0, 3.0)
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence == (
        "6 s from the first to the last, the longest 3 s; over all of it 2.00k reads/s for the 4.00k shown"
    )
    assert apart(6.0, 6.0) is None
    assert apart(6.0, 5.6) is None
    assert apart(30.0, 27.5) is None
    assert apart(6.0, 3.0, numjobs=1) is None


def test_a_queue_depth_that_a_synchronous_engine_cannot_do() -> None:
    found = named("depth-capped", run(fio(depth=32, ioengine="psync", read=direction(9_000))))
    assert found is not None
    assert found.evidence == "iodepth=32 with ioengine=psync"
    assert named("depth-capped", run(fio(depth=32, read=direction(9_000)))) is None
    assert named("depth-capped", run(fio(depth=1, ioengine="psync", read=direction(9_000)))) is None


@pytest.mark.parametrize(
    ("options", "reads", "writes", "evidence"),
    [
        (("--rwmixwrite=5", "--rate_iops=1280"), 38_400, 38_400, "writes 5% requested, 50% done"),
        (("--rwmixread=80",), 30_000, 20_000, "writes 20% requested, 40% done"),
        (("--rwmixread=80", "--rwmixwrite=5"), 1_500, 500, "writes 5% requested, 25% done"),
    ],
)
def test_a_mix_that_was_not_kept(options: tuple[str, ...], reads: int, writes: int, evidence: str) -> None:
    mixed = fio(rw="randrw", options=options, read=direction(reads), write=direction(writes))
    found = named("mix-missed", run(mixed))
    assert found is not None
    assert (found.weight, found.evidence) == (Weight.DOUBT, evidence)


@pytest.mark.parametrize(
    ("rw", "options", "reads", "writes"),
    [
        ("randrw", ("--rwmixwrite=5",), 93_000, 7_000),
        ("randrw", ("--rate_iops=700,300",), 70_000, 30_000),
        ("randrw", ("--rwmixread=70", "--rate_iops=700,300"), 70_500, 29_500),
        ("randrw", ("--rwmixread=90",), 15, 5),
        ("randwrite", ("--rwmixread=70",), 0, 50_000),
    ],
)
def test_a_mix_that_was_kept_or_never_asked_for(rw: str, options: tuple[str, ...], reads: int, writes: int) -> None:
    read, write = (direction(ios) if ios else None for ios in (reads, writes))
    assert named("mix-missed", run(fio(rw=rw, options=options, read=read, write=write))) is None


def test_outliers_are_a_hundred_times_slower_and_slow() -> None:
    def of(maximum_ms: float) -> Run:
        return run(fio(read=direction(9_000, figures=latency(100_000, p50=100_000, max=maximum_ms * 1e6))))

    found = named("outliers", of(250))
    assert found is not None
    assert found.evidence == "slowest read 250 ms, median 100 us"
    taken = list(samples([9_000] * 40)) + list(samples([9_000] * 40, way=Direction.WRITE))
    taken[12] = replace(taken[12], max_ns=250_000_000)
    taken[60] = replace(taken[60], max_ns=900_000_000)
    (when,) = [one for one in find(of(250), taken, ()) if one.name == "outliers"]
    assert when.evidence == "slowest read 250 ms, 3.2 s into the test, median 100 us"
    assert named("outliers", of(99)) is None
    slow = run(fio(read=direction(50, figures=latency(20e6, p50=20e6, max=900e6))))
    assert named("outliers", slow) is None


def test_where_one_io_in_a_hundred_takes_as_long_the_slowest_is_no_single_one() -> None:
    """A volume of 800 IOPS at depth 32: 40% within 250 us, the others wait for the next slice of 0.1 s."""
    sliced = latency(39.6e6, p50=338e3, p99=101e6, p99_9=101e6, max=101.5e6)
    assert named("outliers", run(fio(depth=32, read=direction(800, figures=sliced)))) is None
    assert named("outliers", run(fio(read=direction(800, figures=replace(sliced, p99=10e6))))) is not None


PLATTERS = on_disk(name="sda", transport=Transport.SATA, rotational=True)
SEEKS = fio(depth=4, read=direction(150))


def requests(reads: float, writes: float, own: float = 0) -> tuple[SystemSample, ...]:
    """What the kernel counted, per second: requests of 4 KiB, so many writes for what the runner wrote."""
    return tuple(
        replace(sample, reads=round(reads / 4), writes=round(writes / 4), own_write_bytes=round(own * 1024))
        for sample in system(read_rate=reads * 4096, write_rate=writes * 4096)
    )


def test_on_platters_other_requests_count_however_small() -> None:
    found = named("other-io", run(SEEKS, environment=PLATTERS), requests(152, 40))
    assert found is not None
    assert found.evidence == "the device was asked for 152 reads and 40 writes a second, 150 reads from the test"
    assert named("other-io", run(SEEKS, environment=PLATTERS), requests(200, 0)) is not None


@pytest.mark.parametrize(
    ("tested", "reads", "writes"),
    [
        (run(SEEKS, environment=PLATTERS), 152, 12),
        (run(fio(read=direction(400)), environment=PLATTERS), 404, 32),
        (run(SEEKS), 152, 90),
        (run(SEEKS, environment=replace(PLATTERS, virtualisation="KVM")), 152, 40),
        (run(fio(block=1 << 20, read=direction(150, block=1 << 20)), environment=PLATTERS), 600, 40),
        (run(fio(rw="randrw", read=direction(75), write=direction(75)), environment=PLATTERS), 80, 140),
    ],
)
def test_a_few_requests_or_a_disk_that_does_not_seek(tested: Run, reads: float, writes: float) -> None:
    assert named("other-io", tested, requests(reads, writes)) is None


def test_who_takes_half_of_a_volumes_ios_is_found_though_they_are_small() -> None:
    """4 KiB each, far below 5 MB/s."""
    half = run(fio(depth=16, read=direction(1_000)))
    found = named("other-io", half, requests(1_000, 1_000))
    assert found is not None
    assert found.evidence == "the device was asked for 1.00k reads and 1.00k writes a second, 1.00k reads from the test"
    assert named("other-io", half, requests(2_000, 0)) is not None
    assert named("other-io", half, requests(1_040, 50)) is None


def test_what_a_short_cell_did_before_fio_counted_is_its_own() -> None:
    """A cell of a map, of 1.2 s: fio told of 541 reads at 442 a second, the kernel of 626 a second and 7 writes."""
    cell = fio(numjobs=39, read=direction(442, seconds=1.2), runtime_s=1.2)
    assert named("other-io", run(cell), requests(626, 7)) is None
    assert named("other-io", run(cell), requests(442 + 600, 7)) is not None
    written = fio(rw="write", block=1 << 17, write=direction(153, seconds=1.2, block=1 << 17), runtime_s=1.2)
    trial = replace(written, planned=replace(written.planned, trial=Trial(16, 0, written=20_000_000)))
    assert named("other-io", run(trial), system(write_rate=26e6)) is None
    assert named("other-io", run(trial), system(write_rate=36e6)) is not None
    assert named("other-io", run(written), system(write_rate=26e6)) is not None, "of a test that is no trial all counts"
    # Over ten seconds that is no more than a twentieth.
    assert named("other-io", run(fio(numjobs=39, read=direction(442))), requests(626, 7)) is not None


def test_requests_that_the_kernel_splits_are_nobodys() -> None:
    block = 64 << 10
    seen = tuple(replace(one, reads=500, writes=0) for one in system(read_rate=1_000 * block, write_rate=0.0))
    assert named("other-io", run(fio(block=block, read=direction(1_000, block=block))), seen) is None


@pytest.mark.parametrize("option", ["--fsync=1", "--fdatasync=4", "--sync=1"])
def test_a_journal_is_written_for_the_test_that_syncs(option: str) -> None:
    log = fio(rw="write", options=(option,), write=direction(2_000))
    seen = system(read_rate=0.0, write_rate=5 * 2_000 * 4096)
    assert named("other-io", run(log), seen) is None
    assert named("other-io", run(fio(rw="write", write=direction(2_000))), seen) is not None
    raw = Target(TargetKind.DEVICE, "/dev/nvme0n1", "/dev/nvme0n1", "nvme0n1")
    assert named("other-io", run(log, target=raw, file_bytes=None), seen) is not None
    assert named("other-io", run(log), system(read_rate=30 * MB, write_rate=0.0)) is not None


@pytest.mark.parametrize("mount", [None, Mount("/mnt/data", "btrfs", ("rw",))])
def test_what_no_journal_writes_is_somebody_elses(mount: Mount | None) -> None:
    """33 synced writes of 4 KiB a second, and 814 MB/s on the disk, as they were measured beside another writer."""
    log = fio(rw="write", options=("--sync=1", "--rate_iops=100"), write=direction(33))
    tested = run(log, environment=environment(mount=mount) if mount else environment())
    found = named("other-io", tested, system(read_rate=0.0, write_rate=814 * MB))
    assert found is not None
    assert found.evidence == "the device wrote 814 MB/s, 135 kB/s from the test"
    # btrfs writes 140 kB more for each.
    assert named("other-io", tested, system(read_rate=0.0, write_rate=33 * (140e3 + 4096))) is None


ONE_A_SECOND = ioping("latency", read=direction(1, seconds=30))


def test_the_store_on_the_disk_under_test_is_told_where_it_counts() -> None:
    shared = environment(store_disks=("nvme0n1",))
    found = named("store-on-disk", run(ONE_A_SECOND, environment=shared), requests(4, 8, own=6))
    assert found is not None
    assert found.weight is Weight.NOTE
    assert found.evidence == (
        "nvme0n1 did 8 writes/s beside 1 reads/s of the test: 24.6 kB/s of the 32.8 kB/s are diskprof's"
    )
    assert "DISKPROF_HOME" in found.advice
    slow = replace(PLATTERS, store_disks=("sda",))
    assert named("store-on-disk", run(SEEKS, environment=slow), requests(150, 4, own=4)) is not None


@pytest.mark.parametrize(
    ("test", "where", "writes"),
    [
        (ONE_A_SECOND, environment(store_disks=("sdb",)), 8),
        (ONE_A_SECOND, environment(), 8),
        (ONE_A_SECOND, environment(store_disks=("nvme0n1",)), 0),
        (READ, environment(store_disks=("nvme0n1",)), 8),
        (fio(rw="randwrite", write=direction(100)), environment(store_disks=("nvme0n1",)), 108),
    ],
)
def test_a_store_elsewhere_or_writes_among_many_ios_are_not_told(
    test: Given, where: Environment, writes: float
) -> None:
    assert named("store-on-disk", run(test, environment=where), requests(1, writes, own=writes)) is None


def test_an_engine_that_took_anothers_place_is_told_once() -> None:
    tested = run(fio("a", read=direction(9_000)), fio("b", read=direction(9_000)))
    assert named("engine-fallback", tested) is None
    hazards = tuple(
        Hazard("engine-fallback", Severity.WARNS, f"{name} uses libaio instead of io_uring: it is not permitted.")
        for name in ("a", "b")
    )
    capped = Hazard("depth-capped", Severity.WARNS, "other")
    found = named("engine-fallback", replace(tested, plan=replace(tested.plan, hazards=(capped, *hazards))))
    assert found is not None
    assert found.weight is Weight.NOTE
    assert found.evidence == "a uses libaio instead of io_uring: it is not permitted. And 1 more."


@pytest.mark.parametrize(
    ("more", "judged"),
    [
        ({"ioengine": "mmap"}, False),
        ({"block": 2300, "ioengine": "psync"}, False),
        ({"options": ("--bssplit=4096/50:512/50",), "ioengine": "psync"}, False),
        ({"ioengine": "psync"}, True),
        ({"ioengine": "psync", "options": ("--bsrange=4096-65536",)}, True),
    ],
)
def test_what_is_read_to_write_a_part_of_it_is_the_tests_own(more: dict[str, Any], judged: bool) -> None:
    written = fio(rw="randwrite", direct=False, write=direction(6_000), **more)
    found = named("other-io", run(written), system(read_rate=24 * MB, write_rate=0.0))
    assert (found is not None) is judged


def test_a_job_that_warms_up_beside_one_that_measures_is_nobody_else() -> None:
    both = run(fio(numjobs=2, read=direction(4_000, seconds=3.0)))
    seen, taken = system(read_rate=60 * MB), samples([2_000.0] * 24)

    def others(tested: Run) -> bool:
        return "other-io" in {finding.name for finding in find(tested, taken, seen)}

    (record,) = both.tests
    ramped = replace(both, tests=(replace(record, planned=replace(record.planned, ramp_s=1.0)),))
    assert others(both) and not others(ramped)


def test_a_search_is_not_held_against_what_it_tried_before() -> None:
    """fio's figures are of the depth that it found, the course and the kernel's account of all that it tried."""
    taken = samples([40_000.0] * 12 + [20_000.0] * 12 + [5_000.0] * 16)
    seen = system(read_rate=90 * MB)

    def found(*options: str) -> set[str]:
        tested = run(fio(depth=32, numjobs=2, options=options, read=direction(5_000, seconds=0.2)))
        return {finding.name for finding in find(tested, taken, seen)}

    assert {"other-io", "jobs-apart"} <= found()
    assert not {"other-io", "jobs-apart", "burst", "not-steady"} & found("--latency_target=1000")
