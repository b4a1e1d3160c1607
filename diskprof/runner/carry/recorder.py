"""What happens in a run is written down in order, and nothing of it is lost while another program keeps the store locked."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from diskprof.engines.events import Outcome
from diskprof.model.drive import DriveRecord
from diskprof.model.errors import StoreBusy
from diskprof.model.plan import PlannedTest
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import Finding, Message, Progress, TestResult
from diskprof.model.sample import Sample, SystemSample
from diskprof.store import Store

_HURRY_S = 0.1
_AGAIN_S = 0.5
_PATIENCE_S = 60.0


class Keeper:
    """The store as a run under way sees it. Every method raises StoreError where the store cannot be written.

    A locked store holds nothing up: what cannot be written now is kept, and written with what comes next. After a minute
    it raises StoreBusy. `clock` gives ns since the run began.
    """

    def __init__(self, store: Store, run_id: str, clock: Callable[[], int]) -> None:
        self._store, self._run_id, self._clock = store, run_id, clock
        self._waiting: deque[Callable[[], None]] = deque()
        self._busy_since: float | None = None
        self._tried = 0.0

    def begin_test(self, index: int, added: PlannedTest | None = None) -> None:
        """`added`: what it is, where the plan did not have it."""
        self._put(partial(self._store.begin_test, self._run_id, index, self._clock(), added))

    def append(
        self,
        *,
        samples: Sequence[Sample] = (),
        system: Sequence[SystemSample] = (),
        progress: Progress | None = None,
        processes: Sequence[ProcessIo] = (),
    ) -> None:
        self._put(
            partial(
                self._store.append,
                self._run_id,
                samples=tuple(samples),
                system=tuple(system),
                progress=progress,
                processes=tuple(processes),
            )
        )

    def note(self, text: str, *, warning: bool = False, test: int | None = None) -> None:
        """A line for the person."""
        message = Message(self._clock(), text, test, warning)
        self._put(partial(self._store.append, self._run_id, messages=(message,)))

    def finish_test(self, index: int, outcome: Outcome) -> None:
        self._put(
            partial(
                self._store.finish_test,
                self._run_id,
                index,
                status=outcome.status,
                reason=outcome.reason,
                at_ns=self._clock(),
                result=outcome.result,
                document=outcome.document,
            )
        )

    def finish_round(self, ends: Sequence[tuple[int, TestResult, bytes]]) -> None:
        """What each test has come to with a round that is complete."""
        self._put(partial(self._store.finish_round, self._run_id, tuple(ends), at_ns=self._clock()))

    def tell_doubts(self, findings: Sequence[Finding]) -> None:
        self._put(partial(self._store.tell_doubts, self._run_id, tuple(findings)))

    def tell_drives(self, drives: Sequence[DriveRecord]) -> None:
        self._put(partial(self._store.tell_drives, self._run_id, tuple(drives)))

    def excuse(self, seconds: float) -> None:
        """For so long nobody could wait for the store: this process stood still."""
        if self._busy_since is not None:
            self._busy_since += seconds

    def settle(self) -> None:
        """Writes down what waits; the run is over, so there is time."""
        if self._waiting:
            with self._store.waiting(_PATIENCE_S):
                self._write()

    def _put(self, entry: Callable[[], None]) -> None:
        self._waiting.append(entry)
        now = time.monotonic()
        if self._busy_since is None or now - self._tried >= _AGAIN_S:
            self._tried = now
            with self._store.waiting(_HURRY_S):
                self._try(now)

    def _try(self, now: float) -> None:
        try:
            self._write()
        except StoreBusy:
            if self._busy_since is None:
                self._busy_since = now
            elif now - self._busy_since > _PATIENCE_S:
                raise

    def _write(self) -> None:
        while self._waiting:
            self._waiting[0]()
            self._waiting.popleft()
        if self._busy_since is not None:
            seconds, self._busy_since = time.monotonic() - self._busy_since, None
            self.note(f"Another program kept the store locked for {seconds:.0f} s; nothing was lost.")
