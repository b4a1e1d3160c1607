from math import isclose, sqrt
from typing import Any

import pytest
from fio_streams import MEASURED, counters, document, recording
from hypothesis import given
from hypothesis import strategies as st

from diskprof.engines.fio.document import read_final, read_status
from diskprof.model.errors import EngineError
from diskprof.model.histogram import Histogram, bucket_of
from diskprof.model.run import Latency
from diskprof.model.sample import Direction

PERCENTILES = {"p50": "50.000000", "p90": "90.000000", "p95": "95.000000", "p99": "99.000000", "p99_9": "99.900000"}


def of_latency(name: str, latency: Latency, fio: dict[str, Any]) -> None:
    assert (latency.mean, latency.min, latency.max, latency.stddev) == (
        fio["mean"],
        fio["min"],
        fio["max"],
        fio["stddev"],
    )
    for ours, theirs in PERCENTILES.items():
        assert getattr(latency, ours) == fio.get("percentile", {}).get(theirs), (name, ours)


@pytest.mark.parametrize("name", [name for name in MEASURED if not name.endswith("stonewall")])
def test_figures_of_one_job_are_fios_to_the_last_digit(name: str) -> None:
    final = recording(name).final
    (job,) = final["jobs"]
    result = read_final(final).result
    for direction in Direction:
        fio, ours = job[direction.value], result.direction(direction)
        if not fio["total_ios"]:
            assert ours is None
            continue
        assert ours
        assert (ours.ios, ours.bytes, ours.iops, ours.runtime_ms) == (
            fio["total_ios"],
            fio["io_bytes"],
            fio["iops"],
            fio["runtime"],
        )
        if "bw_bytes" in fio:
            assert ours.bandwidth_bytes_per_s == fio["bw_bytes"]
        else:
            assert int(ours.bandwidth_bytes_per_s) // 1024 == fio["bw"]
        kind = "lat" if "-lat" in name else "clat"
        assert ours.latency_kind == kind
        of_latency(name, ours.latency, fio[f"{kind}_ns"])
        assert ours.clat
        of_latency(name, ours.clat, fio["clat_ns"])
        if fio["slat_ns"]["mean"]:
            assert ours.slat
            of_latency(name, ours.slat, fio["slat_ns"])
        else:
            assert ours.slat is None
        if "bins" in fio["clat_ns"]:
            assert ours.histogram
            assert dict(ours.histogram.counts) == {
                bucket_of(int(value)): count for value, count in fio[f"{kind}_ns"]["bins"].items() if count
            }
    assert result.cpu
    assert (result.cpu.user_percent, result.cpu.system_percent) == (job["usr_cpu"], job["sys_cpu"])
    if sync := job.get("sync", {}).get("lat_ns", {}).get("N") and job["sync"]["lat_ns"]:
        assert result.sync
        of_latency(name, result.sync, sync)
    else:
        assert result.sync is None


@pytest.mark.parametrize("name", [name for name in MEASURED if "iodepth-note" not in name])
def test_our_quantiles_are_fios_percentiles(name: str) -> None:
    final = recording(name).final
    for job in final["jobs"]:
        for direction in Direction:
            for latency in (job[direction.value]["clat_ns"], job[direction.value]["lat_ns"]):
                if not latency.get("bins"):
                    continue
                histogram = Histogram.of({bucket_of(int(value)): count for value, count in latency["bins"].items()})
                # fio 3.1 fills up its list with "0.00" : 0.
                for percentile, value in ((key, value) for key, value in latency["percentile"].items() if float(key)):
                    assert histogram.quantile(float(percentile) / 100) == value


@pytest.mark.parametrize("name", [name for name in MEASURED if name.endswith("stonewall")])
def test_two_jobs_that_do_different_things_keep_their_figures(name: str) -> None:
    final = recording(name).final
    reads, writes = final["jobs"]
    result = read_final(final).result
    assert result.read and result.write and result.cpu
    assert result.read.iops == reads["read"]["iops"]
    assert result.read.latency.mean == reads["read"]["clat_ns"]["mean"]
    assert result.write.iops == writes["write"]["iops"]
    assert result.write.latency.p99 == writes["write"]["clat_ns"]["percentile"]["99.000000"]
    assert result.cpu.user_percent == pytest.approx(reads["usr_cpu"] + writes["usr_cpu"], abs=1e-6)
    assert result.cpu.reports == 2


def test_submission_is_told_by_the_mean_of_all_ios() -> None:
    slow = {"total_ios": 1000, "io_bytes": 4096, "slat_ns": {"mean": 90_000.5, "min": 1, "max": 2}}
    fast = {"total_ios": 3000, "io_bytes": 4096, "slat_ns": {"mean": 10_000.0, "min": 1, "max": 2}}
    one, two = (read_final(document(*({"read": counters(**each)} for each in jobs))) for jobs in ([slow], [slow, fast]))
    assert one.result.read and one.result.read.slat and one.result.read.slat.mean == 90_000.5
    assert two.result.read and two.result.read.slat
    assert two.result.read.slat.mean == pytest.approx((90_000.5 + 3 * 10_000) / 4)


