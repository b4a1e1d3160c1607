"""Result files become runs of the store: all of them or none, marked, known again, and good for everything a run is good for."""

import gzip
import io
import json
import os
import random
import resource
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from recorded import record_run

from diskprof.analysis.comparison import compare
from diskprof.analysis.metrics import Measure
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.metric import Change
from diskprof.model.run import Environment, Run, Status
from diskprof.presets.library import Library
from diskprof.reports.blocks import Form
from diskprof.reports.content.run_report import run_report
from diskprof.reports.data.json_runs import run_json, summaries_json
from diskprof.reports.formats import Format, write
from diskprof.reports.render.lines import lines
from diskprof.reports.render.markdown import report
from diskprof.reports.render.text import runs_table, show
from diskprof.runner.again import plan_again
from diskprof.runner.result_files import Imported, import_files
from diskprof.runner.session import Session
from diskprof.store import Store
from diskprof.store.exchange.transfer import BadFile, export_runs

DATA = Path(__file__).parents[2] / "data"
PLAIN = (DATA / "results" / "fio-3.33-stonewall.json").read_bytes()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.db") as store:
        yield store


def taken(store: Store, *places: Path | str, stdin: bytes = b"") -> Imported:
    return import_files(store, [str(place) for place in places], io.BytesIO(stdin))


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def one_job(**changes: object) -> bytes:
    found = json.loads(PLAIN)
    return json.dumps({**found, "jobs": [found["jobs"][0]], **changes}, indent=1).encode()


def cell(mode: str, iodepth: int, numjobs: int) -> bytes:
    job = json.loads(PLAIN)["jobs"][0]
    job["job options"] = {"rw": mode, "bs": "4k", "iodepth": str(iodepth), "numjobs": str(numjobs)}
    job["read"]["iops"] = 1000.0 * iodepth + numjobs
    return one_job(jobs=[job])


def test_a_result_is_a_run_that_says_where_it_came_from_and_invents_nothing(store: Store, tmp_path: Path) -> None:
    (new,) = taken(store, written(tmp_path / "nightly.json", PLAIN)).runs
    run = store.run(new.run_id)
    assert (run.status, run.plan.preset, run.plan.preset_title) == (Status.COMPLETE, "nightly", "nightly.json")
    assert run.imported_from == str(tmp_path / "nightly.json")
    assert run.environment == Environment(fio_version="3.33")
    assert [test.title for test in run.tests] == ["4K rand read QD1 x2", "8K rand write fsync/4 + 64K seq read"]
    assert {finding.name for finding in run.findings} == {"only-clat", "too-short"}
    (summary,) = store.summaries()
    assert (summary.imported_from, summary.device, summary.hostname) == (run.imported_from, "vda", "")
    assert "imported: rand R 17.8k" in runs_table([summary])
    assert summaries_json([summary])[0]["imported_from"] == run.imported_from
    told = run_json(run)
    assert told["imported_from"] == run.imported_from
    given = json.loads(PLAIN)["jobs"][4]["read"]
    mine = told["tests"][1]["jobs"][1]["read"]
    assert (mine["iops"], mine["bandwidth_bytes_per_s"]) == (given["iops"], given["bw_bytes"])
    for kind in ("lat_ns", "clat_ns", "slat_ns"):
        for key in ("mean", "min", "max", "stddev"):
            assert mine[kind][key] == given[kind][key]
    assert mine["latency_ns"]["p99"] == given["clat_ns"]["percentile"]["99.000000"]
    for text in (show(run), report([run])):
        assert "nightly.json" in text and "Imported" in text


RAW = b"2 480752 4160 17039971 200313 240376 280439 40063 3 200374858\n"
IOPING = (DATA / "ioping-streams" / "requests.json").read_bytes()


@pytest.mark.parametrize("data", [PLAIN, IOPING, RAW], ids=["fio", "ioping", "raw"])
def test_every_form_of_a_report_takes_it(store: Store, data: bytes) -> None:
    run = store.run(taken(store, "-", stdin=data).runs[0].run_id)
    samples = store.samples(run.id).samples
    page = lines(run_report(run, samples, form=Form.SCREEN), 78, wrap_code=True)
    text = "\n".join("".join(piece for piece, _ in line) for line in page)
    assert "Options" in text and "Commands" not in text and f"name={run.tests[0].planned.jobs[0].name}" in text
    for wanted in Format:
        try:
            assert write(wanted, [run], {run.id: samples}, {run.id: {}})
        except DiskprofError as error:
            # HdrHistogram's form is of distributions.
            assert wanted is Format.HGRM, error


