"""Where runs wait for each other: let go, stopped, or left alone."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from recorded import FAST, make_plan

from diskprof.model.run import Status
from diskprof.runner.carry.barrier import wait_for_others
from diskprof.store import Store


@pytest.fixture
def run_id(store: Store) -> str:
    return store.create_run(make_plan(), FAST.environment, barrier=True)


async def test_it_goes_on_when_it_is_let_go(store: Store, run_id: str) -> None:
    waiting = asyncio.create_task(wait_for_others(store, run_id, asyncio.Event()))
    await asyncio.sleep(0)
    barrier = store.barriers.of(run_id)
    assert barrier and barrier.ready_at and not barrier.passed_at
    moment = datetime.now(UTC) + timedelta(milliseconds=80)
    store.barriers.let_go(run_id, moment)
    assert await waiting is None
    barrier = store.barriers.of(run_id)
    assert barrier and barrier.passed_at and barrier.go_at == moment


async def test_stopped_it_was_cancelled(store: Store, run_id: str) -> None:
    stop = asyncio.Event()
    waiting = asyncio.create_task(wait_for_others(store, run_id, stop))
    await asyncio.sleep(0)
    stop.set()
    outcome = await waiting
    assert outcome and outcome.status is Status.CANCELLED


async def test_alone_it_ends_by_itself(store: Store, run_id: str) -> None:
    outcome = await wait_for_others(store, run_id, asyncio.Event(), alone_s=0.1)
    assert outcome and outcome.status is Status.FAILED
    assert "coordinator was not heard of" in outcome.reason


def test_a_run_without_a_barrier_has_none(store: Store) -> None:
    assert store.barriers.of(store.create_run(make_plan(), FAST.environment)) is None