def test_an_engine_without_submission_tells_none() -> None:
    quiet = {"total_ios": 1000, "io_bytes": 4096, "slat_ns": {"mean": 0.0, "min": 0, "max": 0}}
    for jobs in (quiet, {"total_ios": 1000, "io_bytes": 4096}):
        read = read_final(document({"read": counters(**jobs)})).result.read
        assert read and read.slat is None


def test_a_job_that_ends_early_does_not_make_the_disk_faster() -> None:
    # What fio 3.33 said of two jobs apart, and of the same two as a group.
    fast = {"total_ios": 1024, "io_bytes": 67_108_864, "bw_bytes": 67_108_864, "iops": 1024.0, "runtime": 1000}
    slow = {"total_ios": 1024, "io_bytes": 67_108_864, "bw_bytes": 16_789_808, "iops": 256.192144, "runtime": 3997}
    read = read_final(document({"read": counters(**fast)}, {"read": counters(**slow)})).result.read
    assert read
    assert (read.iops, read.bandwidth_bytes_per_s, read.runtime_ms) == (512.384288, 33_579_616, 3997)


def test_two_jobs_that_do_the_same_are_put_together() -> None:
    fast = [1000] * 30 + [2000] * 10
    slow = [8000] * 60
    jobs = [
        {
            "read": counters(
                total_ios=len(latencies),
                io_bytes=4096 * len(latencies),
                bw_bytes=4096 * 10,
                iops=10.5,
                runtime=1000 * number,
                clat_ns={
                    "N": len(latencies),
                    "mean": sum(latencies) / len(latencies),
                    "stddev": 0.0,
                    "min": min(latencies),
                    "max": max(latencies),
                    "bins": {str(value): latencies.count(value) for value in set(latencies)},
                },
            )
        }
        for number, latencies in enumerate((fast, slow), 1)
    ]
    jobs[0]["read"]["clat_ns"]["stddev"] = sqrt(187_500)
    final = read_final(document(*jobs))
    read = final.result.read
    assert read and read.histogram
    assert (read.ios, read.bytes, read.iops, read.bandwidth_bytes_per_s, read.runtime_ms) == (
        100,
        409_600,
        50.0,
        204_800,
        2000,
    )
    everything = fast + slow
    mean = sum(everything) / 100
    assert read.latency.mean == mean
    assert (read.latency.min, read.latency.max) == (1000, 8000)
    assert read.latency.stddev
    assert isclose(read.latency.stddev, sqrt(sum((value - mean) ** 2 for value in everything) / 100))
    assert read.histogram == Histogram.of_latencies(everything)
    assert (read.latency.p50, read.latency.p99) == (read.histogram.quantile(0.5), read.histogram.quantile(0.99))
    assert (final.ios, final.bytes, final.runtime_ms) == (100, 409_600, 2000)


def test_missing_percentiles_come_from_the_histogram() -> None:
    job = {
        "write": counters(total_ios=2, clat_ns={"N": 2, "mean": 5.0, "bins": {"5": 2}, "percentile": {"50.000000": 7}})
    }
    write = read_final(document(job)).result.write
    assert write
    assert (write.latency.p50, write.latency.p99) == (7, 5)


def test_without_latencies_there_is_no_distribution() -> None:
    write = read_final(document({"write": counters(total_ios=2)})).result.write
    assert write
    assert (write.latency, write.histogram) == (Latency(), None)


def test_errors_of_jobs_are_gathered() -> None:
    final = read_final(document({"error": 28}, {"error": 0, "total_err": 3}, {"error": 5}))
    assert (final.errors, final.failed_ios, final.ios) == ((28, 5), 3, 0)


@pytest.mark.parametrize("value", [{}, {"jobs": None}, {"jobs": {"j": 1}}])
def test_what_is_no_document_of_fios_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(EngineError):
        read_status(value)
    with pytest.raises(EngineError):
        read_final(value)


KEYS = st.sampled_from(
    [
        *(
            "jobs",
            "read",
            "write",
            "sync",
            "error",
            "total_err",
            "total_ios",
            "io_bytes",
            "runtime",
            "iops",
            "bw_bytes",
        ),
        *("clat_ns", "lat_ns", "bins", "percentile", "N", "min", "max", "mean", "stddev", "usr_cpu", "sys_cpu"),
        *("timestamp_ms", "50.000000", "12345", "-1"),
    ]
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(10**400)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=6)),
    max_leaves=30,
)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=8), max_size=4), VALUES)
def test_any_document_gives_figures_or_is_refused(jobs: list[dict[str, object]], timestamp: object) -> None:
    final = read_final({"jobs": jobs, "timestamp_ms": timestamp})
    status = read_status({"jobs": jobs, "timestamp_ms": timestamp})
    assert final.ios >= 0
    assert status.ios >= 0
