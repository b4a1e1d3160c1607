"""The distributions of a test by interval."""

import pytest
from msgspec.structs import replace
from recorded import FAST, make_plan

from diskprof.model.histogram import Histogram
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.reports.charts.axes import LogScale
from diskprof.store import Store, this_process
from diskprof.tui.live import depths as depths_module
from diskprof.tui.live.depths import Depths

MS = 1_000_000
PAUSE = range(20, 24)
"""Intervals of 250 ms in which nothing was measured."""


def interval(number: int) -> Sample:
    """Of a clock of the engine that is 20 ms in 250 behind ours."""
    taken = Sample(0, Phase.MEASURING, Direction.READ, (number + 1) * 250 * MS, 230 * MS, 100, 409_600)
    return replace(taken, mean_ns=1e5, min_ns=90_000, max_ns=110_000, histogram=Histogram.of({200: 100}))


def stored(store: Store, numbers: list[int]) -> str:
    run_id = store.create_run(make_plan(runtime_s=10), FAST.environment, runner=this_process())
    store.begin_test(run_id, 0, 0)
    store.append(run_id, samples=[interval(number) for number in numbers])
    return run_id


def test_two_clocks_leave_no_slits_in_the_map_and_a_pause_stays(store: Store) -> None:
    numbers = [number for number in range(40) if number not in PAUSE]
    depths = Depths(store, stored(store, numbers), 0, preparing=False)
    while depths.read():
        pass
    heat = depths.heat(Direction.READ)
    columns, seconds = 998, 9.98
    rows = heat.shades(columns, seconds, 4, LogScale.of(*(heat.range_ns or (1, 1))))
    blank = [at / columns * seconds for at, column in enumerate(zip(*rows, strict=True)) if not any(column)]
    assert blank, "the pause is not to be seen"
    assert min(blank) == pytest.approx(4.98, abs=0.03)
    assert max(blank) == pytest.approx(5.98, abs=0.03)
    assert len(blank) == pytest.approx(100, abs=5)


def test_what_follows_scattered_intervals_leaves_no_slit_either(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depths_module, "_MANY", 30)
    run_id = stored(store, list(range(40)))
    depths = Depths(store, run_id, 0, preparing=False)
    while depths.read():
        pass
    store.append(run_id, samples=[interval(40), interval(41)])
    while depths.read():
        pass
    late = depths.heat(Direction.READ).slices[-2:]
    assert [piece.start for piece in late] == pytest.approx([9.98, 10.23])
