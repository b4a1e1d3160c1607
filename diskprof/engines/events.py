"""What a test tells while it goes, and how it ended."""

from dataclasses import dataclass

from diskprof.model.run import Status, TestResult
from diskprof.model.sample import Phase, Sample


@dataclass(frozen=True, slots=True)
class Sampled:
    """What completed in one interval: a sample for each direction, all with the same end."""

    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """The test entered `phase` at `at_ns` since the run began."""

    phase: Phase
    at_ns: int


@dataclass(frozen=True, slots=True)
class Noted:
    """A line for the person, already harmless for a terminal: what the engine said, or that it says nothing."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
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


@dataclass(frozen=True, slots=True)
class Finished:
    """Always the last event, and always there."""

    outcome: Outcome


Event = Sampled | PhaseChanged | Noted | Finished


@dataclass(frozen=True, slots=True)
class Ending:
    """How the process ended: `code` as the kernel says it (negative: a signal), None where even SIGKILL did not end it.

    `cancelled`: the person or a signal asked for the end. `failure`: diskprof itself ended it, for this reason.
    """

    code: int | None
    cancelled: bool = False
    failure: str = ""
