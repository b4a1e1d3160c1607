"""What diskprof reports is what fio and ioping say, digit for digit; and its samples add up to it."""

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from forked import diskprof
from program import own_preset

from diskprof.model.histogram import bucket_of, merge
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.store import Store

FIO = """
name = "kinds"
[fio]
bs = "4k"
size = "8m"
ioengine = "psync"
runtime = "1s"
time_based = true
[[test]]
name = "read"
options = { rw = "read", bs = "64k" }
[[test]]
name = "randread-direct"
options = { rw = "randread", ioengine = "libaio", iodepth = 8, direct = true }
[[test]]
name = "write"
options = { rw = "write", bs = "64k" }
[[test]]
name = "mixed"
options = { rw = "randrw", rwmixread = 70, ioengine = "libaio", iodepth = 4, direct = true }
[[test]]
name = "fsync"
options = { rw = "write", fsync = 1 }
[[test]]
name = "rate"
options = { rw = "randread", ioengine = "null", rate_iops = 500, runtime = "5s" }
[[test]]
name = "two-jobs"
[[test.job]]
name = "reader"
options = { rw = "randread" }
[[test.job]]
name = "writer"
options = { rw = "randwrite" }
[[test]]
name = "two-readers"
[[test.job]]
name = "random"
options = { rw = "randread" }
[[test.job]]
name = "sequential"
options = { rw = "read", bs = "16k" }
[[test]]
name = "one-ends-early"
[[test.job]]
name = "fast"
options = { rw = "read", ioengine = "null", bs = "64k", time_based = false, runtime = "60s", rate = "64m" }
[[test.job]]
name = "slow"
options = { rw = "read", ioengine = "null", bs = "64k", time_based = false, runtime = "60s", rate = "8m" }
[[test]]
name = "copies"
options = { rw = "randread", numjobs = 2, group_reporting = true }
[[test]]
name = "copies-apart"
options = { rw = "randread", numjobs = 2 }
[[test]]
name = "ramp"
options = { rw = "randread", ramp_time = "2s" }
[[test]]
name = "amount"
options = { rw = "randread", time_based = false, runtime = "60s" }
[[test]]
name = "amount-with-ramp"
options = { rw = "randread", time_based = false, runtime = "60s", rate = "8m", io_size = "12m", ramp_time = "500ms" }
[[test]]
name = "mix-of-reads"
options = { rw = "randrw", rwmixread = 100 }
"""
IOPING = """
name = "kinds"
[ioping]
work-size = "4m"
[[test]]
name = "count"
engine = "ioping"
options = { count = 6, interval = "120ms" }
[[test]]
name = "rapid-direct"
engine = "ioping"
options = { rapid = true, direct = true, work-time = "1s" }
[[test]]
name = "rapid-cached"
engine = "ioping"
options = { rapid = true, cached = true, work-time = "1s" }
[[test]]
name = "rapid-linear"
engine = "ioping"
options = { rapid = true, linear = true, work-time = "1s" }
"""
FIO_TESTS = (
    *("read", "randread-direct", "write", "mixed", "fsync", "rate"),
    *(
        "two-jobs",
        "two-readers",
        "one-ends-early",
        "copies",
        "copies-apart",
        "ramp",
        "amount",
        "amount-with-ramp",
        "mix-of-reads",
    ),
)
IOPING_TESTS = ("count", "rapid-direct", "rapid-cached", "rapid-linear")
PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}

Json = dict[str, Any]


@dataclass(frozen=True)
class Done:
    """One test: what `show --json` says, what its tool said last, both with all their digits, and its samples."""

    shown: Json
    told: Any
    samples: tuple[Sample, ...]

    def measured(self, way: str) -> list[Sample]:
        return [one for one in self.samples if one.phase is Phase.MEASURING and one.direction is Direction(way)]


def carried_out(home: Path, preset: str) -> dict[str, Done]:
    """Every test of a preset, by name."""
    own_preset(home, "kinds", preset)
    disk = home / "disk"
    disk.mkdir()
    ran = diskprof("run", "kinds", disk, "--yes", home=home)
    assert ran.returncode == 0, ran.stderr
    shown = diskprof("show", "latest", "--json", home=home)
    run = json.loads(shown.stdout, parse_float=Decimal)
    with Store.open(home / ".local/share/diskprof/runs.db") as store:
        return {
            test["name"]: Done(
                test,
                json.loads(store.document(run["id"], index), parse_float=Decimal),
                store.samples(run["id"], test=index).samples,
            )
            for index, test in enumerate(run["tests"])
        }


