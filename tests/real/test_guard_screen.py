"""Writing to a raw device from the screen, at a real terminal: only what was named is written to, and nothing that is in use."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from loops import Loops, first_bytes, sha256
from msgspec.structs import replace
from program import DISKPROF, environment, own_preset, started, until
from terminal import Terminal, terminal

from diskprof.runner.carry.marks import Mark, mark_bytes
from diskprof.runner.carry.testfile import MARK_NAME
from diskprof.store import this_process

pytestmark = pytest.mark.needs("root", "loop")

PREWARM = """
name = "prewarm"
title = "Zeroing nothing"
summary = "Writes."
category = "quick"

[parameters]
size = { default = "8m", summary = "part to write" }

[[test]]
name = "prewarm"
title = "Sequential write"

[test.options]
rw = "write"
bs = "1m"
ioengine = "psync"
direct = true
size = "$size"
io_size = "$size"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a preset of its own that writes, first in the list."""
    path = tmp_path / "home"
    own_preset(path, "prewarm", PREWARM)
    return path


@contextmanager
def chosen(home: Path, node: str) -> Iterator[Terminal]:
    """The screen with this very device and the preset that writes, and what it says of that."""
    with terminal(DISKPROF, environment(home), cwd=home, columns=120, rows=50) as screen:
        screen.wait_for("Plan", "Quick check")
        screen.press_until("o", "Select a target")
        # What was pressed twice to open the field may stand in it.
        screen.press("\x15", node, "enter")
        screen.wait_for(f" {node}", gone="Select a target")
        screen.press_until("/", "filter: Enter keeps")
        screen.press("\x15", "zeroing", "enter")
        screen.wait_for("zeroing", "Zeroing nothing")
        # Of the plan: the list has "8 MiB" before it, and the plan before was one that writes, too.
        screen.wait_for("Writes      8 MiB")
        yield screen


def switched_on(screen: Terminal) -> None:
    screen.wait_for("[ ] Raw writes")
    screen.press("x")
    screen.wait_for("[x] Raw writes to")


def names(home: Path) -> list[str]:
    return [run["status"] for run in diskprof_json("runs", "--json", home=home)]


def test_the_screen_writes_only_once_the_right_name_was_typed(loops: Loops, home: Path) -> None:
    node, other = loops.disk(), loops.disk()
    with chosen(home, node) as screen:
        screen.press("enter")
        screen.wait_for("would overwrite")
        switched_on(screen)
        screen.press("enter")
        screen.wait_for(f"Overwrite {node}?", f"type its name ({Path(node).name})", "8 MiB will be written")
        for wrong in ("yes", Path(other).name):
            screen.press(wrong, "enter")
            screen.wait_for(f"'{wrong}' is not the name of")
            assert not any(first_bytes(node)) and not any(first_bytes(other))
            screen.press(*["\x7f"] * len(wrong))
            screen.wait_for("Overwrite", gone="is not the name of")
        assert names(home) == []
        screen.press(Path(node).name, "enter")
        screen.wait_for("✓ complete")
        screen.press("q")
        assert screen.wait_for_end() == 0
    assert any(first_bytes(node)) and not any(first_bytes(other))
    assert names(home) == ["complete"]


@pytest.mark.needs("mkfs.ext4")
def test_the_screen_gives_up_a_file_system_by_its_type(loops: Loops, home: Path) -> None:
    image = loops.image()
    node = loops.attach(image)
    loops.file_system(node)
    before = sha256(image)
    with chosen(home, node) as screen:
        switched_on(screen)
        screen.wait_for("holds ext4")
        screen.press("enter")
        screen.wait_for("Overwrite", "To overwrite its ext4, type ext4")
        screen.press(Path(node).name, "enter")
        screen.wait_for("Nothing is typed yet.")
        assert sha256(image) == before
        screen.press("ext4", "enter")
        screen.wait_for("✓ complete")
        screen.press("q")
        assert screen.wait_for_end() == 0
    assert sha256(image) != before


@pytest.mark.needs("mkfs.ext4")
def test_the_screen_never_writes_to_a_mounted_device(loops: Loops, home: Path) -> None:
    node = loops.disk()
    loops.file_system(node)
    where = loops.mount(node)
    (where / "kept").write_text("precious")
    with chosen(home, node) as screen:
        switched_on(screen)
        screen.wait_for("refused: see below", "is mounted on", "holds ext4")
        assert "can be given up" not in screen.text
        screen.press("enter")
        screen.wait_for("Unmount")
        assert f"Overwrite {node}?" not in screen.text
        screen.press("q")
        assert screen.wait_for_end() == 0
    assert (where / "kept").read_text() == "precious"
    assert names(home) == []


def test_a_device_that_is_mounted_while_the_person_types_is_not_written_to(loops: Loops, home: Path) -> None:
    node = loops.disk()
    with chosen(home, node) as screen:
        switched_on(screen)
        screen.press("enter")
        screen.wait_for(f"Overwrite {node}?")
        loops.file_system(node)
        where = loops.mount(node)
        (where / "kept").write_text("precious")
        screen.press(Path(node).name, "enter")
        screen.wait_for("is mounted on")
        screen.press("q")
        assert screen.wait_for_end() == 0
    assert (where / "kept").read_text() == "precious"
    assert names(home) == []


def test_the_screen_offers_to_remove_what_a_killed_run_left(tmp_path: Path, home: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with started("run", "quick", disk, "--set", "size=16m", "--set", "runtime=60", home=home) as process:
        until(lambda: list(disk.glob(".diskprof-*/test.dat")), "the test file")
        process.kill()
        process.communicate()
    (left,) = disk.glob(".diskprof-*")
    with terminal(DISKPROF, environment(home), cwd=home) as screen:
        screen.wait_for("1 leftover test file")
        screen.press("d")
        screen.wait_for("Remove this test file?", "Keep it")
        screen.press("enter")
        screen.wait_for("leftover test file", gone="Remove this test file?")
        assert left.exists(), "Enter keeps it"
        screen.press("d")
        screen.wait_for("Remove this test file?")
        screen.press("y")
        screen.wait_for("Removed 1 test file", gone="leftover test file")
        assert not left.exists()
        screen.press("q")
        assert screen.wait_for_end() == 0
    assert diskprof("clean", home=home).returncode == 0


def test_the_screen_offers_to_remove_what_a_run_of_another_store_left(tmp_path: Path, home: Path) -> None:
    """Where the run that is planned would work: this screen's own store has no run at all."""
    directory = home / ".diskprof-0123abcd"
    directory.mkdir(mode=0o700)
    (directory / "test.dat").write_bytes(bytes(8192))
    (directory / MARK_NAME).write_bytes(
        mark_bytes(Mark("abcdefgh", "/a/store", replace(this_process(), boot_id="of long ago")))
    )
    with terminal((*DISKPROF, "--store", str(tmp_path / "runs.db")), environment(home), cwd=home) as screen:
        screen.press_until("o", "Select a target")
        screen.press("\x15", str(home), "enter")
        screen.wait_for("1 leftover test file (8 KiB)", gone="Select a target")
        screen.press("d")
        # Nothing is known of what became of that run.
        screen.wait_for(
            "Remove this test file?", "abcdefgh", "or the power failed", gone="results of the runs are kept"
        )
        screen.press("y")
        screen.wait_for("Removed 1 test file", gone="leftover test file")
        assert not directory.exists()
        screen.press("q")
        assert screen.wait_for_end() == 0


