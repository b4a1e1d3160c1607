"""The list of runs: what it shows, every key, and what becomes of hostile names."""

import gc
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import FAST, GONE, make_plan, record_run
from stored_screens import (
    SIZES,
    at,
    go_to,
    open_runs,
    press,
    screen_of,
    see,
    settle,
    shown,
    text_of,
    told,
    until,
    write,
)
from textual import events
from textual.widgets import Input

from diskprof.model.run import Finding, Status, Weight
from diskprof.reports.blocks import Blocks
from diskprof.runner.result_files import import_files
from diskprof.store import Store, this_process
from diskprof.tui.compare.screen import CompareScreen
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.runs import preview as preview_module
from diskprof.tui.runs.result import ResultScreen
from diskprof.tui.runs.run_list import Order, RunList, RunsView, columns_for
from diskprof.tui.runs.screen import RunsScreen

RESULT = Path(__file__).parents[1] / "data" / "results" / "fio-3.33-stonewall.json"
HOSTILE = "\x1b]52;c;aGk=\x07[/][red]\u202e$(x)\n|name"


@pytest.mark.parametrize("size", SIZES)
async def test_shows_every_run_newest_first(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    async with open_runs(path, size) as pilot:
        text = text_of(pilot)
        assert shown(pilot) == list(reversed(runs.values()))
        positions = [text.index(run_id) for run_id in reversed(runs.values())]
        assert positions == sorted(positions)
        assert "10 runs" in text
        assert "newest first" in text
        for sign in "▶!■✗✓":
            assert sign in text
        for word in ("running", "interrupted", "cancelled", "failed", "baseline"):
            assert word in text
        assert max(len(line) for line in text.splitlines()) == size[0]


@pytest.mark.parametrize("size", [*SIZES, (200, 50)])
async def test_the_run_under_the_cursor_is_previewed(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    async with open_runs(path, size) as pilot:
        await go_to(pilot, runs["first"])
        preview = screen_of(pilot).preview
        for words in ("complete", "Samsung SSD 980 PRO", "Before the firmware update.", "tags: baseline"):
            assert words in " ".join(preview.text.split())
        await until(pilot, lambda: "1M seq write QD8" in preview.text)
        assert "4K rand read QD1" in text_of(pilot) and "17.7k" in text_of(pilot)
        assert ("IOPS over time" in text_of(pilot)) is (size[1] > 30)
        # Beside the list where there is room, below it elsewhere.
        assert (preview.region.x > 0) is (size[0] >= 160)
        await go_to(pilot, runs["second"])
        await until(pilot, lambda: runs["second"] in preview.text and "1M seq write QD8" in preview.text)


async def test_a_low_terminal_previews_a_run_where_the_list_leaves_room(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path, (60, 16)) as pilot:
        screen = screen_of(pilot)
        await see(pilot, "1 of 10")
        assert not screen.query_one("#runs-about").display
    with Store.open(path) as store:
        for name in list(runs)[:7]:
            store.delete(runs[name])
    async with open_runs(path, (60, 16)) as pilot:
        screen = screen_of(pilot)
        await until(pilot, lambda: screen.query_one("#runs-about").size.height > 5)
        await see(pilot, "1 of 3", f"Run {list(runs.values())[-1]}")


async def test_runs_that_the_cursor_passes_are_not_opened(
    path: Path, runs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()
    read = preview_module._read

    def counted(store: Path, run_id: str) -> Blocks:
        opened.append(run_id)
        return read(store, run_id)

    monkeypatch.setattr(preview_module, "_read", counted)
    async with open_runs(path) as pilot:
        monkeypatch.setattr(preview_module, "_RESTS_S", 3600.0)
        opened.clear()
        await pilot.press("home", *["down"] * 5)
        monkeypatch.setattr(preview_module, "_RESTS_S", 0.0)
        await press(pilot, "down")
        assert at(pilot) in screen_of(pilot).preview.text
        assert opened == [at(pilot)]
        # What is known is not read again.
        await press(pilot, "up")
        await press(pilot, "down")
        assert len(opened) == 2 and opened[0] == at(pilot) and "mean" in screen_of(pilot).preview.text


async def test_a_run_passed_in_the_same_turn_leaves_no_coroutine(
    path: Path, runs: dict[str, str], recwarn: pytest.WarningsRecorder
) -> None:
    async with open_runs(path) as pilot:
        screen = screen_of(pilot)
        for run in screen.list.shown[:3]:
            screen.preview.tell(run)
        await settle(pilot)
        gc.collect()
    assert not [each for each in recwarn if "never awaited" in str(each.message)]


async def test_a_run_in_progress_is_attached_to(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        assert "a Attach" not in text_of(pilot)
        await press(pilot, "a")
        assert isinstance(pilot.app.screen, RunsScreen)
        await go_to(pilot, runs["running"])
        assert "a Attach" in text_of(pilot)
        await press(pilot, "a")
        assert isinstance(pilot.app.screen, LiveScreen)


def test_wide_lists_show_how_long_runs_took_and_cut_nothing_that_fits(path: Path) -> None:
    with Store.open(path) as store:
        runs = store.summaries()
    long = [run._replace(target="/srv/a/rather/long/path/of/a/volume") for run in runs]
    columns = {column.key: column for column in columns_for(220, RunsView(), long)}
    assert columns["target"].width == len(long[0].target)
    assert columns["took"].right
    took = RunList().row(runs[-1], [columns["took"]], datetime.now(UTC)).line[0][0]
    assert took == "0:34"
    by_time = RunList()
    by_time.load(runs)
    by_time.look(RunsView(Order.TOOK))
    known = [run.duration_s for run in by_time.shown if run.duration_s is not None]
    assert known == sorted(known)


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_store_says_what_to_do(tmp_path: Path, size: tuple[int, int]) -> None:
    async with open_runs(tmp_path / "runs.db", size) as pilot:
        await see(pilot, "Press 1")
        await press(pilot, *"crdtS", "I", "space", "U", "enter", "escape", "slash", "escape")
        await see(pilot, "Press 1")


async def test_moves_with_arrows_pages_and_ends(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        order = list(reversed(runs.values()))
        for key, place in (
            *(("down", 1), ("j", 2), ("up", 1), ("k", 0), ("end", 9), ("home", 0), ("pagedown", 9), ("pageup", 0)),
            *(("G", 9), ("g", 0), ("up", 0), ("right", 0), ("l", 0), ("left", 0), ("h", 0)),
        ):
            await press(pilot, key)
            assert at(pilot) == order[place], key


async def test_a_click_moves_and_a_second_opens(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await pilot.click("#runs-list", offset=(5, 2))
        await settle(pilot)
        assert at(pilot) == shown(pilot)[1]
        await pilot.click("#runs-list", offset=(5, 2), times=2)
        await settle(pilot)
        assert isinstance(pilot.app.screen, ResultScreen)


async def test_sorts_by_each_column_and_back(path: Path) -> None:
    async with open_runs(path) as pilot:
        screen = screen_of(pilot)
        await press(pilot, "down", "down")
        here = at(pilot)
        seen = [screen.list.view.order]
        for _ in Order:
            await press(pilot, "S")
            seen.append(screen.list.view.order)
            assert at(pilot) == here
        assert seen == [*Order, Order.STARTED]
        await press(pilot, "S")
        presets = [run.preset for run in screen.list.shown]
        assert presets == sorted(presets)
        await see(pilot, "by preset")
        await press(pilot, "I")
        assert [run.preset for run in screen.list.shown] == sorted(presets, reverse=True)
        assert at(pilot) == here


async def test_runs_without_tags_stand_last_whichever_way(path: Path) -> None:
    async with open_runs(path) as pilot:
        runs = RunList()
        runs.load(screen_of(pilot).list.runs)
        for backwards in (False, True):
            runs.look(RunsView(Order.TAGS, backwards))
            assert [bool(run.tags) for run in runs.shown] == [True] * 3 + [False] * 7


async def test_oldest_first(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, "I")
        assert shown(pilot) == list(runs.values())
        await see(pilot, "oldest first")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("mixed", ["mixed"]),
        ("BASELINE", ["first"]),
        ("backup-7", ["interrupted", "slow"]),
        ("quick failed", ["failed"]),
        ("q5t2", ["slow"]),
        ("crucial-or-nothing", []),
        ("/mnt/data ioping", ["seek", "ioping"]),
        ("status:FAILED", ["failed"]),
        ("tag:baseline", ["first"]),
        ("host:backup-7", ["interrupted", "slow"]),
        ("preset:quick failed", ["failed"]),
        ("host:backup-7 status:interrupted", ["interrupted"]),
        ("disk:nothing", []),
    ],
)
async def test_filters_as_one_types(path: Path, runs: dict[str, str], words: str, names: list[str]) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, "slash")
        await write(pilot, words)
        assert shown(pilot) == [runs[name] for name in names]
        await see(pilot, f"{len(names)} of 10 runs")
        if not names:
            await see(pilot, "Nothing matches")
        await press(pilot, "enter")
        assert screen_of(pilot).sheet.has_focus
        assert shown(pilot) == [runs[name] for name in names]
        await press(pilot, "escape")
        assert len(shown(pilot)) == 10


async def test_a_field_that_the_filter_does_not_know(path: Path) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, "slash")
        await write(pilot, "state:failed")
        await see(pilot, "Unknown field state: in the filter. Fields: status: disk: tag: preset: host:")


async def test_a_click_on_a_heading_sorts_and_another_reverses(path: Path) -> None:
    async with open_runs(path) as pilot:
        screen = screen_of(pilot)
        header = text_of(pilot).splitlines()[2]
        at_preset = header.index("preset")
        for backwards in (False, True, False):
            await pilot.click("#runs-list", offset=(at_preset, 0))
            await settle(pilot)
            assert (screen.list.view.order, screen.list.view.backwards) == (Order.PRESET, backwards)
        await pilot.click("#runs-list", offset=(header.index("when"), 0))
        await settle(pilot)
        assert (screen.list.view.order, screen.list.view.backwards) == (Order.STARTED, False)


async def test_keys_typed_into_the_filter_are_its_text(path: Path) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, "slash", "q", "d", "1")
        assert screen_of(pilot).query_one("#runs-filter", Input).value == "qd1"
        await press(pilot, "escape")
        assert screen_of(pilot).sheet.has_focus


async def test_words_that_came_with_the_key_of_the_filter_are_its_text(path: Path, runs: dict[str, str]) -> None:
    """As over a slow line: d and y among them would delete the run under the cursor."""
    async with open_runs(path) as pilot:
        for letter in "/dyaily":
            key = "slash" if letter == "/" else letter
            pilot.app.post_message(events.Key(key, letter))
        field = screen_of(pilot).query_one("#runs-filter", Input)
        await until(pilot, lambda: len(field.value) == 6 or len(pilot.app.screen_stack) > 1)
        assert field.value == "dyaily"
    with Store.open(path) as store:
        assert all(store.run(run_id) for run_id in runs.values())


async def test_marks_stay_through_sorting_filtering_and_refreshing(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        screen = screen_of(pilot)
        await press(pilot, "space", "space")
        marked = list(screen.list.marked)
        assert marked == list(reversed(runs.values()))[:2]
        assert at(pilot) == list(reversed(runs.values()))[2]
        await see(pilot, "2 marked")
        await press(pilot, "S", "I", "slash")
        await write(pilot, "mixed")
        await press(pilot, "escape")
        screen.read()
        assert screen.list.marked == marked
        await press(pilot, "U")
        assert not screen.list.marked
        assert "marked" not in text_of(pilot)


async def test_a_mark_is_taken_away_by_the_same_key(path: Path) -> None:
    async with open_runs(path) as pilot:
        await press(pilot, "space", "up", "space")
        assert not screen_of(pilot).list.marked


async def test_compares_what_is_marked_with_the_oldest_as_base(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        for name in ("slow", "first"):
            await go_to(pilot, runs[name])
            await press(pilot, "space")
        await press(pilot, "c")
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        assert screen.comparison is not None
        assert [column.key for column in screen.comparison.columns] == [runs["first"], runs["slow"]]


async def test_compares_the_one_marked_with_the_one_under_the_cursor(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["slow"])
        await press(pilot, "space")
        await go_to(pilot, runs["first"])
        await press(pilot, "c")
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        assert screen.comparison is not None
        assert [column.key for column in screen.comparison.columns] == [runs["first"], runs["slow"]]


async def test_compares_with_the_newest_complete_run_of_the_preset(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["first"])
        await press(pilot, "c")
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        assert screen.comparison is not None
        assert [column.key for column in screen.comparison.columns] == [runs["first"], runs["slow"]]


async def test_says_what_a_comparison_lacks(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["mixed"])
        await press(pilot, "c")
        assert isinstance(pilot.app.screen, RunsScreen)
        assert "no other finished run of mixed-70-30" in told(pilot)
        assert "space" in told(pilot)


async def test_opens_a_finished_run_and_comes_back(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["slow"])
        await press(pilot, "enter")
        screen = pilot.app.screen
        assert isinstance(screen, ResultScreen)
        assert screen.run_id == runs["slow"]
        await press(pilot, "escape")
        assert at(pilot) == runs["slow"]


async def test_opens_a_run_that_goes_in_live(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["running"])
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, LiveScreen)


async def test_a_run_that_comes_shows_and_the_cursor_stays(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["mixed"])
        await press(pilot, "space")
        await go_to(pilot, runs["slow"])
        with Store.open(path) as other:
            new = other.create_run(make_plan(), FAST.environment, runner=this_process())
        await until(pilot, lambda: new in shown(pilot))
        assert at(pilot) == runs["slow"]
        assert screen_of(pilot).list.marked == [runs["mixed"]]
        await see(pilot, "11 runs")


async def test_a_run_that_goes_away_takes_its_mark_along(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["mixed"])
        await press(pilot, "space")
        with Store.open(path) as other:
            other.delete(runs["mixed"])
        screen_of(pilot).read()
        await settle(pilot)
        assert not screen_of(pilot).list.marked
        assert runs["mixed"] not in shown(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "runs.db"
    plan = make_plan()
    plan = replace(plan, preset=HOSTILE, preset_title=HOSTILE, target=replace(plan.target, path=f"/{HOSTILE}"))
    environment = replace(FAST.environment, hostname=HOSTILE)
    with Store.open(path) as store:
        first = store.create_run(plan, environment, tags=(HOSTILE,), note=HOSTILE, runner=GONE)
        store.finish_run(first, status=Status.COMPLETE, headline=HOSTILE)
        second = store.create_run(plan, environment, runner=GONE)
        store.finish_run(second, status=Status.FAILED, reason=HOSTILE)
    async with open_runs(path, size) as pilot:
        for keys in ((), ("t",), ("escape", "d"), ("escape", "r"), ("escape", "slash")):
            await press(pilot, *keys)
            text = text_of(pilot)
            assert not any(char in text for char in "\x1b\x07\u202e")
        assert "[red]" in text
        await write(pilot, HOSTILE)
        assert not any(char in text_of(pilot) for char in "\x1b\x07\u202e")
        await press(pilot, "escape", "c")
        assert isinstance(pilot.app.screen, CompareScreen)
        assert not any(char in text_of(pilot) for char in "\x1b\x07\u202e")
        await press(pilot, "escape", "enter")
        assert isinstance(pilot.app.screen, ResultScreen)
        assert not any(char in text_of(pilot) for char in "\x1b\x07\u202e")


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (200, 60)])
async def test_every_size_shows_the_run_under_the_cursor(
    path: Path, runs: dict[str, str], size: tuple[int, int]
) -> None:
    async with open_runs(path, size) as pilot:
        await see(pilot, runs["running"])
        await pilot.resize_terminal(80, 24)
        await press(pilot, "end")
        await pilot.resize_terminal(*size)
        await settle(pilot)
        await see(pilot, at(pilot))


async def test_help_names_every_key(path: Path) -> None:
    async with open_runs(path, (120, 60)) as pilot:
        await press(pilot, "question_mark")
        text = text_of(pilot)
        for word in ("Mark", "Compare", "Markdown", "Delete", "tags", "Filter", "Sort", "Reverse", "Run again"):
            assert word in text


@pytest.mark.parametrize(("width", "least"), [(79, 12), (119, 24)])
def test_long_targets_and_tags_leave_room_for_results(path: Path, runs: dict[str, str], width: int, least: int) -> None:
    with Store.open(path) as store:
        found = [
            run._replace(
                target="/srv/very/long/path/of/a/volume",
                tags=("before-the-firmware-update",),
                headline="rand R 282k, W 210k IOPS, seq R 6.90 GB/s",
            )
            for run in store.summaries()
        ]
    columns = {column.key: column.width for column in columns_for(width, RunsView(), found)}
    assert least <= columns["result"] < least + 8
    assert columns["target"] >= 9
    assert sum(columns.values()) + len(columns) - 1 <= width


async def test_what_needs_room_of_its_own_keeps_it(path: Path, runs: dict[str, str]) -> None:
    """Results that are short take nothing away from the others."""
    with Store.open(path) as store:
        found = [run._replace(target="/srv/some/long/path/here", headline="9k") for run in store.summaries()]
    assert {column.key: column.width for column in columns_for(119, RunsView(), found)}["target"] == 24


def test_a_target_is_not_cut_beside_a_result_that_has_room(path: Path) -> None:
    """Of this result the first part is told, as all of it does not fit: the others leave no room behind."""
    headline = "rand R 18.5k, W 37.5k IOPS, seq R/W 2.16/1.51 GB/s"
    with Store.open(path) as store:
        found = [
            run._replace(target="/srv/database/main", headline=headline, tags=(), doubts=("other-io", "busy-machine"))
            for run in store.summaries()
        ]
    columns = {column.key: column.width for column in columns_for(119, RunsView(), found)}
    assert columns["target"] == len("/srv/database/main")
    assert columns["result"] >= len("rand R 18.5k, W 37.5k IOPS")
    wider = {column.key: column.width for column in columns_for(139, RunsView(), found)}
    assert wider["doubts"] >= 16, "what is left over says why runs are in doubt"


def test_at_80_columns_a_target_is_not_cut_for_a_status_that_no_run_has(path: Path) -> None:
    with Store.open(path) as store:
        one = store.summaries()[0]._replace(
            target="/srv/vol/data01",
            headline="rand R 72.1k, W 12.6k IOPS",
            tags=(),
            status=Status.COMPLETE,
            doubts=("busy-machine",),
        )
    interrupted = one._replace(status=Status.INTERRUPTED, headline="")
    for found in ([one], [one, interrupted]):
        columns = {column.key: column.width for column in columns_for(79, RunsView(), found)}
        assert columns["target"] == len("/srv/vol/data01")
        assert columns["result"] >= len("rand R 72.1k, W 12.6k")


@pytest.mark.parametrize(("size", "rows"), [((80, 24), 2), ((120, 40), 2)])
async def test_a_short_list_leaves_its_lines_to_the_run(tmp_path: Path, size: tuple[int, int], rows: int) -> None:
    path = tmp_path / "short.db"
    with Store.open(path) as store:
        for _ in range(rows):
            record_run(store)
    async with open_runs(path, size) as pilot:
        await see(pilot, "1M seq write QD8", "CPU")
        about, body = pilot.app.screen.query_one("#runs-about"), pilot.app.screen.query_one("#runs-body")
        await until(pilot, lambda: about.size.height == body.size.height - rows - 2)
        await press(pilot, "/", *"nothing-like-it", "enter", "escape")
        await settle(pilot)
        assert about.size.height == body.size.height - rows - 2
        await pilot.resize_terminal(200, 50)
        await until(pilot, lambda: about.size.height == body.size.height)
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: about.size.height == body.size.height - rows - 2)


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_tag_is_told_below_the_list(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    tag = "-".join(["before-the-firmware-update"] * 4)
    with Store.open(path) as store:
        store.set_tags(runs["running"], [tag])
        store.set_note(runs["running"], "And a note that is long enough to take a line of its own below the list.")
    async with open_runs(path, size) as pilot:
        await see(pilot, "below the list.")
        about = "".join(line.strip() for line in text_of(pilot).splitlines())
        assert tag in about


async def test_who_wants_to_delete_what_goes_is_told_the_keys(path: Path, runs: dict[str, str]) -> None:
    async with open_runs(path) as pilot:
        await go_to(pilot, runs["running"])
        await press(pilot, "d")
        assert "a shows it, s stops it there." in told(pilot)
        with Store.open(path) as store:
            assert store.run(runs["running"]).status is Status.RUNNING
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, LiveScreen)
        await see(pilot, "s Stop")


