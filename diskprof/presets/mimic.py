"""A load that was seen -> a preset that does the same.

A load that comes at a rate is a job for each size, with that rate: one job of several sizes would not keep it before fio 3.42
(F64), and one of both directions may abort (F100). A load that is held by its depth is one job without a rate.
"""

from collections.abc import Iterator, Sequence
from math import ceil, log2

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.preset import Category, EngineName, Job, Options, Parameter, ParameterKind, Preset, Test
from diskprof.model.sample import Direction
from diskprof.model.seen_load import LoadSource, Pace, RateLevels, SeenLoad, SeenSize
from diskprof.presets.foreign.imported import LONGEST_TEXT, LONGEST_TITLE, one_line, preset_name

_MOST_SIZES = 8
_LEAST_SHARE = 0.01
"""Sizes of fewer requests are done with the next one that has more."""
_LEAST_PER_S = 0.5
_IN_ORDER, _AT_RANDOM = 0.98, 0.01
_MIB = 1 << 20
_LEAST_SIZE = 16 * _MIB
_UNKNOWN_SIZE = 1 << 30
_MOST_DEPTH = 1024
_PAGE, _SECTOR = 4096, 512
_RARELY = 0.01
"""Less often than this a write does not wait for a flush."""
_CHANGES = 2.0
"""A rate that is so many times as high in its busiest tenth is no steady one."""


class Mimicked(Struct, frozen=True):
    """A preset, and the load that it is to be: `made` is what was seen, rounded to what fio's options can say. `flushed_per_s`: so
    many writes a second wait for the cache to be flushed."""

    preset: Preset
    made: SeenLoad
    size_bytes: int
    flushed_per_s: float


def mimic(load: SeenLoad, name: str, title: str, source: str) -> Mimicked:
    """A preset called `name` that does what was seen. Raises UsageError where nothing was."""
    made = _rounded(load) if load.per_s() >= _LEAST_PER_S else replace(load, sizes=())
    if not made.sizes:
        # How far apart the reports of iostat are is not in them.
        told = load.source is LoadSource.IOSTAT
        seen = f"{load.per_s():.3g} requests a second" if told else f"{load.per_s() * load.seconds:.0f} requests"
        raise UsageError(
            f"There is nothing to mimic: {seen} in {load.seconds:.0f} {'reports' if told else 's'}.",
            "Watch it while it is in use, or for longer: --for 30m",
        )
    share = _flushed(load)
    size = _size(load, made)
    preset = Preset(
        name=preset_name(name),
        title=one_line(title, LONGEST_TITLE),
        summary=one_line(_summary(made), LONGEST_TEXT),
        category=Category.OWN,
        source=one_line(source, LONGEST_TEXT),
        parameters=(
            Parameter("size", ParameterKind.SIZE, f"{size // _MIB}m", "size of the area that is worked on"),
            Parameter("runtime", ParameterKind.DURATION, "60s", "time to measure"),
        ),
        tests=tuple(_tests(load, made, share)),
        shipped=False,
    )
    return Mimicked(preset, made, size, share * load.per_s(Direction.WRITE))


def _tests(load: SeenLoad, made: SeenLoad, share: float) -> Iterator[Test]:
    """One of the load, or two where its rate changed much: of the usual one, and of the busiest tenth of the time."""
    levels = changing(load, made)
    if levels is None:
        jobs = _by_depth(made, share) if made.pace is Pace.DEPTH else _by_rate(made, share)
        yield Test("load", "", EngineName.FIO, jobs)
        return
    for name, title, rate in (
        ("usual", "Usual", levels.usual_per_s),
        ("busy", "Busiest tenth", levels.busy_per_s),
    ):
        factor = rate / load.per_s()
        level = _rounded(replace(load, sizes=tuple(replace(each, per_s=each.per_s * factor) for each in load.sizes)))
        if level.sizes:
            yield Test(name, title, EngineName.FIO, _by_rate(level, share))


