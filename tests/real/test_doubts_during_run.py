"""The doubts about a run that is in progress, beside programs that keep every CPU busy."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import own_preset, started, until

from diskprof.model.run import Run
from diskprof.model.sample import Phase
from diskprof.store import Store

pytestmark = pytest.mark.needs("fio")

PRESET = """
name = "paced"
[rounds]
test = "first"
figure = "read.iops"
windows = 2
at_most = 5
[fio]
rw = "randread"
bs = "4k"
ioengine = "psync"
rate_iops = 200
size = "1m"
runtime = "2s"
time_based = true
[[test]]
name = "first"
[[test]]
name = "second"
"""


@pytest.fixture
def busy() -> Iterator[None]:
    """A program for each CPU."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def test_busy_cpus_are_told_while_it_runs_and_kept_through_the_next_test_of_the_round(
    tmp_path: Path, busy: None
) -> None:
    own_preset(tmp_path, "paced", PRESET)
    path = tmp_path / ".local/share/diskprof/runs.db"

    def newest() -> Run | None:
        if not path.exists():
            return None
        with Store.open(path, create=False) as store:
            runs = store.summaries(limit=1)
            return store.run(runs[0].id) if runs else None

    def told() -> set[str]:
        """The tests that are in doubt for this."""
        run = newest()
        assert not (run and run.status.over), run
        return {each.test for each in run.findings if each.name == "busy-machine"} if run else set()

    def second_measures() -> bool:
        run = newest()
        return bool(run and run.progress and run.progress.test == 1 and run.progress.phase is Phase.MEASURING)

    with started("run", "paced", tmp_path, "--yes", home=tmp_path):
        until(lambda: "first" in told(), "the doubt about the first test")
        until(second_measures, "the second test")
        assert "first" in told()
