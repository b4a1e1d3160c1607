"""Draw screenshots/*.svg: the real app on real runs of two loop disks (demo.py). `make screenshots`, or with names of pictures."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from demo import (
    FREE,
    HOST,
    IOPS,
    LIMITED,
    MB_PER_S,
    PLACE,
    ROOT,
    SLOW_IOPS,
    SLOW_MB_PER_S,
    VOLUME_IOPS,
    VOLUME_MB_PER_S,
    DemoSession,
    diskprof,
    inside,
    limit,
)
from recording import record
from rich.color import Color
from rich.style import Style
from snapshot import cells_of
from stored_screens import Driver, see
from svg import Cell, Row, picture

from diskprof.tui.app import DiskprofApp
from diskprof.tui.kit.charts.glyphs import Charset

OUT = ROOT / "screenshots"
SMALL, LARGE = (80, 24), (120, 40)
LIGHT = "diskprof-light"
_MIXED_S = 45
_UNDER_WAY_S = 33
_AGAIN = "again"
"""A second run of the limited disk: its result is shown beside the first."""
_HALF = "half-limit"
"""A search while the limited disk gets half of what it does else."""


@dataclass(frozen=True)
class Shot:
    """A picture: the keys that lead to it from the Run screen, words that are on it, its columns and rows.

    `disk` is selected first. `runs` are the tags of the runs that are opened: one in Live or two in Compare. `under_way`: drawn
    while a run is.
    """

    name: str
    keys: tuple[str, ...]
    shows: tuple[str, ...]
    runs: tuple[str, ...] = ()
    size: tuple[int, int] = LARGE
    theme: str = ""
    disk: str = ""
    under_way: bool = False


SHOTS = (
    Shot("run", (), ("Plan",), disk=LIMITED),
    Shot("run-80x24", (), ("Plan",), size=SMALL, disk=LIMITED),
    Shot("live", ("2",), ("IOPS",), under_way=True),
    Shot("live-80x24", ("2",), ("IOPS",), size=SMALL, under_way=True),
    Shot("live-heatmap", ("2", "m", "m", "m"), ("heat map",), under_way=True),
    Shot("result", (), ("Quick check",), runs=(_AGAIN,)),
    Shot("result-80x24", (), ("Quick check",), runs=(_AGAIN,), size=SMALL),
    Shot("result-light", (), ("Quick check",), runs=(_AGAIN,), theme=LIGHT),
    Shot("compare", (), ("worse",), runs=(FREE, LIMITED)),
    Shot("sweep", (), ("64 KiB",), runs=("sweep",)),
    Shot("limit", ("X",), ("kept it",), runs=("limit",)),
    Shot("curve", (), ("Latency by load",), runs=("limit",)),
    Shot("curves", (), ("Latency by load",), runs=("limit", _HALF)),
    Shot("map", (), ("Read/write map",), runs=("map",)),
    Shot("what-limits", (), ("What limits",), runs=("what-limits",)),
)


@asynccontextmanager
async def _open(shot: Shot) -> AsyncIterator[Driver]:
    session = DemoSession()
    app = DiskprofApp(session, charset=Charset.BRAILLE)
    async with app.run_test(size=shot.size) as pilot:
        if shot.theme:
            app.theme = shot.theme
        await see(pilot, "Quick check")
        ids = [app.store.resolve(tag) for tag in shot.runs]
        if len(ids) == 1:
            app.show_run(ids[0])
        elif ids:
            app.compare_runs(ids)
        to_disk = ("g", *["down"] * session.row_of(shot.disk)) if shot.disk else ()
        for key in (*to_disk, *shot.keys):
            await pilot.press(key)
            await pilot.pause()
        await see(pilot, *shot.shows)
        yield pilot


async def _draw(shot: Shot) -> None:
    async with _open(shot) as pilot:
        theme = pilot.app.theme_variables
        ink, ground = theme["foreground"], theme["background"]
        rows = [_row(cells, ink, ground) for cells in cells_of(pilot)]
    path = OUT / f"{shot.name}.svg"
    path.write_text(picture(rows, title=f"diskprof on {HOST}", ground=ground, ink=ink), encoding="utf-8")
    print(path.relative_to(ROOT))


def _row(cells: Sequence[tuple[str, Style]], ink: str, ground: str) -> Row:
    return tuple(_cell(letter, style, ink, ground) for text, style in cells for letter in text)


def _cell(text: str, style: Style, ink: str, ground: str) -> Cell:
    over, under = _hex(style.color, ink), _hex(style.bgcolor, ground)
    if style.reverse:
        over, under = under, over
    return Cell(text, over, under, bool(style.bold), bool(style.italic), bool(style.underline))


def _hex(color: Color | None, otherwise: str) -> str:
    return color.get_truecolor().hex if color and not color.is_default else otherwise


def _run(preset: str, disk: str, *words: str) -> None:
    diskprof("run", preset, str(PLACE / disk), "--yes", *words)


def _search(tag: str) -> None:
    _run("limit", LIMITED, "--tag", tag, *_settings(size="256m", keep="read.p99<=50ms", curve=10))


def _settings(**values: object) -> list[str]:
    return [f"--set={name}={value}" for name, value in values.items()]


def draw(names: Sequence[str]) -> None:
    """Measures, and draws what is named."""
    _run("quick", FREE, "--tag", FREE)
    if RECORDING in names:
        path = OUT / f"{RECORDING}.svg"
        path.write_text(record(), encoding="utf-8")
        print(path.relative_to(ROOT))
    else:
        _run("quick", LIMITED, "--tag", LIMITED)
    shots = [shot for shot in SHOTS if shot.name in names]
    if any(_AGAIN in shot.runs for shot in shots):
        _run("quick", LIMITED, "--tag", _AGAIN)
    if any("sweep" in shot.runs for shot in shots):
        _run("digitalocean-sweep", LIMITED, "--tag", "sweep", *_settings(size="1g", runtime=1, tier="none"))
    if any("limit" in shot.runs for shot in shots):
        _search("limit")
    if any(_HALF in shot.runs for shot in shots):
        limit(IOPS // 2, MB_PER_S)
        _search(_HALF)
        limit(IOPS, MB_PER_S)
    if any("map" in shot.runs for shot in shots):
        limit(SLOW_IOPS, SLOW_MB_PER_S)
        _run("read-write-map", LIMITED, "--tag", "map", *_settings(size="256m", runtime="1s"))
    if any("what-limits" in shot.runs for shot in shots):
        limit(VOLUME_IOPS, VOLUME_MB_PER_S)
        _run("what-limits", LIMITED, "--tag", "what-limits", *_settings(size="256m"))
    limit(IOPS, MB_PER_S)
    for shot in shots:
        if not shot.under_way:
            asyncio.run(_draw(shot))
    if live := [shot for shot in shots if shot.under_way]:
        _run("oltp-70-30", FREE, "--detach", *_settings(size="1g", runtime=_MIXED_S))
        time.sleep(_UNDER_WAY_S)
        for shot in live:
            asyncio.run(_draw(shot))
    with DemoSession().open_store() as store:
        doubts = {doubt for run in store.summaries() for doubt in run.doubts}
    if doubts:
        print(f"In doubt: {', '.join(sorted(doubts))}. Before a release, draw them again while the machine is idle.")


RECORDING = "recording"
NAMES = (RECORDING, *(shot.name for shot in SHOTS))


def main(names: list[str]) -> None:
    if unknown := set(names) - set(NAMES):
        sys.exit(f"No such picture: {', '.join(sorted(unknown))}")
    inside(__file__, names)
    draw(names or NAMES)
    for path in OUT.glob("*.svg"):
        if path.stem not in NAMES:
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
