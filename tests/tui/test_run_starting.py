"""Run: from Enter to a run: writing to a device by its name, other runs on the same disk."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from bench_screens import DISKS, GIB, Bench, make_device, open_bench, second_connection
from msgspec.structs import replace
from recorded import make_plan, record_run
from stored_screens import SIZES, Driver, press, see, settle, text_of, told, until, write
from textual import events
from textual.widgets import Input

from diskprof.fleet import each_disk
from diskprof.model.advice import Advice
from diskprof.model.device import DeviceTree
from diskprof.model.errors import Refused
from diskprof.model.fleet import FleetMember, NewFleet
from diskprof.model.plan import Hazard, Plan, Severity, WritePermission
from diskprof.model.run import Environment, Status
from diskprof.model.run_series import Repetition, SeriesPlan
from diskprof.model.target import Target, TargetKind
from diskprof.store import Store, this_process
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.dialogs.form import FormDialog
from diskprof.tui.kit.table import Table
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.run.screen import RunScreen

SMALL = [*SIZES, (60, 16)]
BARE = make_device("sdb", model="Stick", size=64 * GIB, diskseq=7)


@pytest.fixture
def bare(bench: Bench) -> Bench:
    """A device without a file system, and presets that write to it."""
    bench.devices, bench.overwrites = (*DISKS, BARE), True
    return bench


def rows(pilot: Driver, pane: str) -> Table:
    return pilot.app.screen.query_one(f"#{pane}", Table)


def plan(pilot: Driver) -> str:
    return " ".join(rows(pilot, "plan").text.split())


def footer(pilot: Driver) -> str:
    return text_of(pilot).splitlines()[-1]


async def to_device(pilot: Driver, name: str = "sdb") -> None:
    rows(pilot, "devices").key = f"device:{name}"
    await until(pilot, lambda: f"Tests /dev/{name}" in plan(pilot))
    await settle(pilot)


async def switch_on(pilot: Driver) -> None:
    await press(pilot, "x")
    await until(pilot, lambda: "[x] Raw writes to /dev/sdb" in plan(pilot))


# --- Writing to a device ---------------------------------------------------------------------------------------------


async def test_the_switch_is_turned_while_the_plan_is_made_once_more(bare: Bench) -> None:
    async with open_bench(bare) as pilot:
        await to_device(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, RunScreen)
        assert screen.draft.wish
        # Another device came or went.
        screen.plan.wish_for(replace(screen.draft.wish, tree=DeviceTree(())))
        assert screen.plan.ready is None
        await switch_on(pilot)


@pytest.mark.parametrize("size", SMALL)
async def test_the_switch_for_writing_is_off_and_shown_only_where_it_matters(
    bare: Bench, size: tuple[int, int]
) -> None:
    async with open_bench(bare, size) as pilot:
        assert "Raw writes" not in plan(pilot) and "Allow writing" not in footer(pilot)
        await press(pilot, "x")
        assert bare.permissions == []
        await to_device(pilot)
        assert "[ ] Raw writes disabled. Press x to allow" in plan(pilot)
        assert "x Allow writing" in footer(pilot)
        # The command line's options are of no use here.
        assert "--allow-write" not in plan(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunScreen)
        assert "The test writes to the device itself." in told(pilot)
        assert bare.permissions == [WritePermission()] and bare.started == []


@pytest.mark.parametrize(
    ("name", "size"), [(" sdb ", (60, 16)), ("/dev/sdb", (80, 24)), ("S4EWNX0R", (80, 24)), ("sdb", (120, 40))]
)
async def test_a_device_is_overwritten_once_its_name_was_typed(bare: Bench, name: str, size: tuple[int, int]) -> None:
    async with open_bench(bare, size) as pilot:
        await to_device(pilot)
        await switch_on(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FormDialog)
        await see(pilot, "Overwrite /dev/sdb?", "type its name (sdb)", "(S4EWNX0R)")
        assert "twice runs" not in text_of(pilot)
        await write(pilot, name)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        (started,) = bare.started
        assert [device.confirmed for device in started.raw_devices] == [name.strip()]
        await press(pilot, "1")
        await until(pilot, lambda: "[ ] Raw writes disabled" in plan(pilot))


@pytest.mark.parametrize(("how", "size"), [("s", (80, 24)), ("s", (120, 40)), ("e", (80, 24))])
async def test_several_devices_are_overwritten_once_each_was_named(
    bare: Bench, how: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In turn, or each alone and then all together."""

    def start(plans: Sequence[Plan], store: Path, **_more: object) -> str:
        bare.series.append(SeriesPlan(tuple(plans), Repetition(repeats=1)))
        with Store.open(store) as opened:
            return opened.fleets.create(NewFleet("quick", "Quick check", (FleetMember(None, "/dev/sdb"),)))

    monkeypatch.setattr(each_disk, "start_each_disk", start)
    bare.devices = (*bare.devices, make_device("sdc", model="Stick", serial="S4EWNX0T", size=64 * GIB, diskseq=8))
    async with open_bench(bare, size) as pilot:
        for name in ("sdc", "sdb"):
            await to_device(pilot, name)
            await press(pilot, "space")
        # The cursor hides no letter.
        assert "▸B sdb" in text_of(pilot) and " A sdc" in text_of(pilot)
        await switch_on(pilot)
        await press(pilot, "enter")
        await see(pilot, "on 2 devices?", "/dev/sdc and /dev/sdb")
        await press(pilot, how)
        told_of = "5 repeats of 2 targets" if how == "s" else "2 disks, each alone and then all together"
        await see(pilot, "Overwrite /dev/sdc and /dev/sdb?", told_of, "type its name (sdc)")
        await write(pilot, "sdc", "#field-device-0")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FormDialog) and bare.started == []
        await write(pilot, "sdb", "#field-device-1")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        (series,) = bare.series
        assert [[device.confirmed for device in plan.raw_devices] for plan in series.plans] == [["sdc"], ["sdb"]]


