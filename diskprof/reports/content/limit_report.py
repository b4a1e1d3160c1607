"""A search for a limit: the two loads that it ended between, in a sentence, and its trials."""

from diskprof.analysis.limit_found import FoundLimit, TriedLoad, found_limit
from diskprof.analysis.limit_search import CLOSE, Level
from diskprof.model.limit import LimitBy, LimitRule, Trial, promise_words, promises_words
from diskprof.model.run import Run, Status
from diskprof.model.units import format_duration, format_latency, format_percent
from diskprof.reports import figures
from diskprof.reports.blocks import Block, Cell, Paragraph, Table
from diskprof.reports.layout import Column
from diskprof.reports.words import STATUSES, Meaning, Word

_SHORT = 0.9
"""A smaller part of a rate that kept its latency was held back by something else than the disk."""
KEPT, MISSED = Word("kept", "✓", Meaning.GOOD), Word("not kept", "✗", Meaning.BAD)


def limit_sentence(run: Run) -> str:
    """`read.p99<=5ms: 1,850 IOPS kept it in 3 of 3 trials, 1,960 did not in 2 of 2.` Empty of another run, and before a trial is
    complete."""
    found = found_limit(run)
    if found is None or not found.trials:
        return ""
    told = [f"{promises_words(found.rule)}: {bracket_words(found)}."]
    if not run.status.over:
        return f"So far, after {figures.count(len(found.trials), 'trial')}: {told[0]}"
    if run.status is not Status.COMPLETE:
        word = STATUSES[run.status].word
        told.insert(0, f"{word[0].upper()}{word[1:]} in trial {len(found.trials) + 1}; so far:")
    else:
        told += _unsettled(found)
    return " ".join([*told, *_doubtful(found)])


def bracket_words(found: FoundLimit) -> str:
    """`1,850 IOPS kept it in 3 of 3 trials, 1,960 did not in 2 of 2`."""
    rule, bracket = found.rule, found.bracket
    kept, missed, least = bracket.kept, bracket.missed, bracket.least
    if kept and missed is None:
        return f"{_all_there_is(rule, kept)} kept it {_of(kept.times_kept, kept.times, 'trial')}"
    if kept and missed:
        keeps, misses = _of(kept.times_kept, kept.times, "trial"), _of(missed.times - missed.times_kept, missed.times)
        return f"{_load(rule, kept, ' IOPS')} kept it {keeps}, {_load(rule, missed)} did not {misses}"
    if least and not any(level.kept for level in bracket.levels):
        figure = _figures(found, least)
        return f"nothing kept it: at QD1 {figure} ({least.done:,.0f} IOPS, {figures.count(least.times, 'trial')})"
    assert missed
    return (
        f"{_load(rule, missed, ' IOPS')} did not keep it {_of(missed.times - missed.times_kept, missed.times, 'trial')}"
    )


def _of(times: int, of: int, noun: str = "") -> str:
    return f"in {times} of {figures.count(of, noun) if noun else of}"


def _load(rule: LimitRule, level: Level, unit: str = "") -> str:
    """`1,850 IOPS`, `1,850`; `QD12 (4,410 IOPS)`; `1,960 IOPS (all that QD64 does)`."""
    if rule.by is LimitBy.DEPTH:
        return f"QD{level.trial.depth} ({level.done:,.0f} IOPS)"
    return f"{level.done:,.0f}{unit}" + (f" (all that QD{level.trial.depth} does)" if level.trial.rate is None else "")


def _all_there_is(rule: LimitRule, level: Level) -> str:
    return f"all that QD{level.trial.depth} does, {level.done:,.0f} IOPS,"


def _figures(found: FoundLimit, level: Level) -> str:
    """What was promised, as the longest trial of a load measured it: `read.p99 was 6.1 ms`."""
    tried = max((each for each in found.trials if each.outcome.trial.load == level.trial), key=_seconds)
    return ", ".join(
        f"{name} was {format_latency(value)}" if value is not None else f"{name} is not known"
        for name, value in zip(names_of(found.rule), tried.figures, strict=True)
    )


def _seconds(tried: TriedLoad) -> float:
    return tried.test.planned.runtime_s


def _unsettled(found: FoundLimit) -> list[str]:
    """What the search could not settle in its time."""
    bracket = found.bracket
    if bracket.kept is None or bracket.missed is None:
        return []
    if not found.close:
        return [f"The trials were over before the two were within {format_percent(CLOSE, 1)}."]
    return [] if bracket.confirmed else ["Not both are confirmed by a full trial: the trials were over."]


def _doubtful(found: FoundLimit) -> list[str]:
    """What says that the limit may be another."""
    bracket = found.bracket
    if bracket.missed is None:
        return []
    told = []
    if above := [level for level in bracket.levels if level.kept and level.done > bracket.missed.done]:
        told.append(
            f"More than that kept it, too ({above[-1].done:,.0f} IOPS): latency does not rise with the load alone."
        )
    if bracket.kept and (short := _fell_short(bracket.kept)):
        told.append(short)
    return told


def _fell_short(kept: Level) -> str:
    """fio did not reach the rate although the latency was kept: the disk is not the limit."""
    asked = kept.trial.rate
    if asked is None or kept.done >= _SHORT * asked:
        return ""
    return (
        f"At a rate of {asked:,} IOPS fio did {kept.done:,.0f}: it cannot send more at this depth on this machine."
        " The limit may be higher: try a larger --depth."
    )


def limit_blocks(run: Run, *, told: bool = True) -> list[Block]:
    """The sentence, where it is to be `told`, and a row for each trial; nothing of another run."""
    found = found_limit(run)
    if found is None:
        return []
    sentence = limit_sentence(run) if told else ""
    return [*([Paragraph(sentence, hanging=True)] if sentence else []), *([_table(found)] if found.trials else [])]


def _table(found: FoundLimit) -> Table:
    columns = (
        *(Column("Trial", right=True), Column("Load", least=10), Column("Length", right=True)),
        *(Column("IOPS", right=True), *(Column(name, right=True) for name in names_of(found.rule)), Column("Kept")),
    )
    ends = {end.trial for end in (found.bracket.kept, found.bracket.missed) if end}
    rows = []
    for each in found.trials:
        word = KEPT if each.outcome.kept else MISSED
        strong = each.outcome.trial.load in ends
        rows.append(
            (
                Cell(str(each.test.index + 1)),
                Cell(load_words(each.outcome.trial), strong=strong),
                Cell(format_duration(each.test.planned.runtime_s)),
                Cell(figures.number(each.outcome.done), strong=strong),
                *(Cell(figures.MISSING if value is None else format_latency(value)) for value in each.figures),
                Cell(word.word, word.meaning, sign=word.sign),
            )
        )
    return Table(columns, tuple(rows), f"Trials: {promises_words(found.rule)}", lead=2)


def names_of(rule: LimitRule) -> tuple[str, ...]:
    """What is promised, without the values: `read.p99`."""
    return tuple(promise_words(promise).partition("<")[0] for promise in rule.promises)


def load_words(trial: Trial) -> str:
    """`1,850/s`, `QD64`."""
    return f"QD{trial.depth}" if trial.rate is None else f"{trial.rate:,}/s"
