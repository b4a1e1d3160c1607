"""Known faults of fio: which versions and options meet them, what a plan promises then, and what a result says."""

import json
import subprocess

import pytest
from handmade import direction, fio, run
from msgspec.structs import replace
from preset_files import good

from diskprof.analysis.findings.find import find
from diskprof.engines.fio.faults import faults_of, kept_iops, version_of
from diskprof.engines.tools import Tool, find_tool
from diskprof.model.device import DeviceTree
from diskprof.model.job import FioJob, fio_job
from diskprof.model.plan import Plan
from diskprof.model.preset import EngineName
from diskprof.model.run import Finding, Weight
from diskprof.model.target import Target, TargetKind
from diskprof.runner.plan import planner
from diskprof.runner.plan.workload import ClassSpeed, fio_workload
from diskprof.store.codec import plan_from, to_json

RATE = ClassSpeed(bandwidth=1e9, iops=100_000)
SPLIT = {"rw": "randread", "bssplit": "4k/70:16k/30", "rate_iops": "200"}
POISSON = {"rw": "randread", "rate_iops": "1000", "rate_process": "poisson", "ioengine": "libaio", "iodepth": "32"}
POISSON |= {"direct": "1"}
TARGET = {"rw": "randread", "latency_target": "5ms", "numjobs": "4"}


def job(options: dict[str, str], **more: str) -> FioJob:
    return fio_job({**options, **more}.items(), "job")


@pytest.mark.parametrize(
    ("text", "version"), [("3.33", (3, 33)), ("3.41-12-gabc", (3, 41)), ("3.4", (3, 4)), ("", None), ("git", None)]
)
def test_a_version_is_two_numbers(text: str, version: tuple[int, int] | None) -> None:
    assert version_of(text) == version


@pytest.mark.parametrize(
    ("options", "met", "mended"),
    [(SPLIT, "3.41", "3.42"), (TARGET, "3.35", "3.36"), ({**SPLIT, "bssplit": "", "bsrange": "4k-16k"}, "3.9", "3.42")],
)
def test_a_fault_is_met_by_the_versions_that_have_it(options: dict[str, str], met: str, mended: str) -> None:
    options = {name: value for name, value in options.items() if value}
    (fault,) = faults_of(job(options), met)
    assert met in fault.effect and fault.effect.endswith(".") and mended in fault.advice
    assert faults_of(job(options), mended) == ()
    assert faults_of(job(options), "") == ()


@pytest.mark.parametrize("version", ["3.1", "3.33", "3.42", "4.0"])
def test_poisson_falls_short_in_every_version(version: str) -> None:
    assert [fault.keeps for fault in faults_of(job(POISSON), version)] == [0.7]


@pytest.mark.parametrize(
    "options",
    [
        {**SPLIT, "bssplit": "4k/70:4k/30"},
        {**SPLIT, "rate_iops": ",200"},
        {**SPLIT, "rate_process": "poisson"},
        {"rw": "randread", "bssplit": "4k/70:16k/30", "rate": "1m"},
        {"rw": "randread", "bssplit": "4k/70:16k/30"},
        {**POISSON, "iodepth": "1"},
        {**POISSON, "rate_process": "linear"},
        {**TARGET, "numjobs": "1"},
        {"rw": "randread", "numjobs": "4"},
    ],
)
def test_other_options_meet_none(options: dict[str, str]) -> None:
    assert faults_of(job(options), "3.33") == ()


def test_each_direction_is_held_by_its_own_rate() -> None:
    mixed = job(SPLIT, rw="randrw", rate_iops="200,100")
    assert [round(kept_iops(mixed, "3.33", write=write)) for write in (False, True)] == [105, 53]
    assert [kept_iops(mixed, "3.42", write=write) for write in (False, True)] == [200, 100]
    assert [kept_iops(mixed, "", write=write) for write in (False, True)] == [200, 100]
    (fault,) = faults_of(mixed, "3.33")
    assert "200 reads a second and 100 writes a second, of which fio 3.33 does about 105 and 53" in fault.effect


