"""What the kernel saw, and all that is known of the machine, in the three kinds of report."""

import json
from pathlib import Path

import pytest
from fake_machine import Machine
from handmade import DISK, GIB, cell, direction, environment, fio, run
from msgspec.structs import replace
from recorded import record_run

from diskprof.analysis.arms import arms_of
from diskprof.analysis.conditions import differing_conditions
from diskprof.analysis.findings.find import find
from diskprof.analysis.kernel import KernelView, kernel_view, seen_by_test, while_measuring
from diskprof.devices.machine.environment import describe
from diskprof.devices.scan.tree import build_tree
from diskprof.model.device import Device, DeviceKind, Mount
from diskprof.model.run import Environment, FurtherTarget, IoLimit, Run
from diskprof.model.sample import Direction, Phase, SystemSample
from diskprof.model.target import Target, TargetKind
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_runs import run_json
from diskprof.reports.render.markdown import report
from diskprof.reports.render.text import show
from diskprof.store import Store

SECOND_NS = 1_000_000_000
VIEW = KernelView(
    *(10.0, 5000.0, 2.0, 20_480_000.0, 8192.0),
    read_wait_ns=200_000.0,
    write_wait_ns=1_000_000.0,
    read_size_bytes=4096.0,
    write_size_bytes=4096.0,
    queue_depth=1.0,
    utilisation=0.99,
    cpu_user=0.02,
    cpu_system=0.03,
    cpu_iowait=0.04,
    cpu_steal=0.2,
    temperature_c=51.0,
)
SLOW_DISK = Device("sdb", "/dev/sdb", DeviceKind.DISK, 8, 16, 100 * GIB, model="Slow 1", rotational=True)
VOLUME = Device("dm-0", "/dev/dm-0", DeviceKind.LVM, 253, 0, GIB, parents=("sdb",), dm_name="vg-data")
FURTHER = FurtherTarget("slow", VOLUME, (SLOW_DISK,), (), Mount("/mnt/slow", "xfs", ("rw",)))
FULL = environment(
    layers=(
        replace(VOLUME, name="dm-9", dm_name="vg-root"),
        replace(VOLUME, name="md0", dm_name="", kind=DeviceKind.RAID),
    ),
    store_disks=("nvme0n1",),
    cgroup_limits=("nvme0n1: reads at most 5000 IOPS", "at most 1.5 CPUs"),
    io_limits=(IoLimit("nvme0n1", Direction.READ, True, 5000),),
    cpu_limit=1.5,
    temperature_limit_c=84.85,
    others=(FURTHER,),
)


def test_the_table_has_iostats_names_and_leaves_out_what_nobody_knows() -> None:
    tested = run(fio("read", read=direction(5000)))
    text = show(tested, kernel={0: VIEW}, width=100)
    head = next(line for line in text.splitlines() if "r_await" in line)
    row = text.splitlines()[text.splitlines().index(head) + 2]
    assert " ".join(head.split()) == "Test r/s w/s MB/s r_await w_await aqu-sz %util CPU iowait steal °C"
    assert " ".join(row.split()) == "read 5.00k 2 20.5 200 us 1.00 ms 1.0 99% 5.0% 4.0% 20.0% 51"
    assert "r_await" not in show(tested)
    alone = show(tested, kernel={0: KernelView(1.0, cpu_user=0.5, cpu_system=0.25)})
    assert "Test    CPU\n----  -----\nread  75.0%" in alone


def test_on_a_narrow_terminal_what_tells_of_trouble_stays() -> None:
    tested = run(fio("a-test-with-a-long-name-that-goes-on", read=direction(5000)))
    lines = show(tested, kernel={0: VIEW}, width=72, ascii_only=True).splitlines()
    head = next(line for line in lines if "r_await" in line)
    assert max(map(len, lines[lines.index(head) : lines.index(head) + 3])) <= 72
    assert "steal" in head and "iowait" not in head


def test_the_cells_of_a_sweep_are_not_told_one_by_one() -> None:
    tested = run(cell(100, {"bs": "4k"}), cell(100, {"bs": "8k"}))
    assert "r_await" not in show(tested, kernel={0: VIEW, 1: VIEW})
    assert "the kernel saw" not in report([tested], kernel={tested.id: {0: VIEW, 1: VIEW}})


