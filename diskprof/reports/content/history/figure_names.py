"""What the figure is called that a test is judged by."""

from diskprof.analysis.metrics import Measure
from diskprof.model.sample import Direction
from diskprof.reports import figures
from diskprof.reports.words import DIRECTIONS


def figure_name(measure: Measure, direction: Direction) -> str:
    """`read IOPS`, `write latency, mean`."""
    label = figures.METRICS[measure].label
    return f"{DIRECTIONS[direction].word} {label if label.isupper() else label[0].lower() + label[1:]}"
