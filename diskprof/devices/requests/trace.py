"""Each request to a device from now on, an interval a call."""

import time
from types import TracebackType
from typing import Self

from diskprof.devices.requests.pages import RequestEvent
from diskprof.devices.requests.sums import SECTOR, Names, RequestSums
from diskprof.devices.requests.tracefs import TraceInstance
from diskprof.devices.scan.files import SYSTEM, Roots
from diskprof.model.device import Device
from diskprof.model.requests import RequestInterval


class RequestTrace:
    """Traces until it is closed. To be read about once a second: the kernel keeps what some 100,000 requests are.

    Raises UsageError where requests cannot be traced.
    """

    def __init__(self, device: Device, roots: Roots = SYSTEM) -> None:
        self._instance = TraceInstance(device, roots)
        first = (device.start_bytes or 0) // SECTOR
        self._sums = RequestSums(device.size_bytes, first, self._instance.began_ns)
        self._names = Names(roots.proc)
        self._held: list[RequestEvent] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._instance.close()

    def read(self) -> None:
        """Takes what the kernel has, for a later `interval`."""
        self._read()

    def interval(self) -> RequestInterval | None:
        """The requests since the last call; None if no time has passed."""
        until = self._read()
        lost = self._instance.lost()
        if lost:
            self._sums.forget()
        return self._sums.take(until, lost, self._names)

    def _read(self) -> int:
        # What happens while one processor after the other is read may be out of order: it waits for the next time.
        until = time.monotonic_ns()
        events = [*self._held, *self._instance.read()]
        events.sort()
        end = len(events)
        while end and events[end - 1][0] > until:
            end -= 1
        self._sums.add(events[:end])
        self._held = events[end:]
        return until
