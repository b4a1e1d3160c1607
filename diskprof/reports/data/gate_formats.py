"""What a gate found, for programs: JSON, JUnit XML, and the line of a monitoring plugin."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from diskprof.analysis.gate import GateFigure, GateOutcome, GateResult
from diskprof.model.run import Run
from diskprof.model.text import clean
from diskprof.reports import figures
from diskprof.reports.content.history.figure_names import figure_name
from diskprof.reports.content.history.gate_report import interval_words, now_words, sentence
from diskprof.reports.data.json import FieldTable, Json, fields, plain
from diskprof.reports.data.nagios import PluginStatus, datum, plugin_text

_STATUSES = {
    GateOutcome.KEPT: PluginStatus.OK,
    GateOutcome.REGRESSED: PluginStatus.CRITICAL,
    GateOutcome.UNCLEAR: PluginStatus.WARNING,
}
_CASES = {GateOutcome.REGRESSED: "failure", GateOutcome.UNCLEAR: "skipped"}


def gate_json(result: GateResult, run: Run) -> Json:
    """As `diskprof gate --json` prints it; values are IOPS, bytes/s or ns."""
    return {
        **fields(run.plan, "preset title=preset_title", _FIELDS),
        **fields(run.plan.target, "target=path", _FIELDS),
        **fields(result, "outcome allowed before after", _FIELDS),
        "figures": [plain(figure, _FIELDS) for figure in result.figures],
    }


def _figure(figure: GateFigure) -> Json:
    interval = figure.held.ratio.change_interval
    return {
        **fields(figure, "test title direction measure", _FIELDS),
        **fields(figure.held, "better before after noise ratio=ratio.change", _FIELDS),
        "ratio_low": interval.low if interval else None,
        "ratio_high": interval.high if interval else None,
        **fields(figure, "outcome", _FIELDS),
    }


_FIELDS: FieldTable = {GateFigure: _figure}


def gate_junit(result: GateResult, run: Run) -> str:
    """A suite with a case for each figure: a failure is a regression, skipped is what nobody can tell."""
    suites = Element("testsuites", name="diskprof")
    suite = SubElement(suites, "testsuite", name=clean(f"gate {run.plan.preset} on {run.plan.target.path}"))
    outcomes = [_CASES.get(figure.outcome) for figure in result.figures]
    for each in (suites, suite):
        each.set("tests", str(len(outcomes)))
        each.set("failures", str(outcomes.count("failure")))
        each.set("errors", "0")
        each.set("skipped", str(outcomes.count("skipped")))
    suite.set("timestamp", f"{run.started_at:%Y-%m-%dT%H:%M:%S}")
    for figure, outcome in zip(result.figures, outcomes, strict=True):
        name = clean(f"{figure.test} {figure_name(figure.measure, figure.direction)}")
        case = SubElement(suite, "testcase", classname=clean(f"{run.plan.preset}.gate"), name=name)
        words = _words(figure)
        if outcome:
            SubElement(case, outcome, message=clean(f"{figure.outcome}: {words}"))
        SubElement(case, "system-out").text = clean(words)
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _words(figure: GateFigure) -> str:
    """`17.9k before, 16.1k now, -10.1% (-12.1% to -8.8%)`."""
    before = figures.figure(figure.measure, figure.held.median_before)
    interval = f" ({words})" if (words := interval_words(figure)) else ""
    return f"{before} before, {now_words(figure)} now, {figures.relative(figure.held.ratio.change)}{interval}"


def gate_line(result: GateResult, run: Run) -> tuple[PluginStatus, str]:
    """CRITICAL: regressed. WARNING: cannot tell. Each figure is performance data, in percent of its median before."""
    status = _STATUSES[result.outcome]
    bad = [figure for figure in result.figures if figure.outcome is not GateOutcome.KEPT]
    told = [f"{figure.title} {figure_name(figure.measure, figure.direction)} {_words(figure)}" for figure in bad]
    words = "; ".join([f"{run.plan.preset} on {run.plan.target.path}: {sentence(result)}", *told])
    data = [
        datum(f"{figure.test}.{figure.direction}.{figure.measure}", 100 * (1 + figure.held.ratio.change), "%")
        for figure in result.figures
    ]
    return status, plugin_text(status, words, data)
