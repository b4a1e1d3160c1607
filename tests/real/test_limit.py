"""A search for a limit with real fio, on a volume of a known limit (F41)."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from program import DISKPROF, diskprof, environment, own_preset, until
from throttle import Volume

from diskprof.model.errors import ExitCode
from diskprof.model.run import Status
from diskprof.store import Store

pytestmark = pytest.mark.needs("root", "loop", "blkio-throttle", "fio")
PRESET = """
name = "quick-limit"
[parameters]
keep = { default = "read.p99<=900ms" }
[limit]
keep = "$keep"
short = "1s"
full = "4s"
at_most = "30s"
[fio]
rw = "randread"
bs = "4k"
ioengine = "libaio"
direct = true
size = "64m"
[[test]]
name = "load"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    own_preset(tmp_path, "quick-limit", PRESET)
    return tmp_path


@pytest.fixture
def volume(volume: Volume) -> Volume:
    volume.throttle.limit("read", iops=3700)
    return volume


def start(volume: Volume, home: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        volume.throttle.words(*DISKPROF, *words),
        env=environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> tuple[int, Any]:
    out, err = process.communicate(timeout=90)
    assert out, err
    return process.returncode, json.loads(out)


def trials(home: Path) -> int:
    """How many trials of the run in progress are complete."""
    path = home / ".local/share/diskprof/runs.db"
    if not path.exists():
        return 0
    with Store.open(path, create=False) as store:
        runs = store.summaries(limit=1)
        return sum(test.status is Status.COMPLETE for test in store.run(runs[0].id).tests) if runs else 0


def test_a_loose_promise_ends_at_the_volumes_own_limit_and_is_kept_like_any_run(volume: Volume, home: Path) -> None:
    with start(
        volume, home, "limit", volume.node, "--keep", "read.p99<=900ms", "--load", "quick-limit", "--json"
    ) as search:
        code, told = result(search)
    assert code == ExitCode.OK and told["status"] == "complete"
    found = told["limit"]
    assert found["missed"] is None and found["kept"]["trials_kept"] == found["kept"]["trials"] == 3
    # A slice of the limit more or less, 0.1 s of 4.
    assert 3515 <= found["trials"][-1]["iops"] <= 3800
    assert [test["name"] for test in told["tests"]] == ["qd64", "qd64-2", "qd64-3"]
    assert "rate-missed" not in {finding["name"] for finding in told["findings"]}
    shown = diskprof("show", "latest", home=home).stdout
    assert "kept it in 3 of 3 trials" in shown
    assert "Limit" in diskprof("report", "latest", home=home).stdout
    diskprof("export", "latest", "-o", "out.dprun", home=home)
    again = diskprof("rerun", "latest", "--dry-run", "--json", home=home)
    plan = json.loads(again.stdout)
    assert plan["limit"] == found["wanted"] and [test["name"] for test in plan["tests"]] == ["qd64"]
    with Store.open(home / "other.db"):
        pass
    other = ("--store", "other.db")
    diskprof(*other, "import", "out.dprun", home=home)
    moved = json.loads(diskprof(*other, "show", "latest", "--json", home=home).stdout)
    assert moved["limit"] == found


def test_stopped_in_mid_search_it_tells_what_is_known(volume: Volume, home: Path) -> None:
    # No disk is that fast with 64 in flight; one at a time may be.
    with start(volume, home, "run", "quick-limit", volume.node, "--set", "keep=read.p99<=2us", "--json") as search:
        until(lambda: search.poll() is not None or trials(home) >= 2, "two trials")
        search.send_signal(signal.SIGINT)
        code, told = result(search)
    assert code == ExitCode.INTERRUPTED and told["status"] == "cancelled"
    found = told["limit"]
    assert len(found["trials"]) >= 2 and (found["missed"] or found["kept"])
    assert told["tests"][-1]["status"] == "cancelled" or len(found["trials"]) == len(told["tests"])
    assert "so far" in diskprof("show", "latest", home=home).stdout
