"""Kernel (iostat -x) while each test measured: a figure a column, named as iostat -x does."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from diskprof.analysis.kernel import KernelView
from diskprof.model.units import format_iops, format_latency, format_size
from diskprof.reports import figures
from diskprof.reports.blocks import Cell, Table
from diskprof.reports.layout import Column

TITLE = "Kernel (iostat -x)"
_LEGEND = (
    "Requests after splitting and merging; r_await, w_await, aqu-sz and %util as in iostat -x; "
    "CPU: of all CPUs, user and system."
)
_MORE_LEGEND = (
    ("areq-sz", "rareq-sz, wareq-sz: the mean size of a request"),
    ("rqm", "%rrqm, %wrqm: how many were merged"),
    ("f/s", "f/s, f_await: flushes"),
    ("d/s", "d/s, d_await: discards"),
    ("cgroup", "cgroup: I/O of the group that limits diskprof"),
    ("available", "memory at the end of the test"),
)
"""What is said where a column has the letters in its name, or is called so."""


def kernel_tables(tests: Sequence[tuple[str, KernelView]], *, full: bool) -> tuple[Table, ...]:
    """A row for each (test, what was seen), no column of which nothing is known; empty where nothing is.

    `full`: with what a terminal has no room for, in tables that a reader of 80 columns does not wrap.
    """
    groups = _GROUPS if full else (tuple(_COLUMNS),)
    found = [table for names in groups if (table := _table(tests, names))]
    if not found:
        return ()
    shown = [column.text for table in found for column in table.columns]
    more = "; ".join(words for part, words in _MORE_LEGEND if any(_matches(part, name) for name in shown))
    return (*found[:-1], replace(found[-1], legend=f"{_LEGEND} {more}." if more else _LEGEND))


def _matches(part: str, name: str) -> bool:
    return part == name if "/" in part else part in name


def _table(tests: Sequence[tuple[str, KernelView]], names: Sequence[str]) -> Table | None:
    figured = _COLUMNS | _MORE_COLUMNS
    found = [(name, cells) for name in names if any(cells := [figured[name](view) for _, view in tests])]
    rows = tuple(
        (Cell(test), *(Cell(cells[at] or figures.MISSING) for _, cells in found)) for at, (test, _) in enumerate(tests)
    )
    columns = (Column(name, right=True, spare=_SPARES.get(name, 0)) for name, _ in found)
    return Table((Column("Test", least=18, middle=True), *columns), rows) if found else None


def _rate(value: float | None) -> str:
    return format_iops(value) if value else ""


def _bandwidth(*values: float | None) -> str:
    return figures.megabytes(sum(value or 0 for value in values)) if any(values) else ""


def _wait(value: float | None) -> str:
    return format_latency(value) if value else ""


def _size(value: float | None) -> str:
    return format_size(value) if value else ""


def _share(value: float | None, least: float = 0.0) -> str:
    return figures.share(value) if value is not None and value >= least else ""


def _merged(merges: float | None, rate: float | None) -> str:
    return _share(merges / (merges + (rate or 0)), 0.005) if merges else ""


def _cpu(view: KernelView) -> str:
    if view.cpu_user is None or view.cpu_system is None:
        return ""
    return _share(view.cpu_user + view.cpu_system)


_COLUMNS: dict[str, Callable[[KernelView], str]] = {
    "r/s": lambda view: _rate(view.reads_per_s),
    "w/s": lambda view: _rate(view.writes_per_s),
    "MB/s": lambda view: _bandwidth(view.read_bytes_per_s, view.write_bytes_per_s),
    "r_await": lambda view: _wait(view.read_wait_ns),
    "w_await": lambda view: _wait(view.write_wait_ns),
    "aqu-sz": lambda view: "" if view.queue_depth is None else f"{view.queue_depth:.1f}",
    "%util": lambda view: "" if view.utilisation is None else f"{100 * view.utilisation:.0f}%",
    "CPU": _cpu,
    "iowait": lambda view: _share(view.cpu_iowait),
    "steal": lambda view: _share(view.cpu_steal, 0.0005),
    "throttled": lambda view: _share(view.throttled),
    "°C": lambda view: "" if view.temperature_c is None else f"{view.temperature_c:.0f}",
}
_MORE_COLUMNS: dict[str, Callable[[KernelView], str]] = {
    "rMB/s": lambda view: _bandwidth(view.read_bytes_per_s),
    "wMB/s": lambda view: _bandwidth(view.write_bytes_per_s),
    "rareq-sz": lambda view: _size(view.read_size_bytes),
    "wareq-sz": lambda view: _size(view.write_size_bytes),
    "%rrqm": lambda view: _merged(view.read_merges_per_s, view.reads_per_s),
    "%wrqm": lambda view: _merged(view.write_merges_per_s, view.writes_per_s),
    "f/s": lambda view: _rate(view.flushes_per_s),
    "f_await": lambda view: _wait(view.flush_wait_ns),
    "d/s": lambda view: _rate(view.discards_per_s),
    "dMB/s": lambda view: _bandwidth(view.discard_bytes_per_s),
    "d_await": lambda view: _wait(view.discard_wait_ns),
    "user": lambda view: _share(view.cpu_user),
    "system": lambda view: _share(view.cpu_system),
    "cgroup r/s": lambda view: _rate(view.cgroup_reads_per_s),
    "cgroup w/s": lambda view: _rate(view.cgroup_writes_per_s),
    "cgroup rMB/s": lambda view: _bandwidth(view.cgroup_read_bytes_per_s),
    "cgroup wMB/s": lambda view: _bandwidth(view.cgroup_write_bytes_per_s),
    "available": lambda view: _size(view.memory_available_bytes),
    "page cache": lambda view: _size(view.cached_bytes),
    "dirty": lambda view: _size(view.dirty_bytes),
}
_GROUPS = (
    ("r/s", "w/s", "MB/s", "r_await", "w_await", "aqu-sz", "%util"),
    ("rMB/s", "wMB/s", "rareq-sz", "wareq-sz", "%rrqm", "%wrqm", "°C"),
    ("f/s", "f_await", "d/s", "dMB/s", "d_await"),
    ("CPU", "user", "system", "iowait", "steal", "throttled"),
    ("available", "page cache", "dirty"),
    ("cgroup r/s", "cgroup w/s", "cgroup rMB/s", "cgroup wMB/s"),
)
"""The disk, its requests, its flushes and discards, the CPUs, the memory, the control group."""
_SPARES = {"iowait": 4, "°C": 3, "%util": 2, "CPU": 1}
"""What is left out first where there is no room for all; signs of trouble stay."""
