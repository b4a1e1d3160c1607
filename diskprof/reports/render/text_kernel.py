"""What the kernel saw of each test, as a table for a terminal."""

from collections.abc import Callable, Mapping

from diskprof.analysis.kernel import KernelView
from diskprof.model.run import Run
from diskprof.model.units import format_iops, format_latency
from diskprof.reports import wording
from diskprof.reports.content.kernel_rows import KERNEL_TITLE
from diskprof.reports.layout import Heading, plain, table, width_of, wrap

_LEGEND = (
    "Requests as the disk got them, after splitting and merging; r_await, w_await, aqu-sz and %util as in iostat -x; "
    "CPU: of all CPUs, user and system."
)
Figure = Callable[[KernelView], str]


def _rate(value: float | None) -> str:
    return format_iops(value) if value else ""


def _wait(value: float | None) -> str:
    return format_latency(value) if value else ""


def _share(value: float | None) -> str:
    return wording.share(value) if value is not None else ""


def _bandwidth(view: KernelView) -> str:
    known = [rate for rate in (view.read_bytes_per_s, view.write_bytes_per_s) if rate is not None]
    return wording.megabytes(sum(known)) if known else ""


def _cpu(view: KernelView) -> str:
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
    ("CPU", _cpu),
    ("iowait", lambda view: _share(view.cpu_iowait)),
    ("steal", lambda view: _share(view.cpu_steal) if view.cpu_steal and view.cpu_steal >= 0.0005 else ""),
    ("throttled", lambda view: _share(view.throttled)),
    ("°C", lambda view: "" if view.temperature_c is None else f"{view.temperature_c:.0f}"),
)
_DISPENSABLE = ("iowait", "°C", "%util")
"""What goes, in this order, where there is no room for all; what tells of trouble stays."""


def kernel_table(run: Run, seen: Mapping[int, KernelView], width: int, *, ascii_only: bool = False) -> list[str]:
    """A row for each test that the kernel looked at and that is no cell of a sweep; no column of which nothing is known."""
    tests = [(test, view) for test in run.tests if (view := seen.get(test.index)) and not test.planned.cell]
    columns = [(name, [figure(view) for _, view in tests]) for name, figure in _COLUMNS]
    columns = [(name, cells) for name, cells in columns if any(cells)]
    if not columns:
        return []
    names = [plain(test.name) for test, _ in tests]
    for dropped in (None, *_DISPENSABLE):
        columns = [column for column in columns if column[0] != dropped]
        headings = [Heading("Test", least=10, middle=True)]
        headings += [Heading("deg C" if name == "°C" and ascii_only else name, right=True) for name, _ in columns]
        rows = [[name, *(cells[at] or wording.MISSING for _, cells in columns)] for at, name in enumerate(names)]
        lines = table(headings, rows, width, rule=True)
        if max(map(width_of, lines)) <= width:
            break
    return [KERNEL_TITLE, *lines, *wrap(_LEGEND, width)]
