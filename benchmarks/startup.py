"""What starting costs: commands against a bare click program, the screen against a minimal Textual app.

All are started in turn, many times, in one run; times from start to end, or to the first picture, the processor time of
each command that measures nothing, and their ratios.

    python benchmarks/startup.py [--quick] [--rounds N] [--only COMMAND] [--json FILE]
"""

import sys
from collections.abc import Callable, Collection
from datetime import timedelta
from functools import partial
from pathlib import Path

from measuring.figures import Report, parser, patience_s
from measuring.processes import Home, Taken, calmest, diskprof, generators, new_home, taken
from measuring.terminal import reads, terminal

generators()

from recorded import FIRST_START, record_library, record_run  # noqa: E402

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
_CLICK, _TEXTUAL, _SCREEN = "bare click", "bare Textual", "screen"
_SIZE = (120, 40)


def _first_paint(argv: tuple[str, ...], words: str, home: Home) -> float:
    """Seconds from the start to the moment when `words` can be read in the terminal."""
    with terminal(argv, _SIZE, home) as screen:
        return screen.shows(reads(words))


def _commands() -> dict[str, tuple[str, ...]]:
    """Each command that measures nothing, by what a person types."""
    typed = (
        *("--version", "--help", "devices", "presets", "presets show quick", "runs", "show latest"),
        *("compare latest latest~1", "report latest", "history --run latest", "export latest --output exported.json"),
        *("run quick . --dry-run", "tag latest --note checked", "clean", "config", "config keys", "config path"),
        *("completion bash", "doctor", "presets etcd", "limit . --keep read.p99<=5ms --dry-run"),
        *("map . --dry-run", "what-limits . --dry-run", "gate --help", "watch --help", "fleet --help"),
    )
    return {each: (*diskprof(), *each.split()) for each in typed}


def _starts(home: Home, only: Collection[str]) -> dict[str, Callable[[], Taken]]:
    """What is started, by name; of the commands those that begin with a word of `only`, all without one."""
    python, click_app, textual_app = sys.executable, home.path / "bare_click.py", home.path / "bare_textual.py"
    click_app.write_text(BARE_CLICK)
    textual_app.write_text(BARE_TEXTUAL)

    def paint(argv: tuple[str, ...], words: str) -> Callable[[], Taken]:
        return lambda: Taken(_first_paint(argv, words, home), 0.0)

    starts: dict[str, Callable[[], Taken]] = {
        _CLICK: lambda: taken((python, str(click_app), "--version"), home),
        _TEXTUAL: paint((python, str(textual_app)), "first picture"),
        _SCREEN: paint(diskprof(), "nothing running"),
    }
    for name, argv in _commands().items():
        if not only or name.split()[0] in only:
            # What doctor finds wrong with this machine is not its cost.
            starts[name] = partial(taken, argv, home, expect=(0, 1, 3) if name == "doctor" else (0,))
    return starts


def _fill(path: Path) -> None:
    with Store.open(path) as store:
        ids = record_library(store)
        store.finish_run(ids["running"], status=store.run(ids["failed"]).status)
        # The latest two are complete and like each other.
        for days in (400, 401):
            record_run(store, started_at=FIRST_START + timedelta(days=days))


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, help="how often each is started (15; quick: 3)")
    options.add_argument(
        "--only", action="append", default=[], metavar="COMMAND", help="only this command; may be repeated"
    )
    chosen = options.parse_args()
    rounds = chosen.rounds or (3 if chosen.quick else 15)
    report = Report(
        "What starting costs",
        f"Medians of {rounds} starts each, in turn; the first start of each left out, and turns that others disturbed.",
    )
    with new_home() as home:
        home.store.parent.mkdir(parents=True)
        _fill(home.store)
        starts = _starts(home, chosen.only)
        for start in starts.values():
            start()
        turns = calmest(lambda: {name: start() for name, start in starts.items()}, rounds, patience_s(chosen))
    _tell(report, {name: [turn[name] for turn in turns] for name in starts})
    report.publish(chosen.json)


def _tell(report: Report, starts: dict[str, list[Taken]]) -> None:
    """By the clock what a person waits for; of a processor what it costs, which a busy machine changes less."""

    def add(name: str, label: str, bare: str, most: float) -> None:
        pairs = zip(starts[name], starts[bare], strict=True)
        report.add(label, [one.wall / other.wall for one, other in pairs], f"x {bare}", most=most)

    add(_SCREEN, "first picture of the screen", _TEXTUAL, 1.6)
    for name in (_CLICK, _TEXTUAL, _SCREEN):
        report.add(name, [1000 * one.wall for one in starts[name]], "ms")
    report.add(f"{_CLICK}, processor", [1000 * one.cpu for one in starts[_CLICK]], "ms")
    for name, found in starts.items():
        if name in (_CLICK, _TEXTUAL, _SCREEN):
            continue
        label = f"diskprof {name}"
        if name == "--version":
            add(name, label, _CLICK, 1.6)
        shares = [one.cpu / other.cpu for one, other in zip(found, starts[_CLICK], strict=True)]
        report.add(f"{label}, time", [1000 * one.wall for one in found], "ms", most=300)
        report.add(f"{label}, processor", [1000 * one.cpu for one in found], "ms", most=300)
        report.add(f"{label}, processor against it", shares, f"x {_CLICK}", most=2.5)


if __name__ == "__main__":
    main()
