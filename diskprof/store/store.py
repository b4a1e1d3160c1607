"""The store: every run, from the moment it begins. One process writes a run, any number read it meanwhile."""

import sqlite3
import zlib
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from diskprof.model.device import Device
from diskprof.model.drive import DriveRecord
from diskprof.model.earlier import EarlierResult
from diskprof.model.errors import StoreError
from diskprof.model.fingerprint import Aspect, Fingerprint, LikeRuns
from diskprof.model.fleet import FleetRun
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import (
    Environment,
    Finding,
    FleetPlace,
    Message,
    Progress,
    Run,
    RunGlance,
    RunSummary,
    SeriesPlace,
    Status,
    TestResult,
)
from diskprof.model.run_series import NewSeries, RunSeries
from diskprof.model.sample import Sample, SystemSample
from diskprof.store import barriers, codec, courses, earlier, fleets, in_progress, reading, run_series, writing
from diskprof.store.barriers import Barriers
from diskprof.store.database import Database
from diskprof.store.fleet_writing import FleetWriting
from diskprof.store.histogram_blocks import BlockWriter, HistogramBlocks
from diskprof.store.liveness import ProcessIdentity, is_dead, this_process
from diskprof.store.paths import default_path
from diskprof.store.reading import Item, SampleBatch, SystemBatch
from diskprof.store.series_writing import SeriesWriting

_BUSY_S = 5.0
_VACUUM_PAGES = 64
_TRASH_KEEPS = timedelta(days=7)


