import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from diskprof.engines.events import Ending, Event, Noted, Outcome, PhaseChanged, Sampled
from diskprof.engines.ioping import IopingReader, ioping_argv
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.histogram import Histogram
from diskprof.model.job import ioping_job
from diskprof.model.plan import PlannedTest
from diskprof.model.preset import EngineName, Options
from diskprof.model.run import DirectionResult, Status
from diskprof.model.sample import Direction, Phase, Sample

STREAMS = Path(__file__).parents[2] / "data" / "ioping-streams"
IOPING = "/usr/bin/ioping"
MS = 1_000_000


def planned(*options: tuple[str, str], runtime_s: float = 1.0) -> PlannedTest:
    job = ioping_job(options, path="/mnt")
    return PlannedTest(
        name="test",
        title="Test",
        engine=EngineName.IOPING,
        argv=ioping_argv(IOPING, job, interval_ms=250),
        jobs=(job,),
        ramp_s=0.0,
        runtime_s=runtime_s,
        amount_bytes=None,
        bytes_written=1 << 20,
        writes_exact=True,
        interval_ms=250,
    )


REQUESTS = planned(("count", "6"), ("interval", "0.2"))
PERIODS = planned(("rapid", "1"), ("work-time", "1.1"), runtime_s=1.1)


def run(test: PlannedTest, data: bytes, ending: Ending | None = None, *, err: str = "") -> tuple[list[Event], Outcome]:
    reader = IopingReader(test, index=2, started_ns=0)
    events: list[Event] = []
    pieces = data.replace(b"\n}", b"\n}\0").split(b"\0")
    for number, piece in enumerate(pieces, 1):
        events += reader.feed(piece, number * 250 * MS)
    for line in err.splitlines():
        events += reader.say(line)
    events += reader.close((len(pieces) + 1) * 250 * MS)
    return events, reader.conclude(ending or Ending(0))


def recorded(name: str) -> bytes:
    return (STREAMS / f"{name}.json").read_bytes()


def samples_of(events: list[Event]) -> list[Sample]:
    return [sample for event in events if isinstance(event, Sampled) for sample in event.samples]


def is_ioping(result: DirectionResult, total: dict[str, Any]) -> bool:
    stat, latency = total["stat"], result.latency
    return (
        result.ios,
        result.bytes,
        result.iops,
        result.bandwidth_bytes_per_s,
        latency.min,
        latency.mean,
        latency.max,
        latency.stddev,
    ) == tuple(stat[key] for key in ("count", "size", "iops", "bps", "min", "avg", "max", "mdev"))


def element(count: int, load_ms: int, *, latency: int = 50_000) -> dict[str, Any]:
    return {
        "stat": {
            "count": count,
            "size": 4096 * count,
            "time": latency * count,
            "iops": 1e9 / latency,
            "bps": 81_920_000,
            "min": latency,
            "avg": latency,
            "max": latency,
            "mdev": 0,
        },
        "load": {"count": count, "size": 4096 * count, "time": load_ms * MS, "iops": 1.0, "bps": 1},
    }


def stream(*values: dict[str, Any]) -> bytes:
    return json.dumps(values, indent=2).replace("\n  ", "\n").encode().replace(b"[\n", b"[", 1) + b"\n"


@pytest.mark.parametrize(("test", "name"), [(REQUESTS, "requests"), (PERIODS, "periods")])
def test_the_final_statistics_are_iopings_to_the_last_digit(test: PlannedTest, name: str) -> None:
    data = recorded(name)
    _, outcome = run(test, data)
    total = json.loads(data)[-1]
    assert (outcome.status, outcome.reason) == (Status.COMPLETE, "")
    assert outcome.result and outcome.result.read and outcome.result.write is None
    assert is_ioping(outcome.result.read, total)
    assert outcome.result.read.runtime_ms == total["load"]["time"] / 1e6
    assert json.loads(outcome.document) == total


def test_single_requests_are_samples_and_a_distribution() -> None:
    data = recorded("requests")
    events, outcome = run(REQUESTS, data)
    times = [each["io"]["time"] for each in json.loads(data) if "io" in each and not each["io"]["ignored"]]
    samples = samples_of(events)
    assert [sample.mean_ns for sample in samples] == times
    assert all((sample.ios, sample.test, sample.phase) == (1, 2, Phase.MEASURING) for sample in samples)
    assert outcome.result and outcome.result.read
    assert outcome.result.read.histogram == Histogram.of_latencies(times)
    latency = outcome.result.read.latency
    assert latency.p50 and latency.p99 and latency.max and latency.min
    assert latency.min <= latency.p50 <= latency.p99 <= latency.max


