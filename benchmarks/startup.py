"""What starting costs: commands against a bare click program, the screen against a minimal Textual app.

All are started in turn, many times, in one run; times from start to end, or to the first picture, and their ratios.

    python benchmarks/startup.py [--quick] [--rounds N] [--json FILE]
"""

import sys
from collections.abc import Callable
from pathlib import Path

from measuring.figures import Report, parser, patience_s
from measuring.processes import Home, calmest, diskprof, generators, new_home, seconds_of
from measuring.terminal import reads, terminal

generators()

from recorded import record_library  # noqa: E402

from diskprof.store import Store  # noqa: E402

BARE_CLICK = """
import click

@click.command()
@click.version_option("1.0", prog_name="bare")
def main():
    pass

if __name__ == "__main__":
    main()
"""

BARE_TEXTUAL = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    BINDINGS = [("q", "quit", "Quit")]

    def compose(self):
        yield Static("first picture")

if __name__ == "__main__":
    Bare().run()
"""
_SIZE = (120, 40)
_RUNS = 40


def _first_paint(argv: tuple[str, ...], words: str, home: Home) -> float:
    """Seconds from the start to the moment when `words` can be read in the terminal."""
    with terminal(argv, _SIZE, home) as screen:
        return screen.shows(reads(words))


def _programs(home: Home) -> dict[str, Callable[[], float]]:
    """What is started, by name; each returns how many seconds it took."""
    python, click_app, textual_app = sys.executable, home.path / "bare_click.py", home.path / "bare_textual.py"
    click_app.write_text(BARE_CLICK)
    textual_app.write_text(BARE_TEXTUAL)
    command = diskprof()
    return {
        "bare click": lambda: seconds_of((python, str(click_app), "--version"), home),
        "--version": lambda: seconds_of((*command, "--version"), home),
        "--help": lambda: seconds_of((*command, "--help"), home),
        "devices": lambda: seconds_of((*command, "devices"), home),
        "runs": lambda: seconds_of((*command, "runs"), home),
        "presets": lambda: seconds_of((*command, "presets"), home),
        "show": lambda: seconds_of((*command, "show", "latest"), home),
        "compare": lambda: seconds_of((*command, "compare", "latest", "latest~1"), home),
        "bare Textual": lambda: _first_paint((python, str(textual_app)), "first picture", home),
        "screen": lambda: _first_paint(command, "nothing running", home),
    }


def _fill(path: Path) -> None:
    with Store.open(path) as store:
        ids = record_library(store)
        store.finish_run(ids["running"], status=store.run(ids["failed"]).status)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, help="how often each is started (15; quick: 3)")
    chosen = options.parse_args()
    rounds = chosen.rounds or (3 if chosen.quick else 15)
    report = Report(
        "What starting costs",
        f"Medians of {rounds} starts each, in turn; the first start of each left out, and turns that others disturbed.",
    )
    with new_home() as home:
        home.store.parent.mkdir(parents=True)
        _fill(home.store)
        programs = _programs(home)
        for start in programs.values():
            start()
        turns = calmest(lambda: {name: start() for name, start in programs.items()}, rounds, patience_s(chosen))
    times = {name: [turn[name] for turn in turns] for name in programs}
    _tell(report, times)
    report.publish(chosen.json)


def _tell(report: Report, times: dict[str, list[float]]) -> None:
    def ratios(name: str, bare: str) -> list[float]:
        return [one / other for one, other in zip(times[name], times[bare], strict=True)]

    report.add("diskprof --version", ratios("--version", "bare click"), "x bare click", most=1.6)
    report.add("first picture of the screen", ratios("screen", "bare Textual"), "x bare Textual", most=1.6)
    for name, seconds in times.items():
        goal = 300.0 if name in ("devices", "runs") else None
        label = name if name.startswith("bare") or name == "screen" else f"diskprof {name}"
        report.add(label, [1000 * one for one in seconds], "ms", most=goal)


if __name__ == "__main__":
    main()
