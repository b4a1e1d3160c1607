"""A read/write map with real fio, which is killed and goes on."""

import json
import os
import signal
from pathlib import Path

import pytest
from program import diskprof, diskprof_json, started, until

from diskprof.model.errors import ExitCode
from diskprof.model.run import Status
from diskprof.store import Store

pytestmark = pytest.mark.needs("fio")
SMALL = ("--set", "size=16m", "--set", "reads=2", "--set", "writes=2", "--set", "runtime=1s", "--set", "depth=4")


def complete(home: Path, since: int = 0) -> int:
    """How many cells of the newest run are complete, if there are more than `since` runs."""
    path = home / ".local/share/diskprof/runs.db"
    if not path.exists():
        return 0
    with Store.open(path, create=False) as store:
        runs = store.summaries()
        return sum(test.status is Status.COMPLETE for test in store.run(runs[0].id).tests) if len(runs) > since else 0


def test_a_map_that_was_killed_goes_on_without_measuring_a_cell_twice_and_one_that_is_stopped_has_what_it_has(
    tmp_path: Path,
) -> None:
    (target := tmp_path / "disk").mkdir()
    with started("map", target, *SMALL, "--yes", home=tmp_path) as first:
        until(lambda: first.poll() is not None or complete(tmp_path) >= 3, "both ends and a cell")
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    with started("rerun", "latest", "--yes", "--json", home=tmp_path) as rest:
        until(lambda: rest.poll() is not None or complete(tmp_path, since=1), "another cell")
        rest.send_signal(signal.SIGINT)
        out, err = rest.communicate()
    again, killed = json.loads(out), diskprof_json("show", "latest~1", "--json", home=tmp_path)
    assert (killed["status"], again["status"], rest.returncode) == ("interrupted", "cancelled", ExitCode.INTERRUPTED), (
        err
    )
    measured = [[test["name"] for test in run["tests"] if test["status"] == "complete"] for run in (killed, again)]
    assert measured[0][:2] == ["all-writes", "all-reads"] and measured[1] and not set(measured[0]) & set(measured[1])
    assert again["map"]["wanted"]["known"] == len(measured[0])
    assert (again["map"]["reads"], again["map"]["writes"]) == (killed["map"]["reads"], killed["map"]["writes"])
    known = sum(cell["reads_done"] is not None for cell in again["map"]["cells"])
    assert f"Cancelled after {known} cell" in diskprof("show", "latest", home=tmp_path).stdout
