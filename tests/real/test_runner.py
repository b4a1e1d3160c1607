"""Runs by the real program with real fio and ioping: what is measured, kept, stopped, and left behind."""

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from msgspec.structs import replace
from program import PATIENCE_S, descendants, gone, started, until

from diskprof.devices.scan.udev import scan
from diskprof.devices.targets import resolve_target
from diskprof.model.device import Parts
from diskprof.model.run import Status
from diskprof.model.sample import Phase
from diskprof.presets.library import load_library
from diskprof.runner.carry.begin import begun
from diskprof.runner.carry.execute import StopRequest, execute
from diskprof.runner.plan.planner import make_plan
from diskprof.store import Store

QUICK = ("--set", "size=16m", "--set", "runtime=1")


def store_of(home: Path) -> Path:
    return home / ".local/share/diskprof/runs.db"


def nothing_left(directory: Path) -> bool:
    return not list(directory.glob(".diskprof-*"))


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    directory = tmp_path / "disk"
    directory.mkdir()
    return directory


def test_a_quick_check_reports_the_figures_of_fios_final_document(tmp_path: Path, disk: Path) -> None:
    run = diskprof_json("run", "quick", disk, *QUICK, "--json", home=tmp_path)
    assert run["status"] == "complete"
    assert len(run["tests"]) == 6
    with Store.open(store_of(tmp_path)) as store:
        for index, test in enumerate(run["tests"]):
            document = json.loads(store.document(run["id"], index))
            (job,) = document["jobs"]
            for direction in ("read", "write"):
                theirs = job[direction]
                if not theirs["total_ios"]:
                    assert not test.get(direction)
                    continue
                ours = test[direction]
                assert ours["ios"] == theirs["total_ios"]
                assert ours["bytes"] == theirs["io_bytes"]
                assert ours["iops"] == theirs["iops"]
                assert ours["bandwidth_bytes_per_s"] == theirs["bw_bytes"]
                lat = theirs["lat_ns"]
                for name, value in (("mean", lat["mean"]), ("min", lat["min"]), ("max", lat["max"])):
                    assert ours["latency_ns"][name] == value
                for name, key in (("p50", "50"), ("p90", "90"), ("p95", "95"), ("p99", "99"), ("p99_9", "99.9")):
                    assert ours["latency_ns"][name] == lat["percentile"][f"{float(key):.6f}"]
            assert test["cpu"] == {"user_percent": job["usr_cpu"], "system_percent": job["sys_cpu"]}
            measured = [s for s in store.samples(run["id"], test=index).samples if s.phase == "measuring"]
            for direction in ("read", "write"):
                total = sum(s.ios for s in measured if s.direction == direction)
                assert total == job[direction]["total_ios"]
    assert nothing_left(disk)


def test_a_log_of_etcds_grows_in_a_new_file(tmp_path: Path, disk: Path) -> None:
    """What a file system notes of a file that grows is what the article's test of etcd waits for."""
    plan = diskprof_json("run", "etcd-fsync", disk, "--dry-run", "--json", home=tmp_path)
    assert plan["layout"] is None
    assert [file["layout"] for file in plan["test_files"]] == ["fresh"] == [test["layout"] for test in plan["tests"]]


# Whether the disk of the tests is fast enough for etcd is for that disk to say: both answers are put into fio's mouth.
@pytest.mark.parametrize(("p99_ms", "verdict", "code"), [(9, "met", 0), (20, "missed", 5)])
def test_a_disk_for_etcd_is_asked_as_in_the_article(
    tmp_path: Path, disk: Path, p99_ms: int, verdict: str, code: int
) -> None:
    told = f's/"99.000000" : [0-9]*/"99.000000" : {p99_ms * 10**6}/; s/"max" : [0-9]*/"max" : {10**9}/'
    fio = tmp_path / "fio"
    fio.write_text(f"#!/bin/sh\n{shutil.which('fio')} \"$@\" | sed -u '{told}'\n")
    fio.chmod(0o755)
    done = diskprof("run", "etcd-fsync", disk, "--set", "size=1m", "--json", home=tmp_path, DISKPROF_FIO=str(fio))
    assert done.returncode == code, done.stderr
    run = json.loads(done.stdout)
    (test,), (promise,) = run["tests"], run["expectations"]
    assert (promise["verdict"], promise["measured"]) == (verdict, p99_ms * 10**6)
    assert test["sync_latency_ns"]["p99"] == p99_ms * 10**6
    assert test["write"]["bytes"] == 2**20 // 2300 * 2300
    with Store.open(store_of(tmp_path)) as store:
        assert not [s for s in store.samples(run["id"]).samples if s.phase is Phase.PREPARING]
        (job,) = json.loads(store.document(run["id"], 0))["jobs"]
    assert test["sync_latency_ns"]["p50"] == job["sync"]["lat_ns"]["percentile"]["50.000000"]
    assert nothing_left(disk)