class Store:
    """One connection to the runs' file, used from one thread; several stores may be open on one file.

    Every method raises StoreError where the file cannot be read or written, RunNotFound for an id that is not there.
    What a method wrote is on the disk when it returns, but for `append`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._block_writer = BlockWriter()

    @staticmethod
    def open(path: Path | None = None, *, create: bool = True, timeout_s: float = _BUSY_S) -> "Store":
        """Opens the store, by default at `default_path()`, and makes it if it is not there and `create` is set.

        A store that may not be written is opened for reading. `timeout_s` is how long a lock of another program is
        waited for. Raises StoreError.
        """
        return Store(Database.open(path or default_path(), create=create, timeout_s=timeout_s))

    @property
    def path(self) -> Path:
        return self._database.path

    @property
    def read_only(self) -> bool:
        return self._database.read_only

    @property
    def journal(self) -> str:
        """SQLite's journal mode: "wal", or "delete" where the file system cannot do that."""
        return self._database.journal

    @property
    def fleets(self) -> FleetWriting:
        """What the coordinator of a fleet run writes."""
        return FleetWriting(self._database)

    @property
    def repeats(self) -> SeriesWriting:
        """What the runner of a series writes."""
        return SeriesWriting(self._database)

    @property
    def barriers(self) -> Barriers:
        """Where runs on several hosts wait for each other."""
        return Barriers(self._database)

    @property
    def blocks(self) -> HistogramBlocks:
        """What the heat map of a day is made from."""
        return HistogramBlocks(self._database)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def waiting(self, timeout_s: float) -> AbstractContextManager[None]:
        """Inside, a lock of another program is waited for this long; StoreBusy says that it was too short."""
        return self._database.waiting(timeout_s)

    # What the runner writes

    def create_run(
        self,
        plan: Plan,
        environment: Environment,
        *,
        tags: Sequence[str] = (),
        note: str = "",
        runner: ProcessIdentity | None = None,
        started_at: datetime | None = None,
        run_id: str | None = None,
        series: SeriesPlace | NewSeries | None = None,
        fleet: FleetPlace | None = None,
        barrier: bool = False,
    ) -> str:
        """Records that a run begins and returns its id; the calling process is its runner unless another is named.

        It is the newest of all, also where the clock was set back; with `started_at` it stands where that time puts it.
        With a `barrier` its first test waits for those of other hosts.
        With a NewSeries it is the first run of that; later ones, at their SeriesPlace, have the tags and the note of the series.

        Raises UsageError for an id that is taken and for a reserved tag, ValueError for a time without a zone.
        """
        now = datetime.now(UTC)
        with self._database.write() as db:
            name = writing.new_id(db) if run_id is None else writing.check_id(db, run_id)
            who = runner or this_process()
            number = writing.create(
                db, name, plan, environment, note=note, runner=who, started_at=started_at, heard_at=now
            )
            writing.set_tags(db, number, tags)
            if isinstance(series, NewSeries):
                series = run_series.begin(db, writing.new_id(db), series, plan, who, started_at or now)
            if series:
                run_series.put(db, number, series)
            if fleet:
                fleets.put(db, number, fleet)
            if barrier:
                barriers.insert(db, number, now)
        return name

    def begin_test(self, run_id: str, index: int, at_ns: int, added: PlannedTest | None = None) -> None:
        """Marks test `index` as running since `at_ns` (ns since the run began); `added`: a test behind those of its plan."""
        with self._database.write() as db:
            if not writing.begin_test(db, self._touch(db, run_id), index, at_ns, added):
                raise StoreError(f"The run {run_id} has no test {index}.")

    def append(
        self,
        run_id: str,
        *,
        samples: Sequence[Sample] = (),
        system: Sequence[SystemSample] = (),
        messages: Sequence[Message] = (),
        progress: Progress | None = None,
        processes: Sequence[ProcessIo] = (),
    ) -> None:
        """Adds what happened, in one transaction. Raises StoreError for a NaN or a number beyond 64 bits, and keeps none.

        It is on the disk within 5 s, as long as a run goes on adding: to wait for the disk each time would disturb a test.
        """
        with self._database.write(at_once=False) as db:
            writing.append(
                *(db, self._touch(db, run_id), samples, system, messages, progress), self._block_writer, processes
            )

    def finish_test(
        self,
        run_id: str,
        index: int,
        *,
        status: Status,
        reason: str = "",
        at_ns: int,
        result: TestResult | None = None,
        document: bytes = b"",
    ) -> None:
        """Records how test `index` ended at `at_ns`; `document` is the engine's final output, kept whole."""
        if not status.over:
            raise ValueError(f"a test cannot end as {status.value}")
        with self._database.write() as db:
            number = self._touch(db, run_id)
            if not writing.finish_test(db, number, index, status, reason, at_ns, result, document):
                raise StoreError(f"The run {run_id} has no test {index}.")

    def finish_round(self, run_id: str, ends: Sequence[tuple[int, TestResult, bytes]], *, at_ns: int) -> None:
        """Records what each test, by its index, has come to with a round that is complete, and its engine's final output of this
        round: all of it, or nothing."""
        with self._database.write() as db:
            number = self._touch(db, run_id)
            for index, result, document in ends:
                if not writing.finish_test(db, number, index, Status.COMPLETE, "", at_ns, result, document):
                    raise StoreError(f"The run {run_id} has no test {index}.")

    def tell_doubts(self, run_id: str, findings: Sequence[Finding]) -> None:
        """Records the doubts about a run in progress, in place of those before; `finish_run` records all findings."""
        with self._database.write() as db:
            writing.set_findings(db, self._touch(db, run_id), findings)

    def tell_drives(self, run_id: str, drives: Sequence[DriveRecord]) -> None:
        """Records what the drives of a run in progress counted from its begin to its end."""
        with self._database.write() as db:
            writing.set_drives(db, self._touch(db, run_id), drives)

    def finish_run(
        self,
        run_id: str,
        *,
        status: Status,
        reason: str = "",
        findings: Sequence[Finding] = (),
        headline: str = "",
        ended_at: datetime | None = None,
    ) -> None:
        """Records how the run ended; pending tests become skipped, a running one takes the run's status.

        Raises StoreError if it has ended already, other than by `reap`.
        """
        writing.check_ending(status)
        with self._database.write() as db:
            writing.finish_run(db, run_id, status, reason, findings, headline, ended_at or datetime.now(UTC))

    def _touch(self, db: sqlite3.Connection, run_id: str) -> int:
        return writing.touch(db, run_id, datetime.now(UTC))

    # What everybody reads

    def summaries(self, *, limit: int | None = None) -> list[RunSummary]:
        """The runs, the one that was begun last first."""
        with self._database.read() as db:
            return reading.summaries(db, limit)

    def running(self) -> list[RunSummary]:
        """The runs that are marked as running, the one that was begun last first; `reap` finds those that are not."""
        with self._database.read() as db:
            return reading.running(db)

    def summary(self, run_id: str) -> RunSummary:
        """A run as the list has it. Takes an id only."""
        with self._database.read() as db:
            return reading.summary(db, run_id)

    def count(self) -> int:
        """How many runs the list has."""
        with self._database.read() as db:
            return reading.count(db)

    def resolve(self, name: str) -> str:
        """The id that `name` means: an id, a tag (the newest run with it), an id's beginning, `latest`, `latest~N`.

        Raises RunNotFound, whose hint names candidates.
        """
        with self._database.read() as db:
            return reading.resolve(db, name)

    def resolve_item(self, name: str) -> Item:
        """As `resolve`, where a series or a fleet run is one thing: by its id, the beginning of one, a tag of all its runs, or
        `latest`."""
        with self._database.read() as db:
            return reading.resolve_item(db, name)

    def runs_named(self, name: str, *, trash: bool = False) -> list[str]:
        """The ids of the runs that `name` means, of a series or a fleet run all that are not in the trash; with `trash` those that
        are.

        Raises RunNotFound.
        """
        with self._database.read() as db:
            return reading.runs_of(db, reading.resolve_item(db, name, trash=trash), trash=trash)

    def tagged(self, tag: str) -> list[str]:
        """The ids of the runs with a tag that are not in the trash, oldest first."""
        with self._database.read() as db:
            return reading.tagged(db, tag)

    def series(self, series_id: str) -> RunSeries:
        """Takes an id only. Raises RunNotFound."""
        with self._database.read() as db:
            return run_series.series(db, series_id)

    def series_list(self) -> list[RunSeries]:
        """Every series with a run that is not in the trash, the one begun last first."""
        with self._database.read() as db:
            return run_series.series_list(db)

    def series_runs(self, series_id: str) -> list[RunSummary]:
        """The runs of a series that are not in the trash, in their order. Raises RunNotFound."""
        with self._database.read() as db:
            return reading.summaries_of_series(db, series_id)

    def series_runner(self, series_id: str) -> ProcessIdentity:
        """The process that carries, or carried, the series out."""
        with self._database.read() as db:
            return run_series.runner(db, series_id)

    def fleet_run(self, fleet_id: str) -> FleetRun:
        """Takes an id only. Raises RunNotFound."""
        with self._database.read() as db:
            return fleets.fleet_run(db, fleet_id)

    def fleet_runs(self) -> list[FleetRun]:
        """Every fleet run in progress or with a run that is not in the trash, the one begun last first."""
        with self._database.read() as db:
            return fleets.fleet_runs(db)

    def runs_of_fleet(self, fleet_id: str) -> list[RunSummary]:
        """The runs of a fleet run that are not in the trash, in the order of its members. Raises RunNotFound."""
        with self._database.read() as db:
            return reading.summaries_of_fleet(db, fleet_id)

    def coordinator(self, fleet_id: str) -> ProcessIdentity:
        """The process that carries, or carried, the fleet run out."""
        with self._database.read() as db:
            return fleets.coordinator(db, fleet_id)

    def run(self, run_id: str) -> Run:
        """The whole run but its samples and documents. Takes an id only."""
        with self._database.read() as db:
            return reading.run(db, run_id)

    def earlier_results(self, run_id: str) -> tuple[EarlierResult, ...]:
        """What earlier complete runs without doubts measured with the same preset and parameters on the same disk, newest first."""
        with self._database.read() as db:
            return earlier.earlier_results(db, run_id)

    def fingerprint(self, run_id: str) -> Fingerprint:
        """What makes other runs of its preset like this one."""
        with self._database.read() as db:
            return earlier.fingerprint_of(db, run_id)

    def kinds_of_runs(self, preset: str, *, tag: str = "") -> tuple[LikeRuns, ...]:
        """The complete runs of a preset by their fingerprints, the kind of the newest run first; with `tag` only those that
        have it."""
        with self._database.read() as db:
            return earlier.kinds_of_runs(db, preset, tag)

    def like_results(
        self, preset: str, like: Fingerprint, *, across: Collection[Aspect] = (), tag: str = ""
    ) -> tuple[EarlierResult, ...]:
        """What the complete runs of a preset measured that are alike in all but `across`, the oldest first; with `tag`
        only those that have it."""
        with self._database.read() as db:
            return earlier.like_results(db, preset, like, across, tag)

    def newest_on(self, disks: Sequence[Device], host: str, preset: str = "") -> str | None:
        """The id of the newest complete run on these whole disks of a host: of the preset if there is one, else of any."""
        with self._database.read() as db:
            return earlier.newest_on(db, disks, host, preset)

    def summaries_on(self, disks: Sequence[Device], host: str) -> list[RunSummary]:
        """The last complete runs on these whole disks of a host, newest first."""
        with self._database.read() as db:
            return earlier.summaries_on(db, disks, host)

    def glances(self, run_ids: Sequence[str]) -> list[RunGlance]:
        """Where each of these runs stands, in their order, without opening it; those that are gone are left out."""
        with self._database.read() as db:
            return reading.glances(db, run_ids)

    def overall(self, run_id: str) -> float | None:
        """How much of a run is done, 0 to 1; None where it did not say yet."""
        with self._database.read() as db:
            return reading.overall(db, run_id)

    def runner(self, run_id: str) -> ProcessIdentity:
        """The process that carries, or carried, the run out."""
        with self._database.read() as db:
            return reading.runner(db, run_id)

    def test_directories(self) -> list[tuple[str, str]]:
        """(run, private directory) of every run that may have left files behind: it goes on, or did not end as it should."""
        with self._database.read() as db:
            return reading.test_directories(db)

    def targets(self) -> list[str]:
        """What the runs worked on, each once: paths of directories, files and devices, also of runs of another machine."""
        with self._database.read() as db:
            return reading.targets(db)

    def samples(
        self,
        run_id: str,
        *,
        test: int | None = None,
        after: int = 0,
        histograms: bool = True,
        most: int | None = None,
    ) -> SampleBatch:
        """The samples stored after the cursor `after` (0: all), of one test if `test` is given, the first `most` of them.

        Without `histograms` they take a third of the memory, and still know p50, p99, p99.9 and the share within WITHIN_NS.
        """
        with self._database.read() as db:
            return reading.samples(db, run_id, test, after, histograms=histograms, most=most)

    def sample_span(self, run_id: str, test: int, *, preparing: bool = False) -> range:
        """The cursors of a test's samples, or those of its laying out, for `samples_at`; empty where there are none."""
        with self._database.read() as db:
            return reading.sample_span(db, run_id, test, preparing)

    def samples_at(self, run_id: str, test: int, places: Sequence[int]) -> tuple[Sample, ...]:
        """The samples of a test at these cursors (some hundred at once), in the order they were stored, where there are any."""
        with self._database.read() as db:
            return reading.samples_at(db, run_id, test, places)

    def course(self, run_id: str, test: int, *, most: int = 1024) -> SampleBatch:
        """A test's samples as a picture needs them: about `most` of each phase and direction, neighbours taken together.

        Of those taken together: amounts and durations are sums, mean and p50 weighed by I/Os, p99, p99.9 and maximum the
        worst, and there is no histogram. A day is read from blocks that its writer made: they may be no more than half of
        `most`. `last` is the cursor for `samples`.
        """
        with self._database.read() as db:
            return courses.samples(db, run_id, test, most)

    def system_samples(
        self, run_id: str, *, test: int | None = None, after: int = 0, most: int | None = None
    ) -> SystemBatch:
        """As `samples`, of kernel statistics."""
        with self._database.read() as db:
            return reading.system_samples(db, run_id, test, after, most=most)

    def system_course(self, run_id: str, test: int, *, most: int = 512) -> SystemBatch:
        """As `course`, of kernel statistics: amounts are sums, shares and memory means, the temperature the highest."""
        with self._database.read() as db:
            return courses.system_samples(db, run_id, test, most)

    def document(self, run_id: str, index: int) -> bytes:
        """The engine's final output of a test, byte for byte; empty where there is none."""
        with self._database.read() as db:
            packed = reading.document(db, run_id, index)
        try:
            return b"" if packed is None else zlib.decompress(packed)
        except zlib.error as error:
            raise StoreError(
                f"The document of test {index} of the run {run_id} cannot be read: {error}.", codec.DAMAGED
            ) from None

    def change_counter(self) -> int:
        """A number that grows whenever anything in the store has changed, whoever changed it. Cheap."""
        return self._database.pragma("data_version") + self._database.commits

    # What a person edits

    def set_tags(self, run_id: str, tags: Sequence[str]) -> None:
        """Replaces the tags. Raises UsageError for `latest` and `latest~N`."""
        with self._database.write() as db:
            writing.set_tags(db, reading.number_of(db, run_id), tags)

    def set_note(self, run_id: str, note: str) -> None:
        with self._database.write() as db:
            number = reading.number_of(db, run_id)
            db.execute("UPDATE run SET note = ? WHERE number = ?", (codec.to_text(note), number))

    # What a person deletes

    def discard(self, run_id: str, at: datetime) -> None:
        """Puts a run into the trash, where it is kept for a week. Raises Refused while it, or its series, is in progress.

        Runs that are discarded `at` the same moment come back together.
        """
        with self._database.write() as db:
            number = reading.number_of(db, run_id)
            in_progress.refuse_run(db, number, run_id)
            writing.discard(db, number, at)

    def restore(self, run_id: str) -> None:
        """Takes a run out of the trash; does nothing for one that is not there. Raises RunNotFound."""
        with self._database.write() as db:
            writing.restore(db, reading.number_of(db, run_id, trash=True))

    def trash(self) -> list[RunSummary]:
        """The runs in the trash, the one deleted last first."""
        with self._database.read() as db:
            return reading.summaries(db, trash=True)

    def resolve_in_trash(self, name: str) -> str:
        """As `resolve`, of the runs in the trash; `latest` is the one deleted last."""
        with self._database.read() as db:
            return reading.resolve(db, name, trash=True)

    def last_discarded(self) -> tuple[str, ...]:
        """The runs in the trash that were deleted last, together."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT id FROM run WHERE deleted_at = (SELECT max(deleted_at) FROM run) ORDER BY ordinal"
            )
            return tuple(run_id for (run_id,) in rows)

    def empty_trash(self, now: datetime | None = None) -> int:
        """Deletes for good what has been in the trash for a week, and returns how many; nothing while a run is under way.

        A day of samples takes seconds to go, so this is called when nobody waits.
        """
        before = codec.to_micros((now or datetime.now(UTC)) - _TRASH_KEEPS)
        old = "FROM run WHERE deleted_at <= ?"
        with self._database.read() as db:
            if self.read_only or not db.execute(f"SELECT 1 {old}", (before,)).fetchone() or in_progress.busy(db):
                return 0
        with self._database.write() as db:
            gone = db.execute(f"DELETE {old}", (before,)).rowcount
            run_series.remove_empty(db)
            fleets.remove_empty(db)
        self._vacuum()
        return gone

    def delete(self, run_id: str) -> None:
        """Removes a run for good, also from the trash. Raises Refused while it, or its series, is in progress."""
        with self._database.write() as db:
            number = reading.number_of(db, run_id, trash=True)
            in_progress.refuse_run(db, number, run_id)
            db.execute("DELETE FROM run WHERE number = ?", (number,))
            run_series.remove_empty(db)
            fleets.remove_empty(db)
        self._vacuum()

    def refuse_series_under_way(self, series_id: str) -> None:
        """Raises Refused while a series is in progress, also between two of its runs."""
        with self._database.read() as db:
            in_progress.refuse_series(db, series_id)

    def _vacuum(self) -> None:
        """Gives freed space back, once it is worth it and while no disk is being measured."""
        with self._database.read() as db:
            busy = in_progress.busy(db)
        if not busy and self._database.pragma("freelist_count") >= _VACUUM_PAGES:
            self._database.shrink()

    def reap(self) -> list[str]:
        """Marks as interrupted the runs whose runner died without a word; returns their ids. Does nothing read-only.

        A fleet run whose coordinator died is interrupted; what runs on its hosts is lost, until `diskprof fleet fetch`.

        The status is looked at again under the write lock, after the runner was found dead: a dead process
        finishes nothing any more, so a run that ended by itself is never taken for an interrupted one.
        """
        if self.read_only:
            return []
        with self._database.read() as db:
            dead = [(number, run_id) for number, run_id, ended in in_progress.runs(db) if ended]
            ended = [each for each, _, heard, runner in run_series.under_way(db) if is_dead(runner, heard)]
            alone = [each for each, _, heard, runner in fleets.under_way(db) if is_dead(runner, heard)]
        if not dead and not ended and not alone:
            return []
        reason = "The runner exited unexpectedly (killed, or the machine or the run database failed)."
        with self._database.write() as db:
            found = [run_id for number, run_id in dead if writing.interrupt(db, number, reason)]
            for series in ended:
                run_series.interrupt(db, series)
            for fleet in alone:
                fleets.interrupt(db, fleet)
        return found
