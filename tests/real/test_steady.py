"""Tests that go on until they are steady, on a volume whose limit falls, stays and wavers (F41)."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import DISKPROF, environment, own_preset, until
from throttle import Volume

from diskprof.analysis.steady import counted
from diskprof.model.run import Status
from diskprof.model.sample import Direction, Phase
from diskprof.store import Store

pytestmark = pytest.mark.needs("root", "loop", "blkio-throttle", "fio")
PRESET = """
name = "steady"
[fio]
rw = "randread"
bs = "4k"
iodepth = 16
ioengine = "libaio"
direct = true
size = "64m"
runtime = "60s"
time_based = true
[[test]]
name = "steady"
"""
FALLING = "read.iops windows=3 window=1s range=5% slope=5% at_most=20s"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    own_preset(tmp_path, "steady", PRESET)
    return tmp_path


def intervals(home: Path) -> int:
    """How many intervals of the run in progress the store has."""
    path = home / ".local/share/diskprof/runs.db"
    if not path.exists():
        return 0
    with Store.open(path, create=False) as store:
        runs = [each for each in store.summaries(limit=1) if not each.status.over]
        samples = store.samples(runs[0].id).samples if runs else ()
    return sum(sample.phase is Phase.MEASURING for sample in samples)


def run(volume: Volume, home: Path, steady: str, limits: Callable[[subprocess.Popen[str]], None]) -> Any:
    """The result of a run in the volume's group, while `limits` sets what the volume gives."""
    words = (*DISKPROF, "run", "steady", volume.node, "--json", "--yes", "--steady", steady)
    with subprocess.Popen(
        volume.throttle.words("nice", "-n", "-20", *words),
        env=environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        limits(process)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out)


def names(told: Any) -> set[str]:
    return {finding["name"] for finding in told["findings"]}


def test_it_ends_by_itself_after_the_limit_fell_and_tells_the_lower_figure(volume: Volume, home: Path) -> None:
    def falls(process: subprocess.Popen[str]) -> None:
        until(lambda: process.poll() is not None or intervals(home) >= 7, "seven intervals")
        volume.throttle.limit("read", iops=2000)

    for _ in range(5):
        volume.throttle.limit("read", iops=8000)
        told = run(volume, home, FALLING, falls)
        (test,) = told["tests"]
        steady = test["steady"]
        # On a machine with too much to do the volume gives less than its limit now and then.
        if steady["reached"] and test["read"]["iops"] == pytest.approx(2000, rel=0.01):
            break
    assert steady["reached"] and steady["windows"] == 3
    assert test["read"]["iops"] == pytest.approx(2000, rel=0.01)
    # What fio tells of the same time holds the way there.
    assert steady["values"][0] > 3000 and len(steady["values"]) > 3
    assert not {"burst", "not-steady", "steady-not-reached"} & names(told)
    assert "--runtime=20" in test["argv"]


def test_a_flat_volume_takes_exactly_its_windows(volume: Volume, home: Path) -> None:
    volume.throttle.limit("read", iops=2000)
    told = run(volume, home, "read.iops windows=3 window=1s range=50% slope=50% at_most=20s", lambda _: None)
    steady = told["tests"][0]["steady"]
    assert steady["reached"] and len(steady["values"]) == 3 and steady["after_s"] == 0.0
    assert told["tests"][0]["read"]["runtime_ms"] == pytest.approx(3000, abs=300)


PRECONDITION = """
[[precondition]]
name = "fill"
options = { rw = "write", bs = "1m", time_based = false, loops = 2, runtime = "30s" }
[[precondition]]
name = "random"
options = { rw = "randwrite" }
steady = { figure = "write.iops", windows = 2, window = "1s", range = "100%", slope = "100%", at_most = "4s" }
"""


