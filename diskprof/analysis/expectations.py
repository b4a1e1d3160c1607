"""Did the disk keep the promise?"""

import re
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from diskprof.model.errors import UsageError
from diskprof.model.expectation import ASKED, Asked, ClassExpectation, Expectation, Judgement, Operator, Verdict
from diskprof.model.metric import Metric, Quantity, parse_metric, parse_value
from diskprof.model.run import DirectionResult, Run, Status, TestRecord, TestResult

_EXPRESSION = re.compile(r"\s*([^\s<>=]+)\s*(>=|<=|>|<)\s*(\S.*?)\s*")

NEARLY = 0.99
"""The share of the time that a promise asks for which counts as all of it: clocks differ by some milliseconds."""


_CLASS = re.compile(r"[a-z][a-z0-9-]*")


def asked_expectation(text: str) -> Asked:
    """The promise that a person wrote: as `parse_expectation`, or the name of a class of disks. Raises UsageError."""
    name = text.strip()
    return ClassExpectation(name) if _CLASS.fullmatch(name) and name != "cpu" else parse_expectation(text)


def parse_expectation(text: str) -> Expectation:
    """The promise written as `TEST.METRIC>=VALUE`, such as `rand-r.read.iops>=5000`. Raises UsageError.

    `TEST.JOB.METRIC` is of one of several jobs; the METRIC alone of the one test there is: its `test` is empty.
    """
    match = _EXPRESSION.fullmatch(text)
    if not match:
        raise UsageError(
            f"invalid expectation {text[:80]!r}",
            "Write a metric, >=, >, <= or <, and a value: read.iops>=5000; with several tests TEST.METRIC: "
            "lat-read.read.latency.p99<5ms.",
        )
    name, operator, value = match.groups()
    test, metric = _test_and_metric(name)
    promised = parse_value(metric.quantity, value)
    if metric.quantity is Quantity.BANDWIDTH and value.strip()[-1].isdigit():
        # A preset may count in bytes per second, as its documentation says; a person who leaves out the unit means another.
        raise UsageError(f"{value[:40]} lacks a unit", f"Write a bandwidth such as {value.strip()[:20]}MB/s.")
    if metric.quantity is Quantity.SHARE and promised > 1:
        meant = "95%" if "%" in value else f"{value}%"
        raise UsageError(f"{value} is more than 100%", f"Write a share such as {meant}.")
    return Expectation(test, metric, Operator(operator), promised, ASKED)


def _test_and_metric(text: str) -> tuple[str, Metric]:
    """The longest end that is a metric, and what stands before it."""
    words = text.split(".")
    for at in range(len(words)):
        with suppress(UsageError):
            return ".".join(words[:at]), parse_metric(".".join(words[at:]))
    # The error says which metrics there are.
    return "", parse_metric(".".join(words[1:]) or text)


def judge(run: Run) -> tuple[Judgement, ...]:
    """A judgement for each expectation of the run's plan, in their order."""
    return tuple(_judge(expectation, run.test(expectation.test)) for expectation in run.plan.expectations)


def missed(judgements: Sequence[Judgement]) -> bool:
    return any(judgement.verdict is Verdict.MISSED for judgement in judgements)


class CommonExpectation(Struct, frozen=True):
    """One metric of one test of which several runs expect something: a judgement a run, None where it expects nothing."""

    test: str
    metric: Metric
    judgements: tuple[Judgement | None, ...]


def common(runs: Sequence[Run]) -> tuple[CommonExpectation, ...]:
    """What two runs or more expect something of, in the same sense (at least or at most); what each promised may differ."""
    judged = [_by_promise(judge(run)) for run in runs]
    rows = []
    for key in dict.fromkeys(key for each in judged for key in each):
        row = tuple(each.get(key) for each in judged)
        known = [one for one in row if one]
        if len(known) > 1:
            rows.append(CommonExpectation(key[0], known[0].expectation.metric, row))
    return tuple(rows)


def _by_promise(judgements: Sequence[Judgement]) -> dict[tuple[str, str, bool, int], Judgement]:
    """By test, metric and sense; a second promise of the same is another one."""
    found: dict[tuple[str, str, bool, int], Judgement] = {}
    for one in judgements:
        expected = one.expectation
        sense = (expected.test, expected.metric.name, expected.operator.is_minimum)
        found[*sense, sum(key[:3] == sense for key in found)] = one
    return found


def _judge(expectation: Expectation, test: TestRecord | None) -> Judgement:
    measured = measure(expectation.metric, test.result) if test and test.result else None
    if measured is None or test is None or test.result is None:
        return Judgement(expectation, None, None, Verdict.UNMEASURED)
    ratio = measured / expectation.promised if expectation.promised else None
    return Judgement(expectation, measured, ratio, _verdict(expectation, measured, test, measured_seconds(test.result)))


def _verdict(expectation: Expectation, measured: float, test: TestRecord, seconds: float) -> Verdict:
    if not seconds:
        return Verdict.TOO_SHORT
    if not expectation.operator.holds(measured, expectation.promised, expectation.tolerance):
        return Verdict.MISSED
    # Without a time of its own a promise asks for the whole test.
    enough = seconds >= expectation.seconds * NEARLY if expectation.seconds else test.status is Status.COMPLETE
    return Verdict.MET if enough else Verdict.TOO_SHORT


def measured_seconds(result: TestResult) -> float:
    """How long a test measured, in seconds."""
    return max((direction.runtime_ms for _, direction in result.directions), default=0.0) / 1e3


def measure(metric: Metric, result: TestResult) -> float | None:
    """The metric's value in a result, in the metric's unit; None where the result does not have it."""
    if metric.quantity is Quantity.CPU:
        return result.cpu.percent if result.cpu else None
    if metric.direction is None and metric.quantity is Quantity.LATENCY:
        return _figure(result.sync.shown if result.sync else None, metric.figure)
    if metric.direction is None:
        found = [_of_direction(metric, direction) for _, direction in result.directions]
        return sum(value for value in found if value is not None) if found else None
    direction = result.direction(metric.direction)
    if direction is None:
        return None
    return _of_direction(metric, direction)


def _of_direction(metric: Metric, result: DirectionResult) -> float | None:
    match metric.quantity:
        case Quantity.IOPS:
            return result.iops
        case Quantity.BANDWIDTH:
            return result.bandwidth_bytes_per_s
        case Quantity.SHARE:
            return result.share_within(metric.within_ns)
        case _:
            return _figure(result.latency.shown, metric.figure)


def _figure(latency: object, name: str) -> float | None:
    value: float | None = getattr(latency, name) if latency is not None else None
    return value
