"""What control groups allow, and whether a test came up against it."""

import pytest
from handmade import direction, environment, fio, run, system
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.model.device import Device, DeviceKind
from diskprof.model.run import Finding, IoLimit, Run, Weight
from diskprof.model.sample import Direction, SystemSample

READ_LIMIT = IoLimit("nvme0n1", Direction.READ, True, 5000)
WRITE_LIMIT = IoLimit("nvme0n1", Direction.WRITE, False, 200_000_000)


def limited(*limits: IoLimit, words: tuple[str, ...] = ("nvme0n1: reads at most 5000 IOPS",), **more: object) -> Run:
    where = environment(io_limits=limits, cgroup_limits=words, **more)
    return run(fio(depth=32, read=direction(4_990), write=direction(190, block=1 << 20)), environment=where)


def named(name: str, tested: Run, seen: tuple[SystemSample, ...] = ()) -> Finding | None:
    return next((finding for finding in find(tested, (), seen) if finding.name == name), None)


def let_through(**figures: int) -> tuple[SystemSample, ...]:
    return tuple(replace(sample, **figures) for sample in system())


def test_a_limit_that_was_reached_is_what_the_result_shows() -> None:
    found = named("cgroup-limit-reached", limited(READ_LIMIT), let_through(cgroup_reads=1249, cgroup_writes=0))
    assert found is not None
    assert found.weight is Weight.LIMIT
    assert found.evidence == "nvme0n1: reads at most 5.00k IOPS, 5.00k IOPS measured"


def test_without_the_groups_account_the_engines_counts() -> None:
    assert named("cgroup-limit-reached", limited(READ_LIMIT)) is not None
    slower = IoLimit("nvme0n1", Direction.READ, True, 9000)
    assert named("cgroup-limit-reached", limited(slower)) is None
    found = named("cgroup-limit-reached", limited(WRITE_LIMIT))
    assert found is not None
    assert found.evidence == "nvme0n1: writes at most 200 MB/s, 199 MB/s measured"


def test_a_limit_of_the_disk_behind_a_loop_device_is_reached_too() -> None:
    behind = IoLimit("vda", Direction.READ, True, 5000)
    assert named("cgroup-limit-reached", limited(behind)) is None
    found = named("cgroup-limit-reached", limited(behind, behind=("vda1", "vda")))
    assert found is not None
    assert found.evidence == "vda: reads at most 5.00k IOPS, 4.99k IOPS measured"


@pytest.mark.parametrize("reads", [1000, 1450])
def test_a_limit_that_was_not_reached_or_is_not_in_force_is_only_a_note(reads: int) -> None:
    seen = let_through(cgroup_reads=reads)
    names = {finding.name for finding in find(limited(READ_LIMIT), (), seen)}
    assert "cgroup-limits" in names and "cgroup-limit-reached" not in names


def test_what_was_reached_is_not_told_twice() -> None:
    seen = let_through(cgroup_reads=1249)
    names = {finding.name for finding in find(limited(READ_LIMIT), (), seen)}
    assert "cgroup-limit-reached" in names
    assert "cgroup-limits" not in names


def test_a_limit_on_another_disk_says_nothing() -> None:
    other = IoLimit("sdb", Direction.READ, True, 5000)
    assert named("cgroup-limit-reached", limited(other)) is None


def test_a_limit_on_a_layer_in_between_counts() -> None:
    volume = Device("dm-0", "/dev/dm-0", DeviceKind.LVM, 253, 0, 1 << 40, parents=("nvme0n1",))
    limit = IoLimit("dm-0", Direction.READ, True, 5000)
    assert named("cgroup-limit-reached", limited(limit, device=volume)) is not None
    assert named("cgroup-limit-reached", limited(limit, layers=(volume,))) is not None


def test_cpu_time_that_is_used_up_in_every_twentieth_period_holds_the_test_back() -> None:
    tested = run(
        fio(read=direction(9_000)), environment=environment(cpu_limit=0.5, cgroup_limits=("at most 0.5 CPUs",))
    )
    rarely = tuple(replace(sample, cpu_periods=100, cpu_throttled=4, cpu_throttled_ns=1) for sample in system())
    assert named("cpu-throttled", tested, rarely) is None
    assert named("cpu-throttled", tested, system()) is None
    often = tuple(replace(s, cpu_periods=100, cpu_throttled=40, cpu_throttled_ns=30_000_000) for s in system())
    found = named("cpu-throttled", tested, often)
    assert found is not None
    assert found.weight is Weight.LIMIT
    assert found.evidence == "in 40% of the periods of the group, which allows 0.5 CPUs; 1.2 s throttled in total"
    assert named("cgroup-limits", tested, often) is None
    assert named("cgroup-limits", tested, rarely) is not None
