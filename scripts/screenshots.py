"""Draw screenshots/*.svg: the real app on recorded runs, without any disk. `make screenshots`, or with names of pictures."""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.color import Color
from rich.style import Style

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kit"))

from scenes import Recordings, scene  # noqa: E402
from snapshot import cells_of  # noqa: E402
from svg import Cell, Row, picture  # noqa: E402

SMALL, LARGE = (80, 24), (120, 40)


@dataclass(frozen=True)
class Shot:
    """A picture: the scene of tests/kit/scenes.py that it shows, in columns and rows."""

    name: str
    scene: str
    size: tuple[int, int] = LARGE
    theme: str = ""


SHOTS = (
    Shot("run", "run"),
    Shot("run-80x24", "run", SMALL),
    Shot("start-80x24", "run-start", SMALL),
    Shot("live", "live"),
    Shot("live-80x24", "live", SMALL),
    Shot("live-light", "live", theme="diskprof-light"),
    Shot("live-heatmap", "live-heatmap"),
    Shot("result", "result"),
    Shot("result-80x24", "result", SMALL),
    Shot("sweep", "live-sweep"),
    Shot("runs", "runs"),
    Shot("runs-80x24", "runs", SMALL),
    Shot("compare", "compare"),
    Shot("compare-80x24", "compare", SMALL),
    Shot("help-80x24", "help-run", SMALL),
)


async def _draw(shot: Shot, recordings: Recordings) -> str:
    async with recordings.open(scene(shot.scene), shot.size, shot.theme) as pilot:
        theme = pilot.app.theme_variables
        ink, ground = theme["foreground"], theme["background"]
        rows = [_row(cells, ink, ground) for cells in cells_of(pilot)]
    return picture(rows, title="diskprof on db-01", ground=ground, ink=ink)


def _row(cells: Sequence[tuple[str, Style]], ink: str, ground: str) -> Row:
    return tuple(_cell(letter, style, ink, ground) for text, style in cells for letter in text)


def _cell(text: str, style: Style, ink: str, ground: str) -> Cell:
    over, under = _hex(style.color, ink), _hex(style.bgcolor, ground)
    if style.reverse:
        over, under = under, over
    return Cell(text, over, under, bool(style.bold), bool(style.italic), bool(style.underline))


def _hex(color: Color | None, otherwise: str) -> str:
    return color.get_truecolor().hex if color and not color.is_default else otherwise


async def _draw_all(shots: list[Shot], out: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="diskprof-shots-") as directory:
        recordings = Recordings(Path(directory))
        for shot in shots:
            path = out / f"{shot.name}.svg"
            path.write_text(await _draw(shot, recordings), encoding="utf-8")
            print(path.relative_to(ROOT))


def main(names: list[str]) -> None:
    unknown = set(names) - {shot.name for shot in SHOTS}
    if unknown:
        sys.exit(f"No such picture: {', '.join(sorted(unknown))}")
    out = ROOT / "screenshots"
    out.mkdir(exist_ok=True)
    if not names:
        for path in out.glob("*.svg"):
            if path.stem not in {shot.name for shot in SHOTS} | {"recording"}:
                path.unlink()
    asyncio.run(_draw_all([shot for shot in SHOTS if not names or shot.name in names], out))


if __name__ == "__main__":
    main(sys.argv[1:])
