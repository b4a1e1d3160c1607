"""Draw screenshots/recording.svg: the real app in a terminal, driven by keys, from the start to a comparison.

In the place of fio, recorded intervals are written into the store, some times faster than they were measured.
"""

import os
import sys
import tempfile
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kit"))

from pyte.screens import Char  # noqa: E402
from recorded import recording  # noqa: E402
from scenes import Recordings, Scene, services_of  # noqa: E402
from svg import Cell, Row, Still, film  # noqa: E402
from terminal import Terminal, terminal  # noqa: E402

from diskprof.model.plan import Plan  # noqa: E402
from diskprof.store import Store, this_process  # noqa: E402
from diskprof.tui.app import DiskprofApp  # noqa: E402
from diskprof.tui.kit.charts.glyphs import Charset  # noqa: E402
from diskprof.tui.kit.theme import DARK  # noqa: E402

COLUMNS, ROWS = 100, 30
INK, GROUND = str(DARK.foreground), str(DARK.background)
_RUN = "f6k2m9wr"
_STEP_S = 0.09
"""An interval of a quarter of a second is written after so long."""
_LOOK_S = 0.6


def play(directory: Path) -> None:
    """The app itself, on the terminal where this runs."""
    recordings = Recordings(directory)
    path = recordings.store()

    def start(plan: Plan, store_path: Path, _concurrent: bool) -> str:
        begun = threading.Event()

        def go_on() -> None:
            with Store.open(store_path) as store:
                steps = recording(
                    *(store, "quick"),
                    plan=plan,
                    runner=this_process(),
                    started_at=datetime.now(UTC),
                    run_id=_RUN,
                    seed=11,
                )
                for _ in steps:
                    begun.set()
                    time.sleep(_STEP_S)

        threading.Thread(target=go_on, daemon=True).start()
        begun.wait()
        return _RUN

    services = replace(services_of(path, Scene("recording"), recordings.library), start_detached=start)
    DiskprofApp(services, charset=Charset.BRAILLE).run()


def _row(cells: list[Char]) -> Row:
    return tuple(_cell(cell) for cell in cells)


def _cell(cell: Char) -> Cell:
    ink, ground = _colour(cell.fg, INK), _colour(cell.bg, GROUND)
    if cell.reverse:
        ink, ground = ground, ink
    return Cell(cell.data, ink, ground, cell.bold, cell.italics, cell.underscore)


def _colour(name: str, otherwise: str) -> str:
    return otherwise if name == "default" else f"#{name}"


def take(shown: Terminal) -> list[Still]:
    """The stills: what is worth seeing, as long as it takes to read it."""
    stills: list[Still] = []

    def still(seconds: float) -> None:
        stills.append(Still(tuple(map(_row, shown.rows)), seconds))

    def watch(times: int) -> None:
        for _ in range(times):
            shown.look(_LOOK_S)
            still(_LOOK_S)

    shown.wait_for("What will happen", "Sequential")
    shown.look(1.5)
    still(2.5)
    shown.press_until("enter", "Start Quick check?")
    shown.look(_LOOK_S)
    still(2)
    shown.press("s")
    shown.wait_for("Test 1 of 6")
    watch(5)
    shown.press("m", "m")
    shown.wait_for("Latency percentiles")
    watch(4)
    shown.press("m")
    shown.wait_for("Latency heat map")
    watch(4)
    shown.press("m")
    watch(3)
    shown.wait_for("nothing running")
    shown.look(_LOOK_S)
    still(2.5)
    shown.press("3")
    shown.wait_for(_RUN)
    shown.press("space")
    shown.look(_LOOK_S)
    still(1.5)
    # The run of the old server.
    shown.press("/")
    shown.wait_for("words to look for")
    shown.look(_LOOK_S)
    for letter in "old":
        shown.press(letter)
    shown.wait_for("q5t2w7be", gone="k3f7p2qa")
    shown.press("enter", "space")
    shown.look(_LOOK_S)
    still(1.5)
    shown.press("c")
    shown.wait_for("better")
    shown.look(_LOOK_S)
    still(4)
    return stills


def main(words: list[str]) -> None:
    if words[:1] == ["--play"]:
        play(Path(words[1]))
        return
    out = ROOT / "screenshots" / "recording.svg"
    with tempfile.TemporaryDirectory(prefix="diskprof-recording-") as directory:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
        env = {
            **kept,
            "HOME": directory,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "TZ": "UTC",
        }
        argv = [sys.executable, __file__, "--play", directory]
        with terminal(argv, env, cwd=Path(directory), columns=COLUMNS, rows=ROWS) as shown:
            stills = take(shown)
    out.write_text(film(stills, title="diskprof on db-01", ground=GROUND, ink=INK), encoding="utf-8")
    print(f"{out.relative_to(ROOT)}: {len(stills)} stills, {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
