"""A report as one page that needs nothing else: the Markdown report, rendered, with charts and with tables in colour."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

from diskprof.analysis.arms import Side
from diskprof.analysis.history import RunHistory
from diskprof.model.earlier import EarlierResult
from diskprof.model.sample import Sample
from diskprof.model.text import clean
from diskprof.reports import colours, figures
from diskprof.reports.blocks import Block, Cell, Chart, Form, Heading, Picture, Table
from diskprof.reports.charts.mosaic import mosaic_svg
from diskprof.reports.charts.svg import chart
from diskprof.reports.content.comparison_report import runs_sections
from diskprof.reports.content.history.history_report import history_report
from diskprof.reports.content.history.history_report import title as history_title
from diskprof.reports.content.run_report import Kernel
from diskprof.reports.layout import plain
from diskprof.reports.render.markdown import markdown
from diskprof.reports.words import Meaning

_COLOURED = (Meaning.GOOD, Meaning.BAD, Meaning.WARNING, Meaning.QUIET)
_TONES = {
    "read": colours.READ,
    "write": colours.WRITE,
    "good": colours.GOOD,
    "bad": colours.BAD,
    "warning": colours.WARNING,
    "quiet": colours.QUIET,
    **{f"run-{at}": tones for at, tones in enumerate(colours.RUNS)},
}
_LIGHT = " ".join(f"--{name}: {tones.light};" for name, tones in _TONES.items())
_DARK = " ".join(f"--{name}: {tones.dark};" for name, tones in _TONES.items())
_STYLE = (
    f"""
:root {{ color-scheme: light dark; --ink: #1f2328; --page: #fff; --faint: #d0d7de; --shade: #f6f8fa; }}
:root {{ {_LIGHT} }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e6edf3; --page: #0d1117; --faint: #30363d; --shade: #161b22; }}
  :root {{ {_DARK} }}
}}
"""
    + """
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); }
body { max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--faint); padding: .25rem .6rem; }
thead th { background: var(--shade); }
summary { cursor: pointer; } summary h2 { display: inline-block; margin: .6rem 0; }
pre { background: var(--shade); padding: .8rem; overflow-x: auto; font-size: 13px; line-height: 1.35; }
figure { margin: 0 0 1rem; display: flex; flex-wrap: wrap; gap: 1rem; }
svg { flex: 1 1 26rem; max-width: 36rem; font-size: 12px; }
svg text { fill: var(--ink); } svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg path { fill: none; stroke-width: 1.5; } svg path.axis { stroke: var(--faint); }
svg.mosaic { max-width: 44rem; } svg rect.cell { fill: var(--run-0); }
svg path.edge { stroke: var(--bad); stroke-width: 2.5; }
svg path.read { stroke: var(--read); } svg path.write { stroke: var(--write); stroke-dasharray: 5 2; }
svg tspan.read { fill: var(--read); } svg tspan.write { fill: var(--write); }
svg path.run-0 { stroke: var(--run-0); } svg tspan.run-0 { fill: var(--run-0); }
svg path.run-1 { stroke: var(--run-1); stroke-dasharray: 5 2; } svg tspan.run-1 { fill: var(--run-1); }
svg path.run-2 { stroke: var(--run-2); stroke-dasharray: 2 2; } svg tspan.run-2 { fill: var(--run-2); }
svg path.run-3 { stroke: var(--run-3); stroke-dasharray: 8 2 2 2; } svg tspan.run-3 { fill: var(--run-3); }
td.right, th.right { text-align: right; }
.good { color: var(--good); } .bad { color: var(--bad); } .warning { color: var(--warning); } .quiet { color: var(--quiet); }
"""
)


def report_html(
    sides: Sequence[Side],
    samples: Mapping[str, Sequence[Sample]],
    *,
    kernel: Mapping[str, Kernel] | None = None,
    earlier: Sequence[EarlierResult] = (),
    history: RunHistory | None = None,
) -> str:
    """A page of one run, or of several arms side by side and then each run. `samples` and `kernel` are by run id.

    `earlier` is what was measured before a single run, `history` the history of the runs like it.

    It loads nothing from anywhere and runs no script; foreign text is text. Raises ValueError of nothing.
    """
    first, *others = runs_sections(sides, samples, kernel, earlier=earlier, history=history, form=Form.HTML)
    body = _parsed(first)
    for heading, *rest in others:
        # The comparison is what is read; a run in full opens at a click.
        body += f"<details>\n<summary>{_parsed([heading]).strip()}</summary>\n{_parsed(rest)}</details>\n"
    title = next(each.text for each in first if isinstance(each, Heading))
    return _page(title, body)


def history_html(history: RunHistory) -> str:
    """A page of the history of like runs, with a chart of its figures."""
    return _page(history_title(history), _parsed(history_report(history, charts=True)))


def document_html(title: str, blocks: Sequence[Block]) -> str:
    """A page of one document."""
    return _page(title, _parsed(blocks))


def _page(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(clean(title))}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def _parsed(blocks: Sequence[Block]) -> str:
    # Only a page needs the parser.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    groups = [(here, list(group)) for here, group in groupby(blocks, _drawn_here)]
    return "".join("".join(map(_drawn, each)) if here else parser.render(markdown(each)) for here, each in groups)


def _drawn_here(block: Block) -> bool:
    """Whether Markdown lacks what the block has: plots, or colours of cells."""
    return isinstance(block, Chart | Picture | Table)


def _drawn(block: Block) -> str:
    return _table(block) if isinstance(block, Table) else _figure(block)


def _table(table: Table) -> str:
    """The table as Markdown has it, with the meanings of its cells as classes."""
    shown = [
        at for at, column in enumerate(table.columns) if not column.below or any(row[at].text for row in table.rows)
    ]
    head = "".join(_cell("th", table.columns[at].text, right=table.columns[at].right) for at in shown)
    lines = []
    for row in table.rows:
        cells = [(row[at], table.columns[at]) for at in shown]
        lines.append(
            "".join(
                _cell("td", cell.text or (figures.MISSING if column.below else ""), cell, right=column.right)
                for cell, column in cells
            )
        )
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    title = f"<p>{escape(plain(table.title))}:</p>\n" if table.title else ""
    legend = f"<p>{escape(plain(table.legend))}</p>\n" if table.legend else ""
    grid = f"<table>\n<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
    return f"{title}{grid}{legend}"


def _cell(tag: str, text: str, cell: Cell | None = None, *, right: bool) -> str:
    classes = ["right"] if right else []
    classes += [cell.meaning.value] if cell and cell.meaning in _COLOURED else []
    about = f' class="{" ".join(classes)}"' if classes else ""
    words = escape(plain(text))
    return f"<{tag}{about}>{f'<strong>{words}</strong>' if cell and cell.strong else words}</{tag}>"


def _figure(block: Block) -> str:
    """The plots of a chart side by side; a picture alone."""
    if isinstance(block, Picture):
        return f"<figure>\n{mosaic_svg(block.mosaic)}\n</figure>\n"
    assert isinstance(block, Chart)
    return "<figure>\n" + "".join(f"{chart(plot)}\n" for plot in block.plots) + "</figure>\n"
