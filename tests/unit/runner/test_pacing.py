"""Progress by a clock."""

import pytest
from msgspec.structs import replace
from recorded import make_plan

from diskprof.model.sample import Direction, Phase, Sample
from diskprof.runner.carry.progress import ProgressMeter


class Clock:
    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        return self.ns

    def pass_s(self, seconds: float) -> None:
        self.ns += round(seconds * 1e9)


def test_progress_goes_from_layout_to_the_last_test_and_never_reaches_one_early() -> None:
    plan, clock = make_plan(), Clock()
    assert plan.layout is not None
    pace = ProgressMeter(plan, clock)
    pace.begin(0, plan.layout, Phase.PREPARING)
    clock.pass_s(1)
    half = (plan.layout.amount_bytes or 0) // 2
    pace.heard([Sample(0, Phase.PREPARING, Direction.WRITE, clock.ns, 10**9, 1, half)])
    laying_out = pace.progress()
    assert laying_out.phase is Phase.PREPARING
    assert laying_out.fraction == pytest.approx(0.5)
    assert laying_out.remaining_s == pytest.approx(1 + sum(test.seconds + 0.3 for test in plan.tests), abs=0.1)
    seen = [laying_out.overall]
    for index, test in enumerate(plan.tests):
        pace.begin(index, test, Phase.MEASURING)
        clock.pass_s(test.seconds)
        seen.append(pace.progress().overall)
    assert seen == sorted(seen)
    assert 0.9 < seen[-1] < 1


def test_silence_is_counted_and_an_overdue_test_does_not_go_backwards() -> None:
    plan, clock = make_plan(), Clock()
    pace = ProgressMeter(plan, clock)
    pace.begin(len(plan.tests) - 1, plan.tests[-1], Phase.MEASURING)
    clock.pass_s(plan.tests[-1].seconds + 100)
    late = pace.progress()
    assert late.silent_s == pytest.approx(plan.tests[-1].seconds + 100)
    assert late.fraction < 1 and late.overall < 1
    assert late.remaining_s == 0


def test_the_delay_of_a_job_is_a_part_of_its_time() -> None:
    plan, clock = make_plan(), Clock()
    test = replace(plan.tests[-1], delay_s=10.0, ramp_s=10.0, runtime_s=20.0)
    pace = ProgressMeter(replace(plan, tests=(*plan.tests[:-1], test)), clock)
    pace.begin(len(plan.tests) - 1, test, Phase.MEASURING)
    clock.pass_s(10)
    assert pace.progress().phase is Phase.WARMING
    assert pace.progress().fraction == pytest.approx(0.5)
    assert pace.progress().remaining_s == pytest.approx(30.3)
