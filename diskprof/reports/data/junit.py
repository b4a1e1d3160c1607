"""Runs as JUnit XML: a suite for each run, a case for each of its tests and for each expectation."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from diskprof.analysis.expectations import judge
from diskprof.model.expectation import Judgement, Verdict
from diskprof.model.metric import Quantity, format_value
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.text import clean
from diskprof.reports.content.doubts import run_in_doubt
from diskprof.reports.content.facts import parameters

# Of a test that did not complete: a failure is the disk's, an error what kept the test from its end.
_OUTCOMES = {
    Status.FAILED: "failure",
    Status.CANCELLED: "error",
    Status.INTERRUPTED: "error",
    Status.RUNNING: "error",
    Status.LOST: "error",
    Status.SKIPPED: "skipped",
    Status.PENDING: "skipped",
}
_VERDICTS = {Verdict.MISSED: "failure", Verdict.TOO_SHORT: "skipped", Verdict.UNMEASURED: "skipped"}


def junit(runs: Sequence[Run]) -> str:
    """The document. What puts a run in doubt is told in its suite's output, and in each property `doubt`."""
    suites = Element("testsuites", name="diskprof")
    for run in runs:
        suites.append(_suite(run))
    for count in ("tests", "failures", "errors", "skipped"):
        suites.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _suite(run: Run) -> Element:
    cases = [*(_test_case(run, test) for test in run.tests), *(_judged_case(run, each) for each in judge(run))]
    suite = Element("testsuite", name=clean(f"{run.plan.preset} on {run.plan.target.path}"))
    suite.set("tests", str(len(cases)))
    for count, outcome in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(sum(case.find(outcome) is not None for case in cases)))
    suite.set("timestamp", f"{run.started_at:%Y-%m-%dT%H:%M:%S}")
    if run.ended_at:
        suite.set("time", f"{max(0.0, (run.ended_at - run.started_at).total_seconds()):.3f}")
    if run.environment.hostname:
        suite.set("hostname", clean(run.environment.hostname))
    properties = SubElement(suite, "properties")
    doubts = run_in_doubt(run)
    told = (
        ("run", run.id),
        ("status", str(run.status)),
        ("parameters", parameters(run)),
        ("doubts", doubts.removeprefix("In doubt: ")),
    )
    for name, value in told:
        if value:
            SubElement(properties, "property", name=name, value=clean(value))
    suite.extend(cases)
    if doubts:
        SubElement(suite, "system-out").text = clean(doubts)
    return suite


def _test_case(run: Run, test: TestRecord) -> Element:
    case = Element("testcase", classname=clean(run.plan.preset), name=clean(test.name))
    # In rounds the other tests lie between its beginning and its end.
    if test.started_ns is not None and test.ended_ns is not None and run.plan.rounds is None:
        case.set("time", f"{(test.ended_ns - test.started_ns) / 1e9:.3f}")
    if outcome := _OUTCOMES.get(test.status):
        why = test.reason or run.reason
        SubElement(case, outcome, message=clean(f"{test.status}: {why}" if why else str(test.status)))
    if figures := _figures(test):
        SubElement(case, "system-out").text = figures
    return case


def _figures(test: TestRecord) -> str:
    """A line for each direction."""
    lines = []
    for direction, result in test.result.directions if test.result else ():
        latency = result.latency.shown
        figures = (
            (Quantity.IOPS, "", result.iops),
            (Quantity.BANDWIDTH, "", result.bandwidth_bytes_per_s),
            (Quantity.LATENCY, "mean ", latency.mean),
            (Quantity.LATENCY, "p99 ", latency.p99),
        )
        words = [f"{name}{format_value(kind, value)}" for kind, name, value in figures if value is not None]
        lines.append(f"{direction}: {', '.join(words)}")
    return "\n".join(lines)


def _judged_case(run: Run, judgement: Judgement) -> Element:
    expected = judgement.expectation
    quantity = expected.metric.quantity
    promised = f"{expected.operator} {format_value(quantity, expected.promised)}"
    name = f"{expected.test} {expected.metric.name} {promised}"
    case = Element("testcase", classname=clean(f"{run.plan.preset}.expectations"), name=clean(name))
    if outcome := _VERDICTS.get(judgement.verdict):
        value = judgement.measured
        measured = "" if value is None else f": {format_value(quantity, value)}"
        SubElement(case, outcome, message=clean(f"{judgement.verdict}{measured}, expected {promised}"))
    return case
