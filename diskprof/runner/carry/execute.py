"""The one place where a run happens: prepare, measure, watch, clean up, and write it all down as it goes."""

import asyncio
import errno
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, aclosing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from diskprof.analysis.findings.steady_state import precondition_not_steady
from diskprof.analysis.headline import headline
from diskprof.analysis.watched import WatchedSums, samples_of, traced_samples
from diskprof.devices.machine.device_watch import sensed
from diskprof.devices.machine.process_watch import ProcessWatch
from diskprof.devices.machine.watch import SystemWatch
from diskprof.devices.requests.trace import RequestTrace
from diskprof.devices.scan.members import parts_of
from diskprof.engines.engine import Finished, Noted, Outcome, PhaseChanged, Sampled, measure
from diskprof.engines.process import CpuTime
from diskprof.engines.reasons import stuck
from diskprof.model.advice import on_screen
from diskprof.model.device import Parts
from diskprof.model.errors import DiskprofError, StoreError
from diskprof.model.plan import Plan, PlannedTest, Severity
from diskprof.model.preset import EngineName
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import Finding, Lapse, LapseKind, Status
from diskprof.model.sample import Phase, Sample, SystemSample
from diskprof.model.steady import when_words
from diskprof.model.units import format_duration
from diskprof.runner.carry.barrier import wait_for_others
from diskprof.runner.carry.begin import Begun
from diskprof.runner.carry.descriptors import resolved
from diskprof.runner.carry.doubt_watch import DoubtWatch
from diskprof.runner.carry.drive_watch import DriveWatch
from diskprof.runner.carry.judging import judged
from diskprof.runner.carry.limit_watch import LimitWatch
from diskprof.runner.carry.map_watch import MapWatch
from diskprof.runner.carry.marks import Mark, mark_bytes
from diskprof.runner.carry.progress import ProgressMeter
from diskprof.runner.carry.recorder import Keeper
from diskprof.runner.carry.rounds_watch import RoundsWatch
from diskprof.runner.carry.served import NOTED, served
from diskprof.runner.carry.steady_watch import SteadyWatch
from diskprof.runner.carry.testfile import files_of_a_test, held_test_files
from diskprof.runner.carry.watches import Anchors, DiskWatch, LapseWatch, SpaceWatch, boottime_ns
from diskprof.runner.carry.workdir import private_directory
from diskprof.runner.plan.places import places_of
from diskprof.store import Store, this_process

_TICK_S = 0.25
# So many intervals after a sample the next one is missing.
_OVERDUE = 1.2
# Longer than a sample of most tests: each brings the progress along.
_PROGRESS_S = 0.6
_SILENT_AFTER_S = 1.0
_LAST_WORD_S = 15.0
_IO_ERROR = os.strerror(errno.EIO)
_LOOKS_FOR_REMOVAL = 9
"""So often, a tick apart, the disks are looked at once a request failed: two seconds."""
_LAPSED = {
    LapseKind.SLEPT: "The machine was suspended",
    LapseKind.STOOD: "The runner did not run (stopped, frozen, or starved of CPU)",
}
_SIGNALS = {
    signal.SIGINT: "Stopped by user (SIGINT).",
    signal.SIGTERM: "Stopped by SIGTERM.",
    signal.SIGHUP: "Terminal closed (SIGHUP).",
}


@dataclass
class StopRequest:
    """Asks a run to end. `reason` says who asked, `status` what that makes of the run."""

    event: asyncio.Event = field(default_factory=asyncio.Event)
    reason: str = ""
    status: Status = Status.CANCELLED

    def ask(self, reason: str, status: Status = Status.CANCELLED) -> None:
        if not self.event.is_set():
            self.reason, self.status = reason, status
            self.event.set()

    def on_signals(self) -> None:
        """Makes SIGINT, SIGTERM and SIGHUP ask for it, in the running event loop."""
        loop = asyncio.get_running_loop()
        for number, reason in _SIGNALS.items():
            loop.add_signal_handler(number, self.ask, reason)


