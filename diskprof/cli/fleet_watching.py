"""The progress of a fleet run on stderr: a row a member and their sum on a terminal, a line for what happens elsewhere."""

import asyncio
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from diskprof.cli.watching import newest as newest_sample
from diskprof.cli.watching import progress_line
from diskprof.model.cells import cut, width_of
from diskprof.model.fleet import FleetRun, MemberState
from diskprof.model.histogram import merge
from diskprof.model.run import Run, RunSummary
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.model.text import clean
from diskprof.model.units import format_bandwidth, format_iops, format_latency
from diskprof.reports.content.fleet.fleet_plan import repeat_words
from diskprof.store import Store

_PERIOD_S = 0.5
_REAP_EVERY = 10
_WINDOW_NS = 2_000_000_000
"""A host tells of its samples once a second."""


async def watch_fleet(path: Path, fleet_id: str, interrupted: Callable[[], None] | None = None) -> None:
    """Shows a fleet run until it is over; Ctrl+C calls `interrupted`, the second time, or without it, it detaches."""
    left = asyncio.Event()
    asked = False

    def interrupt() -> None:
        nonlocal asked
        if asked or interrupted is None:
            left.set()
        else:
            asked = True
            interrupted()

    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)
    with Store.open(path) as store:
        rows = _Rows(store, fleet_id, sys.stderr.isatty())
        turns = 0
        while not left.is_set():
            turns += 1
            if turns % _REAP_EVERY == 0:
                store.reap()
            fleet = store.fleet_run(fleet_id)
            rows.show(fleet)
            if fleet.status.over:
                rows.clear()
                return
            await asyncio.sleep(_PERIOD_S)
        rows.clear()
    raise KeyboardInterrupt


class _Rows:
    def __init__(self, store: Store, fleet_id: str, terminal: bool) -> None:
        self._store, self._id, self._terminal = store, fleet_id, terminal
        self._drawn = 0
        self._said: dict[int, tuple[object, ...]] = {}
        self._told_skew = False
        self._recent: dict[str, tuple[int, list[Sample]]] = {}

    def show(self, fleet: FleetRun) -> None:
        runs = {run.fleet.member: run for run in self._store.runs_of_fleet(self._id) if run.fleet}
        if not self._terminal:
            self._say(fleet, runs)
            return
        width, height = shutil.get_terminal_size()
        label = max(width_of(clean(member.label)) for member in fleet.members)
        lines, recent = list[str](), list[list[Sample]]()
        for index, member in enumerate(fleet.members):
            words, samples = self._row(fleet, index, runs.get(index), width - label - 3)
            lines.append(f"{clean(member.label)}{' ' * (label - width_of(clean(member.label)))}  {words}")
            recent.append(samples)
        most = max(1, height - 2)
        if len(lines) > most:
            lines = [*lines[: most - 1], f"and {len(lines) - most + 1} more"]
        lines.append(f"{'all':{label}}  {sum_words(recent)}")
        self._draw([cut(line, width - 1, mark="") for line in lines])

    def _row(self, fleet: FleetRun, index: int, newest: RunSummary | None, width: int) -> tuple[str, list[Sample]]:
        status = fleet.statuses[index]
        reason = f": {clean(status.reason)}" if status.reason else ""
        if status.state is not MemberState.RUNNING or newest is None:
            return f"{status.state}{reason}", []
        repeat = f"{_repeat(fleet, newest)}  " if fleet.is_repeated else ""
        run = self._store.run(newest.id)
        if run.status.over or run.progress is None:
            return f"{repeat}{run.status}", []
        samples = self._samples(run)
        return f"{repeat}{progress_line(run, run.progress, samples, width - len(repeat))}", samples

    def _samples(self, run: Run) -> list[Sample]:
        """Those of the last two seconds."""
        cursor, known = self._recent.get(run.id, (newest_sample(self._store, run), []))
        batch = self._store.samples(run.id, after=cursor)
        known = [*known, *batch.samples]
        last = known[-1] if known else None
        recent = [
            each
            for each in known
            if last and (each.test, each.phase) == (last.test, last.phase) and each.at_ns > last.at_ns - _WINDOW_NS
        ]
        self._recent[run.id] = batch.last, recent
        return recent

    def _say(self, fleet: FleetRun, runs: dict[int, RunSummary]) -> None:
        for index, status in enumerate(fleet.statuses):
            state: tuple[object, ...] = (status.state, status.reason)
            words = f"{status.state}{f': {clean(status.reason)}' if status.reason else ''}"
            if status.state is MemberState.RUNNING and index in runs:
                run = self._store.run(runs[index].id)
                if run.progress:
                    at = run.progress
                    state = (run.id, at.test, at.phase)
                    repeat = f"{_repeat(fleet, runs[index])}  " if fleet.is_repeated else ""
                    words = f"{repeat}[{at.test + 1}/{len(run.tests)}] {run.tests[at.test].title}: {at.phase.value}"
            if self._said.get(index) != state:
                self._said[index] = state
                sys.stderr.write(f"{clean(fleet.members[index].label)}: {words}\n")
        sys.stderr.flush()

    def _draw(self, lines: Sequence[str]) -> None:
        up = f"\x1b[{self._drawn}F" if self._drawn else ""
        self._write(up + "".join(f"\x1b[K{line}\n" for line in lines) + "\x1b[J")
        self._drawn = len(lines)

    def clear(self) -> None:
        if self._terminal and self._drawn:
            self._write(f"\x1b[{self._drawn}F\x1b[J")
            self._drawn = 0

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            # The terminal went away; the fleet run goes on without it.
            self._terminal = False


def _repeat(fleet: FleetRun, run: RunSummary) -> str:
    return repeat_words(fleet, run.fleet) if run.fleet else ""


def sum_words(members: Sequence[Sequence[Sample]]) -> str:
    """The members together: the sum of their rates, and percentiles of all their I/Os."""
    parts = []
    for direction in Direction:
        found = [[each for each in samples if each.direction is direction and _counts(each)] for samples in members]
        found = [samples for samples in found if samples]
        if not found:
            continue
        # Of each member over its own time: one may be a second ahead of another.
        iops, amount = sum(_rate(each, "ios") for each in found), sum(_rate(each, "bytes") for each in found)
        latencies = merge(each.histogram for samples in found for each in samples if each.histogram)
        tail = "".join(
            f" {name} {format_latency(value)}"
            for name, share in (("p50", 0.5), ("p99", 0.99))
            if (value := latencies.quantile(share)) is not None
        )
        letter = "R" if direction is Direction.READ else "W"
        parts.append(f"{letter} {format_iops(iops)} IOPS {format_bandwidth(amount)}{tail}")
    return "  ".join(parts)


def _counts(sample: Sample) -> bool:
    return sample.phase in (Phase.MEASURING, Phase.WARMING) and sample.duration_ns > 0


def _rate(samples: Sequence[Sample], what: str) -> float:
    """I/Os or bytes per second of one member."""
    amount: int = sum(getattr(sample, what) for sample in samples)
    return amount * 1e9 / sum(sample.duration_ns for sample in samples)
