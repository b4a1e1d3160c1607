"""What diskprof says of volumes whose limits are known (F41): the figures, and what limited them."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from program import DISKPROF, environment, own_preset, until
from throttle import Volume

from diskprof.analysis.findings.find import find
from diskprof.analysis.findings.over_time import LevelChange, level_change
from diskprof.analysis.findings.view import TestView, views
from diskprof.devices.scan.udev import scan
from diskprof.devices.targets import resolve_target
from diskprof.model.run import Status
from diskprof.model.sample import Phase
from diskprof.store import Store

MIB = 1 << 20
PRESET = """
name = "truth"
[parameters]
rw = { kind = "text", default = "randread" }
bs = "4k"
depth = 16
runtime = "3s"
[[test]]
name = "truth"
[test.options]
rw = "$rw"
bs = "$bs"
iodepth = "$depth"
ioengine = "libaio"
direct = true
size = "64m"
runtime = "$runtime"
time_based = true
"""
REACHED = "cgroup-limit-reached"
UNSTEADY = {"not-steady", "burst", "stall", "periodic-stalls"}
throttled = pytest.mark.needs("root", "loop", "blkio-throttle", "fio")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    own_preset(tmp_path, "truth", PRESET)
    return tmp_path


def settings(**values: object) -> list[str]:
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def started(volume: Volume, home: Path, **values: object) -> subprocess.Popen[str]:
    """diskprof, in the volume's group, working on the volume, before all that other tests do meanwhile."""
    words = ("nice", "-n", "-20", *DISKPROF, "run", "truth", volume.node, "--json", "--yes", *settings(**values))
    allowed = ("--allow-write", "--confirm-device", volume.name) if "write" in str(values.get("rw")) else ()
    return begun(volume.throttle.words(*words, *allowed), home)


