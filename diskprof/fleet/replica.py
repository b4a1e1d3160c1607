"""What a host tells of its run, written down here as it comes: Live, Result and reports read it as any other run."""

import io
from collections.abc import Iterator, Sequence

from diskprof.fleet.messages import Follow, News
from diskprof.model.errors import RunNotFound
from diskprof.model.run import FleetPlace, Message, Status
from diskprof.model.sample import Sample, SystemSample
from diskprof.store import Store
from diskprof.store.codec import from_micros
from diskprof.store.exchange.runfile_values import TestEnd
from diskprof.store.exchange.transfer import take_whole


class Replica:
    """The copy of a run in this store. Every method raises StoreError."""

    def __init__(self, store: Store, run_id: str, place: FleetPlace) -> None:
        self._store, self.run_id, self._place = store, run_id, place
        self._running: tuple[int, int] | None = None

    @property
    def status(self) -> Status | None:
        """None where nothing was told of it yet."""
        try:
            return self._store.run(self.run_id).status
        except RunNotFound:
            return None

    def follow(self) -> Follow:
        """What asks the host for all that is not here yet."""
        if self.status is None:
            return Follow(self.run_id, False, 0, 0, 0, 0)
        run = self._store.run(self.run_id)
        samples, system = self._store.fleets.cursors(self.run_id)
        ended = sum(test.status.over for test in run.tests)
        return Follow(self.run_id, True, len(run.messages), samples, system, ended)

    def add(self, news: News) -> None:
        """Writes down what was told. Status and results of a run that is over come with `take`."""
        store, run_id = self._store, self.run_id
        if news.began and self.status is None:
            began = news.began
            store.fleets.begin_replica(
                *(run_id, began.plan, began.environment, self._place),
                started_at=from_micros(began.started_at_us),
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

    def take(self, data: bytes, host: str) -> None:
        """Takes the whole run, which is over, in place of what was told of it."""
        take_whole(self._store, self.run_id, io.BytesIO(data), host, self._place)


def _all(records: Sequence[object]) -> Iterator[object]:
    return (each for record in records if isinstance(record, tuple) for each in record)
