"""A comparison as a document: where the conditions differ, then test by test against the first run, and what it comes to."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from diskprof.analysis.arms import Side, arms_of
from diskprof.analysis.comparison import ComparedArm, ComparedMetric, ComparedRun, Comparison, TestComparison, compare
from diskprof.analysis.history import RunHistory
from diskprof.analysis.metrics import Better, Measure
from diskprof.model.cells import width_of
from diskprof.model.earlier import EarlierResult
from diskprof.model.metric import Change
from diskprof.model.run import Status, Weight
from diskprof.model.sample import Sample
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Chart, Fact, Facts, Form, Heading, Note, Paragraph, Table
from diskprof.reports.content import expectation_table
from diskprof.reports.content.limit_compare import (
    compared_curve_plots,
    compared_curves,
    compared_limits,
    limit_change,
)
from diskprof.reports.content.map_report import compared_maps
from diskprof.reports.content.overview import (
    arm_column,
    cell_of,
    changed_tests,
    compared_cells,
    compared_columns,
    doubts_about,
    full_bar,
    in_doubt_line,
    limit_lines,
    of_runs,
    overview_blocks,
    scaled_to,
    upshot_of_chance,
)
from diskprof.reports.content.plots import compared_pairs
from diskprof.reports.content.run_report import Kernel, run_report, title_of
from diskprof.reports.content.sweep_compare import compared_panels
from diskprof.reports.layout import Column, plain
from diskprof.reports.words import CHANGES_LEGEND, DIRECTIONS, STATUSES, VERDICTS, Meaning, Word

_LEAST_CONDITION, _LEAST_CONDITION_NAME = 16, 20
_LEAST_METRIC, _METRIC = 14, 18
"""The second is as wide as `Latency p99.9 (us)`: p99 must not be cut like it."""
_LEAST_FIGURE = 11
"""A value of no more cells has room in a column of figures."""
_SPLIT = "mixed"
_CALLED = {Measure.IOPS: "IOPS", Measure.LATENCY_MEAN: "mean latency", Measure.SYNC_MEAN: "mean fsync latency"}
_ABSENT = Word("has no such test", "", Meaning.QUIET)


def runs_report(
    sides: Sequence[Side],
    samples: Mapping[str, Sequence[Sample]] | None = None,
    kernel: Mapping[str, Kernel] | None = None,
    *,
    earlier: Sequence[EarlierResult] = (),
    form: Form,
) -> tuple[Block, ...]:
    """A report of one run; of several arms, side by side first and then each run where no arm has several.

    `samples` and `kernel` are by run id. `earlier` is what was measured before a single run.

    Raises ValueError of nothing.
    """
    sections = runs_sections(sides, samples, kernel, earlier=earlier, form=form)
    return tuple(block for section in sections for block in section)


def runs_sections(
    sides: Sequence[Side],
    samples: Mapping[str, Sequence[Sample]] | None = None,
    kernel: Mapping[str, Kernel] | None = None,
    *,
    earlier: Sequence[EarlierResult] = (),
    history: RunHistory | None = None,
    form: Form,
) -> tuple[tuple[Block, ...], ...]:
    """As `runs_report`: of several arms the comparison, then a section for each run, which begins with its heading."""
    if not sides:
        raise ValueError("nothing to report")
    taken, seen = samples or {}, kernel or {}
    arms = arms_of(sides)
    if len(arms) == 1 and len(arms[0].runs) == 1:
        (run,) = arms[0].runs
        told = run_report(run, taken.get(run.id, ()), seen.get(run.id), earlier=earlier, history=history, form=form)
        return (told,)
    comparison = compare(arms, taken)
    pairs = (*compared_curve_plots(comparison), *compared_pairs(comparison, arms, taken)) if form is Form.HTML else ()
    sections = [comparison_report(comparison, form=form, charts=[Chart(plots) for plots in pairs])]
    for arm, column in zip(arms, comparison.columns, strict=True):
        for run in arm.runs if not comparison.repeated else ():
            title = f"{column.label}: {title_of(run)}"
            sections.append(run_report(run, taken.get(run.id, ()), seen.get(run.id), form=form, title=title, level=2))
    return tuple(sections)


def comparison_report(
    comparison: Comparison, *, form: Form = Form.TERMINAL, charts: Sequence[Block] = ()
) -> tuple[Block, ...]:
    """The document of a comparison. On a page what it comes to is said first, on a terminal last: there the end is seen."""
    terminal = form is Form.TERMINAL
    compact = len(comparison.columns) > 2
    names = [column.label for column in comparison.columns]
    swept = compared_panels(comparison, terminal=terminal, level=2)
    doubts = in_doubt_line(comparison) if len(names) > 1 else ""
    doubted: list[Block] = [Paragraph(f"{doubts}.", Meaning.WARNING)] if doubts else []
    blocks: list[Block] = []
    if not terminal:
        blocks += [Heading(f"Comparison of {figures.listed(names)}", 1), *doubted, *_upshot(comparison)]
    blocks += [_who(comparison, terminal), *(doubted if terminal else ()), *_limits(comparison)]
    blocks += [*compared_limits(comparison), *compared_curves(comparison), *compared_maps(comparison)]
    blocks += overview_blocks(comparison)
    blocks += [Heading("Charts"), *charts] if charts else []
    blocks += [*conditions(comparison), *expectations(comparison), *swept]
    for test in comparison.tests:
        blocks += [] if test.cell else _test(comparison, test, names, compact, terminal)
    if terminal and len(names) > 1:
        blocks += _briefly(comparison)
        if compact or swept:
            blocks.append(Paragraph(f"{CHANGES_LEGEND}. pp: percentage points."))
    if len(names) > 1:
        blocks.append(Paragraph(_how_to_read(comparison), hanging=True))
    if len(names) > 1 and _unjudged(comparison):
        blocks.append(Paragraph(figures.UNJUDGED, hanging=True))
    return tuple(blocks)


def _upshot(comparison: Comparison) -> list[Block]:
    """What changed, which tests, what else may be the cause, and what to do about doubts."""
    told: list[Block] = []
    for index in range(1, len(comparison.columns)):
        told.append(Note(tally_sentence(comparison, index), meaning=Meaning.STRONG))
        if tests := changed_tests(comparison, index):
            told.append(Note(tests))
    told += map(Note, upshot_of_chance(comparison))
    if len(comparison.columns) > 1 and (names := [each.name for each in comparison.conditions]):
        differ = "condition differs" if len(names) == 1 else "conditions differ"
        told.append(Note(f"{len(names)} {differ} and may be the cause: {', '.join(names)}."))
    runs = [run for arm in comparison.columns for run in arm.runs]
    doubts = [each for run in runs for each in run.findings if each.weight is Weight.DOUBT]
    return told + [Note(f"Before relying on it: {advice}") for advice in dict.fromkeys(each.advice for each in doubts)]


def _briefly(comparison: Comparison) -> list[Block]:
    told = [tally_sentence(comparison, index) for index in range(1, len(comparison.columns))]
    return [Paragraph(sentence, hanging=True) for sentence in (*told, *upshot_of_chance(comparison))]


def _limits(comparison: Comparison) -> list[Block]:
    return [Note(line, word="Limit", meaning=Meaning.LIMIT) for line in limit_lines(comparison)]


def _how_to_read(comparison: Comparison) -> str:
    """What the figures and the brackets are."""
    of = "The figure of an arm is the median of its runs. " if comparison.repeated else ""
    return f"{of}In brackets: the 95% interval of the difference."


def _who(comparison: Comparison, terminal: bool) -> Block:
    """Each arm in a sentence; on a page a row for each run."""
    facts, rows = [], []
    for index, arm in enumerate(comparison.columns):
        base = " (the base)" if index == 0 and len(comparison.columns) > 1 else ""
        facts.append(Fact(arm.label, f"{_arm_words(arm)}{base}", Meaning.PLAIN))
        for run in arm.runs:
            status, started = STATUSES[run.status].word, f"{run.started_at:%Y-%m-%d %H:%M} UTC"
            cells = (f"{arm.label}{base}", run.id, status, run.preset, run.target, started)
            rows.append(tuple(map(Cell, cells)))
    if terminal:
        return Facts(tuple(facts))
    return Table(tuple(map(Column, ("", "Run", "Status", "Preset", "Target", "Started"))), tuple(rows))


def _arm_words(arm: ComparedArm) -> str:
    """`run k3f7p2qa, quick on /mnt/data, 2026-03-02 09:15 UTC`, or `5 runs: quick on /mnt/data, from ... to ... UTC`."""
    first, last = arm.runs[0], arm.runs[-1]
    if first is last:
        ended = "" if first.status is Status.COMPLETE else f", {STATUSES[first.status].word}"
        return f"run {first.id}{ended}, {_of_what([first])}, {first.started_at:%Y-%m-%d %H:%M} UTC"
    ended = ""
    if lacking := sum(run.status is not Status.COMPLETE for run in arm.runs):
        ended = f", {lacking} not complete"
    when = f"{first.started_at:%Y-%m-%d %H:%M} to {last.started_at:%Y-%m-%d %H:%M} UTC"
    return f"{len(arm.runs)} runs{ended}: {_of_what(arm.runs)}, {when}"


def _of_what(runs: Sequence[ComparedRun]) -> str:
    return figures.listed(list(dict.fromkeys(f"{run.preset} on {run.target}" for run in runs)))


def conditions(comparison: Comparison) -> list[Block]:
    """Where the conditions differ, a column a run; or that they do not."""
    if len(comparison.columns) < 2:
        return []
    if not comparison.conditions:
        return [Paragraph("Same conditions in all runs, as far as known.", Meaning.GOOD)]
    columns = (
        Column("", least=_LEAST_CONDITION_NAME),
        *(Column(column.label, least=_LEAST_CONDITION, middle=True) for column in comparison.columns),
    )
    rows = [
        _beside(condition.name, [value or figures.MISSING for value in condition.values])
        for condition in comparison.conditions
    ]
    return [Heading("Conditions that differ"), Table(columns, tuple(rows), lead=2, inset=True)]


def _beside(name: str, values: Sequence[str]) -> tuple[Cell, ...]:
    """A value of each run; those that differ from the first run's have a colour."""
    told = (Cell(value, Meaning.STRONG if value != values[0] else Meaning.PLAIN) for value in values)
    return Cell(name, Meaning.QUIET), *told


