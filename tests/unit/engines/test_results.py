"""Result files of fio and ioping: what they say, to the last digit, and nothing else."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from diskprof.engines.results.found import BadResults, FoundRun, NoResults
from diskprof.engines.results.recognise import results_of
from diskprof.model.job import FioJob
from diskprof.model.run import DirectionResult, Latency, Status
from diskprof.model.sample import Direction, LatencyKind, Phase
from diskprof.model.target import TargetKind

DATA = Path(__file__).parents[2] / "data"
STREAMS = sorted((DATA / "fio-streams").glob("*.out.gz"))
PLAIN = (DATA / "results" / "fio-3.33-stonewall.json").read_bytes()
CLIENT = (DATA / "results" / "fio-3.33-client.json").read_bytes()
PERCENTILES = {"p50": "50.000000", "p90": "90.000000", "p95": "95.000000", "p99": "99.000000", "p99_9": "99.900000"}


def stream(name: str) -> bytes:
    return gzip.decompress((DATA / "fio-streams" / f"{name}.out.gz").read_bytes())


def last_of(data: bytes) -> dict[str, Any]:
    text = data[data.rfind(b"\n{\n") + 1 :] if b"\n{\n" in data else data
    document: dict[str, Any] = json.JSONDecoder().raw_decode(text[text.index(b"{") :].decode())[0]
    return document


def only(data: bytes) -> FoundRun:
    (run,) = results_of(data)
    return run


def document(**changes: object) -> dict[str, Any]:
    """A document of one job, of plain JSON."""
    found = json.loads(PLAIN)
    return {**found, "jobs": [found["jobs"][0]], **changes}


def packed(*documents: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each, indent=1).encode() + b"\n" for each in documents)


def same_figures(mine: Latency | None, given: dict[str, Any]) -> None:
    assert mine is not None
    assert (mine.mean, mine.min, mine.max, mine.stddev) == tuple(given[key] for key in ("mean", "min", "max", "stddev"))


def same_result(mine: DirectionResult, given: dict[str, Any]) -> None:
    assert (mine.ios, mine.bytes, mine.iops) == (given["total_ios"], given["io_bytes"], given["iops"])
    assert mine.bandwidth_bytes_per_s == given.get("bw_bytes", 1000 * given["io_bytes"] // given["runtime"])
    assert mine.runtime_ms == given["runtime"]
    own = given[f"{mine.latency_kind}_ns"]
    same_figures(mine.latency, own)
    assert {name: getattr(mine.latency, name) for name in PERCENTILES} == {
        name: own["percentile"].get(key) for name, key in PERCENTILES.items()
    }
    assert mine.clat is not None
    same_figures(mine.clat, given["clat_ns"])
    if mine.latency_kind is LatencyKind.CLAT:
        same_figures(mine.lat, given["lat_ns"])


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name.removesuffix(".out.gz"))
def test_the_last_document_of_a_stream_is_the_result_and_the_others_are_its_course(path: Path) -> None:
    data = gzip.decompress(path.read_bytes())
    found, given = only(data), last_of(data)
    assert f"fio-{found.version}" == given["fio version"]
    assert [job.name for test in found.tests for job in test.jobs] == list(
        dict.fromkeys(job["jobname"] for job in given["jobs"])
    )
    entries = iter(given["jobs"])
    for test in found.tests:
        if len(test.jobs) == 1 and test.result and not test.result.jobs:
            entry = next(entries)
            for direction, part in test.result.directions:
                same_result(part, entry[direction])
                measured = [
                    each for each in test.samples if each.phase is Phase.MEASURING and each.direction is direction
                ]
                assert sum(each.ios for each in measured) in ({part.ios} if measured else {0})
                assert all(0 <= each.at_ns <= test.ended_ns for each in measured)
                # Behind a stonewall a job has no samples of the time in which others ran.
                assert all(each.ios for each in measured) or len(found.tests) == 1
    assert found.status is (Status.FAILED if "missing-device" in path.name else Status.COMPLETE)


def test_jobs_behind_a_stonewall_are_a_test_of_their_own() -> None:
    found = only(PLAIN)
    assert [[job.name for job in test.jobs] for test in found.tests] == [["a"], ["b", "c"]]
    (reads, writes) = found.tests
    assert reads.result and writes.result
    given = json.loads(PLAIN)["jobs"]
    copies = reads.result.jobs[0].copies
    for copy, entry in zip(copies, given[:2], strict=True):
        assert copy.read
        same_result(copy.read, entry["read"])
    assert reads.result.read and reads.result.read.ios == sum(entry["read"]["total_ios"] for entry in given[:2])
    # Without bins nobody knows the percentiles of two copies together.
    assert reads.result.read.latency.p99 is None and reads.result.read.latency.max is not None
    assert writes.result.sync and writes.result.jobs[1].read
    same_result(writes.result.jobs[1].read, given[4]["read"])
    assert reads.ended_ns == writes.started_ns
    assert (
        found.target.path == "/mnt/data" and found.target.kind is TargetKind.DIRECTORY and found.target.device == "vda"
    )
    assert found.started_at == datetime.fromtimestamp(json.loads(PLAIN)["timestamp_ms"] / 1000 - 3, UTC)
    assert found.hostname == ""


def test_a_clients_document_has_the_host_that_it_names() -> None:
    found = only(CLIENT)
    assert found.hostname == "127.0.0.1"
    assert [[job.name for job in test.jobs] for test in found.tests] == [["a"], ["b", "c"]]


def test_the_sum_of_all_clients_is_fios_own() -> None:
    given = json.loads(CLIENT)
    one, other, total = given["client_stats"][0], given["client_stats"][1], given["client_stats"][-1]
    other["hostname"] = "other"
    both = {**given, "client_stats": [one, other, total]}
    found = only(packed(both))
    (test,) = found.tests
    assert test.result and test.result.read and found.hostname == "" and found.target.device == ""
    assert [job.name for job in test.jobs] == [job.name for job in test.result.jobs] == ["a@127.0.0.1", "a@other"]
    assert (
        test.result.read.iops == total["read"]["iops"]
        and test.result.read.latency.mean == total["read"]["clat_ns"]["mean"]
    )
    assert test.result.jobs[1].read and test.result.jobs[1].read.iops == other["read"]["iops"]


def test_jobs_of_several_servers_are_together_by_their_stonewalls() -> None:
    given = json.loads(CLIENT)
    *jobs, total = given["client_stats"]
    others = [{**job, "port": 8800} for job in jobs]
    found = only(packed({**given, "client_stats": [*jobs, *others, total]}))
    names = [[job.name for job in test.jobs] for test in found.tests]
    server, other = "127.0.0.1:8799", "127.0.0.1:8800"
    assert names == [[f"a@{server}", f"a@{other}"], [f"b@{server}", f"c@{server}", f"b@{other}", f"c@{other}"]]
    assert found.hostname == "127.0.0.1"


def test_documents_of_several_runs_are_several_runs() -> None:
    first = document()
    second = document(timestamp_ms=first["timestamp_ms"] + 3500, timestamp=first["timestamp"] + 3)
    noise = b"fio: this platform does not support process shared mutexes\n"
    for data in (
        noise + packed(first) + noise + packed(second),
        json.dumps(first).encode() + b"\n" + json.dumps(second).encode(),
        json.dumps([first, second]).encode(),
    ):
        one, other = results_of(data)
        assert one.started_at and other.started_at
        assert (other.started_at - one.started_at).total_seconds() == 3.5


def test_what_a_shell_did_to_the_text_is_undone() -> None:
    text = PLAIN.decode()
    assert only(b"\xef\xbb\xbf" + PLAIN).tests[0].result == only(PLAIN).tests[0].result
    assert only(text.replace("\n", "\r\n").encode("utf-16")).tests[0].result == only(PLAIN).tests[0].result


def test_options_that_nobody_knows_or_can_have_lose_no_result() -> None:
    odd = document()
    odd["jobs"][0]["job options"] |= {
        "from_the_future": "1",
        "iodepth": "9" * 5000,
        "offset": "9" * 19,
        "runtime": "nan",
        "numjobs": 3,
        "thread": "",
        "bs": "8k",
    }
    (test,) = only(packed(odd)).tests
    (job,) = test.jobs
    assert test.result and test.result.read and test.result.read.ios == odd["jobs"][0]["read"]["total_ios"]
    assert isinstance(job, FioJob) and job.block_size == 8192 and job.iodepth == 1
    assert dict(job.options)["from_the_future"] == dict(job.options)["thread"] == "1"


def test_figures_that_are_missing_stay_missing() -> None:
    bare = document()
    bare["jobs"][0]["read"] = {
        key: value for key, value in bare["jobs"][0]["read"].items() if key not in ("clat_ns", "slat_ns", "bw_bytes")
    }
    (test,) = only(packed(bare)).tests
    assert test.result and test.result.read
    read, given = test.result.read, bare["jobs"][0]["read"]
    assert read.latency == Latency() and read.clat is None and read.histogram is None
    same_figures(read.lat, given["lat_ns"])


def test_percentiles_of_lat_alone_make_it_the_latency() -> None:
    asked = document()
    read = asked["jobs"][0]["read"]
    read["lat_ns"]["percentile"] = read["clat_ns"].pop("percentile")
    (test,) = only(packed(asked)).tests
    assert test.result and test.result.read
    assert test.latency is test.result.read.latency_kind is LatencyKind.LAT and test.result.read.lat is None
    assert test.result.read.latency.p99 == read["lat_ns"]["percentile"]["99.000000"]
    same_figures(test.result.read.latency, read["lat_ns"])


def test_a_stream_that_breaks_off_ends_with_its_last_whole_document() -> None:
    data = stream("3.33-randread-jsonplus")
    at = data.rfind(b"\n{\n")
    found = only(data[: at + 2000])
    assert found.status is Status.INTERRUPTED and "breaks off" in found.reason
    whole = only(data[: at + 1])
    assert whole.status is Status.COMPLETE and whole.tests[0].result == found.tests[0].result


def test_two_files_of_a_job_and_a_device_are_what_the_document_says() -> None:
    on_device = document()
    on_device["global options"] = {"filename": "/dev/nvme0n1"}
    found = only(packed(on_device))
    assert (found.target.kind, found.target.path, found.target.device) == (TargetKind.DEVICE, "/dev/nvme0n1", "vda")
    on_device["global options"] = {"filename": "/dev/sda:/dev/sdb"}
    on_device["disk_util"] = [{"name": "sda"}, {"name": "sdb"}]
    found = only(packed(on_device))
    assert (found.target.kind, found.target.path, found.target.device) == (TargetKind.FILE, "/dev/sda:/dev/sdb", "")


def test_ioping_tells_its_requests_and_its_statistics() -> None:
    data = (DATA / "ioping-streams" / "requests.json").read_bytes()
    given = json.loads(data)
    found = only(data)
    (test,) = found.tests
    assert test.result and test.result.read
    stat = given[-1]["stat"]
    assert (test.result.read.ios, test.result.read.iops) == (stat["count"], stat["iops"])
    assert test.result.read.bandwidth_bytes_per_s == stat["bps"]
    assert (test.result.read.latency.mean, test.result.read.latency.max) == (stat["avg"], stat["max"])
    assert sum(sample.ios for sample in test.samples) == stat["count"] == 5
    assert (found.target.path, found.target.device, found.hostname) == (".", "vda", "")
    assert found.started_at and found.started_at.year == 2026


def test_a_raw_line_of_ioping_is_a_result_without_place_and_time() -> None:
    found = only(b"2 480752 4160 17039971 200313 240376 280439 40063 3 200374858\n")
    (test,) = found.tests
    assert test.result and test.result.read
    read = test.result.read
    assert (read.ios, read.bytes, read.iops, read.bandwidth_bytes_per_s) == (2, 8192, 4160, 17039971)
    assert (read.latency.min, read.latency.mean, read.latency.max, read.latency.stddev) == (
        200313,
        240376,
        280439,
        40063,
    )
    assert (found.started_at, found.target.path, read.latency.p99) == (None, "", None)
    assert "does not say" in found.notes[0]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "it is empty"),
        (b"[global]\nrw=read\n\n[a]\nsize=1g\n", "it is a fio job file"),
        (b"; a comment\n[a] ; another\nrw=read\n", "it is a fio job file"),
        (b"j: (g=0): rw=read\nfio-3.33\nStarting 1 process\n\nj: (groupid=0, jobs=1): err= 0: pid=1\n", "for people"),
        (b"3;fio-3.33;j;0;0;123\n", "for people"),
        (b"--- . (ext4 /dev/vda 251.9 GiB) ioping statistics ---\n", "ioping's output for people"),
        (b'{"name": "package"}', "it is JSON, but no result"),
        (b"1, 2, 3\n", "it is no run of diskprof's"),
        (b'[{"io": {"time": 5, "ignored": false}}]', "final statistics are missing"),
        (packed({"fio version": "fio-3.33", "jobs": []}), "has no jobs"),
        (packed(document(**{"fio version": "fio-2.16"})), "fio-2.16"),
        (PLAIN[:4000], "not whole"),
        (packed({"fio version": "fio-3.33", "jobs": [{}] * 5000}), "more than 4096 jobs"),
    ],
)
def test_what_is_no_result_says_what_it_is(data: bytes, what: str) -> None:
    with pytest.raises(BadResults, match=what) as raised:
        results_of(data)
    beside = what in ("it is empty", "it is a fio job file") or "for people" in what or what.startswith("it is ")
    assert isinstance(raised.value, NoResults) is beside


def test_a_job_that_failed_is_a_failed_run_with_what_it_measured() -> None:
    failed = document()
    failed["jobs"][0] |= {"error": 28}
    found = only(packed(failed))
    assert found.status is Status.FAILED and "No space left" in found.reason
    assert found.tests[0].result and found.tests[0].result.direction(Direction.READ)