def begun(words: Sequence[str], home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words,
        env=environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result_of(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out)


def open_store(home: Path) -> Store:
    return Store.open(home / ".local/share/diskprof/runs.db")


def undisturbed(start: Callable[[], subprocess.Popen[str]], right: Callable[[Any], bool]) -> Any:
    """The result of a run; of another if it is not `right`, four times at most.

    A machine with too much to do lets a timer of the volume, or of fio, ring late now and then. It gives less than the limit then,
    never more: `right` fails at once for more.
    """
    for _ in range(4):
        run = result_of(start())
        if right(run):
            return run
    return result_of(start())


def names(run: Any) -> set[str]:
    return {finding["name"] for finding in run["findings"]}


@throttled
@pytest.mark.parametrize(("way", "limit", "depth"), [("read", 2000, 16), ("write", 1000, 8)])
def test_a_limit_of_iops(volume: Volume, home: Path, way: str, limit: int, depth: int) -> None:
    volume.throttle.limit(way, iops=limit)
    expected, wait = pytest.approx(limit, rel=0.01), pytest.approx(depth / limit * 1e9, rel=0.02)

    def right(run: Any) -> bool:
        figures = run["tests"][0][way]
        assert figures["iops"] <= limit * 1.01
        return bool(figures["iops"] == expected and figures["latency_ns"]["mean"] == wait and REACHED in names(run))

    run = undisturbed(partial(started, volume, home, rw=f"rand{way}", depth=depth), right)
    figures = run["tests"][0][way]
    assert figures["iops"] == expected
    assert figures["latency_ns"]["mean"] == wait
    assert REACHED in names(run)


@throttled
@pytest.mark.parametrize(("way", "limit", "depth"), [("read", 50_000_000, 8), ("write", 20_000_000, 4)])
def test_a_limit_of_bandwidth(volume: Volume, home: Path, way: str, limit: int, depth: int) -> None:
    volume.throttle.limit(way, bytes_per_s=limit)
    expected = pytest.approx(limit, rel=0.015)

    def wait(figures: Any) -> Any:
        return pytest.approx(depth / figures["iops"] * 1e9, rel=0.02)

    def right(run: Any) -> bool:
        figures = run["tests"][0][way]
        assert figures["bandwidth_bytes_per_s"] <= limit * 1.015
        fits = figures["bandwidth_bytes_per_s"] == expected and figures["latency_ns"]["mean"] == wait(figures)
        return bool(fits and REACHED in names(run))

    run = undisturbed(partial(started, volume, home, rw=way, bs="128k", depth=depth, runtime="4s"), right)
    figures = run["tests"][0][way]
    assert figures["bandwidth_bytes_per_s"] == expected
    assert figures["latency_ns"]["mean"] == wait(figures)
    (found,) = (finding for finding in run["findings"] if finding["name"] == REACHED)
    assert volume.name in found["evidence"]


@throttled
def test_a_limit_that_nothing_tells_of_is_a_ceiling(volume: Volume, home: Path) -> None:
    """As in a cloud: what the kernel knows is left out, and only the figures are there.

    How busy the CPUs were is left out too: CPUs that other tests keep busy are a reason to tell of no ceiling.
    """
    volume.throttle.limit("read", iops=2000)

    def judged(run_id: str, *, aware: bool) -> dict[str, str]:
        with open_store(home) as store:
            run, seen = store.run(run_id), store.system_samples(run_id).samples
            if not aware:
                run, seen = replace(run, environment=replace(run.environment, io_limits=(), cgroup_limits=())), ()
            return {found.name: found.evidence for found in find(run, store.samples(run_id).samples, seen)}

    told = undisturbed(
        partial(started, volume, home, runtime="8s"), lambda run: "iops-ceiling" in judged(run["id"], aware=False)
    )
    assert {REACHED, "iops-ceiling"} & judged(told["id"], aware=True).keys() == {REACHED}
    evidence = judged(told["id"], aware=False).get("iops-ceiling", "")
    assert re.fullmatch(
        r"a steady (2\.0\d|1\.9\d)k IOPS at QD16: 16 / \1k IOPS = (8\.\d\d|7\.9\d) ms, "
        r"where the (fastest hundredth took about|first took) .*",
        evidence,
    )


@throttled
def test_the_kernels_view_agrees_with_fio(volume: Volume, home: Path) -> None:
    volume.throttle.limit("read", iops=2000)

    def view_of(run_id: str) -> TestView:
        with open_store(home) as store:
            (view,) = views(store.run(run_id), store.samples(run_id).samples, store.system_samples(run_id).samples)
        return view

    def size_fits(run: Any) -> bool:
        """Whoever lists devices, as other tests do meanwhile, reads the first 256 KiB of each, outside of the group."""
        seen, iops = view_of(run["id"]).kernel, run["tests"][0]["read"]["iops"]
        return (
            seen is not None
            and seen.read_size_bytes == pytest.approx(65536, rel=0.05)
            and seen.reads_per_s == pytest.approx(iops, rel=0.05)
            and seen.cgroup_reads_per_s == pytest.approx(iops, rel=0.05)
        )

    run_id = undisturbed(partial(started, volume, home, bs="64k"), size_fits)["id"]
    tested = view_of(run_id)
    with open_store(home) as store:
        run = store.run(run_id)
    view, result = tested.kernel, run.tests[0].result
    assert view and result and result.read
    # fio counts from a few ms later on.
    assert view.reads_per_s == pytest.approx(result.read.iops, rel=0.05)
    assert view.cgroup_reads_per_s == pytest.approx(result.read.iops, rel=0.05)
    assert view.cgroup_read_bytes_per_s == pytest.approx(result.read.bandwidth_bytes_per_s, rel=0.05)
    assert sum(sample.cgroup_reads or 0 for sample in tested.system) == pytest.approx(result.read.ios, abs=40)
    assert view.read_size_bytes == pytest.approx(65536, rel=0.05)
    # What the group holds back never got to the device.
    assert view.read_wait_ns is not None and view.read_wait_ns < result.read.latency.mean
    assert view.memory_available_bytes and view.cached_bytes
    (limit,) = run.environment.io_limits
    assert (limit.device, limit.direction, limit.iops, limit.per_second) == (volume.name, "read", True, 2000)
    assert run.environment.disks[0].name == volume.name
    tree = scan()
    below = tree.disks_below(resolve_target(str(home), tree).device)
    assert run.environment.store_disks == tuple(disk.name for disk in below)


@throttled
def test_a_limit_that_falls_during_the_run_is_a_burst_that_ended(volume: Volume, home: Path) -> None:
    changes: dict[str, int] = {}

    def falling() -> subprocess.Popen[str]:
        volume.throttle.limit("read", iops=4000)
        process = started(volume, home, runtime="8s", depth=32)
        until(lambda: (home / ".local/share/diskprof/runs.db").exists() or process.poll() is not None, "the store")
        with open_store(home) as store:
            until(lambda: len(store.summaries()) > len(changes), "the run")
            (run_id,) = {summary.id for summary in store.summaries()} - changes.keys()
            changes[run_id] = _change_at(store, run_id, volume, 2.5)
        return process

    def change_of(run_id: str) -> tuple[TestView, LevelChange | None]:
        with open_store(home) as store:
            (view,) = views(store.run(run_id), store.samples(run_id).samples, ())
        return view, level_change(view)

    def falls(told: Any) -> bool:
        _, change = change_of(told["id"])
        return change is not None and change.before == before and change.after == after

    before, after = pytest.approx(4000, rel=0.05), pytest.approx(1000, rel=0.05)
    told = undisturbed(falling, falls)
    assert "burst" in names(told)
    view, change = change_of(told["id"])
    assert change is not None
    assert abs(change.at_s - view.into_test(changes[told["id"]])) <= 2 * 0.25
    assert change.before == before
    assert change.after == after


@throttled
def test_another_program_on_the_disk_is_told_while_the_test_runs(volume: Volume, home: Path) -> None:
    volume.throttle.limit("read", iops=1000)
    process = started(volume, home, runtime="60s")
    reads = [
        "fio",
        "--name=other",
        f"--filename={volume.node}",
        "--rw=read",
        "--bs=256k",
        "--direct=1",
        "--rate=40m",
        "--thread",
    ]
    with subprocess.Popen([*reads, "--time_based", "--runtime=60"], stdout=subprocess.DEVNULL) as other:
        until(lambda: (home / ".local/share/diskprof/runs.db").exists() or process.poll() is not None, "the store")
        with open_store(home) as store:
            until(lambda: [one for one in store.summaries() if "other-io" in one.doubts], "a doubt")
            (summary,) = store.summaries()
            assert summary.status is Status.RUNNING
            # Other tests beside this one may keep the CPUs busy, which is a doubt too.
            (finding,) = (each for each in store.run(summary.id).findings if each.name == "other-io")
            assert [(each.pid, each.name) for each in finding.processes] == [(other.pid, "fio")]
            assert finding.processes[0].share == pytest.approx(1, abs=0.15)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        other.kill()


def _change_at(store: Store, run_id: str, volume: Volume, after_s: float) -> int:
    """Lowers the limit so long after the measuring began; returns when that was, in ns since the run began."""

    def measured_s() -> float:
        measured = [one for one in store.samples(run_id).samples if one.phase is Phase.MEASURING]
        return sum(one.duration_ns for one in measured) / 1e9

    until(lambda: measured_s() >= after_s, "some seconds of samples")
    before = store.run(run_id).progress
    # Progress carries the run's own clock: the moment it moves is now.
    progress = until(lambda: (now := store.run(run_id).progress) != before and now, "a sign of life")
    volume.throttle.limit("read", iops=1000)
    return int(progress.at_ns)


@pytest.mark.needs("fio")
@pytest.mark.parametrize("rate", [2000, 500])
def test_a_rate_that_fio_sets_itself_needs_neither_disk_nor_root(home: Path, rate: int) -> None:
    text = PRESET.replace('"libaio"', '"null"').replace("direct = true\n", "") + f"rate_iops = {rate}\n"
    own_preset(home, "truth", text)
    (home / "disk").mkdir()
    expected = pytest.approx(rate, rel=0.005)

    def start() -> subprocess.Popen[str]:
        first = ("nice", "-n", "-20") if os.geteuid() == 0 else ()
        return begun((*first, *DISKPROF, "run", "truth", "disk", "--json", "--yes", *settings(depth=1)), home)

    def right(run: Any) -> bool:
        iops = run["tests"][0]["read"]["iops"]
        # A machine that lets fio wait at the end keeps it from its rate; nothing takes it above.
        assert iops < rate * 1.005
        return bool(iops == expected) and names(run).isdisjoint(UNSTEADY)

    began = time.monotonic()
    run = undisturbed(start, right)
    assert time.monotonic() - began > 3
    assert run["tests"][0]["read"]["iops"] == expected
    assert not UNSTEADY & names(run)
