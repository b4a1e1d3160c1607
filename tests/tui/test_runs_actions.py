"""What can be done with runs from their list: run again, tags and notes, deleting, exporting."""

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from bench_screens import PRESETS
from msgspec.structs import replace
from recorded import record_run
from stored_screens import (
    SIZES,
    Driver,
    StillSession,
    StoredApp,
    altered,
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

from diskprof.model.device import DeviceTree
from diskprof.model.errors import DiskprofError, Refused
from diskprof.model.run import Run, Status
from diskprof.runner.session import Outlook, Place, Wish
from diskprof.store import Store, this_process
from diskprof.tui.dialogs.confirm_delete import DeleteModal
from diskprof.tui.dialogs.report_dialog import AlreadyThere, ExportModal, write_report
from diskprof.tui.dialogs.tags import TagsModal, parse_tags
from diskprof.tui.runs.screen import RunsScreen

HOSTILE = "\x1b]52;c;aGk=\x07[/][red]\u202e$(x)\n|name"


@pytest.mark.parametrize("size", SIZES)
async def test_tags_and_note(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    async with open_runs(path, size) as pilot:
        await go_to(pilot, runs["second"])
        await press(pilot, "t")
        assert isinstance(pilot.app.screen, TagsModal)
        await see(pilot, "Enter: save")
        await write(pilot, " b , a,,b ", "#tags")
        await write(pilot, "a note [bold]", "#note")
        await press(pilot, "enter")
        with Store.open(path) as store:
            run = store.run(runs["second"])
        assert run.tags == ("b", "a")
        assert run.note == "a note [bold]"
        assert at(pilot) == runs["second"]
        await see(pilot, "a note [bold]")


async def test_tags_are_left_alone_by_escape_and_by_no_change(path: Path, runs: dict[str, str]) -> None:
    with Store.open(path) as store:
        store.set_note(runs["first"], HOSTILE)
        before = store.run(runs["first"])
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "t")
        await write(pilot, "gone")
        await press(pilot, "escape", "t", "enter")
    with Store.open(path) as store:
        after = store.run(runs["first"])
    assert (after.tags, after.note) == (before.tags, before.note)


async def test_a_tag_that_may_not_be_is_refused_in_words(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "t")
        await write(pilot, "latest")
        await press(pilot, "enter")
        await see(pilot, "latest")
        # What was typed stands there still, to be changed.
        assert isinstance(pilot.app.screen, TagsModal)
        assert pilot.app.screen.query_one("#tags", Input).value == "latest"
        await until(pilot, lambda: "latest" in str(pilot.app.screen.query_one("#problem", Static).render()))
        await write(pilot, "latest-one", "#tags")
        await press(pilot, "enter")
        assert screen_of(pilot).current is not None


async def test_what_is_typed_follows_the_tags_that_are_there(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "t", *", x", "tab", "!", "enter")
    with Store.open(path) as store:
        assert store.run(runs["first"]).tags == ("baseline", "x")
        assert store.run(runs["first"]).note == "Before the firmware update.!"


def test_tags_are_read_as_a_person_writes_them() -> None:
    assert parse_tags(" a,b c ,, a,\x1b[0m") == ("a", "b", "c", "\ufffd[0m")
    assert parse_tags("") == ()


@pytest.mark.parametrize("size", SIZES)
async def test_deletes_after_asking(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    async with open_runs(path, size) as pilot:
        await go_to(pilot, runs["cancelled"])
        await press(pilot, "d")
        assert isinstance(pilot.app.screen, DeleteModal)
        await see(pilot, runs["cancelled"])
        await press(pilot, "enter")
        assert runs["cancelled"] in shown(pilot)
        for key in ("n", "escape"):
            await press(pilot, "d", key)
            assert runs["cancelled"] in shown(pilot)
        await press(pilot, "d", "y")
        assert runs["cancelled"] not in shown(pilot)
        assert at(pilot) == runs["failed"]
        assert f"Deleted {runs['cancelled']}. u undoes." in told(pilot)
        await press(pilot, "u")
        assert runs["cancelled"] in shown(pilot)
        assert f"Restored {runs['cancelled']}." in told(pilot)


async def test_deletes_what_is_marked(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        for name in ("first", "second"):
            await go_to(pilot, runs[name])
            await press(pilot, "space")
        await press(pilot, "d")
        await see(pilot, "Delete these 2 runs?")
        await press(pilot, "y")
        assert len(shown(pilot)) == 8
        assert not screen_of(pilot).list.marked
        assert at(pilot) == runs["slow"]
        assert "Deleted 2 runs. u undoes." in told(pilot)
        await press(pilot, "u")
        assert len(shown(pilot)) == 10


async def test_does_not_delete_a_run_that_goes(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["running"])
        await press(pilot, "d")
        assert isinstance(pilot.app.screen, RunsScreen)
        assert "is in progress" in told(pilot)
        assert runs["running"] in shown(pilot)


async def test_says_why_a_deletion_fails(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "d")
        with Store.open(path) as other:
            other.delete(runs["first"])
        await press(pilot, "y")
        assert "no run" in told(pilot)
        assert runs["first"] not in shown(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_exports_and_asks_before_replacing(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    file = path.parent / f"diskprof-{runs['first']}.md"
    async with open_runs(path, size) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "r")
        assert isinstance(pilot.app.screen, ExportModal)
        assert pilot.app.screen.query_one("#path", Input).value == str(file)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunsScreen)
        assert str(file) in told(pilot)
        report = file.read_text()
        assert runs["first"] in report

        file.write_text("mine")
        await press(pilot, "r", "enter")
        await see(pilot, "exists already")
        assert file.read_text() == "mine"
        await press(pilot, "escape")
        assert file.read_text() == "mine"
        await press(pilot, "r", "enter")
        await see(pilot, "exists already")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunsScreen)
        assert file.read_text() == report
        assert sorted(entry.name for entry in path.parent.iterdir() if entry.suffix == ".md") == [file.name]


async def test_another_name_withdraws_the_permission_to_replace(path: Path, runs: dict[str, str]) -> None:
    first, second = path.parent / "one.md", path.parent / "two.md"
    first.write_text("one")
    second.write_text("two")
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "r")
        await write(pilot, str(first))
        await press(pilot, "enter")
        await write(pilot, str(second))
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ExportModal)
        assert (first.read_text(), second.read_text()) == ("one", "two")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "Write the name"),
        (".", "is a directory"),
        ("no/such/place.md", "There is no directory"),
        ("/dev/null/x.md", "no directory"),
    ],
)
async def test_an_export_that_cannot_be_says_why(path: Path, name: str, says: str) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, "end", "r")
        await write(pilot, name)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ExportModal)
        await see(pilot, says)


