"""When memory answered in place of the disk."""

import pytest
from handmade import DISK, GIB, TARGET, Given, direction, environment, fio, ioping, latency, on_disk, run, system
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.model.device import DeviceKind, Transport
from diskprof.model.run import Finding, Run, Weight
from diskprof.model.sample import Phase, SystemSample
from diskprof.model.target import TargetKind

FIRST_ARTICLE = fio("randread-qd1", ioengine="sync", direct=False, size=128 << 20, read=direction(4_104, seconds=8))
RATE = 4_104 * 4096


def named(name: str, tested: Run, seen: tuple[SystemSample, ...] = ()) -> Finding | None:
    return next((finding for finding in find(tested, (), seen) if finding.name == name), None)


def test_a_device_that_moved_far_less_was_not_asked() -> None:
    found = named("page-cache", run(FIRST_ARTICLE), system(read_rate=RATE / 10))
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence == "fio read 16.8 MB/s, the device 1.68 MB/s (10%)"
    assert "direct=1" in found.advice


def test_a_direction_that_worked_a_part_of_the_time_is_held_against_all_of_it() -> None:
    """Reads for 10 s of 30: the device's average is a third of fio's rate, and the bytes are the same."""
    both = fio(rw="randrw", numjobs=2, read=direction(9_000, seconds=10), write=direction(9_000))
    assert named("page-cache", run(both), system(read_rate=3_000 * 4096, write_rate=9_000 * 4096)) is None
    assert named("other-io", run(both), system(read_rate=3_000 * 4096, write_rate=9_000 * 4096)) is None
    found = named("page-cache", run(both), system(read_rate=300 * 4096, write_rate=9_000 * 4096))
    assert found is not None
    assert found.evidence == "fio read 12.3 MB/s, the device 1.23 MB/s (10%)"


def test_a_device_that_moved_the_same_was() -> None:
    assert named("page-cache", run(FIRST_ARTICLE), system(read_rate=RATE * 0.99)) is None


def test_writes_that_stayed_in_memory_are_found_too() -> None:
    buffered = fio("write", rw="write", direct=False, write=direction(2_000, block=1 << 20))
    assert named("page-cache", run(buffered), system(write_rate=0.3 * 2_000 * (1 << 20))) is not None
    assert named("page-cache", run(buffered), system(write_rate=0.8 * 2_000 * (1 << 20))) is None


def test_a_test_of_a_moment_in_which_the_device_did_nothing_is_found_too() -> None:
    """A file of holes is read in 40 ms; rates would need a second, amounts need none."""
    brief = run(fio(read=direction(400_000, seconds=0.04)))
    moved = 0.04 * 400_000 * 4096
    found = named("page-cache", brief, system(1, interval_s=0.04, read_rate=0.0))
    assert found is not None
    assert found.evidence == "fio read 62.5 MiB, the device almost nothing"
    assert named("page-cache", brief, system(1, interval_s=0.04, read_rate=0.02 * moved / 0.04)) is None
    assert named("page-cache", brief, system(1, interval_s=0.04)) is None
    assert named("page-cache", brief) is None


def test_a_file_system_that_ignores_direct_is_told_apart() -> None:
    found = named("page-cache", run(fio(read=direction(100_000))), system(read_rate=0.0))
    assert found is not None
    assert "ignores direct=1" in found.advice


def test_a_file_that_was_there_may_have_parts_that_were_never_written() -> None:
    tested = run(fio(read=direction(100_000)))
    target = replace(TARGET, kind=TargetKind.FILE, path="/mnt/data/disk.img")
    tested = replace(tested, plan=replace(tested.plan, target=target))
    found = named("page-cache", tested, system(read_rate=0.0))
    assert found is not None
    assert "unwritten" in found.advice


def test_a_mapped_file_is_never_read_directly() -> None:
    found = named("page-cache", run(fio(ioengine="mmap", read=direction(100_000))), system(read_rate=0.0))
    assert found is not None
    assert found.advice == "mmap uses the page cache: use another ioengine with direct=1."


def test_an_engine_that_does_nothing_shows_no_disk_and_no_cache() -> None:
    nothing = run(fio(ioengine="null", direct=False, read=direction(10_000_000)))
    names = {finding.name for finding in find(nothing, (), system(read_rate=0.0))}
    assert "null-engine" in names
    assert not names & {"page-cache", "small-working-set", "host-cache", "device-cache"}
    assert named("null-engine", run(fio(read=direction(10_000)))) is None


@pytest.mark.parametrize(
    "test",
    [
        ioping("cached", "-R", "-C", read=direction(156_733, seconds=3)),
        ioping("latency", "-c", "10", read=direction(1, seconds=10)),
    ],
)
def test_a_cached_test_and_a_handful_of_requests_are_not_judged(test: Given) -> None:
    assert named("page-cache", run(test), system(read_rate=0.0)) is None


def test_without_the_kernels_view_there_is_no_evidence() -> None:
    assert named("page-cache", run(FIRST_ARTICLE), system()) is None
    assert named("page-cache", run(FIRST_ARTICLE), system(read_rate=0.0, phase=Phase.PREPARING)) is None


def test_a_small_buffered_test_may_have_been_answered_from_memory() -> None:
    found = named("small-working-set", run(FIRST_ARTICLE))
    assert found is not None
    assert found.weight is Weight.NOTE
    assert found.evidence == "128 MiB of data, 16 GiB of memory"
    assert named("small-working-set", run(FIRST_ARTICLE), system(read_rate=RATE * 0.7)) is not None