def test_markdown_has_a_line_for_each_test() -> None:
    tested = run(fio("read", read=direction(5000)), fio("unseen", read=direction(1)))
    text = report([tested], kernel={tested.id: {0: VIEW}})
    assert "## Kernel (iostat -x)" in text
    table, requests, *_ = text.split("Kernel (iostat -x)\n\n")[1].split("\n\n")
    head, _, row = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    names, _, sizes = ([cell.strip() for cell in line.strip("|").split("|")] for line in requests.splitlines())
    assert head[:6] == ["Test", "r/s", "w/s", "MB/s", "r_await", "w_await"]
    assert row[:6] == ["read", "5.00k", "2", "20.5", "200 us", "1.00 ms"]
    assert dict(zip(names, sizes, strict=True))["rareq-sz"] == "4 KiB"
    assert "unseen" not in table


def test_the_legend_is_of_the_columns_that_are_there() -> None:
    def told(**view: float) -> str:
        return report([run(fio(read=direction(1)))], kernel={"k3f7p2qa": {0: KernelView(1.0, 10.0, **view)}})

    assert "merged" not in told() and "cgroup" not in told() and "memory at" not in told()
    assert "how many were merged." in told(read_merges_per_s=5.0)
    assert "memory at the end of the test." in told(memory_available_bytes=1e9)


def test_json_has_every_figure_under_its_name() -> None:
    tested = run(fio("read", read=direction(5000)), fio("unseen", read=direction(1)))
    first, second = json.loads(dumps(run_json(tested, {0: VIEW})))["tests"]
    assert set(first["kernel"]) == set(KernelView.__struct_fields__)
    assert (first["kernel"]["reads_per_s"], first["kernel"]["throttled"]) == (5000.0, None)
    assert second["kernel"] is None


def test_json_tells_all_that_is_known_of_the_machine() -> None:
    found = json.loads(dumps(run_json(run(fio(read=direction(1)), environment=FULL))))["environment"]
    known = set(Environment.__struct_fields__)
    assert set(found) == known
    assert [layer["name"] for layer in found["layers"]] == ["dm-9", "md0"]
    assert found["io_limits"] == [{"device": "nvme0n1", "direction": "read", "unit": "IOPS", "per_second": 5000}]
    assert (found["cpu_limit"], found["temperature_limit_c"]) == (1.5, 84.85)
    (other,) = found["others"]
    assert (other["slot"], other["device"]["name"], other["mount"]["path"]) == ("slow", "dm-0", "/mnt/slow")
    assert [disk["model"] for disk in other["disks"]] == ["Slow 1"]


def test_both_targets_disks_are_told() -> None:
    tested = run(fio(read=direction(1)), environment=FULL)
    tested = replace(tested, plan=replace(tested.plan, slot="fast"))
    short, long = show(tested), " ".join(report([tested]).split())
    assert "Disk        fast: Example 1000 (nvme0n1)" in short
    assert "Disk        slow: Slow 1 (sdb)" in short
    for line in (
        "| Layers fast | vg-root (lvm) on md0 (raid) |",
        "| File system slow | xfs, rw |",
        "| Device slow | /dev/mapper/vg-data, 1 GiB |",
        "| Slows down from | 85 °C (drive limit) |",
        "| Run database | on nvme0n1 (the tested disk) |",
        "| Disk slow | Slow 1 (sdb), 100 GiB",
    ):
        assert line in long
    assert "Own tests: Example 1000 and Slow 1 in db-01" in long


def test_a_fast_and_a_slow_disk_together_are_no_platters() -> None:
    slow = replace(DISK, name="sdb", rotational=True, transport=SLOW_DISK.transport)
    fast = fio(depth=32, read=direction(2_500))
    names = {finding.name for finding in find(run(fast, environment=environment(device=slow, disks=(slow,))), (), ())}
    assert "device-cache" in names
    both = environment(device=slow, disks=(slow,), others=(FurtherTarget("fast", DISK, (DISK,)),))
    assert "device-cache" not in {finding.name for finding in find(run(fast, environment=both), (), ())}


