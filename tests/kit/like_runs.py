"""Like runs in a store, one a day, of which only the figures matter; and the noise that real runs have."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from handmade import direction
from recorded import FAST, FIRST_START, make_plan

from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.run import Environment, Status, TestResult
from diskprof.store import Store

IOPS = {"randread-4k-qd1": 17_900.0, "randread-4k-qd32": 284_000.0, "randwrite-4k-qd1": 61_500.0}


def short_plan() -> Plan:
    """The quick check with its first random read alone."""
    plan = make_plan()
    tests = tuple(test for test in plan.tests if test.name == "randread-4k-qd1")
    assert tests
    return replace(plan, tests=tests)


def record_like_runs(
    store: Store,
    factors: Sequence[float],
    *,
    plan: Plan | None = None,
    environment: Environment = FAST.environment,
    tags: Sequence[str] = (),
    first_day: int = 0,
) -> list[str]:
    """A complete run a day for each factor of the usual IOPS, which the latency follows; returns their ids."""
    plan = plan or short_plan()
    ids = []
    for day, factor in enumerate(factors, start=first_day):
        started = FIRST_START + timedelta(days=day)
        run_id = store.create_run(plan, environment, started_at=started, tags=tags)
        for index, test in enumerate(plan.tests):
            store.finish_test(run_id, index, status=Status.COMPLETE, at_ns=10**9, result=_result(test, factor))
        store.finish_run(run_id, status=Status.COMPLETE, ended_at=started + timedelta(seconds=30))
        ids.append(run_id)
    return ids


def _result(test: PlannedTest, factor: float) -> TestResult:
    job = test.load.fio[0]
    part = direction(IOPS.get(test.name, 5_000.0) * factor, block=job.block_size)
    return TestResult(read=part) if job.reads_only else TestResult(write=part)
