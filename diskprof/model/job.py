"""A fio job by its options: the only place that knows what they mean. Here a text becomes a number, once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from diskprof.model.errors import UnitError
from diskprof.model.sample import Direction
from diskprof.model.units import each_way, parse_size

SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"})
"""The engines that have one I/O in flight, whatever iodepth says (F12)."""

_BLOCK = 4096
_MIXED = ("rw", "randrw")
_MIX = ("rwmixread", "rwmixwrite")

Sizes = tuple[tuple[int, float], ...]
"""Sizes of a request in bytes, each with its weight among them."""


@dataclass(frozen=True, slots=True)
class FioJob:
    """What a job asks of fio, with fio's defaults for what it leaves open.

    `rw` is fio's word for the pattern. `write_share`, of 1, is the part of the I/Os that write; `mix_given`: the options say
    so. `read_sizes` and `write_sizes` are the block sizes, of a range its ends. `iodepth` is what was asked for, `depth` what
    the engine does. `direct`: the page cache is left out.
    """

    rw: str
    write_share: float
    mix_given: bool
    read_sizes: Sizes
    write_sizes: Sizes
    ioengine: str
    iodepth: int
    numjobs: int
    direct: bool
    time_based: bool

    @property
    def random(self) -> bool:
        return self.rw.startswith("rand")

    @property
    def mixed(self) -> bool:
        return self.rw in _MIXED

    @property
    def reads_only(self) -> bool:
        """By its pattern: fio takes a mix for a writer, however small the part of the writes (F61)."""
        return self.rw in ("read", "randread")

    @property
    def reads_percent(self) -> int:
        return round(100 * (1 - self.write_share))

    @property
    def directions(self) -> tuple[Direction, ...]:
        reads, writes = self.write_share < 1, self.write_share > 0
        return (*((Direction.READ,) if reads else ()), *((Direction.WRITE,) if writes else ()))

    @property
    def synchronous(self) -> bool:
        return self.ioengine in SYNCHRONOUS

    @property
    def depth(self) -> int:
        return 1 if self.synchronous else self.iodepth

    def sizes(self, *, write: bool = False) -> tuple[int, ...]:
        """Every block size of a direction, in bytes."""
        return tuple(size for size, _ in (self.write_sizes if write else self.read_sizes))

    def mean_size(self, *, write: bool = False) -> int:
        """The mean block size of a direction, in bytes."""
        sizes = self.write_sizes if write else self.read_sizes
        return round(sum(weight * size for size, weight in sizes) / (sum(weight for _, weight in sizes) or 1))


def fio_job(options: Iterable[tuple[str, str]]) -> FioJob:
    """Reads the options of a job, of which fio takes the last of each. One that is no plain value counts as not given."""
    have: dict[str, str] = {}
    for name, value in options:
        # In the order in which fio meets them: of rwmixread and rwmixwrite it takes the last.
        have.pop(name, None)
        have[name] = value
    rw = have.get("rw") or "read"
    rw = "rw" if rw == "readwrite" else rw
    ioengine = have.get("ioengine") or "psync"
    given = next((name for name in reversed(have) if name in _MIX and have[name].isdecimal()), "")
    percent = int(have[given]) if given else 50
    return FioJob(
        rw=rw,
        write_share=(percent if given == "rwmixwrite" else 100 - percent) / 100
        if rw in _MIXED
        else float("write" in rw),
        mix_given=bool(given),
        read_sizes=_sizes(have, write=False),
        write_sizes=_sizes(have, write=True),
        ioengine=ioengine,
        iodepth=_number(have.get("iodepth")),
        numjobs=_number(have.get("numjobs")),
        direct=(have.get("direct", "0") != "0" or have.get("buffered") == "0") and ioengine != "mmap",
        time_based=have.get("time_based", "0") != "0",
    )


def fio_sections(argv: Sequence[str]) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """(name, options) of each job of a fio command, and before them what stands before the first, under an empty name."""
    name, options = "", list[tuple[str, str]]()
    for word in argv[1:]:
        if not word.startswith("--"):
            continue
        key, _, value = word[2:].partition("=")
        if key == "name":
            yield name, tuple(options)
            name, options = value, []
        else:
            options.append((key, value))
    yield name, tuple(options)


def _number(text: str | None) -> int:
    return max(1, int(text)) if text and text.isdecimal() else 1


def _sizes(have: dict[str, str], *, write: bool) -> Sizes:
    found: list[tuple[int | None, float]]
    if "bssplit" in have:
        parts = [part.partition("/") for part in have["bssplit"].split(":")]
        found = [(_bytes(size), _weight(percent, 100 / len(parts))) for size, _, percent in parts]
    elif "bsrange" in have:
        found = [(_bytes(end), 1.0) for end in have["bsrange"].split("-")]
    else:
        found = [(_bytes(each_way(have.get("bs", ""))[write]), 1.0)]
    return tuple((size, weight) for size, weight in found if size and weight) or ((_BLOCK, 1.0),)


def _weight(percent: str, otherwise: float) -> float:
    try:
        return float(percent) if percent else otherwise
    except ValueError:
        return otherwise


def _bytes(text: str) -> int | None:
    try:
        return parse_size(text) if text else None
    except UnitError:
        return None
