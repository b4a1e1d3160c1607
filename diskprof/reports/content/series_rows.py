"""Series and fleet runs in a list of runs: one row each."""

from collections.abc import Mapping, Sequence

from diskprof.model.fleet import FleetRun
from diskprof.model.run import RunSummary, Status
from diskprof.model.run_series import RunSeries
from diskprof.reports import figures
from diskprof.reports.content.fleet.fleet_rows import fleet_row
from diskprof.reports.content.series_report import figure_words, plus_minus


def folded(
    summaries: Sequence[RunSummary], series: Mapping[str, RunSeries], fleets: Mapping[str, FleetRun]
) -> list[RunSummary]:
    """The runs with each series and each fleet run in one row, where its newest run was; the row has the id of the whole."""
    known = {**series, **fleets}
    runs: dict[str, list[RunSummary]] = {}
    for summary in summaries:
        if (whole := whole_of(summary)) in known:
            runs.setdefault(whole, []).append(summary)
    found: list[RunSummary] = []
    for summary in summaries:
        whole = whole_of(summary)
        mine = runs.get(whole)
        if mine is None:
            found.append(summary)
        elif mine[0] is summary:
            row = fleet_row(fleets[whole], mine) if whole in fleets else series_row(series[whole], mine)
            found.append(row)
    return found


def whole_of(run: RunSummary) -> str:
    """The id of the series or fleet run that a run is a part of; empty of one alone."""
    if run.series:
        return run.series.series_id
    return run.fleet.fleet_id if run.fleet else ""


def series_row(series: RunSeries, runs: Sequence[RunSummary]) -> RunSummary:
    """A series as a row among runs. `runs`, one at least, begin with the newest."""
    newest = runs[0]
    took = (series.ended_at - series.started_at).total_seconds() if series.ended_at else None
    return newest._replace(
        id=series.id,
        status=series.status,
        target=" | ".join(series.targets),
        started_at=series.started_at,
        duration_s=took,
        headline=row_words(series, runs),
        doubts=tuple(dict.fromkeys(doubt for run in reversed(runs) for doubt in run.doubts)),
        series=None,
    )


def row_words(series: RunSeries, runs: Sequence[RunSummary]) -> str:
    """`5 runs: read 5.01k IOPS +-0.8%`; `3 of 5 runs`; of several targets how far apart the repeats are at most."""
    complete = sum(run.status is Status.COMPLETE for run in runs)
    wanted = (series.wanted.repeats or 0) * len(series.targets)
    count = f"{complete} of {wanted} runs" if complete < wanted else figures.count(complete, "run")
    if not series.spreads or not complete:
        return count
    last = series.spreads[-1]
    if len(series.targets) > 1:
        return f"{count}, {plus_minus(last)} at most" if complete > 1 else count
    apart = f" {plus_minus(last)}" if complete > 1 else ""
    return f"{count}: {last.direction} {figure_words(last, last.median)}{apart}"