async def test_a_directory_that_may_not_be_written_to(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, "end", "r")
        # Not by permissions, which do not hold root back.
        await write(pilot, "/proc/self/report.md")
        await press(pilot, "enter")
        await see(pilot, "cannot be written", "Choose a place")


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    assert write_report(file, "new") == file
    with pytest.raises(AlreadyThere):
        write_report(file, "newer")
    assert file.read_text() == "new"
    file.chmod(0o600)
    link = tmp_path / "link.md"
    link.symlink_to(file)
    assert write_report(link, "newest", replace=True) == link
    assert file.read_text() == "newest"
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(DiskprofError, match="cannot be written"):
        write_report(Path("/proc/self/report.md"), "text")
    write_report(tmp_path / "link.md", "\ud800", replace=True)
    assert file.read_text() == "?"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.md", "report.md"]


async def test_several_marked_runs_make_one_report(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        for name in ("first", "slow"):
            await go_to(pilot, runs[name])
            await press(pilot, "space")
        await press(pilot, "r", "enter")
        report = (path.parent / f"diskprof-{runs['first']}-{runs['slow']}.md").read_text()
        assert runs["first"] in report
        assert runs["slow"] in report


@pytest.mark.parametrize(
    ("name", "says", "begins"),
    [
        ("disk.html", "a page with charts (HTML)", "<!DOCTYPE html>"),
        ("disk.HTM", "a page with charts (HTML)", "<!DOCTYPE html>"),
        ("disk.csv", "the results as CSV", "run,"),
        ("disk.md", "Markdown", "# "),
        ("disk", "Markdown", "# "),
    ],
)
async def test_the_end_of_the_name_says_as_what(
    path: Path, runs: dict[str, str], name: str, says: str, begins: str
) -> None:
    file = path.parent / name
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "r")
        await write(pilot, str(file))
        await see(pilot, f"Write {says} to")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunsScreen)
        assert file.read_text().startswith(begins)


