"""A disk that was pulled answers with nothing, and fio counts that as I/Os (F87): they are noticed, and never where all is well."""

from typing import Any

import pytest
from commands import fio_jobs
from fio_streams import INTERVAL_MS, MEASURED, as_fio_writes, counters, document, planned_fio, recording
from hypothesis import given
from hypothesis import strategies as st

from diskprof.engines.events import Ending, Event, Outcome, Sampled
from diskprof.engines.fio.document import read_status
from diskprof.engines.fio.reader import FioReader
from diskprof.engines.fio.samples import Least, Sampler, least_of
from diskprof.model.run import Status
from diskprof.model.sample import Direction, Sample

MS = 1_000_000
READ, WRITE = Direction.READ, Direction.WRITE
PLAIN = Least({READ: 4096, WRITE: 4096}, 32, mixed=False)
MIXED = Least({READ: 4096, WRITE: 4096}, 32, mixed=True)


@pytest.mark.parametrize(
    ("options", "sizes", "mixed"),
    [
        ((), (4096, 4096), False),
        (("--bs=65536",), (65536, 65536), False),
        (("--bs=65536,8192",), (65536, 8192), False),
        (("--bs=,8192",), (4096, 8192), False),
        (("--bsrange=8192-1048576",), (8192, 8192), True),
        (("--bssplit=16384/30:4096/70",), (4096, 4096), True),
        (("--bs=1048576", "--bssplit=16384/100"), (16384, 16384), False),
    ],
)
def test_what_a_request_moves_at_least(options: tuple[str, ...], sizes: tuple[int, int], mixed: bool) -> None:
    least = least_of(fio_jobs(("fio", "--name=a", "--rw=randrw", *options)))
    assert least == Least({READ: sizes[0], WRITE: sizes[1]}, 1, mixed)


def test_of_several_jobs_the_smallest_request_counts_and_all_that_is_in_flight() -> None:
    a = ("--name=a", "--bs=1048576", "--iodepth=8", "--numjobs=4")
    least = least_of(fio_jobs(("fio", *a, "--name=b", "--bs=4096,8192", "--iodepth=3")))
    assert least == Least({READ: 4096, WRITE: 8192}, 35, mixed=True)
    assert least_of(()) is None


def reading(ios: int, size: int, runtime: int, **more: Any) -> dict[str, Any]:
    """So many I/Os, all of them done, and the bytes that they moved."""
    return counters(total_ios=ios, io_bytes=size, runtime=runtime, clat_ns={"N": ios, "mean": 100.0}, **more)


def seen(sampler: Sampler, *readings: tuple[int, int], finish: bool = True) -> list[Sample]:
    """What comes of documents with (I/Os, bytes), an interval apart, with a pause after each."""
    events: list[Event] = []
    for number, (ios, size) in enumerate(readings, 1):
        job = {"read": reading(ios, size, number * INTERVAL_MS)}
        now = number * INTERVAL_MS
        events += sampler.add(read_status(document(job, timestamp_ms=10**6 + now)), now * MS) + sampler.idle()
    events += sampler.finish() if finish else []
    return [sample for event in events if isinstance(event, Sampled) for sample in event.samples]


def sampler(least: Least) -> Sampler:
    return Sampler(test=0, started_ns=0, interval_ms=INTERVAL_MS, ramp=False, preparing=False, least=least)


def test_ios_that_moved_nothing_are_left_out_and_nothing_comes_after_them() -> None:
    reader = sampler(PLAIN)
    samples = seen(
        reader, (1000, 4096_000), (2000, 8192_000), (90_000, 10_240_000), (190_000, 10_240_000), (9**9, 9**9)
    )
    assert reader.unmoved
    assert [sample.ios for sample in samples] == [1000, 1000]
    assert reader.hold_s is None


def test_the_last_document_alone_shows_it_too() -> None:
    reader = sampler(PLAIN)
    assert [sample.ios for sample in seen(reader, (1000, 4096_000), (90_000, 4096_000))] == [1000]
    assert reader.unmoved


def test_of_requests_of_several_sizes_the_interval_before_is_left_out_too() -> None:
    """The third held 400 I/Os that moved nothing, which larger ones hide."""
    readings = ((100, 6_553_600), (200, 13_107_200), (650, 16_384_000), (90_000, 16_384_000), (190_000, 16_384_000))
    reader = sampler(MIXED)
    assert [sample.ios for sample in seen(reader, *readings)] == [100, 100]
    assert reader.unmoved


