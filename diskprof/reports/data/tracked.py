"""The figures that trackers of benchmarks keep: one for each test, direction and measure, over runs that are alike."""

from collections.abc import Iterator, Sequence
from math import isfinite
from statistics import median

from msgspec import Struct

from diskprof.analysis.arms import Side, arms_of, runs_of
from diskprof.analysis.metrics import SYNC_METRICS, Better, Measure, direction_metrics
from diskprof.model.errors import DiskprofError
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.text import clean
from diskprof.reports.content.overview import doubts_of_test

SYNC = "sync"
"""The direction of figures of fsync and fdatasync."""
_LEFT_OUT = frozenset({Measure.WITHIN})


class TrackedFigure(Struct, frozen=True):
    """One figure of a complete test of one run, in the unit of its measure. `ios` is 1 for those of fsync, which nobody counts."""

    run: Run
    test: TestRecord
    direction: str
    measure: Measure
    better: Better
    value: float
    ios: int


class Tracked(Struct, frozen=True):
    """The same figure of one run or several. `name` is that of test and direction, the same from run to run.

    `doubts`: what speaks against relying on it, in a few words each.
    """

    name: str
    measure: Measure
    better: Better
    values: tuple[float, ...]
    runs: tuple[str, ...]
    doubts: tuple[str, ...]

    @property
    def median(self) -> float:
        return median(self.values)


def every_figure(runs: Sequence[Run]) -> tuple[TrackedFigure, ...]:
    """Every figure of every complete test and of its jobs. Raises DiskprofError where there are none."""
    found = tuple(figure for run in runs for test in run.records for figure in _of_test(run, test))
    if not found:
        names = ", ".join(run.id for run in runs)
        raise DiskprofError(
            f"No complete test with a result in {names}.", "Choose a run that is complete: `diskprof runs` lists them."
        )
    return found


def _of_test(run: Run, test: TestRecord) -> Iterator[TrackedFigure]:
    if test.status is not Status.COMPLETE or not test.result:
        return
    for direction, result in test.result.directions:
        for source in direction_metrics():
            value = source.of_result(result)
            if value is not None and isfinite(value) and source.metric not in _LEFT_OUT:
                yield TrackedFigure(run, test, str(direction), source.metric, source.better, value, result.ios)
    sync = test.result.sync
    for of_sync in SYNC_METRICS if sync else ():
        value = of_sync.of_result(sync) if sync else None
        if value is not None and isfinite(value):
            yield TrackedFigure(run, test, SYNC, of_sync.metric, of_sync.better, value, 1)


def tracked(sides: Sequence[Side]) -> tuple[Tracked, ...]:
    """The figures of the runs, the same ones together; of several arms those of each apart, with its name behind theirs.

    Raises DiskprofError where there are none.
    """
    together: dict[tuple[str, Measure], list[TrackedFigure]] = {}
    arms, runs = arms_of(sides), runs_of(sides)
    several = on_several_targets(runs)
    called = {run.id: arm.label for arm in arms for run in arm.runs} if len(arms) > 1 else {}
    for figure in every_figure(runs):
        target, arm = figure.run.plan.target.path, called.get(figure.run.id, "")
        name = f"{figure.run.plan.preset}/{figure.test.name} {figure.direction}"
        place = f" on {target}" if several else ""
        tag = f" ({arm})" if arm and not (several and arm == target) else ""
        together.setdefault((clean(name + place + tag), figure.measure), []).append(figure)
    return tuple(
        Tracked(
            *(name, measure, found[0].better),
            values=tuple(figure.value for figure in found),
            runs=tuple(figure.run.id for figure in found),
            doubts=tuple(dict.fromkeys(words for figure in found for words in _doubts(figure))),
        )
        for (name, measure), found in together.items()
    )


def _doubts(figure: TrackedFigure) -> tuple[str, ...]:
    return doubts_of_test(figure.run.findings, figure.run.tests[figure.test.index].name)


def on_several_targets(runs: Sequence[Run]) -> bool:
    """Whether a name has to say the target: one that always said it would change with every temporary directory."""
    return len({run.plan.target.path for run in runs}) > 1
