"""When the runner wakes by itself: where no samples come, and not beside those that do."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from diskprof.runner.carry import execute
from diskprof.runner.carry.watches import LapseWatch


class Half(execute._Execution):
    """An execution of which only the ticks are there; it notes when it looked after the run."""

    def __init__(self, *, watches: bool) -> None:
        self.lapse_watch = LapseWatch(execute._TICK_S)
        self.meter, self.space, self.disks = Paced(), Space(watches), Disks()  # type: ignore[assignment]
        self._interval_s, self._until_tick = 0.3, None
        self.looked: list[float] = []
        self.has_looked = asyncio.Event()

    def _notice_lapses(self) -> None:
        assert self.lapse_watch.turn() == ()

    def _look_after(self) -> None:
        self.looked.append(asyncio.get_running_loop().time())
        self.has_looked.set()

    def _look_at_disks(self) -> None:
        pass

    def _append(self, samples: Any = (), spent: object = None) -> None:
        pass


class Paced:
    def heard(self, _samples: Any) -> None:
        pass


@dataclass(frozen=True)
class Disks:
    complaint: str = ""


@dataclass(frozen=True)
class Space:
    watches: bool


@pytest.mark.parametrize("watches", [False, True])
async def test_a_sample_puts_the_next_tick_off_where_no_space_is_watched(
    watches: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "_TICK_S", 0.01)
    half = Half(watches=watches)
    ticker = asyncio.create_task(half._tick())
    try:
        # After each look the next tick has begun to wait before anybody else has a turn.
        await half.has_looked.wait()
        half.has_looked.clear()
        sampled = asyncio.get_running_loop().time()
        half._keep((), None)
        assert half.lapse_watch.usual_s == (0.01 if watches else pytest.approx(0.36))
        due = half._until_tick.when() if half._until_tick else None
        assert due is not None
        assert due - sampled <= 0.01 if watches else due - sampled >= 0.36
        await half.has_looked.wait()
        assert half.looked[-1] >= due - 1e-6  # the resolution of the clock
        assert half.lapse_watch.usual_s == 0.01, "nothing came: from now on by the clock"
    finally:
        ticker.cancel()
        with suppress(asyncio.CancelledError):
            await ticker
