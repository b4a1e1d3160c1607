"""How true a preset is that mimics a load: what was seen, what it does, and what nobody knows."""

from collections.abc import Iterator

from diskprof.model.sample import Direction
from diskprof.model.seen_load import LoadSource, Pace, RateLevels, SeenLoad
from diskprof.model.units import format_bandwidth, format_bandwidths, format_iops, format_size
from diskprof.presets.mimic import Mimicked, changing
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Heading, Note, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, Meaning

_UNKNOWN = "not known"
_MOST = 10
_SOURCES = {
    LoadSource.REQUESTS: "each request was traced",
    LoadSource.COUNTERS: "the kernel's counters, which have sums alone",
    LoadSource.IOSTAT: "iostat, which has means alone",
}
_Row = tuple[str, str, str, str]


def mimic_report(title: str, load: SeenLoad, mimicked: Mimicked) -> list[Block]:
    """`title` says what was watched, and for how long."""
    columns = (
        Column("Load", least=8),
        Column("Seen", least=8),
        Column("Preset", least=8),
        Column("Remark", least=20, spare=1),
    )
    rows = tuple(tuple(Cell(text) for text in row) for row in _rows(load, mimicked))
    table = Table(columns, rows, legend=f"Seen: {_SOURCES[load.source]}.")
    lost = f"{load.lost:,} events of the trace were lost: there was more than was seen."
    doubts: list[Block] = (
        [Note(lost, "Doubt", advice="Watch again at a lower load.", meaning=Meaning.WARNING)] if load.lost else []
    )
    return [Heading(title), table, *doubts]


def _rows(load: SeenLoad, mimicked: Mimicked) -> Iterator[_Row]:
    made, held = mimicked.made, mimicked.made.pace is Pace.DEPTH
    as_fast = "as fast as the disk"
    levels = changing(load, made)
    yield (
        "Rate",
        f"{format_iops(load.per_s())}/s",
        as_fast if held else _levels(levels) if levels else f"{format_iops(made.per_s())}/s",
        _rate_remark(load) if levels is None else "usual; busiest tenth",
    )
    for direction in Direction:
        if load.per_s(direction):
            seen, mean = load.bytes_per_s(direction), made.bytes_per_s(direction)
            factors = (
                (levels.usual_per_s / load.per_s(), levels.busy_per_s / load.per_s()) if levels and mean else (1.0,)
            )
            does = format_bandwidths([mean * factor for factor in factors])
            name = f"{DIRECTIONS[direction].word.capitalize()} MB/s"
            yield (name, format_bandwidth(seen), as_fast if held else does, "")
    yield ("Reads", figures.share(load.read_share), figures.share(made.read_share), "")
    yield from _sizes(load, made)
    depth = _UNKNOWN if load.depth is None else f"{load.depth:.2f} in the mean"
    if held:
        yield ("In flight", depth, f"QD{made.most_in_flight}", "held by its depth, not by a rate")
    else:
        yield (
            "In flight",
            depth,
            f"up to {made.most_in_flight}{' a job' if len(mimicked.preset.tests[0].jobs) > 1 else ''}",
            "follows from the disk's speed",
        )
    yield _order(load, made)
    yield _sync(load, mimicked)
    touched = format_size(load.touched_bytes) if load.touched_bytes else _UNKNOWN
    area = "parts used more: not known" if load.touched_bytes else "set size if you know it"
    yield ("Working set", touched, format_size(mimicked.size_bytes), area)
    yield ("Data, discards", _UNKNOWN, "-", "fio's data, no discards")


def _levels(levels: RateLevels) -> str:
    return f"{format_iops(levels.usual_per_s)} and {format_iops(levels.busy_per_s)}/s"


def _rate_remark(load: SeenLoad) -> str:
    if load.highest_per_s is None or load.per_s() <= 0:
        return ""
    return f"steady; seen up to {format_iops(load.highest_per_s)}/s"


def _sizes(load: SeenLoad, made: SeenLoad) -> Iterator[_Row]:
    if load.source is not LoadSource.REQUESTS:
        for seen, does in zip(load.sizes, made.sizes, strict=False):
            word = DIRECTIONS[seen.direction].word
            yield (f"Mean {word}", format_size(seen.size), format_size(does.size), "single sizes: not known")
        return
    whole, rates = load.per_s(), made.per_s()
    seen_shares = {(each.direction, each.size): each.per_s / whole for each in load.sizes}
    for each in made.sizes[:_MOST]:
        share = seen_shares.get((each.direction, each.size), 0.0)
        name = f"{format_size(each.size)} {DIRECTIONS[each.direction].word}s"
        remark = "with rare sizes near it" if each.per_s / rates - share >= 0.005 else ""
        yield (name, figures.share(share), figures.share(each.per_s / rates), remark)


def _order(load: SeenLoad, made: SeenLoad) -> _Row:
    if load.in_order is None or made.in_order is None:
        return ("In order", _UNKNOWN, "0%", "taken to be at random")
    return ("In order", figures.share(load.in_order), figures.share(made.in_order), "")


def _sync(load: SeenLoad, mimicked: Mimicked) -> _Row:
    if load.flushes is None and load.durable is None:
        known = bool(load.per_s(Direction.WRITE))
        return ("Sync writes", _UNKNOWN if known else "-", "-", "taken to be none" if known else "nothing is written")
    seen = f"{load.flushes or 0:.2g} flushes a write"
    if load.durable is not None:
        seen += f", {figures.share(load.durable)} FUA"
    if not mimicked.flushed_per_s:
        return ("Sync writes", seen, "none", "too few to wait for" if load.flushes else "")
    remark = "after those most in order" if mimicked.made.pace is Pace.RATE else ""
    return ("Sync writes", seen, f"fdatasync {format_iops(mimicked.flushed_per_s)}/s", remark)
