"""Whether fio's I/Os moved the bytes that they must have: it counts a read that returns nothing, and no error, as an I/O (F87)."""

from collections.abc import Iterator, Mapping, Sequence

from diskprof.model.sample import Direction
from diskprof.model.units import each_way, parse_size
from diskprof.model.value import dataclass

_DEFAULT_BLOCK = "4096"
_DEFAULT_DEPTH = "1"
_SHORT = 7
"""A request now and then that returns less than its size is no reason to throw a test away: one of 2^7 of an amount."""


@dataclass(frozen=True, slots=True)
class Least:
    """What an I/O of a test moves at least, in bytes, by direction, and how many can be in flight at once.

    `mixed`: requests of a direction have several sizes, so that larger ones may hide in an interval those that moved nothing.
    """

    sizes: Mapping[Direction, int]
    in_flight: int
    mixed: bool

    def lacks(self, direction: Direction, ios: int, bytes_: int) -> bool:
        """Whether `bytes_` are fewer than `ios` must have moved, but for those in flight: fio counts what it has issued (F62)."""
        return ios - self.in_flight - (ios >> _SHORT) > bytes_ // self.sizes[direction]


def least_of(argv: Sequence[str]) -> Least | None:
    """By fio's command line; None where it names no job."""
    jobs = list(_jobs(argv))
    if not jobs:
        return None
    sizes = {
        direction: [size for options in jobs for size in _sizes(options, write=direction is Direction.WRITE)]
        for direction in Direction
    }
    return Least(
        {direction: min(found) for direction, found in sizes.items()},
        sum(int(options.get("iodepth", _DEFAULT_DEPTH)) * int(options.get("numjobs", "1")) for options in jobs),
        any(len(set(found)) > 1 for found in sizes.values()),
    )


def _jobs(argv: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """The options of each job."""
    options: dict[str, str] | None = None
    for word in argv:
        name, _, value = word.removeprefix("--").partition("=")
        if name == "name":
            if options is not None:
                yield options
            options = {}
        elif options is not None:
            options[name] = value
    if options is not None:
        yield options


def _sizes(options: Mapping[str, str], *, write: bool) -> list[int]:
    """Every size that a request of a job may have; of a range both its ends."""
    if "bssplit" in options:
        words = [part.partition("/")[0] for part in options["bssplit"].split(":")]
    elif "bsrange" in options:
        words = options["bsrange"].split("-")
    else:
        words = [each_way(options.get("bs", ""))[write] or _DEFAULT_BLOCK]
    return [max(1, parse_size(word)) for word in words]
