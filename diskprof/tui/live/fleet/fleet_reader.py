"""What is known of the members of a fleet run at this moment: read from the store alone, without opening their runs again."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.analysis.fleet.result import labels
from diskprof.model.fleet import FleetRun, MemberState, MemberStatus, stage_s
from diskprof.model.histogram import Histogram, merge
from diskprof.model.run import FleetPlace, FleetStage, Message, Progress, RunGlance, RunSummary, Status
from diskprof.model.run_series import LEAST_FOR_INTERVAL
from diskprof.model.sample import Direction, Phase, Sample

if TYPE_CHECKING:
    from diskprof.store import Store

KEPT_S = 120
"""Seconds of a member's course."""
_NOW_NS = 1_000_000_000
"""What happened in the last second is what happens now: members have intervals of their own lengths."""
_BACK = 8 * KEPT_S
"""So many samples at the most are that many seconds."""


class Rates(Struct, frozen=True):
    """The last second: I/Os and bytes per second of both directions, and all latencies; None where the engine gives none."""

    iops: float
    bandwidth: float
    histogram: Histogram | None

    def quantile(self, q: float) -> int | None:
        """In ns; None without a distribution, or I/Os."""
        return self.histogram.quantile(q) if self.histogram else None


class MemberNow(Struct, frozen=True):
    """A member: where it stands, its newest run where it has one, the test that is at, and its IOPS second by second, oldest first.

    `status` is that of the run, PENDING without one. `rates` is None of a member that measures nothing at the moment.
    """

    label: str
    state: MemberState
    run_id: str | None
    status: Status
    reason: str
    test: str
    tests: int
    progress: Progress | None
    rates: Rates | None
    course: tuple[float, ...]
    messages: int
    said: Message | None
    headline: str = ""
    """Its result in a few words, once it has ended."""
    place: FleetPlace | None = None
    """Where that run is in the fleet run."""
    likely_s: float = 0.0
    """What a run of it takes by its plan; 0 before the first."""

    @property
    def lost_its_turn(self) -> bool:
        """Whether its last run did not go as it should: it has no further repeat."""
        return bool(self.reason) or self.status is not Status.COMPLETE


class FleetNow(Struct, frozen=True):
    """A fleet run and every member in its order."""

    fleet: FleetRun
    members: tuple[MemberNow, ...]
    stage: FleetStage | None = None
    """ALONE while each member runs by itself first, TOGETHER after that; None where they never were alone."""
    repeat: int = 1
    """The newest that a member has."""

    @property
    def going(self) -> bool:
        return not self.fleet.status.over

    @property
    def measuring(self) -> tuple[MemberNow, ...]:
        return tuple(member for member in self.members if member.rates)

    @property
    def total(self) -> Rates | None:
        """The sum of all that measure; percentiles are those of their I/Os together."""
        parts = [member.rates for member in self.members if member.rates]
        if not parts:
            return None
        spreads = [part.histogram for part in parts if part.histogram is not None]
        return Rates(
            sum(part.iops for part in parts),
            sum(part.bandwidth for part in parts),
            merge(spreads) if len(spreads) == len(parts) else None,
        )

    @property
    def place(self) -> FleetPlace:
        """The newest repeat and stage, of whichever member."""
        return FleetPlace(self.fleet.id, 0, self.stage or FleetStage.TOGETHER, self.repeat)

    @property
    def ended(self) -> int:
        return 0 if self.stage is FleetStage.ALONE else sum(member.state.over for member in self.members)

    @property
    def overall(self) -> float:
        """How much is done, 0 to 1, of all members and repeats; what has ended is done."""
        done = sum(map(self._overall, self.members)) / max(1, len(self.members))
        if self.stage is not None:
            done = done / 2 if self.stage is FleetStage.ALONE else (1 + done) / 2
        return 1.0 if self.fleet.status is Status.COMPLETE else (self.repeat - 1 + done) / self._repeats

    @property
    def remaining_s(self) -> float | None:
        """Until the last of the last repeat ends; None where a test that runs does not say, or nothing is known yet.

        What has not begun is taken to last as long as its plan says.
        """
        if (left := self._left_of_stage) is None or not (likely := self._likely):
            return None
        stages = [FleetStage.TOGETHER] if self.stage is None else list(FleetStage)
        round_s = sum(stage_s(likely, stage, self.fleet.at_once) for stage in stages) + self.fleet.wanted.pause_s
        if self.stage is FleetStage.ALONE:
            left += stage_s(likely, FleetStage.TOGETHER, self.fleet.at_once)
        return left + (self._repeats - self.repeat) * round_s

    @property
    def _repeats(self) -> int:
        """So many in all, as far as that is known: until figures are close enough there are as many as an interval needs."""
        return max(self.fleet.wanted.repeats or LEAST_FOR_INTERVAL, self.repeat)

    @property
    def _likely(self) -> list[float]:
        """The seconds that a run of each member takes; of one that had none yet those of the longest."""
        longest = max((member.likely_s for member in self.members), default=0.0)
        there = [member for member in self.members if member.state is not MemberState.LEFT_OUT]
        return [member.likely_s or longest for member in there] if longest else []

    @property
    def _left_of_stage(self) -> float | None:
        """Until all members have ended their runs of the current stage."""
        longest = max((member.likely_s for member in self.members), default=0.0)
        left = list[float]()
        for member in self.members:
            if member.state is MemberState.LEFT_OUT:
                continue
            if not self._is_current(member):
                left += [member.likely_s or longest] if self._comes(member) else []
            elif not member.status.over:
                seconds = member.progress.remaining_s if member.progress else None
                if seconds is None:
                    return None
                left.append(seconds)
        return stage_s(left, self.stage or FleetStage.TOGETHER, self.fleet.at_once)

    def _is_current(self, member: MemberNow) -> bool:
        """Whether its newest run is of the current stage and repeat."""
        place = member.place
        return place is not None and (self.stage is None or place.stage is self.stage) and place.repeat == self.repeat

    def _comes(self, member: MemberNow) -> bool:
        """Whether a run of it is still to come in the current stage."""
        if member.state is MemberState.WAITING or member.place is None:
            return True
        in_turn = self.stage is FleetStage.ALONE or self.fleet.at_once is not None
        return in_turn and member.state is MemberState.DONE and not member.lost_its_turn

    def _overall(self, member: MemberNow) -> float:
        if self._is_current(member) or member.place is None:
            if member.state.over:
                return 1.0
            return member.progress.overall if member.progress else 0.0
        return 0.0 if self._comes(member) else 1.0


