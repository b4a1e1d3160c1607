"""A history as JSON."""

from diskprof.analysis.history import CourseChange, FigureHistory, RunFigure, RunHistory
from diskprof.analysis.levels import Stretch
from diskprof.reports.data.json import FieldTable, Json, fields, plain


def history_json(history: RunHistory) -> Json:
    """A history, as `diskprof history --json` prints it. Values are IOPS, bytes/s or ns."""
    run = history.newest
    return {
        **fields(run.plan, "preset title=preset_title", _FIELDS),
        **fields(run.plan.target, "target=path", _FIELDS),
        **fields(history, "newest=newest.id runs since none_kept", _FIELDS),
        "figures": [plain(figure, _FIELDS) for figure in history.figures],
    }


def _level(level: Stretch, figure: FigureHistory) -> Json:
    return {
        "first_run": figure.runs[level.first].run_id,
        "last_run": figure.runs[level.end - 1].run_id,
        "runs": level.end - level.first,
        "median": level.median,
    }


def _figure(figure: FigureHistory) -> Json:
    return {
        **fields(figure, "test title direction measure better runs", _FIELDS),
        "levels": [_level(level, figure) for level in figure.levels],
        **fields(figure, "changes", _FIELDS),
    }


_FIELDS: FieldTable = {
    RunFigure: "id=run_id started_at value",
    CourseChange: "run=run.run_id started_at=run.started_at before after ratio verdict",
    FigureHistory: _figure,
}
