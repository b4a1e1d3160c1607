"""The fleet run that the Live screen shows as a table: which it is, where it stands, and what it came to."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from diskprof.model.errors import DiskprofError
from diskprof.tui.live.fleet.fleet_pane import FleetPane
from diskprof.tui.live.fleet.fleet_reader import FleetNow, FleetReader

if TYPE_CHECKING:
    from diskprof.reports.blocks import Blocks
    from diskprof.tui.shell.base import ModeScreen


class FleetView:
    """`show` chooses a fleet run, `read` shows what is new of it."""

    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen
        self._reader: FleetReader | None = None
        self._result_of: FleetNow | None = None
        self.id: str | None = None
        self.now: FleetNow | None = None

    @property
    def pane(self) -> FleetPane:
        return self._screen.query_one(FleetPane)

    @property
    def going(self) -> bool:
        return self.now is not None and self.now.going

    @property
    def chosen(self) -> str | None:
        """The run of the member under the cursor."""
        return self.pane.chosen if self.id else None

    def show(self, fleet_id: str | None) -> None:
        """None: no table any more."""
        if fleet_id != self.id:
            self.id, self.now, self._result_of = fleet_id, None, None
            self._reader = FleetReader(self._screen.store) if fleet_id else None

    def read(self) -> None:
        """Raises DiskprofError where it is gone or cannot be read."""
        if self.id is None or self._reader is None:
            return
        self.now = self._reader.read(self.id)
        self.pane.tell(self.now)
        if not self.now.going and self._result_of != self.now:
            # Runs may be fetched, or deleted, long after.
            self._result_of = self.now
            self._screen.run_worker(self._read_result(self.id), group="fleet-result", exclusive=True)

    async def _read_result(self, fleet_id: str) -> None:
        try:
            blocks = await asyncio.to_thread(_blocks, self._screen.kept_path, fleet_id)
        except DiskprofError as error:
            self._screen.diskprof.tell(error)
            return
        if fleet_id == self.id:
            self.pane.tell_result(blocks)


def _blocks(path: Path, fleet_id: str) -> Blocks:
    """By a connection of its own. Raises DiskprofError."""
    from diskprof.reports.content.fleet.fleet_report import fleet_sections
    from diskprof.runner.session import fleet_result
    from diskprof.store import Store

    with Store.open(path, create=False) as store:
        return fleet_sections(fleet_result(store, fleet_id))
