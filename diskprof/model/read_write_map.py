"""A read/write map: the latency of reads at so many IOPS while so many bytes a second are written, cell by cell."""

from math import ceil

from msgspec import Struct

from diskprof.model.limit import TRIAL_START_S, Trial, TrialKind


class CellOutcome(Struct, frozen=True):
    """What a cell came to: `reads` IOPS and `written` bytes a second done, `p50` and `p99` of the reads in ns, None without any."""

    trial: Trial
    reads: float
    written: float
    p50: float | None = None
    p99: float | None = None


class MapRule(Struct, frozen=True):
    """A grid of `reads` by `writes` + 1 cells: read rates up to all that the disk does, written rates from none
    to all. In a cell at most `depth` reads are in flight.

    A cell measures for `cell_s` seconds after `ramp_s`; none begins that would end later than `most_s` after the first began.
    `known` are the cells that an earlier run measured and that are not measured again.
    """

    reads: int = 8
    writes: int = 8
    depth: int = 64
    cell_s: float = 3.0
    ramp_s: float = 0.25
    most_s: float = 360.0
    known: tuple[CellOutcome, ...] = ()

    @property
    def all_writes(self) -> Trial:
        """With it a map begins: as much as can be written."""
        return Trial(self.depth, 0, TrialKind.CELL, None)

    @property
    def all_reads(self) -> Trial:
        """As many reads as there can be."""
        return Trial(self.depth, None, TrialKind.CELL)

    @property
    def cells(self) -> int:
        """How many there are at the most, with those of all reads and all writes."""
        return 2 + self.reads * (self.writes + 1)

    @property
    def most_short(self) -> int:
        """The cells that write all that can be written, of whose writes no map writes more."""
        return 1 + ceil(self.reads * (self.writes + 1) / 2)

    @property
    def longest_s(self) -> float:
        """How long it takes where no cell is skipped."""
        return min(self.most_s, max(1, self.cells - len(self.known)) * self.seconds(self.all_reads))

    @property
    def likely_s(self) -> float:
        """How many cells are skipped is not known before."""
        return self.longest_s

    def seconds(self, trial: Trial) -> float:
        """How long a cell takes, with its start and end."""
        return TRIAL_START_S + self.ramp_s + self.measuring_s(trial)

    def measuring_s(self, _trial: Trial) -> float:
        return self.cell_s
