"""The trials of a search: the test that each one is."""

from recorded import limit_plan

from diskprof.model.limit import Trial, TrialKind
from diskprof.runner.carry.limit_watch import planned_trial


def test_the_first_load_again_is_another_test() -> None:
    plan = limit_plan()
    rule, first = plan.limit, plan.tests[0]
    assert rule and first.trial
    assert planned_trial(rule, first, first.trial, 1) == first
    again = planned_trial(rule, first, first.trial, 2)
    assert (again.name, again.title) == (f"{first.name}-2", f"{first.title} (2)")
    assert (again.trial, again.bytes_written, again.runtime_s) == (first.trial, first.bytes_written, first.runtime_s)
    assert planned_trial(rule, first, Trial(first.trial.depth, kind=TrialKind.FULL), 2).runtime_s == rule.full_s
