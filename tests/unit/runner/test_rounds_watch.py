"""Rounds of tests: when they are steady, and what each test has come to with each."""

from handmade import cell, direction, run
from msgspec.structs import replace

from diskprof.engines.events import Outcome
from diskprof.model.metric import parse_metric
from diskprof.model.run import Status, TestResult
from diskprof.model.steady import RoundsRule
from diskprof.runner.carry.rounds_watch import RoundsWatch

MADE = run(cell(1.0, {"bs": "8k"}), cell(1.0, {"bs": "4k"}))
RULE = RoundsRule(MADE.tests[1].name, parse_metric("read.iops"), windows=2, range=0.2, slope=0.2, at_most=4)
PLAN = replace(MADE.plan, rounds=RULE)


def carried_out(*rounds: tuple[float, float]) -> tuple[RoundsWatch, list[tuple[int, TestResult, bytes]]]:
    """A watch after rounds with these IOPS of both tests, and what each has come to with the last."""
    watch, ends = RoundsWatch(PLAN, RULE), []
    for number, values in enumerate(rounds):
        for index, iops in enumerate(values):
            at_ns = (10 * number + index) * 10**9
            outcome = Outcome(Status.COMPLETE, "", TestResult(direction(iops, seconds=1.0)), b"last")
            watch.hear(outcome, at_ns, at_ns + 10**9)
        ends = list(watch.close())
    return watch, ends


def test_the_tracked_test_decides_and_all_results_are_of_the_same_rounds() -> None:
    watch, _ = carried_out((100.0, 1000.0), (100.0, 500.0))
    assert not watch.reached and not watch.over and watch.number == 3
    watch, ends = carried_out((100.0, 1000.0), (100.0, 500.0), (900.0, 520.0))
    assert watch.reached and watch.over
    assert [index for index, *_ in ends] == [0, 1]
    for index, result, document in ends:
        steady = result.steady
        assert steady and steady.reached and steady.count == 2 and document == b"last"
        assert (steady.begin_ns, steady.end_ns) == ((10 + index) * 10**9, (21 + index) * 10**9)
        assert result.read and [each.iops for each in result.read.rounds] == list(steady.values)
    assert ends[1][1].steady and ends[1][1].steady.values == (1000.0, 500.0, 520.0)


def test_it_ends_after_the_most_rounds_unsteady() -> None:
    watch, ends = carried_out(*[(1.0, 100.0 if number % 2 else 900.0) for number in range(4)])
    assert watch.over and not watch.reached
    steady = ends[0][1].steady
    assert steady and not steady.reached and len(steady.values) == 4
