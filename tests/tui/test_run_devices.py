"""Run: what stands beside a device: its traffic, the room on it, and why a test of it would be unwise."""

from collections.abc import Sequence
from typing import Any

import pytest
from bench_screens import DATA, DISKS, GIB, Bench, make_device, open_bench
from msgspec.structs import replace
from recorded import recording
from stored_screens import Driver, press, see, settle, text_of, told, until

from diskprof.devices.guard.target_doubts import Doubt, doubts, system_disks
from diskprof.model.device import Activity, Device, DeviceKind, DeviceTree, DiskCounters, Mount, Transport, branches
from diskprof.model.plan import Hazard, Severity
from diskprof.model.run import Status
from diskprof.runner.session import Session
from diskprof.store import Store, this_process
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import Line, Lines, width_of
from diskprof.tui.kit.table import Table
from diskprof.tui.run.device_activity import Machine
from diskprof.tui.run.device_card import DeviceFacts, device_lines
from diskprof.tui.run.device_rows import DevicesView, DeviceTable, traffic
from diskprof.tui.run.headings import edge_title
from diskprof.tui.run.screen import RunScreen

SIZES = [(60, 16), (80, 24), (100, 30), (120, 40), (200, 60)]
MB = 1e6
NARROW, WIDE = 36, 60


def rows(pilot: Driver, pane: str) -> Table:
    return pilot.app.screen.query_one(f"#{pane}", Table)


def plan(pilot: Driver) -> str:
    return " ".join(rows(pilot, "plan").text.split())


def activity(read: float = 0.0, write: float = 0.0, busy: float = 0.0) -> Activity:
    return Activity(read / 4096, write / 4096, read, write, busy)


def plain(line: Line) -> str:
    return "".join(text for text, _ in line)


def text(
    *devices: Device, width: int = NARROW, view: DevicesView | None = None, paths: Sequence[str] = ()
) -> list[str]:
    return [plain(row.line) for row in DeviceTable(DeviceTree(devices), paths, view or DevicesView(), width).rows()]


def said(device: Device, *others: Device, recent: Sequence[Activity] = ()) -> list[str]:
    tree = DeviceTree((device, *others))
    return [doubt.name for doubt in doubts(device, tree, recent, system_disks(tree))]


# --- Rows ------------------------------------------------------------------------------------------------------------


def test_deep_trees_keep_their_lines() -> None:
    assert branches([0, 1, 2, 2, 1, 0, 1]) == ["", "├─", "│ ├─", "│ └─", "└─", "", "└─"]


def test_a_volume_has_its_own_name_in_the_list() -> None:
    volume = make_device("dm-3", kind=DeviceKind.LVM, dm_name="vgdata-lvxfs")
    (row,) = text(volume, width=WIDE)
    assert row.startswith(" vgdata-lvxfs ") and "dm-3" not in row


def test_what_is_free_is_told_and_drawn_where_there_is_room() -> None:
    mount = replace(DATA, size_bytes=100 * GIB, free_bytes=20 * GIB)
    device = make_device("sda", mounts=(mount,))
    assert "100G" in text(replace(device, size_bytes=100 * GIB), width=28)[0]
    assert text(device)[0].endswith("500G    20G /mnt/data")
    assert text(device, width=WIDE)[0].endswith("500G    20G ━━━━─ /mnt/data")
    ascii_ = text(device, width=WIDE, view=DevicesView(charset=Charset.ASCII))[0]
    assert ascii_.endswith(" 20G ====- /mnt/data") and ascii_.isascii()


@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (28, "Device Size Mounted on"),
        (NARROW, "Device Load Size Free Mount"),
        (WIDE, "Device Load Size Free Mounted on"),
    ],
)
def test_each_column_has_a_title_above_it(width: int, titles: str) -> None:
    table = DeviceTable(
        DeviceTree((make_device("sda", mounts=(replace(DATA, free_bytes=20 * GIB),)),)), (), DevicesView(), width
    )
    (row,) = (plain(row.line) for row in table.rows())
    assert " ".join(title for _, title in table.headings) == titles
    at = {title: cell for cell, title in table.headings}
    assert row[at["Size"] :].startswith("500G") and row[at.get("Mounted on", at.get("Mount", 0)) :].startswith("/")
    assert "Free" not in at or row[at["Free"] :].strip().startswith("20G")
    assert all(title in edge_title(table.headings, width, plain=True) for title in ("Device", "Size"))


