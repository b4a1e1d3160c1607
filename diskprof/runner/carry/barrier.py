"""Where a run waits for those of other hosts, so that all measure at the same time."""

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from diskprof.engines.events import Outcome
from diskprof.model.errors import StoreBusy
from diskprof.model.run import Status
from diskprof.store import Store
from diskprof.store.barriers import Barrier

_LOOK_EVERY_S = 0.05
ALONE_S = 60.0
"""So long after it heard of the coordinator a run waits no more: nobody would ever let it go."""


async def wait_for_others(
    store: Store, run_id: str, stop: asyncio.Event, *, alone_s: float = ALONE_S
) -> Outcome | None:
    """Returns None when the run shall go on, or how its test ends that never began. Raises StoreError."""
    store.barriers.set_ready(run_id)
    seen = time.monotonic()
    heard: datetime | None = None
    while not stop.is_set():
        barrier = _look(store, run_id)
        if barrier and barrier.go_at:
            await _until(barrier.go_at, stop)
            if stop.is_set():
                break
            store.barriers.passed(run_id, datetime.now(UTC))
            return None
        if barrier and barrier.heard_at != heard:
            heard, seen = barrier.heard_at, time.monotonic()
        if time.monotonic() - seen > alone_s:
            return Outcome(Status.FAILED, f"The coordinator was not heard of for {alone_s:.0f} s, before the start.")
        await _pause(_LOOK_EVERY_S, stop)
    return Outcome(Status.CANCELLED, "Stopped before the start.")


def _look(store: Store, run_id: str) -> Barrier | None:
    with suppress(StoreBusy):
        return store.barriers.of(run_id)
    return None


async def _until(moment: datetime, stop: asyncio.Event) -> None:
    """By the clock of the machine, which somebody may set: no more than a minute."""
    left = min(moment - datetime.now(UTC), timedelta(minutes=1)).total_seconds()
    if left > 0:
        await _pause(left, stop)


async def _pause(seconds: float, stop: asyncio.Event) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
