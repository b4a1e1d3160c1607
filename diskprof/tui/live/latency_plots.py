"""What is shown of latencies and of single moments: the tile, the course, the logarithmic views, the cursor. Pure functions."""

from __future__ import annotations

from diskprof.model.cells import fit
from diskprof.model.run import TestRecord
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth, format_iops, format_latency
from diskprof.reports.charts.axes import LogScale, TimeAxis
from diskprof.reports.charts.plot import Cursor, Curve, Facet, Plot, by_percentile
from diskprof.reports.charts.timeline import Timeline
from diskprof.reports.words import DIRECTIONS
from diskprof.tui.kit.painted import Line, Piece, spread, width_of
from diskprof.tui.live.depths import Depths
from diskprof.tui.live.run_reader import Reading, Track
from diskprof.tui.shell.run_signs import ink_of, sign_of

NAMES = (("typical", "p50", "5"), ("slow", "p99", "9"), ("tail", "p99.9", "+"), ("most", "max", "^"))
"""A timeline of a track, what it is called, and its sign in a coarse picture."""
_PLAIN_NAMES = (("typical", "mean", "o"), ("most", "max", "^"))
_GIVES_WAY = ("spaces", "bandwidth", "word", "typical", "tail", "slow")
"""What the line of a moment does without, one after the other, where it has no room."""
_NOTHING = "No request has completed yet."
_LABEL, _FIGURE = 6, 8
_LEAST_EACH, _LEAST_TOGETHER = 4, 3
"""Rows that a picture takes at least, where there is one a direction, and where there is one for both."""


def names_of(reading: Reading) -> tuple[tuple[str, str, str], ...]:
    if reading.percentiles:
        return NAMES
    # The kernel counts sums alone.
    return _PLAIN_NAMES if reading.most is not None else _PLAIN_NAMES[:1]


def latency_tile(track: Track, depths: Depths | None, width: int, height: int) -> list[Line]:
    """p50, p99, p99.9 and, where there is a line for it, the maximum: of the last interval, and of the test so far."""
    directions = track.directions
    if width < 12 or height < 2:
        return []
    if not directions:
        return [[("Latency", "title")], [("–", "quiet")]]
    places: tuple[str, ...] = ("now", "test")
    if _LABEL + 2 * _FIGURE * len(directions) > width:
        # What is cut would be another figure.
        places = places[:1]
    several = len(directions) > 1
    head: list[Piece] = [("Latency", "title")]
    at = len("Latency")
    for number, direction in enumerate(directions):
        for place, words in enumerate(places):
            end = _LABEL + _FIGURE * (len(places) * number + place + 1)
            text = f"{DIRECTIONS[direction].sign} {words}" if several else words
            head += [(" " * max(0, end - at - len(text)), ""), (text, ink_of(DIRECTIONS[direction]))]
            at = max(at + len(text), end)
    lines: list[Line] = [spread(head, [], width)]
    for key, name, _ in names_of(track.last[directions[0]]):
        line: list[Piece] = [(fit(name, _LABEL), "quiet")]
        for direction in directions:
            line.append((_figure(getattr(track.last[direction], key)), "strong"))
            if len(places) > 1:
                line.append((_figure(whole_of(track, depths, direction, key)), ""))
        lines.append(line)
    return lines[:height]


def _figure(value: float | None) -> str:
    return fit("–" if value is None else format_latency(value), _FIGURE, right=True)


def whole_of(track: Track, depths: Depths | None, direction: Direction, key: str) -> float | None:
    """A latency of everything that was measured so far, exact; None until all that was stored is in."""
    if depths is None or not depths.complete:
        return None
    if key == "most":
        # The distributions are read once a second: the last interval's maximum would stand above that of the whole.
        return max(filter(None, (depths.most_ns(direction), track.most_of(direction))), default=None)
    found = depths.quantiles(direction)[("typical", "slow", "tail").index(key)]
    return track.mean_of(direction) if found is None and key == "typical" else found


def percentile_plot(track: Track, seconds: float, scales: dict[str, LogScale], note: str) -> Plot:
    """Percentiles of each interval as lines; `scales` remembers the scale of each direction."""
    facets = tuple(
        facet for direction in track.directions if (facet := _percentiles(track, direction, scales, most=True))
    )
    return Plot("Latency percentiles", TimeAxis(seconds), facets, note=note, nothing=_NOTHING)


def course_plot(rate: Facet, track: Track, seconds: float, scales: dict[str, LogScale], note: str, height: int) -> Plot:
    """IOPS (`rate`) and below them, on the same seconds, the percentiles of each interval, as far as `height` has room."""
    rows, directions = height - 2, track.directions
    apart: list[Facet | None] = []
    if rows >= _LEAST_EACH * (1 + len(directions)) - 1:
        apart = [_percentiles(track, direction, scales, most=False) for direction in directions]
    elif rows >= 2 * _LEAST_TOGETHER:
        apart = [_slow_of_both(track, scales)]
    below = [facet for facet in apart if facet]
    title = "IOPS and latency" if below else "IOPS"
    return Plot(title, TimeAxis(seconds), (rate, *below), note=note)


