"""A plot over time as an SVG element, for a page."""

from collections.abc import Sequence
from html import escape

from diskprof.model.text import clean
from diskprof.model.units import format_duration
from diskprof.reports.charts.axes import Scale
from diskprof.reports.charts.plot import Plot

WIDTH, HEIGHT = 480, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 24, 22
_POINTS = 240


def chart(plot: Plot) -> str:
    """An `<svg>` of one facet with a linear scale over time; the ink of a curve is the class that the page's style knows."""
    scale, seconds = plot.facets[0].scale, plot.across.end
    assert isinstance(scale, Scale)
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    legend = "  ".join(f'<tspan class="{curve.ink}">{escape(clean(curve.label))}</tspan>' for curve in plot.curves)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(clean(plot.title))}">',
        f'<text x="{_LEFT}" y="15">{escape(clean(plot.title))}</text>',
        f'<text x="{right}" y="15" class="end" xml:space="preserve">{legend}</text>',
        f'<text x="{_LEFT - 6}" y="{_TOP + 8}" class="end">{escape(scale.worded(scale.top))}</text>',
        f'<text x="{_LEFT - 6}" y="{bottom}" class="end">0</text>',
        f'<text x="{_LEFT}" y="{HEIGHT - 6}">0</text>',
        f'<text x="{right}" y="{HEIGHT - 6}" class="end">{escape(format_duration(seconds))}</text>',
        f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>',
    ]
    for curve in plot.curves:
        shares = scale.shares(curve.values.columns(min(_POINTS, curve.values.resolution), seconds))
        parts.append(f'<path class="{curve.ink}" d="{_path(shares)}"/>')
    return "\n".join([*parts, "</svg>"])


def _path(shares: Sequence[float | None]) -> str:
    """Moves and lines; where there is no figure the curve has a gap."""
    wide, high = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    words, command = [], "M"
    for index, share in enumerate(shares):
        if share is None:
            command = "M"
            continue
        x = _LEFT + wide * index / max(1, len(shares) - 1)
        words.append(f"{command}{x:.1f} {_TOP + high * (1 - share):.1f}")
        command = "L"
    return "".join(words)
