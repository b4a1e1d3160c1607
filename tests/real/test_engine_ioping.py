"""A real ioping, measured as the runner measures."""

import asyncio
import json
from pathlib import Path

import pytest
from engine_runs import Ran, children, ioping, run

from diskprof.engines.engine import Event, Sampled
from diskprof.model.plan import PlannedTest
from diskprof.model.run import Status
from diskprof.model.sample import Direction, Phase

pytestmark = pytest.mark.needs("ioping")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    directory = tmp_path / "target"
    directory.mkdir()
    return directory


def left_in(directory: Path) -> list[Path]:
    return list(directory.iterdir())


def is_iopings(ran: Ran) -> None:
    """Result and samples say what ioping's final statistics say."""
    stat = json.loads(ran.outcome.document)["stat"]
    assert ran.outcome.result and ran.outcome.result.read
    read = ran.outcome.result.read
    assert (read.ios, read.bytes, read.iops, read.bandwidth_bytes_per_s) == (
        stat["count"],
        stat["size"],
        stat["iops"],
        stat["bps"],
    )
    latency = read.latency
    assert (latency.min, latency.mean, latency.max, latency.stddev) == (
        stat["min"],
        stat["avg"],
        stat["max"],
        stat["mdev"],
    )
    measured = ran.measured(Direction.READ)
    assert sum(sample.ios for sample in measured) == stat["count"]
    assert sum(sample.bytes for sample in measured) == stat["size"]


async def test_single_requests_are_told_one_by_one(target: Path, workdir: Path) -> None:
    ran = await run(ioping(target, runtime_s=0.4, count="3", interval="200ms"), workdir)
    assert (ran.outcome.status, ran.outcome.reason, ran.notes) == (Status.COMPLETE, "", [])
    assert ran.phases == [Phase.PREPARING, Phase.MEASURING]
    assert [sample.ios for sample in ran.samples] == [1, 1]
    is_iopings(ran)
    assert ran.outcome.result and ran.outcome.result.read and ran.outcome.result.read.latency.p99
    assert left_in(target) == []


@pytest.mark.parametrize("way", ["direct", "cached", "linear", "size"])
async def test_rapid_requests_are_told_by_periods(target: Path, workdir: Path, way: str) -> None:
    # ioping's own -RD, -RC and -RL.
    more = {way: "8k" if way == "size" else "1"}
    test = ioping(target, runtime_s=0.8, rapid="1", work_size="4m", work_time="800ms", **more)
    ran = await run(test, workdir)
    assert (ran.outcome.status, ran.outcome.reason) == (Status.COMPLETE, "")
    assert ran.phases == [Phase.PREPARING, Phase.MEASURING]
    is_iopings(ran)
    assert ran.outcome.result and ran.outcome.result.read and ran.outcome.result.read.histogram is None
    assert left_in(target) == []


def endless(target: Path) -> PlannedTest:
    return ioping(target, runtime_s=600.0, rapid="1", work_size="4m", work_time="600")


async def test_stopping_keeps_what_was_measured(target: Path, workdir: Path) -> None:
    stop = asyncio.Event()

    def on_event(event: Event) -> None:
        if isinstance(event, Sampled):
            stop.set()

    ran = await run(endless(target), workdir, stop=stop, on_event=on_event)
    assert children() == []
    assert ran.outcome.status is Status.CANCELLED
    is_iopings(ran)
    assert left_in(target) == []


async def test_a_missing_directory_is_told(target: Path, workdir: Path) -> None:
    ran = await run(ioping(target / "missing", runtime_s=1.0, count="2"), workdir)
    assert ran.outcome.status is Status.FAILED
    assert "No such file or directory" in ran.outcome.reason


async def test_a_file_is_never_written(target: Path, workdir: Path) -> None:
    file = target / "precious"
    file.write_bytes(b"x" * (1 << 20))
    ran = await run(ioping(file, runtime_s=0.5, rapid="1", work_time="500ms", write="1", work_size="1m"), workdir)
    assert ran.outcome.status is Status.FAILED
    assert file.read_bytes() == b"x" * (1 << 20)
