"""A run as one line of a monitoring plugin, by the Monitoring Plugins Development Guidelines."""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from diskprof.model.expectation import Expectation, Judgement, Verdict
from diskprof.model.metric import Quantity, format_value
from diskprof.model.run import Run, Status
from diskprof.model.text import clean

# A run that was imported may have any name for a test.
_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9_.%-]")


class PluginStatus(IntEnum):
    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_UNITS = {Quantity.LATENCY: ("us", 1e-3), Quantity.BANDWIDTH: ("B", 1.0), Quantity.SHARE: ("%", 100.0)}


def plugin_line(run: Run, judgements: Sequence[Judgement]) -> tuple[PluginStatus, str]:
    """Status and line: what was missed or what was found, then every figure as performance data.

    CRITICAL: a promise was missed. WARNING: inconclusive, or not measured. UNKNOWN: the run did not complete.
    """
    status = _status(run, judgements)
    words = _words(run, judgements)
    return status, plugin_text(status, words, list(_performance(run, judgements)))


def plugin_text(status: PluginStatus, words: str, performance: Sequence[str]) -> str:
    """The line of a plugin; `performance` are the texts of `datum`."""
    return f"DISKPROF {status.name} - {_one_line(words)} | {' '.join(performance)}".rstrip(" |")


def datum(label: str, value: float, unit: str = "") -> str:
    """A figure as performance data."""
    return f"'{_NOT_IN_LABELS.sub('-', label)}'={_plain(value)}{unit}"


def unknown_line(said: str) -> str:
    """The line where nothing was measured; `said` is why, in a line or several."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    ended = [line if line[-1] in ".:;,!?" else f"{line}." for line in lines[:-1]]
    return f"DISKPROF {PluginStatus.UNKNOWN.name} - {_one_line(' '.join([*ended, *lines[-1:]]))}"


def _one_line(text: str) -> str:
    return " ".join(clean(text, keep_newlines=True).replace("|", "/").split())


def _status(run: Run, judgements: Sequence[Judgement]) -> PluginStatus:
    if run.status is not Status.COMPLETE:
        return PluginStatus.UNKNOWN
    verdicts = {judgement.verdict for judgement in judgements}
    if Verdict.MISSED in verdicts:
        return PluginStatus.CRITICAL
    return PluginStatus.WARNING if verdicts & {Verdict.TOO_SHORT, Verdict.UNMEASURED} else PluginStatus.OK


def _words(run: Run, judgements: Sequence[Judgement]) -> str:
    if run.status is not Status.COMPLETE:
        return f"{run.plan.preset} on {run.plan.target.path} {run.status}: {run.reason}"
    open_ones = [_judged(judgement) for judgement in judgements if judgement.verdict is not Verdict.MET]
    if open_ones:
        return "; ".join(open_ones)
    kept = f", {len(judgements)} of {len(judgements)} expectations met" if judgements else ""
    return f"{run.plan.preset} on {run.plan.target.path} complete{kept}, run {run.id}"


def _judged(judgement: Judgement) -> str:
    expected = judgement.expectation
    quantity = expected.metric.quantity
    measured = "" if judgement.measured is None else f" {format_value(quantity, judgement.measured)}"
    promised = f"{expected.operator} {format_value(quantity, expected.promised)}"
    return f"{expected.test} {expected.metric.name}{measured} {judgement.verdict} ({promised})"


def _performance(run: Run, judgements: Sequence[Judgement]) -> Iterator[str]:
    said = set()
    for judgement in judgements:
        expected = judgement.expectation
        label = f"{expected.test}.{expected.metric.name}"
        if judgement.measured is not None and label not in said:
            said.add(label)
            yield _datum(label, expected.metric.quantity, judgement.measured, expected)
    for test in run.records:
        for direction, result in test.result.directions if test.result else ():
            figures = (
                ("iops", Quantity.IOPS, result.iops),
                ("bandwidth", Quantity.BANDWIDTH, result.bandwidth_bytes_per_s),
                ("latency.mean", Quantity.LATENCY, result.latency.mean),
                ("latency.p99", Quantity.LATENCY, result.latency.shown.p99),
            )
            for name, quantity, value in figures:
                label = f"{test.name}.{direction}.{name}"
                if value is not None and label not in said:
                    yield _datum(label, quantity, value)


def _datum(label: str, quantity: Quantity, value: float, expected: Expectation | None = None) -> str:
    unit, scale = _UNITS.get(quantity, ("", 1.0))
    told = datum(label, value * scale, unit)
    if expected is None:
        return told
    threshold = _plain(expected.promised * scale)
    # A range "N:" alarms below N, "N" above N.
    return f"{told};;{threshold}{':' if expected.operator.is_minimum else ''}"


def _plain(value: float) -> str:
    """A number without an exponent, which performance data do not know."""
    return f"{value:.3f}".rstrip("0").rstrip(".")
