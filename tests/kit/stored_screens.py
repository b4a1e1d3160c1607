"""The app on a store in a temporary directory, opened on the list of runs, without any disk or device."""

import asyncio
import contextlib
import copy
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from recorded import write_library
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerCancelled

from diskprof.model.device import DeviceTree
from diskprof.presets.library import Library
from diskprof.runner.session import Session
from diskprof.tui import app
from diskprof.tui.app import DiskprofApp
from diskprof.tui.runs.screen import RunsScreen

SIZES = ((80, 24), (120, 40))
LONG_S = 60.0
"""No condition of a test takes this long unless something is broken."""


class _Still:
    """A device monitor to which nothing ever happens."""

    def __enter__(self) -> "_Still":
        self._read, self._write = os.pipe()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        return self._read

    def changed(self, timeout_s: float | None = 0) -> bool:
        return False


def _never(*_args: Any, **_more: Any) -> Any:
    raise AssertionError("these screens plan and start nothing")


class StillSession(Session):
    """A machine without devices or presets, that plans and starts nothing."""

    hostname = staticmethod(lambda: "db-01")  # type: ignore[assignment]
    scan = topology = staticmethod(lambda: DeviceTree(()))  # type: ignore[assignment]
    monitor = staticmethod(_Still)  # type: ignore[assignment]
    read_counters = staticmethod(dict)  # type: ignore[assignment]
    load_library = staticmethod(lambda: Library((), ()))  # type: ignore[assignment]
    suggest_directory = default_device = staticmethod(lambda _of: None)  # type: ignore[assignment]
    health = staticmethod(lambda _disks: ())  # type: ignore[assignment]
    leftovers = staticmethod(lambda _places: ())  # type: ignore[assignment]
    resolve_target = make_plan = estimate = neighbours = staticmethod(_never)  # type: ignore[assignment]
    start_detached = request_stop = save_preset = remove_leftover = staticmethod(_never)  # type: ignore[assignment]


def altered(session: Session, **parts: Callable[..., Any]) -> Session:
    """The session with other methods."""
    other = copy.copy(session)
    for name, part in parts.items():
        assert hasattr(Session, name)
        setattr(other, name, part)
    return other


class StoredApp(DiskprofApp):
    DEFAULT_MODE = "runs"
    # A relative path would be looked for beside this file.
    CSS_PATH = Path(app.__file__).with_name("app.tcss")


Driver = Pilot[None]


@contextlib.asynccontextmanager
async def open_runs(path: Path, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Driver]:
    """The app on the list of runs."""
    async with StoredApp(StillSession(path)).run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


async def settle(pilot: Driver) -> None:
    """Everything that was begun is done and drawn."""
    async with asyncio.timeout(LONG_S):
        await pilot.pause()
        while any(not worker.is_finished for worker in pilot.app.workers):
            with contextlib.suppress(WorkerCancelled):  # another took its place: it is waited for in its turn
                await pilot.app.workers.wait_for_complete()
            await pilot.pause()


async def until(pilot: Driver, condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG_S):
        while not condition():
            await pilot.pause()


async def press(pilot: Driver, *keys: str) -> None:
    for key in keys:
        # Each is answered before the next comes: a dialog that a key closes would take the key behind it for text.
        await pilot.press(key)
    await settle(pilot)


async def write(pilot: Driver, text: str, field: str = "") -> None:
    """Put text into the field that has the focus, or into the one named, in the place of what is there."""
    target = pilot.app.screen.query_one(field, Input) if field else pilot.app.focused
    assert isinstance(target, Input)
    target.focus()
    target.value = text
    await settle(pilot)


def text_of(pilot: Driver) -> str:
    """What stands on the screen."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def see(pilot: Driver, *texts: str) -> None:
    """Wait until all of these stand on the screen, whatever lines they are broken into."""

    def missing() -> list[str]:
        lines = text_of(pilot)
        inside = re.findall(r"│(.*)│", lines)  # of a dialog, without what lies to its sides
        words = " ".join(lines.split()) + "\n" + " ".join(" ".join(inside).split())
        return [text for text in texts if text not in words]

    try:
        await until(pilot, lambda: not missing())
    except TimeoutError:
        raise AssertionError(f"{missing()} not on the screen:\n{text_of(pilot)}") from None


def told(pilot: Driver) -> str:
    """All notifications, newest last."""
    return "\n".join(f"{note.title} {note.message}" for note in pilot.app._notifications)


def make_library(directory: Path) -> tuple[Path, dict[str, str]]:
    path = directory / "runs.db"
    return path, write_library(path)


def copy_of(path: Path, directory: Path) -> Path:
    """A store of its own for a test that changes it."""
    return Path(shutil.copy(path, directory / "runs.db"))


def screen_of(pilot: Driver) -> RunsScreen:
    screen = pilot.app.screen
    assert isinstance(screen, RunsScreen)
    return screen


def shown(pilot: Driver) -> list[str]:
    return [run.id for run in screen_of(pilot).list.shown]


def at(pilot: Driver) -> str:
    current = screen_of(pilot).current
    assert current is not None
    return current.id


async def go_to(pilot: Driver, run_id: str) -> None:
    screen = screen_of(pilot)
    index = screen.list.index_of(run_id)
    assert index is not None
    screen.sheet.cursor = index
    await settle(pilot)
