"""A search for a limit on the screen: its trials while it closes in, and when it is over."""

import pytest
from bench_screens import Bench, open_bench
from handmade import direction, fio, latency, run
from msgspec.structs import replace
from recorded import record_limit
from stored_screens import SIZES, Driver, open_runs, press, see, until

from diskprof.model.limit import LimitBy, LimitRule, Trial, TrialKind
from diskprof.model.run import Run, Status
from diskprof.presets.limit_text import parse_promise
from diskprof.store import Store
from diskprof.tui.kit.charts.chart import ChartPane
from diskprof.tui.live.limit_lines import limit_lines, search_height
from diskprof.tui.runs.result import ResultScreen

RULE = LimitRule((parse_promise("read.p99<=5ms"),))
Tried = tuple[Trial, float, float]
"""A trial, its IOPS and its p99 in ms."""
FOUND: tuple[Tried, ...] = (
    (Trial(64), 2000, 18),
    (Trial(1), 480, 2.5),
    (Trial(64, 1850), 1850, 4.2),
    (Trial(64, 1910, kind=TrialKind.FULL), 1910, 6.1),
)


def searched(*trials: Tried, rule: LimitRule = RULE, last: Status = Status.COMPLETE) -> Run:
    given = []
    for number, (trial, done, p99) in enumerate(trials):
        over = last is Status.COMPLETE or number < len(trials) - 1
        read = direction(done, seconds=3, figures=latency(1e6, p99=p99 * 1e6, p99_9=2e6 * p99)) if over else None
        test = fio(f"trial-{number}", read=read, runtime_s=3)
        status = Status.COMPLETE if over else last
        given.append(replace(test, status=status, planned=replace(test.planned, trial=trial)))
    made = run(*given, status=last)
    return replace(made, plan=replace(made.plan, limit=rule))


def drawn(made: Run, current: int = 0, width: int = 80, height: int = 20) -> list[str]:
    return ["".join(text for text, _ in line) for line in limit_lines(made, current, width, height)]


def test_the_two_loads_close_in_row_by_row() -> None:
    title, told, head, *rows = drawn(searched(*FOUND))
    assert title.startswith("Limit  read.p99<=5ms") and title.endswith("4 trials")
    assert told == "1,850 IOPS kept it in 1 of 1 trial, 1,910 did not in 1 of 1."
    assert head.split() == ["Load", "0", "500", "1k", "1.5k", "2k", "IOPS", "read.p99"]
    assert [row.count("─") for row in rows] == sorted((row.count("─") for row in rows), reverse=True)
    assert rows[0].rstrip().endswith("18.0 ms ✗") and rows[2].rstrip().endswith("4.20 ms ✓")
    assert rows[0].index("✗") > rows[3].index("✗") > rows[2].index("✓") > rows[1].index("✓")
    assert len({len(row) for row in rows}) == 1 and len(rows) + 3 == search_height(searched(*FOUND))


def test_a_disk_that_did_nothing_has_an_axis_too() -> None:
    _, told, head, row = drawn(searched((Trial(64), 0, 4000)))
    assert told == "0 IOPS (all that QD64 does) did not keep it in 1 of 1 trial."
    assert head.split()[:2] == ["Load", "0"] and row.index("✗") < 20


def test_a_load_just_below_a_round_one_has_an_axis_too() -> None:
    head = drawn(searched((Trial(64), 299.99999999999994, 9)))[2]
    assert head.split()[:4] == ["Load", "0", "100", "200"]


def test_what_has_no_room_is_left_out() -> None:
    many = searched(*FOUND, *[(Trial(64, 1900 - rate), 1900 - rate, 4) for rate in range(8)])
    rows = drawn(many, current=11, height=8)[3:]
    assert [row.split()[0] for row in rows[:-1]] == ["8", "9", "10", "11"] and rows[-1].startswith("▸12")
    assert drawn(many, current=0, height=8)[3].startswith("▸ 1")
    assert drawn(many, width=40) == drawn(many, height=3) == []
    two = replace(RULE, promises=(*RULE.promises, parse_promise("read.p99.9<=20ms")))
    both = drawn(searched(*FOUND, rule=two), width=120)
    assert "read.p99  read.p99.9" in both[2] and "4.20 ms     8.40 ms ✓" in both[5]
    assert "read.p99.9" not in drawn(searched(*FOUND, rule=two), width=60)[2]