@pytest.mark.parametrize("name", ["periods", "interrupted"])
def test_the_samples_of_periods_add_up_to_the_total(name: str) -> None:
    data = recorded(name)
    events, _ = run(PERIODS, data)
    total = json.loads(data)[-1]
    samples = samples_of(events)
    assert sum(sample.ios for sample in samples) == total["stat"]["count"]
    assert sum(sample.bytes for sample in samples) == total["stat"]["size"]
    assert sum(sample.duration_ns for sample in samples) == total["load"]["time"]
    assert all(sample.duration_ns > 125 * MS and sample.histogram is None for sample in samples)


def test_periods_have_no_percentiles() -> None:
    _, outcome = run(PERIODS, recorded("periods"))
    assert outcome.result and outcome.result.read
    assert (outcome.result.read.latency.p99, outcome.result.read.histogram) == (None, None)


def test_measuring_begins_with_the_first_period() -> None:
    reader = IopingReader(PERIODS, index=0, started_ns=0)
    assert reader.feed(b"[", 900 * MS) == []
    (changed,) = reader.feed(stream(element(10, 250), element(20, 500))[1:].partition(b",{")[0], 1000 * MS)
    assert changed == PhaseChanged(Phase.MEASURING, 750 * MS)


def test_a_period_that_might_be_the_total_waits_for_the_next() -> None:
    events, outcome = run(PERIODS, stream(element(100, 250), element(200, 300), element(50, 250), element(350, 800)))
    assert [sample.ios for sample in samples_of(events)] == [100, 200, 50]
    assert outcome.result and outcome.result.read
    assert outcome.result.read.ios == 350


def test_a_short_rest_joins_the_last_period() -> None:
    events, _ = run(PERIODS, stream(element(100, 250), element(100, 250), element(205, 510)))
    assert [(sample.ios, sample.duration_ns) for sample in samples_of(events)] == [(100, 250 * MS), (105, 260 * MS)]


def test_a_long_rest_is_a_sample_of_its_own() -> None:
    events, _ = run(PERIODS, stream(element(100, 250), element(180, 450)))
    last = samples_of(events)[-1]
    assert (last.ios, last.duration_ns, last.mean_ns, last.max_ns) == (80, 200 * MS, 50_000, None)


def test_a_total_alone_is_one_sample() -> None:
    events, _ = run(replace(PERIODS, runtime_s=0.1), stream(element(40, 100)))
    (only,) = samples_of(events)
    assert (only.ios, only.duration_ns, only.min_ns, only.max_ns) == (40, 100 * MS, 50_000, 50_000)


def test_a_stream_that_breaks_off_keeps_its_periods() -> None:
    data = stream(element(100, 250), element(90, 250), element(190, 500)).removesuffix(b"]\n")
    events, outcome = run(PERIODS, data, Ending(-9))
    assert [sample.ios for sample in samples_of(events)] == [100, 90, 190]
    assert (outcome.status, outcome.result, outcome.document) == (Status.FAILED, None, b"")
    assert outcome.reason.startswith("ioping was ended by SIGKILL.")


def test_a_run_that_was_stopped_is_cancelled_and_keeps_what_it_has() -> None:
    _, outcome = run(PERIODS, recorded("interrupted"), Ending(0, cancelled=True))
    assert (outcome.status, outcome.reason) == (Status.CANCELLED, "")
    assert outcome.result


def test_a_run_that_somebody_else_stopped_is_too_short() -> None:
    _, outcome = run(replace(PERIODS, runtime_s=10.0), recorded("interrupted"))
    assert outcome.status is Status.FAILED
    assert outcome.reason.endswith("instead of 10 s.")


def test_a_count_that_was_reached_is_complete_however_long_it_took() -> None:
    _, outcome = run(replace(REQUESTS, runtime_s=100.0), recorded("requests"))
    assert outcome.status is Status.COMPLETE


@pytest.mark.parametrize(
    ("err", "why"),
    [
        ("", "the first request is warm-up only: raise count, or set warmup=0."),
        ("ioping: nowait without cached or direct I/O is supposed to fail",) * 2,
    ],
)
def test_a_result_without_a_request_that_counts_says_why(err: str, why: str) -> None:
    _, outcome = run(PERIODS, stream(element(0, 100)), err=err)
    assert (outcome.status, outcome.reason) == (Status.FAILED, f"ioping measured no request: {why}")