@pytest.mark.parametrize("preset", ["ioping-seek", "ioping-sequential"])
def test_what_ioping_fills_its_file_with_is_no_part_of_the_test(tmp_path: Path, disk: Path, preset: str) -> None:
    """It writes its file at first, 64 MiB and more unless told: counted as measured, another program would seem to use the disk."""
    run = diskprof_json("run", preset, disk, "--set", "runtime=1", "--set", "size=8m", "--json", home=tmp_path)
    with Store.open(store_of(tmp_path)) as store:
        first = next(s for s in store.samples(run["id"], test=0).samples if s.phase is Phase.MEASURING)
        seen = store.system_samples(run["id"], test=0).samples
    measured = [s for s in seen if s.phase is Phase.MEASURING]
    assert measured
    assert measured[0].at_ns - measured[0].duration_ns >= first.at_ns - first.duration_ns
    assert any(s.phase is Phase.PREPARING for s in seen)


@pytest.mark.parametrize("preset", ["ioping-latency", "ioping-seek", "ioping-cached", "ioping-sequential"])
def test_ioping_presets_report_iopings_own_statistics(tmp_path: Path, disk: Path, preset: str) -> None:
    settings = ("--set", "runtime=1", "--set", "size=8m")
    if preset == "ioping-latency":
        settings = ("--set", "count=3", "--set", "interval=50ms")
    run = diskprof_json("run", preset, disk, *settings, "--json", home=tmp_path)
    (test,) = run["tests"]
    with Store.open(store_of(tmp_path)) as store:
        total = json.loads(store.document(run["id"], 0))["stat"]
    assert test["read"]["ios"] == total["count"]
    assert test["read"]["iops"] == total["iops"]
    assert test["read"]["latency_ns"]["mean"] == total["avg"]
    assert test["read"]["latency_ns"]["max"] == total["max"]
    assert nothing_left(disk)


@pytest.mark.parametrize("preset", ["fio-randread-qd1", "fio-randread-qd8", "fio-randread-qd32"])
def test_the_random_reads_of_the_vps_article(tmp_path: Path, disk: Path, preset: str) -> None:
    run = diskprof_json("run", preset, disk, "--set", "size=8m", "--json", home=tmp_path)
    assert run["tests"][0]["read"]["bytes"] == 8 * 2**20
    assert nothing_left(disk)


def test_an_existing_file_is_read_and_left_as_it_was(tmp_path: Path, disk: Path) -> None:
    file = disk / "odd name; with: all # of it "
    file.write_bytes(os.urandom(2**20))
    before = file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino
    run = diskprof_json("run", "fio-randread-qd8", file, "--set", "size=1g", "--json", home=tmp_path)
    assert run["tests"][0]["read"]["bytes"] == 2**20
    assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before


def test_a_file_is_never_written(tmp_path: Path, disk: Path) -> None:
    file = disk / "precious"
    file.write_bytes(b"p" * 2**20)
    refused = diskprof("run", "quick", file, *QUICK, home=tmp_path)
    assert refused.returncode == 4
    assert "overwrite the existing file" in refused.stderr
    assert file.read_bytes() == b"p" * 2**20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_in_order(tmp_path: Path, disk: Path, number: int) -> None:
    with started("run", "quick", disk, "--set", "size=16m", "--set", "runtime=60", home=tmp_path) as process:
        (fio,) = until(lambda: measuring_fio(tmp_path, process.pid), "the first samples of a test")
        process.send_signal(number)
        _out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert gone(fio)
    assert nothing_left(disk)
    run = diskprof_json("show", "latest", "--json", home=tmp_path)
    assert run["status"] == "cancelled"
    assert run["tests"][0]["read"]["ios"] > 0
    assert run["tests"][1]["status"] == "skipped"