@pytest.mark.parametrize("size", [*SIZES, (159, 50)])
async def test_a_run_in_doubt_is_marked(path: Path, runs: dict[str, str], size: tuple[int, int]) -> None:
    doubt = Finding("other-io", Weight.DOUBT, "Other I/O on the disk.", "5 MB/s", "Run it again.", "randread-4k-qd1")
    with Store.open(path) as store:
        run_id = store.create_run(store.run(runs["first"]).plan, store.run(runs["first"]).environment)
        store.finish_run(run_id, status=Status.COMPLETE, findings=(doubt,), headline="rand R 9.99k")
    async with open_runs(path, size) as pilot:
        await go_to(pilot, run_id)
        await see(pilot, "! In doubt: other I/O on the disk")
        lines = text_of(pilot).splitlines()
        (row,) = (line for line in lines if run_id in line and "9.99k" in line)
        (other,) = (line for line in lines if shown(pilot)[1] in line)
        assert " ! " in row and " ! " not in other
        shown_columns = [column.key for column in columns_for(220, RunsView(), screen_of(pilot).list.runs)]
        assert "doubts" in shown_columns
        await press(pilot, "enter")
        await see(pilot, "1 doubt", "! In doubt: other I/O on the disk (4K rand read QD1)")


async def test_an_imported_result_is_marked_and_opened_and_cannot_be_run_again(tmp_path: Path) -> None:
    path = tmp_path / "imported.db"
    with Store.open(path) as store:
        import_files(store, [str(RESULT)], io.BytesIO())
    async with open_runs(path, (120, 40)) as pilot:
        await see(pilot, "↓ imported", "rand R 17.8k, W 1.75k IOPS", "4K rand read QD1 x2", f"from {str(RESULT)[:20]}")
        assert "Run again" not in text_of(pilot)
        await press(pilot, "enter")
        await see(pilot, "Imported: its disk is unknown", "4K rand read QD1 x2")
        assert "run again" not in text_of(pilot)
        await press(pilot, "space")
        await see(pilot, "Imported from", "the result file has no percentiles of lat")
