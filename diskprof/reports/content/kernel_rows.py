"""The kernel's view in words: one line for each thing it tells of, for a report, the live screen and the result alike."""

from collections.abc import Callable, Sequence

from diskprof.analysis.kernel import KernelView
from diskprof.model.units import format_bandwidth, format_iops, format_latency, format_percent, format_size
from diskprof.reports import wording
from diskprof.reports.blocks import Block, Cell, Column, Table

KERNEL_TITLE = "What the kernel saw of the disk"
_LEGEND = (
    "Requests as the disk got them, after splitting and merging; r_await, w_await, aqu-sz and %util as in iostat -x; "
    "CPU: of all CPUs, user and system."
)
Figure = Callable[[KernelView], str]
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


def kernel_section(tests: Sequence[tuple[str, KernelView]], *, in_words: bool) -> tuple[str, list[Block]]:
    """(title, table): a row for each (test, what was seen), no column of which nothing is known.

    In words as above, or a figure a column, named as iostat does.
    """
    if in_words:
        told = [dict(kernel_lines(view)) for _, view in tests]
        names = list(dict.fromkeys(name for lines in told for name in lines))
        columns = [(Column(name), [lines.get(name, "") for lines in told]) for name in names]
    else:
        found = [(name, [figure(view) for _, view in tests]) for name, figure in _COLUMNS]
        columns = [(Column(name, right=True, spare=_SPARES.get(name, 0)), cells) for name, cells in found if any(cells)]
    rows = [
        (Cell(test), *(Cell(cells[at] or wording.MISSING) for _, cells in columns))
        for at, (test, _) in enumerate(tests)
    ]
    head = (Column("Test", least=10, middle=True), *(column for column, _ in columns))
    legend = KERNEL_LEGEND if in_words else _LEGEND
    return KERNEL_TITLE, [Table(head, tuple(rows), legend=legend)] if columns else []


def _rate(value: float | None) -> str:
    return format_iops(value) if value else ""


def _wait(value: float | None) -> str:
    return format_latency(value) if value else ""


def _share(value: float | None) -> str:
    return wording.share(value) if value is not None else ""


def _bandwidth(view: KernelView) -> str:
    known = [rate for rate in (view.read_bytes_per_s, view.write_bytes_per_s) if rate is not None]
    return wording.megabytes(sum(known)) if known else ""


def _all_cpus(view: KernelView) -> str:
    if view.cpu_user is None or view.cpu_system is None:
        return ""
    return _share(view.cpu_user + view.cpu_system)


_COLUMNS: tuple[tuple[str, Figure], ...] = (
    ("r/s", lambda view: _rate(view.reads_per_s)),
    ("w/s", lambda view: _rate(view.writes_per_s)),
    ("MB/s", _bandwidth),
    ("r_await", lambda view: _wait(view.read_wait_ns)),
    ("w_await", lambda view: _wait(view.write_wait_ns)),
    ("aqu-sz", lambda view: "" if view.queue_depth is None else f"{view.queue_depth:.1f}"),
    ("%util", lambda view: "" if view.utilisation is None else f"{100 * view.utilisation:.0f}%"),
    ("CPU", _all_cpus),
    ("iowait", lambda view: _share(view.cpu_iowait)),
    ("steal", lambda view: _share(view.cpu_steal) if view.cpu_steal and view.cpu_steal >= 0.0005 else ""),
    ("throttled", lambda view: _share(view.throttled)),
    ("°C", lambda view: "" if view.temperature_c is None else f"{view.temperature_c:.0f}"),
)
_SPARES = {"iowait": 3, "°C": 2, "%util": 1}
"""What goes first where there is no room for all; what tells of trouble stays."""
