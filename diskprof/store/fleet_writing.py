"""What the coordinator of a fleet run writes to the store."""

from collections.abc import Sequence
from datetime import UTC, datetime

from diskprof.model.fleet import FleetRun, MemberStatus, NewFleet
from diskprof.model.plan import Plan
from diskprof.model.run import Environment, FleetPlace, Status
from diskprof.store import fleets, reading, writing
from diskprof.store.database import Database
from diskprof.store.liveness import REPLICATED, ProcessIdentity, this_process


class FleetWriting:
    """Every method raises StoreError where the file cannot be written, RunNotFound for an id that is not there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, new: NewFleet, *, coordinator: ProcessIdentity | None = None) -> str:
        """Records that a fleet run begins, the calling process its coordinator unless another is named; returns its id."""
        now = datetime.now(UTC)
        statuses = (MemberStatus(),) * len(new.members)
        with self._database.write() as db:
            name = writing.new_id(db)
            fleet = FleetRun(
                *(name, Status.RUNNING, "", new.preset, new.preset_title, new.members, statuses, now),
                at_once=new.at_once,
                wanted=new.wanted,
                engine=new.engine,
            )
            fleets.insert(db, fleet, coordinator or this_process(), now)
        return name

    def new_run_id(self) -> str:
        """An id for a run that is yet to begin, on a host or here."""
        with self._database.read() as db:
            return writing.new_id(db)

    def take(self, fleet_id: str) -> None:
        """Makes the calling process the coordinator of a fleet run whose own one is gone."""
        with self._database.write() as db:
            fleets.number_of(db, fleet_id)
            fleets.take(db, fleet_id, this_process(), datetime.now(UTC))

    def touch(self, fleet_id: str) -> None:
        """Notes that the coordinator lives."""
        with self._database.write(at_once=False) as db:
            fleets.touch(db, fleet_id, datetime.now(UTC))

    def set_member(self, fleet_id: str, member: int, status: MemberStatus) -> None:
        """Replaces where a member stands."""
        with self._database.write() as db:
            fleets.set_member(db, fleet_id, member, status)

    def finish(self, fleet_id: str, *, status: Status, reason: str = "") -> None:
        """Records how a fleet run ended. Raises StoreError if it has ended already, other than by `Store.reap`."""
        writing.check_ending(status)
        with self._database.write() as db:
            fleets.finish(db, fleet_id, status, reason, datetime.now(UTC))

    def begin_replica(
        self,
        run_id: str,
        plan: Plan,
        environment: Environment,
        place: FleetPlace,
        *,
        started_at: datetime,
        tags: Sequence[str] = (),
        note: str = "",
    ) -> None:
        """Records a run that another host carries out; what happens there is added as to any run.

        `started_at` is the host's own. Raises UsageError for an id that is taken.
        """
        with self._database.write() as db:
            number = writing.create(
                *(db, writing.check_id(db, run_id), plan, environment),
                note=note,
                runner=REPLICATED,
                started_at=started_at,
                heard_at=datetime.now(UTC),
            )
            writing.set_tags(db, number, tags)
            fleets.put(db, number, place)

    def put_in_place(self, run_id: str, place: FleetPlace) -> None:
        """Gives a run that is in this store itself its place in a fleet run."""
        with self._database.write() as db:
            fleets.put(db, reading.number_of(db, run_id), place)

    def cursors(self, run_id: str) -> tuple[int, int]:
        """The cursors of the last sample and the last kernel statistics that are here; 0 where there are none."""
        with self._database.read() as db:
            number = reading.number_of(db, run_id)
            last = [
                db.execute(f"SELECT coalesce(max(seq), 0) FROM {table} WHERE run = ?", (number,)).fetchone()[0]
                for table in ("sample", "system_sample")
            ]
        return int(last[0]), int(last[1])

    def set_reached(self, run_id: str, *, reached: bool) -> None:
        """Marks a run of another host as lost, or as in progress again; does nothing to one that is over."""
        before, after = (Status.LOST, Status.RUNNING) if reached else (Status.RUNNING, Status.LOST)
        with self._database.write() as db:
            db.execute(
                "UPDATE run SET status = ? WHERE number = ? AND status = ? AND runner_place = ?",
                (after.value, reading.number_of(db, run_id), before.value, REPLICATED.place),
            )
