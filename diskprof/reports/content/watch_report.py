"""A watched device as `iostat -x` tells of it: a line an interval with who uses it, and what it came to."""

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec.structs import replace

from diskprof.analysis.kernel import KernelView
from diskprof.analysis.watched import WatchedTotal
from diskprof.model.cells import cut
from diskprof.model.process_io import ProcessIo
from diskprof.model.requests import Latencies, RequestInterval
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth, format_duration, format_iops, format_latency, format_size
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Heading, Paragraph, Table
from diskprof.reports.content.request_table import traced_report
from diskprof.reports.layout import Column
from diskprof.reports.words import Meaning

WIDE, WIDEST = 120, 156
"""From so many columns on a line has all figures of reads and writes; of all requests, as where there is no terminal."""
_TIME = 8
_NARROW = ("r/s", "w/s", "MB/s", "r_await", "w_await", "aqu-sz", "%util")
_ALL = (
    *("r/s", "w/s", "rMB/s", "wMB/s", "rareq-sz", "wareq-sz", "%rrqm", "%wrqm"),
    *("r_await", "w_await", "aqu-sz", "%util"),
)
_MORE = ("d/s", "dMB/s", "d_await", "f/s", "f_await")
"""Discards and flushes, which not every kernel counts."""
_TRACED = ("r/s", "w/s", "MB/s", "r_p50", "r_p99", "w_p50", "w_p99", "depth", "order", "%util")
_WIDTHS = {
    "r_p50": 7,
    "r_p99": 7,
    "w_p50": 7,
    "w_p99": 7,
    "rareq-sz": 8,
    "wareq-sz": 8,
    "r_await": 7,
    "w_await": 7,
    "d_await": 7,
    "f_await": 7,
    "%util": 5,
}
_USUAL = 6
_LEGEND = "As iostat -x has them: r_await and w_await from queueing a request to its end, aqu-sz waiting or served."
_MORE_LEGEND = "d: discards, f: flushes, of which one is the sync of an application or of the file system."
_LESS_SEEN = "Processes of other users are not seen without root."


def watch_names(width: int | None, counted: KernelView | None = None) -> tuple[str, ...]:
    """The figures that a line of so many columns has room for; None: no terminal, so there is no end to it.

    `counted` is an interval, whose discards and flushes are told where the kernel counts them.
    """
    if width is not None and width < WIDEST:
        return _ALL if width >= WIDE else _NARROW
    return (*_ALL, *_known(counted))


def _known(view: KernelView | None) -> tuple[str, ...]:
    """Discards and flushes, as far as they are counted."""
    flushes = view is not None and view.flushes_per_s is not None
    discards = view is not None and view.discards_per_s is not None
    return tuple(name for name in _MORE if (flushes if name.startswith("f") else discards))


def traced_names() -> tuple[str, ...]:
    """The figures of a line where each request is traced: latencies from issue to completion, requests in flight, in order."""
    return _TRACED


def watch_head(names: Sequence[str]) -> str:
    return " ".join(("Time".ljust(_TIME), *(name.rjust(_width(name)) for name in names), " Processes"))


def watch_line(
    at: datetime,
    view: KernelView | None,
    processes: Sequence[ProcessIo],
    names: Sequence[str],
    width: int | None,
    traced: RequestInterval | None = None,
) -> str:
    """An interval that ended at the local time `at`, with the processes that moved most in it, in at most `width` cells."""
    cells = (
        (_traced(name, traced) if name in _OF_REQUESTS else _cell(name, view)).rjust(_width(name)) for name in names
    )
    if traced:
        asked = sum(each.ios for each in traced.requests.processes)
        told = [
            f"{clean(each.name)} ({each.pid}) {figures.share(each.ios / asked)}" for each in traced.requests.processes
        ]
        told += [f"{traced.requests.lost:,} events lost"] if traced.requests.lost else []
    else:
        told = [_process(each) for each in sorted(processes, key=lambda each: -each.bytes)]
    line = " ".join((f"{at:%H:%M:%S}", *cells, f" {', '.join(told)}")).rstrip()
    return line if width is None else cut(line, width)


def watch_report(title: str, total: WatchedTotal, hidden: int, traced: RequestInterval | None = None) -> list[Block]:
    """What it came to. `title` is the device's, `hidden` the number of processes whose I/O could not be seen; `traced` are all
    requests, where each was traced: those tell whose they were."""
    if total.mean is None or total.highest is None:
        return [Paragraph(f"{title}: nothing was counted.")]
    heading = Heading(f"{title}, watched for {format_duration(total.mean.seconds)}")
    tables = [replace(_means(total, _ALL), narrow=_means(total, _NARROW))]
    if more := _known(total.mean):
        tables.append(replace(_means(total, more), legend=_MORE_LEGEND))
    who = traced_report(traced) if traced and traced.requests.ios else _who(total, hidden)
    return [heading, *tables, *who]


