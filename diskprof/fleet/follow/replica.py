"""What a host tells of its run, written down here as it comes: Live, Result and reports read it as any other run."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO

from diskprof.fleet.follow.link import Link
from diskprof.fleet.follow.messages import Follow, News
from diskprof.model.errors import RunNotFound
from diskprof.model.run import FleetPlace, Message, Status
from diskprof.model.sample import Sample, SystemSample
from diskprof.store import Store
from diskprof.store.codec import from_micros
from diskprof.store.exchange.runfile_values import BadFile, TestEnd, check_values
from diskprof.store.exchange.transfer import on_its_way, take_whole
from diskprof.store.liveness import REPLICATED

_OF_A_TEST = (Message, Sample, SystemSample)
_CALENDAR_US = 7000 * 365 * 86400 * 10**6


class Replica:
    """The copy of a run in this store. Every method raises StoreError.

    Where the host keeps its runs in this very store (a home that several share, or this machine by another name) there is
    nothing to copy: the run itself is here, and gets its place alone.
    """

    def __init__(self, store: Store, run_id: str, place: FleetPlace) -> None:
        self._store, self.run_id, self._place = store, run_id, place
        self._running: tuple[int, int] | None = None
        self._copied: bool | None = None
        self._tests, self._placed = 0, False

    @property
    def status(self) -> Status | None:
        """None where nothing was told of it yet."""
        try:
            return self._store.run(self.run_id).status
        except RunNotFound:
            return None

    @property
    def is_copy(self) -> bool:
        """False where the run itself is in this store."""
        if self._copied is None and self.status is not None:
            self._copied = self._store.runner(self.run_id) == REPLICATED
        return self._copied is not False

    def follow(self) -> Follow:
        """What asks the host for all that is not here yet."""
        if self.status is None:
            return Follow(self.run_id, False, 0, 0, 0, 0)
        run = self._store.run(self.run_id)
        samples, system = self._store.fleets.cursors(self.run_id)
        ended = sum(test.status.over for test in run.tests)
        return Follow(self.run_id, True, len(run.messages), samples, system, ended)

    def add(self, news: News) -> None:
        """Writes down what was told. Status and results of a run that is over come with `take`.

        Raises BadFile for what this run cannot have done.
        """
        store, run_id = self._store, self.run_id
        if news.run_id != run_id:
            raise BadFile(f"News of another run than {run_id} came.")
        if not self.is_copy:
            self._put()
            return
        self._check(news)
        if news.began and self.status is None:
            began = news.began
            store.fleets.begin_replica(
                *(run_id, began.plan, began.environment, self._place),
                started_at=moment_of(began.started_at_us),
                tags=began.tags,
                note=began.note,
            )
        for record in news.records:
            if isinstance(record, TestEnd):
                if record.started_ns is not None:
                    store.begin_test(run_id, record.index, record.started_ns)
                store.finish_test(
                    *(run_id, record.index),
                    status=record.status,
                    reason=record.reason,
                    at_ns=record.ended_ns or 0,
                    result=record.result,
                )
        if news.running and news.running != self._running and not news.status.over:
            self._running = news.running
            store.begin_test(run_id, *news.running)
        messages = [each for each in _all(news.records) if isinstance(each, Message)]
        samples = [each for each in _all(news.records) if isinstance(each, Sample)]
        system = [each for each in _all(news.records) if isinstance(each, SystemSample)]
        if messages or samples or system or news.progress:
            store.append(run_id, samples=samples, system=system, messages=messages, progress=news.progress)

    async def fetch(self, link: Link, host: str) -> None:
        """Takes the whole run, which is over, from its host. Raises what `Link.ask` does, and BadFile."""
        with on_its_way(self._store) as file:
            await link.export(self.run_id, file)
            file.seek(0)
            self.take(file, host)

    def take(self, file: IO[bytes], host: str) -> None:
        """Takes the whole run, which is over, in place of what was told of it. Raises BadFile."""
        take_whole(self._store, self.run_id, file, host, self._place)

    def _put(self) -> None:
        if not self._placed:
            self._store.fleets.put_in_place(self.run_id, self._place)
            self._placed = True

    def _check(self, news: News) -> None:
        """Raises BadFile for tests that the plan does not have, and for figures that cannot be."""
        if news.began:
            check_values(news.began)
        if not self._tests and self.status is not None:
            self._tests = len(self._store.run(self.run_id).tests)
        tests = self._tests or (len(news.began.plan.tests) if news.began else 0)
        if not tests:
            raise BadFile("The beginning of the run is missing.")
        check_values(news.progress)
        check_values(news.running)
        indexes = [record.index for record in news.records if isinstance(record, TestEnd)]
        indexes += [each.test for each in _all(news.records) if isinstance(each, _OF_A_TEST) and each.test is not None]
        indexes += [news.progress.test] if news.progress else []
        indexes += [news.running[0]] if news.running else []
        if not all(0 <= index < tests for index in indexes):
            raise BadFile("News of a test came that the run does not have.")


def moment_of(micros: int) -> datetime:
    """A time of a host, microseconds since 1970. Raises BadFile for one outside the calendar."""
    if not 0 <= micros < _CALENDAR_US:
        raise BadFile("A time came that is outside the calendar.")
    return from_micros(micros)


def _all(records: Sequence[object]) -> Iterator[object]:
    return (each for record in records if isinstance(record, tuple) for each in record)
