"""The Live screen where there is room: more charts at once, so that one glance tells."""

from types import SimpleNamespace
from typing import Any

import pytest
from bench_screens import Bench, open_bench
from recorded import VOLUME, record_run, recording, sweep_plan
from stored_screens import Driver, press, settle, until

from diskprof.model.histogram import Histogram
from diskprof.model.run import Status
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.store import Store, this_process
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.live.live_panes import DeviceTile
from diskprof.tui.live.screen import LiveScreen

WIDE = (200, 60)


def under_way(store: Store, preset: str = "mixed-70-30", **options: Any) -> str:
    return record_run(
        store, preset, **({"end": Status.RUNNING, "stop_in": (0, 0.7), "runner": this_process()} | options)
    )


def charts(pilot: Driver) -> dict[str, str]:
    """The title of each chart that is in sight, and what it shows."""
    screen = pilot.app.screen
    assert isinstance(screen, LiveScreen)
    return {chart.id or "": chart.text for chart in screen.query(ChartPane) if chart.region.area}


def titles(pilot: Driver) -> dict[str, str]:
    return {name: text.splitlines()[0].strip() if text else "" for name, text in charts(pilot).items()}


@pytest.mark.parametrize(
    ("size", "names"),
    [
        ((80, 24), {"chart"}),
        ((100, 30), {"chart"}),
        ((120, 40), {"chart"}),
        ((149, 60), {"chart"}),
        ((150, 40), {"chart", "upper"}),
        (WIDE, {"chart", "upper", "lower"}),
    ],
)
@pytest.mark.parametrize("over", [False, True])
async def test_as_many_charts_as_there_is_room_for(
    bench: Bench, store: Store, size: tuple[int, int], names: set[str], over: bool
) -> None:
    record_run(store) if over else under_way(store)
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2")
        await until(pilot, lambda: all(titles(pilot).values()))
        assert set(titles(pilot)) == names
        assert titles(pilot)["chart"].startswith("IOPS")
        if "upper" in names:
            beside = "Latency percentiles" if "lower" in names else "Latency heat map"
            await until(pilot, lambda: titles(pilot)["upper"].startswith(beside))
        if "lower" in names:
            await until(pilot, lambda: titles(pilot)["lower"].startswith("Latency heat map"))
        for chart in pilot.app.screen.query(ChartPane):
            width, height = chart.size
            assert len(chart.text.splitlines()) <= max(1, height)
            assert all(len(line) <= max(1, width) for line in chart.text.splitlines())


@pytest.mark.parametrize(("size", "there"), [((80, 24), False), ((120, 40), True), (WIDE, True)])
async def test_a_tile_has_the_device_and_the_cpus(
    bench: Bench, store: Store, size: tuple[int, int], there: bool
) -> None:
    run_id = under_way(store)
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2")
        screen = pilot.app.screen
        assert isinstance(screen, LiveScreen)
        tile = screen.query_one(DeviceTile)
        await until(pilot, lambda: "%util" in tile.text if there else bool(screen.query_one(ChartPane).text))
        assert bool(tile.region.area) is there
        if there:
            head, *rows = (line.split() for line in tile.text.splitlines())
            assert head[-2:] == ["now", "test"] and {row[0] for row in rows} >= {"%util", "aqu-sz", "%CPU"}
            assert screen.snapshot and screen.snapshot.kernel and screen.snapshot.kernel.last
            busy = screen.snapshot.kernel.last.utilisation
            assert busy and rows[0][1] == f"{100 * busy:.1f}"
        assert store.run(run_id).status is Status.RUNNING


async def test_no_chart_stands_there_twice(bench: Bench, store: Store) -> None:
    under_way(store)
    async with open_bench(bench, WIDE) as pilot:
        await press(pilot, "2")
        for _ in range(4):
            await until(pilot, lambda: len({title.split("  ")[0] for title in titles(pilot).values()}) == 3)
            await press(pilot, "m")


async def test_no_chart_stands_there_twice_where_a_test_has_no_result_yet(bench: Bench, store: Store) -> None:
    """Of the one before the latency by percentile was looked at, which the one that goes cannot have."""
    record_run(store, end=Status.RUNNING, stop_in=(1, 0.7), runner=this_process())
    async with open_bench(bench, WIDE) as pilot:
        await press(pilot, "2", "up", *["m"] * 4)
        await until(pilot, lambda: "by percentile" in titles(pilot)["chart"])
        await press(pilot, "down")
        await until(pilot, lambda: "Latency percentiles" in titles(pilot)["chart"])
        await until(pilot, lambda: len({title.split("  ")[0] for title in titles(pilot).values()}) == 3)