async def test_any_other_name_starts_nothing(bare: Bench) -> None:
    async with open_bench(bare) as pilot:
        await to_device(pilot)
        await switch_on(pilot)
        await press(pilot, "enter")
        for name in ("", "y", "yes", "sda", "sdb1", "/dev/sda", "s4ewnx0r"):
            await write(pilot, name)
            await press(pilot, "enter")
            assert isinstance(pilot.app.screen, FormDialog)
            await see(pilot, f"✗ {name!r} is not the name of /dev/sdb." if name else "✗ Nothing is typed yet.")
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, RunScreen)
        assert bare.started == []


@pytest.mark.parametrize("size", [(60, 16), (120, 40)])
async def test_what_lies_there_is_given_up_by_its_type(bare: Bench, size: tuple[int, int]) -> None:
    bare.signatures = ("gpt", "ext4")
    async with open_bench(bare, size) as pilot:
        await to_device(pilot)
        await switch_on(pilot)
        assert "You will have to type its name and its signature (gpt, ext4)" in plan(pilot)
        assert "✗ It holds ext4: all files on it would be lost." in plan(pilot)
        await press(pilot, "enter")
        await write(pilot, "sdb", "#field-device-0")
        await write(pilot, "gpt", "#field-signature-0")
        await write(pilot, "xfs", "#field-signature-1")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FormDialog)
        assert pilot.app.focused is pilot.app.screen.query_one("#field-signature-1", Input)
        assert bare.started == []
        await write(pilot, "ext4", "#field-signature-1")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert bare.permissions[-1] != WritePermission(allowed=True)
        assert WritePermission(allowed=True, signatures=("gpt", "ext4")) in bare.permissions
        (started,) = bare.started
        assert not started.blocked and started.raw_devices[0].confirmed == "sdb"


async def test_what_is_in_use_is_final(bare: Bench) -> None:
    bare.signatures = ("ext4",)
    bare.hazards = (Hazard("in-use", Severity.BLOCKS, "sdb is mounted on /srv.", "Unmount /srv first."),)
    async with open_bench(bare) as pilot:
        await to_device(pilot)
        await switch_on(pilot)
        assert "refused: see below" in plan(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunScreen)
        assert "sdb is mounted on /srv. Unmount /srv first." in told(pilot)
        assert bare.started == []


@pytest.mark.parametrize("typed", [False, True])
async def test_the_switch_is_for_one_very_device(bare: Bench, typed: bool) -> None:
    async with open_bench(bare) as pilot:
        if typed:
            await press(pilot, "o")
            await write(pilot, "/dev/sdb")
            await press(pilot, "enter")
            await until(pilot, lambda: rows(pilot, "devices").key == "path:/dev/sdb")
            await until(pilot, lambda: "[ ] Raw writes disabled" in plan(pilot))
        else:
            await to_device(pilot)
        await switch_on(pilot)
        bare.plug(*DISKS, replace(BARE, diskseq=8))
        await until(pilot, lambda: "[ ] Raw writes disabled" in plan(pilot))
        assert bare.permissions[-1] == WritePermission()


async def test_a_refusal_of_the_runner_is_said(bare: Bench) -> None:
    bare.start_error = Refused("/dev/sdb is another disk now.", "Plan again.")
    async with open_bench(bare) as pilot:
        await to_device(pilot)
        await switch_on(pilot)
        await press(pilot, "enter")
        await write(pilot, "sdb")
        await press(pilot, "enter")
        await until(pilot, lambda: "/dev/sdb is another disk now. Plan again." in told(pilot))
        assert isinstance(pilot.app.screen, RunScreen) and bare.started == []


