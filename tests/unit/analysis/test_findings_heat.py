"""A drive too hot to keep its speed, and one that is only warm."""

from collections.abc import Sequence

import pytest
from handmade import direction, environment, fio, ioping, run, system
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.model.run import Finding, Run, Weight
from diskprof.model.sample import SystemSample

WRITING = fio(rw="write", write=direction(2_000, block=1 << 20))


def heated(*parts: tuple[float, float | None, float]) -> tuple[SystemSample, ...]:
    """Parts of (seconds, degrees, MB/s), one after the other."""
    found: list[SystemSample] = []
    for seconds, degrees, rate in parts:
        for sample in system(round(seconds * 4), read_rate=0, write_rate=rate * 1e6):
            at_ns = (len(found) + 1) * 250_000_000
            found.append(replace(sample, temperature_c=degrees, at_ns=at_ns))
    return tuple(found)


def named(seen: Sequence[SystemSample], limit: float | None = 82.0, tested: Run | None = None) -> Finding | None:
    tested = tested or run(WRITING, environment=environment(temperature_limit_c=limit))
    return next((finding for finding in find(tested, (), seen) if finding.name == "thermal-throttling"), None)


def test_slower_from_the_moment_it_was_hot() -> None:
    found = named(heated((10, 60.0, 2000), (5, 70.0, 2000), (15, 79.0, 900)))
    assert found is not None
    assert found.weight is Weight.LIMIT
    assert found.evidence == (
        "2.00 GB/s until 15 s into the test, 900 MB/s from then on, 55% less, at up to 79 °C; drive limit 82 °C"
    )


def test_a_drive_that_names_no_limit_is_hot_from_70_degrees() -> None:
    slower = heated((10, 60.0, 2000), (15, 71.0, 1500))
    found = named(slower, limit=None)
    assert found is not None
    assert found.evidence.endswith("drives throttle from about 70 °C")
    assert named(slower) is None, "far below a limit of 82"


@pytest.mark.parametrize(
    "seen",
    [
        heated((10, 60.0, 2000), (15, 79.0, 1900)),
        heated((10, 60.0, 2000), (15, 70.0, 900)),
        heated((1, 60.0, 2000), (15, 79.0, 900)),
        heated((10, 60.0, 2000), (1, 79.0, 900)),
        heated((10, None, 2000), (15, None, 900)),
        heated((25, 79.0, 900)),
        system(100, read_rate=0, write_rate=2e9),
    ],
)
def test_a_drive_that_keeps_its_speed_or_is_only_warm_is_none(seen: tuple[SystemSample, ...]) -> None:
    assert named(seen) is None


def test_at_its_own_limit_all_the_time() -> None:
    found = named(heated((20, 83.0, 900)))
    assert found is not None
    assert found.evidence == "83 °C or more throughout; drive limit 82 °C"
    assert named(heated((20, 83.0, 900)), limit=None) is None


def test_a_test_that_waits_by_itself_is_not_judged() -> None:
    slow = run(ioping("latency", read=direction(1)), environment=environment(temperature_limit_c=82.0))
    assert named(heated((10, 60.0, 2), (15, 79.0, 1)), tested=slow) is None
