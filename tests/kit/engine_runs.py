"""Real engines run through `measure`, as the runner runs them."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from diskprof.engines.engine import Event, Finished, Noted, Outcome, PhaseChanged, Sampled, measure
from diskprof.engines.fio.reader import fio_argv
from diskprof.engines.ioping import ioping_argv
from diskprof.engines.tools import find_tool
from diskprof.model.job import EngineJob, Opened, fio_job, ioping_job
from diskprof.model.plan import PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.sample import Direction, Phase, Sample

PATIENCE_S = 30.0
SIZE = 8 << 20
RANDOM_READ = {"rw": "randread", "bs": "4k", "size": str(SIZE), "ioengine": "psync"}


def clock() -> int:
    return time.monotonic_ns()


def planned(
    engine: EngineName,
    argv: tuple[str, ...],
    *jobs: EngineJob,
    ramp_s: float = 0.0,
    runtime_s: float = 1.0,
    amount_bytes: int | None = None,
    bytes_written: int = 0,
    interval_ms: int = 250,
) -> PlannedTest:
    return PlannedTest(
        name="test",
        title="Test",
        engine=engine,
        argv=argv,
        jobs=jobs,
        ramp_s=ramp_s,
        runtime_s=runtime_s,
        amount_bytes=amount_bytes,
        bytes_written=bytes_written,
        writes_exact=True,
        interval_ms=interval_ms,
    )


def fio(
    path: Path | str, *jobs: dict[str, str], ramp_s: float = 0.0, runtime_s: float = 1.0, **options: str
) -> PlannedTest:
    """A fio test that runs for `runtime_s`, each of `jobs` with `options` too. It only reads unless its rw says otherwise."""
    # fio takes 0.7 for nothing at all: a part of a second needs its unit.
    ramp = {"ramp_time": f"{ramp_s * 1000:.0f}ms"} if ramp_s else {}
    timed = {"runtime": f"{runtime_s * 1000:.0f}ms", "time_based": "1", **ramp}
    sections = [
        fio_job({**timed, **options, **job}.items(), f"job{number}", opened=Opened((str(path),)))
        for number, job in enumerate(jobs or ({},))
    ]
    reads = all(section.reads_only for section in sections)
    argv = fio_argv(find_tool(EngineName.FIO).path, sections, interval_ms=250, read_only=reads)
    return planned(EngineName.FIO, argv, *sections, ramp_s=ramp_s, runtime_s=runtime_s)


def filling(path: Path | str, size: int, *, rw: str = "write", **options: str) -> PlannedTest:
    """A fio test that writes `size` bytes and ends."""
    job = fio_job({"rw": rw, "bs": "64k", "size": str(size), **options}.items(), "fill", opened=Opened((str(path),)))
    argv = fio_argv(find_tool(EngineName.FIO).path, (job,), interval_ms=250, read_only=False)
    return planned(EngineName.FIO, argv, job, runtime_s=60.0, amount_bytes=size)


def ioping(path: Path | str, *, runtime_s: float, **options: str) -> PlannedTest:
    job = ioping_job(((name.replace("_", "-"), value) for name, value in options.items()), path=str(path))
    argv = ioping_argv(find_tool(EngineName.IOPING).path, job, interval_ms=250)
    return planned(EngineName.IOPING, argv, job, runtime_s=runtime_s, bytes_written=1 << 20)


@dataclass(frozen=True)
class Ran:
    events: tuple[Event, ...]

    @property
    def outcome(self) -> Outcome:
        (finished,) = [event for event in self.events if isinstance(event, Finished)]
        assert self.events[-1] == finished
        return finished.outcome

    @property
    def phases(self) -> list[Phase]:
        return [event.phase for event in self.events if isinstance(event, PhaseChanged)]

    @property
    def notes(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Noted)]

    @property
    def samples(self) -> list[Sample]:
        return [sample for event in self.events if isinstance(event, Sampled) for sample in event.samples]

    def measured(self, direction: Direction) -> list[Sample]:
        return [sample for sample in self.samples if sample.phase is Phase.MEASURING and sample.direction is direction]


async def run(
    test: PlannedTest,
    workdir: Path,
    *,
    on_event: Callable[[Event], None] = lambda event: None,
    stop: asyncio.Event | None = None,
    enough: asyncio.Event | None = None,
    preparing: bool = False,
    pass_fds: Sequence[int] = (),
    stall_limit_s: float = 60.0,
) -> Ran:
    """The whole test. `on_event` sees each event as it comes."""
    seen: list[Event] = []
    events = measure(
        test,
        index=0,
        clock=clock,
        workdir=workdir,
        stop=stop or asyncio.Event(),
        enough=enough,
        preparing=preparing,
        pass_fds=pass_fds,
        stall_limit_s=stall_limit_s,
    )
    async with asyncio.timeout(PATIENCE_S), aclosing(events):
        async for event in events:
            seen.append(event)
            on_event(event)
    return Ran(tuple(seen))


def children() -> list[int]:
    """The processes that this one has started and that are still there."""
    tasks = Path("/proc/self/task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
