"""Series as JSON."""

from collections.abc import Sequence

from diskprof.analysis.series_figures import SeriesFigure
from diskprof.model.run import RunSummary, Status
from diskprof.model.run_series import Repetition, RunSeries, SeriesPlan, Spread
from diskprof.reports.data.json import Json
from diskprof.reports.data.json_runs import UNITS, plan_json, summaries_json


def series_json(series: RunSeries, runs: Sequence[RunSummary], figures: Sequence[SeriesFigure]) -> Json:
    """A series, as `diskprof show --json` and `diskprof run --repeat --json` print it; its runs in short."""
    return {
        **series_head(series, runs),
        "figures": [_figure(figure, series) for figure in figures],
        "rounds": [{"repeats": spread.repeats, **_spread(spread, series)} for spread in series.spreads],
        "runs": summaries_json(runs),
    }


def series_head(series: RunSeries, runs: Sequence[RunSummary]) -> Json:
    """What a list has of a series."""
    return {
        "id": series.id,
        "kind": "series",
        "status": str(series.status),
        "reason": series.reason,
        "preset": series.preset,
        "title": series.preset_title,
        "targets": list(series.targets),
        "wanted": wanted_json(series.wanted),
        "complete_runs": sum(run.status is Status.COMPLETE for run in runs),
        "started_at": series.started_at.isoformat(),
        "ended_at": series.ended_at and series.ended_at.isoformat(),
        "tags": list(runs[-1].tags) if runs else [],
        "note": runs[-1].note if runs else "",
    }


def series_plan_json(planned: SeriesPlan) -> Json:
    """The plan of a series, as `diskprof run --repeat --dry-run --json` prints it."""
    return {
        "wanted": wanted_json(planned.wanted),
        "targets": list(planned.targets),
        "most_repeats": planned.most_rounds,
        "likely_seconds": planned.least_s,
        "bytes_written": planned.bytes_written,
        "writes_exact": planned.writes_exact,
        "plans": [plan_json(plan) for plan in planned.plans],
    }


def wanted_json(wanted: Repetition) -> Json:
    """How often a series or a fleet run repeats."""
    return {
        "repeats": wanted.repeats,
        "until": wanted.until,
        "at_most_s": wanted.at_most_s,
        "pause_s": wanted.pause_s,
        "order": str(wanted.order),
    }


def _figure(figure: SeriesFigure, series: RunSeries) -> Json:
    spread = figure.spread
    return {"title": figure.title, **_spread(spread, series), "values": list(figure.values)}


def _spread(spread: Spread, series: RunSeries) -> Json:
    return {"arm": spread.arm, "target": series.targets[spread.arm], **spread_json(spread)}


def spread_json(spread: Spread) -> Json:
    """How far apart repeats are in a figure, in its unit."""
    bounds = [spread.low, spread.high]
    return {
        "test": spread.test,
        "metric": f"{spread.direction}.{spread.quantity}",
        "unit": UNITS[spread.quantity],
        "median": spread.median,
        "interval": None if spread.range_only else bounds,
        "range": bounds if spread.range_only else None,
        "share": spread.share,
    }
