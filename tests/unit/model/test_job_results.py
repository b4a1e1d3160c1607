"""Each job that fio reports apart has its own result, and the test their sum."""

import csv
import io
import json
from typing import Any

import pytest
from fio_streams import as_fio_writes, counters, document, planned_fio
from handmade import direction, fio, run, samples
from msgspec.structs import replace

from diskprof.analysis.comparison import compare
from diskprof.analysis.expectations import judge, parse_expectation
from diskprof.analysis.headline import headline
from diskprof.analysis.metrics import Measure
from diskprof.engines.events import Ending
from diskprof.engines.fio.document import read_final
from diskprof.engines.fio.reader import FioReader
from diskprof.model.expectation import Verdict
from diskprof.model.metric import Change
from diskprof.model.run import JobResult, Latency, Result, Run, TestResult
from diskprof.model.sample import Direction, Sample
from diskprof.reports.blocks import Form
from diskprof.reports.content.run_report import result_rows, result_table, run_report, sync_sentences
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_runs import run_json
from diskprof.reports.data.tables import results_csv
from diskprof.reports.render.markdown import markdown
from diskprof.store import codec

SMALL, LARGE = ("--rw=randread", "--bs=4096"), ("--rw=randread", "--bs=131072")


def entry(name: str, ios: int, block: int, mean: float, **more: Any) -> dict[str, Any]:
    """What fio says of a job that read for two seconds."""
    latency = {"N": ios, "mean": mean, "min": 1000, "max": 9000, "stddev": 1.0, "bins": {"4000": ios}}
    read = counters(
        total_ios=ios, io_bytes=ios * block, runtime=2000, iops=ios / 2, bw_bytes=ios * block // 2, lat_ns=latency
    )
    return {"jobname": name, "read": read, **more}


def concluded(*entries: dict[str, Any], argv: tuple[str, ...]) -> TestResult:
    """The result of a test with these jobs."""
    reader = FioReader(planned_fio(argv=("fio", *argv)), index=0, started_ns=0, preparing=False)
    reader.feed(as_fio_writes(document(*entries, timestamp_ms=10**6)), 2_000_000_000)
    reader.close(2_000_000_000)
    result = reader.conclude(Ending(0)).result
    assert result
    return result


BOTH = (entry("small", 8000, 4096, 5000.0), entry("large", 2000, 131072, 7000.0))
NAMED = ("--name=small", *SMALL, "--name=large", *LARGE)


def test_a_job_has_its_own_figures_and_the_test_the_sum() -> None:
    result = concluded(*BOTH, argv=NAMED)
    small, large = result.jobs
    assert small.read and large.read and result.read
    assert (small.name, small.read.iops, small.read.latency.mean) == ("small", 4000, 5000.0)
    assert (large.name, large.read.iops, large.read.latency.mean) == ("large", 1000, 7000.0)
    assert small.copies == ()
    assert (result.read.ios, result.read.iops) == (10_000, 5000)
    assert result.read.bandwidth_bytes_per_s == small.read.bandwidth_bytes_per_s + large.read.bandwidth_bytes_per_s


def test_jobs_that_do_different_things_have_no_latency_together() -> None:
    mixed = concluded(*BOTH, argv=NAMED)
    assert mixed.read and mixed.read.latency == Latency() and mixed.read.histogram is None and mixed.read.clat is None
    alike = concluded(*BOTH, argv=("--name=small", *SMALL, "--name=large", *SMALL))
    assert alike.read and alike.read.latency.mean == (8000 * 5000 + 2000 * 7000) / 10_000
    assert alike.read.histogram


def test_fsync_and_fdatasync_are_not_one_figure() -> None:
    sync = {"lat_ns": {"N": 10, "mean": 4.0, "min": 1, "max": 9}}
    jobs = [{**each, "sync": sync} for each in BOTH]
    fsync, fdatasync = ("--rw=write", "--fsync=1"), ("--rw=write", "--fdatasync=1")
    both = concluded(*jobs, argv=("--name=small", *fsync, "--name=large", *fdatasync))
    assert both.sync is None and [job.sync is not None for job in both.jobs] == [True, True]
    one = concluded(*jobs, argv=("--name=small", *fsync, "--name=large", *fsync))
    assert one.sync and one.sync.mean == 4.0


def test_copies_of_one_job_are_added_up_and_kept() -> None:
    copies = [entry("a", 1000 * number, 4096, 5000.0) for number in (1, 2, 3)]
    result = concluded(*copies, argv=("--name=a", "--numjobs=3", *SMALL))
    (job,) = result.jobs
    assert job.read and job.read.ios == 6000
    assert [copy.read and copy.read.ios for copy in job.copies] == [1000, 2000, 3000]
    assert all(copy.read and copy.read.histogram is None for copy in job.copies)
    assert result.read and result.read.latency.mean == 5000.0


