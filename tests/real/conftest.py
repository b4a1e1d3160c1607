"""What the tests on real disks share: a bench of loop devices, undone after each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import Bench, bench_in


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with bench_in(tmp_path) as made:
        yield made