async def test_a_form_that_there_is_not_is_told_of_before_a_file_is_written(path: Path, runs: dict[str, str]) -> None:
    file = path.parent / "disk.pdf"
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "r")
        await write(pilot, str(file))
        await see(pilot, "Write the report to")
        await press(pilot, "enter")
        await see(pilot, "A report cannot be written as .pdf. Name the file .md, .html or .csv.")
        assert not file.exists()
        await write(pilot, str(file.with_suffix(".md")))
        await see(pilot, "Write Markdown to")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunsScreen)
    assert file.with_suffix(".md").exists()


async def test_another_form_is_another_text(path: Path, runs: dict[str, str]) -> None:
    """A name that is taken is asked about after the report was made: the next name may ask for another form."""
    taken, free = path.parent / "taken.md", path.parent / "free.html"
    taken.write_text("mine")
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "r")
        await write(pilot, str(taken))
        await press(pilot, "enter")
        await see(pilot, "exists already")
        await write(pilot, str(free))
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunsScreen)
    assert free.read_text().startswith("<!DOCTYPE html>")


# --- Running again ---------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def open_again(path: Path, answer: Callable[[Run], Outlook]) -> AsyncIterator[Driver]:
    """The list of runs, where to plan a run again gives `answer`."""
    session = altered(StillSession(path), again=lambda run, _permission: answer(run), neighbours=lambda *_: ())
    async with StoredApp(session).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        yield pilot


def outlook_of(run: Run) -> Outlook:
    wish = Wish(PRESETS[0], Place(path=run.plan.target.path), DeviceTree(()))
    return Outlook(wish, replace(run.plan, preset_title="Again"))


async def test_a_run_is_run_again_by_a_key(path: Path, runs: dict[str, str]) -> None:
    asked = list[str]()

    def again(run: Run) -> Outlook:
        asked.append(run.id)
        return outlook_of(run)

    async with open_again(path, again) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "R")
        await see(pilot, "Start Again?")
        assert asked == [runs["first"]]
        # The commands are those of this plan, and the way back from the dialog leads to where it was opened.
        await press(pilot, "c")
        await see(pilot, "--name=")
        await press(pilot, "escape")
        await see(pilot, "Start Again?")
        await press(pilot, "escape")
        assert at(pilot) == runs["first"]


async def test_what_keeps_a_run_from_being_run_again_is_said(path: Path, runs: dict[str, str]) -> None:
    def again(run: Run) -> Outlook:
        raise Refused(f"{run.plan.target.path} is on another disk", "Choose it")

    async with open_again(path, again) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "R")
        await until(pilot, lambda: "is on another disk" in told(pilot))
        assert at(pilot) == runs["first"]


async def test_a_run_in_progress_is_not_run_again(path: Path) -> None:
    with Store.open(path) as store:
        going = record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
    async with open_again(path, outlook_of) as pilot:
        await go_to(pilot, going)
        await press(pilot, "R")
        await until(pilot, lambda: "in progress" in told(pilot))