async def test_a_long_account_of_what_would_be_lost_can_be_read(bare: Bench) -> None:
    bare.hazards = tuple(Hazard(f"note-{at}", Severity.WARNS, f"Warning number {at}.") for at in range(20))
    async with open_bench(bare, (60, 16)) as pilot:
        await to_device(pilot)
        await switch_on(pilot)
        await press(pilot, "enter")
        await see(pilot, "PgDn reads on", "To overwrite /dev/sdb, type its name")
        assert "Warning number 19." not in text_of(pilot)
        await press(pilot, *["pagedown"] * 9)
        await press(pilot, *["pageup"] * 9)
        await see(pilot, "Tests /dev/sdb with quick.")


# --- Other runs on the same disk -------------------------------------------------------------------------------------


def occupy(bench: Bench) -> str:
    """A run that goes on the disk of /mnt/data."""
    with Store.open(bench.path) as store:
        return record_run(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())


def end(bench: Bench, run_id: str) -> None:
    with second_connection(bench.path) as store:
        store.finish_run(run_id, status=Status.COMPLETE)


@pytest.mark.parametrize("size", SMALL)
async def test_a_second_run_on_a_disk_waits_for_the_first(bench: Bench, size: tuple[int, int]) -> None:
    run_id = occupy(bench)
    async with open_bench(bench, size) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, RunScreen)
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
        await press(pilot, "enter")
        await see(pilot, "Quick check queued after", "cancels")
        screen._tick()
        assert bench.started == []
        await press(pilot, "enter")
        await see(pilot, "Quick check is queued", f"Run {run_id}", "Keep waiting")
        await press(pilot, "enter")
        end(bench, run_id)
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert len(bench.started) == 1 and bench.beside == [False]


async def test_a_letter_answers_though_the_list_of_answers_moves_by_it(bench: Bench) -> None:
    occupy(bench)
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", "w", "enter", "down")
        await press(pilot, "k")
        assert isinstance(pilot.app.screen, RunScreen)
        await see(pilot, "Quick check queued after")


async def test_what_has_its_turn_is_not_asked_about_any_more(bench: Bench) -> None:
    run_id = occupy(bench)
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", "w", "enter")
        assert isinstance(pilot.app.screen, Ask)
        end(bench, run_id)
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        await press(pilot, "1")
        assert isinstance(pilot.app.screen, RunScreen)


@pytest.mark.parametrize("keys", [("enter", "s"), ("enter", "w", "enter", "s")])
async def test_a_second_run_may_start_beside_the_first(bench: Bench, keys: tuple[str, ...]) -> None:
    occupy(bench)
    async with open_bench(bench) as pilot:
        await press(pilot, *keys[:-1])
        await pilot.press(keys[-1])
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert bench.beside == [True]


async def test_waiting_can_be_given_up(bench: Bench) -> None:
    run_id = occupy(bench)
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", "w", "enter", "g")
        assert "queued after" not in text_of(pilot)
        end(bench, run_id)
        await until(pilot, lambda: not pilot.app.watcher.state.running)  # type: ignore[attr-defined]
        pilot.app.screen._tick()  # type: ignore[attr-defined]
        await settle(pilot)
        assert bench.started == []
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, Ask)
        assert "working on sda" not in text_of(pilot)


@pytest.mark.parametrize(("mode", "size"), [*(("1", size) for size in SMALL), ("3", SMALL[0])])
async def test_quitting_while_a_start_waits_says_that_it_is_given_up(
    bench: Bench, size: tuple[int, int], mode: str
) -> None:
    occupy(bench)
    async with open_bench(bench, size) as pilot:
        await press(pilot, "enter", "w", mode, "q")
        dialog = pilot.app.screen
        assert isinstance(dialog, Ask)
        assert "Quick check on /mnt/data is queued" in " ".join(str(dialog._text).split())
        await see(pilot, "cancel the queued run")
        await press(pilot, "escape")
        assert pilot.app.is_running
        await press(pilot, "1")
        await see(pilot, "Quick check queued after")
        await pilot.press("q", "l")
        await until(pilot, lambda: not pilot.app.is_running)
        assert pilot.app.waiting == "Quick check on /mnt/data", "for the last words"  # type: ignore[attr-defined]
    assert bench.started == []