def test_depths_stand_by_their_logarithm_and_a_trial_that_has_not_ended_says_so() -> None:
    rule = replace(RULE, by=LimitBy.DEPTH)
    made = searched((Trial(64), 2000, 18), (Trial(1), 480, 2.5), (Trial(8), 0, 0), rule=rule, last=Status.RUNNING)
    title, told, head, *rows = drawn(made, current=2)
    assert title.endswith("trial 3 of at most 12") and told.startswith("QD1 (480 IOPS) kept it in 1 of 1 trial")
    assert head.split()[1:8] == ["1", "2", "4", "8", "16", "32", "64"]
    assert "being tried" in rows[2] and rows[2].index("▶") == head.index("8")
    stopped = drawn(searched(*FOUND, last=Status.CANCELLED))
    assert "cancelled" in stopped[-1] and "■" in stopped[-1]


@pytest.mark.parametrize("size", SIZES)
async def test_live_shows_the_trials_and_the_course_of_one(bench: Bench, store: Store, size: tuple[int, int]) -> None:
    record_limit(store, trials=2)
    async with open_bench(bench, size) as pilot:
        await press(pilot, "2")
        await see(pilot, "Limit read.p99<=2ms", "Trial 3", "trial 3 of at most 12", "being tried", "V Overview")
        await press(pilot, "V")
        await until(pilot, lambda: chart_of(pilot).startswith("IOPS"))
        await press(pilot, "V")
        await see(pilot, "being tried")


async def test_a_search_that_is_over_begins_with_its_trials(store: Store) -> None:
    record_limit(store)
    async with open_runs(store.path) as pilot:
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ResultScreen))
        await see(pilot, "kept it in", "did not in", "1 QD64", "2 QD1")
        assert chart_of(pilot).count("✓") > 2
        await press(pilot, "enter")
        await until(pilot, lambda: chart_of(pilot).startswith("IOPS"))


async def test_the_load_curve_takes_the_place_of_the_trials(store: Store) -> None:
    record_limit(store, curve=5)
    async with open_runs(store.path) as pilot:
        await press(pilot, "enter")
        await see(pilot, "Latency by load", "p99 doubles between", "Other view")
        assert "QD64" not in chart_of(pilot)
        await press(pilot, "X")
        await until(pilot, lambda: "1 QD64" in chart_of(pilot) and "curve" not in chart_of(pilot))
        await press(pilot, "X")
        await until(pilot, lambda: "Latency by load" in chart_of(pilot))


async def test_compare_draws_the_load_curves_of_searches_into_one_chart(store: Store) -> None:
    ids = [record_limit(store, curve=5, run_id=f"c4t8h3w{at}", factor=factor) for at, factor in enumerate((1.0, 0.8))]
    plain = record_limit(store, run_id="c4t8h3w2")
    async with open_runs(store.path) as pilot:
        pilot.app.compare_runs(ids)  # type: ignore[attr-defined]
        await see(pilot, "Latency by load: p99", "by IOPS", "p99 doubles from")
        drawn = chart_of(pilot)
        await press(pilot, "m")
        await until(pilot, lambda: "latency by percentile" in chart_of(pilot))
        await press(pilot, "m", "m", "m", "m", "m")
        await until(pilot, lambda: chart_of(pilot) == drawn)
        pilot.app.compare_runs([ids[0], plain])  # type: ignore[attr-defined]
        await until(pilot, lambda: "latency by percentile" in chart_of(pilot))


def chart_of(pilot: Driver) -> str:
    return pilot.app.screen.query_one(ChartPane).text
