"""What an earlier run measured of the same test on the same disk."""

from datetime import datetime

from msgspec import Struct

from diskprof.model.sample import Direction


class EarlierResult(Struct, frozen=True):
    """One direction of one test of an earlier run. Rates per second, latencies in ns; None where the engine gave none.

    `sync_mean_ns` is that of the test's fsyncs.
    """

    run_id: str
    started_at: datetime
    test: str
    direction: Direction
    iops: float
    bandwidth_bytes_per_s: float
    latency_mean_ns: float | None = None
    sync_mean_ns: float | None = None