@pytest.mark.parametrize("least", [PLAIN, MIXED])
def test_bytes_that_were_read_before_the_ios_are_no_alarm(least: Least) -> None:
    """Beside a job that hangs fio reads the I/Os of another long after its bytes (F88)."""
    reader = sampler(least)
    samples = seen(reader, (1000, 4096_000), (90_000, 8192_000), (91_000, 91_000 * 4096), (92_000, 92_000 * 4096))
    assert not reader.unmoved
    assert sum(sample.ios for sample in samples) == 92_000
    assert sum(sample.bytes for sample in samples) == 92_000 * 4096


def test_a_tail_joins_an_interval_that_was_doubtful() -> None:
    """So it shows as no rate of its own (F6)."""
    reader = sampler(PLAIN)
    events: list[Event] = []
    for now, ios, size in ((500, 1000, 4096_000), (1000, 2000, 7168_000), (1020, 2050, 2050 * 4096)):
        job = {"read": reading(ios, size, now)}
        events += reader.add(read_status(document(job, timestamp_ms=10**6 + now)), now * MS)
    events += reader.finish()
    assert [sample.ios for event in events if isinstance(event, Sampled) for sample in event.samples] == [1000, 1050]


def test_what_is_doubtful_waits_for_the_next_document() -> None:
    reader = sampler(PLAIN)
    assert [sample.ios for sample in seen(reader, (1000, 4096_000), (90_000, 4096_000), finish=False)] == [1000]


@pytest.mark.parametrize("ios", [32, 33 * 128])
def test_requests_in_flight_and_one_that_is_short_now_and_then_are_no_alarm(ios: int) -> None:
    reader = sampler(PLAIN)
    size = 0 if ios == 32 else 4096 * (ios - 32 - 33)
    assert sum(sample.ios for sample in seen(reader, (ios, size))) == ios
    assert not reader.unmoved


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 32)), min_size=1, max_size=12),
    st.sampled_from((PLAIN, MIXED)),
    st.integers(4096, 1 << 20),
)
def test_whatever_is_in_flight_no_io_is_lost(steps: list[tuple[int, int]], least: Least, block: int) -> None:
    reader, issued, readings = sampler(least), 0, []
    for more, flying in (*steps, (0, 0)):
        done = issued + more - min(flying, more)
        issued += more
        readings.append((issued, done * block))
    samples = seen(reader, *readings)
    assert not reader.unmoved
    assert sum(sample.ios for sample in samples) == issued


@pytest.mark.parametrize("name", MEASURED)
def test_no_recorded_run_is_suspected(name: str) -> None:
    recorded = recording(name)
    jobs = recorded.final["jobs"]
    sizes = [job["job options"].get("bs", "4k") for job in jobs]
    argv = ("fio", *(word for size in sizes for word in ("--name=job", f"--bs={size}", "--iodepth=1")))
    fio = FioReader(planned_fio(ramp_s=recorded.ramp_s, argv=argv), index=0, started_ns=0, preparing=False)
    at = 0
    for each in recorded.documents:
        at += INTERVAL_MS * MS
        fio.feed(as_fio_writes(each), at)
        assert fio.complaint == ""
    fio.close(at)
    assert fio.complaint == ""


def outcome(*readings: tuple[int, int], ending: Ending) -> tuple[FioReader, Outcome]:
    planned = planned_fio(runtime_s=2, argv=("fio", "--name=a", "--bs=4096", "--runtime=2"))
    fio = FioReader(planned, index=0, started_ns=0, preparing=False)
    for number, (ios, size) in enumerate(readings, 1):
        job = {"read": reading(ios, size, number * INTERVAL_MS, iops=ios / 2)}
        fio.feed(as_fio_writes(document(job, timestamp_ms=10**6 + number)), number * INTERVAL_MS * MS)
    fio.close(2001 * MS)
    return fio, fio.conclude(ending)


FALSE = ((1000, 4096_000), (2000, 8192_000), (90_000, 8192_000), (170_000, 8192_000))


@pytest.mark.parametrize("readings", [FALSE, FALSE[:3], FALSE[2:3]])
def test_a_test_that_fio_calls_a_success_fails_and_has_no_result(readings: tuple[tuple[int, int], ...]) -> None:
    fio, ended = outcome(*readings, ending=Ending(0))
    assert ended.status is Status.FAILED and ended.result is None and ended.document
    assert ended.reason == fio.complaint
    assert ended.reason.startswith("fio counted requests that moved no data: the target shrank or disappeared")


def test_a_cancelled_test_has_no_result_either() -> None:
    _, ended = outcome(*FALSE, ending=Ending(128, cancelled=True))
    assert (ended.status, ended.reason, ended.result) == (Status.CANCELLED, "", None)
