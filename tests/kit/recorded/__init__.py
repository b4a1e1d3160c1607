"""Runs that look real, without any disk: the same ones every time.

`record_library(store)` fills a store with every kind of run there is, `write_library(path)` makes such a store and is quicker,
`record_volumes(store)` with sweeps, promises and
several targets; `record_run` makes one; `recording` makes one interval at a time, for a test that watches a run grow.
Samples are made first; results, documents and kernel statistics are computed from them, so that everything about a
run agrees.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from diskprof.analysis.headline import headline
from diskprof.engines.events import Outcome
from diskprof.model.histogram import Histogram, bucket_value, merge
from diskprof.model.limit import TrialKind
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.run import (
    Cpu,
    DirectionResult,
    Finding,
    FleetPlace,
    Latency,
    Message,
    Progress,
    SeriesPlace,
    Status,
    TestResult,
    Weight,
)
from diskprof.model.run_series import NewSeries
from diskprof.model.sample import Direction, Phase, Sample, SystemSample
from diskprof.runner.carry.limit_watch import LimitWatch
from diskprof.runner.carry.map_watch import MapWatch
from diskprof.runner.carry.rounds_watch import RoundsWatch
from diskprof.store import ProcessIdentity, Store, this_process
from recorded.disk import FAST, QUICK_TESTS, SLOW, RecordedMachine, Speed, make_histogram, make_plan, speeds_of
from recorded.volume import (
    SMALL,
    VOLUME,
    limit_plan,
    map_plan,
    promises_plan,
    rounds_plan,
    speed_at,
    speeds_in,
    sweep_plan,
    targets_plan,
)

__all__ = [
    "FAST",
    "FIRST_START",
    "GONE",
    "QUICK_TESTS",
    "SLOW",
    "SMALL",
    "VOLUME",
    "RecordedMachine",
    "Speed",
    "limit_plan",
    "make_document",
    "make_histogram",
    "make_plan",
    "make_result",
    "map_plan",
    "promises_plan",
    "record_library",
    "record_limit",
    "record_map",
    "record_rounds",
    "record_run",
    "record_volumes",
    "recording",
    "rounds_plan",
    "sweep_plan",
    "targets_plan",
    "write_library",
    "write_volumes",
]
INTERVAL_NS = 250_000_000
SECOND_NS = 1_000_000_000
FIRST_START = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
GONE = ProcessIdentity(pid=4_100_000, start_ticks=1, boot_id="00000000-0000-0000-0000-000000000000")


@dataclass
class _Clock:
    """Where the recording stands."""

    at_ns: int = 0
    samples: list[Sample] = field(default_factory=list)


def _interval_ns(speed: Speed) -> int:
    """Four samples a second; a second where there is one request a second."""
    return INTERVAL_NS if speed.iops > 4 else SECOND_NS


def _sample(
    random: Random, at_ns: int, test: int, phase: Phase, direction: Direction, speed: Speed, bs: int, rapid: bool
) -> Sample:
    wobble = random.gauss(1.0, 0.025) * (0.55 if random.random() < 0.012 else 1.0)
    count = max(1, round(speed.iops * wobble * _interval_ns(speed) / SECOND_NS))
    histogram = make_histogram(random, count, replace(speed, median_us=speed.median_us / max(0.5, wobble)))
    return Sample(
        *(test, phase, direction, at_ns, _interval_ns(speed) + random.randrange(-900_000, 900_000)),
        ios=histogram.total,
        bytes=histogram.total * bs,
        mean_ns=histogram.mean,
        min_ns=histogram.minimum,
        max_ns=histogram.maximum,
        histogram=None if rapid else histogram,
    )


def _system(random: Random, samples: Sequence[Sample], machine: RecordedMachine) -> SystemSample:
    by = {sample.direction: sample for sample in samples}
    read, write, first = by.get(Direction.READ), by.get(Direction.WRITE), samples[0]
    busy = sum(sample.iops for sample in samples) / 300_000

    def ticks(sample: Sample | None) -> int:
        return round(sample.ios * (sample.mean_ns or 0) / 1e6) if sample else 0

    return SystemSample(
        *(first.test, first.phase, first.at_ns, first.duration_ns),
        reads=read.ios if read else 0,
        writes=(write.ios if write else 0) + (2 if random.random() < 0.05 else 0),
        read_bytes=read.bytes if read else 0,
        write_bytes=write.bytes if write else 0,
        read_ticks_ms=ticks(read),
        write_ticks_ms=ticks(write),
        io_ticks_ms=round(first.duration_ns / 1e6),
        queue_ticks_ms=ticks(read) + ticks(write),
        merges=0,
        cpu_user=round(min(0.6, 0.01 + 0.09 * busy + 0.004 * random.random()), 4),
        cpu_system=round(min(0.9, 0.012 + 0.22 * busy + 0.008 * random.random()), 4),
        cpu_iowait=round(0.03 + 0.02 * random.random(), 4),
        cpu_steal=0.0,
        temperature_c=41.0 + round(first.at_ns / 1e10) if machine is FAST else None,
    )


def make_result(samples: Sequence[Sample]) -> TestResult:
    """The result of a test's samples: sums, and percentiles of the merged histogram."""
    parts: dict[str, DirectionResult] = {}
    for direction in Direction:
        mine = [sample for sample in samples if sample.direction is direction and sample.phase is Phase.MEASURING]
        if not mine:
            continue
        whole = merge(sample.histogram for sample in mine if sample.histogram)
        ios, nbytes = sum(sample.ios for sample in mine), sum(sample.bytes for sample in mine)
        seconds = sum(sample.duration_ns for sample in mine) / 1e9
        mean = sum((sample.mean_ns or 0) * sample.ios for sample in mine) / ios
        latency = Latency(
            mean=round(mean, 6),
            min=min(sample.min_ns or 0 for sample in mine),
            max=max(sample.max_ns or 0 for sample in mine),
            stddev=round(mean * 0.31, 6),
            **{name: whole.quantile(q) for name, q in _PERCENTILES.items()} if whole else {},
        )
        parts[direction.value] = DirectionResult(
            ios, nbytes, ios / seconds, nbytes / seconds, seconds * 1e3, latency, whole or None
        )
    iops = sum(part.iops for part in parts.values())
    cpu = Cpu(round(3.1 + iops / 26_000, 6), round(4.4 + iops / 6_500, 6))
    return TestResult(**parts, cpu=cpu if any(part.histogram for part in parts.values()) else None)


