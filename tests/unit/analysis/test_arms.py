"""Several runs a side: what is taken together, its interval and verdict, and conditions that differ within a side."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from handmade import direction, environment, fio, ioping, latency, run, samples
from msgspec.structs import replace

from diskprof.analysis.arms import Arm, labels, require_comparable
from diskprof.analysis.between_runs import USUAL_RUNS, ratio_of_medians
from diskprof.analysis.comparison import ComparedValue, compare
from diskprof.analysis.metrics import Measure
from diskprof.model.errors import UsageError
from diskprof.model.metric import Change
from diskprof.model.run import Run, Status
from diskprof.model.sample import Direction

START = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
BEFORE = (10_000.0, 10_100.0, 9_900.0, 10_050.0, 9_950.0)


def arm(label: str, iops: Sequence[float], **more: object) -> Arm:
    runs = (
        run(fio("a", read=direction(each)), run_id=f"{label}{at}", **more)  # type: ignore[arg-type]
        for at, each in enumerate(iops)
    )
    return Arm(tuple(runs), label)


def iops_of(before: Arm | Run, after: Arm | Run, metric: Measure = Measure.IOPS) -> ComparedValue:
    row = compare((before, after)).tests[0].row(metric, Direction.READ)
    assert row is not None
    return row.cells[1]


def test_the_figure_of_an_arm_is_its_median_and_the_verdict_that_of_the_interval_between_runs() -> None:
    after = tuple(0.92 * each for each in BEFORE)
    found = iops_of(arm("before", BEFORE), arm("after", after))

    assert found.value == 9_200
    assert found.values == after
    assert found.ratio == pytest.approx(-0.08)
    assert found.interval == ratio_of_medians(BEFORE, after).change_interval
    assert (found.verdict, found.more_runs) == (Change.WORSE, None)


def test_one_slow_run_of_five_is_not_left_out_and_decides_nothing() -> None:
    slow = (*BEFORE[:4], 4_000.0)

    assert iops_of(arm("before", BEFORE), arm("after", slow)).verdict is Change.UNCLEAR
    assert iops_of(arm("before", slow), arm("after", [2 * each for each in BEFORE])).verdict is Change.BETTER


def test_equal_arms_are_the_same_or_it_is_said_how_many_runs_would_tell() -> None:
    calm = [10_000 + each for each in (0, 10, 20, 30, 40)]
    assert iops_of(arm("before", calm), arm("after", calm)).verdict is Change.SAME
    wild = (10_000.0, 11_000.0, 9_000.0, 10_500.0, 9_500.0)
    unclear = iops_of(arm("before", wild), arm("after", wild))
    assert unclear.verdict is Change.UNCLEAR
    assert unclear.more_runs and unclear.more_runs > 20


def test_two_runs_that_differ_by_less_than_runs_may_are_not_told_apart() -> None:
    one, other = arm("before", BEFORE[:1]), arm("after", (10_800.0,))
    assert iops_of(one, other).verdict is Change.BETTER
    taken = {name: samples([8_000, 12_000] * 10) for name in ("before0", "after0")}
    row = compare((one, other), taken).tests[0].row(Measure.IOPS)
    assert row
    assert (row.cells[1].verdict, row.cells[1].more_runs) == (Change.UNCLEAR, USUAL_RUNS - 1)


def test_what_the_runs_themselves_leave_open_widens_the_interval_of_runs_that_agree_by_luck() -> None:
    alike, other = arm("before", [10_000.0] * 3), arm("after", [10_400.0] * 3)
    assert iops_of(alike, other).verdict is Change.BETTER
    taken = {each.id: samples([8_000] * 10 + [12_000] * 10) for side in (alike, other) for each in side.runs}
    row = compare((alike, other), taken).tests[0].row(Measure.IOPS)
    assert row and row.cells[1].interval
    assert row.cells[1].interval.low < 0 < row.cells[1].interval.high
    assert row.cells[1].verdict is Change.UNCLEAR
    # A token bucket evens out: what one interval has less, the next has more.
    bucket = {each.id: samples([5_000, 15_000] * 10) for side in (alike, other) for each in side.runs}
    row = compare((alike, other), bucket).tests[0].row(Measure.IOPS)
    assert row and row.cells[1].verdict is Change.BETTER


def test_iopings_iops_and_mean_have_one_verdict_between_runs_too() -> None:
    def pinged(label: str, means: Sequence[float]) -> Arm:
        runs = (
            run(ioping("p", read=direction(1e9 / mean, figures=latency(mean))), run_id=f"{label}{at}")
            for at, mean in enumerate(means)
        )
        return Arm(tuple(runs), label)

    before, after = pinged("b", [1e5, 1.1e5, 1.2e5, 0.9e5]), pinged("a", [1.15e5, 1.3e5, 2.4e5, 1.05e5])
    cells = [iops_of(before, after, metric) for metric in (Measure.IOPS, Measure.BANDWIDTH, Measure.LATENCY_MEAN)]
    assert len({(each.verdict, each.more_runs) for each in cells}) == 1
    two = [Arm((run(ioping("p", read=replace(direction(1e4), ios=2)), run_id=name),), name) for name in ("x", "y")]
    assert iops_of(*two).verdict is None


def test_conditions_that_differ_within_an_arm_are_told_as_those_between() -> None:
    mixed = Arm(
        (
            *arm("n", BEFORE[:2], environment=environment(kernel="6.2")).runs,
            *arm("o", BEFORE[:1], environment=environment(kernel="6.1")).runs,
        ),
        "mixed",
    )
    found = compare((mixed, arm("after", BEFORE, environment=environment(kernel="6.2")))).conditions
    assert [(each.name, each.values) for each in found] == [("kernel", ("6.2 (2 of 3), 6.1 (1 of 3)", "6.2"))]


def test_options_that_differ_within_an_arm_are_told_too() -> None:
    def of(depth: int, name: str) -> Run:
        return run(fio("a", depth=depth, read=direction(1e4)), fio("b", read=direction(1e4)), run_id=name)

    comparison = compare((Arm((of(8, "x"), of(16, "y")), "mixed"), of(8, "z")))
    (option,) = comparison.tests[0].options
    assert (option.option, option.values) == ("iodepth", ("8 (1 of 2), 16 (1 of 2)", "8"))


def test_only_runs_that_completed_a_test_count_and_the_others_are_counted() -> None:
    broken = run(fio("a", status=Status.FAILED, read=direction(1.0)), run_id="x", status=Status.FAILED)
    lacking = run(fio("b", read=direction(1.0)), run_id="y")
    side = Arm((*arm("before", BEFORE).runs, broken, lacking), "before")
    test = compare((side, arm("after", BEFORE))).tests[0]
    assert (test.statuses, test.lacking) == ((Status.COMPLETE, Status.COMPLETE), (2, 0))
    row = test.row(Measure.IOPS)
    assert row and row.cells[0].values == BEFORE


def test_an_arm_is_called_by_its_own_name_and_a_run_beside_it_as_ever() -> None:
    alone = replace(run(fio("a", read=direction(1.0)), run_id="z"), tags=("tuned",))
    assert labels((arm("before", BEFORE), alone)) == ("before", "tuned")


def test_the_typical_run_is_the_one_in_the_middle() -> None:
    assert arm("before", BEFORE).typical("a").id == "before0"
    assert arm("before", BEFORE).typical("none").id == "before0"


def test_what_cannot_be_compared_is_an_error_that_says_why() -> None:
    with pytest.raises(UsageError, match="at least two"):
        require_comparable([arm("before", BEFORE)])
    other = Arm((run(fio("b", read=direction(1.0))),), "after")
    with pytest.raises(UsageError, match="before and after share no test"):
        require_comparable([arm("before", BEFORE), other])


def test_arms_that_took_turns_are_compared_pair_by_pair() -> None:
    """Both sides slow down by a tenth; one after the other is worse, taking turns is the same."""

    def at(turns: Sequence[int], label: str) -> Arm:
        runs = (
            replace(
                run(fio("a", read=direction(10_000 * (1 - 0.1 * turn / 9))), run_id=f"{label}{turn}"),
                started_at=START + timedelta(minutes=turn),
            )
            for turn in turns
        )
        return Arm(tuple(runs), label)

    assert iops_of(at((0, 3, 4, 7, 8), "a"), at((1, 2, 5, 6, 9), "b")).verdict is Change.SAME
    assert iops_of(at(range(5), "a"), at(range(5, 10), "b")).verdict is Change.WORSE
    # The second always after the first: a drift would be taken for a difference.
    assert iops_of(at(range(0, 10, 2), "a"), at(range(1, 10, 2), "b")).verdict is Change.UNCLEAR


FALLING = (
    (0, 4_999),
    (1, 4_941),
    (1, 4_888),
    (0, 4_836),
    (0, 4_771),
    (1, 4_726),
    (1, 4_666),
    (0, 4_616),
    (0, 4_556),
    (1, 4_493),
)
"""Recorded: IOPS of runs of 3 s that took turns on a volume whose limit fell from 5,000 to 4,500."""


def test_a_limit_that_is_handed_out_in_slices_makes_runs_that_agree_no_less_sure() -> None:
    """In 3 s there are 30 slices: the halves of a run are one of fifteen apart, its figure is exact."""

    def side(number: int) -> Arm:
        runs = (
            replace(
                run(fio("a", read=direction(iops)), run_id=f"{number}-{at}"), started_at=START + timedelta(minutes=at)
            )
            for at, (of, iops) in enumerate(FALLING)
            if of == number
        )
        return Arm(tuple(runs), str(number))

    sides = side(0), side(1)
    slices = samples([iops for half in (15.5, 14.5) for iops in [half / 15 * 4_750] * 5], interval_s=0.3)
    row = compare(sides, {each.id: slices for arm in sides for each in arm.runs}).tests[0].row(Measure.IOPS)

    assert row and row.cells[1].verdict is Change.SAME
