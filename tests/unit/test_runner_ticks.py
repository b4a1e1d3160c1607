"""When the runner wakes by itself: where no samples come, and not beside those that do."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from diskprof.model.sample import Phase
from diskprof.runner import execute
from diskprof.runner.lapses import LapseWatch


class Half(execute._Execution):
    """An execution of which only the ticks are there; it notes when it looked after the run."""

    def __init__(self, phase: Phase) -> None:
        self.lapse_watch = LapseWatch(execute._TICK_S)
        self.pace = Paced(phase)  # type: ignore[assignment]
        self._interval_s, self._until_tick = 0.3, None
        self.looked: list[float] = []
        self.has_looked = asyncio.Event()
        self.spaces = 0

    def _notice_lapses(self) -> None:
        assert self.lapse_watch.turn() == ()

    def _look_after(self) -> None:
        self.looked.append(asyncio.get_running_loop().time())
        self.has_looked.set()

    def _watch_space(self) -> None:
        self.spaces += 1

    def _append(self, samples: Any = ()) -> None:
        pass


class Paced:
    def __init__(self, phase: Phase) -> None:
        self.phase = phase

    def heard(self, _samples: Any) -> None:
        pass


@pytest.mark.parametrize(("phase", "put_off"), [(Phase.MEASURING, True), (Phase.PREPARING, False)])
async def test_a_sample_puts_the_next_tick_off_until_another_is_overdue(
    phase: Phase, put_off: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "_TICK_S", 0.01)
    half = Half(phase)
    ticker = asyncio.create_task(half._tick())
    try:
        await half.has_looked.wait()
        # The next tick has begun to wait by then.
        half.has_looked.clear()
        await half.has_looked.wait()
        half.has_looked.clear()
        await asyncio.sleep(0)
        sampled = asyncio.get_running_loop().time()
        half._keep(())
        assert half.spaces == int(put_off), "what a tick would look after, a sample does"
        assert half.lapse_watch.usual_s == (pytest.approx(0.36) if put_off else 0.01)
        due = half._until_tick.when() if half._until_tick else None
        assert due is not None
        assert due - sampled >= 0.36 if put_off else due - sampled <= 0.01
        await half.has_looked.wait()
        assert half.looked[-1] >= due - 1e-6  # the resolution of the clock
        await asyncio.sleep(0)
        assert half.lapse_watch.usual_s == 0.01, "nothing came: from now on by the clock"
    finally:
        ticker.cancel()
        with suppress(asyncio.CancelledError):
            await ticker