async def test_the_cursor_stands_in_all_of_them(bench: Bench, store: Store) -> None:
    under_way(store)
    async with open_bench(bench, WIDE) as pilot:
        await press(pilot, "2")
        await until(pilot, lambda: len(titles(pilot)) == 3)
        await press(pilot, "left", "shift+left")
        await until(pilot, lambda: all("▲" in text.splitlines()[-1] for text in charts(pilot).values()))
        assert "IOPS" in titles(pilot)["chart"]
        assert titles(pilot)["upper"].startswith("Latency percentiles")
        await press(pilot, "escape")
        await until(pilot, lambda: not any("▲" in text for text in charts(pilot).values()))


async def test_zoom_and_room_change_what_is_beside(bench: Bench, store: Store) -> None:
    under_way(store)
    async with open_bench(bench, WIDE) as pilot:
        await press(pilot, "2")
        await until(pilot, lambda: len(titles(pilot)) == 3)
        await press(pilot, "z")
        await until(pilot, lambda: set(titles(pilot)) == {"chart"})
        await press(pilot, "z", "K")
        await until(pilot, lambda: set(titles(pilot)) == {"upper", "lower"})
        await press(pilot, "K")
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: set(titles(pilot)) == {"chart"})
        await pilot.resize_terminal(*WIDE)
        await until(pilot, lambda: titles(pilot).get("lower", "").startswith("Latency heat map"))


async def test_a_sweep_has_the_room_for_its_cells(bench: Bench, store: Store) -> None:
    record_run(store, plan=sweep_plan(VOLUME), machine=VOLUME)
    async with open_bench(bench, WIDE) as pilot:
        await press(pilot, "2")
        await until(pilot, lambda: set(titles(pilot)) == {"chart"})
        await press(pilot, "V")
        await until(pilot, lambda: len(titles(pilot)) == 3)


async def test_they_go_on_with_the_run_and_rest_meanwhile(
    bench: Bench, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that change in every line are drawn every two seconds at most, however often the store changes."""
    now = 1000.0
    # Not time.monotonic itself, by which everything else goes.
    monkeypatch.setattr("diskprof.tui.kit.redraw_pace.time", SimpleNamespace(monotonic=lambda: now))
    steps = recording(store, "mixed-70-30", end=Status.RUNNING, stop_in=(0, 0.9), runner=this_process(), runtime_s=20.0)
    for _ in range(24):
        next(steps)
    async with open_bench(bench, WIDE) as pilot:
        await press(pilot, "2")
        await until(pilot, lambda: titles(pilot).get("lower", "").startswith("Latency heat map"))
        before = charts(pilot)
        next(steps)
        await until(pilot, lambda: charts(pilot)["chart"] != before["chart"])
        await settle(pilot)
        resting = charts(pilot)
        assert resting["upper"] == before["upper"]
        assert resting["lower"] == before["lower"]
        now += 1.2
        next(steps)
        await until(pilot, lambda: charts(pilot)["chart"] != resting["chart"])
        await settle(pilot)
        assert {**charts(pilot), "chart": ""} == {**resting, "chart": ""}
        now += 1.2
        next(steps)
        await until(pilot, lambda: charts(pilot)["upper"] != before["upper"])
        await until(pilot, lambda: charts(pilot)["lower"] != before["lower"])


@pytest.mark.parametrize("size", [(80, 24), WIDE])
async def test_intervals_in_which_nothing_completed(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    """As fio's first status shows them while the device has not answered yet."""
    run_id = next(recording(store, "mixed-70-30", end=Status.RUNNING, runner=this_process()))
    store.begin_test(run_id, 0, 0)
    for second in range(3):
        store.append(
            run_id,
            samples=[
                Sample(0, Phase.WARMING, direction, (second + 1) * 10**9, 10**9, 0, 0, histogram=Histogram())
                for direction in Direction
            ],
        )
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2")
        for view in ("IOPS", "Bandwidth", "Latency percentiles", "Heat map", "IOPS"):
            await until(pilot, lambda wanted=view: wanted.lower() in titles(pilot)["chart"].lower())  # type: ignore[misc]
            if view == "Latency percentiles":
                assert "No request has completed yet." in charts(pilot)["chart"]
            await press(pilot, "m")
