"""A disk of known latency: a file system (FUSE) of one file, whose reads are served by a few servers, one after the other.

`model_disk(directory)` mounts it. Times of service are random (exponential): a queue that theory knows (M/M/c). It needs root, and
libfuse3.
"""

import errno
import heapq
import os
import random
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp, factorial
from pathlib import Path
from typing import Any

_NAME = "disk"
_PRIORITY = 20
"""The disk waits for no other program, or its latency would be that of the machine."""


@dataclass(frozen=True)
class Queue:
    """`servers`, each of which takes `service_s` for an I/O on average."""

    servers: int = 4
    service_s: float = 0.002
    size: int = 256 << 20

    @property
    def most(self) -> float:
        """I/Os a second."""
        return self.servers / self.service_s

    def slower(self, rate: float, seconds: float) -> float:
        """The share of I/Os, sent at random at this rate, that take longer."""
        mu, load = 1 / self.service_s, rate * self.service_s
        full = load**self.servers / factorial(self.servers) / (1 - load / self.servers)
        waits = full / (sum(load**k / factorial(k) for k in range(self.servers)) + full)
        drain = self.servers * mu - rate
        if abs(drain - mu) < 1e-6 * mu:
            drain *= 1 + 1e-6
        both = mu / (mu - drain) * (exp(-drain * seconds) - exp(-mu * seconds)) + exp(-mu * seconds)
        return (1 - waits) * exp(-mu * seconds) + waits * both

    def quantile_s(self, rate: float, share: float) -> float:
        """The latency that this share of the I/Os keeps at a rate."""
        low, high = 0.0, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.slower(rate, middle) > 1 - share else (low, middle)
        return high

    def rate_at(self, share: float, seconds: float) -> float:
        """The highest rate at which this share keeps a latency."""
        low, high = 1.0, self.most * (1 - 1e-6)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.quantile_s(middle, share) <= seconds else (low, middle)
        return low


@contextmanager
def model_disk(directory: Path, queue: Queue) -> Iterator[Path]:
    """The path of the file, as long as it lasts. Raises RuntimeError where it cannot be mounted."""
    mount = directory / "mount"
    mount.mkdir()
    words = [sys.executable, __file__, str(mount), str(queue.servers), str(queue.service_s), str(queue.size)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            _wait(server, mount / _NAME)
            yield mount / _NAME
        finally:
            subprocess.run(["fusermount3", "-u", "-z", str(mount)], check=False, capture_output=True)
            server.terminate()


def _wait(server: "subprocess.Popen[str]", file: Path) -> None:
    end = time.monotonic() + 30
    while not file.exists():
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the model disk cannot be mounted: {server.stderr.read() if server.stderr else ''}")
        time.sleep(0.02)


def _serve(mount: str, servers: int, service_s: float, size: int) -> None:
    from mfusepy import FUSE, FuseOSError, Operations

    class Disk(Operations):  # type: ignore[misc, unused-ignore]
        """Each read waits until the server that is free first has served it."""

        use_ns = True

        def __init__(self) -> None:
            self._free = [0.0] * servers
            self._lock = threading.Lock()
            self._chance = random.Random(7)
            self._data = random.Random(8).randbytes(1 << 20)

        def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
            if path == "/":
                return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
            if path != f"/{_NAME}":
                raise FuseOSError(errno.ENOENT)
            return {"st_mode": stat.S_IFREG | 0o444, "st_nlink": 1, "st_size": size, "st_blocks": size // 512}

        def readdir(self, path: str, fh: int) -> list[str]:
            return [".", "..", _NAME]

        def open(self, path: str, flags: int) -> int:
            return 1

        def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
            now = time.monotonic()
            with self._lock:
                ends = max(now, heapq.heappop(self._free)) + self._chance.expovariate(1 / service_s)
                heapq.heappush(self._free, ends)
            left = ends - time.monotonic()
            if left > 0:
                time.sleep(left)
            return self._data[:size]

        def init_with_config(self, connection: Any, config: Any) -> None:
            config.direct_io = 1

    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    FUSE(Disk(), mount, foreground=True, nothreads=False, ro=True, max_idle_threads=80)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
