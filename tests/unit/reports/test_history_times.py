"""When runs of a history began: a day, or a time of day where the day is the same at every tick."""

from datetime import datetime, timedelta

import pytest

from diskprof.reports.content.history.run_times import run_time, run_times

FIRST = datetime(2026, 11, 24, 18, 5, 9).astimezone()


@pytest.mark.parametrize(
    ("span", "last", "words"),
    [
        (timedelta(minutes=1), "18:06:09", "24 Nov 18:05:09 to 18:06:09"),
        (timedelta(hours=1), "19:05", "24 Nov 18:05 to 19:05"),
        (timedelta(hours=30), "26 Nov 00:05", "24 Nov 18:05 to 26 Nov 00:05"),
        (timedelta(days=3), "27 Nov", "24 Nov to 27 Nov"),
        (timedelta(days=60), "23 Jan", "24 Nov 2026 to 23 Jan"),
        (timedelta(0), "18:05:09", "24 Nov 18:05:09"),
    ],
)
def test_a_time_of_day_where_all_is_within_two_days(span: timedelta, last: str, words: str) -> None:
    end = FIRST + span
    # By the clock on the wall, whatever the zone of the machine does in these days.
    end = end.replace(tzinfo=None).astimezone()
    assert run_time(end, FIRST, end) == last
    assert run_times(FIRST, end) == words