@pytest.mark.parametrize(
    ("code", "err", "reason"),
    [
        (2, 'ioping: stat "/x" failed: No such file or directory', "The target does not exist"),
        (3, "ioping: request failed: Input/output error", "I/O error"),
        (2, "ioping: request size is too big for this target", "too big for this target"),
        (1, "", "exit code 1"),
        (0, "", "no final statistics"),
    ],
)
def test_a_failure_is_told_with_what_to_do(code: int, err: str, reason: str) -> None:
    events, outcome = run(PERIODS, b"", Ending(code), err=err)
    assert (outcome.status, outcome.result) == (Status.FAILED, None)
    assert reason in outcome.reason
    assert [event.text for event in events if isinstance(event, Noted)] == err.splitlines()


@pytest.mark.parametrize("name", ["requests", "periods"])
def test_requests_that_returned_nothing_are_no_success(name: str) -> None:
    """It leaves them out of its figures, and ends as if all were well (F76)."""
    test = REQUESTS if name == "requests" else PERIODS
    events, outcome = run(test, recorded(name), err="ioping: request returned less than expected: 0\n" * 3)
    assert (outcome.status, outcome.result) == (Status.FAILED, None) and outcome.document
    assert outcome.reason.startswith("An ioping request returned less than requested: the target shrank")
    assert samples_of(events)
    assert len([event for event in events if isinstance(event, Noted)]) == 1


def test_nothing_that_counts_is_no_result() -> None:
    _, outcome = run(PERIODS, stream(element(0, 1100)))
    assert (outcome.status, outcome.result) == (Status.FAILED, None)


def test_writes_are_writes() -> None:
    test = planned(("rapid", "1"), ("write", "1"))
    events, outcome = run(test, stream(element(40, 1000)))
    assert outcome.result and outcome.result.write and outcome.result.read is None
    assert {sample.direction for sample in samples_of(events)} == {Direction.WRITE}


@pytest.mark.parametrize(
    ("options", "argv"),
    [
        ((("count", "10"),), ("-c", "10")),
        ((("rapid", "1"),), ("-R", "-q", "-P", "250ms")),
        ((("direct", "1"), ("rapid", "1")), ("-R", "-D", "-q", "-P", "250ms")),
        ((("cached", "1"), ("rapid", "1"), ("linear", "0")), ("-R", "-C", "-q", "-P", "250ms")),
        ((("rapid", "1"), ("work-time", "3600")), ("-R", "-w", "3600", "-q", "-P", "250ms")),
        ((("interval", "10ms"), ("count", "5")), ("-i", "10ms", "-c", "5", "-q", "-P", "250ms")),
        ((("rapid", "1"), ("rate-limit", "2")), ("-R", "-r", "2")),
        ((("burst", "8"), ("count", "20")), ("-b", "8", "-c", "20", "-q", "-P", "250ms")),
    ],
)
def test_options_become_arguments(options: Options, argv: tuple[str, ...]) -> None:
    assert ioping_argv(IOPING, ioping_job(options, path="/mnt"), interval_ms=250) == (
        "/usr/bin/ioping",
        "-J",
        *argv,
        "/mnt",
    )


@pytest.mark.parametrize("option", [("keep", "1"), ("quiet", "1"), ("-k", "1"), ("size", "-k"), ("count", "")])
def test_an_option_that_a_test_may_not_set_is_refused(option: tuple[str, str]) -> None:
    with pytest.raises(UsageError):
        ioping_argv(IOPING, ioping_job((option,), path="/mnt"), interval_ms=250)


ELEMENTS = [element(10, 250), element(0, 0), {"io": {"request": 1, "time": 5, "ignored": False}}, {"stat": 1, "io": []}]


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from([b"[", b",", b"]\n", b"\n}", b"{"]),
            st.sampled_from([stream(each)[1:-2] for each in ELEMENTS]),
        ),
        max_size=15,
    ),
    st.sampled_from([0, 3, -9, None]),
    st.sampled_from([REQUESTS, PERIODS]),
)
def test_any_bytes_give_an_outcome(pieces: list[bytes], code: int | None, test: PlannedTest) -> None:
    reader = IopingReader(test, index=0, started_ns=0)
    try:
        for number, piece in enumerate(pieces):
            reader.feed(piece, number)
        reader.close(len(pieces))
    except DiskprofError:
        return
    assert reader.conclude(Ending(code)).status.over
