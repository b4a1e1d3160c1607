"""A series on the screens: one row that opens into its runs, one line on Live that follows from run to run."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from bench_screens import GIB, Bench, make_device, open_bench
from recorded import FIRST_START, record_run
from stored_screens import SIZES, Driver, at, go_to, open_runs, press, see, settle, shown, text_of, told, until, write

from diskprof.fleet import each_disk
from diskprof.model.device import Mount
from diskprof.model.fleet import FleetMember, NewFleet
from diskprof.model.metric import Quantity
from diskprof.model.plan import Plan
from diskprof.model.run import SeriesPlace, Status
from diskprof.model.run_series import NewSeries, Repetition, Spread, TargetOrder
from diskprof.model.sample import Direction
from diskprof.store import Store
from diskprof.tui.compare.screen import CompareScreen
from diskprof.tui.kit.table import Table
from diskprof.tui.live.screen import LiveScreen

NEW = NewSeries(("/mnt/a", "/mnt/b"), Repetition(repeats=3))


def begin(store: Store, count: int, *, going: bool = False) -> str:
    """A series with so many runs, the last of them in progress if `going`."""
    place: SeriesPlace | NewSeries = NEW
    turns, series_id = list(NEW.wanted.turns(2)), ""
    for at_ in range(count):
        last = going and at_ == count - 1
        run_id = record_run(
            store,
            series=place if at_ == 0 else SeriesPlace(series_id, *turns[at_]),
            runtime_s=0.5,
            seed=at_,
            started_at=FIRST_START + timedelta(days=30, minutes=at_),
            end=Status.RUNNING if last else Status.COMPLETE,
            stop_in=(1, 0.3) if last else None,
        )
        known = store.run(run_id).series
        assert known
        series_id = known.series_id
    for repeats in (1, 2, 3):
        store.repeats.add_spread(
            series_id,
            Spread(repeats, 1, "randread-4k-qd32", Direction.READ, Quantity.IOPS, 5000.0, 5000 - 200 / repeats, 5100.0),
        )
    return series_id


@pytest.fixture
def alone(tmp_path: Path) -> tuple[Path, str]:
    """A store with a run and the id of the run."""
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        return path, record_run(store, runtime_s=0.5)


@pytest.mark.parametrize("size", SIZES)
async def test_a_series_is_a_row_that_opens_into_its_runs(alone: tuple[Path, str], size: tuple[int, int]) -> None:
    path, other = alone
    with Store.open(path) as store:
        series_id = begin(store, 4)
        store.repeats.finish(series_id, status=Status.CANCELLED)
        runs = [run.id for run in store.series_runs(series_id)]
    async with open_runs(path, size) as pilot:
        assert shown(pilot) == [series_id, other]
        # One target of two, cut, would be taken for the only one.
        targets = "/mnt/a | /mnt/b" if size[0] > 100 else "2 targets"
        await see(pilot, "5 runs", "▸ quick", targets, "4 of 6 runs", f"Series {series_id}")
        await press(pilot, "enter")
        assert shown(pilot) == [series_id, *runs, other]
        await see(pilot, "▾ quick", "1 A", "2 B")
        await press(pilot, "down", "down")
        assert at(pilot) == runs[1]
        await press(pilot, "slash", "m", "n", "t")
        await press(pilot, "escape")
        await go_to(pilot, series_id)
        await press(pilot, "enter")
        assert shown(pilot) == [series_id, other]


async def test_what_is_done_to_the_row_is_done_to_all_runs(alone: tuple[Path, str]) -> None:
    path, other = alone
    with Store.open(path) as store:
        series_id = begin(store, 2)
        store.repeats.finish(series_id, status=Status.COMPLETE)
        runs = [run.id for run in store.series_runs(series_id)]
    async with open_runs(path) as pilot:
        await press(pilot, "t")
        await pilot.press(*"base", "enter")
        await settle(pilot)
        await see(pilot, "base")
        with Store.open(path) as store:
            assert [store.run(run_id).tags for run_id in runs] == [("base",)] * 2
        await press(pilot, "d")
        await pilot.press("y")
        await settle(pilot)
        await until(pilot, lambda: shown(pilot) == [other])
        await press(pilot, "u")
        await until(pilot, lambda: shown(pilot) == [series_id, other])


async def test_a_series_in_progress_is_followed_from_run_to_run(alone: tuple[Path, str]) -> None:
    path, _ = alone
    with Store.open(path) as store:
        series_id = begin(store, 3, going=True)
        async with open_runs(path, (120, 40)) as pilot:
            await press(pilot, "d")
            assert "in progress" in told(pilot)
            await press(pilot, "a")
            screen = pilot.app.screen
            assert isinstance(screen, LiveScreen)
            await see(pilot, f"Series {series_id}: repeat 2 of 3, target B", "4K rand read QD32 read, target B")
            first = screen.run
            assert first
            store.finish_run(first.id, status=Status.COMPLETE)
            following = record_run(
                store,
                series=SeriesPlace(series_id, 2, 0),
                runtime_s=0.5,
                started_at=FIRST_START + timedelta(days=31),
                end=Status.RUNNING,
                stop_in=(1, 0.3),
            )
            await until(pilot, lambda: bool(screen.run and screen.run.id == following))
            await see(pilot, "repeat 2 of 3, target A")
            assert "▇" in text_of(pilot) or "█" in text_of(pilot)


def key(pilot: Driver, pane: str) -> Table:
    return pilot.app.screen.query_one(f"#{pane}", Table)


async def test_two_marked_devices_alternate(bench: Bench) -> None:
    other = Mount("/mnt/new", "ext4", ("rw",), 64 * GIB, 32 * GIB)
    bench.devices = (*bench.devices, make_device("sdb", size=64 * GIB, fs_type="ext4", mounts=(other,)))
    async with open_bench(bench, (120, 40)) as pilot:
        for name in ("sda2", "sdb"):
            key(pilot, "devices").key = f"device:{name}"
            await press(pilot, "space")
        await see(pilot, "Series: 5 repeats of 2 targets, alternated")
        assert "twice to run" not in text_of(pilot)
        await press(pilot, "enter")
        await see(pilot, "Start a series of", "Target B", "5 repeats of 2 targets")
        await press(pilot, "s")
        await until(pilot, lambda: bool(bench.series))
        (series,) = bench.series
        assert [plan.target.path for plan in series.plans] == ["/mnt/data", "/mnt/new"]
        assert (series.wanted.repeats, series.runs, series.wanted.order) == (5, 10, TargetOrder.ALTERNATED)
        await see(pilot, "repeat 1 of 5, target A")
        assert isinstance(pilot.app.screen, LiveScreen)


async def test_marked_devices_can_run_each_alone_and_then_together(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Mount("/mnt/new", "ext4", ("rw",), 64 * GIB, 32 * GIB)
    bench.devices = (*bench.devices, make_device("sdb", size=64 * GIB, fs_type="ext4", mounts=(other,)))
    started: list[tuple[str, ...]] = []

    def start(plans: Sequence[Plan], store: Path, **_more: object) -> str:
        started.append(tuple(plan.target.path for plan in plans))
        members = tuple(FleetMember(None, path) for path in started[-1])
        with Store.open(store) as opened:
            return opened.fleets.create(NewFleet(plans[0].preset, plans[0].preset_title, members))

    monkeypatch.setattr(each_disk, "start_each_disk", start)
    async with open_bench(bench) as pilot:
        for name in ("sda2", "sdb"):
            key(pilot, "devices").key = f"device:{name}"
            await press(pilot, "space")
        await press(pilot, "enter")
        await see(
            pilot,
            "Start the series: one run after the other",
            "Each disk alone, then all together: what do they share?",
        )
        await press(pilot, "e")
        await until(pilot, lambda: bool(started))
        assert started == [("/mnt/data", "/mnt/new")]
        await see(pilot, "Quick check 2 disks", "waiting")
        assert isinstance(pilot.app.screen, LiveScreen)


async def test_repeat_is_a_field_of_the_edit_dialog(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "e")
        await write(pilot, "three", "#field-series-repeat")
        await press(pilot, "enter")
        await see(pilot, "is not a number of repeats")
        await write(pilot, "", "#field-series-repeat")
        await write(pilot, "0%", "#field-series-until")
        await press(pilot, "enter")
        await see(pilot, "not a percentage")
        await write(pilot, "3%", "#field-series-until")
        await write(pilot, "40m", "#field-series-at-most")
        await press(pilot, "enter")
        await see(pilot, "Series: until every")
        await press(pilot, "enter")
        await see(pilot, "Start a series of Quick check?")
        await press(pilot, "s")
        await until(pilot, lambda: bool(bench.series))
        assert (bench.series[0].wanted.until, bench.series[0].wanted.at_most_s) == (0.03, 2400.0)


async def test_pause_and_order_are_fields_of_the_edit_dialog(bench: Bench) -> None:
    bench.devices = (*bench.devices, make_device("sdb", size=64 * GIB))
    async with open_bench(bench) as pilot:
        for name in ("sda2", "sdb"):
            key(pilot, "devices").key = f"device:{name}"
            await press(pilot, "space")
        await press(pilot, "e")
        await write(pilot, "soon", "#field-series-pause")
        await press(pilot, "enter")
        await until(pilot, lambda: pilot.app.focused is pilot.app.screen.query_one("#field-series-pause"))
        await write(pilot, "30s", "#field-series-pause")
        await write(pilot, "backwards", "#field-series-order")
        await press(pilot, "enter")
        await see(pilot, "'backwards' is not an order")
        await write(pilot, "In order", "#field-series-order")
        await press(pilot, "enter", "enter")
        await see(pilot, "Start a series of Quick check?")
        await press(pilot, "s")
        await until(pilot, lambda: bool(bench.series))
        wanted = bench.series[0].wanted
        assert (wanted.repeats, wanted.pause_s, wanted.order) == (5, 30.0, TargetOrder.IN_ORDER)


async def test_a_cap_too_short_for_the_series_starts_nothing(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "e")
        await write(pilot, "3%", "#field-series-until")
        await write(pilot, "1s", "#field-series-at-most")
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: "is shorter than" in told(pilot))
        assert not bench.started


async def test_the_targets_of_a_series_are_compared(alone: tuple[Path, str]) -> None:
    path, _ = alone
    with Store.open(path) as store:
        store.repeats.finish(begin(store, 4), status=Status.COMPLETE)
    async with open_runs(path, (120, 40)) as pilot:
        await press(pilot, "c")
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: screen.comparison is not None)
        assert screen.comparison
        assert len(screen.comparison.columns) == 2


async def test_after_a_series_live_offers_what_is_done_with_all_of_it(alone: tuple[Path, str]) -> None:
    path, _ = alone
    with Store.open(path) as store:
        series_id = begin(store, 3, going=True)
        last = store.series_runs(series_id)[-1].id
        async with open_runs(path, (120, 40)) as pilot:
            pilot.app.show_run(last)
            await see(pilot, "target B")
            store.finish_run(last, status=Status.CANCELLED)
            await see(pilot, "Next: r report c compare with")
            store.repeats.finish(series_id, status=Status.CANCELLED)
            await see(pilot, "Next: c compare the targets r report on the series R run again")
            await press(pilot, "r")
            await see(pilot, f"Report on series {series_id}")
            await press(pilot, "escape", "c")
            screen = pilot.app.screen
            assert isinstance(screen, CompareScreen)
            await until(pilot, lambda: screen.comparison is not None)
            assert screen.comparison and [len(column.runs) for column in screen.comparison.columns] == [1, 1]