def test_one_job_alone_is_the_test() -> None:
    assert read_final(document(BOTH[0])).result.jobs == ()


SMALL_RESULT = JobResult(read=direction(4000), name="small", copies=(Result(direction(1500)), Result(direction(2500))))
LARGE_RESULT = JobResult(read=direction(1000, block=131072), name="large")
WRITER = JobResult(write=direction(700), name="log", sync=Latency(mean=2e6))


def with_jobs(*jobs: JobResult, run_id: str = "a") -> Run:
    """A run with a test of these jobs, whose sum has no latency."""
    given = fio("mix", read=replace(direction(5000), latency=Latency(), histogram=None))
    both = run(given, run_id=run_id)
    (record,) = both.tests
    assert record.result
    write = next((job.write for job in jobs if job.write), None)
    named = tuple(replace(record.planned.load.fio[0], name=job.name) for job in jobs)
    result = replace(record.result, write=write, jobs=jobs)
    return replace(both, tests=(replace(record, planned=replace(record.planned, jobs=named), result=result),))


def test_a_job_is_found_by_its_name_and_judged() -> None:
    promises = ("mix.large.read.iops>=1000", "mix.small.read.iops>=5000", "mix.read.latency.p99<1s", "mix.no.cpu<1")
    wished = tuple(map(parse_expectation, promises))
    both = with_jobs(SMALL_RESULT, LARGE_RESULT)
    judged = judge(replace(both, plan=replace(both.plan, expectations=wished)))
    kept, missed, none = Verdict.MET, Verdict.MISSED, Verdict.UNMEASURED
    assert [each.verdict for each in judged] == [kept, missed, none, none]
    assert [record.name for record in both.records] == ["mix", "mix.small", "mix.large"]
    assert [record.name for record in both.apart] == ["mix.small", "mix.large"]


def test_the_store_gives_jobs_back() -> None:
    result = with_jobs(SMALL_RESULT, LARGE_RESULT, WRITER).tests[0].result
    assert codec.result_from(codec.to_json(result)) == result


def test_jobs_are_in_json_and_csv_with_their_copies() -> None:
    both = with_jobs(SMALL_RESULT, LARGE_RESULT)
    (test,) = json.loads(dumps(run_json(both)))["tests"]
    assert [job["name"] for job in test["jobs"]] == ["small", "large"]
    assert [copy["read"]["iops"] for copy in test["jobs"][0]["copies"]] == [1500, 2500]
    assert "copies" not in test["jobs"][1]
    rows = list(csv.DictReader(io.StringIO(results_csv([both]))))
    assert [(row["job"], row["copy"], float(row["iops"])) for row in rows] == [
        *(("", "", 5000), ("small", "", 4000), ("small", "1", 1500), ("small", "2", 2500), ("large", "", 1000))
    ]


def test_jobs_are_in_reports_and_on_the_screen() -> None:
    both = with_jobs(SMALL_RESULT, LARGE_RESULT, WRITER)
    text = markdown(run_report(both, form=Form.MARKDOWN))
    for name in ("small: 4K rand read QD1", "large: 4K rand read QD1", "log: 4K rand read QD1"):
        assert f"| {name} " in text
    table = result_table(result_rows(both), Form.SCREEN)
    assert [row[0].text.strip() for row in table.rows[2:]] == ["small", "large", "log"]
    assert sync_sentences(both) == ["log: 4K rand read QD1: fsync after writes took 2.00 ms mean."]
    assert headline(both).startswith("rand R 4.00k")


@pytest.mark.parametrize(
    ("jobs", "verdict"), [((SMALL_RESULT, LARGE_RESULT), None), ((SMALL_RESULT, WRITER), Change.WORSE)]
)
def test_a_job_is_judged_where_the_samples_are_its_own(jobs: tuple[JobResult, ...], verdict: Change | None) -> None:
    slower = tuple(replace(job, read=job.read and direction(2000)) for job in jobs)
    taken: dict[str, tuple[Sample, ...]] = {"a": samples([4000.0] * 40), "b": samples([2000.0] * 40)}
    comparison = compare((with_jobs(*jobs), with_jobs(*slower, run_id="b")), taken)
    assert [test.name for test in comparison.tests] == ["mix", *(f"mix.{job.name}" for job in jobs)]
    row = comparison.tests[1].row(Measure.IOPS, Direction.READ)
    assert row and row.cells[1].value == 2000 and row.cells[1].verdict is verdict
