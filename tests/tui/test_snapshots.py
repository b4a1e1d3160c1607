"""Every screen in two sizes, and a few of them in three themes, as a person looked at it and found it good.

After a change that is meant, `make snapshots` draws them anew; read the difference before it is committed.
"""

import difflib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from scenes import SCENES, Recordings, Scene, idle
from snapshot import document, view

from diskprof.tui.kit.theme import LIGHT, SIXTEEN

GOLDEN = Path(__file__).parent.parent / "golden" / "screens"
DRAWS = os.environ.get("DISKPROF_GOLDEN") == "write"


IN_EVERY_THEME = {"run-refused", "run-edit", "live-sweep", "compare"}
"""A warning and lists, a dialog with fields, charts, a table: what a theme could draw wrong. The others are dark alone."""


def name_of(scene: Scene, size: tuple[int, int]) -> str:
    return f"{scene.name}-{size[0]}x{size[1]}.txt"


DRAWN = [(scene, size) for scene in SCENES for size in scene.sizes]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recordings]:
    yield Recordings(tmp_path_factory.mktemp("scenes"))


@pytest.mark.parametrize(("scene", "size"), DRAWN, ids=[name_of(*drawn) for drawn in DRAWN])
async def test_the_screen_is_as_it_was_found_good(scene: Scene, size: tuple[int, int], recordings: Recordings) -> None:
    async with recordings.open(scene, size) as pilot:
        views = {"dark": view(pilot)}
        if scene.name in IN_EVERY_THEME:
            pilot.app.theme = LIGHT
            await idle(pilot)
            views["light"] = view(pilot)
    if scene.name in IN_EVERY_THEME:
        # A terminal with few colours has them from the start.
        async with recordings.open(scene, size, SIXTEEN) as pilot:
            views["16 colours"] = view(pilot)
    seen = document(views)
    path = GOLDEN / name_of(scene, size)
    if DRAWS:
        path.parent.mkdir(exist_ok=True)
        path.write_text(seen, encoding="utf-8")
    assert path.exists(), f"{path.name} is not there yet: make snapshots"
    stored = path.read_text(encoding="utf-8")
    if seen != stored:
        lines = difflib.unified_diff(stored.splitlines(), seen.splitlines(), path.name, "now", lineterm="", n=1)
        pytest.fail("\n".join([*lines, "", "If this is meant: make snapshots, and look at the difference."]))


def test_nothing_is_stored_that_is_no_longer_drawn() -> None:
    drawn = {name_of(scene, size) for scene, size in DRAWN}
    if DRAWS:
        for path in GOLDEN.iterdir():
            if path.name not in drawn:
                path.unlink()
    assert {path.name for path in GOLDEN.iterdir()} == drawn
