"""The card of a device: its health, and its last result with the course of each figure over the earlier ones."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from bench_screens import Bench, BenchSession, make_device
from msgspec.structs import replace
from recorded import FAST, FIRST_START, make_plan, record_run
from stored_screens import altered, press, see, text_of

from diskprof.model.device import Device, Health, Mount, Wear
from diskprof.model.run import Finding, Weight
from diskprof.store import Store
from diskprof.tui.app import DiskprofApp
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import Line, width_of
from diskprof.tui.run.device_card import DeviceFacts, device_lines, more_lines, result_lines
from diskprof.tui.run.device_rows import DevicesView
from diskprof.tui.shell.loading import LastResult

TIB = 1 << 40
DISK = FAST.environment.disks[0]


def plain(lines: Sequence[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def recorded(store: Store, count: int) -> LastResult:
    for day in range(count):
        run_id = record_run(store, started_at=FIRST_START + timedelta(days=day), seed=day, runtime_s=1.0)
    return LastResult(store.run(run_id), store.earlier_results(run_id))


@pytest.mark.parametrize("width", [34, 56, 80])
def test_a_partition_has_the_model_and_the_health_of_its_disk(width: int) -> None:
    disk = make_device("sda", model="Solid 500", children=("sda1",))
    part = make_device("sda1", parents=("sda",), mounts=(Mount("/srv", "xfs", (), 400 << 30, 100 << 30),))
    facts = DeviceFacts(part, (disk,), (Health("sda", True, 41.0, Wear("sda", 3, 41 * TIB)),))
    lines = device_lines(facts, (), DevicesView(), width)
    words = plain(lines)
    assert "Solid 500 (sda)" in words and "SMART passed, 41 °C" in words
    assert "/srv xfs" in words and "100 GiB free" in words
    assert all(width_of(line) <= width for line in lines)
    if width > 50:
        assert "wear 3% (41 TiB written)" in words


def test_a_disk_that_fails_is_in_red_and_of_what_is_not_known_nothing_is_said() -> None:
    disk = make_device("sda")

    def inks(*health: Health) -> dict[str, str]:
        lines = device_lines(DeviceFacts(disk, (disk,), health), (), DevicesView(), 80)
        return {text: ink for line in lines for text, ink in line}

    assert inks(Health("sda", False))["SMART: FAILING"] == "danger"
    assert inks(Health("sda", wear=Wear("sda", 97)))["wear 97%"] == "warn"
    assert not any("Health" in text for text in inks())


def test_each_figure_has_its_course_and_how_it_compares(store: Store) -> None:
    facts = DeviceFacts(DISK, (DISK,), (), recorded(store, 5))
    lines = result_lines(facts, 72, 20, Charset.BRAILLE)
    words = plain(lines)
    assert "Quick check" in words and "4 earlier runs" in words
    row = next(line for line in words.splitlines() if "4K rand read QD32" in line)
    assert sum("\u2800" < char <= "\u28ff" for char in row) == 5
    assert "of best" in row or "new best" in row
    assert all(width_of(line) <= 72 for line in lines)
    assert "####" not in words and plain(result_lines(facts, 72, 20, Charset.ASCII)).isascii()
    assert len(result_lines(facts, 72, 4, Charset.BRAILLE)) == 4
    roomy = result_lines(facts, 72, 40, Charset.BLOCKS)
    assert all(width_of(line) <= 72 for line in roomy) and len(roomy) <= 41
    at = next(at for at, line in enumerate(roomy) if "4K rand read QD32" in plain([line]))
    assert [len(bar) for bar in plain([roomy[at + 2]]).split()] == [5] * 5, "a bar for each of five runs"


def test_a_first_result_has_no_course_and_one_in_doubt_is_marked(store: Store) -> None:
    last = recorded(store, 1)
    words = plain(result_lines(DeviceFacts(DISK, last=last), 72, 20, Charset.BRAILLE))
    assert "earlier" not in words and not any("\u2800" < char <= "\u28ff" for char in words)
    finding = Finding("other-io", Weight.DOUBT, "Other I/O.", "", "")
    doubtful = LastResult(replace(last.run, findings=(finding,)), ())
    assert ("!", "warn") in result_lines(DeviceFacts(DISK, last=doubtful), 72, 20, Charset.BRAILLE)[0]
    assert result_lines(DeviceFacts(DISK), 72, 20, Charset.BRAILLE) == []


async def test_the_card_is_filled_beside_the_screen_and_follows_the_preset(bench: Bench) -> None:
    bench.devices = (replace(DISK, children=(), mounts=(Mount("/mnt/data", "ext4", ("rw",), 480 << 30, 120 << 30),)),)
    asked: list[str] = []

    def health(disks: Sequence[Device]) -> Sequence[Health]:
        asked.extend(disk.name for disk in disks)
        return [Health(disks[0].name, True, 38.0)]

    with Store.open(bench.path) as store:
        record_run(store, runtime_s=1.0)
        plan = replace(make_plan("ioping-latency"), preset="ioping-latency", preset_title="Latency with ioping")
        record_run(store, "ioping-latency", plan=plan, started_at=FIRST_START - timedelta(days=1), runtime_s=1.0)
    app = DiskprofApp(altered(BenchSession(bench), health=health), charset=Charset.BRAILLE)
    async with app.run_test(size=(120, 40)) as pilot:
        await see(pilot, "SMART passed, 38 °C", "Last Quick check", "4K rand read QD32")
        mount = replace(bench.devices[0].mounts[0], free_bytes=99 << 30)
        bench.plug(replace(bench.devices[0], mounts=(mount,)))
        await see(pilot, "99 GiB free", "SMART passed, 38 °C", "Last Quick check")
        await press(pilot, "right", "down")
        await see(pilot, "Last Latency with ioping")
        assert asked


async def test_a_card_as_high_as_the_screen_tells_other_presets_and_the_next_steps(bench: Bench) -> None:
    mount = Mount("/mnt/data", "ext4", ("rw",), 480 << 30, 120 << 30)
    below = FAST.environment.device
    assert below
    bench.devices = (replace(DISK, name=below.name, children=(), mounts=(mount,)),)
    app = DiskprofApp(BenchSession(bench), charset=Charset.BRAILLE)
    async with app.run_test(size=(200, 50)) as pilot:
        await see(pilot, "Next Quick check shows", "Repeat 5 times (e)")
    with Store.open(bench.path) as store:
        before = record_run(store, started_at=FIRST_START - timedelta(days=2), runtime_s=1.0)
        record_run(store, runtime_s=1.0)
        plan = replace(make_plan("ioping-latency"), preset="ioping-latency", preset_title="Latency with ioping")
        record_run(store, "ioping-latency", plan=plan, started_at=FIRST_START - timedelta(days=1), runtime_s=1.0)
        when = next(run.started_at for run in store.summaries() if run.id == before)
    app = DiskprofApp(BenchSession(bench), charset=Charset.BRAILLE)
    async with app.run_test(size=(200, 50)) as pilot:
        await see(
            pilot,
            "Last Quick check",
            f"Before {when.astimezone():%d %b %H:%M} rand",
            "Others",
            "ioping-latency: ",
            "Next For sustained speed",
        )
        await pilot.resize_terminal(120, 40)
        await see(pilot, "Last Quick check")
        assert "Others" not in text_of(pilot)


def test_what_does_not_fit_on_the_card_is_left_out(store: Store) -> None:
    last = recorded(store, 2)
    facts = DeviceFacts(DISK, last=replace(last, runs=tuple(run._replace(preset="other") for run in store.summaries())))
    steps = ["Run longer.", "Repeat it."]
    assert plain(more_lines(facts, steps, 60, 10)).count("other: ") == 1, "the newest of each preset"
    assert [len(more_lines(facts, steps, 60, height)) for height in range(1, 7)] == [0, 2, 2, 2, 5, 5]
