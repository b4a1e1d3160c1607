"""Figures beside their goals: printed as a table, or written as JSON."""

import argparse
import json
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from math import comb
from pathlib import Path
from statistics import median
from typing import Any

from measuring.machine import Machine


@dataclass(frozen=True)
class Goal:
    """What a figure should at most, or at least, be."""

    most: float | None = None
    least: float | None = None

    def met(self, value: float) -> bool:
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    def __str__(self) -> str:
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}"


@dataclass(frozen=True)
class Figure:
    """A measured quantity. `values` are its repeated measurements, of which the median is told; none if there could be none.

    `of_median`: they are told to lie not between their extremes, but between the bounds of their median.
    """

    name: str
    values: tuple[float, ...]
    unit: str = ""
    goal: Goal | None = None
    of_median: bool = False

    @property
    def value(self) -> float | None:
        return median(self.values) if self.values else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest, or the interval that holds the true median in 95 of 100 cases.

        The latter by order statistics, without an assumption of how the values are distributed: Conover, Practical
        Nonparametric Statistics, 3.2. Of fewer than six values it is the extremes, which hold it less often.
        Raises IndexError where nothing was measured.
        """
        ordered, count = sorted(self.values), len(self.values)
        if not self.of_median:
            return ordered[0], ordered[-1]
        below = accumulate(comb(count, rank) / 2**count for rank in range(count // 2))
        outside = max(0, sum(share <= 0.025 for share in below) - 1)
        return ordered[outside], ordered[count - 1 - outside]

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "NOT MEASURED"
        if self.goal is None:
            return ""
        return "met" if self.goal.met(self.value) else "MISSED"


@dataclass
class Report:
    """All that one benchmark found."""

    title: str
    how: str
    figures: list[Figure] = field(default_factory=list)

    def add(
        self,
        name: str,
        values: Iterable[float | None],
        unit: str = "",
        *,
        most: float | None = None,
        least: float | None = None,
        of_median: bool = False,
    ) -> None:
        """Adds a figure; measurements that are None were not to be had, and without any it says so."""
        known = tuple(value for value in values if value is not None)
        goal = Goal(most, least) if most is not None or least is not None else None
        self.figures.append(Figure(name, known, unit, goal, of_median))

    def text(self, machine: Machine) -> str:
        rows = [("", "median", "from", "to", "of", "goal", "")]
        for figure in self.figures:
            goal = f"{figure.goal} {figure.unit}".strip() if figure.goal else ""
            measured = ("", "", "")
            if figure.value is not None:
                measured = (f"{number(figure.value)} {figure.unit}".strip(), *map(number, figure.bounds))
            rows.append((figure.name, *measured, str(len(figure.values)), goal, figure.verdict))
        return f"{self.title}\n{self.how}\n{machine}\n\n{table(rows)}\n"

    def json(self, machine: Machine) -> dict[str, object]:
        figures = [
            {**asdict(figure), "median": figure.value, "goal": asdict(figure.goal) if figure.goal else None}
            | {"verdict": figure.verdict}
            for figure in self.figures
        ]
        return {"title": self.title, "how": self.how, "machine": asdict(machine), "figures": figures}

    def publish(self, path: Path | None) -> None:
        """Prints the table; writes it as JSON where that was asked for, beside those of other benchmarks in the file."""
        machine = Machine.here()
        print(self.text(machine))
        if path:
            others = [each for each in _written(path) if each["title"] != self.title]
            path.write_text(json.dumps([*others, self.json(machine)], indent=2) + "\n")


def _written(path: Path) -> list[dict[str, Any]]:
    """The reports in a file; none where it does not exist yet. Raises SystemExit for a file of anything else."""
    try:
        found = json.loads(path.read_text() or "[]")
        return [report for report in found if report["title"]]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError):
        raise SystemExit(f"{path} has something else than figures of benchmarks: it is left as it is.") from None


def read_reports(path: Path) -> list[tuple[Machine, "Report"]]:
    """What `publish` wrote. Raises SystemExit for a file of anything else, OSError where it cannot be read."""
    with path.open():
        pass
    try:
        return [(Machine.of(each["machine"]), _report(each)) for each in _written(path)]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise SystemExit(f"{path} has something else than figures of benchmarks.") from None


def _report(table: Mapping[str, Any]) -> Report:
    report = Report(str(table["title"]), str(table["how"]))
    for each in table["figures"]:
        goal = Goal(**each["goal"]) if each["goal"] else None
        values = tuple(map(float, each["values"]))
        report.figures.append(Figure(str(each["name"]), values, str(each["unit"]), goal, bool(each["of_median"])))
    return report


def number(value: float) -> str:
    """Three or four significant digits, without an exponent."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}" if abs(value) < 2 else f"{value:.2f}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def parser(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has. One that is ended cleans up its devices, groups and directories as ctrl+c does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="few and short measurements: to see that it works")
    options.add_argument(
        "--patience", type=float, help="minutes in which disturbed measurements are made again (10; quick: 0)"
    )
    options.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the figures as JSON too; those of several benchmarks fit into one file",
    )
    return options


def patience_s(chosen: argparse.Namespace) -> float:
    """The seconds that `--patience` gives."""
    given: float | None = chosen.patience
    return 60 * (given if given is not None else 0 if chosen.quick else 10)


def say(words: str) -> None:
    """Tells on stderr what is going on."""
    print(words, file=sys.stderr, flush=True)
