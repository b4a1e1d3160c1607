"""The word, the sign and the meaning of the colour of each status, severity, weight, verdict and direction: one row each.

The command line, reports and screens take them from here. JSON has the enums' own values.
"""

from enum import StrEnum

from msgspec import Struct

from diskprof.model.expectation import Verdict
from diskprof.model.fleet import MemberState
from diskprof.model.metric import Change
from diskprof.model.plan import Severity
from diskprof.model.run import Status, Weight
from diskprof.model.sample import Direction


class Meaning(StrEnum):
    """What a colour says. LIMIT: what held a result back. QUIET: nothing to act upon. TITLE, STRONG: what stands out."""

    PLAIN = "plain"
    STRONG = "strong"
    TITLE = "title"
    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"
    LIMIT = "limit"
    QUIET = "quiet"
    RUNNING = "running"
    READ = "read"
    WRITE = "write"


class Word(Struct, frozen=True):
    """`sign` is one character, which says the same where there is no colour."""

    word: str
    sign: str
    meaning: Meaning


STATUSES: dict[Status, Word] = {
    Status.PENDING: Word("pending", "·", Meaning.QUIET),
    Status.RUNNING: Word("running", "▶", Meaning.RUNNING),
    Status.COMPLETE: Word("complete", "✓", Meaning.GOOD),
    Status.CANCELLED: Word("cancelled", "■", Meaning.QUIET),
    Status.FAILED: Word("failed", "✗", Meaning.BAD),
    Status.INTERRUPTED: Word("interrupted", "!", Meaning.WARNING),
    Status.SKIPPED: Word("skipped", "-", Meaning.QUIET),
    Status.LOST: Word("lost", "?", Meaning.WARNING),
}

MEMBER_STATES: dict[MemberState, Word] = {
    MemberState.WAITING: Word("waiting", "·", Meaning.QUIET),
    MemberState.RUNNING: Word("running", "▶", Meaning.RUNNING),
    MemberState.LOST: Word("lost", "?", Meaning.WARNING),
    MemberState.DONE: Word("done", "✓", Meaning.GOOD),
    MemberState.LEFT_OUT: Word("left out", "-", Meaning.WARNING),
}
"""Of a host or disk of a fleet run."""

IMPORTED = Word("imported", "↓", Meaning.GOOD)
"""In place of "complete" of a run that was read from a result file."""


def outcome(status: Status, imported_from: str) -> Word:
    """How a run ended, in a list."""
    return IMPORTED if imported_from and status is Status.COMPLETE else STATUSES[status]


SEVERITIES: dict[Severity, Word] = {
    Severity.BLOCKS: Word("Refused", "✗", Meaning.BAD),
    Severity.WARNS: Word("Warning", "!", Meaning.WARNING),
    Severity.NOTES: Word("Note", "·", Meaning.QUIET),
}

WEIGHTS: dict[Weight, Word] = {
    Weight.DOUBT: Word("Doubt", "!", Meaning.WARNING),
    Weight.LIMIT: Word("Limit", "▲", Meaning.LIMIT),
    Weight.NOTE: Word("Note", "·", Meaning.QUIET),
}

VERDICTS: dict[Verdict, Word] = {
    Verdict.MET: Word("met", "✓", Meaning.GOOD),
    Verdict.MISSED: Word("MISSED", "✗", Meaning.BAD),
    Verdict.TOO_SHORT: Word("inconclusive", "?", Meaning.WARNING),
    Verdict.UNMEASURED: Word("not measured", "·", Meaning.QUIET),
}
"""Whether an expectation was met; the one that matters stands out without colour."""

NOT_YET = "not yet"
"""In place of "not measured" while the run goes on."""

CHANGES: dict[Change, Word] = {
    Change.BETTER: Word("better", "b", Meaning.GOOD),
    Change.WORSE: Word("worse", "w", Meaning.BAD),
    Change.SAME: Word("same", "=", Meaning.QUIET),
    Change.UNCLEAR: Word("cannot tell", "~", Meaning.QUIET),
}
CHANGES_LEGEND = "b: better, w: worse, =: same, ~: cannot tell"
"""Beside a table that has the signs alone."""

DIRECTIONS: dict[Direction, Word] = {
    Direction.READ: Word("read", "R", Meaning.READ),
    Direction.WRITE: Word("write", "W", Meaning.WRITE),
}
