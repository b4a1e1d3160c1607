"""The recording of the README: the real app in a terminal, driven by keys, from the start over a real run to a comparison."""

import os
import sys
import time
from statistics import mode

from demo import HOME, HOST, LIMITED, PLACE, DemoSession
from pyte.screens import Char
from svg import Cell, Row, Still, film
from terminal import PATIENCE_S, Terminal, terminal

from diskprof.tui.app import DiskprofApp

COLUMNS, ROWS = 100, 30
_WHITE, _BLACK = "#ffffff", "#000000"
"""Of the terminal: the app draws each cell in colours of its own."""
_LOOK_S = 0.5
"""A still of the run is taken so often."""
SPEED = 3
"""So many times as fast as it was is the run shown."""


def _row(cells: list[Char]) -> Row:
    return tuple(_cell(cell) for cell in cells)


def _cell(cell: Char) -> Cell:
    ink, ground = _colour(cell.fg, _WHITE), _colour(cell.bg, _BLACK)
    if cell.reverse:
        ink, ground = ground, ink
    return Cell(cell.data, ink, ground, cell.bold, cell.italics, cell.underscore)


def _colour(name: str, otherwise: str) -> str:
    return otherwise if name == "default" else f"#{name}"


class _Camera:
    """Takes stills of a terminal."""

    def __init__(self, shown: Terminal) -> None:
        self.shown = shown
        self.stills: list[Still] = []

    def still(self, seconds: float) -> None:
        self.shown.look(_LOOK_S)
        self.stills.append(Still(tuple(map(_row, self.shown.rows)), seconds))

    def until(self, *texts: str) -> None:
        """Stills until the screen shows one of these."""
        end = time.monotonic() + PATIENCE_S
        while not any(text in self.shown.text for text in texts):
            assert time.monotonic() < end, f"still waiting for {texts}:\n{self.shown.text}"
            self.still(_LOOK_S / SPEED)


def _take(camera: _Camera) -> None:
    shown = camera.shown
    shown.wait_for("Quick check", " GiB ")
    camera.still(1)
    shown.press("g")
    for _ in range(DemoSession().row_of(LIMITED)):
        shown.press("down")
        camera.still(0.5)
    camera.still(1)
    shown.press_until("enter", "Start Quick check?", f"{PLACE / LIMITED}")
    camera.still(1.5)
    shown.press("enter")
    shown.wait_for("Test 1 of 6")
    camera.until("Test 2 of 6")
    camera.until("Test 3 of 6")
    shown.press("m", "m")
    camera.until("Test 5 of 6")
    shown.press("m", "m")
    camera.until("complete after", "nothing running")
    camera.still(4)
    shown.press("3")
    shown.wait_for("2 runs")
    camera.still(1)
    shown.press("t")
    camera.still(0.5)
    shown.press(*LIMITED)
    camera.still(1)
    shown.press("enter")
    shown.wait_for(LIMITED, gone="Note")
    shown.press("space", "down", "space")
    camera.still(1)
    shown.press("c")
    shown.wait_for("worse")
    camera.still(4)


def record() -> str:
    """The film, as SVG. Makes a run."""
    argv = [sys.executable, __file__]
    with terminal(argv, os.environ, cwd=HOME, columns=COLUMNS, rows=ROWS) as shown:
        camera = _Camera(shown)
        _take(camera)
    cells = [cell for row in camera.stills[0].rows for cell in row]
    ground, ink = mode(cell.ground for cell in cells), mode(cell.ink for cell in cells)
    return film(camera.stills, title=f"diskprof on {HOST}", ground=ground, ink=ink)


if __name__ == "__main__":
    DiskprofApp(DemoSession()).run()
