"""What a comparison comes to, in a sentence for each run."""

from collections.abc import Collection
from dataclasses import dataclass

from diskprof.analysis.comparison import Comparison
from diskprof.analysis.metrics import Metric
from diskprof.reports import wording

_SPLIT = "better one way and worse the other"
_CALLED = {Metric.IOPS: "IOPS", Metric.LATENCY_MEAN: "mean latency", Metric.SYNC_MEAN: "mean fsync latency"}


@dataclass(frozen=True, slots=True)
class Tally:
    """In how many tests a run was better, the same or worse than the first, by the leading metric of each.

    A test of reads and writes counts once: as better where one of them is better and the other no worse, as `split` where
    the other is worse. `noise` are those that differ by no more than chance; `ratios` are the differences by metric, of
    each direction.
    """

    better: int = 0
    same: int = 0
    noise: int = 0
    split: int = 0
    worse: int = 0
    ratios: tuple[tuple[Metric, float], ...] = ()

    @property
    def judged(self) -> int:
        return self.better + self.same + self.noise + self.split + self.worse


def tally(comparison: Comparison, column: int) -> Tally:
    """Count the verdicts of one column."""
    rows = [[row for row in test.rows if row.metric is test.leading] for test in comparison.tests]
    words = [_verdict({wording.verdict(row.cells[column], share=row.share) for row in each}) for each in rows]
    return Tally(
        better=words.count("better"),
        same=words.count("same"),
        noise=words.count("noise"),
        split=words.count(_SPLIT),
        worse=words.count("worse"),
        ratios=tuple(
            (row.metric, ratio)
            for each in rows
            for row in each
            if row.cells[column].verdict and (ratio := row.cells[column].ratio) is not None
        ),
    )


def _verdict(words: Collection[str]) -> str:
    """One word for those of the directions of a test; empty where none is judged."""
    if "better" in words and "worse" in words:
        return _SPLIT
    return next((word for word in ("better", "worse", "noise", "same") if word in words), "")


def tally_sentence(comparison: Comparison, column: int) -> str:
    """`linode against do-vps: better in 2 of 3 tests, the same in 1 (IOPS from +0.4% to +191%).`"""
    counted = tally(comparison, column)
    name, base = comparison.columns[column].label, comparison.columns[0].label
    if not counted.judged:
        return f"{name} against {base}: no test has results in both."
    words = (
        *(("better", counted.better), ("the same", counted.same)),
        *(("noise", counted.noise), (_SPLIT, counted.split), ("worse", counted.worse)),
    )
    first, *others = [(word, times) for word, times in words if times]
    told = [f"{first[0]} in {first[1]} of {wording.count(counted.judged, 'test')}"]
    told += [f"{word} in {times}" for word, times in others]
    return f"{name} against {base}: {', '.join(told)}{_spans(counted)}."


def _spans(counted: Tally) -> str:
    """` (IOPS from +4.0% to +8.4%)`."""
    parts = []
    for metric, called in _CALLED.items():
        ratios = [ratio for judged, ratio in counted.ratios if judged is metric]
        if ratios:
            low, high = wording.relative(min(ratios)), wording.relative(max(ratios))
            parts.append(f"{called} {low}" if low == high else f"{called} from {low} to {high}")
    return f" ({', '.join(parts)})" if parts else ""