_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}


def make_document(planned: PlannedTest, result: TestResult) -> bytes:
    """What fio (one object) or ioping (a list of one) would print at the end of such a test."""
    if planned.engine is EngineName.IOPING:
        read = result.read
        assert read is not None
        stat = {"count": read.ios, "size": read.bytes, "iops": read.iops, "bps": read.bandwidth_bytes_per_s}
        return json.dumps([{"stat": stat, "average": read.latency.mean}], indent=1).encode()
    job: dict[str, object] = {"jobname": planned.name, "error": 0}
    for direction, part in result.directions:
        bins = {bucket_value(bucket): count for bucket, count in (part.histogram or Histogram()).counts}
        job[direction.value] = {
            "total_ios": part.ios,
            "io_bytes": part.bytes,
            "iops": part.iops,
            "bw_bytes": part.bandwidth_bytes_per_s,
            "runtime": round(part.runtime_ms),
            "lat_ns": {"mean": part.latency.mean, "min": part.latency.min, "max": part.latency.max, "bins": bins},
        }
    if result.cpu:
        job |= {"usr_cpu": result.cpu.user_percent, "sys_cpu": result.cpu.system_percent}
    return json.dumps({"fio version": "fio-3.33", "jobs": [job]}, indent=2).encode()


def recording(
    store: Store,
    preset: str = "quick",
    *,
    machine: RecordedMachine = FAST,
    seed: int = 1,
    end: Status = Status.COMPLETE,
    reason: str = "",
    stop_in: tuple[int, float] | None = None,
    factor: float = 1.0,
    tags: Sequence[str] = (),
    note: str = "",
    runner: ProcessIdentity | None = None,
    started_at: datetime = FIRST_START,
    run_id: str | None = None,
    runtime_s: float = 5.0,
    plan: Plan | None = None,
    series: SeriesPlace | NewSeries | None = None,
    fleet: FleetPlace | None = None,
) -> Iterator[str]:
    """Records a run an interval at a time; yields its id after each, the first time as soon as the run is there.

    `stop_in` (test, fraction of its time) is where it stops short, `end` how it ended there; RUNNING leaves it under way
    and INTERRUPTED without a runner, for `Store.reap`; after a FAILED test the others follow. `factor` makes the disk
    faster or slower. `plan` takes the place of the preset's.
    """
    random, clock = Random(seed), _Clock()
    plan = plan or make_plan(preset, machine=machine, runtime_s=runtime_s)
    open_end = end in (Status.RUNNING, Status.INTERRUPTED)
    runner = GONE if end is Status.INTERRUPTED else runner
    run_id = store.create_run(
        *(plan, machine.environment),
        tags=tags,
        note=note,
        runner=runner,
        started_at=started_at,
        run_id=run_id,
        series=series,
        fleet=fleet,
    )
    yield run_id
    steps = _Steps(store, run_id, plan, machine, random, clock, factor)
    store.append(run_id, messages=(Message(0, "The test file is filled with data that does not compress."),))
    for index, planned in enumerate(plan.tests):
        stop_at = stop_in[1] if stop_in and stop_in[0] == index else None
        store.begin_test(run_id, index, clock.at_ns)
        if index == 0:
            yield from steps.layout()
        begun = len(clock.samples)
        yield from steps.test(index, planned, stop_at)
        samples = clock.samples[begun:]
        if stop_at is None:
            result = make_result(samples)
            document = make_document(planned, result)
            store.finish_test(
                run_id, index, status=Status.COMPLETE, at_ns=clock.at_ns, result=result, document=document
            )
            continue
        if end is Status.FAILED:
            store.append(run_id, messages=(Message(clock.at_ns, f"fio: {reason}", index, warning=True),))
            store.finish_test(run_id, index, status=end, reason=reason, at_ns=clock.at_ns)
            reason = f"{planned.name}: {reason}"
            continue
        if not open_end:
            store.finish_test(run_id, index, status=end, reason=reason, at_ns=clock.at_ns, result=make_result(samples))
        break
    if not open_end:
        store.finish_run(
            run_id,
            status=end,
            reason=reason,
            findings=_findings(plan) if end is Status.COMPLETE else (),
            headline=headline(store.run(run_id)),
            ended_at=started_at + timedelta(microseconds=clock.at_ns // 1000),
        )
    yield run_id


@dataclass
class _Steps:
    """The intervals of one run."""

    store: Store
    run_id: str
    plan: Plan
    machine: RecordedMachine
    random: Random
    clock: _Clock
    factor: float

    def layout(self) -> Iterator[str]:
        assert self.plan.layout is not None
        bs, whole = 1 << 20, self.plan.layout.bytes_written
        speed, done = Speed(self.machine.layout_bytes_per_s / bs, 2_400, 0.15), 0
        while done < whole:
            sample = self._advance(0, Phase.PREPARING, ((Direction.WRITE, speed),), bs, rapid=False)[0]
            done += sample.bytes
            yield self._progress(0, Phase.PREPARING, min(1.0, done / whole))

    def test(self, index: int, planned: PlannedTest, stop_at: float | None) -> Iterator[str]:
        block_size, found = speeds_of(planned, self.machine)
        if planned.trial and self.machine.limits:
            found = ((Direction.READ, speed_at(planned.trial, self.machine.limits)),)
            if planned.trial.kind is TrialKind.CELL:
                found = speeds_in(planned.trial, self.machine.limits, block_size)
        speeds = tuple((direction, replace(speed, iops=speed.iops * self.factor)) for direction, speed in found)
        warming = round(planned.ramp_s * 1e9 / INTERVAL_NS)
        measuring = round(planned.runtime_s * 1000 / planned.interval_ms)
        for step in range(1, warming + 1):
            self._advance(index, Phase.WARMING, speeds, block_size, rapid=planned.name == "seek")
            yield self._progress(index, Phase.WARMING, step / warming)
        for step in range(1, measuring + 1):
            if stop_at is not None and step > stop_at * measuring:
                return
            self._advance(index, Phase.MEASURING, speeds, block_size, rapid=planned.name == "seek")
            yield self._progress(index, Phase.MEASURING, step / measuring)

    def _advance(
        self, test: int, phase: Phase, speeds: Sequence[tuple[Direction, Speed]], bs: int, *, rapid: bool
    ) -> list[Sample]:
        self.clock.at_ns += _interval_ns(speeds[0][1])
        samples = [
            _sample(self.random, self.clock.at_ns, test, phase, direction, speed, bs, rapid)
            for direction, speed in speeds
        ]
        self.clock.samples += samples
        self.store.append(self.run_id, samples=samples, system=(_system(self.random, samples, self.machine),))
        return samples

    def _progress(self, test: int, phase: Phase, fraction: float) -> str:
        total = self.plan.seconds
        left = max(0.0, total - self.clock.at_ns / 1e9)
        progress = Progress(test, phase, fraction, min(1.0, 1 - left / total), left, self.clock.at_ns)
        self.store.append(self.run_id, progress=progress)
        return self.run_id


def _findings(plan: Plan) -> tuple[Finding, ...]:
    if plan.preset != "quick":
        return ()
    return (
        Finding(
            *("small-file", Weight.NOTE, "The test file is small beside the disk."),
            evidence="1.00 GiB of 932 GiB",
            advice="A larger one shows what lies outside the drive's cache: size=16g",
        ),
        Finding(
            *("processor-bound", Weight.LIMIT, "CPU-bound: the processor was the limit, not the disk."),
            evidence="92% of one CPU in fio's job",
            advice="Run with more jobs: jobs=4",
            test="randread-4k-qd32",
        ),
    )


def record_run(store: Store, preset: str = "quick", **options: Any) -> str:
    """`recording` to its end; returns the run's id."""
    return list(recording(store, preset, **options))[-1]


def record_rounds(store: Store, course: Sequence[float], *, started_at: datetime, run_id: str) -> str:
    """A run of `rounds_plan` that this process carries out: its first rounds are complete, in each of which the disk is as fast as
    `course` says, beside VOLUME; of the next one test and a half."""
    plan, random, clock = rounds_plan(VOLUME), Random(31), _Clock()
    assert plan.rounds
    run_id = store.create_run(*(plan, VOLUME.environment), runner=this_process(), started_at=started_at, run_id=run_id)
    watch = RoundsWatch(plan, plan.rounds)
    for number, factor in enumerate((*course, course[-1])):
        steps = _Steps(store, run_id, plan, VOLUME, random, clock, factor)
        for index, planned in enumerate(plan.tests if number < len(course) else plan.tests[:2]):
            if number == 0:
                store.begin_test(run_id, index, clock.at_ns)
            begun, began_ns = len(clock.samples), clock.at_ns
            deque(steps.test(index, planned, 0.6 if number == len(course) and index == 1 else None), maxlen=0)
            result = make_result(clock.samples[begun:])
            document = make_document(planned, result)
            if number == 0:
                store.finish_test(
                    run_id, index, status=Status.COMPLETE, at_ns=clock.at_ns, result=result, document=document
                )
            watch.hear(Outcome(Status.COMPLETE, "", result, document), began_ns, clock.at_ns)
        if number < len(course):
            store.finish_round(run_id, watch.close(), at_ns=clock.at_ns)
    return run_id


def record_limit(
    store: Store,
    *,
    trials: int | None = None,
    curve: int = 0,
    started_at: datetime = FIRST_START,
    run_id: str = "c4t8h3wy",
    factor: float = 1.0,
    promise: str = "read.p99<=2ms",
) -> str:
    """A run of `limit_plan`: to its end, or that this process carries out, with so many trials, or loads of a curve, and a half.
    Its disk does `factor` times what VOLUME does."""
    plan = limit_plan(promise, curve)
    assert plan.limit
    return _record_search(store, plan, LimitWatch(plan.limit, plan.tests[0]), trials, started_at, run_id, factor)


def record_map(
    store: Store, *, cells: int | None = None, started_at: datetime = FIRST_START, run_id: str = "c4t8h3mp"
) -> str:
    """A run of `map_plan`: to its end, or that this process carries out, with so many cells and a half."""
    plan = map_plan()
    assert plan.read_write_map
    return _record_search(store, plan, MapWatch(plan.read_write_map, plan.tests), cells, started_at, run_id)


def _record_search(
    store: Store,
    plan: Plan,
    search: LimitWatch | MapWatch,
    most: int | None,
    started_at: datetime,
    run_id: str,
    factor: float = 1.0,
) -> str:
    random, clock = Random(47), _Clock()
    runner = None if most is None else this_process()
    store.create_run(*(plan, VOLUME.environment), runner=runner, started_at=started_at, run_id=run_id)
    steps, index = _Steps(store, run_id, plan, VOLUME, random, clock, factor), 0
    while (planned := search.next()) and planned.trial:
        store.begin_test(run_id, index, clock.at_ns, None if planned in plan.tests else planned)
        begun, began_ns = len(clock.samples), clock.at_ns
        deque(steps.test(index, planned, 0.6 if index == most else None), maxlen=0)
        if index == most:
            return run_id
        result = make_result(clock.samples[begun:])
        document = make_document(planned, result)
        store.finish_test(run_id, index, status=Status.COMPLETE, at_ns=clock.at_ns, result=result, document=document)
        told = search.hear(
            planned.trial, Outcome(Status.COMPLETE, "", result, document), began_ns, clock.at_ns + SECOND_NS
        )
        store.append(run_id, messages=(Message(clock.at_ns, told, index),))
        index += 1
    ended_at = started_at + timedelta(microseconds=clock.at_ns // 1000)
    words = headline(store.run(run_id))
    store.finish_run(run_id, status=Status.COMPLETE, reason="", headline=words, ended_at=ended_at)
    return run_id


def record_library(store: Store) -> dict[str, str]:
    """One run of each kind, oldest first; returns name -> id. The run under way belongs to the calling process."""
    recipes: dict[str, tuple[str, dict[str, Any]]] = {
        "first": ("quick", {"tags": ("baseline",), "note": "Before the firmware update.", "run_id": "k3f7p2qa"}),
        "second": ("quick", {"factor": 1.06, "tags": ("after-update",), "run_id": "m8d4x9ch"}),
        "slow": ("quick", {"machine": SLOW, "tags": ("old-server", "sata"), "run_id": "q5t2w7be"}),
        "mixed": ("mixed-70-30", {"run_id": "r9n3y6dk"}),
        "ioping": ("ioping-latency", {"runtime_s": 12.0, "run_id": "s2c8z4gp"}),
        "seek": ("ioping-seek", {"run_id": "t6h5a3jm"}),
        "failed": ("quick", {"end": Status.FAILED, "reason": _NO_SPACE, "stop_in": (2, 0.3), "run_id": "w4b7e9nr"}),
        "cancelled": (
            "quick",
            {"end": Status.CANCELLED, "reason": "Stopped by SIGINT.", "stop_in": (3, 0.5), "run_id": "x7g2k5ft"},
        ),
        "interrupted": (
            "quick",
            {"machine": SLOW, "end": Status.INTERRUPTED, "stop_in": (1, 0.6), "run_id": "y3m9q8sw"},
        ),
        "running": ("quick", {"end": Status.RUNNING, "stop_in": (2, 0.5), "run_id": "z5r6c2xd"}),
    }
    runs = {
        name: record_run(store, preset, seed=seed, started_at=FIRST_START + timedelta(hours=5 * seed), **more)
        for seed, (name, (preset, more)) in enumerate(recipes.items())
    }
    store.reap()
    return runs


@cache
def _written(record: Callable[[Store], dict[str, str]]) -> tuple[bytes, Mapping[str, str]]:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "runs.db"
        with Store.open(path) as store:
            ids = record(store)
        # A store that was closed is one file.
        assert not Path(f"{path}-wal").exists()
        return path.read_bytes(), ids


def _write(path: Path, record: Callable[[Store], dict[str, str]]) -> dict[str, str]:
    content, ids = _written(record)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o600)
    return dict(ids)


def write_library(path: Path) -> dict[str, str]:
    """A store at `path` as `record_library` leaves it, which takes seconds: it is recorded once in a process."""
    return _write(path, record_library)


def write_volumes(path: Path) -> dict[str, str]:
    """As `write_library`, of what `record_volumes` leaves."""
    return _write(path, record_volumes)


def record_volumes(store: Store) -> dict[str, str]:
    """Runs of what a volume in the network is asked, oldest first; returns name -> id.

    Two sweeps (in the first one cell failed; the second is of a smaller volume), a run with promises of every outcome, one
    on two targets.
    """
    plans: dict[str, tuple[Plan, dict[str, Any]]] = {
        "sweep": (
            sweep_plan(VOLUME),
            {"end": Status.FAILED, "reason": _IO_ERROR, "stop_in": (16, 0.4), "run_id": "c3w8n5qt"},
        ),
        "smaller": (sweep_plan(SMALL), {"machine": SMALL, "run_id": "d6j2y9fv"}),
        "promises": (promises_plan(VOLUME), {"run_id": "g8s4b3xm"}),
        "targets": (targets_plan(VOLUME), {"run_id": "h2k7t6zp"}),
    }
    return {
        name: record_run(
            store, **{"plan": plan, "machine": VOLUME, "seed": seed, "started_at": _volume_start(seed), **more}
        )
        for seed, (name, (plan, more)) in enumerate(plans.items(), start=40)
    }


def _volume_start(seed: int) -> datetime:
    return FIRST_START + timedelta(days=7, hours=5 * (seed - 40))


_NO_SPACE = "No space left on device"
_IO_ERROR = "Input/output error"