@pytest.mark.parametrize(("free", "ink"), [(50, "accent"), (10, "warn"), (2, "danger")])
def test_the_bar_of_a_full_file_system_changes_its_colour(free: int, ink: str) -> None:
    device = make_device("sda", mounts=(replace(DATA, size_bytes=100 * GIB, free_bytes=free * GIB),))
    (row,) = DeviceTable(DeviceTree((device,)), (), DevicesView(), WIDE).rows()
    assert ink in [piece_ink for piece, piece_ink in row.line if piece.startswith("━")]


def test_a_long_mount_point_is_shortened_before_what_is_free() -> None:
    device = make_device("sda", mounts=(replace(DATA, path="/srv/databases/postgresql/14/main"), DATA))
    line = text(device, width=40)[0]
    assert "…" in line and " +1" in line and "   120G " in line and len(line) == 40


def test_every_row_fits_its_width() -> None:
    device = make_device("averylongname" * 3, mounts=(DATA,), read_only=True)
    view = DevicesView({device.name: [activity(MB, MB)]})
    for width in (26, NARROW, WIDE, 90):
        for row in DeviceTable(DeviceTree((device, *DISKS)), (), view, width).rows():
            assert width_of(row.line) <= width


# --- Traffic ---------------------------------------------------------------------------------------------------------


def test_traffic_is_drawn_from_zero_to_the_most_of_it_newest_last() -> None:
    history = [activity(write=amount * MB) for amount in (0, 2, 4, 8)]
    assert plain(traffic(history, 4, Charset.BLOCKS)) == " ▂▄█"
    assert plain(traffic(history, 4, Charset.ASCII)) == " ..#"
    assert plain(traffic(history[-2:], 4, Charset.BLOCKS)) == "  ▄█"
    assert len(plain(traffic(history * 9, 4, Charset.BRAILLE))) == 4


def test_a_little_traffic_does_not_look_like_much() -> None:
    assert plain(traffic([activity(read=0.1 * MB)] * 4, 4, Charset.BLOCKS)) == "▁▁▁▁"


def test_a_device_that_rests_draws_nothing() -> None:
    assert traffic([], 4, Charset.BRAILLE) == [("    ", "")]
    assert traffic([activity(read=500.0)] * 9, 4, Charset.BRAILLE) == [("    ", "")]


def test_reads_and_writes_have_their_colours() -> None:
    (read,) = [ink for cells, ink in traffic([activity(read=MB)] * 8, 4, Charset.BRAILLE) if cells.strip()]
    (write,) = [ink for cells, ink in traffic([activity(write=MB)] * 8, 4, Charset.BRAILLE) if cells.strip()]
    assert (read, write) == ("read", "write")


def counters(at_s: float, *, reads: int, busy_ms: int) -> DiskCounters:
    return DiskCounters(int(at_s * 1e9), reads, 0, reads * 4096, 0, 0, 0, 0, 0, 0, busy_ms, 0)


@pytest.mark.parametrize("size", SIZES)
async def test_traffic_and_a_warning_stand_beside_a_busy_device(bench: Bench, size: tuple[int, int]) -> None:
    bench.counters = {"sda2": counters(1, reads=0, busy_ms=0)}
    async with open_bench(bench, size, charset=Charset.BLOCKS) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, RunScreen)
        screen._tick()
        # The screen ticks by itself as well, and may find that nothing has happened since.
        for second in range(2, 12):
            bench.counters = {"sda2": counters(second, reads=500 * (second - 1), busy_ms=900 * (second - 1))}
            screen._tick()
        line = rows(pilot, "devices").text.splitlines()[2]
        assert "└─sda2!" in line and ("█" in line) == (size[0] >= 80)
        if size[0] >= 100:
            await see(pilot, "500 IOPS 2.05 MB/s", "90% busy", "! Disk is busy:")
        else:
            assert "! Disk is busy: results will be distorted" in plan(pilot)
        del bench.counters["sda2"]
        screen._tick()
        assert "sda2!" not in rows(pilot, "devices").text
        assert "Disk is busy" not in plan(pilot)


