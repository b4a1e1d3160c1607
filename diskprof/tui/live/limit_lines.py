"""A search for a limit as it closes in: a row for each trial, at its load, with what lies between the two then. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, log2, log10

from diskprof.analysis.limit_found import FoundLimit, TriedLoad, found_limit
from diskprof.analysis.limit_search import Bracket, bracket_of, place
from diskprof.model.cells import fit
from diskprof.model.limit import LimitBy, Trial, TrialKind, promises_words
from diskprof.model.metric import Quantity
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.units import format_latency
from diskprof.reports import figures
from diskprof.reports.charts.axes import Scale
from diskprof.reports.content.limit_report import KEPT, MISSED, bracket_words, load_words, names_of
from diskprof.reports.words import STATUSES
from diskprof.tui.kit.painted import Line, Piece, titled
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.shell.run_signs import ink_of, sign_of

_NUMBER, _LOAD, _IOPS, _FIGURE = 4, 9, 9, 12
_LEAST_AXIS = 20
_LEAST_TICKS = 3
_HEAD = 3
"""Lines beside the rows of the trials: the title, what is known, and the axis."""


def search_height(run: Run) -> int:
    """The lines that it needs, without an own line for each part of a long sentence."""
    return _HEAD + len(_searching(run))


def limit_lines(run: Run, current: int, width: int, height: int) -> list[Line]:
    """The search so far in `width` columns; where there are more trials than lines, the last ones and that of test `current`."""
    found = found_limit(run)
    if found is None or height < _HEAD + 1 or width < _NUMBER + _LOAD + _LEAST_AXIS + _IOPS + _FIGURE:
        return []
    tried = {each.test.index: each for each in found.trials}
    title: list[Piece] = [("Limit", "title"), (f"  {promises_words(found.rule)}", "strong")]
    lines: list[Line] = [titled(title, [(_counted(run, found), "quiet")], width)]
    told = bracket_words(found) if found.trials else "No trial is complete yet."
    lines += paragraph(f"{told[0].upper()}{told[1:]}".rstrip(".") + ".", width, "strong", first=())[:2]
    columns = names_of(found.rule)
    most = (width - _NUMBER - _LOAD - _LEAST_AXIS - _IOPS - 2) // _FIGURE
    columns = columns[:most]
    axis = width - _NUMBER - _LOAD - 1 - _IOPS - _FIGURE * len(columns) - 2
    at = _across(found, axis)
    head = "".join(fit(name, _FIGURE, right=True) for name in ("IOPS", *columns))
    ticks = _ticks(found, axis, at)
    lines.append([(fit("", _NUMBER) + fit("Load", _LOAD) + " " + ticks + head[_FIGURE - _IOPS :], "quiet")])
    outcomes = [each.outcome for each in found.trials]
    rows: list[Line] = []
    here = 0
    for test in _searching(run):
        if test.index == current:
            here = len(rows)
        each = tried.get(test.index)
        if each is None:
            rows.append(_pending(found, test, axis, at, marked=test.index == current))
            continue
        known = outcomes[: found.trials.index(each) + 1]
        spans = _span(found, bracket_of(found.rule, known), axis, at)
        rows.append(_row(found, each, spans, len(columns), at, marked=test.index == current))
    room = height - len(lines)
    first = max(0, min(len(rows) - room, here)) if len(rows) > room else 0
    return [*lines, *rows[first : first + room]]


def _searching(run: Run) -> list[TestRecord]:
    """The trials, without those of the load curve."""
    return [test for test in run.tests if not (test.planned.trial and test.planned.trial.kind is TrialKind.CURVE)]


def _counted(run: Run, found: FoundLimit) -> str:
    rule = found.rule
    if run.status.over:
        return figures.count(len(found.trials), "trial")
    return f"trial {len(_searching(run))} of at most {rule.most_trials}"


def _top(found: FoundLimit) -> float:
    """The highest IOPS measured or set as a rate; 1 before the first trial, and with no I/O at all."""
    return max((place(found.rule, level) for level in found.bracket.levels), default=0.0) or 1.0


def _across(found: FoundLimit, axis: int) -> Callable[[float], int]:
    """A load to its column: rates by their number, depths by their logarithm."""
    if found.rule.by is LimitBy.DEPTH:
        most = log2(found.rule.depth)
        return lambda load: round((axis - 1) * min(1.0, log2(max(1.0, load)) / most))
    top = _top(found)
    return lambda load: round((axis - 1) * min(1.0, load / top))


def _ticks(found: FoundLimit, axis: int, at: Callable[[float], int]) -> str:
    """The numbers of the axis, as many as do not touch each other."""
    line = ""
    for value, text in _marks(found):
        begin = max(0, min(at(value) - len(text) // 2, axis - len(text)))
        if not line or begin > len(line):
            line = line.ljust(begin) + text
    return line.ljust(axis)[:axis]


def _marks(found: FoundLimit) -> list[tuple[float, str]]:
    """Powers of two for depths, round numbers for rates."""
    if found.rule.by is LimitBy.DEPTH:
        return [(float(1 << power), str(1 << power)) for power in range(found.rule.depth.bit_length())]
    top = _top(found)
    power = 10.0 ** floor(log10(top / _LEAST_TICKS))
    # The logarithm may be rounded up to the next power: then that is the step.
    step = max((power * factor for factor in (1, 2, 5) if power * factor * _LEAST_TICKS <= top), default=power)
    scale = Scale.of(Quantity.IOPS, top)
    return [(step * at, scale.tick(step * at)) for at in range(floor(top / step) + 1)]


def _span(found: FoundLimit, bracket: Bracket, axis: int, at: Callable[[float], int]) -> list[Piece]:
    """What lies between the two loads, a piece a column: from the left where nothing kept it yet, to the right where all did."""
    kept, missed = bracket.kept, bracket.missed
    low = at(place(found.rule, kept)) if kept else 0
    high = at(place(found.rule, missed)) if missed else axis - 1
    return [("─", "accent") if low <= column <= high else (" ", "") for column in range(axis)]


def _row(
    found: FoundLimit, each: TriedLoad, span: list[Piece], columns: int, at: Callable[[float], int], *, marked: bool
) -> Line:
    word = KEPT if each.outcome.kept else MISSED
    load = each.outcome.trial
    where = each.outcome.done if load.rate is None else load.rate
    span[at(load.depth if found.rule.by is LimitBy.DEPTH else where)] = sign_of(word)
    told = [_figure(value) for value in each.figures[:columns]]
    last: list[Piece] = [(fit(text, _FIGURE, right=True), ink_of(word)) for text in told]
    iops = (fit(figures.number(each.outcome.done), _IOPS, right=True), "strong" if marked else "")
    return [*_begin(each.test, load, marked=marked), *_together(span), iops, *last, (" ", ""), sign_of(word)]


def _figure(value: float | None) -> str:
    return figures.MISSING if value is None else format_latency(value)


def _pending(found: FoundLimit, test: TestRecord, axis: int, at: Callable[[float], int], *, marked: bool) -> Line:
    """A trial that has not ended, or not as it should have."""
    status, span = STATUSES[test.status], [(" ", "")] * axis
    trial = test.planned.trial or found.rule.first
    known = trial.depth if found.rule.by is LimitBy.DEPTH else trial.rate
    if known is not None:
        span[at(known)] = sign_of(status)
    begin = _begin(test, trial, marked=marked)
    word = status.word if test.status is not Status.RUNNING else "being tried"
    return [*begin, *_together(span), (fit(word, _IOPS + _FIGURE, right=True), ink_of(status))]


def _begin(test: TestRecord, trial: Trial, *, marked: bool) -> list[Piece]:
    ink = "strong" if marked else ""
    number = f"{'▸' if marked else ' '}{test.index + 1:>2} "
    return [(number, ink), (fit(load_words(trial), _LOAD), ink), (" ", "")]


def _together(span: Sequence[Piece]) -> Line:
    """Neighbours of one ink as one piece."""
    found: list[Piece] = []
    for text, ink in span:
        if found and found[-1][1] == ink:
            found[-1] = found[-1][0] + text, ink
        else:
            found.append((text, ink))
    return found