@pytest.mark.needs("fio")
@pytest.mark.parametrize("number", [0, signal.SIGTERM])
def test_a_start_that_waited_when_the_screen_ended_is_told_of(number: int, home: Path) -> None:
    first = diskprof("run", "quick", home, "--set", "size=16m", "--set", "runtime=60", "--detach", home=home)
    assert first.returncode == 0, first.stderr
    run_id = first.stdout.strip()
    try:
        with terminal(DISKPROF, environment(home), cwd=home, columns=120, rows=40) as screen:
            screen.wait_for("Test 1 of 6")
            screen.press("1")
            screen.wait_for("Running:", "Plan", "Quick check")
            screen.press_until("enter", "Wait for its end, then start")
            screen.press("w")
            screen.wait_for("queued after")
            if number:
                os.kill(screen.pid, number)
            else:
                screen.press_until("q", "cancel the queued run")
                screen.press("l")
            screen.wait_for_end()
            assert b"was still waiting for its turn: it was not started." in screen.raw.rpartition(b"\x1b[?1049l")[2]
        assert names(home) == ["running"]
    finally:
        assert diskprof("stop", run_id, home=home).returncode == 0


@pytest.mark.needs("fio")
def test_a_second_run_from_the_screen_waits_for_the_first(home: Path) -> None:
    first = diskprof("run", "quick", home, "--set", "size=16m", "--set", "runtime=60", "--detach", home=home)
    assert first.returncode == 0, first.stderr
    run_id = first.stdout.strip()
    try:
        with terminal(DISKPROF, environment(home), cwd=home, columns=120, rows=40) as screen:
            screen.wait_for("Test 1 of 6")
            screen.press("1")
            screen.wait_for("Running:", "Plan", "Quick check")
            screen.press_until("/", "filter: Enter keeps")
            screen.press("zeroing", "enter")
            screen.wait_for("zeroing", "8 MiB")
            screen.press_until("enter", f"Run {run_id}", "Wait for its end, then start")
            screen.press("enter")
            screen.wait_for("queued after")
            assert names(home) == ["running"]
            assert diskprof("stop", run_id, home=home).returncode == 0
            screen.wait_for("✓ complete")
            screen.press("q")
            assert screen.wait_for_end() == 0
    finally:
        # Over already if all went well.
        diskprof("stop", run_id, home=home)
    assert names(home) == ["complete", "cancelled"]
