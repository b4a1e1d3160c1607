"""Documents added up and taken from one another: what comes out is what fio would have told of all the I/Os together."""

import statistics
from typing import Any

import pytest
from fio_streams import MEASURED, as_fio_writes, counters, document, planned_fio, recording

from diskprof.engines.fio.document import read_final
from diskprof.engines.fio.sums import FioCount, result_of_rounds
from diskprof.model.histogram import bucket_of, bucket_value
from diskprof.model.load import Load
from diskprof.model.sample import Direction

LOAD = planned_fio(argv=("fio", "--name=a", "--rw=randread", "--bs=4096", "--size=1m")).load
FIRST, SECOND = [90_000, 100_000, 400_000], [80_000, 120_000, 130_000, 5_000_000]


def latency(taken: list[int]) -> dict[str, Any]:
    bins: dict[str, int] = {}
    for value in taken:
        key = str(bucket_value(bucket_of(value)))
        bins[key] = bins.get(key, 0) + 1
    return {
        "min": min(taken),
        "max": max(taken),
        "mean": statistics.fmean(taken),
        "stddev": statistics.stdev(taken),
        "N": len(taken),
        "bins": bins,
    }


def told(taken: list[int], runtime_ms: int, cpu: float) -> dict[str, Any]:
    """What fio would say of these latencies."""
    slat = latency([value // 10 for value in taken])
    slat.pop("bins")
    read = counters(
        total_ios=len(taken),
        io_bytes=4096 * len(taken),
        runtime=runtime_ms,
        clat_ns=latency(taken),
        lat_ns=latency([value + 1000 for value in taken]),
        slat_ns=slat,
    )
    return {"jobname": "a", "read": read, "usr_cpu": cpu, "sys_cpu": 0.0, "job_runtime": runtime_ms}


def of(taken: list[int], result: Any) -> None:
    """That a result is the one of these latencies."""
    part = result.read
    assert (part.ios, part.bytes) == (len(taken), 4096 * len(taken))
    assert part.clat.mean == pytest.approx(statistics.fmean(taken))
    assert part.clat.stddev == pytest.approx(statistics.stdev(taken), rel=1e-6)
    assert part.latency.mean == pytest.approx(statistics.fmean(taken) + 1000)
    assert part.slat.mean == pytest.approx(statistics.fmean([value // 10 for value in taken]))
    assert part.clat.p50 == bucket_value(bucket_of(statistics.median_low(taken)))
    assert part.histogram and sum(count for _, count in part.histogram.counts) == len(taken)


def test_rounds_are_what_all_their_requests_are() -> None:
    documents = [as_fio_writes(document(told(taken, 1000, cpu))) for taken, cpu in ((FIRST, 10.0), (SECOND, 20.0))]
    result = result_of_rounds(documents, LOAD)
    assert result and result.read and result.read.clat and result.cpu and result.write is None
    of([*FIRST, *SECOND], result)
    assert (result.read.runtime_ms, result.read.iops) == (2000, 3.5)
    assert (result.read.clat.min, result.read.clat.max) == (80_000, 5_000_000)
    assert result.cpu.user_percent == 15.0


def test_a_window_is_what_came_after_the_earlier_document() -> None:
    earlier, later = told(FIRST, 1000, 10.0), told([*FIRST, *SECOND], 3000, 20.0)
    result = FioCount(document(later)).since(FioCount(document(earlier)), LOAD)
    assert result and result.read and result.read.clat and result.cpu
    of(SECOND, result)
    assert (result.read.runtime_ms, result.read.iops) == (2000, 2.0)
    # Both are records of the test.
    assert (result.read.clat.min, result.read.clat.max) == (80_000, 5_000_000)
    assert result.cpu.user_percent == 25.0
    assert FioCount(document(later)).since(FioCount(document(later)), LOAD) is None


def test_each_job_has_its_own_and_another_number_of_jobs_has_none() -> None:
    jobs = planned_fio(
        argv=("fio", "--name=a", "--rw=randread", "--bs=4096", "--name=b", "--rw=randread", "--bs=8192")
    ).load
    two = [document(told(taken, 1000, 1.0), {**told(taken, 1000, 1.0), "jobname": "b"}) for taken in (FIRST, SECOND)]
    result = result_of_rounds([as_fio_writes(each) for each in two], jobs)
    assert result and [job.name for job in result.jobs] == ["a", "b"]
    for job in result.jobs:
        of([*FIRST, *SECOND], job)
    # One of 4k and one of 8k reads together is that of neither.
    assert result.read and result.read.clat is None
    assert result_of_rounds([as_fio_writes(two[0]), as_fio_writes(document(told(FIRST, 1, 1.0)))], jobs) is None


def reading(name: str) -> list[dict[str, Any]]:
    """The documents of a recording that have read something."""
    return [each for each in recording(name).documents if sum(job["read"]["total_ios"] for job in each["jobs"])]


@pytest.mark.parametrize("name", [each for each in MEASURED if "ramp" not in each and len(reading(each)) > 2])
def test_two_parts_of_a_recorded_test_are_the_whole(name: str) -> None:
    found = reading(name)
    load = Load(())
    middle, last = FioCount(found[1]), FioCount(found[-1])
    before, after, whole = middle.since(None, load), last.since(middle, load), read_final(found[-1]).result
    assert before and after
    for direction in Direction:
        parts = [each for result in (before, after) if (each := result.direction(direction))]
        all_of_it = whole.direction(direction)
        assert sum(part.ios for part in parts) == (all_of_it.ios if all_of_it else 0)
        assert sum(part.bytes for part in parts) == (all_of_it.bytes if all_of_it else 0)
        if all_of_it and all_of_it.histogram and all(part.histogram for part in parts):
            counted = sum(count for part in parts if part.histogram for _, count in part.histogram.counts)
            assert counted == sum(count for _, count in all_of_it.histogram.counts)