def changing(load: SeenLoad, made: SeenLoad) -> RateLevels | None:
    """The levels of a rate that changed much; None where the mean is good enough, or the load has none."""
    levels = load.levels
    if made.pace is Pace.DEPTH or levels is None or levels.busy_per_s < _CHANGES * levels.usual_per_s:
        return None
    return levels


def _summary(made: SeenLoad) -> str:
    rate = (
        f"{made.per_s():,.0f} requests a second"
        if made.pace is Pace.RATE
        else f"{made.most_in_flight} requests in flight"
    )
    sizes = ", ".join(f"{each.size / 1024:g} KiB" for each in made.sizes[:4])
    return f"What was seen of a disk: {rate}, {100 * made.read_share:.0f}% reads, of {sizes}."


# --- What fio's options can say --------------------------------------------------------------------------------------


def _rounded(load: SeenLoad) -> SeenLoad:
    exact = load.source is LoadSource.REQUESTS
    sizes = load.sizes if exact else tuple(replace(each, size=_whole(each.size)) for each in load.sizes)
    sizes = _few(sizes)
    if load.pace is Pace.RATE:
        rates = _whole_numbers([each.per_s for each in sizes])
        sizes = tuple(replace(each, per_s=rate) for each, rate in zip(sizes, rates, strict=True) if rate)
    depth = load.most_in_flight if load.most_in_flight is not None else ceil(load.depth or 1)
    return replace(load, sizes=sizes, most_in_flight=max(1, min(_MOST_DEPTH, depth)))


def _whole(size: int) -> int:
    """A mean size as one that a request can have."""
    unit = _PAGE if size >= _PAGE else _SECTOR
    return max(unit, round(size / unit) * unit)


def _few(sizes: Sequence[SeenSize]) -> tuple[SeenSize, ...]:
    """The sizes of most requests, each with those near it that are left out."""
    least = _LEAST_SHARE * sum(each.per_s for each in sizes)
    often = sorted((each for each in sizes if each.per_s >= least), key=lambda each: -each.per_s)[:_MOST_SIZES]
    # Of a direction that there is at all one size stays.
    for direction in Direction:
        own = [each for each in sizes if each.direction is direction]
        if own and sum(each.per_s for each in own) >= least and all(each.direction is not direction for each in often):
            often.append(max(own, key=lambda each: each.per_s))
    kept = {(each.direction, each.size): each for each in often}
    for each in sizes:
        near = [one for one in often if one.direction is each.direction]
        if (each.direction, each.size) in kept or not near:
            continue
        to = min(near, key=lambda one: abs(log2(one.size / each.size)))
        key = (to.direction, to.size)
        kept[key] = _joined(kept[key], each)
    return tuple(sorted(kept.values(), key=lambda each: (each.direction is Direction.WRITE, each.size)))


def _joined(one: SeenSize, other: SeenSize) -> SeenSize:
    rate = one.per_s + other.per_s
    if one.in_order is None or other.in_order is None:
        return replace(one, per_s=rate)
    return replace(one, per_s=rate, in_order=(one.in_order * one.per_s + other.in_order * other.per_s) / rate)


def _whole_numbers(values: Sequence[float], whole: int | None = None) -> list[int]:
    """Each rounded up or down, so that together they are what they were, or `whole`."""
    found = [int(value) for value in values]
    left = (round(sum(values)) if whole is None else whole) - sum(found)
    for at in sorted(range(len(values)), key=lambda at: found[at] - values[at])[: max(0, left)]:
        found[at] += 1
    return found


def _flushed(load: SeenLoad) -> float:
    """The share of writes that wait for the cache to be flushed, or for the medium; 0 where nobody knows."""
    share = min(1.0, max(load.flushes or 0.0, load.durable or 0.0))
    return 0.0 if share < _RARELY else 1.0 if share > 1 - _RARELY else share


def _size(load: SeenLoad, made: SeenLoad) -> int:
    largest = max(each.size for each in made.sizes)
    size = load.touched_bytes or _UNKNOWN_SIZE
    return ceil(max(size, _LEAST_SIZE, 4 * largest) / _MIB) * _MIB


