"""What was promised of a run and whether it was kept: a sign, the verdict in words, promise, measurement and ratio."""

from diskprof.model.expectation import Verdict
from diskprof.model.run import Run
from diskprof.model.text import clean
from diskprof.reports.content.expectation_table import ExpectationRow, kept_sentence, missed_sentence, rows
from diskprof.reports.words import VERDICTS
from diskprof.tui.kit.painted import Line, Piece
from diskprof.tui.kit.paragraphs import signed
from diskprof.tui.shell.run_signs import sign_of


def promise_rows(run: Run) -> tuple[ExpectationRow, ...]:
    """The rows of a run that is over; none of one that goes, or of which nothing was promised."""
    return rows(run) if run.status.over and run.plan.expectations else ()


def told(row: ExpectationRow) -> str:
    """`rand-r read IOPS: 4,995, promised at least 4,200, 119% of it`."""
    ratio = f", {row.ratio} of it" if row.judgement.ratio is not None else ""
    measured = "" if row.judgement.measured is None else f" {row.measured},"
    return f"{clean(row.test)} {row.metric}:{measured} promised {row.promised}{ratio}"


def promise_lines(run: Run, width: int) -> list[Line]:
    """A paragraph for each promise."""
    lines: list[Line] = []
    for row in promise_rows(run):
        sign, ink = sign_of(VERDICTS[row.verdict])
        lines += signed((sign, ink), f"{row.word}: {told(row)}", width, ink if row.verdict is Verdict.MISSED else "")
        if row.remarks:
            lines += signed((" ", ""), clean(row.remarks), width, "quiet")
    return lines


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


def verdict_sentences(run: Run) -> str:
    """All that can be said of them in a sentence or two; empty where nothing was promised."""
    found = promise_rows(run)
    return " ".join(part for part in (missed_sentence(found), kept_sentence(found)) if part)