def test_it_is_known_again_by_its_content(store: Store, tmp_path: Path) -> None:
    first = taken(store, written(tmp_path / "a.json", PLAIN), written(tmp_path / "b.json", PLAIN))
    assert [run.new for run in first.runs] == [True, False]
    packed = written(tmp_path / "c.json.gz", gzip.compress(PLAIN))
    os.utime(packed, (0, 0))
    again = taken(store, packed, "-", stdin=b"noise\n" + PLAIN)
    assert {run.run_id for run in again.runs} == {first.runs[0].run_id} and not any(run.new for run in again.runs)
    store.discard(first.runs[0].run_id, datetime.now(UTC))
    assert not taken(store, packed).runs[0].new
    assert len(store.summaries()) == 1


def test_a_file_that_is_packed_may_be_larger_than_what_is_looked_at_first(store: Store, tmp_path: Path) -> None:
    document = json.loads(PLAIN) | {"more": random.Random(1).randbytes(100_000).hex()}
    plain = json.dumps(document).encode()
    packed = written(tmp_path / "large.json.gz", gzip.compress(plain))
    assert packed.stat().st_size > 100_000
    assert [run.new for run in taken(store, packed, "-", stdin=plain).runs] == [True, False]


def test_of_a_file_that_is_too_large_no_more_is_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diskprof.runner.result_files.LARGEST", 1 << 20)
    image = io.BytesIO(bytes(8 << 20))
    with pytest.raises(BadFile, match="is larger than"):
        import_files(store, ["-"], image)
    assert image.tell() < 4 << 20


def test_it_travels_on_as_any_run(store: Store, tmp_path: Path) -> None:
    run_id = taken(store, "-", stdin=PLAIN).runs[0].run_id
    file = io.BytesIO()
    export_runs(store, [run_id], file)
    with Store.open(tmp_path / "there.db") as there:
        (new,) = taken(there, "-", stdin=file.getvalue()).runs
        assert there.run(new.run_id) == store.run(run_id)
        assert not taken(there, written(tmp_path / "x.json", PLAIN)).runs[0].new


def test_a_time_that_the_file_does_not_say_is_that_of_the_file(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path / "raw.txt", b"2 480752 4160 17039971 200313 240376 280439 40063 3 200374858\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    run = store.run(taken(store, path).runs[0].run_id)
    assert run.ended_at and run.ended_at.timestamp() == 1_700_000_000
    assert "does not say whether it read" in run.messages[0].text
    assert "4.16k" in show(run)


def test_one_bad_file_leaves_nothing_of_the_others(store: Store, tmp_path: Path) -> None:
    own = record_run(store, run_id="abc", runtime_s=1.0)
    good = written(tmp_path / "good.json", PLAIN)
    before = store.run(own)
    endless = one_job(jobs=[{**json.loads(one_job())["jobs"][0], "jobname": "a" * 70_000}])
    for bad in (PLAIN[:5000], one_job(**{"fio version": "fio-2.2.10"}), b"[a]\nrw=read\n", b"\x1f\x8b" + b"x" * 50):
        with pytest.raises(BadFile, match="Nothing was imported"):
            taken(store, good, written(tmp_path / "bad.json", bad))
        assert [summary.id for summary in store.summaries()] == [own]
    with pytest.raises(UsageError, match=r"none\.json"):
        taken(store, good, tmp_path / "none.json")
    assert store.run(own) == before
    assert taken(store, "-", stdin=endless).runs[0].new


def test_a_folder_gives_its_results_and_leaves_the_rest(store: Store, tmp_path: Path) -> None:
    written(tmp_path / "r" / "a.json", one_job(timestamp_ms=1_790_000_000_000))
    written(tmp_path / "r" / "deep" / "b.out", b"note\n" + one_job(timestamp_ms=1_790_000_100_000))
    written(tmp_path / "r" / "package.json", b"{}")
    written(tmp_path / "r" / "a_bw.1.log", b"500, 1000, 0, 4096, 0\n")
    written(tmp_path / "r" / ".git" / "c.json", PLAIN)
    file = io.BytesIO()
    export_runs(store, [record_run(store, run_id="abc", runtime_s=1.0)], file)
    written(tmp_path / "r" / "mine.jsonl.gz", file.getvalue())
    found = taken(store, tmp_path / "r")
    assert ([run.new for run in found.runs], found.left_out) == ([False, True, True], 2)
    assert [store.run(run.run_id).plan.preset for run in found.runs if run.new] == ["a", "b"]
    with pytest.raises(UsageError, match="no result files"):
        taken(store, written(tmp_path / "e" / "x", b"").parent)
    written(tmp_path / "r" / "broken.json", PLAIN[:4000])
    with pytest.raises(BadFile, match=r"broken\.json"):
        taken(store, tmp_path / "r")


def test_more_exported_files_than_may_be_open_at_once(store: Store, tmp_path: Path) -> None:
    file = io.BytesIO()
    export_runs(store, [record_run(store, run_id="abc", runtime_s=1.0)], file)
    paths = [written(tmp_path / "r" / f"{number}.jsonl.gz", file.getvalue()) for number in range(40)]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 20, before[1]))
    try:
        assert {run.run_id for run in taken(store, tmp_path / "r").runs} == {"abc"}
        assert {run.run_id for run in taken(store, *paths).runs} == {"abc"}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_json_without_results_is_called_what_it_is(store: Store) -> None:
    for data, words in ((b"{}", "it is an empty JSON object"), (b'{"a": 1}', "it is JSON, but no result of fio's")):
        with pytest.raises(BadFile, match=words) as error:
            taken(store, "-", stdin=data)
        assert "cut off" not in str(error.value)


