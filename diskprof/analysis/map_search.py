"""The cells of a read/write map, one after the other. Pure: what the cells so far came to in, the next one out.

First as much as can be written and as many reads as there can be: they give both axes. Then every fourth cell, every second, all:
whenever a map ends, what it has is spread over the whole of it. In each pass the smaller loads come first, for a cell that is not
reached spares all that ask for more. Before it does it is measured once more: whatever held it back once would cost all of these.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt

from msgspec import Struct

from diskprof.model.limit import Trial, TrialKind
from diskprof.model.read_write_map import CellOutcome, MapRule

REACHED = 0.9
"""A cell is reached from this part of both rates on: less than a rate of the axes is short of the next."""

TRIES = 2
"""So often a cell that is not reached is measured."""

BY_CHANCE = 2.0
"""Reads come at random: their number may be short by so many times its own square root."""

_STRIDES = (4, 2, 1)

Place = tuple[int, int]
"""A cell by its read rate and its written rate, each counted from 0 in `Axes`."""


class Axes(Struct, frozen=True):
    """The reads a second and the bytes written a second of the cells, rising; the first of `writes` is 0."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]

    def place(self, trial: Trial) -> Place | None:
        """None of all reads and all writes, which are no cells."""
        if trial.rate not in self.reads or trial.written not in self.writes:
            return None
        return self.reads.index(trial.rate), self.writes.index(trial.written)

    @property
    def places(self) -> Iterator[Place]:
        """In the order in which they are measured, each once."""
        found = dict[Place, None]()
        for stride in _STRIDES:
            here = [
                (x, y)
                for x in range(len(self.reads))
                for y in range(len(self.writes))
                if (x + 1) % stride == 0 and y % stride == 0
            ]
            found |= dict.fromkeys(sorted(here, key=lambda place: (sum(place), place[1])))
        return iter(found)


def axes_of(rule: MapRule, outcomes: Sequence[CellOutcome]) -> Axes | None:
    """None before both ends are known, and where nothing was read."""
    written = next((each.written for each in outcomes if each.trial.written is None), None)
    read = next((each.reads for each in outcomes if each.trial.rate is None), None)
    if written is None or read is None or read < 1:
        return None
    reads = dict.fromkeys(max(1, round(read * at / rule.reads)) for at in range(1, rule.reads + 1))
    writes = dict.fromkeys(round(written * at / rule.writes) for at in range(rule.writes + 1))
    return Axes(tuple(reads), tuple(writes))


def reached(rule: MapRule, outcome: CellOutcome) -> bool:
    """Whether both rates of a cell were done, as far as chance lets that be told."""
    asked, written = outcome.trial.rate or 0, outcome.trial.written or 0
    chance = BY_CHANCE * sqrt(asked * rule.cell_s) / rule.cell_s
    return outcome.reads >= REACHED * asked - chance and outcome.written >= REACHED * written


def is_beyond(place: Place, failed: Sequence[Place]) -> bool:
    """Whether it asks for as much as one of `failed` or more, of both."""
    return any(place[0] >= x and place[1] >= y for x, y in failed)


class Tried(Struct, frozen=True):
    """The places of the cells that were measured: `failed` those that were not reached, of which `again` are to be measured once
    more. One that asks for no more than another one that was reached could be: it was held back by something else."""

    reached: tuple[Place, ...]
    failed: tuple[Place, ...]
    again: tuple[Place, ...]


def tried_of(rule: MapRule, axes: Axes, outcomes: Sequence[CellOutcome]) -> Tried:
    """What the cells so far came to."""
    places = [(place, each) for each in outcomes if (place := axes.place(each.trial)) is not None]
    times = Counter(place for place, _ in places)
    good = dict.fromkeys(place for place, each in places if reached(rule, each))
    able = {place for place in times if any(place[0] <= x and place[1] <= y for x, y in good)}
    failed = [place for place in times if place not in able]
    return Tried(
        tuple(place for place in times if place in able),
        tuple(failed),
        tuple(place for place in failed if times[place] < TRIES),
    )


def next_cell(rule: MapRule, outcomes: Sequence[CellOutcome], spent_s: float) -> Trial | None:
    """The cell to measure next, `spent_s` seconds after the first began; None where the map is complete or its time is over."""
    if spent_s + rule.seconds(rule.all_reads) > rule.most_s:
        return None
    for first in (rule.all_writes, rule.all_reads):
        if not any(each.trial == first for each in outcomes):
            return first
    axes = axes_of(rule, outcomes)
    if axes is None:
        return None
    tried = tried_of(rule, axes, outcomes)
    new = (place for place in axes.places if place not in tried.reached and not is_beyond(place, tried.failed))
    place = next(iter(tried.again), None) or next(new, None)
    return Trial(rule.depth, axes.reads[place[0]], TrialKind.CELL, axes.writes[place[1]]) if place else None
