"""Figures beside their goals: printed as a table, or written as JSON."""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from math import comb
from pathlib import Path
from statistics import median


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

    def text(self) -> str:
        rows = [("", "median", "from", "to", "of", "goal", "")]
        for figure in self.figures:
            goal = f"{figure.goal} {figure.unit}".strip() if figure.goal else ""
            measured = ("", "", "")
            if figure.value is not None:
                measured = (f"{number(figure.value)} {figure.unit}".strip(), *map(number, figure.bounds))
            rows.append((figure.name, *measured, str(len(figure.values)), goal, figure.verdict))
        return f"{self.title}\n{self.how}\n{machine_line()}\n\n{table(rows)}\n"

    def json(self) -> dict[str, object]:
        figures = [
            {**asdict(figure), "median": figure.value, "goal": str(figure.goal or ""), "verdict": figure.verdict}
            for figure in self.figures
        ]
        return {"title": self.title, "how": self.how, "machine": machine_line(), "figures": figures}

    def publish(self, path: Path | None) -> None:
        """Prints the table and writes the JSON where one was asked for."""
        print(self.text())
        if path:
            path.write_text(json.dumps(self.json(), indent=2) + "\n")


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


def machine_line() -> str:
    """Where this was measured, and with what."""
    cpu = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    return (
        f"{len(os.sched_getaffinity(0))} x {cpu}, Linux {platform.release()}, Python {platform.python_version()}, "
        f"Textual {_version('textual')}, {_fio()}, load {os.getloadavg()[0]:.1f}, a million turns of a loop in {turns_ms():.0f} ms"
    )


def turns_ms() -> float:
    """How fast Python is here and now, the best of three: by it figures of one machine are held beside those of another."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(1_000_000):
            pass
        taken.append(time.perf_counter() - began)
    return 1000 * min(taken)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return []


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def _fio() -> str:
    try:
        return subprocess.run(("fio", "--version"), capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return "no fio"


def parser(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="few and short measurements: to see that it works")
    options.add_argument(
        "--patience", type=float, help="minutes in which disturbed measurements are made again (10; quick: 0)"
    )
    options.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON too")
    return options


def patience_s(chosen: argparse.Namespace) -> float:
    """The seconds that `--patience` gives."""
    given: float | None = chosen.patience
    return 60 * (given if given is not None else 0 if chosen.quick else 10)


def say(words: str) -> None:
    """Tells on stderr what is going on."""
    print(words, file=sys.stderr, flush=True)
