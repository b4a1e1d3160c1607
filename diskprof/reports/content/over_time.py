"""How each test went over time."""

from collections.abc import Callable, Sequence

from diskprof.analysis.series import measured, windows
from diskprof.analysis.statistics import median
from diskprof.model.run import Run
from diskprof.model.sample import Sample
from diskprof.model.units import format_iops, format_latency
from diskprof.reports import wording
from diskprof.reports.blocks import Course

IOPS_TITLE = "IOPS over time, from 0"
MIXED_TITLE = "IOPS or latency, from 0"


def courses(run: Run, samples: Sequence[Sample]) -> tuple[str, tuple[Course, ...]]:
    """What the lines show, and a line for every test with two intervals or more that is no cell of a sweep.

    IOPS, both directions together; for a test of one direction that sets its own pace, where IOPS say nothing, the mean latency.
    """
    found, title = [], IOPS_TITLE
    for test in run.tests:
        if test.planned.cell:
            continue
        mine = measured(samples, test.index)
        write: Callable[[float], str] = format_iops
        if test.planned.load.paced and len({sample.direction for sample in mine}) == 1:
            timed = [(sample.mean_ns, sample.duration_ns / 1e9) for sample in mine if sample.mean_ns is not None]
            write, title = format_latency, MIXED_TITLE
        else:
            timed = [(window.iops, window.seconds) for window in windows(mine)]
        values, seconds = [value for value, _ in timed], [length for _, length in timed]
        middle = median(values)
        if middle is None or len(values) < 2:
            continue
        cpu = test.result.cpu if test.result else None
        found.append(
            Course(
                name=test.name,
                values=tuple(values),
                seconds=tuple(seconds),
                lowest=write(min(values)),
                median=write(middle),
                highest=write(max(values)),
                cpu=wording.share(cpu.percent / 100) if cpu else wording.MISSING,
            )
        )
    return title, tuple(found)