def _stage(runs: Sequence[RunSummary]) -> FleetStage | None:
    places = [run.fleet for run in runs if run.fleet]
    if FleetStage.ALONE not in {place.stage for place in places}:
        return None
    newest = max(place.repeat for place in places)
    together = any(place.stage is FleetStage.TOGETHER for place in places if place.repeat == newest)
    return FleetStage.TOGETHER if together else FleetStage.ALONE


@dataclass(slots=True)
class _Track:
    """The samples of a member's current test as they come."""

    titles: tuple[str, ...]
    likely_s: float
    test: int = -1
    cursor: int = 0
    newest: deque[Sample] = field(default_factory=deque)
    seconds: dict[int, float] = field(default_factory=dict)

    def add(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            if sample.phase is Phase.PREPARING or sample.test < self.test:
                continue
            if sample.test > self.test:
                self.test = sample.test
                self.newest.clear()
                self.seconds.clear()
            self.newest.append(sample)
            at = sample.at_ns // _NOW_NS
            self.seconds[at] = self.seconds.get(at, 0.0) + sample.ios
        while self.newest and self.newest[0].at_ns <= self.newest[-1].at_ns - _NOW_NS:
            self.newest.popleft()
        for old in list(self.seconds)[: max(0, len(self.seconds) - KEPT_S - 1)]:
            del self.seconds[old]

    @property
    def rates(self) -> Rates | None:
        if not self.newest:
            return None
        parts = [[sample for sample in self.newest if sample.direction is way] for way in Direction]
        spans = [(side, sum(sample.duration_ns for sample in side) / 1e9) for side in parts]
        known = [(side, seconds) for side, seconds in spans if seconds > 0]
        spreads = [sample.histogram for sample in self.newest if sample.ios]
        return Rates(
            sum(sum(sample.ios for sample in side) / seconds for side, seconds in known),
            sum(sum(sample.bytes for sample in side) / seconds for side, seconds in known),
            None if None in spreads else merge(spread for spread in spreads if spread),
        )

    @property
    def course(self) -> tuple[float, ...]:
        """Whole seconds alone: the first and the one that goes on are parts."""
        if not self.seconds:
            return ()
        first, last = min(self.seconds), max(self.seconds)
        return tuple(self.seconds.get(at, 0.0) for at in range(max(first, last - KEPT_S - 1) + 1, last))


class FleetReader:
    """Reads the members of one fleet run; each reading adds what is new. Its methods raise StoreError."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tracks: dict[str, _Track] = {}

    def read(self, fleet_id: str) -> FleetNow:
        """Where a fleet run stands."""
        fleet = self._store.fleet_run(fleet_id)
        # Of a disk that was alone first the run with the others comes later, and is told.
        runs = [run for run in self._store.runs_of_fleet(fleet_id) if run.fleet]
        newest = {run.fleet.member: run for run in runs if run.fleet}
        glances = {each.id: each for each in self._store.glances([run.id for run in newest.values()])}
        members = zip(labels(fleet), fleet.statuses, strict=True)
        now = (self._member(label, status, newest.get(at), glances) for at, (label, status) in enumerate(members))
        return FleetNow(
            fleet, tuple(now), _stage(runs), max((run.fleet.repeat for run in runs if run.fleet), default=1)
        )

    def _member(
        self, label: str, status: MemberStatus, run: RunSummary | None, glances: Mapping[str, RunGlance]
    ) -> MemberNow:
        glance = glances.get(run.id) if run else None
        if run is None or glance is None:
            return MemberNow(label, status.state, None, Status.PENDING, status.reason, "", 0, None, None, (), 0, None)
        track = self._tracks.get(glance.id)
        if track is None:
            track = self._tracks[glance.id] = self._opened(glance)
        going = glance.status is Status.RUNNING and status.state is not MemberState.LOST
        if going:
            batch = self._store.samples(glance.id, after=track.cursor)
            track.cursor = batch.last
            track.add(batch.samples)
        at = glance.progress.test if glance.progress else 0
        measures = going and glance.progress and glance.progress.phase in (Phase.WARMING, Phase.MEASURING)
        return MemberNow(
            *(label, status.state, glance.id, glance.status, status.reason or glance.reason),
            test=track.titles[min(at, len(track.titles) - 1)] if track.titles else "",
            tests=len(track.titles),
            progress=glance.progress,
            rates=track.rates if measures and track.test == at else None,
            course=track.course if track.test == at else (),
            messages=glance.messages,
            said=glance.said,
            headline=run.headline,
            place=run.fleet,
            likely_s=track.likely_s,
        )

    def _opened(self, glance: RunGlance) -> _Track:
        """With the titles of its tests, from the last seconds on."""
        run = self._store.run(glance.id)
        titles = tuple(test.title for test in run.tests)
        at = glance.progress.test if glance.progress else 0
        span = self._store.sample_span(glance.id, at) if titles else range(0)
        return _Track(titles, run.plan.likely_seconds, cursor=max(0, span.stop - 1 - _BACK))
