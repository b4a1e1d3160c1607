"""Another target: recent ones, mount points and completed paths below the field."""

from pathlib import Path

from bench_screens import DISKS, Bench, open_bench
from stored_screens import Driver, press, see, settle, text_of, until

from diskprof.config.remembered import Remembered, write_remembered
from diskprof.devices.path_completion import completions
from diskprof.model.device import DeviceTree
from diskprof.tui.kit.field import Field
from diskprof.tui.kit.table import Table
from diskprof.tui.run.target_dialog import TargetDialog

TREE = DeviceTree(DISKS)


def field(pilot: Driver) -> str:
    return pilot.app.screen.query_one("#field-path", Field).value


def offered(pilot: Driver) -> list[str]:
    return [row.key for row in pilot.app.screen.query_one("#target-choices", Table).rows]


def chosen(pilot: Driver) -> str | None:
    return pilot.app.screen.query_one("#devices", Table).key


async def test_recent_targets_and_mount_points_are_offered(bench: Bench) -> None:
    write_remembered(bench.path, Remembered(device="sda2", paths=("/srv/db", "/srv/logs")))
    async with open_bench(bench) as pilot:
        await press(pilot, "o")
        assert isinstance(pilot.app.screen, TargetDialog)
        assert offered(pilot) == ["/srv/db", "/srv/logs", "/mnt/data"]
        await see(pilot, "recent", "sda2, 120 GiB free", "Tab: complete")
        await press(pilot, *"log")
        assert offered(pilot) == ["/srv/logs"]
        await press(pilot, "right", "enter")
        await until(pilot, lambda: chosen(pilot) == "path:/srv/logs")
        await press(pilot, "o", *"sda2")
        assert offered(pilot) == ["/mnt/data"]
        await press(pilot, "down", "enter")
        await until(pilot, lambda: chosen(pilot) == "device:sda2")
        rows = [row.key for row in pilot.app.screen.query_one("#devices", Table).rows]
        assert "path:/mnt/data" not in rows, "the same directory once"


async def test_down_chooses_from_the_list(bench: Bench) -> None:
    write_remembered(bench.path, Remembered(device="sda2", paths=("/srv/db", "/srv/logs")))
    async with open_bench(bench) as pilot:
        await press(pilot, "o")
        await see(pilot, "\u25b8 /srv/db")
        await press(pilot, *"srv")
        # Enter takes what was typed.
        await until(pilot, lambda: "\u25b8 /srv" not in text_of(pilot) and "\u25b9 /srv" not in text_of(pilot))
        await press(pilot, "down")
        await see(pilot, "\u25b8 /srv/db")
        await press(pilot, "down", "enter")
        await until(pilot, lambda: chosen(pilot) == "path:/srv/logs")


async def test_tab_completes_as_a_shell_does(bench: Bench, tmp_path: Path) -> None:
    for name in ("alpha-one/deep", "alpha-two", ".hidden", "bad\x1bname"):
        (tmp_path / name).mkdir(parents=True)
    async with open_bench(bench) as pilot:
        await press(pilot, "o", *f"{tmp_path}/a")
        await until(pilot, lambda: len(offered(pilot)) == 2)
        await press(pilot, "tab")
        assert field(pilot) == f"{tmp_path}/alpha-"
        await press(pilot, "o")
        await until(pilot, lambda: offered(pilot) == [f"{tmp_path}/alpha-one/"])
        await press(pilot, "tab")
        assert field(pilot) == f"{tmp_path}/alpha-one/"
        await until(pilot, lambda: offered(pilot) == [f"{tmp_path}/alpha-one/deep/"])
        assert pilot.app.focused.id == "field-path"
        await press(pilot, "escape")
        await settle(pilot)
        assert "\x1b" not in text_of(pilot)


def test_devices_directories_and_files_are_completed_and_hostile_names_are_not(tmp_path: Path) -> None:
    assert completions("/dev/sda", TREE) == ("/dev/sda", "/dev/sda1", "/dev/sda2")
    (tmp_path / "file").touch()
    (tmp_path / "bad\x1b[31mname").touch()
    (tmp_path / ".hidden").mkdir()
    assert completions(f"{tmp_path}/", TREE) == (f"{tmp_path}/file",)
    assert completions(f"{tmp_path}/.", TREE) == (f"{tmp_path}/.hidden/",)
    assert completions("nothing", TREE) == completions("/not/there/x", TREE) == completions("~nobody-xyz/", TREE) == ()
