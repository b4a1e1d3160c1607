"""A volume in the network with limits, and plans of what it is asked: a sweep, rounds, a limit, promises, two targets."""

from commands import fio_jobs
from msgspec.structs import replace

from diskprof.model.device import Mount, Transport
from diskprof.model.expectation import Expectation, Operator
from diskprof.model.job import FioJob, fio_job
from diskprof.model.limit import LimitRule, Trial
from diskprof.model.metric import parse_metric
from diskprof.model.plan import OtherTarget, Plan, PlannedTest, TestFile
from diskprof.model.preset import Category, EngineName
from diskprof.model.read_write_map import MapRule
from diskprof.model.sample import Direction
from diskprof.model.steady import RoundsRule
from diskprof.model.target import Target, TargetKind
from diskprof.model.title import title_of
from diskprof.model.units import parse_size
from diskprof.presets.limit_text import parse_promise
from diskprof.presets.limit_trials import trial_job, trial_name, trial_title
from diskprof.presets.map_cells import cell_jobs, map_cell_name, map_cell_title
from recorded.disk import GIB, Limits, RecordedMachine, Speed, make_disk, make_layout, make_machine

BLOCK_SIZES = ("4k", "16k", "32k", "64k", "256k")
DEPTHS = ("1", "2", "4", "8", "16", "32", "64")

VOLUME = replace(
    make_machine(
        "web-3",
        *make_disk(
            *("sda", "sda1", 100 * GIB),
            Mount("/mnt/volume", "ext4", ("rw", "noatime"), 98 * GIB, 71 * GIB),
            model="Volume",
            serial="7d1c4e2a",
            transport=Transport.VIRTIO,
            scheduler="none",
        ),
        {"reader1": Speed(88_400, 5_700, 0.2), "writer1": Speed(3_201, 38_000, 0.15)},
        0.2e9,
        cpu="Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz",
        cpus="4",
        memory_gib="8",
        virtualisation="kvm",
    ),
    limits=Limits(5_010, 200e6, 535),
)
SMALL = replace(
    VOLUME,
    environment=replace(VOLUME.environment, hostname="web-4"),
    limits=Limits(3_010, 200e6, 610),
)


def sweep_plan(
    machine: RecordedMachine,
    *,
    axes: tuple[tuple[str, tuple[str, ...]], ...] = (("bs", BLOCK_SIZES), ("iodepth", DEPTHS)),
    tests: tuple[tuple[str, str], ...] = (("randread", "randread"),),
    runtime_s: float = 4.0,
) -> Plan:
    """A plan of cells; `tests` are name and rw. Axes: bs, iodepth, numjobs."""
    file = _file("/mnt/volume")
    planned = []
    for name, rw in tests:
        cells: list[tuple[tuple[str, str], ...]] = [()]
        for option, values in axes:
            cells = [(*cell, (option, value)) for cell in cells for value in values]
        for cell in cells:
            have = dict(cell)
            job = _job(
                "-".join([name, *(_PREFIXES[option] + value for option, value in cell)]),
                *(rw, parse_size(have.get("bs", "4k")), int(have.get("iodepth", "1")), int(have.get("numjobs", "1"))),
                "libaio",
            )
            planned.append(_planned(job.name, (job,), (file,), runtime_s, cell))
    return replace(_plan(machine, "volume-sweep", "Sweep of a volume", file, planned), sweep=axes)


def rounds_plan(machine: RecordedMachine) -> Plan:
    """A plan whose six cells are repeated in rounds."""
    axes = (("iodepth", ("1", "32")), ("bs", ("64k", "16k", "4k")))
    plan = sweep_plan(machine, axes=axes, tests=(("write", "randwrite"),), runtime_s=1.0)
    rule = RoundsRule(plan.tests[-1].name, parse_metric("write.iops"))
    return replace(plan, preset="volume-rounds", preset_title="Rounds on a volume", rounds=rule)


