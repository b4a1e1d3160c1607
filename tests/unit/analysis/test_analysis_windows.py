"""Which samples count, and how intervals become windows."""

from random import Random

import pytest
from handmade import samples
from msgspec.structs import replace

from diskprof.analysis.windows import by_test, joined, measured, rolling, thinned, windows
from diskprof.model.sample import Direction, Phase


def test_only_the_measuring_phase_of_one_test_counts() -> None:
    ramp = samples([500] * 4, phase=Phase.WARMING)
    other = samples([900] * 4, test=1)
    mine = samples([100] * 4)
    assert measured((*ramp, *other, *mine), 0) == mine


def test_the_short_tail_is_left_out() -> None:
    whole = samples([100] * 4)
    tail = replace(whole[-1], at_ns=whole[-1].at_ns + 3_000_000, duration_ns=3_000_000)
    assert measured((*whole, tail), 0) == whole


def test_directions_of_one_moment_are_added() -> None:
    read, write = samples([100] * 4), samples([40] * 4, way=Direction.WRITE)
    found = windows(measured((*read, *write), 0))
    assert [window.iops for window in found] == [140.0] * 4
    assert found[-1].end_s == 1.0


def test_windows_of_a_second_hold_four_intervals_and_leave_out_the_rest() -> None:
    found = windows(samples([100, 200, 300, 400, 80, 80, 80, 80, 1000]), 1.0)
    assert [round(window.iops) for window in found] == [250, 80]
    assert found[1].start_s == 1.0
    assert found[0].bandwidth == found[0].bytes


def test_a_rolling_window_begins_with_each_interval_that_enough_follow() -> None:
    intervals = windows(samples([100, 200, 300, 400, 500, 600]))
    found = rolling(intervals, 1.0)
    assert [(window.start_s, window.end_s, window.iops) for window in found] == [
        (0.0, 1.0, 250.0),
        (0.25, 1.25, 350.0),
        (0.5, 1.5, 450.0),
    ]
    assert [window.bytes for window in found] == [window.ios * 4096 for window in found]
    assert rolling(intervals, 0.1) == intervals
    assert rolling(intervals, 2.0) == ()


@pytest.mark.parametrize("shortest_s", [0.1, 0.25, 0.5, 1.0, 2.0, 60.0])
@pytest.mark.parametrize("interval_s", [0.25, 0.5, 1.0])
def test_windows_are_joined_as_they_are_made_of_samples(interval_s: float, shortest_s: float) -> None:
    random = Random(3)
    mine = samples([random.randrange(1, 500) for _ in range(60)], interval_s=interval_s)
    uneven = tuple(replace(one, duration_ns=one.duration_ns + random.randrange(-900_000, 900_000)) for one in mine)
    for taken in (mine, uneven, ()):
        assert joined(windows(taken), shortest_s) == windows(taken, shortest_s)


def test_of_nothing_there_is_nothing() -> None:
    assert rolling((), 1.0) == ()
    assert measured((), 0) == ()
    assert windows(()) == ()


def test_samples_are_told_apart_by_test_and_direction() -> None:
    one, other, write = samples([1] * 2), samples([1] * 3, test=1), samples([1] * 4, way=Direction.WRITE)
    found = by_test((*one, *other, *write))
    assert {key: len(taken) for key, taken in found.items()} == {
        (0, Direction.READ): 2,
        (1, Direction.READ): 3,
        (0, Direction.WRITE): 4,
    }


def test_many_samples_are_thinned_and_few_are_not() -> None:
    taken = samples([1] * 1000)
    assert len(thinned(taken, 240)) == 200
    assert thinned(taken[:240], 240) == taken[:240]
    assert thinned((), 240) == ()