def _percentiles(track: Track, direction: Direction, scales: dict[str, LogScale], *, most: bool) -> Facet | None:
    """The percentiles of a direction, with the maximum where `most`; None where nothing completed yet."""
    reading, curves = track.last[direction], list[Curve]()
    for (key, name, sign), ink in zip(names_of(reading), _inks(direction, reading), strict=False):
        shown = most or key != "most" or not reading.percentiles
        if shown and (line := track.timeline(key, direction)):
            curves.append(Curve(name, line, ink, sign, end=name))
    side, ink = sign_of(DIRECTIONS[direction])
    letter = side if most or len(track.directions) > 1 else ""
    return _latency_facet(curves, scales, f"{'p' if most else 'c'}-{direction.value}", letter, ink)


def _slow_of_both(track: Track, scales: dict[str, LogScale]) -> Facet | None:
    """One line a direction where there is no room for more: its p99, or the maximum without a distribution."""
    curves = []
    for direction in track.directions:
        side, ink = sign_of(DIRECTIONS[direction])
        name = track.last[direction].names[1]
        if line := track.timeline("slow", direction):
            curves.append(Curve(f"{side} {name}", line, ink, side, end=f"{side} {name}"))
    return _latency_facet(curves, scales, "c-both", "", "")


def _latency_facet(curves: list[Curve], scales: dict[str, LogScale], key: str, letter: str, ink: str) -> Facet | None:
    values = [span.value for curve in curves if isinstance(curve.values, Timeline) for span in curve.values.spans]
    if not values:
        return None
    scale = scales[key] = LogScale.of(min(values), max(values), scales.get(key))
    return Facet(scale, tuple(curves), letter=letter, ink=ink)


def _inks(direction: Direction, reading: Reading) -> tuple[str, ...]:
    own = ink_of(DIRECTIONS[direction])
    return ("quiet", own, "strong", "quiet") if reading.percentiles else (own, "quiet")


def heat_plot(depths: Depths, seconds: float, scales: dict[str, LogScale], note: str) -> Plot:
    """The heat map of each direction."""
    facets = []
    for direction in depths.directions:
        heat = depths.heat(direction)
        if (found := heat.range_ns) is None:
            continue
        key = f"h-{direction.value}"
        scale = scales[key] = LogScale.of(*found, scales.get(key))
        side, ink = sign_of(DIRECTIONS[direction])
        facets.append(Facet(scale, heat=heat, letter=side, ink=ink))
    title = "Latency heat map" if depths.share == 1.0 else f"Heat map, {depths.share:.0%} read"
    return Plot(title, TimeAxis(seconds), tuple(facets), note=note, nothing=_NOTHING)


def distribution(record: TestRecord, name: str) -> Plot:
    """The whole distribution of each direction, once there is a result; `name` is what is shown of the test."""
    directions = record.result.directions if record.result else ()
    known = [
        ((sign, str(direction), ink), result.histogram)
        for direction, result in directions
        for sign, ink in [sign_of(DIRECTIONS[direction])]
        if result.histogram
    ]
    return by_percentile(f"{clean(record.title)}: {name}", known)


def moment(track: Track, seconds: float, width: int) -> Cursor | None:
    """What happened at a moment: a line for each direction, all with the same figures: those that have room as a whole."""
    lines: list[Line] = []
    for count in range(len(_GIVES_WAY) + 1):
        lines = _moment_lines(track, seconds, frozenset(_GIVES_WAY[:count]))
        if all(width_of(line) <= width for line in lines):
            break
    # In a test that just began the cursor may be where the one before ended.
    return Cursor(min(seconds, track.seconds), tuple(spread(line, [], width) for line in lines)) if lines else None


def _moment_lines(track: Track, seconds: float, without: frozenset[str]) -> list[Line]:
    lines: list[Line] = []
    roomy = "spaces" not in without
    for direction in track.directions:
        span = track.timeline("iops", direction).at(seconds)
        if span is None:
            continue
        middle = (span.start + span.end) / 2
        when = f"{_clock(span.start)}–{_clock(span.end)} s"
        place = max(12, len(when)) if roomy else len(when)
        line: list[Piece] = [
            ((" " * place if lines else f"{when:<{place}}") + " ", "key"),
            (f"{DIRECTIONS[direction].sign} ", ink_of(DIRECTIONS[direction])),
            (format_iops(span.value), "strong"),
        ]
        named = "word" not in without and width_of(line) + len(" IOPS  ") <= 28
        bandwidth = None if "bandwidth" in without else track.timeline("bandwidth", direction).at(middle)
        if named:
            line.append((" IOPS", "quiet"))
        if roomy:
            line.append(("  " if named else " ", "quiet"))
        if bandwidth:
            line.append((("" if roomy else " ") + format_bandwidth(bandwidth.value) + (" " if roomy else ""), ""))
        for key, name, _ in names_of(track.last[direction]):
            if key not in without and (found := track.timeline(key, direction).at(middle)):
                line += [(f" {name} ", "quiet"), (format_latency(found.value).replace(" ", ""), "strong")]
        lines.append(line)
    return lines


def _clock(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds < 100 else f"{seconds:.1f}" if seconds < 1000 else f"{seconds:.0f}"
