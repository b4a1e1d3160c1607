"""What a test of a moment is not accused of: each rule needs evidence for long enough, and speaks up with it."""

import pytest
from handmade import Given, direction, environment, fio, on_disk, run, system
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.model.device import Transport
from diskprof.model.run import Environment, IoLimit
from diskprof.model.sample import Direction, SystemSample

READ = direction(10_000)
RATE = 10_000 * 4096
ENVIRONMENT = environment()
LIMITED = environment(io_limits=(IoLimit("nvme0n1", Direction.READ, True, 10_000),))
SHARED = environment(store_disks=("nvme0n1",))


def requests(intervals: tuple[SystemSample, ...], **amounts: int) -> tuple[SystemSample, ...]:
    return tuple(replace(one, **amounts) for one in intervals)


CASES = (
    ("page-cache", fio(read=READ), ENVIRONMENT, system(4, read_rate=0.2 * RATE)),
    ("other-io", fio(read=READ), ENVIRONMENT, system(4, read_rate=2 * RATE)),
    ("cpu-steal", fio(read=READ), ENVIRONMENT, system(4, steal=0.3)),
    ("busy-machine", fio(read=READ, cpu=(0.3, 0.4)), ENVIRONMENT, system(4, user=0.6, kernel=0.4)),
    (
        *("cpu-throttled", fio(read=READ), ENVIRONMENT),
        requests(system(4), cpu_periods=3, cpu_throttled=1, cpu_throttled_ns=1_000_000),
    ),
    (
        "store-on-disk",
        fio(read=direction(30)),
        SHARED,
        requests(system(4, write_rate=65536.0), reads=8, writes=4, own_write_bytes=15_000),
    ),
)


@pytest.mark.parametrize(("name", "test", "where", "seen"), CASES, ids=[case[0] for case in CASES])
def test_the_kernels_account_counts_from_four_intervals_on(
    name: str, test: Given, where: Environment, seen: tuple[SystemSample, ...]
) -> None:
    tested = run(test, environment=where)
    assert name in {finding.name for finding in find(tested, (), seen)}
    for few in (seen[:1], seen[:3]):
        assert name not in {finding.name for finding in find(tested, (), few)}


def test_four_intervals_of_a_second_are_four_seconds() -> None:
    tested = run(fio(read=READ))
    slow = system(4, interval_s=1.0, read_rate=0.2 * RATE)
    assert "page-cache" in {finding.name for finding in find(tested, (), slow)}
    assert "page-cache" not in {finding.name for finding in find(tested, (), slow[:3])}


@pytest.mark.parametrize(
    ("name", "where", "cpu"), [("processor-bound", ENVIRONMENT, (30.0, 69.0)), ("cgroup-limit-reached", LIMITED, None)]
)
def test_the_engines_account_counts_from_a_second_on(
    name: str, where: Environment, cpu: tuple[float, float] | None
) -> None:
    for seconds in (1.0, 0.3):
        tested = run(fio(read=direction(10_000, seconds=seconds), cpu=cpu), environment=where)
        assert (name in {finding.name for finding in find(tested, (), ())}) is (seconds == 1.0)


def test_a_drive_may_do_a_handful_of_ios_faster_than_it_turns() -> None:
    platters = on_disk(transport=Transport.SATA, rotational=True)
    for seconds in (30.0, 0.03):
        tested = run(fio(depth=32, read=direction(2_500, seconds=seconds)), environment=platters)
        assert ("device-cache" in {finding.name for finding in find(tested, (), ())}) is (seconds == 30.0)