def measuring_fio(home: Path, runner: int) -> list[int]:
    """The fio of a runner once samples of its measuring phase are in the store."""
    if not store_of(home).exists():
        return []
    with Store.open(store_of(home)) as store:
        measured = [
            sample
            for summary in store.summaries()
            for sample in store.samples(summary.id).samples
            if sample.phase is Phase.MEASURING
        ]
    return descendants(runner, "fio") if len(measured) > 2 else []


def test_a_killed_runner_leaves_no_fio_and_an_interrupted_run(tmp_path: Path, disk: Path) -> None:
    started_run = diskprof("run", "quick", disk, "--set", "size=16m", "--set", "runtime=60", "--detach", home=tmp_path)
    run_id = started_run.stdout.strip()
    with Store.open(store_of(tmp_path)) as store:
        runner = store.runner(run_id)
        (fio,) = until(lambda: measuring_fio(tmp_path, runner.pid), "the first samples of a test")
        os.kill(runner.pid, signal.SIGKILL)
    until(lambda: gone(fio), "the end of fio")
    run = diskprof_json("show", run_id, "--json", home=tmp_path)
    assert run["status"] == "interrupted"
    with Store.open(store_of(tmp_path)) as store:
        assert store.samples(run_id).samples
    assert not nothing_left(disk)
    cleaned = diskprof("clean", "--yes", home=tmp_path)
    assert cleaned.returncode == 0 and run_id in cleaned.stdout
    assert nothing_left(disk)


def test_a_detached_run_is_watched_and_stopped(tmp_path: Path, disk: Path) -> None:
    run_id = diskprof_json(
        "run", "quick", disk, "--set", "size=16m", "--set", "runtime=60", "--detach", "--json", home=tmp_path
    )["id"]
    with started("attach", run_id, "--json", home=tmp_path) as watching:
        stopped = diskprof("stop", run_id, home=tmp_path)
        assert stopped.returncode == 0, stopped.stderr
        out, _ = watching.communicate(timeout=PATIENCE_S)
    assert json.loads(out)["status"] == "cancelled"
    assert nothing_left(disk)
    assert diskprof("stop", home=tmp_path).returncode == 2


def test_no_engine_is_a_clear_error(tmp_path: Path, disk: Path) -> None:
    missing = diskprof("run", "quick", disk, home=tmp_path, DISKPROF_FIO="/nowhere/fio")
    assert missing.returncode == 3, missing.stderr
    assert "fio" in missing.stderr and "install" in missing.stderr
    other = tmp_path / "fio"
    other.write_text("#!/bin/sh\necho 'fio, version 1.9 (Fiona)'\n")
    other.chmod(0o755)
    wrong = diskprof("run", "quick", disk, home=tmp_path, DISKPROF_FIO=str(other))
    assert wrong.returncode == 3, wrong.stderr
    assert str(other) in wrong.stderr
    assert nothing_left(disk)


def test_what_fio_wrote_is_kept_whole(tmp_path: Path, disk: Path) -> None:
    run = diskprof_json("run", "fio-randread-qd8", disk, "--set", "size=4m", "--json", home=tmp_path)
    with Store.open(store_of(tmp_path)) as store:
        document = store.document(run["id"], 0)
    assert json.loads(document)["fio version"].startswith("fio-")


def test_arrays_and_paths_are_looked_at_before_the_first_test_and_after_each(
    tmp_path: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine has neither: what is seen of them is made up, the run is a real one."""
    both = Parts("mpatha", paths=True, good=("sdg", "sdh"))
    looks = [(both,), (both,), (replace(both, good=("sdg",)),)]
    looked: list[tuple[str, ...]] = []

    def parts_of(names: Iterable[str]) -> tuple[Parts, ...]:
        looked.append(tuple(names))
        return looks[min(len(looked), len(looks)) - 1]

    monkeypatch.setattr("diskprof.runner.carry.execute.parts_of", parts_of)
    tree = scan()
    plan = make_plan(
        load_library(tmp_path).get("quick"), resolve_target(str(disk), tree), {"size": "16m", "runtime": "1"}, tree
    )
    with Store.open(tmp_path / "runs.db") as store:
        with begun(plan, store, concurrent=True) as run:
            assert asyncio.run(execute(run, StopRequest())) is Status.COMPLETE
        ended = store.run(run.run_id)
    assert len(looked) == len(plan.tests) + 1
    stack = {device.name for device in run.environment.stack}
    assert all(stack <= set(names) for names in looked)
    (found,) = (finding for finding in ended.findings if finding.name == "path-lost")
    assert (found.test, found.evidence) == (plan.tests[1].name, "mpatha lost sdh")
