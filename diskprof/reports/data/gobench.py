"""Go's benchmark text, which benchstat reads: a line for each run, test and direction .

The form is that of golang.org/design/14313-benchmark-format.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from diskprof.analysis.metrics import Better, Measure
from diskprof.model.run import Run
from diskprof.model.text import clean
from diskprof.reports.content.doubts import run_in_doubt
from diskprof.reports.content.facts import parameters
from diskprof.reports.data.tracked import TrackedFigure, every_figure, on_several_targets

# benchstat turns ns into sec. By their names it takes `ns/op` and `B/s` for what they are in Go.
_UNITS = {
    Measure.IOPS: "IOPS",
    Measure.BANDWIDTH: "B/s",
    Measure.LATENCY_MEAN: "ns/op",
    Measure.LATENCY_P50: "p50-ns/op",
    Measure.LATENCY_P99: "p99-ns/op",
    Measure.LATENCY_P99_9: "p99.9-ns/op",
    Measure.LATENCY_MAX: "max-ns/op",
    Measure.SYNC_MEAN: "ns/op",
    Measure.SYNC_P50: "p50-ns/op",
    Measure.SYNC_P99: "p99-ns/op",
    Measure.SYNC_P99_9: "p99.9-ns/op",
    Measure.SYNC_MAX: "max-ns/op",
}
_HIGHER = (Measure.IOPS, Measure.BANDWIDTH)
# A blank ends a name, a / begins a part of it.
_NOT_IN_NAMES = re.compile(r"[^\w.:+@=,-]")


def gobench(runs: Sequence[Run]) -> str:
    """The figures of every complete test; several runs of a test are several lines of one name.

    benchstat holds runs apart whose `key: value` lines differ, so these say only what must be alike for figures to be compared.
    Raises DiskprofError where nothing was measured.
    """
    return "\n".join([*_units(), *_lines(every_figure(runs), on_several_targets(runs))]) + "\n"


def _units() -> Iterator[str]:
    for measure, unit in _UNITS.items():
        if measure in (Measure.IOPS, Measure.BANDWIDTH, Measure.LATENCY_MEAN) or measure.startswith("latency"):
            better = Better.HIGHER if measure in _HIGHER else Better.LOWER
            yield f"Unit {unit} better={better}"


def _lines(figures: Sequence[TrackedFigure], several_targets: bool) -> Iterator[str]:
    for run, of_run in groupby(figures, lambda figure: figure.run):
        yield ""
        yield f"# run {run.id}, {run.started_at:%Y-%m-%d %H:%M:%S} UTC, on {clean(run.plan.target.path)}"
        if doubts := run_in_doubt(run):
            yield f"# {clean(doubts)}"
        yield f"preset: {clean(run.plan.preset)}"
        yield f"parameters: {clean(parameters(run))}"
        if several_targets:
            yield f"target: {clean(run.plan.target.path)}"
        for (test, direction), of_line in groupby(of_run, lambda figure: (figure.test.name, figure.direction)):
            parts = list(of_line)
            values = "".join(f" {figure.value!r} {_UNITS[figure.measure]}" for figure in parts)
            yield f"Benchmark{_name(test)}/direction={direction} {parts[0].ios}{values}"


def _name(test: str) -> str:
    """What follows `Benchmark`, which must not be a small letter."""
    name = _NOT_IN_NAMES.sub("_", clean(test))
    name = name[:1].upper() + name[1:]
    return f"_{name}" if not name or name[0].islower() else name
