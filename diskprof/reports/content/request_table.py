"""What was seen of each request to a watched disk: latencies, sizes, order, how many in flight, whose."""

from collections.abc import Sequence

from diskprof.analysis.watched import latency_of
from diskprof.model.requests import Latencies, RequestInterval, RequestProcess, Requests
from diskprof.model.sample import Direction
from diskprof.model.units import format_latency, format_size
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Fact, Facts, Note, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, Meaning

TITLE = "Requests"
_MOST_SIZES = 10
_NAMES = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9"}
_LATENCY = "Latency: from the issue of a request to the disk to its completion."
_SIZES = "Shares of all requests; in order: began where one before it ended."


def traced_report(traced: RequestInterval) -> list[Block]:
    """Latencies, then what `request_report` has."""
    return [_latencies(traced), *request_report(traced.requests)]


def request_report(requests: Requests) -> list[Block]:
    """Sizes, facts and processes; of no requests only what was lost."""
    lost = lost_note(requests)
    # A run that was imported may say anything.
    if requests.ios <= 0:
        return lost
    return [_sizes(requests), Facts(tuple(_facts(requests))), *_processes(requests.processes), *lost]


def lost_note(requests: Requests) -> list[Block]:
    """That events were lost; nothing where none was."""
    if not requests.lost:
        return []
    told = f"{requests.lost:,} events of the trace were lost: the figures are of less than there was."
    return [Note(told, "Doubt", meaning=Meaning.WARNING)]


def _latencies(traced: RequestInterval) -> Table:
    rows = []
    for direction in Direction:
        took = traced.latencies(direction)
        if took.histogram:
            rows.append((Cell(DIRECTIONS[direction].word), *map(Cell, _percentiles(took))))
    columns = (Column(""), *(Column(name, right=True) for name in ("mean", *_NAMES.values(), "max")))
    return Table(columns, tuple(rows), legend=_LATENCY, lead=1)


def _percentiles(took: Latencies) -> list[str]:
    latency = latency_of(took)
    values = (getattr(latency, name) for name in ("mean", *_NAMES, "max"))
    return [figures.MISSING if value is None else format_latency(value) for value in values]


def _sizes(requests: Requests) -> Table:
    sides = (requests.read, requests.write)
    reads, writes = ({each.size: each for each in side.sizes if each.ios > 0} for side in sides)
    counts = {size: sum(side[size].ios for side in (reads, writes) if size in side) for size in {*reads, *writes}}
    shown = sorted(sorted(counts, key=lambda size: -counts[size])[:_MOST_SIZES])
    rows = []
    for size in shown:
        ordered = sum(side[size].in_order for side in (reads, writes) if size in side)
        cells = (
            figures.share(side[size].ios / requests.ios) if size in side else figures.MISSING
            for side in (reads, writes)
        )
        rows.append((Cell(format_size(size)), *map(Cell, cells), Cell(figures.share(ordered / counts[size]))))
    if left := len(counts) - len(shown):
        share = figures.share(sum(counts[size] for size in counts if size not in shown) / requests.ios)
        rows.append((Cell(f"{left} others"), Cell(share), Cell(""), Cell("")))
    columns = (Column("Size", right=True), *(Column(name, right=True) for name in ("Reads", "Writes", "In order")))
    return Table(columns, tuple(rows), legend=_SIZES)


def _facts(requests: Requests) -> list[Fact]:
    found = []
    if requests.read_share is not None:
        found.append(Fact("Reads", figures.share(requests.read_share)))
    if requests.in_order is not None:
        found.append(Fact("In order", figures.share(requests.in_order)))
    if requests.depth is not None:
        most = requests.depth_within(0.999)
        found.append(
            Fact("In flight", f"{requests.depth:.2f} in the mean, {most} at the most (99.9% of the busy time)")
        )
    if requests.write.ios or requests.flushes:
        durable = (
            f"{figures.share(requests.write.durable / requests.write.ios)} with FUA, " if requests.write.ios else ""
        )
        flushes = "flush" if requests.flushes == 1 else "flushes"
        found.append(Fact("Sync writes", f"{durable}{requests.flushes:,} {flushes}"))
    if requests.touched_bytes:
        piece = format_size(requests.piece_bytes)
        found.append(Fact("Touched", f"{format_size(requests.touched_bytes)}, in pieces of {piece}"))
    return found


def _processes(processes: Sequence[RequestProcess]) -> list[Block]:
    whole = sum(each.ios for each in processes)
    if whole <= 0:
        return []
    rows = tuple(
        (
            *(Cell(each.name), Cell(str(each.pid)), Cell(f"{each.reads:,}"), Cell(f"{each.writes:,}")),
            *(Cell(format_size(amount) if amount else "0") for amount in (each.read_bytes, each.write_bytes)),
            Cell(figures.share(each.ios / whole)),
        )
        for each in processes
    )
    columns = (
        *(Column("Process", least=8), Column("pid", right=True)),
        *(Column(name, right=True) for name in ("Reads", "Writes", "Read", "Written", "Share")),
    )
    return [Table(columns, rows, legend="Whose time a request was issued in; what the page cache writes is kworker's.")]
