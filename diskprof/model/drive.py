"""What a drive counts itself, before and after a run."""

from enum import StrEnum

from msgspec import Struct

LEAST_STEPS = 16
"""A share of two counters is told from so many steps of each on: a step is 512 kB with NVMe, and 1 GiB with some makers."""


class Silence(StrEnum):
    """Why there are no counters of a drive.

    MISSING: no smartctl; DENIED: not root; ASLEEP: standby; LATE: timeout; MUTE: no such counters; SWAPPED: the serial number after
    the run is another than before it.
    """

    MISSING = "missing"
    DENIED = "denied"
    ASLEEP = "asleep"
    LATE = "late"
    MUTE = "mute"
    SWAPPED = "swapped"


class DriveCount(Struct, frozen=True):
    """A counter of a drive by its name, such as `media errors`."""

    name: str
    count: int


class DriveCounters(Struct, frozen=True):
    """One reading of a drive's counters since it was made; None: not told.

    `host_bytes` is what was written to it, in steps of `host_step` bytes; `nand_bytes` what it wrote to its flash, in its own
    steps. Some tell pages in place of that: `host_pages` for the host, `own_pages` beyond these. `errors` are those of the drive
    and of its link, `heat` how often and how long it was too hot.
    """

    host_bytes: int | None = None
    host_step: int = 1
    nand_bytes: int | None = None
    nand_step: int = 1
    host_pages: int | None = None
    own_pages: int | None = None
    temperature_c: float | None = None
    errors: tuple[DriveCount, ...] = ()
    heat: tuple[DriveCount, ...] = ()


class DriveRecord(Struct, frozen=True):
    """What a disk (kernel name) counted from before the first test of a run to after the last.

    `silence` says why nothing is known, `advice` how to change that. `test_bytes` is what the tests wrote with all that came
    before them, where it was to this disk alone; `hottest_c` the highest temperature seen in the run.
    """

    device: str
    before: DriveCounters | None = None
    after: DriveCounters | None = None
    silence: Silence | None = None
    advice: str = ""
    test_bytes: int | None = None
    hottest_c: float | None = None

    @property
    def host_bytes(self) -> int | None:
        """What was written to the drive; None where it does not tell, or a counter went back."""
        if self.before is None or self.after is None:
            return None
        return _grown(self.before.host_bytes, self.after.host_bytes)

    @property
    def nand_bytes(self) -> int | None:
        """What the drive wrote to its flash; None as for `host_bytes`."""
        if self.before is None or self.after is None:
            return None
        return _grown(self.before.nand_bytes, self.after.nand_bytes)

    @property
    def amplification(self) -> float | None:
        """Bytes written to the flash for each that was written to the drive; None where that is not known, or too little."""
        if self.before is None or self.after is None:
            return None
        host, own = (
            _grown(getattr(self.before, name), getattr(self.after, name)) for name in ("host_pages", "own_pages")
        )
        if host is not None and own is not None and host >= LEAST_STEPS:
            return (host + own) / host
        host, nand = self.host_bytes, self.nand_bytes
        steps = (self.after.host_step, self.after.nand_step)
        if not host or nand is None or host < LEAST_STEPS * steps[0] or nand < LEAST_STEPS * steps[1]:
            return None
        return nand / host

    @property
    def new_errors(self) -> tuple[DriveCount, ...] | None:
        """The errors that came in the run; None where the drive counts none."""
        return self._new("errors")

    @property
    def new_heat(self) -> tuple[DriveCount, ...] | None:
        """As `new_errors`, of times and durations of being too hot."""
        return self._new("heat")

    def _new(self, what: str) -> tuple[DriveCount, ...] | None:
        if self.before is None or self.after is None:
            return None
        known: dict[str, int] = {each.name: each.count for each in getattr(self.before, what)}
        now: tuple[DriveCount, ...] = getattr(self.after, what)
        pairs = [(each.name, each.count - known[each.name]) for each in now if each.name in known]
        return tuple(DriveCount(name, more) for name, more in pairs if more > 0) if pairs else None


def _grown(before: int | None, after: int | None) -> int | None:
    return after - before if before is not None and after is not None and after >= before else None
