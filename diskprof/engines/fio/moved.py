"""Whether fio's I/Os moved the bytes that they must have: it counts a read that returns nothing, and no error, as an I/O (F87)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskprof.model.job import FioJob
from diskprof.model.sample import Direction

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


def least_of(jobs: Sequence[FioJob]) -> Least | None:
    """None where there is no job."""
    if not jobs:
        return None
    sizes = {
        direction: [size for job in jobs for size in job.sizes(write=direction is Direction.WRITE)]
        for direction in Direction
    }
    return Least(
        {direction: min(found) for direction, found in sizes.items()},
        sum(job.iodepth * job.numjobs for job in jobs),
        any(len(set(found)) > 1 for found in sizes.values()),
    )