def expectations(comparison: Comparison) -> list[Block]:
    """What is expected, and each run's `4,210 MISSED`. With the promise where that is not the same for all runs."""
    rows = []
    for each in comparison.expectations:
        judged = [one for one in each.judgements if one]
        promised = list(dict.fromkeys(expectation_table.expected_words(one.expectation) for one in judged))
        same = len(promised) == 1
        metric = figures.promised_metric(each.metric)
        cells = []
        for one in each.judgements:
            told = expectation_table.judged_words(one) if one else figures.MISSING
            if one and not same:
                told += f" ({expectation_table.expected_words(one.expectation).removeprefix(metric).strip()})"
            cells.append(Cell(told, VERDICTS[one.verdict].meaning if one else Meaning.PLAIN))
        rows.append((Cell(f"{comparison.title(each.test)}: {promised[0] if same else metric}"), *cells))
    columns = (Column(""), *(Column(column.label) for column in comparison.columns))
    return [Heading("Expectations"), Table(columns, tuple(rows), inset=True)] if rows else []


def _test(
    comparison: Comparison, test: TestComparison, names: Sequence[str], compact: bool, terminal: bool
) -> list[Block]:
    """On a terminal a row that is wider than figures is a sentence: it is read whole and widens no column."""
    title = test.title
    told = differing(test, comparison.columns)
    if not told and not test.rows:
        return [Heading(title), Note("no results")]
    several = len(test.directions) > 1
    apart = (Cell(""), Cell(""), Cell(""))
    beside = [row for row in told if not terminal or all(_narrow(cell) for cell in row[1:])]
    rows = [(name, first, *(cell for other in others for cell in (other, *apart))) for name, first, *others in beside]
    shown = [tuple(cell_of(comparison, test, row, at) for at in range(len(names))) for row in test.rows]
    full = full_bar([cell for cells in shown for cell in cells])
    for row, cells in zip(test.rows, shown, strict=True):
        laid = (compared_cells(scaled_to(cell, full), first=not at, full=not compact) for at, cell in enumerate(cells))
        rows.append((_name(comparison, row, several), *(cell for each in laid for cell in each)))
    columns = [Column("", least=_LEAST_METRIC if compact else _METRIC, cut=1, middle=True)]
    for index, name in enumerate(names):
        place = 4 * index - 2 if index else 1
        columns.append(arm_column(name, [plain(row[place].text) for row in rows]))
        columns += compared_columns() if index else []
    aside = [
        Note(f"{name.text}: {', '.join(f'{cell.text} ({run})' for cell, run in zip(cells, names, strict=True))}")
        for name, *cells in told
        if (name, *cells) not in beside
    ]
    return [Heading(title), *aside, Table(tuple(columns), tuple(rows), lead=2, together=4, inset=True)]


