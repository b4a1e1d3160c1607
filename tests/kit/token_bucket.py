"""A volume with burst credits (F41): a thread takes from a bucket what was done, and sets the limit by what is left."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from throttle import Volume

_TICK_S = 0.02
_BURST_FROM_S = 0.5
"""An empty bucket allows a burst again when it holds what so long a refill gives."""


@contextmanager
def token_bucket(volume: Volume, *, size: int, burst: int, refill: int, way: str = "read") -> Iterator[None]:
    """The volume does `burst` IOPS while the bucket of `size` I/Os, filled with `refill` a second, is not empty, else `refill`."""
    counter = Path(f"/sys/block/{volume.name}/stat")
    over = threading.Event()

    def ios() -> int:
        return int(counter.read_text().split()[0 if way == "read" else 4])

    def work() -> None:
        tokens, done, at, fast = float(size), ios(), time.monotonic(), True
        while not over.wait(_TICK_S):
            now, seen = time.monotonic(), ios()
            tokens = min(size, tokens + refill * (now - at) - (seen - done))
            at, done = now, seen
            if fast != (tokens > (0.0 if fast else refill * _BURST_FROM_S)):
                fast = not fast
                volume.throttle.limit(way, iops=burst if fast else refill)

    volume.throttle.limit(way, iops=burst)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
