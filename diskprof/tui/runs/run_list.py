"""The list of runs without the screen: its columns, order and filter."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.fleet.result import labels, noun_of
from diskprof.model.fleet import FleetRun
from diskprof.model.run import FleetStage, RunSummary, Status, Weight
from diskprof.model.run_series import RunSeries, letter
from diskprof.model.units import format_clock
from diskprof.reports.content.doubts import in_doubt, short
from diskprof.reports.content.series_rows import folded, whole_of
from diskprof.reports.figures import count
from diskprof.reports.words import STATUSES, WEIGHTS, outcome
from diskprof.tui.kit.painted import Piece
from diskprof.tui.kit.table import Row, SheetColumn
from diskprof.tui.shell.run_signs import ink_of, when_text, whole_parts

MARK = "●"
_NARROW, _WIDE, _WIDER, _WIDEST = 70, 100, 140, 165
_RESULT, _DOUBTS, _LEAST_DOUBTS, _NOTE = 52, 40, 16, 20
_LEAST_BESIDE_TOOK = 28
_ENOUGH = 40
"""So much room a result keeps where other texts are cut."""
_TOOK = 8
"""`23:59:59`."""
_STATUS_WORD = 12
"""For `interrupted: ` before a result."""
_LEAST_RESULT = {False: 19, True: 34}
"""So much room a result gets before others have more than they need; whether the list is wide."""
_LEAST = {False: {"target": 9, "tags": 7, "preset": 10}, True: {"target": 12, "tags": 12, "preset": 14}}
"""With so little a column can do, those first that give way first."""
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}
_SCALES |= {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_FIGURE = re.compile(r"\b(\d+(?:\.\d+)?)(?:/[\d.]+)? ?([kMG]?B/s|[num]?s|[kMG])?\b", re.ASCII)


def _in_words(run: RunSummary) -> str:
    return f"{run.status} {outcome(run.status, run.imported_from).word}"


FIELDS: Mapping[str, Callable[[RunSummary], str]] = {
    "status": _in_words,
    "disk": lambda run: run.device,
    "tag": lambda run: "\n".join(run.tags),
    "preset": lambda run: run.preset,
    "host": lambda run: run.hostname,
}
"""What the filter can look for by name, as in `status:failed`."""
_FIELD = re.compile(r"([a-z]+):(.*)")


def unknown_field(words: str) -> str:
    """The first field of a filter that there is not; empty if there is none."""
    found = (_FIELD.fullmatch(word) for word in words.casefold().split())
    return next((match[1] for match in found if match and match[1] not in FIELDS), "")


class Order(StrEnum):
    """What the list is sorted by; the value is the word that is shown."""

    STARTED = "when"
    PRESET = "preset"
    TARGET = "target"
    STATUS = "status"
    TOOK = "took"
    TAGS = "tags"
    HEADLINE = "result"
    ID = "id"


def full_time(moment: datetime) -> str:
    """Local time to the second with its zone's offset."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %z}"


class RunsView(Struct, frozen=True):
    """What the person asked to see, in which order. `backwards` turns the order's natural direction round."""

    order: Order = Order.STARTED
    backwards: bool = False
    words: str = ""


