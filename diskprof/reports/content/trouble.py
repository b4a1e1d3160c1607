"""What of a run did not come to its end, and where."""

from collections.abc import Sequence

from diskprof.model.run import Run, Status, TestRecord
from diskprof.reports import figures
from diskprof.reports.words import STATUSES

_NAMED = 6
_ENDED_EARLY = (Status.FAILED, Status.INTERRUPTED, Status.CANCELLED)


def trouble(run: Run) -> list[str]:
    """What did not come to its end, and where: one line for each, or for many that say the same. Foreign text as it came."""
    failed = [test for test in run.tests if test.status in _ENDED_EARLY]
    told: dict[str, list[TestRecord]] = {}
    for test in failed:
        told.setdefault(reasoned(test.status, test.reason or run.reason), []).append(test)
    lines = []
    for words, tests in told.items():
        if len(tests) > _NAMED:
            lines.append(f"{len(tests)} of {figures.count(len(run.tests), 'test')}: {words} ({_named(tests)})")
        else:
            lines += [f"Test {test.index + 1} of {len(run.tests)}, {test.title}: {words}" for test in tests]
    known = {"", *(test.reason for test in failed), "\n".join(f"{test.name}: {test.reason}" for test in failed)}
    if run.status in _ENDED_EARLY and (not failed or run.reason not in known):
        lines.insert(0, f"The run: {reasoned(run.status, run.reason)}")
    drawn = run.plan.read_write_map
    skipped = [test for test in run.tests if test.status is Status.SKIPPED and not (drawn and drawn.known)]
    return [*lines, f"Not started: {_named(skipped)}"] if skipped else lines


def _named(tests: Sequence[TestRecord]) -> str:
    """`a, b, c, d, e, f and 29 more`."""
    names = [test.title for test in tests]
    more = len(names) - _NAMED
    return f"{', '.join(names[:_NAMED])} and {more} more" if more > 1 else ", ".join(names)


def reasoned(status: Status, reason: str) -> str:
    """`failed: No space left on device`; the status alone where no reason is known."""
    word = STATUSES[status].word
    return f"{word}: {reason}" if reason else word
