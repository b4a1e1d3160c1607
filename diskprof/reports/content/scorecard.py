"""The scorecard of a run in words: each headline figure, and how it compares with the best earlier run on this disk."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from diskprof.analysis.disk_standing import Standing, rank
from diskprof.analysis.metrics import Better, Measure
from diskprof.analysis.score import Score, scores, trend
from diskprof.model.earlier import EarlierResult
from diskprof.model.expectation import Verdict
from diskprof.model.run import Run
from diskprof.reports import figures
from diskprof.reports.blocks import Cell, Table
from diskprof.reports.content.class_words import StandingLine, disk_class_words, rank_words, standing_line, standings
from diskprof.reports.layout import Column
from diskprof.reports.words import DIRECTIONS, VERDICTS, Meaning

_ALIKE = 0.02
"""A difference up to this share is noise, as in a comparison."""
_IOPS = "IOPS"
_TIMES = 10
"""A gain from so many times on is written as a factor, as in a comparison."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class ScoreLine(Struct, frozen=True):
    """A headline figure in words: `number` and `unit` are `282` and `k IOPS`, `6.70` and `GB/s`; `name` is that of the test.

    `share` is the length of its bar, 0 to 1, None for the first run of the test. `against` is `92% of best`, `best` that best
    figure, `when` its day; `promise` is `promised >= 5,000: 98%`. They are empty where there is none.
    `trend` is the figure in the earlier runs, the oldest first, and then in this one. `rank` is `3rd best of 41 runs`, empty
    for the first; `standing` where it is in the class of the disk, None where that is not known or says nothing of such a test.
    """

    name: str
    direction: Meaning
    number: str
    unit: str
    share: float | None
    against: str
    best: str
    when: str
    meaning: Meaning
    promise: str = ""
    promise_meaning: Meaning = Meaning.PLAIN
    trend: tuple[float, ...] = ()
    rank: str = ""
    standing: StandingLine | None = None

    @property
    def figure(self) -> str:
        """`282k`, `6.70 GB/s`: for a table that names the test beside it."""
        short = self.unit.removesuffix(_IOPS).strip()
        return self.number + short if short != self.unit else f"{self.number} {self.unit}"


def scorecard(run: Run, earlier: Sequence[EarlierResult] = ()) -> tuple[ScoreLine, ...]:
    """A line for each headline figure of a run that has ended; none of a sweep, nor of one that watched."""
    if not run.status.over or run.plan.watched:
        return ()
    known = {(record.name, direction): one for record, direction, one in standings(run)}
    return tuple(
        _line(score, run, earlier, known.get((score.test.name, score.direction))) for score in scores(run, earlier)
    )


def about(run: Run, earlier: Sequence[EarlierResult]) -> str:
    """What the bars are measured against: `Compared with the best of 3 earlier runs on this disk. Class: SATA SSD`."""
    return f"{compared(run, earlier)}. Class: {disk_class_words(run)}"


def compared(run: Run, earlier: Sequence[EarlierResult]) -> str:
    """`Compared with the best of 3 earlier runs on this disk`."""
    count = len({one.run_id for one in earlier})
    if run.plan.watched:
        return "What others did: no figure of the disk to compare with"
    if run.imported_from:
        return "Imported: its disk is unknown, so there is no earlier run to compare with"
    if not count:
        return "No earlier run like it without doubts on this disk"
    before = "the earlier run" if count == 1 else f"the best of {count:,} earlier runs"
    return f"Compared with {before} on this disk"