class RunList:
    """All runs and those in view; `runs` is newest first, `shown` the rows, filtered and sorted, `found` how many runs they are.

    A series or a fleet run is one row, with its own id; the runs of those that are `opened` are below it.
    """

    def __init__(self) -> None:
        self.runs: tuple[RunSummary, ...] = ()
        self.shown: tuple[RunSummary, ...] = ()
        self.found = 0
        self.series: Mapping[str, RunSeries] = {}
        self.fleets: Mapping[str, FleetRun] = {}
        self.opened: set[str] = set()
        self.marked: list[str] = []
        self.view = RunsView()
        self._haystacks: dict[RunSummary, str] = {}

    def load(
        self, runs: Sequence[RunSummary], series: Sequence[RunSeries] = (), fleets: Sequence[FleetRun] = ()
    ) -> None:
        """Take over a new list, and the series and fleet runs that runs of it are of; marks of runs that are gone go too."""
        known, together = {each.id: each for each in series}, {each.id: each for each in fleets}
        if tuple(runs) == self.runs and known == self.series and together == self.fleets:
            return
        self.runs, self.series, self.fleets = tuple(runs), known, together
        if len(self._haystacks) > 2 * len(self.runs):
            self._haystacks.clear()
        if self.marked:
            there = {run.id for run in self.runs} | set(self.series) | set(self.fleets)
            self.marked = [run_id for run_id in self.marked if run_id in there]
        self._arrange()

    def load_newest(
        self, newest: Sequence[RunSummary], series: Sequence[RunSeries] = (), fleets: Sequence[FleetRun] = ()
    ) -> bool:
        """Take over the first runs of a list that is otherwise as before; False if it cannot be told where they join."""
        if not newest:
            return False
        last = newest[-1].id
        joint = next((index for index, run in enumerate(self.runs) if run.id == last), None)
        if joint is None:
            return False
        self.load((*newest, *self.runs[joint + 1 :]), series, fleets)
        return True

    def look(self, view: RunsView) -> None:
        self.view = view
        self._arrange()

    def _arrange(self) -> None:
        words = self.view.words.casefold().split()
        found = [run for run in self.runs if all(self._has(run, word) for word in words)] if words else self.runs
        self.found = len(found)
        all_found = found
        found = folded(found, self.series, self.fleets) if self.series or self.fleets else found
        if self.view.order is not Order.STARTED:
            found = self._sorted(found)
        elif self.view.backwards:
            found = tuple(reversed(found))
        self.shown = tuple(self._opened(found, all_found)) if self.opened else tuple(found)

    def _opened(self, rows: Sequence[RunSummary], runs: Sequence[RunSummary]) -> Iterator[RunSummary]:
        """The rows, each whole that is opened followed by its runs, the first of them first."""
        for row in rows:
            yield row
            if row.id in self.opened:
                yield from sorted((run for run in reversed(runs) if whole_of(run) == row.id), key=_member)

    def is_whole(self, row_id: str) -> bool:
        """Whether a row is a series or a fleet run."""
        return row_id in self.series or row_id in self.fleets

    def turn(self, row_id: str) -> None:
        """Open a series or a fleet run, or close it."""
        self.opened ^= {row_id}
        self._arrange()

    def runs_of(self, row: RunSummary) -> tuple[RunSummary, ...]:
        """The runs that a row is, newest first."""
        return tuple(run for run in self.runs if whole_of(run) == row.id) if self.is_whole(row.id) else (row,)

    def _has(self, run: RunSummary, word: str) -> bool:
        match = _FIELD.fullmatch(word)
        if match is None:
            return word in self._haystack(run)
        return match[1] in FIELDS and match[2] in FIELDS[match[1]](run).casefold()

    def _haystack(self, run: RunSummary) -> str:
        text = self._haystacks.get(run)
        if text is None:
            parts = (
                run.id,
                run.preset,
                run.preset_title,
                run.target,
                run.device,
                run.hostname,
                run.status,
                *run.tags,
                in_doubt(run.doubts),
            )
            text = self._haystacks[run] = "\n".join(parts).casefold()
        return text

    def _sorted(self, runs: Sequence[RunSummary]) -> list[RunSummary]:
        """Empty values last, whatever the order; equal ones stay newest first since sorting is stable."""
        text_of = _TEXTS[self.view.order]
        told = [run for run in runs if text_of(run)]
        told.sort(key=lambda run: text_of(run).casefold(), reverse=self.view.backwards)
        return told if len(told) == len(runs) else [*told, *(run for run in runs if not text_of(run))]

    def index_of(self, run_id: str) -> int | None:
        return next((index for index, run in enumerate(self.shown) if run.id == run_id), None)

    def toggle(self, run_id: str) -> None:
        if run_id in self.marked:
            self.marked.remove(run_id)
        else:
            self.marked.append(run_id)

    def row(self, run: RunSummary, columns: Sequence[SheetColumn], now: datetime) -> Row:
        return Row(run.id, tuple(self._cell(run, column, columns, now) for column in columns))

    def _cell(self, run: RunSummary, column: SheetColumn, columns: Sequence[SheetColumn], now: datetime) -> Piece:
        match column.key:
            case "mark":
                return MARK if run.id in self.marked else " ", "mark"
            case "id":
                return run.id, "mark" if run.id in self.marked else ""
            case "when":
                return when_text(run.started_at, now), "quiet"
            case "sign":
                word = outcome(run.status, run.imported_from)
                return word.sign, ink_of(word)
            case "status":
                word = outcome(run.status, run.imported_from)
                return f"{word.sign} {word.word}", ink_of(word)
            case "doubt":
                return WEIGHTS[Weight.DOUBT].sign if run.doubts else " ", "warn"
            case "doubts":
                return "; ".join(map(short, run.doubts)), "warn"
            case "took":
                return ("" if run.duration_s is None else format_clock(run.duration_s)), "quiet"
            case "preset":
                return self._what(run), ""
            case "target":
                fleet = self.fleets.get(run.id)
                if fleet and len(run.target) > column.width:
                    return count(len(fleet.members), noun_of(fleet)), ""
                series = self.series.get(run.id)
                several = series is not None and len(series.targets) > 1 and len(run.target) > column.width
                return f"{len(series.targets)} targets" if series and several else run.target, ""
            case "device":
                return run.device, "quiet"
            case "host":
                return run.hostname, "quiet"
            case "tags":
                return ", ".join(run.tags), "accent"
            case "note":
                return " ".join(run.note.split()), "quiet"
            case "result" if run.status is Status.COMPLETE or any(each.key == "status" for each in columns):
                return whole_parts(run.headline, column.width), ""
            case "result":
                return _worded(run, column.width), ink_of(STATUSES[run.status])
            case _:
                return "", ""

    def _what(self, run: RunSummary) -> str:
        """The preset; of a series or a fleet run with a sign, of a run below it which repeat it is, or of whom."""
        if self.is_whole(run.id):
            return f"{'▾' if run.id in self.opened else '▸'} {run.preset}"
        if run.series and (series := self.series.get(run.series.series_id)):
            target = f" {letter(run.series.arm)}" if len(series.targets) > 1 else ""
            return f"  {run.series.repeat}{target}"
        if run.fleet and (fleet := self.fleets.get(run.fleet.fleet_id)) and run.fleet.member < len(fleet.members):
            repeat = f" {run.fleet.repeat}" if fleet.is_repeated else ""
            if all(member.host is None for member in fleet.members):
                # The target has a column of its own.
                return f"  {run.fleet.stage}{repeat}"
            alone = " alone" if run.fleet.stage is FleetStage.ALONE else ""
            return f"  {labels(fleet)[run.fleet.member]}{alone}{repeat}"
        return run.preset


