"""How far the endurance of a disk is used up, by the disk's own account, and what a run takes of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskprof.model.text import clean
from diskprof.model.units import format_size

LEAST_SHARE = 0.0001


@dataclass(frozen=True, slots=True)
class Wear:
    """What a disk (kernel name) says of itself. `used_percent` is a whole number and may pass 100; `written_bytes` None: not told.

    Both are estimates of the drive's firmware. At 1% the endurance that follows from them may be off by a factor of two.
    """

    device: str
    used_percent: int
    written_bytes: int | None = None

    @property
    def rated_bytes(self) -> int | None:
        """The bytes that the drive can take in all if it goes on wearing as it did; None where it does not tell enough."""
        if self.used_percent < 1 or self.written_bytes is None or self.written_bytes <= 0:
            return None
        return self.written_bytes * 100 // self.used_percent or None

    @property
    def words(self) -> str:
        """`nvme0n1 says that 37% of its endurance is used, by 220 TiB written`."""
        by = f", by {format_size(self.written_bytes)} written" if self.written_bytes else ""
        return f"{clean(self.device)} says that {self.used_percent}% of its endurance is used{by}"


def share_of(written: int, wear: Sequence[Wear]) -> float | None:
    """The largest share of the rated endurance of one of the disks that writing so many bytes takes; None: not known."""
    return max((written / each.rated_bytes for each in wear if each.rated_bytes), default=None)


def share_words(written: int, wear: Sequence[Wear]) -> str:
    """`about 0.12% of the endurance the disk is rated for`; empty where nothing is written or known.

    On several disks it is the most that one of them can get: how they share the writes is not known.
    """
    share = share_of(written, wear)
    if share is None or not written:
        return ""
    amount = f"{100 * share:.2g}" if share < 1 else f"{100 * share:.0f}"
    about = f"about {amount}%" if share >= LEAST_SHARE else f"less than {100 * LEAST_SHARE:g}%"
    return f"{about} of the endurance {'the disk' if len(wear) == 1 else 'one of the disks'} is rated for"
