"""What was measured of each host or disk of a fleet run, and which of them are alike."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from msgspec import Struct

from diskprof.analysis.metrics import Measure
from diskprof.analysis.score import measure_in, value_of
from diskprof.model.fingerprint import system_words
from diskprof.model.run import DirectionResult, Run, Status, TestRecord
from diskprof.model.sample import Direction
from diskprof.model.units import format_size


class Measured(Struct, frozen=True):
    """A host or disk as it is called in the fleet run, and its runs: repeats of one plan, one at least."""

    label: str
    runs: tuple[Run, ...]

    @property
    def results(self) -> Iterator[tuple[TestRecord, Direction, DirectionResult]]:
        """Every complete test of every run, in each direction."""
        for run in self.runs:
            for record in run.apart:
                if record.status is Status.COMPLETE and record.result:
                    for direction, result in record.result.directions:
                        yield record, direction, result


class FigureName(Struct, frozen=True):
    """A figure that all members of a fleet run have: which test, direction and measure."""

    test: str
    title: str
    direction: Direction
    measure: Measure

    @property
    def words(self) -> str:
        """`4K rand read QD32`; with the direction where the title does not say it."""
        return self.title if self.direction in self.title else f"{self.title} {self.direction}"


def figures(measured: Measured) -> dict[FigureName, float]:
    """What each test is judged by first and, of fio's, its p99, in I/Os or bytes per second or ns; of repeats the median."""
    found: dict[FigureName, list[float]] = {}
    for record, direction, result in measured.results:
        first = measure_in(record, direction, result, about_latency=measured.runs[0].plan.about_latency)
        for measure, value in (
            (first, value_of(record, result, first)),
            (Measure.LATENCY_P99, result.latency.shown.p99),
        ):
            if value is not None:
                found.setdefault(FigureName(record.name, record.title, direction, measure), []).append(float(value))
    return {name: statistics.median(values) for name, values in found.items()}


class Peers(Struct, frozen=True):
    """Members that are alike: same disks (model, size, transport), file system and kernel."""

    disks: str
    file_system: str
    kernel: str
    members: tuple[Measured, ...]


def peers(members: Sequence[Measured]) -> tuple[Peers, ...]:
    """The members by what they are like, in the order of the first of each."""
    found: dict[tuple[str, str, str], list[Measured]] = {}
    for member in members:
        run = member.runs[0]
        mount = run.environment.mount
        system = system_words(run.plan.target, mount.fs_type if mount else "")
        found.setdefault((_disks(run), system, run.environment.kernel), []).append(member)
    return tuple(Peers(*key, tuple(alike)) for key, alike in found.items())


def _disks(run: Run) -> str:
    """`Example 1000, 1 TB, nvme`; the same several times over as `4 x ...`; empty where no disk is known."""
    each = [
        ", ".join(filter(None, (disk.model, format_size(disk.size_bytes), str(disk.transport))))
        for disk in run.environment.all_disks
    ]
    kinds = sorted(set(each))
    return " + ".join(f"{count} x {kind}" if (count := each.count(kind)) > 1 else kind for kind in kinds)
