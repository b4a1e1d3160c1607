"""Which processes the other I/O on the disk came from."""

from collections.abc import Iterable, Sequence

from diskprof.analysis.findings.view import TestView
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import ProcessShare
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth, format_percent

LEAST_SHARE = 0.05
"""Who did less of it is not named."""
MOST = 3
"""So many are named at most."""


def culprits(view: TestView, foreign: float) -> tuple[tuple[ProcessShare, str], ...]:
    """Each with words such as `dd (pid 4242) read 40.1 MB/s, 98% of it`, the largest share first; `foreign` is all other I/O in
    bytes per second.

    What a process wrote to the page cache may come to the disk later, or not in this test: no share is more than the whole.
    """
    mine = [each for each in view.run.processes if each.test == view.record.index]
    if view.seconds <= 0 or foreign <= 0:
        return ()
    shares = [(each, min(1.0, each.bytes / view.seconds / foreign)) for each in mine]
    found = sorted((pair for pair in shares if pair[1] >= LEAST_SHARE), key=lambda pair: -pair[0].bytes)[:MOST]
    # Of rounds and of a test that went on until it was steady the figures are those of a part, a process' those of the whole.
    partly = view.result.steady is not None
    return tuple(
        (ProcessShare(each.pid, each.name, None if partly else share), _words(each, view.seconds, share, partly=partly))
        for each, share in found
    )


def _words(each: ProcessIo, seconds: float, share: float, *, partly: bool) -> str:
    who = f"{clean(each.name)} (pid {each.pid})"
    if partly:
        return who
    ways = (("read", each.read_bytes), ("wrote", each.write_bytes))
    did = " and ".join(f"{verb} {format_bandwidth(amount / seconds)}" for verb, amount in ways if amount)
    return f"{who} {did}, {format_percent(share)} of it"


def joined(shares: Iterable[Sequence[ProcessShare]]) -> tuple[ProcessShare, ...]:
    """The processes of several findings, each once with its largest share."""
    found: dict[tuple[int, str], ProcessShare] = {}
    for share in (each for one in shares for each in one):
        known = found.setdefault((share.pid, share.name), share)
        if (share.share or 0) > (known.share or 0):
            found[share.pid, share.name] = share
    return tuple(sorted(found.values(), key=lambda each: -(each.share or 0)))
