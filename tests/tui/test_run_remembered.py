"""What the Run screen remembers: the last target, preset and edits, favourites, and what was run last."""

from pathlib import Path

import pytest
from bench_screens import PRESETS, Bench, make_device, open_bench
from msgspec.structs import replace
from recorded import make_plan, record_run
from stored_screens import SIZES, Driver, press, see, settle, text_of, told, until, write

from diskprof.config.remembered import Remembered, file_for, read_remembered, write_remembered
from diskprof.model.device import DeviceTree
from diskprof.store import Store
from diskprof.tui.kit.table import Table
from diskprof.tui.live.screen import LiveScreen


def rows(pilot: Driver, pane: str) -> Table:
    return pilot.app.screen.query_one(f"#{pane}", Table)


def shelves(pilot: Driver) -> list[str]:
    return [line.strip().partition("  ")[0] for line in rows(pilot, "presets").text.splitlines()]


async def test_the_last_target_preset_and_edits_come_back(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "right", "down", "e")
        await write(pilot, "64m", "#field-size")
        await press(pilot, "enter", "o", *"/srv", "enter", "enter")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        await settle(pilot)
    async with open_bench(bench) as pilot:
        assert rows(pilot, "devices").key == "path:/srv"
        assert rows(pilot, "presets").key == "crystal"
        await until(pilot, lambda: bench.planned[-1] == ("crystal", "/srv", {"size": "64m"}))


async def test_what_was_only_looked_at_is_not_remembered(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "up", "right", "down")
    assert read_remembered(bench.path) == Remembered()
    async with open_bench(bench) as pilot:
        assert (rows(pilot, "devices").key, rows(pilot, "presets").key) == ("device:sda2", "quick")


@pytest.mark.parametrize("gone", [Remembered(path="/gone/away"), Remembered(device="sdz", identity="S1")])
async def test_a_target_that_is_gone_gives_way_to_the_usual_one(bench: Bench, gone: Remembered) -> None:
    write_remembered(bench.path, replace(gone, preset="crystal"))
    async with open_bench(bench) as pilot:
        await until(pilot, lambda: rows(pilot, "devices").key == "device:sda2")
        assert rows(pilot, "presets").key == "crystal"
        assert "is gone. Select another." in told(pilot)


def test_a_disk_is_found_under_another_name_and_another_disk_is_not_taken_for_it() -> None:
    last = Remembered(device="sda", identity="S1")
    moved, other = make_device("sdb", serial="S1"), make_device("sda", serial="S2")
    assert last.find(DeviceTree((other, moved))) == moved
    assert last.find(DeviceTree((other,))) is None


@pytest.mark.parametrize("size", SIZES)
async def test_favourites_and_recent_presets_stand_first(bench: Bench, size: tuple[int, int]) -> None:
    with Store.open(bench.path) as store:
        record_run(store, plan=replace(make_plan(), preset="crystal"), runtime_s=1.0)
    async with open_bench(bench, size) as pilot:
        assert shelves(pilot)[:3] == ["Recent", "As CrystalDiskMark", "Quick"]
        await press(pilot, "right", "end", "asterisk")
        assert shelves(pilot)[:3] == ["Favourites", "Latency with ioping", "Recent"]
        await press(pilot, "slash", *"ioping")
        assert shelves(pilot) == ["Latency", "Latency with ioping"]
    async with open_bench(bench, size) as pilot:
        assert shelves(pilot)[:2] == ["Favourites", "Latency with ioping"]
        await press(pilot, "right", "home", "asterisk")
        assert shelves(pilot)[0] == "Recent"


async def test_own_presets_stand_before_the_shipped_ones(bench: Bench) -> None:
    bench.presets = (*PRESETS, replace(PRESETS[2], name="mine", title="Mine", shipped=False))
    async with open_bench(bench) as pilot:
        assert shelves(pilot)[:3] == ["Your own", "Mine", "Quick"]


async def test_the_frame_of_the_presets_says_which_of_how_many(bench: Bench) -> None:
    # Another number of devices, which has its place in its own frame.
    bench.devices = bench.devices[:1]
    async with open_bench(bench) as pilot:
        await see(pilot, f" 1 of {len(PRESETS)} ")
        await press(pilot, "right", "down")
        await see(pilot, f" 2 of {len(PRESETS)} ")
        await press(pilot, "/", *"nothing-like-it")
        await until(pilot, lambda: f" of {len(PRESETS)} " not in text_of(pilot))


async def test_a_wide_list_of_presets_has_time_sides_amount_and_tests(bench: Bench) -> None:
    async with open_bench(bench, (200, 50)) as pilot:
        await see(pilot, "Time", "R/W", "Writes", "Tests")
        await until(pilot, lambda: rows(pilot, "presets").text.count("33 s  RW 29.4 GiB     6") == len(PRESETS))
        await see(pilot, "about 33 s", "about 29.4 GiB")


async def test_a_preset_that_was_run_is_in_the_list_once_and_keeps_the_cursor(bench: Bench) -> None:
    with Store.open(bench.path) as store:
        record_run(store, plan=make_plan("quick"), runtime_s=1.0)
    async with open_bench(bench) as pilot:
        assert shelves(pilot).count("Quick check") == 1
        assert rows(pilot, "presets").key == "quick"


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[1]", b"\xff\xfe", b'{"device": 3, "edits": {"a": [1]}, "favourites": {"x": 1}}', b"[" * 100_000],
)
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, data: bytes) -> None:
    file_for(tmp_path / "runs.db").write_bytes(data)
    assert read_remembered(tmp_path / "runs.db") in (Remembered(), Remembered(edits={"a": {}}))


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    write_remembered(tmp_path / "not-there" / "runs.db", Remembered(path="/srv"))
    assert not list(tmp_path.iterdir())


def test_it_is_kept_as_a_whole_and_read_as_it_was(tmp_path: Path) -> None:
    kept = Remembered(
        "sda", "S1", "/srv", "quick", {"quick": "small"}, {"quick": {"size": "1m"}}, ("a", "b"), ("/srv", "/x")
    )
    write_remembered(tmp_path / "runs.db", kept)
    assert read_remembered(tmp_path / "runs.db") == kept
    assert [path.name for path in tmp_path.iterdir()] == ["runs.screen.json"]