async def execute(run: Begun, stop: StopRequest) -> Status:
    """Carries out a run that has begun. What goes wrong ends up in the store; no program of it survives."""
    status, reason = Status.FAILED, "The runner ended unexpectedly."
    began, began_awake = time.monotonic_ns(), boottime_ns()
    lapses: list[Lapse] = []
    looks: list[tuple[Parts, ...]] = []
    before: list[Finding] = []
    keeper = Keeper(run.store, run.run_id, lambda: time.monotonic_ns() - began)
    try:
        try:
            execution = _Execution(run, stop, keeper, began, lapses, looks, before)
            status, reason = await execution.carry_out()
        except DiskprofError as error:
            status, reason = Status.FAILED, error.kept
        except asyncio.CancelledError:
            status, reason = Status.CANCELLED, "The runner was asked to stop."
            raise
    finally:
        took_ns = boottime_ns() - began_awake
        _conclude(run.store, run.run_id, keeper, status, reason, took_ns, lapses, looks, before)
    return status


def _conclude(
    store: Store,
    run_id: str,
    keeper: Keeper,
    status: Status,
    reason: str,
    took_ns: int,
    lapses: Sequence[Lapse],
    looks: Sequence[tuple[Parts, ...]],
    before: Sequence[Finding],
) -> None:
    """`before` was found before the first test."""
    findings: tuple[Finding, ...] = ()
    words, ended_at = "", None
    try:
        keeper.settle()
        run = replace(store.run(run_id), status=status, reason=reason)
        # The clock of the machine may have been set meanwhile.
        ended_at = run.started_at + timedelta(microseconds=took_ns // 1000)
        findings = (*before, *judged(store, run, lapses, looks))
        words = headline(run)
    finally:
        with store.waiting(_LAST_WORD_S):
            store.finish_run(run_id, status=status, reason=reason, findings=findings, headline=words, ended_at=ended_at)


def _link_odd_names(plan: Plan, workdir: Path) -> None:
    """Links in fio's working directory to targets whose own names it would misread (F27)."""
    for place in places_of(plan):
        if place.link:
            (workdir / place.link).symlink_to(place.path)


class _Execution:
    def __init__(
        self,
        run: Begun,
        stop: StopRequest,
        keeper: Keeper,
        began: int,
        lapses: list[Lapse],
        looks: list[tuple[Parts, ...]],
        before: list[Finding],
    ) -> None:
        plan = run.plan
        self.run = run
        self.plan, self.run_id, self.held, self.stop, self.keeper = plan, run.run_id, run.held, stop, keeper
        self.mark = Mark(run.run_id, str(run.store.path), this_process(), os.uname().nodename)
        self.left: list[str] = []
        self.ready = False
        """Whether what comes before the first test is done."""
        self.lapses, self.lapse_watch = lapses, LapseWatch(_TICK_S)
        self.clock: Callable[[], int] = lambda: time.monotonic_ns() - began
        self._shown_ns = 0
        self._interval_s = 0.0
        self._until_tick: asyncio.Timeout | None = None
        where = run.environment
        limited = frozenset(limit.device for limit in where.io_limits)
        names = [disk.name for disk in where.all_disks]
        # A device that is watched is watched itself, as iostat does, and its disks are not woken.
        own, asked = ((plan.target.device,), sensed(where.all_disks)) if plan.watched else (names, None)
        self.watch, self.others = SystemWatch(own, limited, sensed=asked), ProcessWatch(names)
        self.watched = WatchedSums() if plan.watched else None
        self.requests: RequestTrace | None = None
        self.looks, self.before = looks, before
        self._stack = (*(device.name for device in where.stack), *where.behind)
        self.meter = ProgressMeter(plan, self.clock)
        self.space = SpaceWatch(plan)
        self.disks = DiskWatch(plan, where)
        self.doubts = DoubtWatch(run.store, run.run_id)
        self.drives = DriveWatch(() if plan.watched else where.all_disks)

    async def carry_out(self) -> tuple[Status, str]:
        for hazard in self.plan.hazards:
            if hazard.severity is not Severity.BLOCKS:
                text = f"{hazard.message} {on_screen(hazard.advice)}".strip()
                self.keeper.note(text, warning=hazard.severity is Severity.WARNS)
        for node, number in self.held.items():
            self.keeper.note(f"{node} is opened exclusively: fio was given /proc/self/fd/{number} in its place.")
        if self.run.room:
            self.keeper.note(NOTED)
        with (
            private_directory(self.run_id) as workdir,
            held_test_files(self.plan.directories, self.plan.filled, mark_bytes(self.mark), self.left.append),
        ):
            _link_odd_names(self.plan, workdir)
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGCONT, self.lapse_watch.continued)
            self.lapse_watch.turn()
            ticker = asyncio.create_task(self._tick())
            try:
                await self.drives.begin()
                status, reason = await self._tests(workdir)
                if drives := await self.drives.end():
                    self.keeper.tell_drives(drives)
            finally:
                loop.remove_signal_handler(signal.SIGCONT)
                ticker.cancel()
                with suppress(asyncio.CancelledError):
                    await ticker
        return status, "\n".join(filter(None, (reason, *self.left)))

    async def _tests(self, workdir: Path) -> tuple[Status, str]:
        anchors = Anchors(self.plan)
        self.looks.append(parts_of(self._stack))
        if self.plan.limit:
            return await self._search(anchors, workdir, LimitWatch(self.plan.limit, self.plan.tests[0]))
        if self.plan.read_write_map:
            return await self._search(anchors, workdir, MapWatch(self.plan.read_write_map, self.plan.tests))
        if self.plan.rounds is None:
            return await self._each(anchors, workdir)
        rounds = RoundsWatch(self.plan, self.plan.rounds)
        while not rounds.over:
            self.meter.round = rounds.number
            status, reason = await self._each(anchors, workdir, rounds)
            if status is not Status.COMPLETE:
                return status, reason
            with self.lapse_watch.at_work():
                self.keeper.finish_round(rounds.close())
        return Status.COMPLETE, ""

    async def _search(self, anchors: Anchors, workdir: Path, search: LimitWatch | MapWatch) -> tuple[Status, str]:
        """Trials, each of which decides on the next, until nothing is left to find or the time is over."""
        while planned := search.next():
            added = planned not in self.plan.tests
            if added:
                self.plan = replace(self.plan, tests=(*self.plan.tests, planned))
                self.meter.add(planned)
            index = self.plan.tests.index(planned)
            status, reason = await self._each(anchors, workdir, search=search, only=index, added=added)
            if status is not Status.COMPLETE:
                return status, reason
        return Status.COMPLETE, ""

    async def _each(
        self,
        anchors: Anchors,
        workdir: Path,
        rounds: RoundsWatch | None = None,
        *,
        search: LimitWatch | MapWatch | None = None,
        only: int | None = None,
        added: bool = False,
    ) -> tuple[Status, str]:
        """Each test once, or `only` one, which is `added` where the plan did not have it; a `search` hears of each.

        From the second of `rounds` on, a test that fails keeps the result of the rounds before.
        """
        failures: list[str] = []
        first = rounds is None or rounds.number == 1
        for index, planned in enumerate(self.plan.tests):
            if only not in (None, index):
                continue
            try:
                with self.lapse_watch.at_work():
                    anchors.check()
            except DiskprofError as error:
                failures.append(error.kept)
                break
            if first:
                with self.lapse_watch.at_work():
                    self.keeper.begin_test(index, planned if added else None)
            obstacle = None if self.ready else await self._prepare(workdir) or await self._wait()
            self.ready = True
            began_ns = self.clock()
            with self.lapse_watch.at_work():
                self.doubts.begin()
            with files_of_a_test(planned.files, self.left.append):
                outcome = self._as_asked(await self._as_found(obstacle or await self._measure(planned, index, workdir)))
            with self.lapse_watch.at_work():
                if first:
                    self.keeper.finish_test(index, outcome)
                self._look_at_parts(index)
                if rounds:
                    self._tell_doubts(self.doubts.finish_turn(self.lapses))
                # After the last test the whole run is judged.
                elif index + 1 < len(self.plan.tests):
                    self._tell_doubts(self.doubts.finish(index, self.lapses, self.looks))
            # Whoever ends a watch has seen enough: nothing of it is missing.
            if self.stop.event.is_set() and not (self.watched and outcome.status is Status.COMPLETE):
                alive = stuck(planned.engine, outcome.survivor) if outcome.survivor is not None else ""
                return self.stop.status, "\n".join(filter(None, (self.stop.reason, alive)))
            if outcome.status is not Status.COMPLETE:
                where = "" if first or rounds is None else f"Round {rounds.number}, "
                failures.append(f"{where}{planned.name}: {outcome.reason}")
                if rounds:
                    break
            elif rounds:
                rounds.hear(outcome, began_ns, self.clock())
            elif search and planned.trial:
                with self.lapse_watch.at_work():
                    told = search.hear(planned.trial, outcome, began_ns, self.clock())
                    self.keeper.note(told, test=index)
            if obstacle or outcome.survivor is not None:
                break
        return (Status.FAILED, "\n".join(failures)) if failures else (Status.COMPLETE, "")

    async def _wait(self) -> Outcome | None:
        """Until the run is let go with those of other hosts; None where it may measure."""
        if not self.run.waits:
            return None
        self.keeper.note("Prepared. Waiting for the other hosts.")
        return await wait_for_others(self.run.store, self.run_id, self.stop.event)

    def _look_at_parts(self, index: int) -> None:
        """The parts of arrays and multipath devices after a test; of one that is repeated after its last round."""
        self.looks[index + 1 : index + 2] = [parts_of(self._stack)]

    async def _prepare(self, workdir: Path) -> Outcome | None:
        """What comes before the first test; None once it is done, otherwise how the first test ends."""
        if self.plan.layout and (obstacle := await self._lay_out(self.plan.layout, workdir)):
            return obstacle
        for step in self.plan.precondition:
            self.keeper.note(f"Preconditioning: {step.name}, {step.title}.")
            with files_of_a_test(step.files, self.left.append):
                outcome = await self._measure(step, 0, workdir, preparing=True)
            if outcome.status is not Status.COMPLETE:
                reason = f"Preconditioning ({step.name}) failed: {outcome.reason}"
                failed = outcome.status is Status.FAILED
                return replace(outcome, reason=reason if failed else outcome.reason, result=None)
            if step.steady and outcome.result and outcome.result.steady:
                steady = outcome.result.steady
                self.keeper.note(
                    f"Preconditioning: {step.name} {when_words(step.steady, steady)}.", warning=not steady.reached
                )
                self.before.extend(precondition_not_steady(step.name, step.steady, steady))
        return None

    async def _lay_out(self, layout: PlannedTest, workdir: Path) -> Outcome | None:
        """Fills the test files; None once they are there, otherwise how the first test ends, which has nothing to work on."""
        outcome = await self._measure(layout, 0, workdir, preparing=True)
        if outcome.status is Status.COMPLETE:
            return None
        if outcome.status is Status.FAILED:
            outcome = replace(outcome, reason=f"Creating the test file failed: {outcome.reason}")
        return replace(outcome, result=None)

    async def _as_found(self, outcome: Outcome) -> Outcome:
        """A test whose disk went away failed, whatever the engine says of it, and its figures may hold what no disk did."""
        # Of a disk that is pulled, requests may fail before the kernel has removed it (seen with USB).
        looks = _LOOKS_FOR_REMOVAL if outcome.status is Status.FAILED and _IO_ERROR in outcome.reason else 1
        for look in range(looks):
            if look:
                await asyncio.sleep(_TICK_S)
            with self.lapse_watch.at_work():
                self._look_at_disks()
            if self.disks.lost:
                break
        if self.disks.complaint:
            status = Status.CANCELLED if outcome.status is Status.CANCELLED else Status.FAILED
            # What the kernel counted before is true all the same.
            kept = outcome.result if self.watched else None
            return replace(outcome, status=status, reason=self.disks.complaint, result=kept)
        if self.disks.lost and outcome.status is Status.FAILED:
            return replace(outcome, reason=f"{self.disks.lost} {outcome.reason}")
        return outcome

    def _as_asked(self, outcome: Outcome) -> Outcome:
        """A test that was cancelled ends as whoever asked for it wants it to."""
        if outcome.status is Status.CANCELLED and self.stop.status is not Status.CANCELLED:
            return replace(outcome, status=self.stop.status, reason=self.stop.reason)
        return outcome

    async def _measure(self, planned: PlannedTest, index: int, workdir: Path, *, preparing: bool = False) -> Outcome:
        self._interval_s = planned.interval_ms / 1000
        self.meter.begin(index, planned, Phase.PREPARING if preparing else Phase.MEASURING)
        # What the kernel saw between two tests belongs to neither.
        self.watch.sample(test=index, phase=self.meter.phase, at_ns=self.clock())
        self.others.begin(self.clock())
        if self.watched:
            return await self._watch(planned, self.watched)
        outcome: Outcome | None = None
        started, descriptors = resolved(planned, self.plan, self.held)
        if self.run.room and not preparing:
            started = served(started, self.run.room, index, descriptors)
        rule, phase = planned.steady, Phase.PREPARING if preparing else Phase.MEASURING
        watch, enough = SteadyWatch(planned, rule, phase) if rule else None, asyncio.Event()
        events = measure(
            started,
            index=index,
            clock=self.clock,
            workdir=workdir,
            stop=self.stop.event,
            enough=enough,
            preparing=preparing,
            pass_fds=descriptors,
        )
        async with aclosing(events):
            async for event in events:
                self._notice_lapses()
                with self.lapse_watch.at_work():
                    match event:
                        case Sampled(samples, counted, spent):
                            self._keep(samples, spent)
                            if watch and watch.hear(samples, counted):
                                enough.set()
                        case PhaseChanged(phase):
                            self._enter(phase)
                        case Noted(text, warning):
                            self.keeper.note(text, warning=warning, test=index)
                        case Finished(result):
                            outcome = result
        if outcome is None:
            raise DiskprofError(f"{planned.engine} exited unexpectedly in {planned.name}.")
        with self.lapse_watch.at_work():
            self._write(processes=self._others_did(last=True))
        if watch and outcome.status is Status.COMPLETE:
            return replace(outcome, result=watch.result(outcome.result))
        return outcome

    async def _watch(self, planned: PlannedTest, sums: WatchedSums) -> Outcome:
        """What others do, by the kernel's counters, until the time is over or somebody ends it."""
        with ExitStack() as traced:
            device = self.run.environment.device
            if planned.engine is EngineName.TRACE and device:
                self.requests = traced.enter_context(RequestTrace(device))
                # What the kernel counted while the trace was set up is no part of it.
                self.watch.sample(test=self.meter.test, phase=self.meter.phase, at_ns=self.clock())
            return await self._watch_on(planned, sums)

    async def _watch_on(self, planned: PlannedTest, sums: WatchedSums) -> Outcome:
        ends_ns = self.clock() + round(planned.runtime_s * 1e9)
        while not self.stop.event.is_set() and (left_ns := ends_ns - self.clock()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(self._interval_s, left_ns / 1e9)):
                    await self.stop.event.wait()
            self._notice_lapses()
            with self.lapse_watch.at_work():
                self._keep((), None)
        with self.lapse_watch.at_work():
            self._write(processes=self._others_did(last=True))
        if self.stop.event.is_set() and self.stop.status is Status.CANCELLED:
            self.keeper.note(self.stop.reason)
        failed = self.stop.event.is_set() and self.stop.status is not Status.CANCELLED
        return Outcome(Status.CANCELLED if failed else Status.COMPLETE, result=sums.result)

    def _enter(self, phase: Phase) -> None:
        system = None
        if self.meter.phase is Phase.PREPARING:
            # What ioping fills its file with is no part of what it measures.
            system = self.watch.sample(test=self.meter.test, phase=Phase.PREPARING, at_ns=self.clock())
        if phase is Phase.MEASURING and self.meter.phase is not phase:
            # What others did in the ramp is none of the result's business.
            self.others.begin(self.clock())
        self.meter.enter(phase)
        self._write(system=(system,) if system else ())

    def _keep(self, samples: tuple[Sample, ...], spent: CpuTime | None) -> None:
        self.meter.heard(samples)
        self._look_at_disks()
        self._append(() if self.disks.complaint else samples, spent)
        # A file system that can fill up is looked at four times a second, whatever else comes.
        if not self.space.watches:
            self._put_off_tick(_OVERDUE * self._interval_s)

    def _append(self, samples: tuple[Sample, ...] = (), spent: CpuTime | None = None) -> None:
        system = self.watch.sample(test=self.meter.test, phase=self.meter.phase, at_ns=self.clock())
        seen, others = (system,) if system else (), self._others_did()
        if self.watched:
            if system:
                self.watched.add(system, others)
            self._write(self._seen_of_others(self.watched, system), seen, others)
            return
        self._write(samples, seen, others)
        self._tell_doubts(self.doubts.hear(samples, seen, self.lapses, spent, others))

    def _seen_of_others(self, sums: WatchedSums, system: SystemSample | None) -> tuple[Sample, ...]:
        if self.requests is None:
            return samples_of(system) if system else ()
        if (interval := self.requests.interval()) is None:
            return ()
        sums.trace(interval)
        at_ns = system.at_ns if system else self.clock()
        return traced_samples(interval, self.meter.test, self.meter.phase, at_ns)

    def _others_did(self, *, last: bool = False) -> tuple[ProcessIo, ...]:
        """What other processes did to the disks since they were last looked at, of which a result is told."""
        if self.meter.phase is not Phase.MEASURING or not (last or self.others.due):
            return ()
        return self.others.look(self.meter.test, self.clock(), last=last)

    def _tell_doubts(self, found: Sequence[Finding] | None) -> None:
        if found is not None:
            self.keeper.tell_doubts((*self.before, *found))

    def _write(
        self,
        samples: tuple[Sample, ...] = (),
        system: tuple[SystemSample, ...] = (),
        processes: tuple[ProcessIo, ...] = (),
    ) -> None:
        self.drives.hear(samples, system)
        self.keeper.append(samples=samples, system=system, progress=self.meter.progress(), processes=processes)
        self._shown_ns = self.clock()

    async def _tick(self) -> None:
        """Keeps progress moving while the engine says nothing (starting, ramping, hanging), and watches the space.

        Where no space is watched it waits as long as samples come: to be woken in between takes a processor from what is measured.
        """
        while True:
            self.lapse_watch.usual_s = _TICK_S
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S) as self._until_tick:
                    await asyncio.Event().wait()
            try:
                self._notice_lapses()
                with self.lapse_watch.at_work():
                    self._look_after()
            except StoreError as error:
                self.stop.ask(error.kept, Status.FAILED)
                return

    def _put_off_tick(self, seconds: float) -> None:
        if seconds > _TICK_S and self._until_tick and not self._until_tick.expired():
            self._until_tick.reschedule(asyncio.get_running_loop().time() + seconds)
            self.lapse_watch.usual_s = seconds

    def _look_after(self) -> None:
        if complaint := self.space.complaint():
            self.stop.ask(complaint, Status.FAILED)
        self._look_at_disks()
        if self.meter.silent_s >= _SILENT_AFTER_S:
            self._append()
        elif self.clock() - self._shown_ns >= _PROGRESS_S * 1e9:
            self._write()

    def _look_at_disks(self) -> None:
        for words in self.disks.look():
            self.keeper.note(words, warning=True, test=self.meter.test)
        if self.disks.complaint:
            self.stop.ask(self.disks.complaint, Status.FAILED)

    def _notice_lapses(self) -> None:
        """To be called before the store is written: it was not waited for meanwhile."""
        for kind, seconds in self.lapse_watch.turn():
            test, phase = self.meter.test, self.meter.phase
            self.lapses.append(Lapse(kind, test, phase, self.clock(), seconds))
            if kind is LapseKind.STOOD:
                self.keeper.excuse(seconds)
            self.keeper.note(f"{_LAPSED[kind]} for {format_duration(seconds)}.", warning=True, test=test)