def limit_plan(promise: str = "read.p99<=2ms", curve: int = 0) -> Plan:
    """A plan that searches for the limit of a volume, with the trial that it begins with."""
    file, rule = _file("/mnt/volume"), LimitRule((parse_promise(promise),), curve=curve)
    options = {"rw": "randread", "bs": "4096", "ioengine": "libaio", "direct": "1"}
    first = rule.first
    job = trial_job(fio_job(options.items(), "load"), rule, first)
    planned = replace(
        _planned(trial_name(first, 1), (job,), (file,), rule.short_s),
        title=trial_title(job, first, 1),
        jobs=(job,),
        ramp_s=rule.ramp_s,
        trial=first,
    )
    plan = _plan(VOLUME, "limit", "Limit: load at a latency", file, [planned])
    return replace(plan, category=Category.LATENCY, limit=rule)


def map_plan() -> Plan:
    """A plan that draws the read/write map of a volume, with its first two cells."""
    file, rule = _file("/mnt/volume"), MapRule()
    shared = {"ioengine": "libaio", "direct": "1"}
    writer = fio_job({"rw": "write", "bs": "131072", "iodepth": "16", **shared}.items(), "writes")
    reader = fio_job({"rw": "randread", "bs": "4096", **shared}.items(), "reads")
    planned = [
        replace(
            _planned(map_cell_name(trial), jobs, (file,), rule.cell_s),
            title=map_cell_title(trial),
            jobs=jobs,
            ramp_s=rule.ramp_s,
            trial=trial,
        )
        for trial in (rule.all_writes, rule.all_reads)
        for jobs in (cell_jobs(writer, reader, rule, trial),)
    ]
    plan = _plan(VOLUME, "read-write-map", "Map: reads beside writes", file, planned)
    return replace(plan, category=Category.LATENCY, read_write_map=rule)


def speeds_in(trial: Trial, limits: Limits, block_size: int) -> tuple[tuple[Direction, Speed], ...]:
    """What a volume does in a cell of a map: reads and writes share what there is, and each waits for the other."""
    asked = limits.iops if trial.rate is None else float(trial.rate)
    written = limits.bytes_per_s if trial.written is None else float(trial.written or 0)
    used = asked / limits.iops + written / limits.bytes_per_s
    share = min(1.0, 1 / used) if used else 1.0
    waits = limits.alone_us * (1 + 0.5 * min(used, 0.97) / (1 - min(used, 0.97)))
    reads = ((Direction.READ, Speed(asked * share, waits, 0.1, 0.01)),) if asked else ()
    writes = ((Direction.WRITE, Speed(written * share / block_size, 2 * waits, 0.1, 0.01)),) if written else ()
    return (*reads, *writes)


def speed_at(trial: Trial, limits: Limits) -> Speed:
    """What a volume does at the load of a trial: the nearer to its limit, the longer an I/O waits."""
    if trial.rate is None:
        return limits.speed(4096, trial.depth)
    used = min(0.99, trial.rate / limits.iops)
    return Speed(trial.rate, limits.alone_us * (1 + 0.4 * used / (1 - used)), 0.1, 0.004)


def promises_plan(machine: RecordedMachine, *, runtime_s: float = 8.0) -> Plan:
    """Five tests of which something is promised: kept, broken, inconclusive, not measured."""
    file = _file("/mnt/volume")
    jobs = (
        _job("bw-test", "randwrite", 1 << 20, 32, 1, "libaio"),
        _job("rand-r", "randread", 4096, 128, 1, "libaio"),
        _job("rand-w", "randwrite", 4096, 128, 1, "libaio"),
        _job("lat-read", "randread", 4096, 1, 1, "libaio"),
        _job("lat-write", "randwrite", 4096, 1, 1, "libaio"),
    )
    planned = [_planned(job.name, (job,), (file,), runtime_s) for job in jobs]
    plan = _plan(machine, "volume-promises", "What a volume promises", file, planned)
    formula = "min(1,200 + 30 x 100 GiB, 20,000) IOPS"
    return replace(
        plan,
        parameters=(*plan.parameters, ("tier", "high-cpu")),
        expectations=(
            _expected("bw-test", "write.bandwidth", Operator.AT_LEAST, 300e6, "tier high-cpu", 60),
            _expected("rand-r", "read.iops", Operator.AT_LEAST, 4_200, f"tier high-cpu: {formula}", 5),
            _expected("rand-w", "write.iops", Operator.AT_LEAST, 4_200, f"tier high-cpu: {formula}", 60),
            _expected("lat-read", "read.latency.mean", Operator.LESS_THAN, 5e6, "tier high-cpu", 5),
            _expected("lat-write", "write.latency.p99", Operator.AT_MOST, 5e5, "from --expect"),
            _expected("lat-write", "sync.latency.p99", Operator.LESS_THAN, 10e6, "from --expect"),
        ),
    )


