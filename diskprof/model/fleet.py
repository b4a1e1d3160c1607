"""A fleet run: one preset on several targets at once, each of another host or of this one. Each has a run of its own."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from diskprof.model.run import FleetPlace, Status


@dataclass(frozen=True, slots=True)
class FleetMember:
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


@dataclass(frozen=True, slots=True)
class HostClock:
    """How far a host's clock is ahead of the coordinator's, in ns: `offset_ns`, give or take `within_ns`.

    Half the shortest round trip, as NTP (RFC 5905) takes it.
    """

    offset_ns: int
    within_ns: int


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """Where a member stands. `reason` says why it is lost or was left out. Times are UTC, by the coordinator's clock.

    `began_at` is when its first test was started, None before that and of a member that did not start at once with others.
    `run_id` is the id of its run, which is chosen before that begins; empty until then.
    """

    state: MemberState = MemberState.WAITING
    reason: str = ""
    clock: HostClock | None = None
    began_at: datetime | None = None
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class NewFleet:
    """What a fleet run begins with. `at_once`: so many hosts at the same time, None: all."""

    preset: str
    preset_title: str
    members: tuple[FleetMember, ...]
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class FleetRun:
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

    @property
    def skew(self) -> timedelta | None:
        """Between the first and the last member that began to measure; None where fewer than two did, or not at once."""
        began = [status.began_at for status in self.statuses if status.began_at]
        return max(began) - min(began) if self.at_once is None and len(began) > 1 else None

    @property
    def skew_within(self) -> timedelta:
        """How far `skew` may be off, by the clocks that differ most surely."""
        known = sorted(status.clock.within_ns for status in self.statuses if status.clock and status.began_at)
        return timedelta(microseconds=sum(known[-2:]) / 1000)


@dataclass(frozen=True, slots=True)
class MemberOrder:
    """A run that a coordinator starts: its id; its place, where the fleet run is in the same store; whether it waits for others.

    `room` is the directory for the sockets of fio's servers, where fio's client measures; empty where fio does by itself.
    """

    run_id: str
    place: FleetPlace | None = None
    barrier: bool = False
    room: str = ""
