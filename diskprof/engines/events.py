"""What a test tells while it runs and how it ended, and what its engine says in words: harmless, once, and not without end."""

from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from diskprof.engines.process import CpuTime
from diskprof.model.load import Load
from diskprof.model.run import Status, TestResult
from diskprof.model.sample import Phase, Sample
from diskprof.model.text import clean


class Counted(Protocol):
    """All that an engine had counted at some moment of a test."""

    def since(self, earlier: "Counted | None", load: Load) -> TestResult | None:
        """The result of what came after an earlier moment of the same test, None: from the beginning."""


class Sampled(Struct, frozen=True):
    """What completed in one interval: a sample for each direction, all with the same end, and what was `counted` by then, of
    an engine that tells. `spent` is the CPU time of the engine's process by then; None once it is gone."""

    samples: tuple[Sample, ...]
    counted: Counted | None = None
    spent: CpuTime | None = None


class PhaseChanged(Struct, frozen=True):
    """The test entered `phase` at `at_ns` since the run began."""

    phase: Phase
    at_ns: int


class Noted(Struct, frozen=True):
    """A line for the person, already harmless for a terminal: what the engine said, or that it says nothing."""

    text: str
    warning: bool = False


class Outcome(Struct, frozen=True):
    """How the test ended. `result` and `document` hold what there is, also of a test that was cancelled or failed.

    `document` is the engine's final document, byte for byte; empty where it gave none. `survivor` is the id of a process that
    is stuck in the kernel and could not be ended (F20). `told` is what a test that looks for something found, in a sentence.
    """

    status: Status
    reason: str = ""
    result: TestResult | None = None
    document: bytes = b""
    survivor: int | None = None
    told: str = ""


class Finished(Struct, frozen=True):
    """Always the last event, and always there."""

    outcome: Outcome


Event = Sampled | PhaseChanged | Noted | Finished


class Ending(Struct, frozen=True):
    """How the process ended: `code` as the kernel says it (negative: a signal), None where even SIGKILL did not end it.

    `cancelled`: the user or a signal ended it. `enough`: diskprof ended it because the
    measurement was complete. `failure`: diskprof ended it, for this reason.
    """

    code: int | None
    cancelled: bool = False
    failure: str = ""
    enough: bool = False


_MOST_LINES = 40
_LONGEST = 400


class LineReader:
    """Whole lines out of pieces of bytes. A line longer than the bound is cut, so that no flood fills the memory."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[str]:
        *whole, rest = (self._rest + chunk).replace(b"\r", b"\n").split(b"\n")
        self._rest = rest[: 4 * _LONGEST]
        return [text for line in whole if (text := _text(line))]

    def close(self) -> list[str]:
        return self.feed(b"\n")


def _text(line: bytes) -> str:
    return clean(line[: 4 * _LONGEST].strip().decode("utf-8", "replace"))[:_LONGEST]


@dataclass
class Notes:
    """Passes on each line once, up to a bound, and keeps the last of them for the reason why a test failed."""

    _seen: set[str] = field(default_factory=set)
    _counted: dict[str, tuple[str, int]] = field(default_factory=dict)
    _unsaid: int = 0
    last: str = ""

    def say(self, text: str, *, warning: bool = False) -> list[Event]:
        self.last = text
        if text in self._seen:
            return []
        if len(self._seen) >= _MOST_LINES:
            self._unsaid += 1
            return []
        self._seen.add(text)
        return [Noted(text, warning)]

    def count(self, kind: str, text: str) -> None:
        """A line that others of its kind follow, as a disk that fails brings one of each request: `close` tells them as one."""
        self.last = text
        first, number = self._counted.get(kind, (text, 0))
        if number or len(self._counted) < _MOST_LINES:
            self._counted[kind] = (first, number + 1)
        else:
            self._unsaid += 1

    def close(self, engine: str) -> list[Event]:
        events: list[Event] = [
            Noted(f"{number} times, the first: {first}" if number > 1 else first, warning=True)
            for first, number in self._counted.values()
        ]
        self._counted.clear()
        return [*events, Noted(f"{engine} said {self._unsaid} more lines.", warning=True)] if self._unsaid else events
