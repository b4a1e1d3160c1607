"""The Live screen's views: percentiles, the heat map, the cursor, kernel statistics."""

import re

import pytest
from bench_screens import Bench, open_bench
from msgspec.structs import replace
from recorded import FAST, FIRST_START, make_plan, record_run, recording
from stored_screens import SIZES, Driver, open_runs, press, see, settle, text_of, until
from textual.geometry import Region
from textual.widget import Widget

from diskprof.model.histogram import merge
from diskprof.model.run import Status
from diskprof.model.sample import Direction, Phase
from diskprof.model.units import format_iops, format_latency
from diskprof.store import Store, this_process
from diskprof.tui.dialogs.help import HelpScreen
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.painted import Lines, OneLine
from diskprof.tui.live.depths import STEP, Depths
from diskprof.tui.live.kernel_watch import KernelWatch
from diskprof.tui.live.live_panes import LatencyTile, Tile
from diskprof.tui.live.run_reader import RunReader
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.shell.bars import KeyBar, TopBar

WIDE = ((200, 60),)
HOSTILE = "[/][red]\x1b[31m\x07\u202eevil"


def under_way(store: Store, preset: str = "mixed-70-30", **options: object) -> str:
    return record_run(
        store, preset, **({"end": Status.RUNNING, "stop_in": (0, 0.7), "runner": this_process()} | options)
    )


def chart_of(pilot: Driver) -> str:
    return pilot.app.screen.query_one(ChartPane).text


def last_line(pilot: Driver) -> str:
    return text_of(pilot).splitlines()[-1]


async def open_live(pilot: Driver, *keys: str) -> LiveScreen:
    await press(pilot, "2", *keys)
    screen = pilot.app.screen
    assert isinstance(screen, LiveScreen)
    return screen


