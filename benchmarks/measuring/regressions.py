"""Two files of figures side by side: which differences are beyond noise.

    python -m measuring.regressions BEFORE.json AFTER.json

The verdict on a figure is that of `diskprof compare` on runs: its measurements before against those after. Exit code 1 if
a figure got worse.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diskprof.analysis.between_runs import Interval, difference_of_medians, ratio_of_medians, verdict
from diskprof.analysis.metrics import Better
from diskprof.model.metric import Change
from measuring.figures import Figure, Report, number, read_reports, table
from measuring.machine import Machine

_ALIKE = 0.05
"""The speed of Python differs by no more between two moments of one machine."""

_WORDS = {Change.SAME: "same", Change.BETTER: "better", Change.WORSE: "WORSE", Change.UNCLEAR: "cannot tell"}
_MORE_IS_BETTER = frozenset({"of the IOPS", "of the time"})


@dataclass(frozen=True)
class Difference:
    """A figure before and after. `interval` of the change, as a share of before: None where it cannot be known."""

    before: Figure
    after: Figure
    interval: Interval | None
    change: Change


def differences(before: Report, after: Report) -> Iterator[Difference]:
    """Of each figure that both have, in the order of the second."""
    known = {figure.name: figure for figure in before.figures}
    for figure in after.figures:
        if (earlier := known.get(figure.name)) and earlier.values and figure.values:
            interval = _interval(earlier, figure)
            yield Difference(earlier, figure, interval, verdict(interval, _better(figure)))


def _interval(before: Figure, after: Figure) -> Interval | None:
    """One measurement each says nothing of chance."""
    if min(*before.values, *after.values) > 0:
        return ratio_of_medians(before.values, after.values).change_interval
    # Of a figure that can be nothing at all, such as a share of failures, no ratio can be had.
    level = max(map(abs, (*before.values, *after.values))) or 1.0
    found = difference_of_medians(before.values, after.values).interval
    return Interval(found.low / level, found.high / level) if found else None


def _better(figure: Figure) -> Better:
    """By its goal; without one less is better, of a cost or a time, and more of what is left to fio."""
    more = figure.goal.least is not None if figure.goal else figure.unit in _MORE_IS_BETTER
    return Better.HIGHER if more else Better.LOWER


def compared(before: Report, after: Report) -> tuple[str, int, int]:
    """The table of two reports of one benchmark, how many figures it has a verdict on, and how many of these got worse."""
    found = list(differences(before, after))
    rows = [("", "before", "after", "change", "95% interval", "")]
    for each in found:
        old, new = each.before.value, each.after.value
        assert old is not None and new is not None
        interval = f"{_percent(each.interval.low)} to {_percent(each.interval.high)}" if each.interval else ""
        change = _percent(new / old - 1) if old else ""
        figures = (f"{number(old)} {each.before.unit}".strip(), f"{number(new)} {each.after.unit}".strip())
        rows.append((each.after.name, *figures, change, interval, _WORDS[each.change]))
    lacking = {figure.name for figure in before.figures} ^ {figure.name for figure in after.figures}
    notes = [f"only one of the files has: {', '.join(sorted(lacking))}"] if lacking else []
    told = sum(each.interval is not None for each in found)
    worse = sum(each.change is Change.WORSE for each in found)
    return "\n".join([after.title, table(rows), *notes]), told, worse


def _percent(share: float) -> str:
    return f"{100 * share:+.1f}%"


def machines(before: Machine, after: Machine) -> Iterator[str]:
    """Both, and what has to be known before a difference is put down to diskprof."""
    yield f"before: {before}"
    yield f"after:  {after}"
    if before.cpu != after.cpu or before.cpus != after.cpus:
        yield "NOT ONE MACHINE: only ratios, such as those to a bare program, can be compared."
    elif abs(after.turns_ms / before.turns_ms - 1) > _ALIKE:
        yield f"Python itself took {_percent(after.turns_ms / before.turns_ms - 1)}: look at the ratios, and measure again."


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("before", type=Path)
    options.add_argument("after", type=Path)
    chosen = options.parse_args()
    try:
        known = {report.title: (machine, report) for machine, report in read_reports(chosen.before)}
        later = read_reports(chosen.after)
    except OSError as error:
        raise SystemExit(f"{error.filename}: {error.strerror}") from None
    told = worse = 0
    for machine, report in later:
        if report.title in known:
            earlier_machine, earlier = known[report.title]
            text, verdicts, regressions = compared(earlier, report)
            told, worse = told + verdicts, worse + regressions
            print("\n".join((*machines(earlier_machine, machine), text, "")))
    if not told:
        raise SystemExit("The two files have no figure in common that was measured more than once.")
    print(f"{worse} of {told} figures got worse. By chance alone {told / 40:.1f} would: measure again what is new.")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