def _narrow(cell: Cell) -> bool:
    return width_of(plain(cell.text)) <= _LEAST_FIGURE


def differing(test: TestComparison, arms: Sequence[ComparedArm]) -> list[tuple[Cell, ...]]:
    """How a test ended, unless it is complete in all runs, and the options that differ: a name, and a cell an arm."""
    ends = [STATUSES[status] if status else _ABSENT for status in test.statuses]
    found: list[tuple[Cell, ...]] = []
    if any(status is not Status.COMPLETE for status in test.statuses) or any(test.lacking):
        words = (
            f"{end.word}{of_runs(len(arm.runs) - lacking, arm)}" if lacking else end.word
            for end, arm, lacking in zip(ends, arms, test.lacking, strict=True)
        )
        cells = (Cell(word, end.meaning, sign=end.sign) for word, end in zip(words, ends, strict=True))
        found.append((Cell("status", Meaning.QUIET), *cells))
    for option in test.options:
        job = f" of {option.job}" if option.job else ""
        found.append(_beside(f"option {option.option}{job}", [figures.option_value(value) for value in option.values]))
    return found


def _name(comparison: Comparison, row: ComparedMetric, several: bool) -> Cell:
    label, short = (figures.row_label(row, comparison.within_ns, short=short) for short in (False, True))
    if several and row.direction:
        way = DIRECTIONS[row.direction].word
        label, short = f"{way}: {label}", f"{way} {short}"
    return Cell(label, short=short)


