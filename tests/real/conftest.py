"""What the tests on real disks share: loop devices and a volume with limits, undone after each test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_runs import SIZE
from loops import Loops, loops_in
from throttle import Volume, throttled_volume


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[Loops]:
    with loops_in(tmp_path) as made:
        yield made


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """The engine's private directory."""
    directory = tmp_path / "work"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of `engine_runs.SIZE` to read."""
    path = tmp_path / "test.dat"
    path.write_bytes(os.urandom(SIZE))
    return path


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Volume]:
    """A disk of 64 MiB, whose rate a test may limit."""
    with throttled_volume(tmp_path, 64 << 20) as volume:
        yield volume
