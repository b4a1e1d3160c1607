"""How wide the charts of a test are: as long as it is set to take, or, where an amount ends it, as long as it has taken."""

import pytest
from bench_screens import Bench, open_bench
from msgspec.structs import replace
from recorded import make_plan, record_run, recording
from stored_screens import press, see, text_of

from diskprof.model.run import Progress, Status
from diskprof.model.sample import Phase
from diskprof.store import Store, this_process
from diskprof.tui.live.run_reader import RunReader

GOING = {"end": Status.RUNNING, "runner": this_process()}


def under_way(store: Store, *, planned_s: float, amount: int | None, goes_s: float, interval_ms: int = 250) -> str:
    """A test that was planned to take `planned_s` at the longest, and goes since `goes_s`."""
    plan = make_plan("mixed-70-30", runtime_s=planned_s)
    test = replace(plan.tests[0], amount_bytes=amount, interval_ms=interval_ms)
    return record_run(store, plan=replace(plan, tests=(test,)), stop_in=(0, goes_s / planned_s), **GOING)


def test_a_test_that_time_ends_has_its_time(store: Store) -> None:
    seen = RunReader(store, under_way(store, planned_s=60.0, amount=None, goes_s=3.0)).snapshot
    assert seen.span_s == seen.record.planned.seconds


@pytest.mark.parametrize(("goes_s", "least", "most"), [(1.0, 5.0, 10.0), (30.0, 30.0, 46.0)])
def test_a_test_that_an_amount_ends_grows_with_what_was_measured(
    store: Store, goes_s: float, least: float, most: float
) -> None:
    seen = RunReader(store, under_way(store, planned_s=400.0, amount=1 << 30, goes_s=goes_s)).snapshot
    assert least <= seen.span_s <= most
    assert seen.span_s >= seen.track.seconds


def test_so_does_the_laying_out(store: Store) -> None:
    plan = make_plan("quick")
    assert plan.layout
    slow = replace(plan, layout=replace(plan.layout, runtime_s=900.0))
    steps = recording(store, plan=slow, stop_in=(0, 0.1), **GOING)
    run_id = next(steps)
    next(steps)
    seen = RunReader(store, run_id).snapshot
    assert seen.track.preparing
    assert seen.span_s <= 10.0


async def test_what_says_something_once_a_second_is_not_silent_after_two(bench: Bench, store: Store) -> None:
    run_id = under_way(store, planned_s=20.0, amount=1 << 30, goes_s=3.0, interval_ms=1000)
    async with open_bench(bench) as pilot:
        await press(pilot, "2")
        store.append(run_id, progress=Progress(0, Phase.MEASURING, 0.5, 0.1, 30.0, 10**10, silent_s=2.4))
        await see(pilot, "measuring 50%")
        assert "no status" not in text_of(pilot)
        store.append(run_id, progress=Progress(0, Phase.MEASURING, 0.5, 0.1, 30.0, 10**10, silent_s=3.2))
        await see(pilot, "! no status for 3 s")
