"""Whether what was promised of a run was kept, in a few words."""

from diskprof.model.expectation import Verdict
from diskprof.model.run import Run
from diskprof.reports.content.expectation_table import ExpectationRow, kept_sentence, rows
from diskprof.reports.words import VERDICTS
from diskprof.tui.kit.painted import Piece
from diskprof.tui.shell.run_signs import sign_of


def promise_rows(run: Run) -> tuple[ExpectationRow, ...]:
    """The rows of a run that has ended; none if it is in progress or nothing was promised."""
    return rows(run) if run.status.over and run.plan.expectations else ()


def verdict_piece(run: Run) -> Piece | None:
    """The verdict on all of them in a few words: `✗ 1 of 5 expectations MISSED`; None where nothing was promised."""
    found = promise_rows(run)
    if not found:
        return None
    missed = sum(row.verdict is Verdict.MISSED for row in found)
    if missed:
        sign, ink = sign_of(VERDICTS[Verdict.MISSED])
        return f"{sign} {missed} of {len(found)} expectation{'s' if len(found) > 1 else ''} MISSED", ink
    all_met = all(row.verdict is Verdict.MET for row in found)
    sign, ink = sign_of(VERDICTS[Verdict.MET if all_met else Verdict.TOO_SHORT])
    return f"{sign} {kept_sentence(found).removesuffix('.')}", ink
