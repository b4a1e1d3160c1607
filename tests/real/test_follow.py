"""`--follow`: the intervals of a run on stdout, by the real program with the real ioping."""

import csv
import fcntl
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from forked import diskprof
from program import DISKPROF, environment, started, until

from diskprof.model.run import Status
from diskprof.store import Store

pytestmark = pytest.mark.needs("ioping")

LATENCY = ("ioping-latency", ".", "--set", "interval=50ms")


def statuses(home: Path) -> list[Status]:
    path = home / ".local/share/diskprof/runs.db"
    if not path.exists():
        return []
    with Store.open(path) as store:
        return [summary.status for summary in store.summaries()]


def test_stdout_has_the_intervals_and_nothing_else(tmp_path: Path) -> None:
    done = diskprof("run", *LATENCY, "--set", "count=10", "--follow", "jsonl", home=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    table = diskprof("report", "latest", "--format", "samples", home=tmp_path).stdout
    kept = list(csv.DictReader(table.splitlines()))
    assert [list(line)[1:] for line in lines] == [list(row) for row in kept] and lines
    for line, row in zip(lines, kept, strict=True):
        assert line.pop("time").endswith("Z")
        assert {name: "" if value is None else str(value) for name, value in line.items()} == row


def test_a_series_is_followed_from_its_first_run_to_its_last(tmp_path: Path) -> None:
    done = diskprof("run", *LATENCY, "--set", "count=5", "--repeat", "2", "--follow", "jsonl", home=tmp_path)
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        ids = [summary.id for summary in reversed(store.summaries())]
        counts = [sum(sample.ios for sample in store.samples(run_id).samples) for run_id in ids]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ids) == 2 and [line["run"] for line in lines] == sorted((line["run"] for line in lines), key=ids.index)
    assert [sum(line["ios"] for line in lines if line["run"] == run_id) for run_id in ids] == counts


def test_a_reader_that_goes_away_leaves_the_run_alone(tmp_path: Path) -> None:
    with started("run", *LATENCY, "--set", "count=10", "--follow", "influx", home=tmp_path) as run:
        assert run.stdout and run.stderr
        run.stdout.close()
        run.stdout = None
        assert run.wait() == 0
        assert "Nobody reads stdout any more. The run continues." in run.stderr.read()


def test_a_reader_that_does_not_read_does_not_hold_up_the_run(tmp_path: Path) -> None:
    read, write = os.pipe()
    full = fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write, b"\n" * full)
    words = [*DISKPROF, "run", *LATENCY, "--set", "count=10", "--follow", "jsonl"]
    process = subprocess.Popen(words, env=environment(tmp_path), cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=write)
    os.close(write)
    try:
        until(lambda: statuses(tmp_path) == [Status.COMPLETE], "the run's end")
        with os.fdopen(read, "rb") as reader:
            lines = reader.read().split()
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
    assert lines


def test_a_run_in_the_background_is_followed_until_ctrl_c_or_its_end(tmp_path: Path) -> None:
    run_id = diskprof("run", *LATENCY, "--set", "count=100000", "--detach", home=tmp_path).stdout.strip()
    with started("attach", "--follow", "jsonl", home=tmp_path) as attached:
        assert attached.stdout and json.loads(attached.stdout.readline())["run"] == run_id
        attached.send_signal(signal.SIGINT)
        assert attached.wait() == 130
    assert statuses(tmp_path) == [Status.RUNNING]
    with started("attach", run_id, "--follow", "influx", home=tmp_path) as attached:
        assert attached.stdout
        assert re.match(
            rf"diskprof,host=\S+,preset=ioping-latency,target=\S+,run={run_id},test=latency,phase=measuring,direction=read "
            r"at_s=[\d.]+,duration_s=\S+ \d{19}$",
            attached.stdout.readline(),
        )
        assert diskprof("stop", run_id, home=tmp_path).returncode == 0
        assert attached.wait() == 130
        assert all(line.startswith("diskprof,") for line in attached.stdout.read().splitlines())


@pytest.mark.parametrize("other", ["--json", "--dry-run", "--detach", "--nagios"])
def test_stdout_has_one_thing(tmp_path: Path, other: str) -> None:
    done = diskprof("run", *LATENCY, "--follow", "jsonl", other, home=tmp_path)
    assert done.returncode == (3 if other == "--nagios" else 2)
    assert "--follow" in done.stdout + done.stderr and "exclude" in done.stdout + done.stderr
    assert statuses(tmp_path) == []