# --- Jobs ------------------------------------------------------------------------------------------------------------


def _common(depth: int) -> Options:
    return (
        *(("ioengine", "libaio"), ("direct", "1"), ("time_based", "1"), ("runtime", "$runtime"), ("size", "$size")),
        *(("norandommap", "1"), ("iodepth", str(depth))),
    )


def _by_rate(made: SeenLoad, share: float) -> tuple[Job, ...]:
    jobs: list[Job] = []
    for each, flushed in _flushing(made, share):
        name = f"{each.direction.value}-{_named(each.size)}{'-sync' if flushed else ''}"
        options = (
            *_common(made.most_in_flight or 1),
            *_pattern({each.direction: each.in_order}),
            ("bs", str(each.size)),
            ("rate_iops", str(round(each.per_s))),
        )
        jobs.append(Job(name, (*options, ("fdatasync", "1")) if flushed else options))
    return tuple(jobs)


def _flushing(made: SeenLoad, share: float) -> Iterator[tuple[SeenSize, bool]]:
    """Each size, and whether a flush follows each of its requests: of a log, which is written in order, before all others."""
    left = round(share * made.per_s(Direction.WRITE))
    yield from ((each, False) for each in made.sizes if each.direction is Direction.READ)
    writes = [each for each in made.sizes if each.direction is Direction.WRITE]
    for each in sorted(writes, key=lambda one: -(one.in_order or 0.0)):
        flushed = min(left, round(each.per_s))
        left -= flushed
        rest = round(each.per_s) - flushed
        ordered = None if each.in_order is None else each.in_order * each.per_s
        if flushed:
            yield replace(each, per_s=flushed, in_order=None if ordered is None else min(1.0, ordered / flushed)), True
        if rest:
            after = None if ordered is None else max(0.0, ordered - flushed) / rest
            yield replace(each, per_s=rest, in_order=after), False


def _by_depth(made: SeenLoad, share: float) -> tuple[Job, ...]:
    known = [direction for direction in Direction if made.per_s(direction)]
    orders = {direction: _order_of(made, direction) for direction in known}
    mix: Options = (("rwmixread", str(round(100 * made.read_share))),) if len(known) > 1 else ()
    split = ",".join(_split([each for each in made.sizes if each.direction is direction]) for direction in known)
    if known == [Direction.WRITE]:
        # Of reads and of writes.
        split = f"{split},{split}"
    flushes: Options = (("fdatasync", str(round(1 / share))),) if share else ()
    options = (*_common(made.most_in_flight or 1), *_pattern(orders), *mix, ("bssplit", split), *flushes)
    return (Job("load", options),)


def _order_of(made: SeenLoad, direction: Direction) -> float | None:
    return replace(made, sizes=tuple(each for each in made.sizes if each.direction is direction)).in_order


def _split(sizes: Sequence[SeenSize]) -> str:
    whole = sum(each.per_s for each in sizes)
    shares = _whole_numbers([100 * each.per_s / whole for each in sizes], 100)
    return ":".join(f"{each.size}/{share}" for each, share in zip(sizes, shares, strict=True) if share)


def _pattern(orders: dict[Direction, float | None]) -> Options:
    """`rw`, and how much of it is at random. What nobody knows is taken to be."""
    shares = {direction: order or 0.0 for direction, order in orders.items()}
    mixed = len(shares) > 1
    word = "rw" if mixed else next(iter(shares)).value
    if all(share >= _IN_ORDER for share in shares.values()):
        return (("rw", word),)
    pattern: Options = (("rw", f"rand{word}"),)
    if all(share <= _AT_RANDOM for share in shares.values()):
        return pattern
    return (*pattern, ("percentage_random", ",".join(str(round(100 - 100 * share)) for share in shares.values())))


def _named(size: int) -> str:
    for unit, letter in ((_MIB, "m"), (1024, "k")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)
