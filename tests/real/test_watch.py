"""`diskprof watch` on real devices: what a known writer does, a device that goes away, and no right to the device."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import diskprof
from loops import MIB, Loops
from msgspec.structs import replace
from program import PATIENCE_S, started, until
from tracing import traces
from users import NOBODY, diskprof_as, home_of

from diskprof.devices.scan.sysfs import read_counters
from diskprof.devices.scan.udev import topology
from diskprof.model.preset import EngineName
from diskprof.model.run import Run, Status
from diskprof.runner.neighbours import neighbours
from diskprof.runner.plan import watch_plan as plans
from diskprof.runner.plan.watch_plan import watch_plan
from diskprof.runner.session import Place, Session
from diskprof.store import Store

pytestmark = pytest.mark.needs("root", "loop")

WRITER = """
import mmap, os, sys
data = mmap.mmap(-1, 1 << 20)
file = os.open(sys.argv[1], os.O_WRONLY | os.O_DIRECT)
for _ in range(8):
    os.write(file, data)
os.fsync(file)
print("written", flush=True)
sys.stdin.read()
"""


def test_a_known_writer_is_counted_and_named(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk(16 * MIB)
    with started("watch", node, "--json", "--interval", "100ms", home=tmp_path) as watch:
        assert watch.stdout
        # With the first line the watch is there.
        first = json.loads(watch.stdout.readline())
        words = [sys.executable, "-c", WRITER, node]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout and writer.stdout.readline() == "written\n"
            watch.send_signal(signal.SIGINT)
            out, err = watch.communicate(timeout=PATIENCE_S)
            writer.communicate()
    assert watch.returncode == 0, err
    last = json.loads(out.splitlines()[-1])
    assert (first["type"], last["type"], last["device"]) == ("interval", "summary", Path(node).name)
    assert round(last["mean"]["write_bytes_per_s"] * last["mean"]["seconds"]) == 8 * MIB
    assert round(last["mean"]["flushes_per_s"] * last["mean"]["seconds"]) == 1, "that of the fsync"
    ours = {each["pid"]: each["write_bytes"] for each in last["processes"]}
    assert ours[writer.pid] == 8 * MIB


def test_a_device_that_goes_away_ends_the_watch_with_what_was_seen(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk()
    with started("watch", node, "--interval", "100ms", "--for", "1h", home=tmp_path) as watch:
        assert watch.stdout
        assert watch.stdout.readline().startswith("Time")
        watch.stdout.readline()
        loops.detach(node)
        out, err = watch.communicate(timeout=PATIENCE_S)
    assert watch.returncode == 1
    assert f"{node} is gone" in err and "watched for" in out


@pytest.fixture
def instances(tmp_path: Path) -> Iterator[Path]:
    with traces(tmp_path) as found:
        yield found


@pytest.mark.needs("tracefs")
def test_the_screen_has_requests_traced_where_the_disk_is_not_too_busy_for_it(
    loops: Loops, instances: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = loops.disk()
    tree, place = topology(), Place(device=Path(node).name)
    plan, why = Session().watch_plan(place, tree)
    assert ([test.engine for test in plan.tests], why) == ([EngineName.TRACE], None)
    first = read_counters(names={place.device})[place.device]
    readings = iter((first, replace(first, at_ns=first.at_ns + 250_000_000, reads=first.reads + 6000)))
    monkeypatch.setattr(plans, "read_counters", lambda names: {place.device: next(readings)})
    plan, why = Session().watch_plan(place, tree)
    assert [test.engine for test in plan.tests] == [EngineName.KERNEL]
    assert why and "does 24.0k requests a second" in why.message and f"watch {place.device} --requests" in str(why)


@pytest.mark.needs("tracefs")
def test_each_request_of_a_known_writer_is_seen_and_no_trace_is_left(
    loops: Loops, tmp_path: Path, instances: Path
) -> None:
    node = loops.disk(16 * MIB)
    before = set(instances.iterdir())
    words = ("watch", node, "--requests", "--json", "--interval", "100ms")
    with started(*words, home=tmp_path) as killed:
        assert killed.stdout and killed.stdout.readline()
        killed.kill()
        killed.communicate()
    (left,) = set(instances.iterdir()) - before
    assert f"-{killed.pid}-" in left.name
    with started(*words, home=tmp_path) as watch:
        assert watch.stdout and watch.stdout.readline()
        assert not left.exists(), "what a killed watch left is removed by the next"
        assert len(set(instances.iterdir()) - before) == 1
        with subprocess.Popen([sys.executable, "-c", WRITER, node], stdin=-1, stdout=-1, text=True) as writer:
            assert writer.stdout and writer.stdout.readline() == "written\n"
            watch.send_signal(signal.SIGINT)
            out, err = watch.communicate(timeout=PATIENCE_S)
            writer.communicate()
    assert watch.returncode == 0, err
    seen = json.loads(out.splitlines()[-1])["requests"]
    assert seen["write"]["bytes"] == 8 * MIB and seen["lost_events"] == 0
    # In whose time: its own, or of a thread of the kernel that submits what it gave it.
    assert sum(each["write_bytes"] for each in seen["processes"]) == 8 * MIB
    ours = next(each for each in seen["processes"] if each["pid"] == writer.pid)
    assert ours["writes"] and ours["read_bytes"] == 0
    # All but the first piece of each size begin where one before ended.
    assert sum(size["in_order"] for size in seen["write"]["sizes"]) == seen["write"]["ios"] - 1
    assert set(instances.iterdir()) == before


@pytest.mark.needs("tracefs")
def test_a_recorded_trace_is_a_run_with_percentiles_and_sizes(loops: Loops, tmp_path: Path, instances: Path) -> None:
    node = loops.disk(16 * MIB)
    store = ("--store", tmp_path / "runs.db")
    run_id = diskprof(*store, "watch", node, "--record", "--requests", "--detach", home=tmp_path).stdout.strip()
    seen(tmp_path, run_id)
    with subprocess.Popen([sys.executable, "-c", WRITER, node], stdin=-1, stdout=-1, text=True) as writer:
        assert writer.stdout and writer.stdout.readline() == "written\n"
        diskprof(*store, "stop", run_id, home=tmp_path)
        writer.communicate()
    with Store.open(tmp_path / "runs.db") as opened:
        run, samples = opened.run(run_id), opened.samples(run_id).samples
        counted = opened.system_samples(run_id).samples
    (test,) = run.tests
    assert (run.status, test.engine, run.plan.watched) == (Status.COMPLETE, EngineName.TRACE, True)
    assert test.result and test.result.requests and test.result.write
    assert test.result.requests.write.bytes == test.result.write.bytes == 8 * MIB
    assert test.result.write.histogram and test.result.write.histogram.total == test.result.requests.write.ios
    assert sum(each.histogram.total for each in samples if each.histogram) == test.result.requests.ios
    assert counted[0].duration_ns <= samples[0].duration_ns, "what came before the trace does not count"
    shown = diskprof(*store, "show", run_id, home=tmp_path).stdout
    assert "p99.9" in shown and "Requests" in shown and "Sync writes" in shown


def test_no_right_to_the_device_is_needed(loops: Loops) -> None:
    node = loops.disk()
    Path(node).chmod(0o600)
    with home_of(NOBODY) as home:
        done = diskprof_as(NOBODY, "watch", node, "--for", "100ms", home=home)
    assert done.returncode == 0, done.stderr
    assert "watched for" in done.stdout and "without root" in done.stdout
    assert "To see the processes of other users: sudo /opt/bin/diskprof" in done.stderr


def test_bad_input(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk()
    for words, said in (
        ((node, "--for", "0"), "--for must be more than 0"),
        ((node, "--for", "soon"), "is not a duration"),
        ((node, "--interval", "1ms"), "too short"),
        ((node, "--record", "--interval", "1s"), "not for --record"),
        ((node, "--tag", "one"), "are for --record"),
        (("/dev/no-such",), "does not exist"),
        (("/proc",), "not on a block device"),
    ):
        done = diskprof("watch", *words, home=tmp_path)
        assert done.returncode == 2 and said in done.stderr, words


def seen(home: Path, run_id: str) -> Run:
    """The run with what it has by now, once it has an interval."""
    with Store.open(home / "runs.db") as store:
        until(lambda: store.samples(run_id).samples, "the first interval")
        return store.run(run_id)


def test_a_recorded_watch_is_a_run_like_any_other(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk(16 * MIB)
    words = [sys.executable, "-c", WRITER, node]
    run_id = diskprof(
        "--store", tmp_path / "runs.db", "watch", node, "--record", "--detach", home=tmp_path
    ).stdout.strip()
    seen(tmp_path, run_id)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout and writer.stdout.readline() == "written\n"
        with Store.open(tmp_path / "runs.db") as store:
            device = topology().get(Path(node).name)
            assert device and not neighbours(watch_plan(device, node), store, topology()), "it is in nobody's way"
        diskprof("--store", tmp_path / "runs.db", "stop", run_id, home=tmp_path)
        writer.communicate()
    with Store.open(tmp_path / "runs.db") as store:
        run, samples, system = store.run(run_id), store.samples(run_id).samples, store.system_samples(run_id).samples
    (test,) = run.tests
    assert (run.status, test.status, test.engine) == (Status.COMPLETE, Status.COMPLETE, EngineName.KERNEL)
    assert test.result and test.result.write and test.result.write.bytes == 8 * MIB
    assert sum(sample.bytes for sample in samples if sample.direction == "write") == 8 * MIB
    assert sum(sample.write_bytes or 0 for sample in system) == 8 * MIB
    assert {(each.pid, each.write_bytes) for each in run.processes} >= {(writer.pid, 8 * MIB)}
    assert not run.findings and run.messages[-1].text.startswith("Stopped by user")
    shown = diskprof("--store", tmp_path / "runs.db", "show", run_id, home=tmp_path).stdout
    assert "r_await" in shown and "Processes on the disk" in shown
    again = diskprof("--store", tmp_path / "runs.db", "rerun", run_id, home=tmp_path)
    assert again.returncode == 2 and "diskprof watch" in again.stderr


def test_a_recorded_watch_keeps_what_was_seen_when_it_is_killed_or_its_device_goes(
    loops: Loops, tmp_path: Path
) -> None:
    node = loops.disk()
    start = ("--store", tmp_path / "runs.db", "watch", node, "--record", "--detach")
    killed, orphaned = (diskprof(*start, home=tmp_path).stdout.strip() for _ in range(2))
    for run_id in (killed, orphaned):
        seen(tmp_path, run_id)
    with Store.open(tmp_path / "runs.db") as store:
        os.kill(store.runner(killed).pid, signal.SIGKILL)
        loops.detach(node)
        until(lambda: store.run(orphaned).status.over, "the end of the watch")
        until(lambda: store.reap() or store.run(killed).status.over, "the end of the killed one")
        lost, gone = store.run(killed), store.run(orphaned)
        assert store.samples(killed).samples
    assert lost.status is Status.INTERRUPTED
    assert gone.status is Status.FAILED and "was removed during the run" in gone.reason
    assert gone.tests[0].result and gone.tests[0].result.directions