def test_nothing_is_said_where_the_device_answered_or_the_cache_surely_did() -> None:
    assert named("small-working-set", run(FIRST_ARTICLE), system(read_rate=RATE * 0.99)) is None
    assert named("small-working-set", run(FIRST_ARTICLE), system(read_rate=RATE * 0.1)) is None


def test_a_direct_or_a_large_test_is_not_small() -> None:
    assert named("small-working-set", run(fio(read=direction(1_000)))) is None
    large = fio(direct=False, size=64 * GIB, read=direction(1_000))
    assert named("small-working-set", run(large, file_bytes=64 * GIB)) is None
    unknown = run(FIRST_ARTICLE, environment=environment(memory_bytes=0))
    assert named("small-working-set", unknown) is None


@pytest.mark.parametrize("option", ["--fsync=1", "--fdatasync=1", "--sync=1", "--sync=dsync"])
def test_writes_that_each_wait_until_they_are_safe_are_not_hidden_by_the_cache(option: str) -> None:
    written = fio("wal", rw="write", ioengine="sync", direct=False, options=(option,), write=direction(500))
    assert named("small-working-set", run(written)) is None


@pytest.mark.parametrize(
    ("rw", "ioengine", "options"),
    [
        ("write", "sync", ()),
        ("write", "sync", ("--fsync=32",)),
        ("write", "sync", ("--fdatasync=0",)),
        ("write", "sync", ("--sync=0",)),
        ("write", "sync", ("--end_fsync=1",)),
        ("randrw", "sync", ("--fsync=1",)),
        ("randread", "sync", ("--fdatasync=1",)),
        ("randwrite", "mmap", ("--sync=1",)),
    ],
)
def test_what_may_stay_in_memory_for_a_while_is_told(rw: str, ioengine: str, options: tuple[str, ...]) -> None:
    tested = fio("some", rw=rw, ioengine=ioengine, direct=False, options=options, write=direction(500))
    assert named("small-working-set", run(tested)) is not None


def test_a_target_in_memory_is_no_disk() -> None:
    there = replace(TARGET, path="/dev/shm", fs_type="tmpfs", device="")
    found = named("memory-file-system", run(FIRST_ARTICLE, target=there))
    assert found is not None
    assert found.evidence == "/dev/shm is on tmpfs"
    assert named("memory-file-system", run(FIRST_ARTICLE)) is None


HARD_DISK = on_disk(name="sda", transport=Transport.SATA, rotational=True)


def test_no_platter_does_twelve_thousand_a_second() -> None:
    found = named("device-cache", run(fio(depth=32, read=direction(12_000)), environment=HARD_DISK))
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence == "12.0k random reads a second on sda, which rotates; 1 GiB of data"
    two = environment(disks=(DISK, replace(DISK, name="sdb")))
    two = replace(two, disks=tuple(replace(disk, transport=Transport.SAS, rotational=True) for disk in two.disks))
    assert named("device-cache", run(fio(depth=32, read=direction(1_900)), environment=two)) is None
    both = named("device-cache", run(fio(depth=32, rw="randwrite", write=direction(2_100)), environment=two))
    assert both is not None
    assert both.evidence.startswith("2.10k random writes a second on nvme0n1, sdb, which rotate;")


@pytest.mark.parametrize(
    "tested",
    [
        run(fio(depth=32, read=direction(600)), environment=HARD_DISK),
        run(fio(depth=32, read=direction(12_000))),
        run(fio(rw="read", read=direction(12_000)), environment=HARD_DISK),
        run(fio(depth=32, direct=False, read=direction(12_000)), environment=HARD_DISK),
        run(fio(read=direction(12_000)), environment=replace(HARD_DISK, virtualisation="KVM")),
        run(fio(read=direction(12_000)), environment=on_disk(transport=Transport.VIRTIO, rotational=True)),
        run(fio(read=direction(12_000)), environment=on_disk(kind=DeviceKind.LOOP, rotational=True)),
    ],
)
def test_what_a_disk_can_do_is_no_cache(tested: Run) -> None:
    assert named("device-cache", tested) is None


VIRTUAL = on_disk(name="vda", model="", transport=Transport.VIRTIO)


def read_in(p50_us: float, **more: object) -> Given:
    figures = latency(p50_us * 1e3, p50=p50_us * 1e3)
    return fio(read=direction(20_000, figures=figures), **more)  # type: ignore[arg-type]


def test_a_virtual_disk_faster_than_flash_is_memory() -> None:
    found = named("host-cache", run(read_in(22), environment=VIRTUAL))
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence == "half of the random reads took 22.0 us or less; 1 GiB of data"
    assert named("host-cache", run(read_in(22), environment=on_disk(kind=DeviceKind.LOOP))) is not None
    rapid = ioping("seek", "-R", "-D", read=direction(30_000, figures=latency(30e3)))
    assert named("host-cache", run(rapid, environment=VIRTUAL)) is not None


@pytest.mark.parametrize(
    "tested",
    [
        run(read_in(70), environment=VIRTUAL),
        run(read_in(22)),
        run(read_in(22, rw="read"), environment=VIRTUAL),
        run(read_in(22, block=1 << 20), environment=VIRTUAL),
        run(read_in(22, direct=False), environment=VIRTUAL),
        run(fio(rw="randwrite", write=direction(90_000)), environment=VIRTUAL),
        run(ioping("cached", "-R", "-C", read=direction(500_000, figures=latency(2e3))), environment=VIRTUAL),
    ],
)
def test_a_flash_drive_in_a_guest_or_a_disk_of_ones_own_is_no_cache(tested: Run) -> None:
    assert named("host-cache", tested) is None
