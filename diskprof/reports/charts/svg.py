"""A plot over time, or over runs, as an SVG element, for a page."""

from collections.abc import Sequence
from html import escape

from diskprof.model.text import clean
from diskprof.model.units import format_duration
from diskprof.reports.charts.axes import NameAxis, Scale, TimeAxis
from diskprof.reports.charts.plot import Plot

WIDTH, HEIGHT = 480, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 24, 22
_POINTS = 240
_TICKS = 5
_ENDS, _MIDDLE = ' class="end"', ' class="middle"'


def chart(plot: Plot) -> str:
    """An `<svg>` of one facet with a linear scale over time or names; the ink of a curve is a class of the page's style."""
    scale, seconds = plot.facets[0].scale, plot.across.end
    assert isinstance(scale, Scale)
    assert isinstance(plot.across, TimeAxis | NameAxis)
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    legend = "  ".join(f'<tspan class="{curve.ink}">{escape(clean(curve.label))}</tspan>' for curve in plot.curves)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(clean(plot.title))}">',
        f'<text x="{_LEFT}" y="15">{escape(clean(plot.title))}</text>',
        f'<text x="{right}" y="15" class="end" xml:space="preserve">{legend}</text>',
        *_upward(scale, bottom),
        *_across(plot.across, right),
        f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>',
    ]
    if plot.cursor and seconds:
        x = _LEFT + (right - _LEFT) * plot.cursor.at / seconds
        parts.append(f'<path class="axis" stroke-dasharray="4 3" d="M{x:.1f} {_TOP}V{bottom}"/>')
        parts.append(f'<text x="{x - 4:.1f}" y="{_TOP + 9}" class="end">{escape(clean(plot.cursor.name))}</text>')
    for curve in plot.curves:
        shares = scale.shares(curve.values.columns(min(_POINTS, curve.values.resolution), seconds))
        parts.append(f'<path class="{curve.ink}" d="{_path(shares)}"/>')
    return "\n".join([*parts, "</svg>"])


def _upward(scale: Scale, bottom: int) -> list[str]:
    """The ticks of the scale, the lowest at `bottom`."""
    # Figures are as high as 8: they hang from the highest tick, stand on the lowest, and are half above the others.
    return [
        f'<text x="{_LEFT - 6}" y="{bottom - (bottom - _TOP - 8) * part / scale.parts:g}" class="end">'
        f"{escape(scale.worded(value) if value else '0')}</text>"
        for part, value in enumerate(scale.ticks)
    ]


def _across(axis: TimeAxis | NameAxis, right: int) -> list[str]:
    """Round times, the last with its unit, of a time shorter than the first of them its end; of names the first, the last and
    some between them."""
    if isinstance(axis, NameAxis):
        return _named(axis, right)
    ticks = axis.ticks(_TICKS) if axis.end >= 1 else ((0.0, "0"), (axis.end, format_duration(axis.end)))
    return [
        f'<text x="{_LEFT + (right - _LEFT) * place / axis.end:.0f}" y="{HEIGHT - 6}"{_ENDS if place else ""}>{text}</text>'
        for place, text in ticks
    ]


def _named(axis: NameAxis, right: int) -> list[str]:
    last = len(axis.names) - 1
    places = dict.fromkeys(round(last * part / (_TICKS - 1)) for part in range(_TICKS))
    anchors = {0: "", last: _ENDS}
    return [
        f'<text x="{_LEFT + (right - _LEFT) * place / max(1, last):.0f}" y="{HEIGHT - 6}"'
        f"{anchors.get(place, _MIDDLE)}>{escape(clean(axis.names[place]))}</text>"
        for place in places
    ]


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
