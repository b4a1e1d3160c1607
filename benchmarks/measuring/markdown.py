"""A file of figures as the tables of docs/benchmarks.md: of each figure the median, what it lay between, and its goal.

python -m measuring.markdown FILE.json
"""

import argparse
from pathlib import Path

from measuring.figures import Figure, Report, number, read_reports
from measuring.machine import Machine


def section(machine: Machine, report: Report) -> str:
    """What the document says of a benchmark: where it was measured, and how, over a table."""
    rows = [f"| {figure.name} | {_measured(figure)} | {_goal(figure)} |" for figure in report.figures]
    return "\n".join(
        [f"## {report.title}", "", str(machine), "", report.how, "", "| | median | goal |", "|---|---:|---|", *rows]
    )


def _measured(figure: Figure) -> str:
    if figure.value is None:
        return ""
    least, most = figure.bounds
    between = f" ({number(least)} to {number(most)})" if len(figure.values) > 1 else ""
    return f"{number(figure.value)} {figure.unit}".strip() + between


def _goal(figure: Figure) -> str:
    return f"{figure.goal} {figure.unit}".strip() + f", {figure.verdict}" if figure.goal else ""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path)
    try:
        reports = read_reports(options.parse_args().file)
    except OSError as error:
        raise SystemExit(f"{error.filename}: {error.strerror}") from None
    print("\n\n".join(section(machine, report) for machine, report in reports))


if __name__ == "__main__":
    main()
