from typing import Any

import pytest
from fio_streams import INTERVAL_MS, MEASURED, counters, document, recording
from hypothesis import given
from hypothesis import strategies as st

from diskprof.engines.events import Event, PhaseChanged, Sampled
from diskprof.engines.fio.document import read_final, read_status
from diskprof.engines.fio.samples import Sampler
from diskprof.model.histogram import Histogram, bucket_of, merge
from diskprof.model.sample import Direction, Phase, Sample

MS = 1_000_000


def sampler(*, ramp: bool = False, preparing: bool = False, started_ns: int = 0) -> Sampler:
    return Sampler(test=3, started_ns=started_ns, interval_ms=INTERVAL_MS, ramp=ramp, preparing=preparing)


def samples_of(events: list[Event]) -> list[Sample]:
    return [sample for event in events if isinstance(event, Sampled) for sample in event.samples]


def phases_of(events: list[Event]) -> list[Phase]:
    return [event.phase for event in events if isinstance(event, PhaseChanged)]


def replay(name: str, *, preparing: bool = False) -> list[Event]:
    recorded = recording(name)
    reader = sampler(ramp=recorded.ramp_s > 0, preparing=preparing)
    zero = recorded.documents[0]["timestamp_ms"] - INTERVAL_MS
    events: list[Event] = []
    for each in recorded.documents:
        events += reader.add(read_status(each), (each["timestamp_ms"] - zero) * MS)
    return events + reader.finish()


@pytest.mark.parametrize("name", MEASURED)
def test_the_samples_of_the_measuring_phase_add_up_to_the_final_totals(name: str) -> None:
    result = read_final(recording(name).final).result
    samples = [sample for sample in samples_of(replay(name)) if sample.phase is Phase.MEASURING]
    for direction in Direction:
        mine = [sample for sample in samples if sample.direction is direction]
        final = result.direction(direction)
        if final is None:
            assert not mine
            continue
        assert sum(sample.ios for sample in mine) == final.ios
        assert sum(sample.bytes for sample in mine) == final.bytes
        assert (merge(sample.histogram for sample in mine if sample.histogram) or None) == final.histogram
        for sample in mine:
            if sample.mean_ns is not None and sample.min_ns is not None and sample.max_ns is not None:
                assert sample.min_ns <= sample.mean_ns <= sample.max_ns
        if final.latency.max and final.histogram:
            assert max(sample.max_ns or 0 for sample in mine) == final.latency.max
            assert min(sample.min_ns for sample in mine if sample.min_ns is not None) == final.latency.min


