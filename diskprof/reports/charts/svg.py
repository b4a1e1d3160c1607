"""A chart over time as an SVG element, for a page: it starts at zero and says its unit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from diskprof.model.text import clean
from diskprof.model.units import format_duration
from diskprof.reports.charts.sparkline import even

WIDTH, HEIGHT = 480, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 24, 22
_POINTS = 240


@dataclass(frozen=True, slots=True)
class Line:
    """A curve and what it is called; `kind` is the class that the page's style gives a colour and a dash. None: no figure.

    `lasting` is how long each value held, in any unit; empty where all held as long.
    """

    label: str
    kind: str
    values: Sequence[float | None]
    lasting: Sequence[float] = ()


def chart(title: str, lines: Sequence[Line], seconds: float, write: Callable[[float], str]) -> str:
    """An `<svg>` of curves that share a scale from 0 to their largest value, over `seconds` of time; `write` words a value.

    Empty where no curve has two values.
    """
    drawn = [(line, even(line.values, line.lasting or [1.0] * len(line.values), _POINTS)) for line in lines]
    drawn = [(line, values) for line, values in drawn if sum(value is not None for value in values) > 1]
    top = max((value for _, values in drawn for value in values if value is not None), default=0.0)
    if not drawn or top <= 0:
        return ""
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    legend = "  ".join(f'<tspan class="{line.kind}">{escape(clean(line.label))}</tspan>' for line, _ in drawn)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(clean(title))}">',
        f'<text x="{_LEFT}" y="15">{escape(clean(title))}</text>',
        f'<text x="{right}" y="15" class="end" xml:space="preserve">{legend}</text>',
        f'<text x="{_LEFT - 6}" y="{_TOP + 8}" class="end">{escape(write(top))}</text>',
        f'<text x="{_LEFT - 6}" y="{bottom}" class="end">0</text>',
        f'<text x="{_LEFT}" y="{HEIGHT - 6}">0</text>',
        f'<text x="{right}" y="{HEIGHT - 6}" class="end">{escape(format_duration(seconds))}</text>',
        f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>',
    ]
    parts += [f'<path class="{line.kind}" d="{_path(values, top)}"/>' for line, values in drawn]
    return "\n".join([*parts, "</svg>"])


def _path(values: Sequence[float | None], top: float) -> str:
    """Moves and lines; where there is no figure the curve has a gap."""
    wide, high = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    words, command = [], "M"
    for index, value in enumerate(values):
        if value is None:
            command = "M"
            continue
        x = _LEFT + wide * index / max(1, len(values) - 1)
        words.append(f"{command}{x:.1f} {_TOP + high * (1 - value / top):.1f}")
        command = "L"
    return "".join(words)
