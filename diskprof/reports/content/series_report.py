"""A series as a document: how it repeated, its headline figures with their intervals, and its runs."""

from datetime import UTC

from diskprof.analysis.series_figures import SeriesResult
from diskprof.model.metric import Quantity
from diskprof.model.run import RunSummary, SeriesPlace, Status, Weight
from diskprof.model.run_series import RunSeries, Spread, letter
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth, format_duration, format_iops, format_latency
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Fact, Facts, Heading, Paragraph, Table
from diskprof.reports.content.doubts import short
from diskprof.reports.content.repeat_table import repeat_blocks
from diskprof.reports.content.series_plan import repetition_words
from diskprof.reports.layout import Column
from diskprof.reports.words import STATUSES, WEIGHTS, Meaning

_WRITERS = {Quantity.IOPS: format_iops, Quantity.BANDWIDTH: format_bandwidth, Quantity.LATENCY: format_latency}
_DOUBT = WEIGHTS[Weight.DOUBT]
_UNITS = {Quantity.IOPS: " IOPS", Quantity.BANDWIDTH: "", Quantity.LATENCY: ""}


def series_report(result: SeriesResult) -> tuple[Block, ...]:
    """The report of a series; of one in progress, its runs so far."""
    series = result.series
    return (
        Heading(f"{series.preset_title} ({series.preset}): series of {figures.count(len(result.runs), 'run')}", 1),
        *([Paragraph(series.reason, STATUSES[series.status].meaning)] if series.reason else ()),
        _facts(result),
        *(Heading("Headline figures"), *_figures(result)),
        *(Heading("Runs"), _runs(result)),
    )


def series_preview(result: SeriesResult) -> tuple[Block, ...]:
    """Why it ended, and its headline figures."""
    series = result.series
    return (*([Paragraph(series.reason, STATUSES[series.status].meaning)] if series.reason else ()), *_figures(result))


def place_words(series: RunSeries, place: SeriesPlace) -> str:
    """Where a run is in its series: `repeat 3 of 5`, `repeat 3 of 5, target B`; without the 5 where no number was given."""
    count = f" of {series.wanted.repeats}" if series.wanted.repeats else ""
    target = f", target {letter(place.arm)}" if len(series.targets) > 1 else ""
    return f"repeat {place.repeat}{count}{target}"


def plus_minus(spread: Spread) -> str:
    """`+-0.8%`: how far the median may be off; of too few repeats `range 1.9%`, from the lowest to the highest."""
    if spread.range_only:
        wide = (spread.high - spread.low) / spread.median if spread.median else 0.0
        return f"range {figures.share(wide)}"
    return f"+-{figures.share(spread.share)}"


def figure_words(spread: Spread, value: float) -> str:
    """A figure of a spread with its unit: `5.01k IOPS`, `173 MB/s`, `476 us`."""
    return _WRITERS[spread.quantity](value) + _UNITS[spread.quantity]


def _facts(result: SeriesResult) -> Facts:
    series, runs = result.series, result.runs
    status = STATUSES[series.status].word
    complete = sum(run.status is Status.COMPLETE for run in runs)
    if len(series.targets) == 1:
        targets = [("Target", series.targets[0])]
    else:
        targets = [(f"Target {letter(arm)}", path) for arm, path in enumerate(series.targets)]
    took = (series.ended_at - series.started_at).total_seconds() if series.ended_at else None
    facts = [
        ("Series", f"{series.id}, {status}"),
        ("Repeats", repetition_words(series.wanted, len(series.targets))),
        ("Complete", f"{complete} of {figures.count(len(runs), 'run')}" if complete < len(runs) else ""),
        *((name, clean(path)) for name, path in targets),
        ("Host", clean(runs[0].hostname) if runs else ""),
        (
            "Started",
            f"{series.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            + (f", took {format_duration(took)}" if took is not None else ""),
        ),
        ("Pause", format_duration(series.wanted.pause_s) if series.wanted.pause_s else ""),
        ("Tags", clean(" ".join(runs[-1].tags)) if runs else ""),
        ("Note", clean(runs[-1].note) if runs else ""),
        ("Compare", f"diskprof compare {series.id}" if _comparable(result) else ""),
    ]
    told = [Fact(name, text) for name, text in facts if text]
    return Facts((*told, *_doubts(result)))


def _doubts(result: SeriesResult) -> list[Fact]:
    """`2 of 10 runs (!): other I/O on the disk`."""
    doubted = [run for run in result.runs if run.doubts]
    rules = dict.fromkeys(rule for run in doubted for rule in run.doubts)
    words = (
        f"{len(doubted)} of {figures.count(len(result.runs), 'run')} ({_DOUBT.sign}): {'; '.join(map(short, rules))}"
    )
    return [Fact(f"In {_DOUBT.word.lower()}", words, _DOUBT.meaning)] if doubted else []


def _comparable(result: SeriesResult) -> bool:
    """Whether there are complete runs of several targets."""
    return len({run.series.arm for run in result.runs if run.series and run.status is Status.COMPLETE}) > 1


def _figures(result: SeriesResult) -> list[Block]:
    if not result.figures:
        swept = bool(result.runs) and any(run.status is Status.COMPLETE for run in result.runs)
        words = "No headline figures: the runs have the results." if swept else "No complete run."
        return [Paragraph(words, Meaning.QUIET)]
    doubted = {run.series.arm for run in result.runs if run.series and run.doubts and run.status is Status.COMPLETE}
    targets = range(len(result.series.targets))
    names = {arm: letter(arm) for arm in targets} if len(targets) > 1 else {}
    return repeat_blocks(result.figures, names, "Target", doubted)


def _runs(result: SeriesResult) -> Table:
    several = len(result.series.targets) > 1
    columns = (
        *(Column("Run"), Column("Repeat", right=True), *((Column("Target"),) if several else ())),
        *(Column("UTC"), Column("Result", least=20)),
    )
    return Table(columns, tuple(_run(run, several=several) for run in result.runs), inset=True)


def _run(run: RunSummary, *, several: bool) -> tuple[Cell, ...]:
    status, doubt = STATUSES[run.status], _DOUBT.meaning if run.doubts else Meaning.PLAIN
    said = [] if run.status is Status.COMPLETE else [status.word]
    said += [f"{_DOUBT.sign} in doubt"] if run.doubts else []
    said += [run.headline] if run.headline else []
    return (
        Cell(run.id),
        Cell(str(run.series.repeat) if run.series else ""),
        *([Cell(letter(run.series.arm) if run.series else "")] if several else []),
        Cell(f"{run.started_at.astimezone(UTC):%m-%d %H:%M:%S}"),
        Cell(clean(": ".join(said)), status.meaning if run.status is not Status.COMPLETE else doubt),
    )
