"""What control groups allow this process, and whether a test came up against it."""

from diskprof.analysis.findings.rates import rate_kept
from diskprof.analysis.findings.view import TestView
from diskprof.model.run import Finding, IoLimit, Run, Weight
from diskprof.model.sample import Direction
from diskprof.model.units import format_bandwidth, format_iops, format_percent

REACHED = 0.95
"""Share of a limit from which it was what held the test back: the kernel hands out I/O in slices, and no test uses each whole."""

BEYOND = 1.10
"""Above the limit by more than this it is not in force for this I/O (the page cache answered, say)."""

THROTTLED = 0.05
"""Share of the periods (100 ms as a rule) in which the CPU time was used up, so that I/Os waited for the next one."""

_OUTSIDE = "To measure the disk itself, run outside the container or slice that sets the limit."
_VERBS = {Direction.READ: "reads", Direction.WRITE: "writes"}


def cgroup_limits(run: Run) -> Finding | None:
    """Limits that the system itself sets on this process."""
    limits = run.environment.cgroup_limits
    if not limits:
        return None
    return Finding(
        "cgroup-limits",
        Weight.NOTE,
        "A cgroup limits this process.",
        "; ".join(limits),
        _OUTSIDE,
    )


def io_limit_reached(view: TestView) -> list[tuple[IoLimit, float]]:
    """The limits on the devices under test, or behind them, that the test used up, each with what it got through per second.

    None where the test did all that its own rate asked for, and no more for that.
    """
    names = {device.name for device in view.stack} | set(view.run.environment.behind)
    found: list[tuple[IoLimit, float]] = []
    if not view.lasted or rate_kept(view):
        return found
    for limit in view.run.environment.io_limits:
        got = _got(view, limit)
        if limit.device in names and got and REACHED * limit.per_second <= got <= BEYOND * limit.per_second:
            found.append((limit, got))
    return found


def _got(view: TestView, limit: IoLimit) -> float | None:
    """What the group got through by the kernel's account, else by the engine's."""
    seen, result, reading = view.kernel, view.result.direction(limit.direction), limit.direction is Direction.READ
    counted = None
    if seen and limit.iops:
        counted = seen.cgroup_reads_per_s if reading else seen.cgroup_writes_per_s
    elif seen:
        counted = seen.cgroup_read_bytes_per_s if reading else seen.cgroup_write_bytes_per_s
    if counted is not None or result is None:
        return counted
    return result.iops if limit.iops else result.bandwidth_bytes_per_s


def cgroup_limit_reached(view: TestView) -> Finding | None:
    """The result is what a control group allows."""
    reached = io_limit_reached(view)
    if not reached:
        return None
    return view.found(
        "cgroup-limit-reached",
        Weight.LIMIT,
        "cgroup I/O limit reached: the result shows the limit, not the disk.",
        "; ".join(f"{_words(limit)}, {_amount(limit, got)} measured" for limit, got in reached),
        _OUTSIDE,
    )


def _words(limit: IoLimit) -> str:
    return f"{limit.device_title}: {_VERBS[limit.direction]} at most {_amount(limit, limit.per_second)}"


def _amount(limit: IoLimit, value: float) -> str:
    return f"{format_iops(value)} IOPS" if limit.iops else format_bandwidth(value)


def cpu_throttled(view: TestView) -> Finding | None:
    """The test stood still because its CPU time was used up."""
    share = view.kernel.throttled if view.kernel else None
    if share is None or share < THROTTLED:
        return None
    limit = view.run.environment.cpu_limit
    allowed = f", which allows {limit:.3g} CPUs" if limit else ""
    held = sum(sample.cpu_throttled_ns or 0 for sample in view.watched) / 1e9
    return view.found(
        "cpu-throttled",
        Weight.LIMIT,
        "CPU throttled by a cgroup: latencies include the wait.",
        f"in {format_percent(share)} of the periods of the group{allowed}; {held:.3g} s throttled in total",
        "Raise the CPU limit, or use fewer jobs and larger blocks; otherwise this result describes the container.",
    )