@pytest.fixture(scope="module")
def fio(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    return carried_out(tmp_path_factory.mktemp("fio"), FIO)


@pytest.fixture(scope="module")
def ioping(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    return carried_out(tmp_path_factory.mktemp("ioping"), IOPING)


def parts_of(done: Done, way: str) -> list[Json]:
    """What fio's jobs say of one direction, those that did something."""
    return [job[way] for job in done.told["jobs"] if job[way]["total_ios"]]


def percentile(latency: Json, percent: float) -> Any:
    return latency["percentile"][f"{percent:.6f}"]


def bins_of(parts: list[Json]) -> dict[int, int]:
    """fio's own histograms in one: the middle of a bucket in ns -> I/Os."""
    bins: dict[int, int] = {}
    for part in parts:
        for text, count in part["lat_ns"]["bins"].items():
            bins[int(text)] = bins.get(int(text), 0) + count
    return bins


@pytest.mark.needs("fio")
@pytest.mark.parametrize("name", FIO_TESTS)
def test_the_figures_are_fios(fio: dict[str, Done], name: str) -> None:
    done = fio[name]
    assert done.shown["status"] == "complete", done.shown["reason"]
    jobs = done.told["jobs"]
    assert done.shown["cpu"] == {
        "user_percent": sum(job["usr_cpu"] for job in jobs),
        "system_percent": sum(job["sys_cpu"] for job in jobs),
    }
    for way in ("read", "write"):
        parts = parts_of(done, way)
        if not parts:
            assert way not in done.shown
            continue
        ours = done.shown[way]
        assert ours["ios"] == sum(part["total_ios"] for part in parts)
        assert ours["bytes"] == sum(part["io_bytes"] for part in parts)
        assert ours["runtime_ms"] == max(part["runtime"] for part in parts)
        if len(parts) == 1:
            assert ours["iops"] == parts[0]["iops"]
            assert ours["bandwidth_bytes_per_s"] == parts[0]["bw_bytes"]
            is_latency(ours["latency_ns"], parts[0]["lat_ns"])
        else:
            # What fio says of a group (group_reporting, "Run status group").
            assert ours["iops"] == Decimal(f"{1000 * ours['ios'] / ours['runtime_ms']:.6f}")
            assert ours["bandwidth_bytes_per_s"] == 1000 * ours["bytes"] // ours["runtime_ms"]


def is_latency(ours: Json, theirs: Json) -> None:
    for figure in ("mean", "min", "max", "stddev"):
        assert ours[figure] == theirs[figure], figure
    for figure, percent in PERCENTILES.items():
        assert ours[figure] == percentile(theirs, percent), figure


@pytest.mark.needs("fio")
def test_jobs_reported_apart_are_summed_up_as_fio_does_those_of_a_group(fio: dict[str, Done]) -> None:
    (group,) = parts_of(fio["copies"], "read")
    assert group["iops"] == Decimal(f"{1000 * group['total_ios'] / group['runtime']:.6f}")
    assert group["bw_bytes"] == 1000 * group["io_bytes"] // group["runtime"]
    apart, ours = parts_of(fio["one-ends-early"], "read"), fio["one-ends-early"].shown["read"]
    # Two files' worth in the time of the slower, no matter how fast the other was.
    assert ours["bandwidth_bytes_per_s"] < sum(part["bw_bytes"] for part in apart)
    assert [part["io_bytes"] for part in apart] == [8 << 20, 8 << 20]
    assert ours["bandwidth_bytes_per_s"] == 1000 * (2 * 8 << 20) // max(part["runtime"] for part in apart)


@pytest.mark.needs("fio")
def test_jobs_reported_apart_are_one_distribution(fio: dict[str, Done]) -> None:
    done = fio["copies-apart"]
    parts, ours = parts_of(done, "read"), done.shown["read"]["latency_ns"]
    assert len(parts) == 2
    latencies = [part["lat_ns"] for part in parts]
    whole = sum(latency["N"] for latency in latencies)
    assert float(ours["mean"]) == pytest.approx(float(sum(one["N"] * one["mean"] for one in latencies) / whole))
    assert ours["min"] == min(latency["min"] for latency in latencies)
    assert ours["max"] == max(latency["max"] for latency in latencies)
    bins, seen = sorted(bins_of(parts).items()), 0
    expected: dict[str, int] = {}
    for middle, count in bins:
        seen += count
        for figure, percent in PERCENTILES.items():
            if seen >= percent / 100 * whole:
                expected.setdefault(figure, middle)
    for figure in PERCENTILES:
        assert abs(bucket_of(int(ours[figure])) - bucket_of(expected[figure])) <= 1


@pytest.mark.needs("fio")
@pytest.mark.parametrize("name", ["two-jobs", "two-readers", "one-ends-early", "copies-apart"])
def test_what_fio_reports_apart_has_its_own_result(fio: dict[str, Done], name: str) -> None:
    done = fio[name]
    jobs = done.shown["jobs"]
    assert list(dict.fromkeys(entry["jobname"] for entry in done.told["jobs"])) == [job["name"] for job in jobs]
    apart = [part for job in jobs for part in job.get("copies", [job])]
    for ours, theirs in zip(apart, done.told["jobs"], strict=True):
        assert ours["cpu"] == {"user_percent": theirs["usr_cpu"], "system_percent": theirs["sys_cpu"]}
        for way in ("read", "write"):
            assert (way in ours) is (theirs[way]["total_ios"] > 0)
            if way in ours:
                assert (ours[way]["ios"], ours[way]["iops"]) == (theirs[way]["total_ios"], theirs[way]["iops"])
                assert ours[way]["bandwidth_bytes_per_s"] == theirs[way]["bw_bytes"]
                is_latency(ours[way]["latency_ns"], theirs[way]["lat_ns"])


@pytest.mark.needs("fio")
def test_jobs_that_read_in_other_ways_have_no_latency_together(fio: dict[str, Done]) -> None:
    assert set(fio["two-readers"].shown["read"]["latency_ns"].values()) == {None}


@pytest.mark.needs("fio")
def test_what_fsync_took_is_fios(fio: dict[str, Done]) -> None:
    done = fio["fsync"]
    is_latency(done.shown["sync_latency_ns"], done.told["jobs"][0]["sync"]["lat_ns"])
    assert "sync_latency_ns" not in fio["read"].shown


@pytest.mark.needs("fio")
@pytest.mark.parametrize("name", FIO_TESTS)
def test_the_samples_add_up_to_fios_totals(fio: dict[str, Done], name: str) -> None:
    done = fio[name]
    for way in ("read", "write"):
        parts, measured = parts_of(done, way), done.measured(way)
        assert sum(one.ios for one in measured) == sum(part["total_ios"] for part in parts)
        assert sum(one.bytes for one in measured) == sum(part["io_bytes"] for part in parts)
        if not parts:
            continue
        together = merge(one.histogram for one in measured if one.histogram)
        assert dict(together.counts) == {bucket_of(middle): count for middle, count in bins_of(parts).items()}
        if len(parts) == 1:
            for percent in PERCENTILES.values():
                ours, theirs = together.quantile(percent / 100), percentile(parts[0]["lat_ns"], percent)
                assert ours is not None
                assert abs(bucket_of(ours) - bucket_of(int(theirs))) <= 1


@pytest.mark.needs("fio")
@pytest.mark.parametrize("name", [name for name in FIO_TESTS if name != "amount"])
def test_the_samples_last_as_long_as_fio_measured(fio: dict[str, Done], name: str) -> None:
    """To the tenth of a second that an end of file comes late on a busy machine."""
    done = fio[name]
    for way in ("read", "write"):
        if parts := parts_of(done, way):
            lasted_ms = sum(one.duration_ns for one in done.measured(way)) / 1e6
            assert lasted_ms == pytest.approx(max(part["runtime"] for part in parts), rel=0.15)


@pytest.mark.needs("fio")
def test_a_ramp_is_in_no_figure(fio: dict[str, Done]) -> None:
    done = fio["ramp"]
    warming = [one for one in done.samples if one.phase is Phase.WARMING]
    assert sum(one.ios for one in warming) > 0
    assert all(one.histogram is None for one in warming)


@pytest.mark.needs("fio")
def test_a_rate_is_kept(fio: dict[str, Done]) -> None:
    assert float(fio["rate"].shown["read"]["iops"]) == pytest.approx(500, rel=0.02)


@pytest.mark.needs("ioping")
@pytest.mark.parametrize("name", IOPING_TESTS)
def test_the_figures_are_iopings(ioping: dict[str, Done], name: str) -> None:
    done = ioping[name]
    assert done.shown["status"] == "complete", done.shown["reason"]
    theirs, ours = done.told["stat"], done.shown["read"]
    assert (ours["ios"], ours["bytes"]) == (theirs["count"], theirs["size"])
    assert (ours["iops"], ours["bandwidth_bytes_per_s"]) == (theirs["iops"], theirs["bps"])
    latency = ours["latency_ns"]
    assert (latency["min"], latency["max"]) == (theirs["min"], theirs["max"])
    assert (latency["mean"], latency["stddev"]) == (theirs["avg"], theirs["mdev"])


@pytest.mark.needs("ioping")
@pytest.mark.parametrize("name", IOPING_TESTS)
def test_the_samples_add_up_to_iopings_totals(ioping: dict[str, Done], name: str) -> None:
    done, theirs = ioping[name], ioping[name].told["stat"]
    measured = done.measured("read")
    assert sum(one.ios for one in measured) == theirs["count"]
    assert sum(one.bytes for one in measured) == theirs["size"]
    spent = sum(one.ios * one.mean_ns for one in measured if one.mean_ns is not None)
    assert spent == pytest.approx(theirs["time"], rel=1e-6)


@pytest.mark.needs("ioping")
def test_single_requests_make_iopings_distribution(ioping: dict[str, Done]) -> None:
    done = ioping["count"]
    times = sorted(one.max_ns for one in done.measured("read") if one.max_ns is not None)
    latency = done.shown["read"]["latency_ns"]
    assert (latency["min"], latency["max"], len(times)) == (times[0], times[-1], done.told["stat"]["count"])
    assert abs(bucket_of(int(latency["p50"])) - bucket_of(times[(len(times) - 1) // 2])) <= 1
