"""The forms of a report, and which of them the name of a file asks for."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from diskprof.analysis.kernel import KernelView
from diskprof.model.earlier import EarlierResult
from diskprof.model.errors import UsageError
from diskprof.model.run import Run
from diskprof.model.sample import Sample


class Format(StrEnum):
    """`CSV` is the results, `SAMPLES` every sample."""

    MARKDOWN = "markdown"
    HTML = "html"
    CSV = "csv"
    SAMPLES = "samples"

    def needs_samples(self, runs: int) -> bool:
        """Whether a report of so many runs takes more than the runs themselves; the noise of a comparison does."""
        return self is not Format.CSV or runs > 1


_BY_SUFFIX = {".html": Format.HTML, ".htm": Format.HTML, ".csv": Format.CSV}
_OTHERS = frozenset(
    {".pdf", ".doc", ".docx", ".odt", ".rtf", ".tex", ".xls", ".xlsx", ".ods", ".xml", ".yaml", ".yml", ".json"}
    | {".png", ".svg", ".jpg", ".jpeg", ".gif", ".zip", ".gz", ".db"}
)


def format_of(path: Path) -> Format:
    """What the end of the name asks for, Markdown where it says nothing. Raises UsageError where it names another form."""
    suffix = path.suffix.lower()
    if suffix in _OTHERS:
        hint = "Name the file .md, .html or .csv."
        if suffix == ".json":
            hint += " `diskprof show RUN --json` prints a run as JSON."
        raise UsageError(f"A report cannot be written as {suffix}.", hint)
    return _BY_SUFFIX.get(suffix, Format.MARKDOWN)


def write(
    wanted: Format,
    runs: Sequence[Run],
    samples: Mapping[str, Sequence[Sample]],
    kernel: Mapping[str, Mapping[int, KernelView]],
    *,
    earlier: Sequence[EarlierResult] = (),
    ascii_only: bool = False,
) -> str:
    """The report on `runs`, a comparison of more than one; `samples` and `kernel` are by run id. Raises ValueError of no runs.

    `ascii_only` is for the sparklines of Markdown; what the runs say of themselves stays as it is.
    """
    # Each form loads what it alone needs.
    match wanted:
        case Format.CSV:
            from diskprof.reports.data.tables import results_csv

            return results_csv(runs, samples)
        case Format.SAMPLES:
            from diskprof.reports.data.tables import samples_csv

            return samples_csv(runs, samples)
        case Format.HTML:
            from diskprof.reports.render.html import report_html

            return report_html(runs, samples, kernel=kernel, earlier=earlier)
        case Format.MARKDOWN:
            from diskprof.reports.render.markdown import report

            return report(runs, samples, kernel=kernel, earlier=earlier, ascii_only=ascii_only)