def _member(run: RunSummary) -> tuple[int, int, bool]:
    """Where a run is below its fleet run: by member and repeat, it alone first. Those of a series stay in the order of time."""
    place = run.fleet
    return (place.member, place.repeat, place.stage is FleetStage.TOGETHER) if place else (0, 0, False)


def _by_amount(figure: re.Match[str]) -> str:
    """A figure as text that sorts by its amount: zero-padded, without its unit."""
    return f"{float(figure[1]) * _SCALES[figure[2] or '']:024.3f}"


def _worded(run: RunSummary, width: int) -> str:
    """A result with the word of the status before it; the word alone where that does not fit."""
    word = STATUSES[run.status].word
    both = whole_parts(f"{word}: {run.headline}" if run.headline else word, width)
    return both if len(both) <= width else word


@lru_cache(1 << 17)
def _by_amounts(headline: str) -> str:
    """Kept, since a list is sorted anew with each run that ends, and to find the figures of 100,000 takes 0.4 s."""
    return _FIGURE.sub(_by_amount, headline)


_TEXTS: Mapping[Order, Callable[[RunSummary], str]] = {
    Order.PRESET: attrgetter("preset"),
    Order.TARGET: attrgetter("target"),
    Order.STATUS: attrgetter("status"),
    Order.TOOK: lambda run: "" if run.duration_s is None else f"{run.duration_s:020.3f}",
    Order.TAGS: lambda run: ", ".join(run.tags),
    Order.HEADLINE: lambda run: _by_amounts(run.headline),
    Order.ID: attrgetter("id"),
}
"""What a run is sorted by, as text."""


def _widest_told(runs: Sequence[RunSummary], width: int) -> int:
    """What results take of `width` at most: as their parts are told whole, the rest would stay blank."""
    return max((min(len(whole_parts(run.headline, width)), width) for run in runs), default=0)


