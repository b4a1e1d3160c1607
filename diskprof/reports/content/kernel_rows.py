"""The kernel's view in words: one line for each thing it tells of, for a report, the live screen and the result alike."""

from diskprof.analysis.kernel import KernelView
from diskprof.model.units import format_bandwidth, format_iops, format_latency, format_percent, format_size

KERNEL_TITLE = "What the kernel saw of the disk"
KERNEL_LEGEND = (
    "Requests as the disk got them, after splitting and merging; wait: from the queue to the end (iostat's await)."
)


def kernel_lines(view: KernelView) -> tuple[tuple[str, str], ...]:
    """(name, value) of what is known, such as ("Reads", "12.3k/s, 50.4 MB/s, 4 KiB each, wait 476 us")."""
    lines = (
        (
            "Reads",
            _requests(
                *(view.reads_per_s, view.read_bytes_per_s, view.read_size_bytes),
                *(view.read_wait_ns, view.read_merges_per_s),
            ),
        ),
        (
            "Writes",
            _requests(
                *(view.writes_per_s, view.write_bytes_per_s, view.write_size_bytes),
                *(view.write_wait_ns, view.write_merges_per_s),
            ),
        ),
        ("Queue", _queue(view)),
        ("CPU", _cpu(view)),
        ("Memory", _memory(view)),
        ("cgroup", _group(view)),
        ("Temperature", "" if view.temperature_c is None else f"{view.temperature_c:.0f} °C"),
    )
    return tuple((name, value) for name, value in lines if value)


def _requests(
    rate: float | None, bandwidth: float | None, size: float | None, wait_ns: float | None, merges: float | None
) -> str:
    if rate is None or bandwidth is None:
        return ""
    if not rate:
        return "none"
    return _listed(
        f"{format_iops(rate)}/s",
        format_bandwidth(bandwidth) if bandwidth else "",
        f"{format_size(size)} each" if size else "",
        f"wait {format_latency(wait_ns)}" if wait_ns else "",
        f"{format_percent(merges / (merges + rate))} merged" if merges and merges / (merges + rate) >= 0.005 else "",
    )


def _queue(view: KernelView) -> str:
    return _listed(
        f"{view.queue_depth:.1f} deep" if view.queue_depth is not None else "",
        f"busy {format_percent(view.utilisation)} of the time" if view.utilisation is not None else "",
    )


def _cpu(view: KernelView) -> str:
    shares = (("user", view.cpu_user), ("system", view.cpu_system), ("iowait", view.cpu_iowait))
    steal = (("steal", view.cpu_steal),) if view.cpu_steal is not None and view.cpu_steal >= 0.0005 else ()
    return _listed(*(f"{format_percent(share)} {name}" for name, share in (*shares, *steal) if share is not None))


def _memory(view: KernelView) -> str:
    amounts = (
        ("available", view.memory_available_bytes),
        ("page cache", view.cached_bytes),
        ("dirty", view.dirty_bytes),
    )
    return _listed(*(f"{format_size(amount)} {name}" for name, amount in amounts if amount is not None))


def _group(view: KernelView) -> str:
    parts = []
    ways = (
        ("reads", view.cgroup_reads_per_s, view.cgroup_read_bytes_per_s),
        ("writes", view.cgroup_writes_per_s, view.cgroup_write_bytes_per_s),
    )
    for name, rate, bandwidth in ways:
        if rate and bandwidth is not None:
            parts.append(f"{name} let through {format_iops(rate)}/s, {format_bandwidth(bandwidth)}")
    if view.throttled is not None:
        parts.append(f"CPU time used up in {format_percent(view.throttled)} of its periods")
    return "; ".join(parts)


def _listed(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