@pytest.mark.parametrize("size", (*SIZES, *WIDE))
async def test_percentiles_are_named_on_both_sides(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    under_way(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot, "m", "m")
        await until(pilot, lambda: "Latency percentiles" in chart_of(pilot))
        for name in ("p50", "p99", "p99.9", "max"):
            assert len([word for word in chart_of(pilot).split() if word == name]) == 2
        assert "us ┤" in chart_of(pilot)
        assert all(len(line) <= size[0] - 2 for line in chart_of(pilot).splitlines())


@pytest.mark.parametrize("size", (*SIZES, *WIDE))
async def test_the_heat_map_has_both_sides_and_decades(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    under_way(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot, "m", "m", "m")
        await until(pilot, lambda: "of requests" in chart_of(pilot))
        body = chart_of(pilot).splitlines()[1:]
        assert "R" in "".join(body)
        assert "W" in "".join(body)
        assert "1 ms ┤" in chart_of(pilot)
        assert set("░▒▓█") & set("".join(body))


@pytest.mark.parametrize("charset", list(Charset))
async def test_every_view_has_its_form(bench: Bench, store: Store, charset: Charset) -> None:
    under_way(store)
    async with open_bench(bench, charset=charset) as pilot:
        await open_live(pilot, "m", "m")
        for _ in range(2):
            screen = text_of(pilot)
            assert charset is not Charset.ASCII or screen.isascii(), [char for char in screen if not char.isascii()]
            assert charset is Charset.BRAILLE or not any(0x2801 <= ord(char) < 0x2900 for char in chart_of(pilot))
            await press(pilot, "m")


@pytest.mark.parametrize("size", SIZES)
async def test_the_tile_says_the_last_interval_and_the_whole_test(
    bench: Bench, store: Store, size: tuple[int, int]
) -> None:
    run_id = under_way(store)
    samples = [s for s in store.samples(run_id, test=0).samples if s.phase is Phase.MEASURING]
    async with open_bench(bench, size) as pilot:
        screen = await open_live(pilot)
        lines = screen.query_one("#tile-latency").text.splitlines()  # type: ignore[attr-defined]
    told = {line.split("  ")[0].split()[0]: line for line in lines[1:]}
    for direction in Direction:
        mine = [sample for sample in samples if sample.direction is direction]
        whole = merge(sample.histogram for sample in mine if sample.histogram)
        for name, q in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
            assert format_latency(mine[-1].quantile(q) or 0) in told[name]
            assert format_latency(whole.quantile(q) or 0) in told[name]
        if "max" in told:
            assert format_latency(max(sample.max_ns or 0 for sample in mine)) in told["max"]


@pytest.mark.parametrize(("turns", "size"), [(0, SIZES[0]), (0, SIZES[1]), (2, SIZES[0]), (3, SIZES[0])])
async def test_the_cursor_reads_off_a_moment(bench: Bench, store: Store, size: tuple[int, int], turns: int) -> None:
    run_id = under_way(store)
    samples = [s for s in store.samples(run_id, test=0).samples if s.phase is not Phase.PREPARING]
    async with open_bench(bench, size) as pilot:
        await open_live(pilot, *["m"] * turns)
        assert "Leave" not in last_line(pilot)
        await press(pilot, "left")
        await see(pilot, "esc Leave")
        first, second, *_ = chart_of(pilot).splitlines()
        for line, direction in ((first, Direction.READ), (second, Direction.WRITE)):
            last = [sample for sample in samples if sample.direction is direction][-1]
            assert f"{format_iops(last.iops)} " in line
            for q in (0.5, 0.99, 0.999):
                assert format_latency(last.quantile(q) or 0).replace(" ", "") in line
        assert "▲" in chart_of(pilot).splitlines()[-1]
        before = chart_of(pilot)
        await press(pilot, "shift+left")
        assert chart_of(pilot).splitlines()[0] != before.splitlines()[0]
        await press(pilot, *["left"] * 3, "right", "shift+left", "shift+left", "shift+left", *["shift+left"] * 12)
        assert chart_of(pilot).startswith("0.00–")
        await press(pilot, "escape")
        assert "▲" not in chart_of(pilot)
        assert "Leave" not in last_line(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_a_run_that_is_over_has_the_same_views(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    record_run(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot, "m", "m", "m")
        await until(pilot, lambda: "of requests" in chart_of(pilot))
        await press(pilot, "right")
        assert chart_of(pilot).startswith("0.00–")
        await press(pilot, "up", "m")
        assert "▲" not in chart_of(pilot)


async def test_a_run_without_distributions_says_so(bench: Bench, store: Store) -> None:
    under_way(store, "ioping-seek")
    async with open_bench(bench) as pilot:
        await open_live(pilot, "m", "m", "m")
        await see(pilot, "There is no distribution")


@pytest.mark.parametrize("size", (*SIZES, *WIDE))
async def test_k_shows_what_the_kernel_saw(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    under_way(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot)
        await see(pilot, "K Kernel")
        await press(pilot, "K")
        await see(pilot, "Kernel (iostat -x) nvme0n1p1, on nvme0n1", "names as in iostat", "last median fio last")
        for name in ("r/s", "w/s", "rkB/s", "wkB/s", "r_await", "w_await", "aqu-sz", "%util", "%user", "%system"):
            await see(pilot, name)
        await see(pilot, "%iowait", "%steal", "hottest")
        await press(pilot, "escape")
        assert "Kernel (iostat -x)" not in text_of(pilot)
        # The list of tests, which may have been hidden, has its keys again.
        await until(pilot, lambda: pilot.app.focused is not None and pilot.app.focused.id == "tests")


@pytest.mark.parametrize("over", [False, True])
async def test_in_little_room_the_rest_of_the_kernels_view_is_scrolled_to(
    bench: Bench, store: Store, over: bool
) -> None:
    record_run(store) if over else under_way(store)
    async with open_bench(bench, (60, 20)) as pilot:
        screen = await open_live(pilot, "K")
        await see(pilot, "Kernel (iostat -x)", "r/s")
        assert "hottest" not in text_of(pilot)
        await press(pilot, "down")
        assert "Kernel (iostat -x)" not in text_of(pilot)
        await press(pilot, "end")
        await see(pilot, "%steal", "hottest")
        assert screen.snapshot is not None
        assert screen.snapshot.test == 0
        await press(pilot, "K")
        await until(pilot, lambda: pilot.app.focused is not None and pilot.app.focused.id == "tests")


async def test_the_kernels_view_of_a_result_is_whole(store: Store) -> None:
    record_run(store)
    async with open_runs(store.path, (60, 20)) as pilot:
        await press(pilot, "enter", "K")
        await press(pilot, "pagedown", "pagedown")
        await see(pilot, "hottest")


async def test_in_little_room_the_latencies_of_two_directions_are_not_cut(bench: Bench, store: Store) -> None:
    under_way(store, "mixed-70-30")
    async with open_bench(bench, (60, 20)) as pilot:
        screen = await open_live(pilot)
        tile = screen.query_one("#tile-latency")
        await until(pilot, lambda: "p99.9" in tile.text)  # type: ignore[attr-defined]
        head, *lines = tile.text.splitlines()  # type: ignore[attr-defined]
        assert head.split() == ["Latency", "R", "now", "W", "now"]
        assert all(re.fullmatch(r"\S+( +[\d.]+ [um]s){2}", line.rstrip()) for line in lines), lines


async def test_behind_the_kernels_view_no_key_changes_the_chart(bench: Bench, store: Store) -> None:
    under_way(store)
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot, "left", "left")
        moment = screen.course.moment
        assert moment is not None
        await press(pilot, "K")
        await see(pilot, "Kernel (iostat -x)")
        assert "m Metric" not in text_of(pilot)
        for key in ("m", "left", "right", "v", "x"):
            await press(pilot, key)
        # What was put over the chart last is taken away first.
        await press(pilot, "escape")
        assert "Kernel (iostat -x)" not in text_of(pilot)
        await see(pilot, "m Metric", "IOPS")
        assert screen.course.moment == moment
        await press(pilot, "escape")
        assert screen.course.moment is None


async def test_the_kernels_view_goes_on_with_the_run(bench: Bench, store: Store) -> None:
    steps = recording(store, "mixed-70-30", end=Status.RUNNING, stop_in=(0, 0.9), runner=this_process(), runtime_s=20.0)
    for _ in range(24):
        next(steps)
    async with open_bench(bench) as pilot:
        screen = await open_live(pilot, "K")
        await see(pilot, "r_await")
        before = screen.query_one("#kernel").text  # type: ignore[attr-defined]
        next(steps)
        await until(pilot, lambda: screen.query_one("#kernel").text != before)  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", SIZES)
async def test_the_new_keys_are_in_the_help(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    under_way(store)
    async with open_bench(bench, size) as pilot:
        await open_live(pilot)
        await press(pilot, "question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        seen = text_of(pilot)
        for _ in range(10):
            await press(pilot, "pagedown")
            seen += text_of(pilot)
        for words in ("Read off an earlier moment of the chart", "The kernel's view of the device and the machine"):
            assert words in seen


async def test_hostile_names_reach_no_view(bench: Bench, store: Store) -> None:
    plan = make_plan("mixed-70-30")
    plan = replace(
        plan,
        preset_title=HOSTILE,
        target=replace(plan.target, given=HOSTILE, path=HOSTILE, device=HOSTILE),
        tests=tuple(replace(test, title=HOSTILE) for test in plan.tests),
    )
    under_way(store, plan=plan, machine=FAST)
    async with open_bench(bench, (120, 40)) as pilot:
        await open_live(pilot)
        for key in ("m", "m", "m", "left", "K"):
            await press(pilot, key)
            assert not set("\x1b\x07\u202e") & set(text_of(pilot))


def test_distributions_of_a_long_run_take_bounded_memory_and_small_steps(store: Store) -> None:
    run_id = under_way(store, runtime_s=300.0, stop_in=(0, 0.999), run_id="a2b3c4d5")
    depths = Depths(store, run_id, 0, preparing=False)
    steps = 1
    while depths.read():
        assert not depths.complete
        steps += 1
    samples = store.samples(run_id, test=0).samples
    assert steps == len(samples) // STEP + 1
    assert depths.complete
    for direction in Direction:
        assert len(depths.heat(direction)) <= 401
        measured = [s for s in samples if s.direction is direction and s.phase is Phase.MEASURING]
        assert depths.whole(direction) == merge(s.histogram for s in measured if s.histogram)


def test_what_the_kernel_saw_of_a_long_run_takes_bounded_memory(store: Store) -> None:
    run_id = under_way(store, runtime_s=300.0, stop_in=(0, 0.999), run_id="a2b3c4d5")
    watch = KernelWatch(store, run_id, 0, preparing=False)
    while watch.read():
        pass
    assert 200 <= watch.kept <= 480
    assert watch.last
    assert watch.median
    assert watch.median.reads_per_s


def test_the_tail_of_a_test_is_not_its_last_interval(store: Store) -> None:
    run_id = under_way(store, run_id="a2b3c4d5")
    taken = store.system_samples(run_id, test=0).samples
    tail = replace(taken[-1], at_ns=taken[-1].at_ns + 1_400_000, duration_ns=1_400_000, reads=0, read_bytes=0)
    store.append(run_id, system=(tail,))
    watch = KernelWatch(store, run_id, 0, preparing=False)
    watch.read()
    assert watch.last and watch.median
    assert watch.last.seconds > 0.1
    assert watch.last.reads_per_s
    store.append(run_id, system=(tail,))
    watch.read()
    assert watch.last.seconds > 0.1


def test_the_end_of_the_engine_is_no_time_of_the_disk(store: Store) -> None:
    """fio takes a tenth of a second to end, in which the kernel counts nothing: the last interval may be little else."""
    run_id = under_way(store, run_id="a2b3c4d5")
    samples, taken = store.samples(run_id, test=0).samples, store.system_samples(run_id, test=0).samples
    end, usual = samples[-1].at_ns, taken[-1]
    assert usual.reads
    ending = [
        replace(usual, at_ns=end + 250_000_000, reads=usual.reads * 9 // 10),
        replace(usual, at_ns=end + 400_000_000, duration_ns=150_000_000, reads=usual.reads // 10),
    ]
    store.append(run_id, samples=(replace(samples[-1], at_ns=end + 250_000_000),), system=ending)
    watch = KernelWatch(store, run_id, 0, preparing=False)
    while watch.read():
        pass
    found = watch.last_before(end + 250_000_000, usual.duration_ns / 1e9)
    assert watch.last and watch.last.reads_per_s and found and found.reads_per_s
    assert watch.last.reads_per_s < 0.2 * usual.reads / usual.duration_ns * 1e9
    assert found.reads_per_s == pytest.approx(usual.reads / usual.duration_ns * 1e9, rel=0.02)
    assert found.seconds == pytest.approx(0.25, rel=0.02)


def test_an_engine_that_tells_of_its_last_interval_late_ended_before(store: Store) -> None:
    """fio joins its jobs before its last word, and its duration says for how long they ran."""
    run_id = under_way(store, run_id="a2b3c4d5")
    last = store.samples(run_id, test=0).samples[-1]
    late = replace(last, at_ns=last.at_ns + 300_000_000, duration_ns=250_000_000)
    store.append(run_id, samples=(late,))
    assert RunReader(store, run_id).snapshot.track.ended_ns == last.at_ns + 250_000_000
    # After a pause the times are taken as they were told.
    store.append(run_id, samples=(replace(late, at_ns=late.at_ns + 900_000_000),))
    assert RunReader(store, run_id).snapshot.track.ended_ns == late.at_ns + 900_000_000


def test_the_first_figures_of_a_test_are_read_at_once(store: Store) -> None:
    samples = store.samples(under_way(store), test=0).samples
    run_id = store.create_run(make_plan("mixed-70-30"), FAST.environment, started_at=FIRST_START)
    store.begin_test(run_id, 0, 0)
    reader = RunReader(store, run_id)
    measuring = next(at for at, sample in enumerate(samples) if sample.phase is Phase.MEASURING)
    for end in (0, measuring, measuring + 2):
        store.append(run_id, samples=samples[:end][-2:])
        reader.read()
        reader.open_depths()
        reader.read_depths()
    depths = reader.snapshot.depths
    assert depths
    assert {direction for direction in Direction if depths.whole(direction)} == set(Direction)


async def test_on_a_tiny_terminal_the_chart_has_the_lines_of_the_table(bench: Bench, store: Store) -> None:
    under_way(store, "quick")
    async with open_bench(bench, (60, 16)) as pilot:
        screen = await open_live(pilot)
        assert not screen.query_one("#tests").region
        assert screen.query_one("#chart").size.height >= 6
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: bool(screen.query_one("#tests").region))
        await press(pilot, "z", "z")
        assert screen.query_one("#tests").region


@pytest.mark.parametrize("theme", ["diskprof-dark", "diskprof-16"])
async def test_lines_are_drawn_as_textual_would_draw_them(bench: Bench, store: Store, theme: str) -> None:
    under_way(store)
    seen = set()
    async with open_bench(bench, (200, 60)) as pilot:
        pilot.app.theme = theme
        await press(pilot, "2")
        await until(pilot, lambda: "IOPS" in chart_of(pilot))
        await settle(pilot)
        for widget in pilot.app.screen.query(Lines):
            width, height = widget.outer_size
            crops = (Region(0, 0, width, height), Region(0, height // 2, width // 2, 1), Region(3, 0, width - 4, 2))
            for crop in crops if width > 8 and height and widget.region.area else ():
                seen.add(type(widget))
                theirs = Widget.render_lines(widget, crop)
                for one, other in zip(widget.render_lines(crop), theirs, strict=True):
                    assert (one.text, one.cell_length) == (other.text, other.cell_length)
                    assert one.simplify() == other.simplify()
    assert {TopBar, KeyBar, OneLine, Tile, LatencyTile, ChartPane} <= seen
