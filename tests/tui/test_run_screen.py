"""Run: what there is, what would happen, and from launch to a running test in two keys."""

import threading
import time
from pathlib import Path

import pytest
from bench_screens import DATA, DISKS, GIB, PRESETS, Bench, BenchMonitor, make_device, make_preset, open_bench
from msgspec.structs import replace
from recorded import record_run
from stored_screens import SIZES, Driver, altered, press, see, settle, text_of, told, until, write
from textual.widgets import Input

from diskprof.model.device import DeviceKind, DeviceTree, Mount
from diskprof.model.errors import DiskprofError, EngineMissing
from diskprof.model.plan import Hazard, Severity
from diskprof.model.preset import Category
from diskprof.model.run import Status
from diskprof.presets.library import Library
from diskprof.presets.problem import Problem
from diskprof.store import Store, this_process
from diskprof.tui.app import DiskprofApp
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.dialogs.form import FormDialog
from diskprof.tui.dialogs.text_page import TextPage
from diskprof.tui.kit.table import Table
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.run.screen import RunScreen

HOSTILE = "\x1b]52;c;aGk=\x07[/][red]\u202e\n"


def rows(pilot: Driver, pane: str) -> Table:
    return pilot.app.screen.query_one(f"#{pane}", Table)


def plan(pilot: Driver) -> str:
    return " ".join(rows(pilot, "plan").text.split())


@pytest.mark.parametrize("size", SIZES)
async def test_two_keys_from_launch_to_a_running_quick_check(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, Ask)
        await see(pilot, "Start Quick check?", "Tests /mnt/data with quick.")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert [(made.preset, made.target.path) for made in bench.started] == [("quick", "/mnt/data")]
        await see(pilot, "Quick check", "quick running")


async def test_the_two_keys_may_be_typed_before_anything_is_there(bench: Bench) -> None:
    async with DiskprofApp(bench.session()).run_test() as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert len(bench.started) == 1


