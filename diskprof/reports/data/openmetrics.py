"""Figures as OpenMetrics text, for node_exporter's textfile collector, GitLab and whatever else scrapes Prometheus' form.

The textfile collector reads Prometheus' older form, which knows fewer types and lets no file have times of its own: so every
metric is a gauge, and when a run began and ended are metrics too.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from msgspec import Struct

from diskprof.analysis.expectations import judge
from diskprof.model.expectation import Judgement, Verdict
from diskprof.model.metric import format_value
from diskprof.model.run import PERCENTILES, Latency, Run, Status, TestRecord, doubts_of
from diskprof.model.text import clean
from diskprof.reports.content.facts import disks
from diskprof.reports.data.tracked import SYNC


class _Family(Struct, frozen=True):
    """A metric and what it is; the name of one with a unit ends in it."""

    name: str
    about: str
    unit: str = ""


_RUN = "diskprof_run_info"
_COMPLETE = "diskprof_run_complete"
_STARTED = "diskprof_run_start_time_seconds"
_ENDED = "diskprof_run_end_time_seconds"
_DOUBTS = "diskprof_run_doubts"
_FINDING = "diskprof_finding"
_EXPECTATION = "diskprof_expectation_met"
_TEST_COMPLETE = "diskprof_test_complete"
_IOS = "diskprof_test_ios"
_BYTES = "diskprof_test_bytes"
_RUNTIME = "diskprof_test_runtime_seconds"
_IOPS = "diskprof_test_iops"
_BANDWIDTH = "diskprof_test_bandwidth_bytes_per_second"
_QUANTILE = "diskprof_test_latency_seconds"
_MEAN = "diskprof_test_latency_mean_seconds"
_MIN = "diskprof_test_latency_min_seconds"
_MAX = "diskprof_test_latency_max_seconds"

_FAMILIES = (
    _Family(_RUN, "What was run, where and by which versions; always 1."),
    _Family(_COMPLETE, "Whether the run is complete (1) or not (0)."),
    _Family(_STARTED, "When the run began, as seconds since 1970.", "seconds"),
    _Family(_ENDED, "When the run ended, as seconds since 1970.", "seconds"),
    _Family(_DOUBTS, "How many rules put the results of the run in doubt."),
    _Family(_FINDING, "What was noticed in the run; always 1. Do not rely on results with weight doubt."),
    _Family(_EXPECTATION, "Whether an expectation was met (1) or missed (0); without one that could not be judged."),
    _Family(_TEST_COMPLETE, "Whether the test is complete (1) or not (0)."),
    _Family(_IOS, "Completed I/Os."),
    _Family(_BYTES, "Bytes read or written.", "bytes"),
    _Family(_RUNTIME, "Measured time.", "seconds"),
    _Family(_IOPS, "I/Os per second."),
    _Family(_BANDWIDTH, "Bandwidth.", "bytes_per_second"),
    _Family(_QUANTILE, "Latency within which this share of the I/Os completed.", "seconds"),
    _Family(_MEAN, "Mean latency.", "seconds"),
    _Family(_MIN, "Shortest latency.", "seconds"),
    _Family(_MAX, "Longest latency.", "seconds"),
)

_Labels = Mapping[str, str]
_Datum = tuple[str, _Labels, float]
_JUDGED = {Verdict.MET: 1, Verdict.MISSED: 0}


def openmetrics(runs: Sequence[Run]) -> str:
    """Every figure of every complete test, in seconds and bytes, and whether the runs can be relied on.

    What is alike from run to run labels a figure: preset, target, test and direction. The run's id does so only among several
    runs, so that the next run goes on with the same series.
    """
    found: dict[str, dict[str, float]] = {family.name: {} for family in _FAMILIES}
    for run in runs:
        same = {"preset": run.plan.preset, "target": run.plan.target.path}
        if len(runs) > 1:
            same["run"] = run.id
        for name, labels, value in _of_run(run):
            if isfinite(value):
                # A name that hostile text gives to two tests of an imported run keeps the first: no metric may stand twice.
                found[name].setdefault(_labels({**same, **labels}), value)
    lines = [line for family in _FAMILIES for line in _lines(family, found[family.name])]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _lines(family: _Family, data: Mapping[str, float]) -> Iterator[str]:
    if not data:
        return
    yield f"# TYPE {family.name} gauge"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}"
    yield f"# HELP {family.name} {family.about}"
    for labels, value in data.items():
        yield f"{family.name}{{{labels}}} {value!r}"


def _labels(labels: _Labels) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items() if value)


def _escaped(text: str) -> str:
    text = clean(text, keep_newlines=True)
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _of_run(run: Run) -> Iterator[_Datum]:
    there = run.environment
    yield (
        _RUN,
        {
            "run": run.id,
            "status": str(run.status),
            "host": there.hostname,
            "disk": " ".join(disk.model or disk.name for disk in disks(run)),
            "kernel": there.kernel,
            "fio": there.fio_version,
            "ioping": there.ioping_version,
            "diskprof": there.diskprof_version,
        },
        1,
    )
    yield _COMPLETE, {}, int(run.status is Status.COMPLETE)
    yield _STARTED, {}, run.started_at.timestamp()
    if run.ended_at:
        yield _ENDED, {}, run.ended_at.timestamp()
    yield _DOUBTS, {}, len(doubts_of(run.findings))
    for finding in run.findings:
        yield _FINDING, {"finding": finding.name, "weight": str(finding.weight), "test": finding.test}, 1
    for judgement in judge(run):
        if judgement.verdict in _JUDGED:
            yield _EXPECTATION, _expected(judgement), _JUDGED[judgement.verdict]
    for test in run.records:
        if not test.job:
            yield _TEST_COMPLETE, {"test": test.name}, int(test.status is Status.COMPLETE)
        if test.status is Status.COMPLETE:
            yield from _of_test(test)


def _expected(judgement: Judgement) -> _Labels:
    expected = judgement.expectation
    promised = f"{expected.operator} {format_value(expected.metric.quantity, expected.promised)}"
    return {"test": expected.test, "metric": expected.metric.name, "expected": promised}


def _of_test(test: TestRecord) -> Iterator[_Datum]:
    for direction, result in test.result.directions if test.result else ():
        labels = {"test": test.name, "direction": str(direction)}
        yield _IOS, labels, result.ios
        yield _BYTES, labels, result.bytes
        yield _RUNTIME, labels, result.runtime_ms / 1e3
        yield _IOPS, labels, result.iops
        yield _BANDWIDTH, labels, result.bandwidth_bytes_per_s
        yield from _latency(labels, result.latency.shown)
    if test.result and test.result.sync:
        yield from _latency({"test": test.name, "direction": SYNC}, test.result.sync.shown)


def _latency(labels: _Labels, latency: Latency) -> Iterator[_Datum]:
    for name, figure in ((_MEAN, latency.mean), (_MIN, latency.min), (_MAX, latency.max)):
        if figure is not None:
            yield name, labels, figure / 1e9
    for percentile, share in PERCENTILES.items():
        figure = getattr(latency, percentile)
        if figure is not None:
            yield _QUANTILE, {**labels, "quantile": f"{share:g}"}, figure / 1e9
