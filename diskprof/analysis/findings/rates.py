"""Whether a test did what it was told to do: its rate, and its mix of reads and writes."""

from math import sqrt

from diskprof.analysis.findings.view import LEAST_S, TestView
from diskprof.model.run import Finding, Weight
from diskprof.model.units import format_bandwidth, format_iops, format_percent

MIX = 0.05
"""Share of all I/Os by which the mix may miss what was asked for."""

MIXED_IOS = 1000
"""Over fewer, fio's dice alone may come to that."""

RATE = 0.05
COUNTING = 3.0
"""A rate is missed by more than a twentieth, and by more than counting: 3/sqrt(n) of n I/Os, for those spread by chance."""


def mix_missed(view: TestView) -> Finding | None:
    """fio keeps to a limit of each direction before the mix: a disk that keeps up does as many writes as reads."""
    told, write = view.load.write_share, view.result.write
    if told is None or view.ios < MIXED_IOS:
        return None
    share = (write.ios if write else 0) / view.ios
    if abs(share - told) <= MIX:
        return None
    return view.found(
        "mix-missed",
        Weight.DOUBT,
        "The read/write mix differs from rwmixread.",
        f"writes {format_percent(told)} requested, {format_percent(share)} done",
        "rate_iops applies to reads and writes separately and before the mix: set both, e.g. rate_iops=700,300."
        if any(any((*job.rate, *job.rate_iops)) for job in view.load.fio)
        else "Run longer, and check the commands for an option that overrides the mix (flow, an amount).",
    )


def rate_missed(view: TestView) -> Finding | None:
    """fio holds a job to its rate; where the disk or the way of asking cannot keep up, the result is not of that rate.

    What a fault of fio's own leaves of the rate is all that was asked of the disk. A search for a limit
    asks for more than there is.
    """
    if view.record.planned.trial:
        return None
    evidence = _missed(view, min((fault.keeps for fault in view.record.planned.faults if fault.keeps), default=1.0))
    if not evidence:
        return None
    return view.found(
        "rate-missed",
        Weight.DOUBT,
        "The requested rate was not reached.",
        "; ".join(evidence),
        "Unless another finding names the cause, this queue depth cannot reach the rate: lower the rate, or raise iodepth/numjobs.",
    )


def fio_fault(view: TestView) -> Finding | None:
    """The fio at hand did something else than it was asked for; one of a rate is none where the rate was kept all the same."""
    met = [
        fault
        for fault in view.record.planned.faults
        if fault.keeps is None or not view.load.demands or _missed(view, 1.0)
    ]
    if not met:
        return None
    done = _missed(view, 1.0) if any(fault.keeps for fault in met) else []
    return view.found(
        "fio-fault",
        Weight.DOUBT,
        "Known bug of this fio version: the test did not run as specified.",
        "; ".join([*(f"the test asks {fault.effect.rstrip('.')}" for fault in met), *done]),
        " ".join(dict.fromkeys(fault.advice for fault in met)),
    )


def _missed(view: TestView, keeps: float) -> list[str]:
    """The rates of which less than this part was done, in words."""
    evidence = []
    for demand in view.load.demands:
        result = view.result.direction(demand.direction)
        if result is None or result.runtime_ms < LEAST_S * 1e3:
            continue
        done = result.bandwidth_bytes_per_s if demand.in_bytes else result.iops
        due = demand.per_second * (result.ios / done) if done else 0.0
        asked = keeps * demand.per_second
        if not due or 1 - done / asked <= max(RATE, COUNTING / sqrt(due)):
            continue
        write = format_bandwidth if demand.in_bytes else format_iops
        told = f"{write(demand.per_second)}{'' if demand.in_bytes else f' {demand.direction}s/s'}"
        evidence.append(f"{told} requested, {write(done)} done")
    return evidence


def rate_kept(view: TestView) -> bool:
    """Whether the test did all that it was told to do, and no more for that."""
    return bool(view.load.demands) and rate_missed(view) is None