@pytest.mark.parametrize("size", SIZES)
async def test_devices_stand_as_a_tree(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        lines = rows(pilot, "devices").text.splitlines()
        assert [line.split()[0] for line in lines] == ["sda", "├─sda1", "└─sda2"]
        assert "500G" in lines[0]
        assert "Spinn" in lines[0]
        assert "ext4 boot" in lines[1]
        assert "/mnt/data" in lines[2] and "120G" in lines[2]
        assert rows(pilot, "devices").key == "device:sda2"


@pytest.mark.parametrize("size", SIZES)
async def test_a_shows_and_hides_empty_devices(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        assert "loop0" not in text_of(pilot)
        await press(pilot, "a")
        assert "loop0" in rows(pilot, "devices").text
        await press(pilot, "a")
        assert "loop0" not in rows(pilot, "devices").text


@pytest.mark.parametrize("size", SIZES)
async def test_presets_stand_on_their_shelves(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        lines = [line.strip().partition("  ")[0] for line in rows(pilot, "presets").text.splitlines()]
        assert lines == ["Quick", "Quick check", "As CrystalDiskMark", "Latency", "Latency with ioping"]
        await press(pilot, "right", "down", "down")
        assert rows(pilot, "presets").key == "ioping-latency"
        await until(pilot, lambda: "Tests /mnt/data with ioping-latency." in plan(pilot))
        await press(pilot, "left", "up")
        assert rows(pilot, "devices").key == "device:sda1"
        await until(pilot, lambda: "Tests /dev/sda1 with ioping-latency." in plan(pilot))


@pytest.mark.parametrize("size", SIZES)
async def test_the_plan_says_what_will_happen(bench: Bench, size: tuple[int, int]) -> None:
    bench.hazards = (
        Hazard("a", Severity.NOTES, "A note.", ""),
        Hazard("b", Severity.WARNS, "The disk is busy.", "Wait until it is idle."),
    )
    async with open_bench(bench, size) as pilot:
        text = plan(pilot)
        for words in (
            "Tests /mnt/data with quick.",
            "! The disk is busy. Wait until it is idle. · A note.",
            "Create test file W",
            "1 4K rand read QD1",
            "Writes about",
            "Space 1 GiB, freed afterwards",
            "Time about",
            "What Quick check is for.",
            "From an article",
        ):
            assert words in text
        await press(pilot, "enter")
        await see(pilot, "! The disk is busy.", "Wait until it is idle.")


@pytest.mark.parametrize("size", SIZES)
async def test_tab_reaches_every_pane_and_the_plan_scrolls(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        visited = []
        for _ in range(3):
            assert pilot.app.focused is not None
            visited.append(pilot.app.focused.id)
            await press(pilot, "tab")
        assert visited == ["devices", "presets", "plan"]
        await press(pilot, "shift+tab")
        assert pilot.app.focused.id == "plan"
        await press(pilot, "end")
        scrolls = rows(pilot, "plan").max_scroll_y > 0
        await until(pilot, lambda: (rows(pilot, "plan").scroll_y > 0) == scrolls)
        await press(pilot, "home", "pagedown", "pageup", "down", "up", "enter")
        assert isinstance(pilot.app.screen, Ask)


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_blocked_cannot_be_started(bench: Bench, size: tuple[int, int]) -> None:
    bench.block("The file system has 1 GiB free and the test needs 4.", "Choose a smaller size.")
    async with open_bench(bench, size) as pilot:
        assert "✗ The file system has 1 GiB free and the test needs 4. Choose a smaller size." in plan(pilot)
        assert pilot.app.screen.query_one("#plan").has_class("-blocked")
        await press(pilot, "enter", "enter")
        assert isinstance(pilot.app.screen, RunScreen)
        assert "The file system has 1 GiB free and the test needs 4. Choose a smaller size." in told(pilot)
        assert bench.started == []


@pytest.mark.parametrize("size", SIZES)
async def test_without_an_engine_the_pane_says_how_to_get_it(bench: Bench, size: tuple[int, int]) -> None:
    bench.plan_error = EngineMissing("fio is not installed.", "Install it: apt-get install fio")
    async with open_bench(bench, size) as pilot:
        assert "✗ fio is not installed. Install it: apt-get install fio" in plan(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunScreen)
        assert "fio is not installed. Install it: apt-get install fio" in told(pilot)
        await press(pilot, "C")
        assert isinstance(pilot.app.screen, RunScreen)


@pytest.mark.parametrize("answer", ["escape", "c"])
async def test_going_back_starts_nothing(bench: Bench, answer: str) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", answer)
        assert isinstance(pilot.app.screen, TextPage if answer == "c" else RunScreen)
        if answer == "c":
            await press(pilot, "escape")
            await see(pilot, "Start Quick check?", "Show the commands")
            await press(pilot, "escape")
            assert isinstance(pilot.app.screen, RunScreen)
        assert bench.started == []


@pytest.mark.parametrize("size", SIZES)
async def test_c_shows_the_exact_commands(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "C")
        assert isinstance(pilot.app.screen, TextPage)
        await see(pilot, "/usr/bin/fio --output-format=json+", "--rw=randread")
        await press(pilot, *["down"] * 40)
        await see(pilot, "1M seq write QD8")
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RunScreen)


async def test_a_start_that_fails_says_why_and_can_be_tried_again(bench: Bench) -> None:
    bench.start_error = DiskprofError("The runner did not start.", "See /tmp/log.")
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: "The runner did not start. See /tmp/log." in told(pilot))
        assert isinstance(pilot.app.screen, RunScreen)
        assert "Tests /mnt/data with quick." in plan(pilot)
        bench.start_error = None
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))