async def test_traffic_of_an_own_run_is_told_as_that_run_and_as_no_strangers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work: dict[str, str] = {}
    monkeypatch.setattr(Session, "worked_on", lambda _self, _store: dict(at_work))
    bench.counters = {"sda2": counters(1, reads=0, busy_ms=0)}
    async with open_bench(bench, (120, 40)) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, RunScreen)
        second = 1

        def details() -> str:
            return " ".join(screen.query_one("#details", Lines).text.split())

        def pass_seconds(count: int) -> None:
            nonlocal second
            for _ in range(count):
                second += 1
                bench.counters = {"sda2": counters(second, reads=500 * second, busy_ms=900 * second)}
                screen._tick()

        pass_seconds(1)
        with Store.open(bench.path) as store:
            runs = recording(store, end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
            at_work["sda2"] = next(runs)
            await until(pilot, lambda: "is testing this disk" in details())
            pass_seconds(8)
            told_now = details()
            assert f"Run {at_work['sda2']} is testing this disk" in told_now and "Disk is busy" not in told_now
            assert "sda2!" in rows(pilot, "devices").text
            store.finish_run(at_work.pop("sda2"), status=Status.CANCELLED)
        await until(pilot, lambda: "is testing this disk" not in details())
        pass_seconds(8)
        assert "Disk is busy" in screen.query_one("#details", Lines).text


async def test_what_an_own_run_did_last_is_no_strangers_either(bench: Bench) -> None:
    machine, seen = Machine(bench.session(), lambda: None), []
    for second, own in enumerate((set(), set(), {"sda2"}, {"sda2"}, set(), set(), set())):
        bench.counters = {name: counters(second, reads=500 * second, busy_ms=900 * second) for name in ("sda2", "sdb")}
        machine.count(own)
        view = DevicesView(machine.history, {}, machine.since_own)
        seen.append((len(view.recent("sda2")), len(view.recent("sdb"))))
    machine.close()
    # The second in which the run ended, too, is its own in part.
    assert seen == [(0, 0), (1, 1), (0, 2), (0, 3), (0, 3), (1, 3), (2, 3)]


async def test_nothing_is_drawn_while_nothing_changes(bench: Bench) -> None:
    bench.counters = {"sda2": counters(1, reads=0, busy_ms=0)}
    async with open_bench(bench) as pilot:
        screen, devices = pilot.app.screen, rows(pilot, "devices")
        assert isinstance(screen, RunScreen)
        screen._tick()
        drawn: list[object] = []
        for pane in (devices, rows(pilot, "plan"), screen.query_one("#details"), screen.query_one("#notice")):
            pane.refresh = lambda *regions, **_: drawn.append(regions)  # type: ignore[method-assign,assignment]
        for second in range(2, 8):
            bench.counters = {"sda2": counters(second, reads=0, busy_ms=0)}
            screen._tick()
        assert drawn == []


async def test_rows_are_made_of_what_did_something(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    disks = tuple(make_device(f"sd{number}") for number in range(32))
    bench.devices = disks
    bench.counters = {disk.name: counters(1, reads=0, busy_ms=0) for disk in disks}
    made: list[str] = []

    def noting(device: Device, *more: Any) -> tuple[Doubt, ...]:
        made.append(device.name)
        return doubts(device, *more)

    async with open_bench(bench, (120, 40)) as pilot:
        screen, devices = pilot.app.screen, rows(pilot, "devices")
        assert isinstance(screen, RunScreen)
        screen._tick()
        monkeypatch.setattr("diskprof.tui.run.device_rows.doubts", noting)
        laid_out = pilot.app.screen._layout_required
        assert not laid_out
        for second in range(2, 40):
            reads = 900 * min(second - 1, 5)
            bench.counters = {disk.name: counters(second, reads=0, busy_ms=0) for disk in disks}
            bench.counters["sd7"] = counters(second, reads=reads, busy_ms=0)
            before = devices.rows
            screen._tick()
            assert not any(pane._layout_required for pane in (screen, devices))
            others = [(old, new) for old, new in zip(before, devices.rows, strict=True) if new.key != "device:sd7"]
            assert all(old is new for old, new in others)
        assert set(made) == {"sd7"} and len(made) < 30
        made.clear()
        bench.plug(*disks[:-1], replace(disks[-1], size_bytes=7 * GIB))
        await until(pilot, lambda: " 7G " in devices.text)


# --- Doubts ----------------------------------------------------------------------------------------------------------

ROOT = make_device("vda1", kind=DeviceKind.PARTITION, parents=("vda",), mounts=(replace(DATA, path="/"),))
VDA = make_device("vda", children=("vda1", "vda2"))
BESIDE = make_device("vda2", kind=DeviceKind.PARTITION, parents=("vda",))


def test_a_plain_disk_raises_no_doubt() -> None:
    assert said(DISKS[2], *DISKS) == [] and said(make_device("sdb"), VDA, ROOT) == []


def test_the_disk_that_the_machine_runs_from() -> None:
    for device in (VDA, ROOT, BESIDE):
        assert said(device, *(each for each in (VDA, ROOT, BESIDE) if each is not device)) == ["system-disk"]


@pytest.mark.parametrize(
    ("device", "name"),
    [
        (make_device("sdb", read_only=True), "read-only"),
        (make_device("sdb", mounts=(replace(DATA, options=("ro",)),)), "read-only"),
        (make_device("sdb", mounts=(replace(DATA, size_bytes=100 * GIB, free_bytes=9 * GIB),)), "space"),
        (make_device("sdb", mounts=(replace(DATA, size_bytes=4 * GIB, free_bytes=GIB // 4),)), "space"),
        (make_device("sdb", transport=Transport.ISCSI), "network"),
        (make_device("nbd0", transport=Transport.NBD), "network"),
        (make_device("sdb", mounts=(Mount("/shared", "gfs2"),)), "network"),
        (make_device("zram0", kind=DeviceKind.ZRAM), "memory"),
        (make_device("sdb", swap=True), "swap"),
    ],
)
def test_doubts(device: Device, name: str) -> None:
    assert said(device) == [name]
    assert "!" in text(device)[0]


def test_busy_is_who_was_busy_for_some_seconds() -> None:
    device = make_device("sdb")
    assert said(device, recent=[activity(busy=0.9)] * 3) == ["busy"]
    assert said(device, recent=[activity(busy=0.1), activity(busy=0.1), activity(busy=1.0)]) == []


def test_a_small_file_system_with_room_is_not_full() -> None:
    assert said(make_device("sdb", mounts=(Mount("/boot", "ext4", (), GIB, GIB * 8 // 10),))) == []


def test_the_details_say_why() -> None:
    device = make_device("sdb", model="Stick", mounts=(DATA,), swap=True)
    found = (Doubt("swap", "Memory is swap it."),)
    view = DevicesView({"sdb": [activity(MB, 2 * MB, 0.4)]})
    words = [plain(line) for line in device_lines(DeviceFacts(device), found, view, WIDE)]
    assert words[:2] == [" Stick, 500 GiB", " ! Memory is swap it."]
    text = " ".join(" ".join(words).split())
    assert "40% busy" in text and "120 GiB free of 480 GiB" in text


@pytest.mark.parametrize("size", SIZES)
async def test_the_reason_is_in_the_details_or_in_the_plan(bench: Bench, size: tuple[int, int]) -> None:
    bench.devices = (VDA, ROOT, BESIDE)
    async with open_bench(bench, size) as pilot:
        await see(pilot, "! System disk")
        assert rows(pilot, "devices").text.count("!") == 3
        in_plan = "! System disk: the test will slow down this machine." in plan(pilot)
        assert in_plan == (size[0] < 100)


async def test_what_the_plan_says_by_itself_is_said_once(bench: Bench) -> None:
    bench.devices = (make_device("sdb", read_only=True),)
    bench.hazards = (Hazard("read-only", Severity.BLOCKS, "/dev/sdb is read-only."),)
    async with open_bench(bench) as pilot:
        await until(pilot, lambda: "/dev/sdb is read-only." in plan(pilot) or bool(bench.planned))
        await press(pilot, "down")
        await settle(pilot)
        assert "no test file can be created" not in plan(pilot).partition("Writes")[0]


async def test_a_typed_path_has_the_doubts_of_the_disk_below(bench: Bench) -> None:
    root = replace(DISKS[2], mounts=(replace(DATA, path="/"),))
    bench.devices = (*DISKS[:2], root)
    async with open_bench(bench, (120, 40)) as pilot:
        await press(pilot, "o", *"srv", "enter")
        await until(pilot, lambda: rows(pilot, "devices").key == "path:srv")
        await see(pilot, "! System disk")
        assert "serial" not in text_of(pilot)


@pytest.mark.parametrize("size", [SIZES[0], SIZES[3]])
async def test_what_went_while_it_was_asked_about_is_not_started(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "enter")
        await see(pilot, "Start Quick check?")
        bench.plug(*DISKS[:2])
        await press(pilot, "s")
        await until(pilot, lambda: "/dev/sda2 is gone" in told(pilot))
        assert bench.started == []
        bench.plug(*DISKS)
        await until(pilot, lambda: "device:sda2" in [row.key for row in rows(pilot, "devices").rows])
        rows(pilot, "devices").key = "device:sda2"
        await settle(pilot)
        await press(pilot, "enter")
        await see(pilot, "Start Quick check?")
        bench.plug(*DISKS[:2], replace(DISKS[2], diskseq=99))
        await press(pilot, "s")
        await until(pilot, lambda: "/dev/sda2 is a different disk" in told(pilot))
        assert bench.started == []


async def test_paths_that_were_typed_leave_the_devices_in_sight(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        for name in "abcde":
            await press(pilot, "o", *f"/mnt/{name}", "enter")
            await until(pilot, lambda name=name: rows(pilot, "devices").key == f"path:/mnt/{name}")
        await see(pilot, "/mnt/e", "/mnt/d", "/mnt/c", "sda1", "sda2")
        assert "/mnt/b" not in rows(pilot, "devices").text