def columns_for(width: int, view: RunsView, runs: Sequence[RunSummary]) -> tuple[SheetColumn, ...]:
    """Columns that fill `width`; below a hundred the status is its sign, with the word in the result's column."""
    sample = runs[:200]
    # Newest first is downwards; words go upwards from a to z.
    arrow = "▼" if (view.order is Order.STARTED) is not view.backwards else "▲"

    def title(order: Order, name: str) -> str:
        return f"{name} {arrow}" if view.order is order else name

    def widest(values: Sequence[str], least: int, most: int) -> int:
        return min(max([least, *map(len, values)]), most)

    wide = width >= _WIDE
    marks = 2 if any(run.series or run.fleet for run in runs) else 0
    preset = widest([run.preset for run in sample], 8, 22 if wide else 13) + marks
    tags = widest(
        [", ".join(run.tags) for run in sample], 6 if any(run.tags for run in sample) else 4, 22 if wide else 10
    )
    target = widest([run.target for run in sample], 8, 24 if wide else 12)
    sign = arrow if view.order is Order.STATUS else " "
    words = [outcome(run.status, run.imported_from) for run in sample]
    status = widest([f"{word.sign} {word.word}" for word in words], 10, 13)
    columns = [
        SheetColumn("mark", " ", 1),
        SheetColumn("id", title(Order.ID, "run"), 8),
        SheetColumn("when", title(Order.STARTED, "when"), 12),
        SheetColumn("status", title(Order.STATUS, "status"), status) if wide else SheetColumn("sign", sign, 1),
        *([SheetColumn("doubt", WEIGHTS[Weight.DOUBT].sign, 1)] if any(run.doubts for run in runs) else []),
        SheetColumn("preset", title(Order.PRESET, "preset"), preset, middle=True),
    ]
    if width >= _NARROW:
        columns.append(SheetColumn("target", title(Order.TARGET, "target"), target, middle=True))
    if wide:
        columns.append(SheetColumn("took", title(Order.TOOK, "took"), _TOOK, right=True))
    if width >= _WIDER:
        columns.append(SheetColumn("device", "device", widest([run.device for run in sample], 6, 24), middle=True))
        if width >= _WIDEST:
            columns.append(SheetColumn("host", "host", widest([run.hostname for run in sample], 6, 16), middle=True))
    last = SheetColumn("tags", title(Order.TAGS, "tags"), tags)
    wanted = _widest_told(sample, _LEAST_RESULT[wide])
    *columns, last = _give_way([*columns, last], width - wanted, _LEAST[wide])
    if width - sum(column.width + 1 for column in (*columns, last)) < min(wanted, _LEAST_BESIDE_TOOK):
        columns = [column for column in columns if column.key != "took"]
    left = max(width - sum(column.width + 1 for column in (*columns, last)), 10)
    result = min(left, _widest_told(sample, min(left, _ENOUGH)))
    if not wide:
        ended = [len(_worded(run, left)) for run in sample if run.status is not Status.COMPLETE]
        result = max(result, min(left, _widest_told(sample, left) + _STATUS_WORD, max(ended, default=0)))
    *columns, last = _grown([*columns, last], sample, left - result)
    left = max(width - sum(column.width + 1 for column in (*columns, last)), 10)
    doubts = min(max((len("; ".join(map(short, run.doubts))) for run in sample if run.doubts), default=0), _DOUBTS)
    doubts = max(doubts, len("in doubt")) if doubts else 0
    doubts = found if (found := min(doubts, left - result - 1)) >= min(doubts, _LEAST_DOUBTS) else 0
    shown = min(left, _RESULT)
    if doubts:
        shown = min(shown, left - doubts - 1)
    columns.append(SheetColumn("result", title(Order.HEADLINE, "result"), shown))
    columns.append(last)
    room = left - shown
    if doubts and room > doubts:
        columns.append(SheetColumn("doubts", "in doubt", doubts))
        room -= doubts + 1
    if room > _NOTE:
        columns.append(SheetColumn("note", "note", room - 1))
    return tuple(columns)


def _grown(columns: Sequence[SheetColumn], runs: Sequence[RunSummary], room: int) -> list[SheetColumn]:
    """The columns, those whose texts are cut wider one after the other by up to `room` together."""
    texts = {
        "target": (run.target for run in runs),
        "preset": (run.preset for run in runs),
        "tags": (", ".join(run.tags) for run in runs),
    }
    found = {column.key: column for column in columns}
    for key, of in texts.items():
        if key in found and room > 0:
            more = min(max(max(map(len, of), default=0) - found[key].width, 0), room)
            found[key] = replace(found[key], width=found[key].width + more)
            room -= more
    return list(found.values())


def _give_way(columns: Sequence[SheetColumn], room: int, least: Mapping[str, int]) -> list[SheetColumn]:
    """The columns, those of `least` made narrower one after the other until all of them have `room`."""
    found = {column.key: column for column in columns}
    for key, enough in least.items():
        over = sum(column.width + 1 for column in found.values()) - room
        if over > 0 and key in found:
            found[key] = replace(found[key], width=max(min(enough, found[key].width), found[key].width - over))
    return list(found.values())
