"""When the runs of a history began, as its tables and axes have it: the day, or the time of day where all began within two days."""

from datetime import datetime, timedelta

from diskprof.reports.content.scorecard import day

_CLOCK_WITHIN, _SECONDS_WITHIN = timedelta(days=2), timedelta(minutes=10)


def run_time(moment: datetime, first: datetime, last: datetime) -> str:
    """A moment between the `first` run and the `last`, in local time: `12 Mar`, `23 Nov 18:05`, on one day `18:05`, of runs
    close together `18:05:09`."""
    if last - first >= _CLOCK_WITHIN:
        return day(moment, last)
    here = moment.astimezone()
    clock = f"{here:%H:%M:%S}" if last - first < _SECONDS_WITHIN else f"{here:%H:%M}"
    return clock if first.astimezone().date() == last.astimezone().date() else f"{day(moment, last)} {clock}"


def run_times(first: datetime, last: datetime) -> str:
    """`12 Mar to 24 Nov`, `24 Nov 18:05 to 19:20`."""
    begin, end = (run_time(moment, first, last) for moment in (first, last))
    if begin == end:
        return begin if begin == day(first, last) else f"{day(first, last)} {begin}"
    same_day = first.astimezone().date() == last.astimezone().date()
    return f"{day(first, last)} {begin} to {end}" if same_day and last - first < _CLOCK_WITHIN else f"{begin} to {end}"
