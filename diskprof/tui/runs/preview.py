"""The run under the cursor, below or beside the list: what it was, what it measured, how its tests went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from textual import work

from diskprof.model.cells import width_of
from diskprof.model.errors import DiskprofError
from diskprof.model.run import RunSummary, Weight
from diskprof.model.text import clean
from diskprof.model.units import format_duration
from diskprof.reports.content.doubts import in_doubt
from diskprof.reports.words import WEIGHTS, outcome
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.kit.painted import width_of as width_of_line
from diskprof.tui.kit.paragraphs import paragraph, signed
from diskprof.tui.runs.run_list import full_time
from diskprof.tui.shell.run_signs import ink_of, sign_of, word_of

if TYPE_CHECKING:
    from diskprof.reports.blocks import Blocks

_RESTS_S = 0.12
"""The cursor rests: until then a run is not opened, so that moving through ten thousand stays quick."""
_POINTS = 240
_KEPT = 32
_LOW = 12
_INDENT = ((" ", ""),)


class _Opened(Struct, frozen=True):
    """A run and the blocks of its preview, as it was when its line of the list was `summary`."""

    summary: RunSummary
    blocks: Blocks


class Preview(Lines):
    """`path` is the file of the store, `ascii_only` how charts are drawn; a run that cannot be read shows its line alone."""

    def __init__(self, path: Callable[[], Path], *, ascii_only: Callable[[], bool], id: str | None = None) -> None:
        super().__init__(id=id)
        self._path = path
        self._ascii_only = ascii_only
        self._summary: RunSummary | None = None
        self._known: dict[str, _Opened] = {}

    def tell(self, summary: RunSummary | None) -> None:
        """Show this run: at once what its line knows, and the rest when it is read."""
        if summary == self._summary and summary is not None:
            return
        self._summary = summary
        self._draw()
        self._read_rest()

    def on_resize(self) -> None:
        self._draw()
        self._read_rest()

    def _read_rest(self) -> None:
        summary = self._summary
        if summary and (summary.id not in self._known or self._known[summary.id].summary != summary):
            self._open(summary)
        else:
            self.workers.cancel_group(self, "preview")

    @work(group="preview", exclusive=True)
    async def _open(self, summary: RunSummary) -> None:
        await asyncio.sleep(_RESTS_S)
        if not (self.display and self.size.height):
            return
        try:
            path = self._path()
            blocks = await asyncio.to_thread(_read, path, summary.id)
        except DiskprofError:
            # The list tells of a store that cannot be read, and Enter of a run that cannot.
            return
        self._known.pop(summary.id, None)
        self._known[summary.id] = _Opened(summary, blocks)
        while len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        self._draw()

    def _draw(self) -> None:
        summary, width = self._summary, self.size.width - 2
        if summary is None or width < 20:
            self.put([])
            return
        found: list[Line] = [*_head(summary, width)]
        if opened := self._known.get(summary.id):
            from diskprof.tui.shell.block_lines import screen_lines

            shown = screen_lines(opened.blocks, width, ascii_only=self._ascii_only())
            # Of the rows of a low screen none is left for what only keeps others apart.
            found += [[]] if self.size.height > _LOW else []
            found += [[(" ", ""), *line] for line in shown if not _is_rule(line)]
        self.put(found)


def _is_rule(line: Line) -> bool:
    """Whether it is the line below the head of a table, which has a colour of its own on a screen."""
    return bool(line) and not set("".join(text for text, _ in line)) - {"-", " "}


def _head(run: RunSummary, width: int) -> list[Line]:
    """What a line of the list knows of a run."""
    took = f", took {format_duration(run.duration_s)}" if run.duration_s is not None else ""
    status = outcome(run.status, run.imported_from)
    lead: Line = [(" ", ""), sign_of(status), (" ", ""), word_of(status)]
    about, room = "", width - width_of_line(lead)
    for part in (run.id, f"{full_time(run.started_at)}{took}", run.hostname):
        if width_of(longer := f"{about}   {clean(part)}".rstrip()) > room:
            break
        about = longer
    lines: list[Line] = [[*lead, (about, "")]]
    where = f"{run.target}{f' ({run.device})' if run.device else ''}"
    lines += paragraph(
        clean(": ".join(filter(None, (run.preset_title or run.preset, where)))), width, "strong", first=_INDENT
    )
    if words := in_doubt(run.doubts):
        word = WEIGHTS[Weight.DOUBT]
        lines += signed(sign_of(word), clean(words), width, ink_of(word))
    marks = [f"from {run.imported_from}"] if run.imported_from else []
    marks += [f"tags: {', '.join(run.tags)}"] if run.tags else []
    marks += [f"note: {run.note}"] if run.note else []
    if marks:
        lines += paragraph(clean("   ".join(marks)), width, "quiet", first=_INDENT)
    return lines


def _read(path: Path, run_id: str) -> Blocks:
    """The preview of a run, by a connection of its own. Raises DiskprofError."""
    from diskprof.reports.content.run_report import run_preview
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        item = store.resolve_item(run_id)
        if item.is_fleet:
            from diskprof.reports.content.fleet.fleet_report import fleet_preview
            from diskprof.runner.session import fleet_result

            return fleet_preview(fleet_result(store, run_id))
        if item.is_series:
            from diskprof.reports.content.series_report import series_preview
            from diskprof.runner.session import series_result

            return series_preview(series_result(store, run_id))
        run = store.run(run_id)
        course = [store.course(run_id, test.index, most=_POINTS).samples for test in run.tests if not test.planned.cell]
    return run_preview(run, tuple(chain.from_iterable(course)))