def _unjudged(comparison: Comparison) -> bool:
    """Whether a figure that has a better and a worse could not be judged."""
    return any(
        cell.difference is not None and cell.verdict is None
        for test in comparison.tests
        for row in test.rows
        if row.better is not Better.NEITHER
        for cell in row.cells
    )


class Tally(Struct, frozen=True):
    """In how many tests a run was better, the same or worse than the first, by the leading metric of each.

    A test of reads and writes counts once: as better where one of them is better and the other no worse, as `split` where
    the other is worse. `unclear` are those that chance alone may be the cause of; `ratios` are the differences by metric, of
    each direction.
    """

    better: int = 0
    same: int = 0
    unclear: int = 0
    split: int = 0
    worse: int = 0
    ratios: tuple[tuple[Measure, float], ...] = ()

    @property
    def judged(self) -> int:
        return self.better + self.same + self.unclear + self.split + self.worse


def tally(comparison: Comparison, column: int) -> Tally:
    """Count the verdicts of one column."""
    rows = [[row for row in test.rows if row.metric is test.leading] for test in comparison.tests]
    words = [_leading_verdict({figures.verdict(row.cells[column]) for row in each}) for each in rows]
    return Tally(
        better=words.count("better"),
        same=words.count("same"),
        unclear=words.count(Change.UNCLEAR),
        split=words.count(_SPLIT),
        worse=words.count("worse"),
        ratios=tuple(
            (row.metric, ratio)
            for each in rows
            for row in each
            if row.cells[column].verdict and (ratio := row.cells[column].ratio) is not None
        ),
    )


def _leading_verdict(words: Collection[str]) -> str:
    """One word for those of the directions of a test; empty where none is judged."""
    if "better" in words and "worse" in words:
        return _SPLIT
    return next((word for word in ("better", "worse", Change.UNCLEAR, "same") if word in words), "")


def tally_sentence(comparison: Comparison, column: int) -> str:
    """`linode against do-vps: better in 2 of 3 tests, the same in 1 (IOPS from +0.4% to +191%); 1 in doubt.`; of searches the limit
    first."""
    counted = tally(comparison, column)
    name, base = comparison.columns[column].label, comparison.columns[0].label
    if limit := limit_change(comparison, column):
        base = f"{base}: {limit}. Trials of the same load"
    if not counted.judged:
        both = any(row.cells[column].difference is not None for test in comparison.tests for row in test.rows)
        return f"{name} against {base}: {'no verdict in any test' if both else 'no test has results in both'}."
    words = (
        *(("better", counted.better), ("the same", counted.same)),
        *((Change.UNCLEAR, counted.unclear), (_SPLIT, counted.split), ("worse", counted.worse)),
    )
    first, *others = [(word, times) for word, times in words if times]
    told = [f"{first[0]} in {first[1]} of {figures.count(counted.judged, 'test')}"]
    told += [f"{word} in {times}" for word, times in others]
    return f"{name} against {base}: {', '.join(told)}{_spans(counted)}{_doubtful(comparison, column, counted.judged)}."


def _doubtful(comparison: Comparison, column: int, judged: int) -> str:
    """`; 2 in doubt`, `; all in doubt`: of those that were judged."""
    found = sum(
        any(row.metric is test.leading and row.cells[column].verdict for row in test.rows)
        and bool(doubts_about(comparison, column, test.name))
        for test in comparison.tests
    )
    return f"; {'all' if found == judged else found} in doubt" if found else ""


def _spans(counted: Tally) -> str:
    """` (IOPS from +4.0% to +8.4%)`."""
    parts = []
    for metric, called in _CALLED.items():
        ratios = [ratio for judged, ratio in counted.ratios if judged is metric]
        if ratios:
            low, high = figures.relative(min(ratios)), figures.relative(max(ratios))
            parts.append(f"{called} {low}" if low == high else f"{called} from {low} to {high}")
    return f" ({', '.join(parts)})" if parts else ""
