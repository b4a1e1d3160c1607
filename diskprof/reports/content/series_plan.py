"""What a series will do: a sentence and a few facts, for a prompt, `--dry-run` and the screen."""

from collections.abc import Iterator
from datetime import datetime

from diskprof.model.device import share_words
from diskprof.model.run_series import LEAST_FOR_INTERVAL, Repetition, SeriesPlan, TargetOrder, letter
from diskprof.model.units import format_duration, format_size, percent_words
from diskprof.reports.blocks import Block, Fact, Facts, Heading, Paragraph
from diskprof.reports.content.plan_report import LONG_S, clock_words


def series_plan_report(planned: SeriesPlan) -> tuple[Block, ...]:
    """The document of a series for a terminal, without the plan of each target."""
    first = planned.plans[0]
    return (
        Heading(f"Series of {first.preset_title} ({first.preset})", 1),
        Paragraph(series_sentence(planned)),
        Facts(tuple(Fact(name, text) for name, text in series_facts(planned))),
    )


def series_sentence(planned: SeriesPlan) -> str:
    """`Series: 5 repeats of 2 targets, alternated (A B B A ...), about 12 min, 10 GiB written.`"""
    written = f"{_size(planned, planned.bytes_written)} written" if planned.bytes_written else "nothing written"
    return f"Series: {repetition_words(planned.wanted, len(planned.plans))}, {_time(planned)}, {written}."


def series_facts(planned: SeriesPlan) -> Iterator[tuple[str, str]]:
    """Each target by its letter, and what all repeats take together."""
    wanted, several = planned.wanted, len(planned.plans) > 1
    yield "Repeats", repetition_words(wanted, len(planned.plans))
    if wanted.pause_s:
        yield "Pause", f"{format_duration(wanted.pause_s)} between two runs"
    for arm, (plan, path) in enumerate(zip(planned.plans, planned.targets, strict=True)):
        name = letter(arm)
        if several:
            yield f"Target {name}", path
        if plan.bytes_written:
            written = planned.most_rounds * plan.bytes_written
            share = share_words(written, plan.wear)
            yield (
                f"Writes{f' to {name}' if several else ''}",
                f"{_size(planned, written)}{f', {share}' if share else ''}",
            )
    if not planned.bytes_written:
        yield "Writes", "nothing"
    yield "Time", _time(planned)


def repetition_words(wanted: Repetition, targets: int) -> str:
    """`5 repeats`; `5 repeats of 2 targets, alternated (A B B A ...)`; `until every headline figure is within 3%`."""
    if wanted.repeats is not None:
        of = f" of {targets} targets" if targets > 1 else ""
        words = f"{wanted.repeats} repeat{'' if wanted.repeats == 1 else 's'}{of}"
    else:
        several = f"{targets} targets " if targets > 1 else ""
        words = f"{several}until every headline figure is within {percent_words(wanted.until or 0.0)}"
    if targets < 2:
        return words
    there = " ".join(map(letter, range(min(targets, 3))))
    if wanted.order is TargetOrder.IN_ORDER:
        return f"{words}, in order (A A ... B B ...)"
    return f"{words}, alternated ({there} {there[::-1]} ...)"


def end_of_series(planned: SeriesPlan, now: datetime) -> str:
    """`ends about 14:30`, by the clock of `now`; empty for less than ten minutes."""
    return f"ends about {clock_words(planned.least_s, now)}" if planned.least_s >= LONG_S else ""


def _size(planned: SeriesPlan, size: int) -> str:
    return f"{'' if planned.writes_exact else 'at most ' if planned.wanted.repeats is None else 'about '}{format_size(size)}"


def _time(planned: SeriesPlan) -> str:
    wanted, least = planned.wanted, format_duration(planned.least_s)
    cap = "" if wanted.at_most_s is None else f", at most {format_duration(wanted.at_most_s)}"
    if wanted.repeats is None:
        return f"{least} or more ({LEAST_FOR_INTERVAL} repeats make an interval){cap}"
    return f"about {least}{cap}"
