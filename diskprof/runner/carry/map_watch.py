"""The cells of a run that draws a read/write map: what each came to, and the test that is next."""

from msgspec.structs import replace

from diskprof.analysis.map_found import cell_outcome
from diskprof.analysis.map_search import next_cell, reached
from diskprof.engines.engine import Outcome
from diskprof.engines.fio.reader import fio_argv
from diskprof.model.limit import Trial
from diskprof.model.plan import PlannedTest
from diskprof.model.read_write_map import CellOutcome, MapRule
from diskprof.model.units import format_bandwidth, format_latency
from diskprof.presets.map_cells import cell_jobs, map_cell_name, map_cell_title


class MapWatch:
    """`next` gives the tests one after the other, of which the two that were planned come first unless they are known; `hear`
    each that is complete."""

    def __init__(self, rule: MapRule, planned: tuple[PlannedTest, ...]) -> None:
        self._rule, self._planned = rule, planned
        self._outcomes: list[CellOutcome] = list(rule.known)
        self._began_ns: int | None = None
        self._spent_s = 0.0

    def next(self) -> PlannedTest | None:
        """None where the map is complete, or its time is over."""
        trial = next_cell(self._rule, self._outcomes, self._spent_s)
        if trial is None:
            return None
        # Counted from the cells of the earlier run on: a cell that is measured again is shown as a second try.
        times = sum(each.trial == trial for each in self._outcomes)
        return planned_cell(self._rule, self._planned, trial, times + 1)

    def hear(self, trial: Trial, outcome: Outcome, begin_ns: int, end_ns: int) -> str:
        """A cell is complete, from and until so many ns since the run began; what it came to, in words."""
        if self._began_ns is None:
            self._began_ns = begin_ns
        self._spent_s = (end_ns - self._began_ns) / 1e9
        told = cell_outcome(trial, outcome.result)
        self._outcomes.append(told)
        p99 = f" (p99 {format_latency(told.p99)})" if told.p99 is not None else ""
        reads = f"{told.reads:,.0f} read IOPS{p99}" if trial.rate != 0 else ""
        writes = f"{format_bandwidth(told.written)} written" if trial.written != 0 else ""
        missed = "" if reached(self._rule, told) else ": not reached"
        return f"{', '.join(filter(None, (reads, writes)))}{missed}."


def planned_cell(rule: MapRule, planned: tuple[PlannedTest, ...], trial: Trial, number: int = 1) -> PlannedTest:
    """The test of a cell, the `number`-th time it is measured, made of the two that were planned."""
    first = next((each for each in planned if each.trial == trial), None)
    if first:
        return first
    writing, reading = planned
    jobs = cell_jobs(writing.load.fio[0], reading.load.fio[0], rule, trial)
    return replace(
        reading,
        name=map_cell_name(trial, number),
        title=map_cell_title(trial, number),
        argv=fio_argv(
            reading.argv[0],
            jobs,
            interval_ms=reading.interval_ms,
            read_only=not trial.written,
            latency=reading.latency,
        ),
        jobs=jobs,
        bytes_written=round((trial.written or 0) * (rule.cell_s + rule.ramp_s)),
        trial=trial,
    )
