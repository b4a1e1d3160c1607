"""Like runs in a store, one a day, of which only the figures matter; and the noise that real runs have."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from handmade import direction
from msgspec.structs import replace
from recorded import FAST, FIRST_START, make_plan

from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.run import Environment, Status, TestResult
from diskprof.runner.carry.begin import environment_of
from diskprof.runner.session import Place, Session, Wish
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


def recorded_noise() -> dict[str, list[float]]:
    """IOPS of real runs without a change between them, by what they ran on (tests/data/noise.json)."""
    found: dict[str, list[float]] = json.loads((Path(__file__).parents[1] / "data" / "noise.json").read_text())
    return found


def plan_here(directory: Path, *settings: str, preset: str) -> tuple[Plan, Environment]:
    """A plan of a shipped preset on a directory of this machine, and the machine as a run of it would record it."""
    session = Session()
    tree = session.scan()
    library = session.load_library()
    wish = Wish(library.get(preset), Place(path=str(directory)), tree, dict(each.split("=") for each in settings))
    plan = session.plan_of(wish)
    return plan, environment_of(plan, tree, directory / "runs.db")
