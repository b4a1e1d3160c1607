"""Runs that go on for hours, made in seconds: one test, one sample a second, drawn from a pool of the generator's samples."""

from collections.abc import Iterator
from datetime import timedelta
from random import Random

from msgspec.structs import replace

from diskprof.model.plan import Plan
from diskprof.model.run import Progress, Status
from diskprof.model.sample import Direction, Phase, Sample, SystemSample
from diskprof.store import Store
from recorded import FAST, FIRST_START, SECOND_NS, make_document, make_plan, make_result
from recorded.disk import make_histogram

DAY_S = 86_400
_POOL = 500
_TEST = "randread-4k-qd32"
_BLOCK = 4096


def long_plan(seconds: int, *, both: bool = False) -> Plan:
    """A plan of one test of that length, with a status a second, as tests of more than ten minutes have.

    `both`: it reads and writes.
    """
    plan = make_plan("quick", runtime_s=float(seconds))
    test = next(test for test in plan.tests if test.name == _TEST)
    if both:
        jobs = (
            replace(job, options=tuple((key, "randrw" if key == "rw" else value) for key, value in job.options))
            for job in test.jobs
        )
        test = replace(test, jobs=tuple(jobs))
    return replace(
        plan, tests=(replace(test, ramp_s=0.0, interval_ms=1000),), layout=None, preset="soak", preset_title="Soak"
    )


def _pool(random: Random) -> list[Sample]:
    """Seconds of a fast disk at its busiest: the histograms are as large as they get."""
    speed = FAST.speeds["randread-qd32"]
    found = []
    for _ in range(_POOL):
        histogram = make_histogram(random, round(speed.iops * random.gauss(1.0, 0.025)), speed)
        found.append(
            Sample(
                *(0, Phase.MEASURING, Direction.READ, 0, SECOND_NS + random.randrange(-900_000, 900_000)),
                *(histogram.total, histogram.total * _BLOCK),
                *(histogram.mean, histogram.minimum, histogram.maximum, histogram),
            )
        )
    return found


def _system(random: Random, sample: Sample) -> SystemSample:
    ticks = round(sample.ios * (sample.mean_ns or 0) / 1e6)
    return SystemSample(
        *(0, Phase.MEASURING, sample.at_ns, sample.duration_ns),
        reads=sample.ios,
        writes=random.randrange(3),
        read_bytes=sample.bytes,
        write_bytes=0,
        read_ticks_ms=ticks,
        write_ticks_ms=0,
        io_ticks_ms=1000,
        queue_ticks_ms=ticks,
        merges=0,
        cpu_user=random.uniform(0.08, 0.1),
        cpu_system=random.uniform(0.2, 0.24),
        cpu_iowait=random.uniform(0.02, 0.04),
        cpu_steal=0.0,
        temperature_c=47.0,
        read_merges=0,
        write_merges=0,
        memory_available_bytes=(50 << 30) + random.randrange(1 << 30),
        cached_bytes=(8 << 30) + random.randrange(1 << 20),
        dirty_bytes=random.randrange(1 << 22),
    )


def recording_long(
    store: Store, seconds: int = DAY_S, *, step: int = 600, seed: int = 1, both: bool = False
) -> Iterator[str]:
    """Records a run of the calling process, `step` seconds at a time; yields its id after each and once it is over.

    `both`: it reads and writes.
    """
    random = Random(seed)
    plan, pool = long_plan(seconds, both=both), _pool(random)
    directions = tuple(Direction) if both else (Direction.READ,)
    run_id = store.create_run(plan, FAST.environment, started_at=FIRST_START)
    store.begin_test(run_id, 0, 0)
    for begin in range(0, seconds, step):
        ends = range(begin + 1, min(begin + step, seconds) + 1)
        samples = [
            replace(random.choice(pool), direction=direction, at_ns=end * SECOND_NS)
            for end in ends
            for direction in directions
        ]
        share = ends[-1] / seconds
        store.append(
            run_id,
            samples=samples,
            system=[_system(random, sample) for sample in samples[:: len(directions)]],
            progress=Progress(0, Phase.MEASURING, share, share, float(seconds - ends[-1]), ends[-1] * SECOND_NS),
        )
        yield run_id
    result = make_result([replace(sample, direction=direction) for direction in directions for sample in pool])
    document = make_document(plan.tests[0], result)
    store.finish_test(run_id, 0, status=Status.COMPLETE, at_ns=seconds * SECOND_NS, result=result, document=document)
    store.finish_run(run_id, status=Status.COMPLETE, ended_at=FIRST_START + timedelta(seconds=seconds))
    yield run_id


def record_long(store: Store, seconds: int = DAY_S, *, seed: int = 1, both: bool = False) -> str:
    """`recording_long` to its end; returns the run's id."""
    return list(recording_long(store, seconds, seed=seed, both=both))[-1]
