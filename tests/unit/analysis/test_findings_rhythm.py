"""Stalls that come back at regular times, and dips that do not."""

from random import Random

import pytest
from handmade import direction, fio, run, samples

from diskprof.analysis.findings.find import find
from diskprof.model.run import Weight

TESTED = run(fio(read=direction(10_000)))
STEADY = [10_000.0] * 120


def dipping(
    starts: list[int], length: int = 1, low: float = 500.0, base: float = 10_000.0, noise: float = 0.05
) -> list[float]:
    """30 s of quarter seconds, with dips that begin at these."""
    random = Random(4)
    lows = {index for start in starts for index in range(start, start + length)}
    return [low if index in lows else max(0.0, random.gauss(base, base * noise)) for index in range(120)]


def names(iops: list[float], options: tuple[str, ...] = ()) -> set[str]:
    tested = run(fio(read=direction(10_000), options=options))
    return {finding.name for finding in find(tested, samples(iops), ())}


def test_a_dip_every_five_seconds_is_a_rhythm() -> None:
    found = find(TESTED, samples(dipping(list(range(12, 120, 20)), 2, noise=0.0)), ())
    assert [finding.name for finding in found] == ["periodic-stalls"]
    assert found[0].weight is Weight.LIMIT
    assert found[0].evidence == "every 5 s, 6 times, first 3 s into the test: from 10.0k to 500 IOPS for 0.5 s"


def test_a_little_late_or_early_is_still_a_rhythm() -> None:
    assert "periodic-stalls" in names(dipping([10, 31, 50, 71, 90, 110]))


@pytest.mark.parametrize(
    "iops",
    [
        STEADY,
        dipping([], noise=0.2),
        dipping([10, 20, 55, 60, 100, 105]),
        dipping([20, 40, 60, 80]),
        dipping([4, 14, 24, 34, 44]),
        dipping(list(range(0, 120, 3))),
        dipping(list(range(12, 120, 20)), low=6_000.0),
        dipping(list(range(12, 120, 20)), low=0.0, base=100.0),
    ],
    ids=["steady", "noisy", "irregular", "too few", "at the beginning alone", "too quick", "shallow", "few I/Os"],
)
def test_what_is_no_rhythm(iops: list[float]) -> None:
    assert "periodic-stalls" not in names(iops)


def test_a_wild_course_has_lows_but_no_rhythm() -> None:
    iops = [value for second in range(30) for value in [(3_000, 17_000, 9_000)[second % 3]] * 4]
    assert names(iops) == {"not-steady"}


def test_a_rhythm_explains_an_unsteady_speed() -> None:
    assert names(dipping(list(range(6, 120, 16)), 6)) == {"periodic-stalls"}


def test_pauses_that_the_test_makes_are_no_rhythm_and_a_rate_makes_none() -> None:
    dips = dipping(list(range(12, 120, 20)))
    assert "periodic-stalls" not in names(dips, ("--thinktime=500000", "--thinktime_blocks=50000"))
    assert "periodic-stalls" in names(dips, ("--rate_iops=10000",))