def best_table(run: Run, earlier: Sequence[EarlierResult]) -> Table | None:
    """The headline figures beside those of the best earlier run; None where there is none."""
    known = [score for score in scores(run, earlier) if score.best]
    if not known or not run.status.over:
        return None
    columns = (
        Column("Test", least=10, middle=True),
        *(
            Column("Direction", short=""),
            Column("This run", right=True),
            Column("Best earlier run", right=True, short="Best"),
        ),
        *(
            Column("Difference", right=True, short="Diff"),
            Column("Rank", right=True, spare=1),
            Column("Run"),
            Column("When"),
        ),
    )
    rows = []
    for score in known:
        assert score.best
        way = DIRECTIONS[score.direction]
        rows.append(
            (
                Cell(score.test.title),
                Cell(way.word, way.meaning),
                Cell(figures.figure(score.measure, score.value)),
                Cell(figures.figure(score.measure, score.best.value)),
                Cell(figures.relative(score.value / score.best.value - 1) if score.best.value else ""),
                Cell(_place(score, earlier)),
                Cell(score.best.run_id),
                Cell(day(score.best.started_at, run.started_at)),
            )
        )
    return Table(columns, tuple(rows), inset=True)


def _place(score: Score, earlier: Sequence[EarlierResult]) -> str:
    """`3 of 41`."""
    place = rank(score, earlier)
    return f"{place.place} of {place.of}" if place else ""


def _line(score: Score, run: Run, earlier: Sequence[EarlierResult], standing: Standing | None) -> ScoreLine:
    number, unit = parts(figures.figure(score.measure, score.value))
    if score.measure is Measure.IOPS:
        unit = f"{unit} {_IOPS}".strip()
    against, meaning = _against(score)
    best = figures.figure(score.measure, score.best.value) if against and score.best else ""
    promise, promised = _promise(score)
    return ScoreLine(
        name=_name(score),
        direction=DIRECTIONS[score.direction].meaning,
        number=number,
        unit=unit,
        share=None if score.of_best is None else min(1.0, score.of_best),
        against=against,
        best=best,
        when=day(score.best.started_at, run.started_at) if best and score.best else "",
        meaning=meaning,
        promise=promise,
        promise_meaning=promised,
        trend=trend(score, earlier),
        rank=rank_words(rank(score, earlier)),
        standing=standing_line(standing) if standing else None,
    )


def _name(score: Score) -> str:
    result = score.test.result
    several = result is not None and len(result.directions) > 1
    return f"{score.test.title} {DIRECTIONS[score.direction].word}" if several else score.test.title


def parts(figure: str) -> tuple[str, str]:
    """A figure's number and unit: `282` and `k`, `6.70` and `GB/s`."""
    end = next((at for at, char in enumerate(figure) if char.isalpha()), len(figure))
    return figure[:end].strip(), figure[end:]


def _against(score: Score) -> tuple[str, Meaning]:
    share = score.of_best
    if share is None:
        return "", Meaning.QUIET
    if share > 1 + _ALIKE:
        gain = f"+{share - 1:.0%}" if share < _TIMES else f"x{share:.3g}"
        if score.better is Better.LOWER:
            gain = f"{1 - 1 / share:.0%} lower"
        return f"new best: {gain}", Meaning.GOOD
    if score.better is Better.LOWER and share < 1 - _ALIKE:
        return f"{1 / share - 1:.0%} above best", Meaning.PLAIN
    return f"{share:.0%} of best", Meaning.PLAIN


def _promise(score: Score) -> tuple[str, Meaning]:
    judged = score.promise
    if judged is None:
        return "", Meaning.PLAIN
    expected, word = judged.expectation, VERDICTS[judged.verdict]
    promised, _ = figures.amounts(expected.metric.quantity, expected.promised, judged.measured)
    ratio = f": {figures.promised_ratio(judged.ratio)}" if judged.ratio is not None else ""
    words = f"{word.sign} promised {figures.OPERATORS[expected.operator]} {promised}{ratio}"
    return words, word.meaning if judged.verdict is not Verdict.TOO_SHORT else Meaning.QUIET


def day(moment: datetime, beside: datetime) -> str:
    """`12 Mar`; with the year where that is another one."""
    here, other = moment.astimezone(), beside.astimezone()
    words = f"{here.day} {_MONTHS[here.month - 1]}"
    return words if here.year == other.year else f"{words} {here.year}"