async def test_quitting_just_before_a_start_has_its_turn_asks_too(bench: Bench) -> None:
    run_id = occupy(bench)
    async with open_bench(bench) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, RunScreen)
        await press(pilot, "enter", "w")
        # The run has ended, and the screen has not looked yet.
        screen.flow.go_on = lambda _tree: None  # type: ignore[method-assign]
        end(bench, run_id)
        await press(pilot, "q")
        await see(pilot, "Quit diskprof?", "Cancel the queued run and quit", "Stay")
        await press(pilot, "escape")
        assert pilot.app.is_running
        await pilot.press("q", "g")
        await until(pilot, lambda: not pilot.app.is_running)
    assert bench.started == []


async def test_what_was_given_up_or_has_started_is_not_asked_about(bench: Bench) -> None:
    run_id = occupy(bench)
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", "w", "enter", "g", "q")
        assert "waits" not in str(pilot.app.screen._text)  # type: ignore[attr-defined]
        await press(pilot, "escape", "enter", "w")
        end(bench, run_id)
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert pilot.app.waiting == ""  # type: ignore[attr-defined]


async def test_a_run_that_waited_does_not_pull_one_away(bench: Bench) -> None:
    run_id = occupy(bench)
    async with open_bench(bench) as pilot:
        screen = pilot.app.screen
        await press(pilot, "enter", "w", "3")
        end(bench, run_id)
        screen._tick()  # type: ignore[attr-defined]
        await until(pilot, lambda: "Quick check has started." in told(pilot))
        assert pilot.app.current_mode == "runs" and len(bench.started) == 1


async def test_another_disk_is_free(bench: Bench) -> None:
    occupy(bench)
    bench.devices = (*DISKS, BARE)
    async with open_bench(bench) as pilot:
        await to_device(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, Ask)
        assert "working on" not in text_of(pilot)
        await pilot.press("s")
        await until(pilot, lambda: bench.beside == [False])


async def test_a_device_that_a_run_works_on_is_overwritten_later(bare: Bench) -> None:
    with Store.open(bare.path) as store:
        target = Target(TargetKind.DEVICE, "/dev/sdb", "/dev/sdb", "sdb")
        run_id = store.create_run(replace(make_plan(), target=target), Environment(), runner=this_process())
    async with open_bench(bare) as pilot:
        await to_device(pilot)
        await switch_on(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunScreen)
        assert f"Run {run_id}" in told(pilot) and "Start it when that run has ended" in told(pilot)
        assert bare.started == []


async def test_one_that_was_quicker_is_told_of(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "enter")
        occupy(bench)
        bench.start_error = Refused("Run abc has been working on sda.", Advice("Wait for it (--wait).", "Start later."))
        await press(pilot, "s")
        await until(pilot, lambda: "Run abc has been working on sda." in told(pilot))
        assert "--wait" not in told(pilot) and "Start later." in told(pilot)


@pytest.mark.parametrize("way", [("down",), ("right", "down")])
async def test_what_is_asked_about_is_where_the_cursor_went_even_if_enter_came_with_that_key(
    bench: Bench, way: tuple[str, ...]
) -> None:
    """As over a slow line: what stood under the cursor before must not be what is started."""
    bench.devices = (*DISKS, BARE)
    async with open_bench(bench) as pilot:
        devices, presets = rows(pilot, "devices"), rows(pilot, "presets")
        before = devices.key, presets.key
        for key in (*way, "enter"):
            pilot.app.post_message(events.Key(key, None))
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
        await press(pilot, "s")
        await until(pilot, lambda: bool(bench.started))
        assert (devices.key, presets.key) != before
        started = bench.started[0]
        assert (f"device:{started.target.device}", started.preset) == (devices.key, presets.key)


async def test_tags_note_and_expectations_are_given_before_the_start(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", "t")
        await write(pilot, "latest", "#field-tags")
        await write(pilot, "rubbish", "#field-expect")
        await press(pilot, "enter")
        await see(pilot, "cannot be a tag", "invalid expectation")
        await write(pilot, "nvme, before", "#field-tags")
        await write(pilot, "old firmware", "#field-note")
        await write(pilot, "randread-4k-qd32.read.iops>=5000", "#field-expect")
        await write(pilot, "sata", "#field-class")
        await press(pilot, "enter")
        await see(pilot, "no disk class 'sata'")
        await write(pilot, "sata-ssd", "#field-class")
        await press(pilot, "enter")
        await see(pilot, "Start Quick check?", "class: nvme, before", ">= 5,000")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert bench.labels == [(("nvme", "before"), "old firmware")]
        assert [each.test for each in bench.started[0].expectations] == ["randread-4k-qd32"]
        assert bench.started[0].disk_class == "sata-ssd"


async def test_the_labels_can_be_left_out(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", "t", "escape")
        await see(pilot, "Start Quick check?")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert bench.labels == [((), "")] and bench.started[0].expectations == ()