def test_what_bench_fio_wrote_to_one_folder_is_one_run_with_a_sweep(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "raid" / "md0" / "4k"
    for iodepth in (1, 2, 16):
        for numjobs in (1, 4):
            written(folder / f"randread-{iodepth}-{numjobs}.json", cell("randread", iodepth, numjobs))
    (new,) = taken(store, tmp_path / "raid").runs
    run = store.run(new.run_id)
    assert (run.plan.preset, run.plan.preset_title) == ("raid-md0-4k", "raid/md0/4k")
    assert run.plan.sweep == (("iodepth", ("1", "2", "16")), ("numjobs", ("1", "4")))
    assert len(run.tests) == 6
    swept = run_json(run)["sweep"]
    found = {(each["cell"]["iodepth"], each["cell"]["numjobs"]): each["read"]["iops"] for each in swept["cells"]}
    assert found["16", "4"] == 16_004.0
    assert "4K rand read" in show(run)
    # Files that are not what their names say are runs of their own.
    written(folder / "randread-32-1.json", cell("randread", 64, 1))
    assert len(taken(store, tmp_path / "raid").runs) == 7


def test_it_compares_with_a_run_of_diskprofs(store: Store) -> None:
    mine = record_run(store, run_id="abc", runtime_s=1.0)
    theirs = taken(store, "-", stdin=PLAIN).runs[0].run_id
    comparison = compare([store.run(mine), store.run(theirs)])
    told = {condition.name for condition in comparison.conditions}
    assert {"host", "preset"} <= told and not told & {"kernel", "device serial", "scheduler", "memory"}
    assert store.earlier_results(theirs) == ()


def test_without_samples_a_difference_cannot_be_told_from_noise(store: Store) -> None:
    jobs = json.loads(one_job())["jobs"]
    runs = []
    for iops in (1000.0, 2000.0, 1010.0):
        jobs[0]["read"]["iops"] = iops
        runs.append(store.run(taken(store, "-", stdin=one_job(jobs=jobs)).runs[0].run_id))

    def verdict(one: Run, other: Run) -> Change | None:
        rows = {row.metric: row for row in compare([one, other]).tests[0].rows}
        return rows[Measure.IOPS].cells[1].verdict

    assert verdict(runs[0], runs[1]) is Change.UNCLEAR
    assert verdict(runs[0], runs[2]) is Change.SAME


def test_sizes_are_compared_as_amounts_however_they_are_written(store: Store) -> None:
    jobs = json.loads(one_job())["jobs"]
    runs = []
    for bs, iops in (("4k", 1.0), ("4096", 2.0), ("8k", 3.0)):
        jobs[0]["job options"]["bs"] = bs
        jobs[0]["read"]["iops"] = iops
        runs.append(store.run(taken(store, "-", stdin=one_job(jobs=jobs)).runs[0].run_id))
    assert not compare(runs[:2]).tests[0].options
    assert [each.option for each in compare(runs).tests[0].options] == ["bs"]


def test_it_is_not_run_again_since_its_options_are_not_known(store: Store) -> None:
    run = store.run(taken(store, "-", stdin=PLAIN).runs[0].run_id)
    nothing: Any = None
    with pytest.raises(UsageError, match="was imported"):
        plan_again(Session(), run, nothing, Library(()))


def test_changed_results_are_taken_whole_or_not_at_all(store: Store) -> None:
    """The short form of `benchmarks/results.py`."""
    chance = random.Random(20261124)
    kept = 0
    for _ in range(60):
        data = bytearray(PLAIN)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data))
            data[at : at + chance.choice((0, 1, 30))] = chance.choice((b"9", b"-", b"9" * 30, b"", b"{", b"nan", b'"'))
        before = [summary.id for summary in store.summaries()]
        try:
            found = taken(store, "-", stdin=bytes(data))
        except DiskprofError:
            assert [summary.id for summary in store.summaries()] == before
            continue
        for new in found.runs:
            kept += 1
            assert show(store.run(new.run_id))
    assert kept > 5
