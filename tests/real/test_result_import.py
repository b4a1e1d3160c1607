"""What fio and ioping themselves write here is imported to the last digit, and compared with a run of the same job file."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from forked import diskprof_json
from program import DISKPROF, environment

JOBS = """[global]
size=1m
direct=1
ioengine=libaio
[reads]
rw=randread
bs=4k
iodepth=4
[mix]
stonewall
rw=randrw
rwmixread=70
bs=8k
numjobs=2
group_reporting=1
[limited]
stonewall
rw=read
bs=4k
rate_iops=500
[syncs]
stonewall
rw=write
bs=4k
size=128k
fsync=1
nrfiles=2
"""


def imported(home: Path, data: bytes) -> Any:
    done = subprocess.run([*DISKPROF, "import", "-"], env=environment(home), input=data, capture_output=True, cwd=home)
    assert done.returncode == 0, done.stderr
    return diskprof_json("show", done.stdout.decode().strip(), "--json", home=home)


@pytest.mark.needs("fio")
@pytest.mark.parametrize("form", [("json", "--status-interval=100ms"), ("json+", "--lat_percentiles=1")], ids="-".join)
def test_what_fio_says_is_what_is_shown(tmp_path: Path, form: tuple[str, ...]) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    words = ["fio", "job.fio", f"--directory={tmp_path}", f"--output-format={form[0]}", *form[1:]]
    said = subprocess.run(words, capture_output=True, check=True, cwd=tmp_path).stdout
    run = imported(tmp_path, said)
    given = json.JSONDecoder().raw_decode(
        said[said.rfind(b"\n{\n") + 1 if b"\n{\n" in said else said.index(b"{") :].decode()
    )[0]
    assert [test["name"] for test in run["tests"]] == [job["jobname"] for job in given["jobs"]]
    compared = 0
    for test, job in zip(run["tests"], given["jobs"], strict=True):
        for way in ("read", "write"):
            if not job[way]["total_ios"]:
                assert way not in test
                continue
            mine, theirs = test[way], job[way]
            assert (mine["iops"], mine["bandwidth_bytes_per_s"], mine["ios"]) == tuple(
                theirs[key] for key in ("iops", "bw_bytes", "total_ios")
            )
            lat = mine["latency_ns"] if mine["latency_kind"] == "lat" else mine["lat_ns"]
            for key in ("mean", "min", "max", "stddev"):
                assert (lat[key], mine["clat_ns"][key]) == (theirs["lat_ns"][key], theirs["clat_ns"][key])
            shown = theirs[f"{mine['latency_kind']}_ns"]["percentile"]
            assert (mine["latency_ns"]["p50"], mine["latency_ns"]["p99_9"]) == (shown["50.000000"], shown["99.900000"])
            compared += 1
    assert compared == 5
    assert run["environment"]["hostname"] == "" and run["environment"]["device"] is None


@pytest.mark.needs("fio")
def test_it_compares_test_by_test_with_a_run_of_the_same_job_file(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    words = ["fio", "job.fio", f"--directory={tmp_path}", "--output-format=json"]
    theirs = imported(tmp_path, subprocess.run(words, capture_output=True, check=True, cwd=tmp_path).stdout)["id"]
    mine = diskprof_json("run", "job.fio", tmp_path, "--yes", "--json", home=tmp_path)["id"]
    found = diskprof_json("compare", mine, theirs, "--format", "json", home=tmp_path)
    assert [test["name"] for test in found["tests"]] == ["reads", "mix", "limited", "syncs"]
    for test in found["tests"]:
        assert not test["options"]
        (iops,) = [row for row in test["metrics"] if row["metric"] == "iops"][:1]
        assert all(cell["value"] for cell in iops["cells"])


@pytest.mark.needs("ioping")
def test_what_ioping_says_is_what_is_shown(tmp_path: Path) -> None:
    words = ["ioping", "-c", "5", "-i", "0.01", tmp_path]
    said = subprocess.run([*words, "-J"], capture_output=True, check=True).stdout
    total = json.loads(said)[-1]["stat"]
    (test,) = imported(tmp_path, said)["tests"]
    read = test["read"]
    assert (read["iops"], read["ios"], read["latency_ns"]["mean"]) == (total["iops"], total["count"], total["avg"])
    raw = subprocess.run([*words, "-B"], capture_output=True, check=True).stdout
    count, _, iops, _, low, mean, high, mdev = raw.split()[:8]
    (test,) = imported(tmp_path, raw)["tests"]
    read, latency = test["read"], test["read"]["latency_ns"]
    assert (read["ios"], read["iops"], read["bytes"]) == (int(count), int(iops), 4096 * int(count))
    assert [latency[key] for key in ("min", "mean", "max", "stddev")] == [int(each) for each in (low, mean, high, mdev)]