def test_a_device_is_preconditioned_only_with_consent_and_before_the_first_test(volume: Volume, home: Path) -> None:
    preset = PRESET.replace("[[test]]", f"{PRECONDITION}[[test]]").replace("60s", "1s")
    own_preset(home, "steady", preset)
    words = [*DISKPROF, "run", "steady", volume.node, "--json", "--allow-write", "--confirm-device", volume.name]

    def done(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*words, *more], env=environment(home), cwd=home, capture_output=True, text=True, check=False, timeout=60
        )

    refused = done()
    assert refused.returncode == 4 and "Preconditioning would write about" in refused.stderr
    assert "precondition=yes" in refused.stderr
    plan = json.loads(done("--dry-run", "--set", "precondition=yes").stdout)
    assert [step["name"] for step in plan["precondition"]] == ["fill", "random"]
    assert plan["bytes_written"] > 2 * (64 << 20)
    without = json.loads(done("--dry-run", "--set", "precondition=no").stdout)
    assert (without["precondition"], without["bytes_written"]) == ([], 0)
    carried = done("--set", "precondition=yes")
    assert carried.returncode == 0, carried.stderr
    told = json.loads(carried.stdout)
    assert [test["name"] for test in told["tests"]] == ["steady"] and "write" not in told["tests"][0]
    with Store.open(home / ".local/share/diskprof/runs.db", create=False) as store:
        samples = store.samples(told["id"]).samples
    before = [sample for sample in samples if sample.phase is Phase.PREPARING]
    # Twice in order, then for two windows at random.
    assert sum(sample.bytes for sample in before) > 2 * (64 << 20)
    assert any("random steady from the beginning" in each["text"] for each in told["messages"])


ROUNDS = """
[rounds]
test = "steady"
figure = "read.iops"
windows = 2
range = "60%"
slope = "60%"
at_most = 6
[[test]]
name = "other"
options = { rw = "randrw" }
[[test]]"""


def rounds_of(home: Path) -> int:
    """How many rounds of the newest run are complete."""
    path = home / ".local/share/diskprof/runs.db"
    if not path.exists():
        return 0
    with Store.open(path, create=False) as store:
        runs = store.summaries(limit=1)
        return store.run(runs[0].id).rounds_done if runs else 0


@pytest.mark.parametrize("end", ["steady", signal.SIGTERM, signal.SIGKILL], ids=str)
def test_rounds_of_all_tests_go_on_until_one_is_steady_and_complete_ones_outlive_any_end(
    volume: Volume, home: Path, end: str | signal.Signals
) -> None:
    preset = PRESET.replace("[[test]]", ROUNDS).replace("60s", "1s")
    own_preset(home, "steady", preset)
    volume.throttle.limit("read", iops=4000)
    words = [*DISKPROF, "run", "steady", volume.node, "--json", "--allow-write", "--confirm-device", volume.name]
    with subprocess.Popen(
        volume.throttle.words(*words), env=environment(home), cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        until(lambda: process.poll() is not None or rounds_of(home) >= 1, "a round")
        volume.throttle.limit("read", iops=1000)
        if isinstance(end, signal.Signals):
            process.send_signal(end)
        _, err = process.communicate(timeout=90)
    with Store.open(home / ".local/share/diskprof/runs.db", create=False) as store:
        store.reap()
        run = store.run(store.summaries(limit=1)[0].id)
        samples = store.samples(run.id).samples
    rounds = run.rounds
    assert rounds, err
    # Every test has each complete round, and no part of another.
    for test in run.tests:
        assert test.status is Status.COMPLETE and test.result and test.result.read and test.result.steady
        assert len(test.result.steady.values) == len(test.result.read.rounds) == len(rounds.values)
        kept = [each for each in counted(test.result.steady, samples) if each.test == test.index]
        read = sum(each.ios for each in kept if each.direction is Direction.READ)
        assert read == test.result.read.ios and test.result.read.clat and test.result.read.slat
    if end == "steady":
        assert process.returncode == 0, err
        assert rounds.reached and rounds.count == 2 and len(rounds.values) <= 6
        assert run.tests[1].result and run.tests[1].result.read
        assert run.tests[1].result.read.iops < 2500
    else:
        assert run.status is (Status.CANCELLED if end is signal.SIGTERM else Status.INTERRUPTED)
        assert len(rounds.values) < 6 and not rounds.reached


def test_a_volume_that_wavers_is_not_steady_in_its_time(volume: Volume, home: Path) -> None:
    def wavers(process: subprocess.Popen[str]) -> None:
        for number in range(20):
            volume.throttle.limit("read", iops=2000 if number % 2 else 500)
            seen = intervals(home)
            until(lambda seen=seen: process.poll() is not None or intervals(home) >= seen + 8, "eight intervals")  # type: ignore[misc]

    told = run(volume, home, "read.iops windows=3 window=1s range=20% slope=20% at_most=5s", wavers)
    (test,) = told["tests"]
    assert not test["steady"]["reached"] and test["status"] == "complete"
    assert "steady-not-reached" in names(told)
    assert told["status"] == "complete"
