"""What a terminal gets: a run, a comparison, a plan, the list of runs; plain text without colour."""

from __future__ import annotations

from datetime import timedelta
from operator import attrgetter
from typing import TYPE_CHECKING

from diskprof.model.run import RunSummary, Status
from diskprof.reports.layout import Column, columns_table, plain, plain_column
from diskprof.reports.render.lines import text
from diskprof.reports.words import IMPORTED, STATUSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from diskprof.analysis.comparison import Comparison
    from diskprof.analysis.kernel import KernelView
    from diskprof.model.earlier import EarlierResult
    from diskprof.model.plan import Plan
    from diskprof.model.run import Run
    from diskprof.model.sample import Sample

WIDTH = 80
_WIDE, _NARROW = 110, 72
_THIS_YEAR = timedelta(days=300)


def show(
    run: Run,
    samples: Sequence[Sample] = (),
    width: int = WIDTH,
    *,
    kernel: Mapping[int, KernelView] | None = None,
    earlier: Sequence[EarlierResult] = (),
    ascii_only: bool = False,
) -> str:
    """A whole run: what was tested, the results, what they mean, and what went wrong and where.

    `kernel` is kernel statistics of each test, by the test's number; `earlier` results of runs before it.
    """
    # Each command loads what it alone needs.
    from diskprof.reports.content.run_report import run_report

    return text(run_report(run, samples, kernel, earlier=earlier), width, ascii_only=ascii_only)


def comparison_text(comparison: Comparison, width: int = WIDTH) -> str:
    """Runs side by side."""
    from diskprof.reports.content.comparison_report import comparison_report

    return text(comparison_report(comparison), width)


def plan_text(plan: Plan, width: int = WIDTH) -> str:
    """What would happen, for --dry-run. Commands are on one line each, however long, so that they can be copied."""
    from diskprof.reports.content.plan_report import plan_report

    return text(plan_report(plan), width)


def runs_table(summaries: Sequence[RunSummary], width: int = WIDTH) -> str:
    """One line a run, in the order given. A run that is not complete says so in place of its result."""
    moments = [summary.started_at for summary in summaries]
    recent = bool(moments) and max(moments) - min(moments) < _THIS_YEAR
    # Of "2026-03-02 09:15:00+00:00": strftime takes as long as all else of a row.
    shown = slice(5, 16) if recent and width < _WIDE else slice(0, 16)
    wide, narrow = width >= _WIDE, width < _NARROW
    headings = [
        Column("Run"),
        Column("UTC"),
        Column("Preset", least=8 if narrow else 14, cut=2, middle=True),
        *([Column("Host", least=8, cut=0, middle=True), Column("Device")] if wide else []),
        *([] if narrow else [Column("Target", least=10, cut=1, middle=True)]),
        Column("Result", least=20, cut=3),
    ]
    *columns, headlines = (
        plain_column(list(map(attrgetter(name), summaries)))
        for name in ("preset", *(("hostname", "device") if wide else ()), *(() if narrow else ("target",)), "headline")
    )
    results = [
        headline
        if not (summary.imported_from or summary.tags or summary.doubts) and summary.status is Status.COMPLETE
        else result_words(summary)
        for summary, headline in zip(summaries, headlines, strict=True)
    ]
    ids, times = [summary.id for summary in summaries], [moment.isoformat(" ")[shown] for moment in moments]
    return "\n".join(columns_table(headings, [ids, times, *columns, results], width, rule=True)) + "\n"


def result_words(summary: RunSummary) -> str:
    """The headline; before it how a run ended that is not complete, or is imported, and whether it is in doubt; its tags last."""
    parts = [IMPORTED.word] if summary.imported_from else []
    parts += [] if summary.status is Status.COMPLETE else [STATUSES[summary.status].word]
    parts += ["in doubt"] if summary.doubts else []
    if summary.headline:
        parts.append(plain(summary.headline))
    tags = [f"[{plain(tag)}]" for tag in summary.tags]
    return " ".join([": ".join(parts), *tags] if parts else tags)
