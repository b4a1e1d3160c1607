"""Fleet runs made by hand: hosts, or disks of one machine, with runs of known figures; those that grow in a store."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from handmade import direction, fio, latency, on_disk, run
from msgspec.structs import replace
from recorded import FAST, recording

from diskprof.analysis.fleet.result import FleetResult
from diskprof.fleet.follow.messages import MakePlan
from diskprof.fleet.planning import Prospect
from diskprof.model.device import DeviceTree
from diskprof.model.fleet import FleetMember, FleetRun, HostClock, MemberState, MemberStatus, NewFleet
from diskprof.model.histogram import Histogram
from diskprof.model.run import FleetPlace, FleetStage, Run, Status
from diskprof.model.run_series import Repetition
from diskprof.runner.session import Session, Wish
from diskprof.store import Store, this_process

FLEET_ID = "f2a4c6e8"
STARTED = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
CLOCK = HostClock(5_000_000, 400_000)


def fleet_run(members: Sequence[FleetMember], **more: object) -> FleetRun:
    """It is over, all are done, and each began 4 ms after the one before."""
    statuses = tuple(
        MemberStatus(MemberState.DONE, "", CLOCK, STARTED + timedelta(seconds=2, milliseconds=4 * at))
        for at, _ in enumerate(members)
    )
    made = FleetRun(
        *(FLEET_ID, Status.COMPLETE, "", "quick", "Quick check", tuple(members), statuses, STARTED),
        ended_at=STARTED + timedelta(minutes=1),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def member_run(
    member: int,
    iops: float,
    *,
    stage: FleetStage = FleetStage.TOGETHER,
    repeat: int = 1,
    disk: str = "nvme0n1",
    **device: object,
) -> Run:
    """A run of a test at so many IOPS, each I/O of as long as one at a time takes."""
    spread = Histogram.of_latencies([round(1e9 / iops)] * 100)
    read = direction(iops, figures=latency(1e9 / iops), histogram=spread)
    made = run(
        fio("rand", title="4K rand read QD32", read=read),
        run_id=f"r{member}{stage[0]}{repeat}aaaa",
        environment=on_disk(name=disk, **device),
    )
    return replace(made, fleet=FleetPlace(FLEET_ID, member, stage, repeat))


def hosts(*iops: float) -> FleetResult:
    """db1, db2 ... with these IOPS."""
    members = [FleetMember(f"db{at}", "/srv") for at, _ in enumerate(iops, start=1)]
    return FleetResult(fleet_run(members), tuple(member_run(at, each) for at, each in enumerate(iops)))


def hosts_repeated(*iops: tuple[float, ...]) -> FleetResult:
    """As `hosts`, each with these IOPS in one repeat after the other."""
    members = [FleetMember(f"db{at}", "/srv") for at, _ in enumerate(iops, start=1)]
    runs = tuple(
        member_run(at, value, repeat=repeat)
        for at, mine in enumerate(iops)
        for repeat, value in enumerate(mine, start=1)
    )
    return FleetResult(fleet_run(members, wanted=Repetition(repeats=max(map(len, iops)))), runs)


def disks(alone: Sequence[float], together: Sequence[float], *attached: tuple[str, ...]) -> FleetResult:
    """sda, sdb ... of one machine, which hang on these."""
    members = [FleetMember(None, f"/dev/sd{chr(97 + at)}") for at, _ in enumerate(alone)]
    ways = attached or ((),) * len(alone)
    runs = [
        member_run(at, each, stage=stage, disk=f"sd{chr(97 + at)}", attached=ways[at])
        for at, pair in enumerate(zip(alone, together, strict=True))
        for each, stage in zip(pair, (FleetStage.ALONE, FleetStage.TOGETHER), strict=True)
    ]
    return FleetResult(fleet_run(members), tuple(runs))


def begun(store: Store, *factors: float) -> tuple[str, list[Iterator[str]]]:
    """A fleet run and the runs of its hosts, each so much faster than the first."""
    members = tuple(FleetMember(f"db{at}", "/srv") for at, _ in enumerate(factors, start=1))
    return _begun(store, members, factors, FleetStage.TOGETHER)


def begun_alone(store: Store, *factors: float) -> tuple[str, list[Iterator[str]]]:
    """A run of each disk of this machine, and the runs of the disks alone."""
    members = tuple(FleetMember(None, f"/mnt/{at}") for at, _ in enumerate(factors, start=1))
    return _begun(store, members, factors, FleetStage.ALONE)


def _begun(
    store: Store, members: tuple[FleetMember, ...], factors: tuple[float, ...], stage: FleetStage
) -> tuple[str, list[Iterator[str]]]:
    fleet_id = store.fleets.create(NewFleet("quick", "Quick check", members))
    runs = []
    for at, factor in enumerate(factors):
        place = FleetPlace(fleet_id, at, stage)
        run = recording(store, machine=FAST, seed=at, factor=factor, runner=this_process(), fleet=place)
        next(run)
        store.fleets.set_member(fleet_id, at, MemberStatus(MemberState.RUNNING))
        runs.append(run)
    return fleet_id, runs


def step(runs: list[Iterator[str]], intervals: int) -> None:
    for each in runs:
        list(islice(each, intervals))


def ended(store: Store, fleet_id: str, runs: list[Iterator[str]]) -> None:
    for at, each in enumerate(runs):
        list(each)
        store.fleets.set_member(fleet_id, at, MemberStatus(MemberState.DONE))
    store.fleets.finish(fleet_id, status=Status.COMPLETE)


def planned_here(asked: list[MakePlan]) -> Callable[..., object]:
    """In place of hosts: each plans in its directory."""

    async def plan(
        members: Sequence[FleetMember], _: object, wanted: Callable[[FleetMember], MakePlan], __: str
    ) -> list[Prospect]:
        session, found = Session(), []
        for member in members:
            made = wanted(member)
            asked.append(made)
            wish = Wish(made.preset, None, DeviceTree(()), dict(made.settings), expectations=made.expectations)
            found.append(
                Prospect(member, (), session.make_plan(wish, session.resolve_target(made.target, wish.tree), {}))
            )
        return found

    return plan
