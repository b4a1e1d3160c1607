"""A fleet run: one preset on several targets at once, each of another host or of this one. Each has a run of its own."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from diskprof.model.plan import Plan
from diskprof.model.run import FleetPlace, FleetStage, Status
from diskprof.model.run_series import ONCE, Repetition


class FleetMember(Struct, frozen=True):
    """A target on a host, as ssh knows it ("db1", "root@db1"); `host` is None of a target of this machine."""

    host: str | None
    target: str

    @property
    def label(self) -> str:
        """As it is typed."""
        return self.target if self.host is None else f"{self.host}:{self.target}"


class MemberState(StrEnum):
    """WAITING: for its turn, or for the others. LOST: its host cannot be reached, its run may go on there.

    DONE: its run is here whole, however it ended. LEFT_OUT: it was never started.
    """

    WAITING = "waiting"
    RUNNING = "running"
    LOST = "lost"
    DONE = "done"
    LEFT_OUT = "left out"

    @property
    def over(self) -> bool:
        """Whether nothing more comes of it."""
        return self in (MemberState.DONE, MemberState.LEFT_OUT)


class HostClock(Struct, frozen=True):
    """How far a host's clock is ahead of the coordinator's, in ns: `offset_ns`, give or take `within_ns`.

    Half the shortest round trip, as NTP (RFC 5905) takes it.
    """

    offset_ns: int
    within_ns: int


class MemberStatus(Struct, frozen=True):
    """Where a member stands. `reason` says why it is lost or was left out. Times are UTC, by the coordinator's clock.

    `began_at` is when the first test of its run was started, None before that and of a member that did not start at once with
    others. `run_id` is the id of its newest run, which is chosen before that begins; empty until then.
    """

    state: MemberState = MemberState.WAITING
    reason: str = ""
    clock: HostClock | None = None
    began_at: datetime | None = None
    run_id: str = ""


class FleetEngine(StrEnum):
    """FIO: fio on each host. FIO_SERVER: fio's client here, and fio's server on each host."""

    FIO = "fio"
    FIO_SERVER = "fio-server"


class NewFleet(Struct, frozen=True):
    """What a fleet run begins with. `at_once`: so many hosts at the same time, None: all. `wanted`: how often each runs."""

    preset: str
    preset_title: str
    members: tuple[FleetMember, ...]
    at_once: int | None = None
    wanted: Repetition = ONCE
    engine: FleetEngine = FleetEngine.FIO


class FleetPlan(Struct, frozen=True):
    """The plans of the members that run, at `stages` of each repeat, and how often: as `NewFleet` has it."""

    plans: tuple[Plan, ...]
    wanted: Repetition
    at_once: int | None = None
    stages: tuple[FleetStage, ...] = (FleetStage.TOGETHER,)

    @staticmethod
    def of(
        plans: tuple[Plan, ...], wanted: Repetition, at_once: int | None, stages: tuple[FleetStage, ...]
    ) -> "FleetPlan":
        """With a cap where `until` was given without one."""
        round_s = FleetPlan(plans, wanted, at_once, stages).round_s
        return FleetPlan(plans, wanted.capped(round_s), at_once, stages)

    @property
    def round_s(self) -> float:
        """What one run of each member at each stage likely takes, with the pause after them."""
        each = [plan.likely_seconds for plan in self.plans]
        return sum(stage_s(each, stage, self.at_once) for stage in self.stages) + self.wanted.pause_s

    @property
    def least_s(self) -> float:
        """What it takes at the least: of `until` so many repeats as an interval needs."""
        return self.wanted.least_s(self.round_s)

    @property
    def most_repeats(self) -> int:
        """So many of each member, fewer where one ends it before."""
        return self.wanted.most_rounds(self.round_s)

    @property
    def bytes_written(self) -> int:
        """By `most_repeats` of all members."""
        return self.most_repeats * len(self.stages) * sum(plan.bytes_written for plan in self.plans)

    @property
    def writes_exact(self) -> bool:
        return self.wanted.repeats is not None and all(plan.writes_exact for plan in self.plans)


def stage_s(each: Sequence[float], stage: FleetStage, at_once: int | None) -> float:
    """What a stage takes whose members take so many seconds each."""
    if stage is FleetStage.ALONE:
        return sum(each)
    longest = max(each, default=0.0)
    return longest if at_once is None else max(longest, sum(each) / at_once)


class FleetRun(Struct, frozen=True):
    """A fleet run as it is in the store, without its runs. The index of a member is that of its status, and in `FleetPlace`.

    Times are UTC.
    """

    id: str
    status: Status
    reason: str
    preset: str
    preset_title: str
    members: tuple[FleetMember, ...]
    statuses: tuple[MemberStatus, ...]
    started_at: datetime
    ended_at: datetime | None = None
    at_once: int | None = None
    wanted: Repetition = ONCE
    engine: FleetEngine = FleetEngine.FIO

    @property
    def is_repeated(self) -> bool:
        return self.wanted.repeats != 1

    @property
    def skew(self) -> timedelta | None:
        """Between the first and the last member that began to measure, in the last repeat.

        None where fewer than two did, or not at once.
        """
        began = [status.began_at for status in self.statuses if status.began_at]
        return max(began) - min(began) if self.at_once is None and len(began) > 1 else None

    @property
    def skew_within(self) -> timedelta:
        """How far `skew` may be off, by the clocks that differ most surely."""
        known = sorted(status.clock.within_ns for status in self.statuses if status.clock and status.began_at)
        return timedelta(microseconds=sum(known[-2:]) / 1000)


class MemberOrder(Struct, frozen=True):
    """A run that a coordinator starts: its id; its place, where the fleet run is in the same store; whether it waits for others.

    `room` is the directory for the sockets of fio's servers, where fio's client measures; empty where fio does by itself.
    """

    run_id: str
    place: FleetPlace | None = None
    barrier: bool = False
    room: str = ""
