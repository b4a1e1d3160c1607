"""The pictures of the README: `make screenshots` draws each of them, on the disks that the README names."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
SCRIPT = REPOSITORY / "scripts/screenshots.py"
PICTURES = {path.stem: path for path in (REPOSITORY / "screenshots").glob("*.svg")}
README = (REPOSITORY / "README.md").read_text()


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """What the scripts say of themselves."""
    words = (
        "import demo, recording, screenshots; print(*screenshots.NAMES);"
        "print(demo.LIMITED, demo.IOPS, demo.MB_PER_S, recording.SPEED)"
    )
    done = subprocess.run([sys.executable, "-c", words], cwd=SCRIPT.parent, capture_output=True, text=True, check=True)
    names, disks = done.stdout.splitlines()
    return {"names": names, **dict(zip(("limited", "iops", "mb_per_s", "speed"), disks.split(), strict=True))}


def test_every_picture_is_drawn_and_shown(scripts: dict[str, str]) -> None:
    names = set(scripts["names"].split())
    assert set(PICTURES) == names
    assert set(re.findall(r"\]\(screenshots/([a-z0-9-]+)\.svg\)", README)) == names


def test_the_readme_names_the_disks_of_the_pictures(scripts: dict[str, str]) -> None:
    limit = f"`{scripts['limited']}` is limited to {int(scripts['iops']):,} IOPS and {scripts['mb_per_s']} MB/s"
    assert limit in README
    assert scripts["speed"] == "3" and "shown at three times its speed" in README


def test_the_pictures_are_small_and_show_no_place_of_their_making() -> None:
    for name, path in PICTURES.items():
        assert path.stat().st_size < (1_500_000 if name == "recording" else 400_000), name
        assert not re.search(r"/tmp/|diskprof-demo", path.read_text()), name


def test_a_picture_that_nobody_draws_is_refused() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "no-such"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "no-such" in done.stderr


@pytest.mark.needs("setpriv", "root")
def test_who_may_not_mount_is_told_what_it_takes() -> None:
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    done = subprocess.run([*user, sys.executable, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 1
    assert "root" in done.stderr
    assert "Traceback" not in done.stderr
