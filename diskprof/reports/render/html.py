"""A report as one page that needs nothing else: the Markdown report, rendered, with a chart for each test."""

import re
from collections.abc import Mapping, Sequence
from html import escape

from diskprof.analysis.series import SampleFigure, by_test, measured
from diskprof.model.run import Run, TestRecord
from diskprof.model.sample import Direction, Sample
from diskprof.model.text import clean
from diskprof.model.units import format_iops, format_latency
from diskprof.reports import wording
from diskprof.reports.charts.svg import Line, chart
from diskprof.reports.render.markdown import Kernel, report, title_of

_ENVIRONMENT = re.compile(r"<h[23]>Environment</h[23]>")
_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --page: #fff; --faint: #d0d7de; --shade: #f6f8fa; }
:root { --read: #0969da; --write: #bc4c00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --page: #0d1117; --faint: #30363d; --shade: #161b22; }
  :root { --read: #58a6ff; --write: #f0883e; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); }
body { max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--faint); padding: .25rem .6rem; }
thead th { background: var(--shade); }
pre { background: var(--shade); padding: .8rem; overflow-x: auto; font-size: 13px; line-height: 1.35; }
figure { margin: 0 0 1rem; display: flex; flex-wrap: wrap; gap: 1rem; }
svg { flex: 1 1 26rem; max-width: 36rem; font-size: 12px; }
svg text { fill: var(--ink); } svg .end { text-anchor: end; }
svg path { fill: none; stroke-width: 1.5; } svg path.axis { stroke: var(--faint); }
svg path.read { stroke: var(--read); } svg path.write { stroke: var(--write); stroke-dasharray: 5 2; }
svg tspan.read { fill: var(--read); } svg tspan.write { fill: var(--write); }
""".strip()


def report_html(
    runs: Sequence[Run], series: Mapping[str, Sequence[Sample]], *, kernel: Mapping[str, Kernel] | None = None
) -> str:
    """A page of one run, or of several side by side and then each. `series` and `kernel` are by run id.

    It loads nothing from anywhere and runs no script; foreign text is text. Raises ValueError of no runs.
    """
    # Only a page needs the parser.
    from markdown_it import MarkdownIt

    text = report(runs, series, kernel=kernel)
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    places = [match.start() for match in _ENVIRONMENT.finditer(body)]
    heading = "h2" if len(runs) == 1 else "h3"
    for run, place in reversed(list(zip(runs, places, strict=True))):
        body = body[:place] + _charts(run, series.get(run.id, ()), heading) + body[place:]
    title = title_of(runs[0]) if len(runs) == 1 else f"{wording.count(len(runs), 'run')} compared"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(clean(title))}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def _charts(run: Run, samples: Sequence[Sample], heading: str) -> str:
    """IOPS and p99 of every test that is no cell of a sweep and has two intervals or more."""
    known = by_test(samples)
    figures = []
    for test in run.tests:
        if test.planned.cell:
            continue
        series = {way: measured(known.get((test.index, way), ()), test.index) for way in Direction}
        drawn = "\n".join(filter(None, _pair(test, series)))
        figures += [f"<figure>\n{drawn}\n</figure>\n"] if drawn else []
    return f"<{heading}>Charts</{heading}>\n{''.join(figures)}" if figures else ""


def _pair(test: TestRecord, series: Mapping[Direction, Sequence[Sample]]) -> tuple[str, str]:
    seconds = max(sum(sample.duration_ns for sample in samples) for samples in series.values()) / 1e9
    ways = [(way, samples) for way, samples in series.items() if samples]
    iops = [_line(way, samples, lambda sample: sample.iops) for way, samples in ways]
    tails = [_line(way, samples, lambda sample: sample.quantile(0.99)) for way, samples in ways]
    return (
        chart(f"{test.name}: IOPS", iops, seconds, format_iops),
        chart(f"{test.name}: p99 latency", tails, seconds, format_latency),
    )


def _line(way: Direction, samples: Sequence[Sample], figure: SampleFigure) -> Line:
    return Line(str(way), str(way), list(map(figure, samples)), [sample.duration_ns for sample in samples])
