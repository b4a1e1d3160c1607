"""What a chart shows, whoever draws it: the screen (`tui/kit/charts`), a terminal's text (`render/plot.py`), a page (`svg.py`)."""

import math
from collections.abc import Sequence

from msgspec import Struct

from diskprof.model.histogram import Histogram
from diskprof.model.metric import Quantity
from diskprof.reports.charts.axes import AcrossAxis, LogScale, PercentileAxis, Scale, TimeAxis, UpAxis
from diskprof.reports.charts.heatmap import Heat
from diskprof.reports.charts.timeline import Timeline, Values

_MOST_NINES = 5.0
_ONE_SECOND = TimeAxis(1.0)


class Curve(Struct, frozen=True):
    """Values under a label. `ink` is the name of a colour, `end` is written where the curve ends.

    `sign`, one letter, draws the curve where lines cannot be fine. An `area` is filled down to zero.
    """

    label: str
    values: Values
    ink: str = ""
    sign: str = ""
    end: str = ""
    area: bool = False


class Facet(Struct, frozen=True):
    """One axis upward, with curves or a heat map; `letter` (R or W) in `ink` marks one of two facets."""

    scale: UpAxis
    curves: tuple[Curve, ...] = ()
    heat: Heat | None = None
    letter: str = ""
    ink: str = ""


class Cursor(Struct, frozen=True):
    """A place across that is read off, or has a `name`, and lines of (text, ink) about it, which stand in place of the title."""

    at: float
    lines: tuple[Sequence[tuple[str, str]], ...] = ()
    name: str = ""


class Plot(Struct, frozen=True):
    """Facets over one axis; `unit` and `note` are beside the title, `nothing` in place of facets that are none."""

    title: str
    across: AcrossAxis = _ONE_SECOND
    facets: tuple[Facet, ...] = ()
    unit: str = ""
    note: str = ""
    nothing: str = ""
    cursor: Cursor | None = None

    @property
    def curves(self) -> tuple[Curve, ...]:
        return tuple(curve for facet in self.facets for curve in facet.curves)


class Quantiles(Struct, frozen=True):
    """The latencies of a distribution, each further nine as wide as the one before."""

    histogram: Histogram

    @property
    def resolution(self) -> int:
        return len(self.histogram.counts)

    @property
    def highest(self) -> float:
        return float(self.histogram.maximum or 0)

    def columns(self, count: int, end: float) -> list[float | None]:
        last = math.log10(self.histogram.total) + 1e-9
        nines = (end * column / max(1, count - 1) for column in range(count))
        return [self.histogram.quantile(1.0 - 10.0**-place) if place <= last else None for place in nines]


def highest(curves: Sequence[Curve]) -> float:
    """The largest value of all, 0 of none."""
    return max((curve.values.highest for curve in curves), default=0.0)


Named = tuple[str, str, str]
"""Sign, label and ink of a curve."""


def over_time(title: str, quantity: Quantity, curves: Sequence[tuple[Named, Timeline]]) -> Plot:
    """Timelines over the seconds since the measuring began, from zero; one alone is filled."""
    known = [(named, line) for named, line in curves if line]
    if not known:
        return Plot(title, nothing="There are no samples of this test.")
    scale = Scale.of(quantity, max(line.highest for _, line in known))
    shown = tuple(_curve(named, line, area=len(known) == 1) for named, line in known)
    axis = TimeAxis(max(line.end for _, line in known))
    return Plot(f"{title} ({scale.suffix})" if scale.suffix else title, axis, (Facet(scale, shown),))


def by_percentile(title: str, curves: Sequence[tuple[Named, Histogram]]) -> Plot:
    """The latency in ns below which a share of the I/Os completed; both axes are logarithmic."""
    known = [(named, histogram) for named, histogram in curves if histogram]
    if not known:
        return Plot(title, nothing="This test has no latency distribution.")
    # A quantile beyond which there is less than one I/O says nothing.
    nines = min(_MOST_NINES, max(1.0, max(math.log10(histogram.total) for _, histogram in known)))
    lowest = min(filter(None, (histogram.minimum for _, histogram in known)), default=1)
    longest = max(filter(None, (histogram.maximum for _, histogram in known)), default=1)
    shown = tuple(_curve(named, Quantiles(histogram)) for named, histogram in known)
    return Plot(f"{title} (log)", PercentileAxis(nines), (Facet(LogScale.of(lowest, longest), shown),))


def _curve(named: Named, values: Values, *, area: bool = False) -> Curve:
    sign, label, ink = named
    return Curve(label, values, ink, sign, end=sign, area=area)