def test_what_a_further_target_lies_on_is_looked_up(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.disk("sda")
    machine.disk("sdb")
    machine.disk("dm-0", dm__name="vg-data")
    machine.stack("dm-0", "sdb")
    places = [Target(TargetKind.DIRECTORY, f"/{name}", f"/{name}", name, "", "") for name in ("sda", "dm-0")]
    tree = build_tree(machine.roots)
    found = describe(
        places[0], tree, fio_version="", ioping_version="", others=[("second", places[1])], roots=machine.roots
    )
    (other,) = found.others
    assert (other.slot, other.device and other.device.name) == ("second", "dm-0")
    assert [disk.name for disk in found.all_disks] == ["sda", "sdb"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "runs.db")


def test_the_kernels_course_of_a_short_test_is_its_intervals(store: Store) -> None:
    run_id = record_run(store)
    samples = store.samples(run_id).samples
    for test in range(6):
        raw, course = store.system_samples(run_id, test=test), store.system_course(run_id, test, most=4096)
        rounded = [replace(one, cpu_user=None, cpu_system=None, cpu_iowait=None, cpu_steal=None) for one in raw.samples]
        assert [
            replace(one, cpu_user=None, cpu_system=None, cpu_iowait=None, cpu_steal=None) for one in course.samples
        ] == rounded
        assert [one.cpu_user for one in course.samples] == pytest.approx([one.cpu_user for one in raw.samples])
        assert course.last == raw.last
        few = store.system_course(run_id, test, most=8)
        assert len(few.samples) < len(raw.samples)
        whole, columns = (kernel_view(while_measuring(samples, one.samples, test)) for one in (raw, few))
        assert whole and columns
        assert columns.reads_per_s == pytest.approx(whole.reads_per_s, rel=0.15)
    assert set(seen_by_test(samples, store.system_samples(run_id).samples)) == set(range(6))


def test_of_intervals_taken_together_nothing_is_lost(store: Store) -> None:
    run_id = record_run(store, runtime_s=1.0)
    with_gaps = [
        SystemSample(
            *(0, Phase.MEASURING, (index + 1) * SECOND_NS, SECOND_NS),
            reads=index,
            cpu_user=None if index % 2 else 0.5,
            temperature_c=40.0 + index,
            memory_available_bytes=(1 << 50) if index < 50 else (1 << 51),
        )
        for index in range(100)
    ]
    ended = store.run(run_id).tests[0].ended_ns or 0
    start = store.run(run_id).tests[0].started_ns or 0
    width = (ended - start) // 100
    placed = [replace(one, at_ns=start + (at + 1) * width) for at, one in enumerate(with_gaps)]
    before = store.system_samples(run_id, test=0).last
    store.append(run_id, system=placed)
    assert store.system_samples(run_id, test=0).last > before
    course = [one for one in store.system_course(run_id, 0, most=10).samples if one.phase is Phase.MEASURING]
    assert 10 <= len(course) <= 11
    mine = [one for one in store.system_samples(run_id, test=0).samples if one.phase is Phase.MEASURING]
    assert sum(one.reads or 0 for one in course) == sum(one.reads or 0 for one in mine)
    assert sum(one.duration_ns for one in course) == sum(one.duration_ns for one in mine)
    assert max(one.temperature_c or 0 for one in course) == 139.0
    assert all(1 << 50 <= one.memory_available_bytes <= 1 << 51 for one in course if one.memory_available_bytes)
    assert any(one.memory_available_bytes for one in course)


def test_another_disk_of_the_second_target_is_a_condition_that_differs() -> None:
    def tested(disk: Device, fs_type: str) -> Run:
        other = FurtherTarget("second", disk, (disk,), (), Mount("/mnt/second", fs_type))
        return run(fio(read=direction(1)), environment=environment(others=(other,)))

    fast = tested(replace(DISK, name="nvme1n1", model="Example 2000"), "ext4")
    slow = tested(replace(SLOW_DISK, scheduler="mq-deadline"), "xfs")
    found = {condition.name: condition.values for condition in differing_conditions(arms_of([fast, slow]))}
    assert found["device model"] == ("Example 1000, Example 2000", "Example 1000, Slow 1")
    assert found["scheduler"] == ("none", "none, mq-deadline")
    assert found["file system"] == ("ext4", "ext4, xfs")
    assert differing_conditions(arms_of([fast, fast])) == ()
