"""The forms of a report, and which of them the name of a file asks for."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.analysis.arms import Side, runs_of
from diskprof.model.advice import Advice
from diskprof.model.errors import UsageError
from diskprof.model.text import clean

if TYPE_CHECKING:
    from diskprof.analysis.fleet.compared import FleetsCompared
    from diskprof.analysis.fleet.result import FleetResult
    from diskprof.analysis.history import RunHistory
    from diskprof.analysis.kernel import KernelView
    from diskprof.analysis.series_figures import SeriesResult
    from diskprof.model.earlier import EarlierResult
    from diskprof.model.run import Run
    from diskprof.model.sample import Sample
    from diskprof.reports.blocks import Blocks


class Format(StrEnum):
    """What `--format` takes, in the order of its help."""

    MARKDOWN = "markdown"
    HTML = "html"
    CSV = "csv"
    SAMPLES = "samples"
    OPENMETRICS = "openmetrics"
    BENCHMARK = "benchmark"
    BENCHMARK_LATENCY = "benchmark-latency"
    BMF = "bmf"
    GOBENCH = "gobench"
    JUNIT = "junit"
    HGRM = "hgrm"

    def needs_samples(self, arms: int) -> bool:
        """Whether a report of so many arms takes more than the runs themselves; the noise of a comparison does."""
        return self in (Format.MARKDOWN, Format.HTML, Format.SAMPLES) or (self is Format.CSV and arms > 1)


class FormatFacts(Struct, frozen=True):
    """The help text of a format, and the file extensions that select it."""

    words: str
    suffixes: tuple[str, ...] = ()


FORMATS: Mapping[Format, FormatFacts] = {
    Format.MARKDOWN: FormatFacts("Markdown", (".md", ".markdown", ".txt")),
    Format.HTML: FormatFacts("a page with charts (HTML)", (".html", ".htm")),
    Format.CSV: FormatFacts("the results as CSV", (".csv",)),
    Format.SAMPLES: FormatFacts("every sample as CSV"),
    Format.OPENMETRICS: FormatFacts("OpenMetrics for node_exporter and GitLab", (".prom",)),
    Format.BENCHMARK: FormatFacts("IOPS and bandwidth as JSON for github-action-benchmark"),
    Format.BENCHMARK_LATENCY: FormatFacts("latency as JSON for github-action-benchmark"),
    Format.BMF: FormatFacts("Bencher Metric Format (JSON)"),
    Format.GOBENCH: FormatFacts("Go benchmark text for benchstat"),
    Format.JUNIT: FormatFacts("JUnit XML", (".xml",)),
    Format.HGRM: FormatFacts("latency percentiles for HdrHistogram plotters", (".hgrm",)),
}
_BY_SUFFIX = {suffix: form for form, facts in FORMATS.items() for suffix in facts.suffixes}


def format_of(path: Path) -> Format:
    """What the end of the name asks for, Markdown where there is none. Raises UsageError where it asks for nothing of these."""
    suffix = path.suffix.lower()
    if suffix and suffix not in _BY_SUFFIX:
        hint = "Name the file .md, .html or .csv"
        if suffix == ".json":
            raise UsageError(
                "A report cannot be written as .json.",
                f"{hint}. `diskprof show RUN --json` prints a run as JSON; `diskprof report --help` lists other formats.",
            )
        raise UsageError(
            f"A report cannot be written as {clean(suffix[:20])}.",
            Advice(f"{hint}, or give --format: `diskprof report --help` lists the formats.", f"{hint}."),
        )
    return _BY_SUFFIX.get(suffix, Format.MARKDOWN)


OF_ARMS = frozenset({Format.MARKDOWN, Format.HTML, Format.CSV})
"""These compare several arms."""

BY_ARM = OF_ARMS | {Format.BENCHMARK, Format.BENCHMARK_LATENCY, Format.BMF}
"""These have something to say of each arm: of a tag once, not once for each of its runs."""

OF_SERIES = frozenset({Format.MARKDOWN, Format.HTML, Format.CSV})
"""A series, and a fleet run, is one document in these; in the others it is its runs."""


def write_series(wanted: Format, result: "SeriesResult", runs: "Sequence[Run]", *, ascii_only: bool = False) -> str:
    """The report on a series, in a format of `OF_SERIES`; its `runs` are for CSV alone."""
    if wanted is Format.CSV:
        from diskprof.reports.data.tables import series_csv

        return series_csv(runs)
    from diskprof.reports.content.series_report import series_report

    title = f"{result.series.preset_title}: series {result.series.id}"
    return _document(wanted, title, series_report(result), ascii_only=ascii_only)


def write_fleet(wanted: Format, result: "FleetResult", *, ascii_only: bool = False) -> str:
    """The report on a fleet run, in a format of `OF_SERIES`."""
    if wanted is Format.CSV:
        from diskprof.reports.data.tables import fleet_csv

        return fleet_csv(result)
    from diskprof.reports.content.fleet.fleet_report import fleet_report

    title = f"{result.fleet.preset_title}: fleet run {result.fleet.id}"
    return _document(wanted, title, fleet_report(result), ascii_only=ascii_only)


def write_fleets(wanted: Format, compared: "FleetsCompared", *, ascii_only: bool = False) -> str:
    """Several fleet runs host by host, in a format of `OF_SERIES`."""
    if wanted is Format.CSV:
        from diskprof.reports.data.tables import fleets_csv

        return fleets_csv(compared)
    from diskprof.reports.blocks import Form
    from diskprof.reports.content.fleet.fleets_compared import fleets_report

    form = Form.HTML if wanted is Format.HTML else Form.MARKDOWN
    arms = compared.members[0].comparison.columns
    title = f"Comparison of fleet runs: {', '.join(clean(column.label) for column in arms)}"
    return _document(wanted, title, fleets_report(compared, form), ascii_only=ascii_only)


def _document(wanted: Format, title: str, blocks: "Blocks", *, ascii_only: bool) -> str:
    if wanted is Format.HTML:
        from diskprof.reports.render.html import document_html

        return document_html(title, blocks)
    from diskprof.reports.render.markdown import markdown

    return markdown(blocks, ascii_only=ascii_only)


def write(
    wanted: Format,
    sides: Sequence[Side],
    samples: "Mapping[str, Sequence[Sample]]",
    kernel: "Mapping[str, Mapping[int, KernelView]]",
    *,
    earlier: "Sequence[EarlierResult]" = (),
    history: "RunHistory | None" = None,
    ascii_only: bool = False,
) -> str:
    """The report on a run, or the comparison of several arms; `samples` and `kernel` are by run id. Raises ValueError of nothing,
    DiskprofError where the format has no place for what there is.

    `ascii_only` is for the sparklines of Markdown; what the runs say of themselves stays as it is.
    """
    runs = runs_of(sides)
    # Each form loads what it alone needs.
    match wanted:
        case Format.CSV:
            from diskprof.reports.data.tables import results_csv

            return results_csv(sides, samples)
        case Format.SAMPLES:
            from diskprof.reports.data.tables import samples_csv

            return samples_csv(runs, samples)
        case Format.HTML:
            from diskprof.reports.render.html import report_html

            return report_html(sides, samples, kernel=kernel, earlier=earlier, history=history)
        case Format.MARKDOWN:
            from diskprof.reports.render.markdown import report

            return report(sides, samples, kernel=kernel, earlier=earlier, ascii_only=ascii_only)
        case Format.OPENMETRICS:
            from diskprof.reports.data.openmetrics import openmetrics

            return openmetrics(runs)
        case Format.BENCHMARK | Format.BENCHMARK_LATENCY:
            from diskprof.analysis.metrics import Better
            from diskprof.reports.data.benchmark import benchmark_json

            return benchmark_json(sides, Better.HIGHER if wanted is Format.BENCHMARK else Better.LOWER)
        case Format.BMF:
            from diskprof.reports.data.benchmark import bmf_json

            return bmf_json(sides)
        case Format.GOBENCH:
            from diskprof.reports.data.gobench import gobench

            return gobench(runs)
        case Format.JUNIT:
            from diskprof.reports.data.junit import junit

            return junit(runs)
        case Format.HGRM:
            from diskprof.reports.data.hgrm import hgrm

            return hgrm(runs)


class FollowFormat(StrEnum):
    """What `--follow` takes: JSON lines, or the line protocol of InfluxDB and Telegraf."""

    JSONL = "jsonl"
    INFLUX = "influx"


def interval_lines(wanted: FollowFormat, run: "Run", samples: "Sequence[Sample]") -> Iterator[str]:
    """A line, with its end, for each of these intervals of the run and each direction."""
    from diskprof.reports.data.intervals import influx_lines, jsonl_lines

    match wanted:
        case FollowFormat.JSONL:
            return jsonl_lines(run, samples)
        case FollowFormat.INFLUX:
            return influx_lines(run, samples)
