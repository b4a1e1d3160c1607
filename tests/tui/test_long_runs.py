"""Runs of a day: their charts are there at once, and a picture that fills says how far it is."""

import threading
from datetime import datetime
from itertools import islice
from typing import Any

import pytest
from bench_screens import Bench, open_bench
from recorded import record_run
from recorded.long import record_long, recording_long
from store_files import raw
from stored_screens import Driver, press, settle, text_of, until

from diskprof.model.histogram import merge
from diskprof.model.run import Status
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.model.units import format_latency
from diskprof.reports.charts.axes import LogScale
from diskprof.reports.charts.heatmap import Heat, Scattered
from diskprof.store import Store, histogram_blocks, this_process
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.live import depths as depths_module
from diskprof.tui.live import kernel_watch, run_reader
from diskprof.tui.live.depths import STEP, Depths
from diskprof.tui.live.live_panes import LatencyTile
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.runs.result import ResultScreen

LONG_S = 1700
"""Of so many samples a chart of 50 columns is made from blocks; that of a day has 500."""


def chart_of(pilot: Driver) -> str:
    return pilot.app.screen.query_one(ChartPane).text


@pytest.mark.parametrize("going", [True, False])
async def test_a_long_run_is_drawn_at_once(
    bench: Bench, store: Store, going: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its charts show was taken together while it was written: nothing else is looked at, and nothing waited for."""
    for module in (kernel_watch, run_reader):
        monkeypatch.setattr(module, "_KEPT", 50)
    steps = list(islice(recording_long(store, LONG_S, step=LONG_S // 2), 2 if going else None))
    whole = store.course(steps[0], 0, most=50).samples
    with raw(store.path) as db:
        db.execute("DELETE FROM sample WHERE seq < ?", (LONG_S - 64,))
        db.execute("DELETE FROM system_sample WHERE seq < ?", (LONG_S - 64,))
    assert store.course(steps[0], 0, most=50).samples == whole
    async with open_bench(bench) as pilot:
        await press(pilot, *(["2"] if going else ["3", "enter"]))
        assert "IOPS" in chart_of(pilot)
        await press(pilot, "K")
        assert "r_await" in text_of(pilot)


async def test_a_run_is_deleted_beside_the_screen(bench: Bench, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, threads = record_run(store), []
    discard = Store.discard

    def watched(self: Store, name: str, at: datetime) -> None:
        threads.append(threading.current_thread())
        discard(self, name, at)

    monkeypatch.setattr(Store, "discard", watched)
    async with open_bench(bench) as pilot:
        await press(pilot, "3", "enter")
        await press(pilot, "d", "y")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ResultScreen))
        await settle(pilot)
    assert run_id not in [run.id for run in store.summaries()]
    assert threads
    assert threading.main_thread() not in threads


async def test_the_tile_has_the_figures_of_the_test_once_all_is_read(bench: Bench, store: Store) -> None:
    run_id = next(recording_long(store, 600, step=3 * STEP))
    samples = store.samples(run_id, test=0).samples
    whole = merge(sample.histogram for sample in samples if sample.histogram)
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        tile = pilot.app.screen.query_one(LatencyTile)
        # Nothing more is written: the tile has to follow what is read of what was there.
        await until(pilot, lambda: "–" not in tile.text)
        for name, q in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
            (line,) = (line for line in tile.text.splitlines() if line.split()[0] == name)
            assert line.endswith(format_latency(whole.quantile(q) or 0))


async def test_a_comparison_draws_its_charts_of_few_samples(bench: Bench, store: Store) -> None:
    ids = [record_long(store, 3000) for _ in range(2)]
    async with open_bench(bench) as pilot:
        pilot.app.compare_runs(ids)  # type: ignore[attr-defined]
        await settle(pilot)
        loaded = pilot.app.screen._loaded  # type: ignore[attr-defined]
        assert len(loaded.courses[ids[0]]) < len(loaded.samples[ids[0]])
        await press(pilot, "m")
        assert "IOPS over time" in text_of(pilot)


# --- distributions ---------------------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depths_module, "_MANY", 300)


@pytest.mark.parametrize("preparing", [False, True])
def test_what_is_read_here_and_there_is_all_of_it(store: Store, few: None, preparing: bool) -> None:
    run_id = record_run(store, "mixed-70-30", runtime_s=200.0)
    samples = [s for s in store.samples(run_id, test=0).samples if (s.phase is Phase.PREPARING) is preparing]
    depths = Depths(store, run_id, 0, preparing=preparing)
    shares = []
    while depths.read():
        shares.append(depths.share)
        for direction in depths.directions:
            assert depths.heat(direction).range_ns
    assert depths.complete
    assert shares == sorted(shares)
    if len(samples) >= 300:
        assert 0 < shares[0] < 0.5
    for direction in Direction:
        mine = [s for s in samples if s.direction is direction and s.histogram]
        measured = [s for s in mine if s.phase is not Phase.WARMING]
        assert depths.whole(direction) == (merge(s.histogram for s in measured if s.histogram) if measured else None)
        if mine:
            heat = depths.heat(direction)
            counted = sum(sum(piece.counts) for piece in heat.slices)
            assert counted == sum(s.histogram.total for s in mine if s.histogram)
            assert heat.slices[0].start == pytest.approx(0, abs=2)
            assert [piece.start for piece in heat.slices] == sorted(piece.start for piece in heat.slices)


def test_after_some_steps_the_whole_test_is_in_the_picture(store: Store, few: None) -> None:
    run_id = record_run(store, "mixed-70-30", runtime_s=400.0)
    depths = Depths(store, run_id, 0, preparing=False)
    for _ in range(600 // STEP):
        depths.read()
    assert depths.share < 0.3
    for direction in Direction:
        heat = depths.heat(direction)
        rows = heat.shades(60, 400.0, 8, LogScale.of(*(heat.range_ns or (1, 1))))
        assert all(any(column) for column in list(zip(*rows, strict=True))[:-2])


@pytest.mark.parametrize("preparing", [False, True])
def test_a_day_is_read_in_blocks_that_have_all_of_it(
    store: Store, few: None, preparing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(depths_module, "_MANY_BLOCKS", 10)
    run_id = record_run(store, "mixed-70-30", runtime_s=400.0)
    samples = [s for s in store.samples(run_id, test=0).samples if (s.phase is Phase.PREPARING) is preparing]
    depths, taken = Depths(store, run_id, 0, preparing=preparing), 0
    while depths.read():
        taken += 1
    if not preparing:
        assert taken <= len(samples) / histogram_blocks.FOLDS[0] * len(Direction) / STEP + 2
        rows = depths.heat(Direction.READ).shades(
            20, 400.0, 8, LogScale.of(*(depths.heat(Direction.READ).range_ns or (1, 1)))
        )
        assert all(any(column) for column in list(zip(*rows, strict=True))[:-1])
    for direction in depths.directions:
        mine = [s for s in samples if s.direction is direction]
        whole = merge(s.histogram for s in mine if s.histogram and s.phase is not Phase.WARMING)
        assert depths.whole(direction) == (whole or None)
        assert depths.most_ns(direction) == max(s.max_ns or 0 for s in mine if s.phase is not Phase.WARMING)
        assert sum(sum(piece.counts) for piece in depths.heat(direction).slices) == sum(
            s.histogram.total for s in mine if s.histogram
        )


def test_what_comes_after_what_was_stored_is_added(store: Store, few: None) -> None:
    more: dict[str, Any] = {"end": Status.RUNNING, "stop_in": (0, 0.9), "runner": this_process()}
    run_id = record_run(store, "mixed-70-30", runtime_s=200.0, **more)
    depths = Depths(store, run_id, 0, preparing=False)
    while depths.read():
        pass
    before = depths.whole(Direction.READ)
    last = [s for s in store.samples(run_id, test=0).samples if s.direction is Direction.READ][-1]
    new = Sample(0, last.phase, last.direction, last.at_ns + 10**9, 10**9, *_counts_of(last))
    store.append(run_id, samples=[new])
    assert not depths.read()
    assert before and last.histogram
    assert depths.whole(Direction.READ) == before + last.histogram
    assert depths.share == 1.0


def _counts_of(sample: Sample) -> tuple[Any, ...]:
    return sample.ios, sample.bytes, sample.mean_ns, sample.min_ns, sample.max_ns, sample.histogram


def test_scattered_intervals_make_the_map_that_they_make_in_order(store: Store) -> None:
    run_id = record_run(store, "mixed-70-30", runtime_s=100.0)
    samples = [s for s in store.samples(run_id, test=0).samples if s.direction is Direction.READ and s.histogram]
    begin = samples[0].at_ns - samples[0].duration_ns
    seconds = (samples[-1].at_ns - begin) / 1e9
    ordered, scattered = Heat(), Scattered(0.0, seconds, bins=50)
    for sample in reversed(samples):
        end = (sample.at_ns - begin) / 1e9
        assert sample.histogram
        scattered.add(end - sample.duration_ns / 1e9, end, sample.histogram)
    for sample in samples:
        end = (sample.at_ns - begin) / 1e9
        assert sample.histogram
        ordered.add(end - sample.duration_ns / 1e9, end, sample.histogram)
    heat = scattered.heat()
    assert heat.range_ns == ordered.range_ns
    assert len(heat) <= 50
    scale = LogScale.of(*(heat.range_ns or (1, 1)))
    one, other = (found.shades(1, seconds, 12, scale) for found in (heat, ordered))
    assert one == other


def test_a_heat_map_that_is_being_read_says_how_far_it_is(store: Store, few: None) -> None:
    from diskprof.tui.live.latency_plots import heat_plot

    run_id = record_run(store, "mixed-70-30", runtime_s=200.0)
    depths = Depths(store, run_id, 0, preparing=False)
    depths.read()
    assert heat_plot(depths, 200.0, {}, "a note").title == f"Heat map, {depths.share:.0%} read"
    while depths.read():
        pass
    assert heat_plot(depths, 200.0, {}, "a note").title == "Latency heat map"


async def test_what_another_screen_interrupted_goes_on(
    bench: Bench, store: Store, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, steps, held = Depths.read, 0, True

    def read(depths: Depths) -> bool:
        nonlocal steps
        if held and steps >= 2:
            return True
        steps += 1
        return original(depths)

    monkeypatch.setattr(Depths, "read", read)
    record_run(store, "mixed-70-30", runtime_s=100.0)
    async with open_bench(bench) as pilot:
        await press(pilot, "3", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, ResultScreen)
        await pilot.press("m", "m", "m")
        await until(pilot, lambda: "% read" in chart_of(pilot))
        await pilot.press("1")
        depths = screen.snapshot and screen.snapshot.depths
        assert depths and not depths.complete
        await until(pilot, lambda: not screen.course.reads_on)
        held = False
        await pilot.press("3")
        await until(pilot, lambda: depths.complete and "% read" not in chart_of(pilot))


async def test_steps_of_reading_never_pile_up(bench: Bench, store: Store, few: None) -> None:
    more: dict[str, Any] = {"end": Status.RUNNING, "stop_in": (0, 0.9), "runner": this_process()}
    run_id = record_run(store, "mixed-70-30", runtime_s=200.0, **more)
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        screen = pilot.app.screen
        assert isinstance(screen, LiveScreen)
        for _ in range(5):
            store.append(run_id, messages=())
            screen.store_changed()
            steps = [timer for timer in screen._timers if getattr(timer._callback, "__name__", "") == "_go_on_reading"]
            assert len([timer for timer in steps if timer._task and not timer._task.done()]) <= 1
        await until(pilot, lambda: bool(screen.snapshot and screen.snapshot.depths and screen.snapshot.depths.complete))


# --- the store -------------------------------------------------------------------------------------------------------


def test_samples_can_be_asked_for_by_their_places(store: Store) -> None:
    run_id = record_run(store, "mixed-70-30", runtime_s=20.0)
    everything = store.samples(run_id, test=0).samples
    laid, measured = (store.sample_span(run_id, 0, preparing=preparing) for preparing in (True, False))
    assert len(laid) + len(measured) == len(everything)
    assert store.samples_at(run_id, 0, list(laid)) == everything[: len(laid)]
    assert store.samples_at(run_id, 0, [measured[5], measured[2]]) == (
        everything[len(laid) + 2],
        everything[len(laid) + 5],
    )
    assert store.samples_at(run_id, 1, [measured[0]]) == ()
    assert store.sample_span(run_id, 7) == range(0)