def _means(total: WatchedTotal, names: Sequence[str]) -> Table:
    views = (("mean", total.mean), ("highest", total.highest))
    rows = tuple((Cell(word), *(Cell(_cell(name, view)) for name in names)) for word, view in views)
    return Table((Column(""), *(Column(name, right=True) for name in names)), rows, legend=_LEGEND, lead=1)


def _who(total: WatchedTotal, hidden: int) -> list[Block]:
    unseen = [Paragraph(_LESS_SEEN, Meaning.QUIET)] if hidden else []
    moved = sum(each.bytes for each in total.processes)
    if not moved:
        return [Paragraph("No process was seen to use it.", Meaning.QUIET), *unseen]
    rows = tuple(
        (
            *(Cell(each.name), Cell(str(each.pid))),
            *(Cell(format_size(amount) if amount else "0") for amount in (each.read_bytes, each.write_bytes)),
            Cell(figures.share(each.bytes / moved)),
        )
        for each in total.processes
    )
    columns = (
        *(Column("Process", least=8), Column("pid", right=True)),
        *(Column(name, right=True) for name in ("Read", "Written", "Share")),
    )
    legend = (
        "Processes with a file of the disk open; read and written on all disks, of which the share is."
        " Writes to the page cache count when they are made."
    )
    return [Table(columns, rows, legend=legend), *unseen]


def _process(each: ProcessIo) -> str:
    seconds = (each.last_ns - each.first_ns) / 1e9
    rate = f" {format_bandwidth(each.bytes / seconds)}" if seconds > 0 else ""
    return f"{clean(each.name)} ({each.pid}){rate}"


def _traced(name: str, traced: RequestInterval | None) -> str:
    return (_OF_REQUESTS[name](traced) if traced else "") or figures.MISSING


def _percentile(took: Latencies, share: float) -> str:
    found = took.histogram.quantile(share)
    return "" if found is None else format_latency(min(found, took.max_ns or found))


_OF_REQUESTS: dict[str, Callable[[RequestInterval], str]] = {
    "r_p50": lambda traced: _percentile(traced.read, 0.5),
    "r_p99": lambda traced: _percentile(traced.read, 0.99),
    "w_p50": lambda traced: _percentile(traced.write, 0.5),
    "w_p99": lambda traced: _percentile(traced.write, 0.99),
    "depth": lambda traced: "" if traced.requests.depth is None else f"{traced.requests.depth:.2f}",
    "order": lambda traced: "" if traced.requests.in_order is None else figures.share(traced.requests.in_order),
}


def _width(name: str) -> int:
    return _WIDTHS.get(name, _USUAL)


def _cell(name: str, view: KernelView | None) -> str:
    return (_FIGURES[name](view) if view else "") or figures.MISSING


def _rate(value: float | None) -> str:
    return "" if value is None else format_iops(value)


def _bandwidth(*values: float | None) -> str:
    known = [value for value in values if value is not None]
    return figures.megabytes(sum(known)) if known else ""


def _wait(value: float | None) -> str:
    return "" if value is None else format_latency(value)


def _size(value: float | None) -> str:
    return "" if value is None else format_size(value)


def _merged(merges: float | None, rate: float | None) -> str:
    if merges is None or rate is None:
        return ""
    return f"{100 * merges / (merges + rate):.0f}%" if merges else "0%"


_FIGURES: dict[str, Callable[[KernelView], str]] = {
    "r/s": lambda view: _rate(view.reads_per_s),
    "w/s": lambda view: _rate(view.writes_per_s),
    "MB/s": lambda view: _bandwidth(view.read_bytes_per_s, view.write_bytes_per_s),
    "rMB/s": lambda view: _bandwidth(view.read_bytes_per_s),
    "wMB/s": lambda view: _bandwidth(view.write_bytes_per_s),
    "rareq-sz": lambda view: _size(view.read_size_bytes),
    "wareq-sz": lambda view: _size(view.write_size_bytes),
    "%rrqm": lambda view: _merged(view.read_merges_per_s, view.reads_per_s),
    "%wrqm": lambda view: _merged(view.write_merges_per_s, view.writes_per_s),
    "r_await": lambda view: _wait(view.read_wait_ns),
    "w_await": lambda view: _wait(view.write_wait_ns),
    "d/s": lambda view: _rate(view.discards_per_s),
    "dMB/s": lambda view: _bandwidth(view.discard_bytes_per_s),
    "d_await": lambda view: _wait(view.discard_wait_ns),
    "f/s": lambda view: _rate(view.flushes_per_s),
    "f_await": lambda view: _wait(view.flush_wait_ns),
    "aqu-sz": lambda view: "" if view.queue_depth is None else f"{view.queue_depth:.2f}",
    "%util": lambda view: "" if view.utilisation is None else f"{100 * view.utilisation:.0f}%",
}
"""By iostat's names."""
