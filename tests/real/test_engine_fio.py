"""A real fio, measured as the runner measures."""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest
from engine_runs import RANDOM_READ, SIZE, Ran, children, clock, filling, fio, run

from diskprof.engines.engine import Event, Finished, Outcome, Sampled, measure
from diskprof.model.histogram import merge
from diskprof.model.plan import PlannedTest
from diskprof.model.run import Status
from diskprof.model.sample import Direction, Phase

pytestmark = pytest.mark.needs("fio")


def is_fios(ran: Ran) -> None:
    """Result and samples say what fio's final document says."""
    final = json.loads(ran.outcome.document)
    assert ran.outcome.result
    for direction in Direction:
        entries = [job[direction.value] for job in final["jobs"] if job[direction.value]["total_ios"]]
        result = ran.outcome.result.direction(direction)
        measured = ran.measured(direction)
        assert sum(sample.ios for sample in measured) == sum(entry["total_ios"] for entry in entries)
        assert sum(sample.bytes for sample in measured) == sum(entry["io_bytes"] for entry in entries)
        if not entries:
            assert result is None
            continue
        assert result
        if len({job["job options"]["rw"] for job in final["jobs"]}) > 1:
            assert result.histogram is None
            assert [part and part.ios for job in ran.outcome.result.jobs if (part := job.direction(direction))] == [
                entry["total_ios"] for entry in entries
            ]
            continue
        assert merge(sample.histogram for sample in measured if sample.histogram) == result.histogram
        if len(entries) == 1:
            (entry,) = entries
            assert (result.iops, result.bandwidth_bytes_per_s) == (entry["iops"], entry["bw_bytes"])
            assert result.latency.mean == entry["lat_ns"]["mean"]
            assert result.latency.p99_9 == entry["lat_ns"]["percentile"]["99.900000"]


async def test_reading_is_measured_as_fio_measures_it(file: Path, workdir: Path) -> None:
    ran = await run(fio(file, **RANDOM_READ), workdir)
    assert (ran.outcome.status, ran.outcome.reason, ran.notes) == (Status.COMPLETE, "", [])
    assert ran.phases == [Phase.MEASURING]
    is_fios(ran)
    times = [sample.at_ns for sample in ran.samples]
    assert times == sorted(times)


async def test_the_cpu_time_of_the_process_is_that_of_all_its_jobs(file: Path, workdir: Path) -> None:
    """The kernel's count while fio runs, against what fio says at its end."""
    ran = await run(fio(file, runtime_s=2.0, **{**RANDOM_READ, "numjobs": "2", "direct": "0"}), workdir)
    assert ran.outcome.result and ran.outcome.result.cpu
    spent = [event.spent for event in ran.events if isinstance(event, Sampled) and event.spent]
    assert len(spent) >= 4
    used_s = spent[-1].user_s + spent[-1].system_s - spent[0].user_s - spent[0].system_s
    # In percent of one CPU, over the time between the readings. What fio's reports take is in the process alone.
    measured = ran.measured(Direction.READ)[1 : len(spent)]
    share = 100 * used_s / sum(sample.duration_ns / 1e9 for sample in measured)
    assert share == pytest.approx(ran.outcome.result.cpu.percent, rel=0.35, abs=10)


async def test_a_ramp_and_two_directions_are_kept_apart(file: Path, workdir: Path) -> None:
    ran = await run(fio(file, ramp_s=0.7, **{**RANDOM_READ, "rw": "randrw"}), workdir)
    assert ran.outcome.status is Status.COMPLETE
    assert ran.phases == [Phase.WARMING, Phase.MEASURING]
    assert {sample.direction for sample in ran.samples} == set(Direction)
    is_fios(ran)


async def test_jobs_side_by_side_are_put_together(file: Path, workdir: Path) -> None:
    ran = await run(fio(file, {"rw": "randread"}, {"rw": "read"}, **{**RANDOM_READ, "bs": "16k"}), workdir)
    assert ran.outcome.status is Status.COMPLETE
    assert len(json.loads(ran.outcome.document)["jobs"]) == 2
    is_fios(ran)


async def test_laying_out_is_a_phase_and_leaves_the_file(tmp_path: Path, workdir: Path) -> None:
    path = tmp_path / "laid-out.dat"
    ran = await run(filling(path, SIZE, end_fsync="1"), workdir, preparing=True)
    assert ran.outcome.status is Status.COMPLETE
    assert ran.phases == [Phase.PREPARING]
    assert {sample.phase for sample in ran.samples} == {Phase.PREPARING}
    assert sum(sample.bytes for sample in ran.samples) == path.stat().st_size == SIZE


async def test_the_latency_of_fsync_is_kept_beside_that_of_writing(tmp_path: Path, workdir: Path) -> None:
    ran = await run(filling(tmp_path / "synced.dat", 1 << 20, fsync="4"), workdir)
    sync = json.loads(ran.outcome.document)["jobs"][0]["sync"]["lat_ns"]
    assert ran.outcome.result and ran.outcome.result.sync
    assert ran.outcome.result.sync.mean == sync["mean"]
    assert ran.outcome.result.sync.p99 == sync["percentile"]["99.000000"]
    is_fios(ran)


def identity(file: Path) -> tuple[int, bytes]:
    return file.stat().st_ino, file.read_bytes()


async def test_a_file_smaller_than_the_size_is_neither_replaced_nor_called_measured(file: Path, workdir: Path) -> None:
    before = identity(file)
    ran = await run(fio(file, **{**RANDOM_READ, "size": str(4 * SIZE)}), workdir)
    assert identity(file) == before
    assert ran.outcome.status is Status.FAILED
    assert ran.outcome.reason