async def test_while_one_starts_no_second_is_started(bench: Bench) -> None:
    bench.hold_start = threading.Event()
    async with open_bench(bench) as pilot:
        await pilot.press("enter", "enter")
        await until(pilot, lambda: "Starting." in plan(pilot))
        await pilot.press("enter", "enter", "enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, RunScreen)
        bench.hold_start.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert len(bench.started) == 1


async def test_a_run_that_goes_is_told_of_before_another_starts(bench: Bench) -> None:
    with Store.open(bench.path) as store:
        record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
    async with open_bench(bench) as pilot:
        await press(pilot, "enter")
        await see(pilot, "has been using sda", "two runs on one disk distort", "Wait for its end, then start")


@pytest.mark.parametrize("size", SIZES)
async def test_a_device_that_is_plugged_in_appears(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        bench.plug(*DISKS, make_device("sdb", model="Stick", size=64 * GIB))
        await until(pilot, lambda: "sdb" in rows(pilot, "devices").text)
        assert rows(pilot, "devices").key == "device:sda2"
        await press(pilot, "down")
        await until(pilot, lambda: "Tests /dev/sdb with quick." in plan(pilot))
        bench.plug(*DISKS)
        await until(pilot, lambda: "sdb" not in rows(pilot, "devices").text)
        await until(pilot, lambda: "Tests /mnt/data with quick." in plan(pilot))
        await settle(pilot)


async def test_events_that_do_not_reach_the_loop_are_asked_for(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        bench.devices, bench.changed = (*DISKS, make_device("sdz")), True
        bench.on_change()
        pilot.app.screen._tick()  # type: ignore[attr-defined]
        await until(pilot, lambda: "sdz" in rows(pilot, "devices").text)


async def test_behind_another_screen_no_disk_is_looked_at(bench: Bench) -> None:
    """A look takes a tenth of a second of a processor, and a test may be measured meanwhile."""
    looks = []

    def scan() -> DeviceTree:
        looks.append(bench.devices)
        return DeviceTree(bench.devices)

    app = DiskprofApp(altered(bench.session(), scan=scan))
    async with app.run_test() as pilot:
        await until(pilot, lambda: bool(bench.planned))
        await press(pilot, "2")
        before = len(looks)
        bench.plug(*DISKS, make_device("sdz"))
        await until(pilot, lambda: not bench.changed)
        await settle(pilot)
        assert len(looks) == before
        await press(pilot, "1")
        await until(pilot, lambda: "sdz" in rows(pilot, "devices").text)


async def test_behind_another_screen_the_clock_reads_no_device(bench: Bench) -> None:
    """Once a second it read the size of each device: a tenth of what it took to watch a run at 80x24."""
    asked: list[float | None] = []

    class Counting(BenchMonitor):
        def changed(self, timeout_s: float | None = 0) -> bool:
            asked.append(timeout_s)
            changed, bench.changed = bench.changed, False
            return changed

    app = DiskprofApp(altered(bench.session(), monitor=lambda: Counting(bench)))
    async with app.run_test() as pilot:
        await until(pilot, lambda: bool(bench.planned))
        run_screen = pilot.app.screen
        assert isinstance(run_screen, RunScreen)
        run_screen._tick()
        assert asked
        await press(pilot, "2")
        asked.clear()
        run_screen._tick()
        assert not asked
        # No event tells of it, as in a container: coming back, it is found all the same.
        bench.devices, bench.changed = (*DISKS, make_device("sdz")), True
        await press(pilot, "1")
        await until(pilot, lambda: "sdz" in rows(pilot, "devices").text)
        assert asked and not bench.changed


async def test_a_flock_of_events_is_looked_into_twice_a_second(bench: Bench) -> None:
    looks: list[int] = []

    def scan() -> DeviceTree:
        looks.append(len(bench.devices))
        return DeviceTree(bench.devices)

    app = DiskprofApp(altered(bench.session(), scan=scan))
    async with app.run_test() as pilot:
        await until(pilot, lambda: bool(bench.planned))
        began, before = time.monotonic(), len(looks)
        come = [make_device(f"sdx{number}") for number in range(30)]
        for number in range(len(come)):
            bench.plug(*DISKS, *come[: number + 1])
            await until(pilot, lambda: not bench.changed)
        await until(pilot, lambda: looks[-1] == len(DISKS) + len(come))
        assert len(looks) - before <= 2 + (time.monotonic() - began) / 0.5
        await until(pilot, lambda: come[-1].name in rows(pilot, "devices").text)


async def test_without_a_monitor_r_looks_again(bench: Bench) -> None:
    def no_monitor() -> object:
        raise OSError("no netlink here")

    app = DiskprofApp(altered(bench.session(), monitor=no_monitor))  # type: ignore[arg-type]
    async with app.run_test() as pilot:
        await until(pilot, lambda: bool(bench.planned))
        bench.devices = (*DISKS, make_device("sdz"))
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: "sdz" in rows(pilot, "devices").text)


async def test_more_free_space_makes_another_plan(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        before = len(bench.planned)
        bench.plug(*DISKS[:2], replace(DISKS[2], mounts=(replace(DATA, free_bytes=3 * GIB),)))
        await until(pilot, lambda: "120G" not in rows(pilot, "devices").text)
        await until(pilot, lambda: len(bench.planned) > before)


async def test_moving_fast_makes_no_plan_on_the_way(bench: Bench) -> None:
    bench.presets = tuple(make_preset(f"p{number:02}", f"Preset {number}") for number in range(30))
    async with open_bench(bench) as pilot:
        rows(pilot, "presets").focus()
        for _ in range(29):
            rows(pilot, "presets").action_move(1)
        await until(pilot, lambda: bench.planned[-1][0] == "p29")
        await settle(pilot)
        assert len(bench.planned) < 10


@pytest.mark.parametrize("size", SIZES)
async def test_o_takes_another_target(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "o")
        assert isinstance(pilot.app.screen, FormDialog)
        await write(pilot, "/gone")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FormDialog)
        await see(pilot, "✗ /gone does not exist. Give a directory that is there.")
        await write(pilot, "/srv/fast")
        assert "does not exist" not in text_of(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunScreen)
        assert rows(pilot, "devices").key == "path:/srv/fast"
        await until(pilot, lambda: "Tests /srv/fast with quick." in plan(pilot))
        await press(pilot, "o")
        await write(pilot, "/srv/other")
        await press(pilot, "enter")
        assert rows(pilot, "devices").text.splitlines()[:2] == [" /srv/other", " /srv/fast"]
        await press(pilot, "o", "escape")
        assert isinstance(pilot.app.screen, RunScreen)


@pytest.mark.parametrize("typed", ["~/fast", " /srv/fast "])
async def test_a_target_may_lie_at_home(bench: Bench, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setenv("HOME", "/srv")
    async with open_bench(bench) as pilot:
        await press(pilot, "o")
        await write(pilot, typed)
        await press(pilot, "enter")
        assert rows(pilot, "devices").key == "path:/srv/fast"


@pytest.mark.parametrize("size", SIZES)
async def test_e_changes_parameters(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "e")
        assert isinstance(pilot.app.screen, FormDialog)
        await see(pilot, "size size of the test file", "runtime time to measure", "1g", "5s")
        await write(pilot, "a lot", "#field-size")
        await write(pilot, "-3", "#field-runtime")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FormDialog)
        await see(pilot, "size=a lot", "runtime=-3")
        assert pilot.app.focused is pilot.app.screen.query_one("#field-size", Input)
        await write(pilot, "256M", "#field-size")
        await write(pilot, "2", "#field-runtime")
        await press(pilot, "enter")
        await until(pilot, lambda: bench.planned[-1] == ("quick", "/mnt/data", {"size": "256m", "runtime": "2s"}))
        await until(pilot, lambda: "size=256m runtime=2s" in plan(pilot))
        assert "Quick check *" in rows(pilot, "presets").text
        await press(pilot, "e")
        assert pilot.app.screen.query_one("#field-size", Input).value == "256m"
        await write(pilot, "1g", "#field-size")
        await write(pilot, "5s", "#field-runtime")
        await press(pilot, "enter")
        await until(pilot, lambda: bench.planned[-1] == ("quick", "/mnt/data", {}))
        assert "*" not in rows(pilot, "presets").text


async def test_in_a_form_arrows_move_between_fields(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "e", "down")
        assert pilot.app.focused is pilot.app.screen.query_one("#field-runtime", Input)
        await press(pilot, "up")
        assert pilot.app.focused is pilot.app.screen.query_one("#field-size", Input)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RunScreen)


async def test_a_preset_without_parameters_can_be_repeated(bench: Bench) -> None:
    bench.presets = (replace(PRESETS[0], parameters=()),)
    async with open_bench(bench) as pilot:
        await press(pilot, "e")
        form = pilot.app.screen
        assert isinstance(form, FormDialog)
        assert [field.id for field in form.query(Input)] == [
            "field-series-repeat",
            "field-series-until",
            "field-series-at-most",
            "field-series-pause",
            "field-series-order",
        ]


async def test_where_no_device_carries_a_directory_the_present_one_is_offered(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bench.devices = ()
    async with open_bench(bench, (120, 40)) as pilot:
        await until(pilot, lambda: bool(bench.planned))
        assert rows(pilot, "devices").key == f"path:{tmp_path}"
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert bench.started[0].target.path == str(tmp_path)


async def test_a_broken_preset_is_named_and_spoils_nothing(bench: Bench) -> None:
    problem = Problem("/home/me/mine.toml", 7, "tests[0].rw", "unknown value 'fast'")
    app = DiskprofApp(altered(bench.session(), load_library=lambda: Library(PRESETS, (problem,))))
    async with app.run_test() as pilot:
        await until(pilot, lambda: bool(bench.planned))
        assert "/home/me/mine.toml:7: tests[0].rw: unknown value 'fast'" in told(pilot)
        assert "Quick check" in rows(pilot, "presets").text


async def test_several_broken_presets_are_one_notice(bench: Bench) -> None:
    problems = tuple(Problem(f"/home/me/{name}.toml", 7, "rw", "unknown value") for name in ("a", "a", "b", "c", "d"))
    app = DiskprofApp(altered(bench.session(), load_library=lambda: Library(PRESETS, problems)))
    async with app.run_test() as pilot:
        await until(pilot, lambda: bool(bench.planned))
        (notice,) = [one for one in app._notifications if "cannot be used" in one.title]
        assert notice.title == "4 presets cannot be used"
        assert notice.message.splitlines() == [
            "/home/me/a.toml:7: rw: unknown value",
            "/home/me/a.toml:7: rw: unknown value",
            "/home/me/b.toml:7: rw: unknown value",
            "And 2 more: `diskprof presets` lists all.",
        ]


@pytest.mark.parametrize("broken", ["scan", "load_library"])
async def test_what_cannot_be_read_is_said(bench: Bench, broken: str) -> None:
    def fail() -> object:
        raise DiskprofError("It cannot be read.", "Look at the permissions.")

    app = DiskprofApp(altered(bench.session(), **{broken: fail}))
    async with app.run_test() as pilot:
        await until(pilot, lambda: "It cannot be read. Look at the permissions." in told(pilot))
        await until(pilot, lambda: "✗ It cannot be read." in plan(pilot))
        await press(pilot, "enter", "e", "C", "o", "escape")
        assert app.is_running


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_labels_stay_labels(bench: Bench, size: tuple[int, int]) -> None:
    bad = make_device(
        "sdb",
        model=HOSTILE,
        serial=HOSTILE,
        scheduler=HOSTILE,
        fs_type="ext4",
        fs_label=HOSTILE,
        mounts=(Mount(f"/mnt/{HOSTILE}", "ext4", ("rw",), GIB, GIB),),
    )
    loop = make_device("loop1", kind=DeviceKind.LOOP, size=GIB, backing_file=HOSTILE)
    label = make_device("sdc", fs_type="xfs", fs_label=HOSTILE)
    bench.devices = (bad, loop, label)
    bench.presets = (
        make_preset("quick", HOSTILE),
        make_preset("own", "Own", Category.OWN, shipped=False, path=HOSTILE),
    )
    bench.hazards = (Hazard("x", Severity.WARNS, HOSTILE, HOSTILE),)
    async with open_bench(bench, size) as pilot:
        for keys in ((), ("down",), ("down",), ("home",), ("enter",), ("escape",), ("c",), ("escape",), ("e",)):
            await press(pilot, *keys)
            assert not set("\x1b\x07\u202e") & set(text_of(pilot))
        assert "[/]" in text_of(pilot)


@pytest.mark.parametrize("size", [*SIZES, (100, 30), (200, 60), (60, 16)])
async def test_every_size_is_complete(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await see(pilot, "Device", "Preset", "Plan", "└─sda2", "Quick check", "Tests")
        last = text_of(pilot).splitlines()[-1]
        assert "⏎ Start" in last


async def test_a_resize_rearranges_the_panes(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        screen = pilot.app.screen
        assert not screen.query_one("#details").display
        await pilot.resize_terminal(130, 40)
        await until(pilot, lambda: screen.query_one("#details").display)
        where = {name: screen.query_one(f"#{name}").region for name in ("what", "details", "plan")}
        assert (
            where["what"].right <= where["details"].x == where["plan"].x and where["details"].bottom <= where["plan"].y
        )
        await pilot.resize_terminal(200, 50)
        await until(pilot, lambda: screen.query_one("#plan").region.x >= screen.query_one("#details").region.right > 0)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not screen.query_one("#details").display)


@pytest.mark.parametrize("size", SIZES)
async def test_down_from_the_last_device_leads_to_the_presets_and_up_back(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "end", "down")
        assert pilot.app.focused is rows(pilot, "presets")
        await press(pilot, "down", "up", "up")
        assert pilot.app.focused is rows(pilot, "devices")


async def test_the_filter_is_written_above_the_presets_in_their_frame(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        before = pilot.app.screen.query_one("#what").region
        await press(pilot, "slash", *"lat")
        field = pilot.app.screen.query_one("#preset-filter").region
        assert pilot.app.screen.query_one("#what").region == before and before.contains_region(field)
        assert field.y == before.y + 1 < rows(pilot, "presets").region.y
