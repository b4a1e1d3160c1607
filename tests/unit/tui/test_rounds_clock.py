"""The time axis of a test that is repeated in rounds."""

import pytest

from diskprof.model.sample import Direction, Phase, Sample
from diskprof.tui.live.test_clock import TestClock


def sample(end_s: float, way: Direction = Direction.READ) -> Sample:
    return Sample(0, Phase.MEASURING, way, round(end_s * 1e9), 10**9, 1, 1)


@pytest.mark.parametrize(("rounds", "last"), [(True, (2.0, 3.0)), (False, (59.0, 60.0))])
def test_the_time_of_other_tests_between_two_rounds_is_left_out(rounds: bool, last: tuple[float, float]) -> None:
    clock = TestClock(rounds=rounds)
    assert clock.span(sample(11.0)) == clock.span(sample(11.0, Direction.WRITE)) == (0.0, 1.0)
    assert clock.span(sample(12.0)) == (1.0, 2.0)
    assert clock.span(sample(70.0)) == clock.span(sample(70.0, Direction.WRITE)) == last