async def test_a_missing_file_is_not_made(tmp_path: Path, workdir: Path) -> None:
    ran = await run(fio(tmp_path / "missing.dat", **RANDOM_READ), workdir)
    assert ran.outcome.status is Status.FAILED
    assert ran.outcome.result is None
    assert ran.outcome.reason
    assert not (tmp_path / "missing.dat").exists()


async def test_a_bad_option_is_told_in_fios_words(file: Path, workdir: Path) -> None:
    ran = await run(fio(file, **RANDOM_READ, iodepthh="1"), workdir)
    assert ran.outcome.status is Status.FAILED
    assert "iodepthh" in " ".join([ran.outcome.reason, *ran.notes])


async def test_a_path_with_a_colon_is_that_path(tmp_path: Path, file: Path, workdir: Path) -> None:
    odd = tmp_path / "a:b.dat"
    os.link(file, odd)
    ran = await run(fio(odd, **RANDOM_READ), workdir)
    assert ran.outcome.status is Status.COMPLETE


async def test_a_descriptor_is_handed_on(file: Path, workdir: Path) -> None:
    with file.open("rb") as held:
        ran = await run(fio(f"/proc/self/fd/{held.fileno()}", **RANDOM_READ), workdir, pass_fds=[held.fileno()])
    assert ran.outcome.status is Status.COMPLETE


def stop_after_first_sample(stop: asyncio.Event) -> Callable[[Event], None]:
    def on_event(event: Event) -> None:
        if isinstance(event, Sampled):
            stop.set()

    return on_event


@pytest.mark.parametrize("ramp_s", [0.0, 60.0])
async def test_stopping_keeps_what_was_measured(file: Path, workdir: Path, ramp_s: float) -> None:
    stop = asyncio.Event()
    ran = await run(
        fio(file, runtime_s=60.0, ramp_s=ramp_s, **RANDOM_READ),
        workdir,
        stop=stop,
        on_event=stop_after_first_sample(stop),
    )
    assert children() == []
    assert ran.outcome.status is Status.CANCELLED
    assert ran.outcome.document
    if ramp_s:
        assert ran.outcome.result is None
        assert ran.phases == [Phase.WARMING]
    else:
        is_fios(ran)


async def test_stopping_before_the_start_starts_nothing(file: Path, workdir: Path) -> None:
    stop = asyncio.Event()
    stop.set()
    ran = await run(fio(file, **RANDOM_READ), workdir, stop=stop)
    assert ran.events == (Finished(Outcome(Status.CANCELLED)),)


def endless(file: Path) -> PlannedTest:
    return fio(file, runtime_s=600.0, **RANDOM_READ)


async def test_leaving_the_generator_leaves_no_process(file: Path, workdir: Path) -> None:
    events = measure(endless(file), index=0, clock=clock, workdir=workdir, stop=asyncio.Event())
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Sampled):
                assert children()
                break
    assert children() == []


async def test_an_error_of_the_consumer_leaves_no_process(file: Path, workdir: Path) -> None:
    def fail(event: Event) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run(endless(file), workdir, on_event=fail)
    assert children() == []


async def test_cancelling_the_consumer_leaves_no_process(file: Path, workdir: Path) -> None:
    under_way = asyncio.Event()
    task = asyncio.create_task(run(endless(file), workdir, on_event=lambda _: under_way.set()))
    await under_way.wait()
    assert children()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert children() == []


async def test_a_search_for_the_deepest_queue_is_complete_and_tells_what_it_found(file: Path, workdir: Path) -> None:
    search = {
        "latency_target": "1s",
        "latency_window": "100ms",
        "latency_percentile": "50",
        "ioengine": "null",
        "iodepth": "4",
    }
    ran = await run(fio(file, runtime_s=60.0, **{**RANDOM_READ, **search}), workdir)
    assert (ran.outcome.status, ran.outcome.reason) == (Status.COMPLETE, "")
    (job,) = json.loads(ran.outcome.document)["jobs"]
    assert (
        ran.notes[-1] == f"{job['latency_depth']} is the deepest queue (QD) that keeps 50% of the I/Os within 1.00 s."
    )


@pytest.mark.needs("fio")
@pytest.mark.parametrize("engine", ["psync", "libaio", "mmap", "null"])
@pytest.mark.parametrize("rw", ["read", "randrw"])
@pytest.mark.parametrize(
    "more",
    [
        {"bs": "1048576"},
        {"bs": "4096", "numjobs": "3", "group_reporting": "1"},
        {"bsrange": "4096-1048576"},
        {"bssplit": "4096/70:1048576/30"},
        {"bs": "65536", "io_size": "3000000"},
        {"bs": "1048576", "offset": "1000448"},
        {"bs": "4096", "rate_iops": "3000"},
    ],
)
async def test_a_file_that_is_no_multiple_of_the_requests_is_no_cause_for_alarm(
    tmp_path: Path, workdir: Path, engine: str, rw: str, more: dict[str, str]
) -> None:
    """fio leaves a rest out that holds no whole request."""
    path = tmp_path / "odd.dat"
    path.write_bytes(os.urandom(SIZE + 5000))
    size = SIZE + 5000 - int(more.get("offset", 0))
    options = {"rw": rw, "ioengine": engine, "iodepth": "4", "size": str(size), "overwrite": "1", **more}
    ran = await run(fio(path, runtime_s=0.6, **options), workdir)
    assert ran.outcome.status is Status.COMPLETE, (ran.outcome.reason, ran.notes)
    assert ran.outcome.result
    for direction, result in ran.outcome.result.directions:
        assert sum(sample.ios for sample in ran.measured(direction)) == result.ios
