"""Series in a list of runs: one row each."""

from collections.abc import Mapping, Sequence

from diskprof.model.run import RunSummary, Status
from diskprof.model.run_series import RunSeries
from diskprof.reports import figures
from diskprof.reports.content.series_report import figure_words, plus_minus


def folded(summaries: Sequence[RunSummary], series: Mapping[str, RunSeries]) -> list[RunSummary]:
    """The runs with each series in one row, where its newest run was; the id of such a row is that of the series."""
    runs: dict[str, list[RunSummary]] = {}
    for summary in summaries:
        if summary.series and summary.series.series_id in series:
            runs.setdefault(summary.series.series_id, []).append(summary)
    found: list[RunSummary] = []
    for summary in summaries:
        mine = runs.get(summary.series.series_id) if summary.series else None
        if mine is None:
            found.append(summary)
        elif mine[0] is summary:
            found.append(series_row(series[mine[0].series.series_id if mine[0].series else ""], mine))
    return found


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
    if not series.spreads or complete < 2:
        return count
    last = series.spreads[-1]
    if len(series.targets) > 1:
        return f"{count}, {plus_minus(last)} at most"
    return f"{count}: {last.direction} {figure_words(last, last.median)} {plus_minus(last)}"