@pytest.mark.parametrize(("version", "rate"), [("3.33", 200 * 4096), ("3.42", 200 * 7782), ("", 200 * 7782)])
def test_a_plan_counts_with_the_rate_that_this_fio_does(version: str, rate: int) -> None:
    timed = job(SPLIT, rw="randwrite", size="1g", runtime="10", time_based="1")
    assert fio_workload((timed,), RATE, version).bytes_written == pytest.approx(10 * rate, rel=0.001)
    amount = job(SPLIT, size="100m")
    assert fio_workload((amount,), RATE, version).runtime_s == pytest.approx((100 << 20) / rate, rel=0.001)


@pytest.mark.needs("fio")
@pytest.mark.parametrize(
    "options",
    [
        {"bssplit": "4k/70:16k/30"},
        {"bsrange": "4k-16k"},
        {"bssplit": "4k/70:16k/30", "rate_process": "poisson"},
        {"bs": "4k"},
    ],
)
def test_this_fio_does_what_the_table_says(options: dict[str, str]) -> None:
    tool = find_tool(EngineName.FIO)
    given = {"rw": "randread", "size": "1g", "runtime": "3s", "time_based": "1", "rate_iops": "1000", **options}
    words = [f"--{name}={value}" for name, value in given.items()]
    argv = [tool.path, "--name=a", "--ioengine=null", *words, "--output-format=json"]
    told = pytest.approx(kept_iops(job(given), tool.version, write=False), rel=0.1)
    for _ in range(4):  # a busy machine keeps fio from its rate, none makes it exceed it
        done = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
        if (iops := done["jobs"][0]["read"]["iops"]) == told:
            break
    assert iops == told


PRESET = """
name = "mine"
title = "A mix of sizes"
summary = "Reads of two sizes."
category = "own"

[[test]]
name = "a"

[test.options]
rw = "randread"
bssplit = "4k/70:16k/30"
rate_iops = 200
size = "64m"
runtime = "5s"
time_based = true
"""


def planned(version: str, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setattr(planner, "find_tool", lambda name, _waiting: Tool(name, f"/usr/bin/{name}", version))
    target = Target(TargetKind.DIRECTORY, "/mnt", "/mnt", "", mount_point="/mnt", fs_type="ext4", free_bytes=1 << 40)
    return planner.make_plan(good(PRESET), target, {}, DeviceTree())


def test_a_plan_tells_of_it_and_one_for_another_fio_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned("3.33", monkeypatch)
    (told,) = [hazard for hazard in plan.hazards if hazard.name == "fio-fault"]
    assert told.message.startswith("a asks for 200 reads a second, of which fio 3.33 does about 105")
    assert plan.tests[0].faults[0].keeps == pytest.approx(0.526, abs=0.001)
    assert plan_from(to_json(plan)).tests[0].faults == plan.tests[0].faults
    newer = planned("3.42", monkeypatch)
    assert "fio-fault" not in {hazard.name for hazard in newer.hazards}
    assert newer.tests[0].faults == ()


def found(options: dict[str, str], iops: float, version: str = "3.33") -> dict[str, Finding]:
    words = [f"--{name}={value}" for name, value in options.items() if name not in ("rw", "iodepth")]
    given = fio(depth=int(options.get("iodepth", "1")), options=words, read=direction(iops, seconds=60))
    (met,) = given.planned.load.fio
    given = replace(given, planned=replace(given.planned, faults=faults_of(met, version)))
    return {each.name: each for each in find(run(given), (), ())}


def test_a_rate_that_this_fio_misses_is_its_own_fault() -> None:
    told = found(SPLIT, 103)
    assert told["fio-fault"].weight is Weight.DOUBT
    assert told["fio-fault"].evidence.endswith("smallest block; 200 reads/s requested, 103 done")
    assert "rate-missed" not in told


def test_less_than_its_fault_leaves_is_the_disks() -> None:
    assert {"fio-fault", "rate-missed"} <= found(SPLIT, 60).keys()


def test_a_rate_that_was_kept_all_the_same_is_no_fault() -> None:
    assert not {"fio-fault", "rate-missed"} & found(POISSON, 985).keys()
    assert "fio-fault" in found(POISSON, 800) and "rate-missed" not in found(POISSON, 800)
    assert "rate-missed" in found(SPLIT, 103, "3.42") and "fio-fault" not in found(SPLIT, 103, "3.42")


def test_a_search_in_several_jobs_is_doubted_whatever_came_of_it() -> None:
    assert "fio-fault" in found(TARGET, 5_000) and "fio-fault" not in found(TARGET, 5_000, "3.36")
