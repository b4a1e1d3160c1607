"""Doubts while a run goes on: about its tests that have ended, and about the one that runs."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from diskprof.analysis.findings.so_far import doubts_so_far
from diskprof.engines.process import CpuTime
from diskprof.model.device import Parts
from diskprof.model.errors import StoreBusy
from diskprof.model.process_io import ProcessIo, together
from diskprof.model.run import Cpu, Finding, Lapse, Run, Weight
from diskprof.model.sample import Phase, Sample, SystemSample
from diskprof.runner.carry.judging import judged
from diskprof.store import Store

_HURRY_S = 0.1
_FIRST_S, _EVERY_S, _LAST_S = 5.0, 10.0, 60.0
"""The running test is judged after so many seconds of measuring and then every so many, by its last minute."""


class DoubtWatch:
    """What it finds is told until the run ends and all of it is judged.

    A store that another program keeps locked is not waited for: then less is told until the end. Raises StoreError otherwise.
    """

    def __init__(self, store: Store, run_id: str) -> None:
        self._store, self._run_id = store, run_id
        self._of_tests: dict[int, tuple[Finding, ...]] = {}
        self._told: tuple[Finding, ...] = ()
        self._run: Run | None = None
        self._forget()

    def _forget(self) -> None:
        self._samples: deque[Sample] = deque()
        self._system: deque[SystemSample] = deque()
        self._spent: deque[tuple[int, CpuTime]] = deque()
        self._processes: deque[ProcessIo] = deque()
        self._due_ns: float | None = None

    def begin(self) -> None:
        """A test begins; to be called between tests, as it reads."""
        self._forget()
        self._run = None
        with suppress(StoreBusy), self._store.waiting(_HURRY_S):
            self._run = self._store.run(self._run_id)

    def hear(
        self,
        samples: Sequence[Sample],
        system: Sequence[SystemSample],
        passed: Sequence[Lapse],
        spent: CpuTime | None = None,
        processes: Sequence[ProcessIo] = (),
    ) -> tuple[Finding, ...] | None:
        """The doubts, where they are others than were told last; None otherwise. `spent`: by the engine, at the end of `system`."""
        self._processes.extend(processes)
        mine = [replace(sample, histogram=None) for sample in samples if sample.phase is Phase.MEASURING]
        if not mine or self._run is None:
            return None
        now_ns = mine[-1].at_ns
        self._samples.extend(mine)
        self._system.extend(system)
        if spent and system:
            self._spent.append((system[-1].at_ns, spent))
        oldest = now_ns - _LAST_S * 1e9
        while self._samples and self._samples[0].at_ns < oldest:
            self._samples.popleft()
        while self._system and self._system[0].at_ns < oldest:
            self._system.popleft()
        while self._spent and self._spent[0][0] < oldest:
            self._spent.popleft()
        while self._processes and self._processes[0].last_ns < oldest:
            self._processes.popleft()
        if self._due_ns is None:
            self._due_ns = now_ns + _FIRST_S * 1e9
        if now_ns < self._due_ns:
            return None
        self._due_ns = now_ns + _EVERY_S * 1e9
        return self._judge(self._run, passed)

    def finish_turn(self, passed: Sequence[Lapse]) -> tuple[Finding, ...] | None:
        """A test has ended in a round: as `hear`, by its last minute. In the next round it is judged anew."""
        return self._judge(self._run, passed) if self._run and self._samples else None

    def finish(
        self, test: int, passed: Sequence[Lapse], looks: Sequence[tuple[Parts, ...]]
    ) -> tuple[Finding, ...] | None:
        """A test has ended: as `hear`, with the doubts about all of it."""
        try:
            with self._store.waiting(_HURRY_S):
                run = self._store.run(self._run_id)
                found = judged(self._store, replace(run, tests=(run.tests[test],)), passed, looks, test=test)
        except StoreBusy:
            return None
        self._of_tests.pop(test, None)
        told = {(each.name, each.test) for each in self._doubts}
        self._of_tests[test] = tuple(
            each for each in found if each.weight is Weight.DOUBT and (each.name, each.test) not in told
        )
        return self._others()

    @property
    def _doubts(self) -> tuple[Finding, ...]:
        return tuple(finding for found in self._of_tests.values() for finding in found)

    def _judge(self, run: Run, passed: Sequence[Lapse]) -> tuple[Finding, ...] | None:
        test = self._samples[-1].test
        run = replace(run, processes=together(self._processes))
        self._of_tests[test] = doubts_so_far(run, test, self._samples, self._system, passed, self._cpu())
        return self._others()

    def _cpu(self) -> Cpu | None:
        """What the engine used of one CPU from the first reading to the last, in percent."""
        if len(self._spent) < 2:
            return None
        (begin_ns, before), (end_ns, after) = self._spent[0], self._spent[-1]
        percent = 100 * 1e9 / (end_ns - begin_ns)
        return Cpu(percent * (after.user_s - before.user_s), percent * (after.system_s - before.system_s))

    def _others(self) -> tuple[Finding, ...] | None:
        found = self._doubts
        if [_said(each) for each in found] == [_said(each) for each in self._told]:
            return None
        self._told = found
        return found


def _said(finding: Finding) -> tuple[str, str, tuple[int, ...]]:
    """What makes it another finding: its figures are others each time."""
    return finding.name, finding.test, tuple(each.pid for each in finding.processes)
