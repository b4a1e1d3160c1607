"""What it cost to wait until data was safe: fsync latency, which completion latency does not hold (F8)."""

from diskprof.model.run import Latency, Run
from diskprof.model.units import format_latency

_FIGURES = (("p50", "p50"), ("p99", "p99"), ("p99_9", "p99.9"), ("max", "max"))


def sync_sentences(run: Run) -> list[str]:
    """A sentence for each test that synced: `wal: fdatasync after writes took 1.21 ms in the mean (p50 1.10 ms, ...).`"""
    found = []
    for test in run.tests:
        latency = test.result.sync if test.result else None
        if latency is None or latency.mean is None:
            continue
        call = "fdatasync" if any(job.fdatasync for job in test.planned.load.fio) else "fsync"
        found.append(
            f"{test.name}: {call} after writes took {format_latency(latency.mean)} in the mean{_rest(latency)}."
        )
    return found


def _rest(latency: Latency) -> str:
    told = [(word, getattr(latency, name)) for name, word in _FIGURES]
    words = [f"{word} {format_latency(value)}" for word, value in told if value is not None]
    return f" ({', '.join(words)})" if words else ""
