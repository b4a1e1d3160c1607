"""The screen on a real terminal, with real keys and real runs, from launch to exported comparison."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from program import DISKPROF, environment, own_preset, until
from terminal import terminal

from diskprof.store import Store

SIZES = [(80, 24), (120, 40)]
RESTORED = b"\x1b[?1049l"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a preset that takes no time, in the place of the quick check."""
    shipped = Path(__file__).parents[2] / "presets/quick.toml"
    text = shipped.read_text().replace('"1g"', '"16m"').replace('"4s"', '"1s"')
    own_preset(tmp_path, "quick", text)
    return tmp_path


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_from_launch_to_an_exported_comparison(home: Path, columns: int, rows: int) -> None:
    with terminal(DISKPROF, environment(home), cwd=home, columns=columns, rows=rows) as screen:
        for _ in range(2):
            screen.press("1")
            screen.wait_for("Plan", "Quick check", "16 MiB")
            screen.press("enter")
            screen.wait_for("Start Quick check?")
            screen.press("enter")
            screen.wait_for(" of 6")
            screen.wait_for("✓ complete", gone="Test 6 of 6")
        screen.press("3")
        screen.wait_for("2 runs", "newest first")
        screen.press("space", "down", "space", "c")
        screen.wait_for("2 runs compared", "latency by percentile")
        screen.press("r")
        screen.wait_for("diskprof-")
        screen.press("enter")
        report = until(lambda: next(iter(home.glob("*.md")), None), "the report")
        screen.press("q")
        assert screen.wait_for_end() == 0
    assert RESTORED in screen.raw
    ids = [run["id"] for run in diskprof_json("runs", "--json", home=home)]
    assert len(ids) == 2
    text = until(lambda: report.read_text(), "the text of the report")
    assert all(run_id in text for run_id in ids)
    assert not list(home.glob(".diskprof-*"))


def running(home: Path) -> str:
    with Store.open(home / ".local/share/diskprof/runs.db") as store:
        return next((run.id for run in store.summaries() if run.status == "running"), "")


def long_run(home: Path) -> str:
    done = diskprof("run", "quick", home, "--set", "runtime=60", "--detach", home=home)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_restores_the_terminal_and_leaves_the_run(home: Path, number: int) -> None:
    run_id = long_run(home)
    with terminal(DISKPROF, environment(home), cwd=home) as screen:
        screen.press("2")
        screen.wait_for("Test 1 of 6")
        os.kill(screen.pid, number)
        screen.wait_for_end()
    assert RESTORED in screen.raw
    assert running(home) == run_id
    assert diskprof("stop", home=home).returncode == 0


def test_a_lost_terminal_ends_the_view_and_not_the_run(home: Path) -> None:
    run_id = long_run(home)
    with terminal(DISKPROF, environment(home), cwd=home) as screen:
        screen.press("2")
        screen.wait_for("Test 1 of 6")
        screen.hang_up()
        screen._reap()
    assert running(home) == run_id
    with terminal(DISKPROF, environment(home), cwd=home) as again:
        again.wait_for("running")
        again.press("2")
        again.wait_for("Test 1 of 6", run_id)
        again.press("s")
        again.wait_for("Stop")
        again.press("enter")
        again.wait_for("cancelled")
        again.press("q")
        assert again.wait_for_end() == 0
    assert running(home) == ""


def test_quitting_during_a_run_offers_to_leave_it_or_to_stop_it(home: Path) -> None:
    run_id = long_run(home)
    with terminal(DISKPROF, environment(home), cwd=home) as screen:
        screen.press("2")
        screen.wait_for("Test 1 of 6")
        screen.press("q")
        text = screen.wait_for("Leave it running", "Stop")
        assert run_id in text or "run" in text
        screen.press("l")
        screen.wait_for_end()
    assert running(home) == run_id
    assert diskprof("stop", run_id, home=home).returncode == 0


@pytest.mark.needs("loop")
def test_a_disk_that_is_attached_appears(home: Path, tmp_path: Path) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    # Of a size that shows the loop devices of all other tests too.
    with terminal(DISKPROF, environment(home), cwd=home, rows=60) as screen:
        screen.wait_for("Plan", "Quick check")
        attached = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=True)
        device = attached.stdout.strip()
        try:
            screen.wait_for(re.sub(r"^/dev/", "", device))
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)
        screen.wait_for("Plan", gone=re.sub(r"^/dev/", "", device))
        screen.press("q")
        assert screen.wait_for_end() == 0
