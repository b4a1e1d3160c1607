"""The file of the runs goes, or is replaced, while it is looked at; another program holds it; what is told is told once."""

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench_screens import Bench, open_bench
from recorded import record_run
from stored_screens import (
    Driver,
    at,
    go_to,
    open_runs,
    press,
    screen_of,
    see,
    settle,
    shown,
    told,
    until,
    write,
)
from textual.widgets import Input, Static

from diskprof.model.errors import StoreBusy
from diskprof.store import Store, paths
from diskprof.store.exchange.transfer import import_runs
from diskprof.tui.dialogs.tags import TagsModal
from diskprof.tui.runs.result import ResultScreen
from diskprof.tui.runs.screen import RunsScreen
from diskprof.tui.shell.store_watch import StorePlace, StoreWatcher, Whereabouts


def another(directory: Path) -> Path:
    """A store with one run."""
    with Store.open(directory / "other.db") as store:
        record_run(store)
    return directory / "other.db"


def content(path: Path) -> bytes:
    return path.read_bytes()


def problem(pilot: Driver) -> str:
    """What the dialog says is wrong."""
    return str(pilot.app.screen.query_one("#problem", Static).render())


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program is writing to the store, and takes its time."""
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
    finally:
        other.close()


def test_the_file_at_a_path_is_the_same_gone_or_another(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(b"one")
    place = StorePlace(path)
    assert place.where() is Whereabouts.SAME
    path.rename(tmp_path / "moved.db")
    assert place.where() is Whereabouts.GONE
    (tmp_path / "moved.db").rename(path)
    assert place.where() is Whereabouts.SAME
    path.rename(tmp_path / "moved.db")
    path.write_bytes(b"two")
    assert place.where() is Whereabouts.OTHER


async def test_a_store_that_was_deleted_is_told_of_once_and_what_is_there_stays(
    path: Path, runs: dict[str, str]
) -> None:
    async with open_runs(path) as pilot:
        before = shown(pilot)
        shutil.move(path, path.with_name("moved.db"))
        await see(pilot, "! store gone")
        for _ in range(4):
            pilot.app._poll()  # type: ignore[attr-defined]
            await settle(pilot)
        assert told(pilot).count("The file of the runs is gone") == 1
        assert shown(pilot) == before
        await go_to(pilot, runs["first"])
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ResultScreen)


async def test_the_runs_of_a_deleted_store_can_be_saved(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        titles = [command.choice.title for command in pilot.app.commands(pilot.app.screen)]  # type: ignore[attr-defined]
        assert "Save runs" not in titles
        for file in list(path.parent.glob("runs.db*")):
            file.unlink()
        await see(pilot, "! store gone")
        commands = {command.choice.title: command for command in pilot.app.commands(pilot.app.screen)}  # type: ignore[attr-defined]
        commands["Save runs"].run()
        await until(pilot, lambda: "diskprof import" in told(pilot))
    (saved,) = path.parent.glob("runs-saved-*")
    with Store.open(path.parent / "new.db") as store, saved.open("rb") as file:
        assert {run.given for run in import_runs(store, [(saved.name, file)])} == set(runs.values()) - {runs["running"]}


async def test_what_was_typed_for_a_run_of_a_deleted_store_is_not_lost(path: Path, runs: dict[str, str]) -> None:
    moved = path.with_name("moved.db")
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "t")
        shutil.move(path, moved)
        await write(pilot, "kept, words", "#tags")
        await press(pilot, "enter")
        await until(pilot, lambda: "The file of the runs is gone" in problem(pilot))
        assert pilot.app.screen.query_one("#tags", Input).value == "kept, words"
        shutil.move(moved, path)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunsScreen)
    with Store.open(path) as store:
        assert store.run(runs["first"]).tags == ("kept", "words")


async def test_a_store_that_was_replaced_is_told_of_and_the_new_one_is_left_alone(
    path: Path, runs: dict[str, str], tmp_path: Path
) -> None:
    other = another(tmp_path)
    async with open_runs(path) as pilot:
        before = shown(pilot)
        shutil.move(other, path)
        new = content(path)
        await see(pilot, "! store replaced")
        for _ in range(4):
            pilot.app._poll()  # type: ignore[attr-defined]
            await settle(pilot)
        assert told(pilot).count("another one now") == 1
        assert shown(pilot) == before
        await go_to(pilot, runs["first"])
        pilot.app.clear_notifications()
        await press(pilot, "d", "y")
        assert "another one now" in told(pilot)
        pilot.app.clear_notifications()
        await press(pilot, "c")
        await until(pilot, lambda: "another one now" in told(pilot))
        assert content(path) == new


async def test_a_run_is_not_started_into_a_store_that_nobody_would_see(bench: Bench, store: Store) -> None:
    record_run(store)
    async with open_bench(bench) as pilot:
        shutil.move(bench.path, bench.path.with_name("moved.db"))
        await press(pilot, "enter")
        await press(pilot, "s")
        await until(pilot, lambda: "The file of the runs is gone" in told(pilot))
        assert not bench.started
        await see(pilot, "! store gone")


def test_a_locked_store_does_not_hold_up_the_look_at_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where several machines may reach the store it has no write-ahead log: a lock is in the way of readers too."""
    monkeypatch.setattr(paths, "on_network", lambda path: True)
    path = tmp_path / "runs.db"
    with Store.open(path) as store, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        record_run(store)
        watcher = StoreWatcher(store)
        assert watcher.poll(0.0)
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE run SET note = 'new'")
        assert not watcher.poll(1.0)
        assert not watcher.poll(5.0)
        with pytest.raises(StoreBusy):
            watcher.poll(7.0)
        other.execute("COMMIT")
        assert watcher.poll(8.0)


async def test_words_for_a_run_wait_in_their_dialog_while_the_store_is_locked(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["second"])
        with locked(path):
            await press(pilot, "t")
            await write(pilot, "kept", "#tags")
            await write(pilot, "a long note", "#note")
            await pilot.press("enter")
            # The screen lives on meanwhile.
            await see(pilot, "Saving")
            await see(pilot, "is busy")
            assert isinstance(pilot.app.screen, TagsModal)
            assert pilot.app.screen.query_one("#tags", Input).value == "kept"
            assert pilot.app.screen.query_one("#note", Input).value == "a long note"
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunsScreen)
        assert at(pilot) == runs["second"]
        with Store.open(path) as store:
            assert store.run(runs["second"]).tags == ("kept",)
            assert store.run(runs["second"]).note == "a long note"
        assert screen_of(pilot).current is not None


async def test_what_is_still_being_told_is_not_told_again(path: Path) -> None:
    async with open_runs(path) as pilot:
        for _ in range(3):
            pilot.app.notify("Something is the matter.", title="Oh", timeout=60)
            await settle(pilot)
        assert told(pilot).count("Something is the matter.") == 1
        pilot.app.notify("Something is the matter.", title="Oh", severity="error", timeout=60)
        pilot.app.notify("Something else is.", title="Oh", timeout=60)
        await settle(pilot)
        assert told(pilot).count("Oh") == 3
        pilot.app.clear_notifications()
        pilot.app.notify("Something is the matter.", title="Oh", timeout=60)
        await settle(pilot)
        assert "Something is the matter." in told(pilot)
