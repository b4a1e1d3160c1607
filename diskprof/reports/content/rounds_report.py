"""A run of rounds: when it was steady, the rounds one by one, and the tests that the tracked one belongs to."""

from collections.abc import Sequence
from statistics import median

from diskprof.analysis.expectations import measure
from diskprof.analysis.sweep import ROWS
from diskprof.model.metric import Quantity, format_value
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.steady import RoundsRule, SteadyWindows, when_words
from diskprof.model.units import format_percent
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Course, Paragraph, Spark, Table
from diskprof.reports.content.steady_words import spread_words
from diskprof.reports.content.sweep_tables import told_cell, value_words
from diskprof.reports.layout import Column
from diskprof.reports.words import STATUSES, Meaning

_MOST_COLUMNS = 8


def tracked(run: Run) -> TestRecord | None:
    """The test that the rounds of a run wait for; None of another run."""
    rule = run.plan.rounds
    return run.test(rule.test) if rule else None


def figure_words(run: Run, rule: RoundsRule) -> str:
    """`write.iops of 4K rand write QD32 x4`."""
    return f"{rule.metric.name} of {run.title(rule.test)}"


def told_figure(run: Run) -> str:
    """`write.iops of 4K rand write QD32 x4: 5,000 IOPS`, the result of the tracked test; only the name without one, nothing
    of a run without rounds.
    """
    rule, test = run.plan.rounds, tracked(run)
    if rule is None or test is None:
        return ""
    value = measure(rule.metric, test.result) if test.result else None
    return figure_words(run, rule) + ("" if value is None else f": {format_value(rule.metric.quantity, value)}")


def kept_words(steady: SteadyWindows) -> str:
    """`rounds 3 to 7`, `round 1`."""
    last = len(steady.values)
    return f"rounds {last - steady.count + 1} to {last}" if steady.count > 1 else f"round {last}"


def rounds_sentence(run: Run) -> str:
    """`Steady after round 7. The results are those of rounds 3 to 7. write.iops of ...: 5,000 IOPS, range 12%, slope -3.0%.`

    Empty of another run, and before a round is complete.
    """
    rule, steady = run.plan.rounds, run.rounds
    if rule is None or steady is None:
        return ""
    when = when_words(rule, steady)
    if run.status.over and run.status is not Status.COMPLETE:
        when = f"{STATUSES[run.status].word} in round {len(steady.values) + 1}, {when}"
    elif run.status is Status.RUNNING and not steady.reached:
        when = f"{len(steady.values)} of at most {rule.at_most} rounds complete"
    spread = spread_words(steady)
    limits = f" (limits {format_percent(rule.range)} and {format_percent(rule.slope)})" if spread else ""
    told = ", ".join(text for text in (told_figure(run), f"{spread}{limits}" if spread else "") if text)
    way = ""
    if len(steady.values) > steady.count:
        first, last = (format_value(rule.metric.quantity, value) for value in (steady.values[0], steady.values[-1]))
        way = f" From the first round to the last: {first} to {last}."
    return f"{when[0].upper()}{when[1:]}. The results are those of {kept_words(steady)}. {told}.{way}"


def rounds_blocks(run: Run) -> list[Block]:
    """The sentence, the course of the tracked figure, and a row for each round; nothing of another run."""
    rule, test, steady = run.plan.rounds, tracked(run), run.rounds
    if rule is None or test is None or steady is None:
        return []
    lowest, middle, highest = (format_value(rule.metric.quantity, pick(steady.values)) for pick in (min, median, max))
    course = Course(
        test.title,
        steady.values,
        (test.planned.runtime_s,) * len(steady.values),
        lowest,
        middle,
        highest,
        cpu="",
    )
    return [
        Paragraph(rounds_sentence(run), hanging=True),
        Spark("Round by round, from 0", (course,)),
        _table(run, rule, test),
    ]


def _table(run: Run, rule: RoundsRule, test: TestRecord) -> Table:
    """The rounds of the tests beside the tracked one: of a sweep those of its row, else all."""
    beside = _beside(run, test)
    option = _turned(test)
    heads = [value_words(option, dict(each.planned.cell)[option]) if option else each.title for each in beside]
    fixed = ", ".join(told_cell(tuple(pair for pair in test.planned.cell if pair[0] != option)))
    columns = (Column("Round", right=True), Column(""), *(Column(head, right=True) for head in heads))
    steady = run.rounds
    assert steady
    first = len(steady.values) - steady.count
    rows = []
    for at in range(len(steady.values)):
        counts = at >= first
        cells = [Cell(_value(each, at, rule), strong=each is test) for each in beside]
        rows.append(
            (Cell(str(at + 1)), Cell("counted" if counts else "", Meaning.PLAIN if counts else Meaning.QUIET), *cells)
        )
    kind = {"iops": "IOPS", "bandwidth": "Bandwidth"}.get(rule.metric.quantity.value, "Latency")
    title = f"{kind} by round and {figures.option(option)}" if option else f"{kind} by round"
    return Table(columns, tuple(rows), f"{title}, {fixed}" if fixed else title, lead=2)


def _turned(test: TestRecord) -> str:
    """The option of a sweep that the columns are of; empty where nothing is swept."""
    options = [option for option, _ in test.planned.cell]
    return ROWS if ROWS in options else options[-1] if options else ""


def _beside(run: Run, test: TestRecord) -> Sequence[TestRecord]:
    option = _turned(test)
    same = [pair for pair in test.planned.cell if pair[0] != option]
    found = [
        each
        for each in run.tests
        if each.result and each.result.steady and [pair for pair in each.planned.cell if pair[0] != option] == same
    ]
    if len(found) > _MOST_COLUMNS:
        return [test]
    return found


def _value(test: TestRecord, at: int, rule: RoundsRule) -> str:
    steady = test.result.steady if test.result else None
    if steady is None or at >= len(steady.values):
        return figures.MISSING
    value, quantity = steady.values[at], rule.metric.quantity
    return figures.number(value) if quantity is Quantity.IOPS else format_value(quantity, value)
