"""A report as one page that needs nothing else: the Markdown report, rendered, with a chart for each test."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

from diskprof.model.run import Run
from diskprof.model.sample import Sample
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Chart, Form
from diskprof.reports.charts.svg import chart
from diskprof.reports.content.comparison_report import runs_report
from diskprof.reports.content.run_report import Kernel, title_of
from diskprof.reports.render.markdown import markdown

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

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parts = groupby(runs_report(runs, series, kernel, form=Form.HTML), lambda block: isinstance(block, Chart))
    body = "".join(
        "".join(map(_figure, some)) if charts else parser.render(markdown(list(some))) for charts, some in parts
    )
    title = title_of(runs[0]) if len(runs) == 1 else f"{figures.count(len(runs), 'run')} compared"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(clean(title))}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def _figure(block: Block) -> str:
    """The plots of a chart side by side."""
    assert isinstance(block, Chart)
    return "<figure>\n" + "".join(f"{chart(plot)}\n" for plot in block.plots) + "</figure>\n"