def targets_plan(machine: RecordedMachine, *, runtime_s: float = 6.0) -> Plan:
    """Readers on a volume with a cache, writers on one without, at once."""
    files = _file("/mnt/cached"), _file("/mnt/uncached")
    jobs = (
        _job("reader1", "randread", 4096, 128, 4, "libaio"),
        _job("writer1", "randwrite", 4096, 128, 4, "libaio"),
    )
    planned = _planned("read-write", jobs, files, runtime_s)
    plan = _plan(machine, "two-volumes", "Readers and writers on two volumes", files[0], [planned])
    first = replace(plan.target, path="/mnt/cached", given="/mnt/cached", mount_point="/mnt/cached")
    other = replace(first, path="/mnt/uncached", given="/mnt/uncached", mount_point="/mnt/uncached", device="sdb1")
    others = (OtherTarget("nocache", other, files[1].directory, (files[1],)),)
    return replace(plan, target=first, slot="cache", others=others, space_needed=2 * GIB)


def _expected(
    test: str, metric: str, operator: Operator, promised: float, basis: str, seconds: float = 0
) -> Expectation:
    return Expectation(test, parse_metric(metric), operator, promised, basis, seconds)


_PREFIXES = {"bs": "", "iodepth": "qd", "numjobs": "jobs"}


def _job(name: str, rw: str, block: int, depth: int, numjobs: int, ioengine: str) -> FioJob:
    options = {"rw": rw, "bs": block, "iodepth": depth, "numjobs": numjobs, "ioengine": ioengine}
    return fio_job(((option, str(value)) for option, value in options.items()), name)


def _file(directory: str) -> TestFile:
    return TestFile(f"{directory}/.diskprof-7f3k9q2m", f"{directory}/.diskprof-7f3k9q2m/test.dat", GIB)


def _plan(machine: RecordedMachine, preset: str, title: str, file: TestFile, tests: list[PlannedTest]) -> Plan:
    mount, device = machine.environment.mount, machine.environment.device
    assert mount and device
    return Plan(
        preset=preset,
        preset_title=title,
        category=Category.SUITE,
        target=Target(
            *(TargetKind.DIRECTORY, mount.path, mount.path, device.name, mount.path, mount.fs_type),
            free_bytes=mount.free_bytes,
            fs_size_bytes=mount.size_bytes,
        ),
        parameters=(("size", "1g"), ("runtime", f"{tests[0].runtime_s:g}s")),
        tests=tuple(tests),
        directory=file.directory,
        files=(file,),
        layout=make_layout(file, machine),
        hazards=(),
        space_needed=GIB,
        assumed_bandwidth=machine.layout_bytes_per_s,
    )


def _planned(
    name: str,
    jobs: tuple[FioJob, ...],
    files: tuple[TestFile, ...],
    runtime_s: float,
    cell: tuple[tuple[str, str], ...] = (),
) -> PlannedTest:
    argv = ["/usr/bin/fio", "--output-format=json+", "--status-interval=250ms", "--thread=1"]
    for number, job in enumerate(jobs):
        argv += [
            *(f"--name={job.name}", f"--filename={files[number % len(files)].path}", f"--size={GIB}"),
            *(f"--rw={job.rw}", f"--bs={job.block_size}", f"--iodepth={job.iodepth}", "--ioengine=libaio"),
            *("--direct=1", "--time_based=1", f"--runtime={runtime_s:g}s", f"--numjobs={job.numjobs}"),
            *(("--group_reporting=1",) if job.numjobs > 1 else ()),
            *(("--new_group=1",) if number else ()),
        ]
    planned_jobs = fio_jobs(argv)
    return PlannedTest(
        name=name,
        title=title_of(planned_jobs, cell),
        engine=EngineName.FIO,
        argv=tuple(argv),
        jobs=planned_jobs,
        ramp_s=0.0,
        runtime_s=runtime_s,
        amount_bytes=None,
        bytes_written=sum(round(100e6 * runtime_s) for job in jobs if job.rw.endswith("write")),
        writes_exact=False,
        interval_ms=250,
        cell=cell,
    )