@pytest.mark.parametrize("name", [name for name in MEASURED if "stonewall" not in name and "iodepth" not in name])
def test_the_time_of_all_samples_is_the_time_that_fio_measured(name: str) -> None:
    job = recording(name).final["jobs"][0]
    runtime = max(job[direction.value]["runtime"] for direction in Direction)
    for direction in Direction:
        measured = [
            sample.duration_ns
            for sample in samples_of(replay(name))
            if sample.phase is Phase.MEASURING and sample.direction is direction
        ]
        # fio 3.19 rounds the last runtime down to what was asked for.
        slack = 170 if name.startswith("3.19") else 15
        assert not measured or abs(sum(measured) / MS - runtime) <= slack
        # No rate is shown of a tail of a few ms (F6).
        assert all(duration >= INTERVAL_MS * MS // 2 for duration in measured)


@pytest.mark.parametrize("name", [name for name in MEASURED if name.endswith("ramp")])
def test_a_ramp_is_told_from_what_is_measured(name: str) -> None:
    events = replay(name)
    assert phases_of(events) == [Phase.WARMING, Phase.MEASURING]
    warming = [sample for sample in samples_of(events) if sample.phase is Phase.WARMING]
    assert all(sample.ios > 0 and sample.histogram is None and sample.mean_ns is None for sample in warming)
    changed = next(event for event in events if isinstance(event, PhaseChanged) and event.phase is Phase.MEASURING)
    assert warming[-1].at_ns <= changed.at_ns


@pytest.mark.parametrize("name", ["3.28-layout", "3.33-layout"])
def test_a_file_that_fio_lays_out_is_a_phase_of_its_own(name: str) -> None:
    assert phases_of(replay(name)) == [Phase.PREPARING, Phase.MEASURING]


def test_laying_out_is_one_phase_from_beginning_to_end() -> None:
    events = replay("3.33-fsync", preparing=True)
    assert phases_of(events) == []
    assert {sample.phase for sample in samples_of(events)} == {Phase.PREPARING}


def reading(ios: int, runtime: int, *, latency: int = 100_000, timed: int | None = None) -> dict[str, Any]:
    timed = ios if timed is None else timed
    clat = {"N": timed, "mean": float(latency if timed else 0), "min": latency, "max": latency}
    if timed:
        clat["bins"] = {str(latency): timed}
    return {"read": counters(total_ios=ios, io_bytes=4096 * ios, runtime=runtime, clat_ns=clat)}


def fed(reader: Sampler, *readings: tuple[int, int, dict[str, Any]]) -> list[Event]:
    """Documents that arrive at a time in ms, bear a wall clock in ms and hold one job."""
    events: list[Event] = []
    for arrival, clock, job in readings:
        events += reader.add(read_status(document(job, timestamp_ms=1_000_000 + clock)), arrival * MS)
    return events


def durations(events: list[Event]) -> list[float]:
    return [sample.duration_ns / MS for sample in samples_of(events)]


def test_a_queue_that_fills_is_no_io_that_is_done() -> None:
    """Of 15 reads that were issued 8 are under way (F89); what a ramp left under way moves bytes and is no I/O of the rest."""
    reader = sampler()
    first, second = reading(15, 250, timed=7), reading(40, 500, timed=40)
    events = fed(reader, (600, 600, first), (1100, 1100, second)) + reader.finish()
    assert [sample.ios for sample in samples_of(events)] == [7, 33]
    reader = sampler(ramp=True)
    ramp, first, last = reading(900, 500, timed=0), reading(100, 500, timed=108), reading(200, 1000, timed=208)
    events = fed(reader, (600, 600, ramp), (1100, 1100, first), (1600, 1600, last)) + reader.finish()
    assert [sample.ios for sample in samples_of(events) if sample.phase is Phase.MEASURING] == [108, 92]


def test_a_sample_is_the_difference_of_two_documents() -> None:
    reader = sampler()
    events = fed(reader, (600, 600, reading(100, 500)), (1100, 1100, reading(350, 1000))) + reader.finish()
    first, second = samples_of(events)
    assert (first.test, first.direction, first.at_ns) == (3, Direction.READ, 600 * MS)
    assert (second.ios, second.bytes, second.duration_ns, second.iops) == (250, 250 * 4096, 500 * MS, 500.0)
    assert second.histogram == Histogram.of({bucket_of(100_000): 250})
    assert second.mean_ns == 100_000


def test_after_a_hang_the_time_is_the_time_that_passed() -> None:
    # fio's runtime stands still while its counters move, then makes up for it (F7).
    reader = sampler()
    events = fed(
        reader,
        (500, 500, reading(100, 500)),
        (4000, 4000, reading(200, 1000)),
        (4250, 4250, reading(300, 4250)),
        (4750, 4750, reading(400, 4750)),
    )
    assert durations(events + reader.finish()) == [500, 3500, 250, 500]


def test_a_late_reader_does_not_change_the_rates() -> None:
    reader = sampler()
    events = fed(
        reader,
        (500, 500, reading(100, 500)),
        (1400, 1000, reading(200, 1000)),
        (1500, 1500, reading(300, 1500)),
    )
    assert durations(events + reader.finish()) == [500, 500, 500]


@pytest.mark.parametrize(
    ("seen", "ramp"),
    [
        # (arrival, ios, runtime): a disk stood still when the test began, and fio's clock with it.
        (((687, 4, 0), (965, 52, 500), (1220, 3508, 917), (1337, 4678, 1001)), False),
        (
            (
                *((638, 2, 0), (992, 1, 0), (1246, 20, 250), (1493, 771, 500)),
                (1744, 1731, 751),
                (2022, 2803, 1002),
                (2041, 2803, 1002),
            ),
            True,
        ),
        # The first I/O after the ramp completed with the last.
        (((638, 2, 0), (992, 0, 0), (1246, 0, 0), (1850, 0, 0), (1871, 9, 845)), True),
    ],
)
def test_a_stall_at_the_beginning_is_measured(seen: tuple[tuple[int, int, int], ...], ramp: bool) -> None:
    reader = sampler(ramp=ramp)
    readings = [(at, at, reading(ios, runtime, timed=0 if not runtime else ios)) for at, ios, runtime in seen]
    samples = samples_of(fed(reader, *readings) + reader.finish())
    measured = [sample for sample in samples if sample.phase is Phase.MEASURING]
    assert sum(sample.ios for sample in measured) == seen[-1][1]
    assert sum(sample.duration_ns for sample in measured) / MS == pytest.approx(seen[-1][2], abs=10)


def test_a_clock_that_is_set_does_not_change_the_rates() -> None:
    reader = sampler()
    events = fed(
        reader,
        (500, 500, reading(100, 500)),
        (1000, -3_000_000, reading(200, 1000)),
        (1500, 9_000_000, reading(300, 1500)),
    )
    assert durations(events + reader.finish()) == [500, 500, 500]


def test_a_short_tail_joins_the_interval_before_it() -> None:
    reader = sampler()
    events = fed(
        reader,
        (500, 500, reading(100, 500)),
        (1000, 1000, reading(200, 1000)),
        (1003, 1003, reading(205, 1002)),
    )
    events += reader.finish()
    assert [sample.ios for sample in samples_of(events)] == [100, 105]
    assert durations(events) == [500, 502]
    assert samples_of(events)[-1].at_ns == 1003 * MS


def test_a_tail_without_anything_in_it_leaves_no_trace() -> None:
    reader = sampler()
    events = fed(reader, (500, 500, reading(100, 500)))
    events += reader.idle()
    events += fed(reader, (502, 502, reading(100, 500))) + reader.finish()
    assert [sample.ios for sample in samples_of(events)] == [100]


def test_documents_that_come_long_after_the_jobs_ended_add_no_time() -> None:
    # fio 3.41: four looks a second at whether the jobs have ended, the status as usual in between.
    reader = sampler()
    events = fed(
        reader,
        (500, 500, reading(100, 500)),
        (1030, 1030, reading(200, 1001)),
        (1280, 1280, reading(200, 1001)),
        (1281, 1281, reading(200, 1001)),
    )
    events += reader.finish()
    assert durations(events) == [500, 501]
    assert [sample.ios for sample in samples_of(events)] == [100, 100]


def test_the_last_ios_of_a_late_last_document_are_no_rate_of_their_own() -> None:
    reader = sampler()
    events = fed(
        reader,
        (500, 500, reading(100, 500)),
        (1000, 1000, reading(200, 1000)),
        (1252, 1252, reading(201, 1002)),
    )
    events += reader.finish()
    assert durations(events) == [500, 502]
    assert [sample.ios for sample in samples_of(events)] == [100, 101]


def test_what_is_held_back_comes_when_its_time_has_passed() -> None:
    reader = sampler()
    assert samples_of(fed(reader, (500, 500, reading(100, 500)))) == []
    assert reader.hold_s == 0.5
    assert [sample.ios for sample in samples_of(reader.idle())] == [100]
    assert reader.hold_s is None


def test_an_interval_without_io_is_a_sample_of_nothing() -> None:
    reader = sampler()
    events = fed(reader, (500, 500, reading(100, 500)), (1000, 1000, reading(100, 1000)))
    last = samples_of(events + reader.finish())[-1]
    assert (last.ios, last.iops, last.histogram, last.mean_ns) == (0, 0.0, Histogram(), None)


def test_counters_that_begin_anew_begin_a_new_epoch() -> None:
    reader = sampler()
    events = fed(reader, (500, 500, reading(1000, 500)), (1000, 1000, reading(300, 250)))
    last = samples_of(events + reader.finish())[-1]
    assert (last.ios, last.duration_ns) == (300, 250 * MS)


def test_a_document_from_the_moment_of_the_reset_belongs_to_the_ramp() -> None:
    # Of four jobs in one group one has begun anew: only its I/Os have a latency yet.
    reader = sampler(ramp=True)
    events = fed(
        reader,
        (500, 500, reading(40_000, 500, timed=0)),
        (1000, 1000, reading(31_000, 500, timed=1_000)),
        (1500, 1500, reading(20_000, 500)),
    )
    samples = samples_of(events + reader.finish())
    assert [sample.phase for sample in samples] == [Phase.WARMING, Phase.WARMING, Phase.MEASURING]
    assert samples[-1].ios == 20_000


def test_a_ramp_without_latencies_ends_at_the_reset() -> None:
    reader = sampler(ramp=True)
    events = fed(reader, (500, 500, reading(400, 500, timed=0)), (1000, 1000, reading(150, 200, timed=0)))
    assert phases_of(events) == [Phase.WARMING, Phase.MEASURING]


def test_extremes_are_exact_where_they_are_records() -> None:
    reader = sampler()
    busy = {"N": 3, "mean": 70_000.0, "min": 10_001, "max": 100_003, "bins": {"9984": 1, "100000": 2}}
    later = {"N": 4, "mean": 65_000.0, "min": 10_001, "max": 100_003, "bins": {"9984": 1, "49920": 1, "100000": 2}}
    events = fed(
        reader,
        (500, 500, {"read": counters(total_ios=3, runtime=500, clat_ns=busy)}),
        (1000, 1000, {"read": counters(total_ios=4, runtime=1000, clat_ns=later)}),
    )
    first, second = samples_of(events + reader.finish())
    assert (first.min_ns, first.max_ns) == (10_001, 100_003)
    assert second.histogram
    assert second.mean_ns == 50_000
    assert (second.min_ns, second.max_ns) == (second.histogram.minimum, 50_000)


STEPS = st.lists(
    st.tuples(st.integers(0, 2000), st.integers(-5000, 5000), st.integers(0, 2000), st.integers(0, 500), st.booleans()),
    min_size=1,
    max_size=12,
)


@given(STEPS)
def test_whatever_the_clocks_do_no_io_is_lost(steps: list[tuple[int, int, int, int, bool]]) -> None:
    reader = sampler()
    arrival = clock = runtime = ios = 0
    events: list[Event] = []
    for waited, ticked, ran, completed, pause in steps:
        arrival, clock, runtime, ios = arrival + waited, clock + ticked, runtime + ran, ios + completed
        events += fed(reader, (arrival, clock, reading(ios, runtime)))
        events += reader.idle() if pause else []
    samples = samples_of(events + reader.finish())
    assert sum(sample.ios for sample in samples) == ios
    assert sum(sample.bytes for sample in samples) == 4096 * ios
    assert all(sample.duration_ns > 0 for sample in samples)
    assert [sample.at_ns for sample in samples] == sorted(sample.at_ns for sample in samples)
