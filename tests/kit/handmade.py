"""Runs made by hand, value by value, for tests of what is concluded from them. No store, no disk."""

from collections.abc import Sequence
from datetime import UTC, datetime

from commands import fio_jobs, the_ioping_job
from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.device import Device, DeviceKind, Mount, Transport
from diskprof.model.histogram import Histogram
from diskprof.model.plan import Plan, PlannedTest, TestFile
from diskprof.model.preset import Category, EngineName
from diskprof.model.run import Cpu, DirectionResult, Environment, Latency, Run, Status, TestRecord, TestResult
from diskprof.model.sample import Direction, Phase, Sample, SystemSample
from diskprof.model.target import Target, TargetKind
from diskprof.model.units import parse_size
from diskprof.runner.plan.watch_plan import watch_plan

GIB = 1 << 30
START = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
DISK = Device(
    name="nvme0n1",
    node="/dev/nvme0n1",
    kind=DeviceKind.DISK,
    major=259,
    minor=0,
    size_bytes=1_000_204_886_016,
    model="Example 1000",
    serial="E1",
    transport=Transport.NVME,
    rotational=False,
    scheduler="none",
)
TARGET = Target(TargetKind.DIRECTORY, "/mnt/data", "/mnt/data", "nvme0n1", "/mnt/data", "ext4")
ENVIRONMENT = Environment(
    hostname="db-01",
    os="Debian GNU/Linux 12 (bookworm)",
    kernel="6.1.0-18-amd64",
    cpu_model="Example CPU",
    cpus=8,
    memory_bytes=16 * GIB,
    diskprof_version="0.1.0",
    fio_version="3.33",
    ioping_version="1.3",
    device=DISK,
    disks=(DISK,),
    mount=Mount("/mnt/data", "ext4", ("rw", "noatime")),
)


def latency(mean_ns: float, **more: float) -> Latency:
    """A distribution around `mean_ns`, every figure there; `more` replaces single ones."""
    shape = {"min": 0.3, "max": 20, "stddev": 0.3, "p50": 0.95, "p90": 1.4, "p95": 1.7, "p99": 2.5, "p99_9": 5}
    return Latency(mean=mean_ns, **({name: mean_ns * factor for name, factor in shape.items()} | more))


def direction(
    iops: float,
    *,
    seconds: float = 30.0,
    block: int = 4096,
    mean_ns: float | None = None,
    figures: Latency | None = None,
    histogram: Histogram | None = None,
) -> DirectionResult:
    """A direction's result at `iops` for `seconds`; latency is that of one at a time unless given."""
    ios = round(iops * seconds)
    told = figures or latency(mean_ns if mean_ns is not None else 1e9 / iops)
    return DirectionResult(ios, ios * block, iops, iops * block, seconds * 1e3, told, histogram)


class Given(Struct, frozen=True):
    """A test and how it went."""

    planned: PlannedTest
    result: TestResult | None
    status: Status = Status.COMPLETE
    reason: str = ""


def fio(
    name: str = "randread",
    *,
    rw: str = "randread",
    depth: int = 1,
    block: int = 4096,
    numjobs: int = 1,
    ioengine: str = "libaio",
    direct: bool = True,
    size: int = GIB,
    runtime_s: float = 30.0,
    read: DirectionResult | None = None,
    write: DirectionResult | None = None,
    cpu: tuple[float, float] | None = (5.0, 10.0),
    status: Status = Status.COMPLETE,
    reason: str = "",
    options: Sequence[str] = (),
    amount: int | None = None,
    cell: tuple[tuple[str, str], ...] = (),
    title: str = "",
) -> Given:
    """A fio test of one job. Without `read` and `write` it has no result."""
    argv = (
        *("/usr/bin/fio", "--output-format=json+", "--status-interval=250ms", f"--name={name}"),
        *("--filename=/mnt/data/.diskprof-1/test.dat", "--thread=1", f"--rw={rw}", f"--bs={block}"),
        *(f"--size={size}", f"--runtime={runtime_s:g}", f"--ioengine={ioengine}", f"--iodepth={depth}"),
        *(f"--direct={int(direct)}", f"--numjobs={numjobs}"),
        *options,
    )
    planned = PlannedTest(
        *(name, title, EngineName.FIO, argv),
        jobs=fio_jobs(argv),
        ramp_s=0.0,
        runtime_s=runtime_s,
        amount_bytes=amount,
        bytes_written=0,
        writes_exact=True,
        interval_ms=250,
        cell=cell,
    )
    result = TestResult(read, write, Cpu(*cpu) if cpu else None) if read or write else None
    return Given(planned, result, status, reason)


def cell(
    iops: float | None,
    values: dict[str, str],
    *,
    base: str = "randread",
    status: Status = Status.COMPLETE,
    cpu: tuple[float, float] = (5.0, 10.0),
    **both: DirectionResult,
) -> Given:
    """A cell of a sweep over bs, iodepth, numjobs or anything else; without IOPS it has no result."""
    block, depth = parse_size(values.get("bs", "4k")), int(values.get("iodepth", "1"))
    read = direction(iops, block=block) if iops is not None else None
    return fio(
        "-".join([base, *values.values()]),
        block=block,
        depth=depth,
        numjobs=int(values.get("numjobs", "1")),
        options=("--group_reporting=1",),
        cpu=cpu,
        status=status,
        reason="I/O error" if status is Status.FAILED else "",
        cell=tuple(values.items()),
        **(both or {"read": read}),  # type: ignore[arg-type]
    )


def ioping(name: str = "latency", *options: str, read: DirectionResult | None = None) -> Given:
    """An ioping test with these options on the command line."""
    argv = ("/usr/bin/ioping", "-J", *options, "/mnt/data")
    planned = PlannedTest(
        *(name, "", EngineName.IOPING, argv),
        jobs=(the_ioping_job(argv),),
        ramp_s=0.0,
        runtime_s=10.0,
        amount_bytes=None,
        bytes_written=0,
        writes_exact=True,
        interval_ms=250,
    )
    return Given(planned, TestResult(read) if read else None)


def watched(read: DirectionResult | None = None, write: DirectionResult | None = None) -> Given:
    """The one test of a run that watched what others did."""
    (planned,) = watch_plan(DISK, "sda").tests
    return Given(planned, TestResult(read, write))


def run(
    *tests: Given,
    run_id: str = "k3f7p2qa",
    environment: Environment = ENVIRONMENT,
    target: Target = TARGET,
    status: Status = Status.COMPLETE,
    parameters: tuple[tuple[str, str], ...] = (("size", "1g"), ("runtime", "30s")),
    file_bytes: int | None = GIB,
    **more: object,
) -> Run:
    """A run of these tests."""
    plan = Plan(
        preset="own",
        preset_title="Own tests",
        category=Category.OWN,
        target=target,
        parameters=parameters,
        tests=tuple(given.planned for given in tests),
        directory="/mnt/data/.diskprof-1" if file_bytes else "",
        files=(TestFile("/mnt/data/.diskprof-1", "/mnt/data/.diskprof-1/test.dat", file_bytes),) if file_bytes else (),
        layout=None,
        hazards=(),
        space_needed=file_bytes or 0,
        assumed_bandwidth=1e9,
    )
    records = tuple(
        TestRecord(index, given.planned, given.status, given.reason, 0, 1, given.result)
        for index, given in enumerate(tests)
    )
    values = {"reason": "", "started_at": START, "ended_at": START.replace(minute=5)} | more
    return Run(id=run_id, status=status, plan=plan, environment=environment, tests=records, **values)  # type: ignore[arg-type]


def environment(**changes: object) -> Environment:
    return replace(ENVIRONMENT, **changes)  # type: ignore[arg-type]


def on_disk(**changes: object) -> Environment:
    """The environment with a disk that differs in this."""
    disk = replace(DISK, **changes)  # type: ignore[arg-type]
    return environment(device=disk, disks=(disk,))


def samples(
    iops: Sequence[float],
    *,
    test: int = 0,
    way: Direction = Direction.READ,
    interval_s: float = 0.25,
    block: int = 4096,
    phase: Phase = Phase.MEASURING,
    mean_ns: float = 100_000.0,
) -> tuple[Sample, ...]:
    """An interval for each of these IOPS, one after the other."""
    found, at = [], 0
    for value in iops:
        at += round(interval_s * 1e9)
        ios = round(value * interval_s)
        found.append(
            Sample(
                *(test, phase, way, at, round(interval_s * 1e9), ios, ios * block),
                mean_ns=mean_ns if ios else None,
                min_ns=int(mean_ns / 2) if ios else None,
                max_ns=int(mean_ns * 3) if ios else None,
                histogram=Histogram.of_latencies([int(mean_ns)] * min(ios, 50)) if ios else None,
            )
        )
    return tuple(found)


def stalled(
    before: int, stall_s: float, after: int, *, iops: float = 1000.0, way: Direction = Direction.READ, ios: int = 1
) -> tuple[Sample, ...]:
    """Intervals of 250 ms with a disk that stands still between them: one sample, in which `ios` completed at last."""
    first, second = samples([iops] * before, way=way), samples([iops] * after, way=way)
    still = round(stall_s * 1e9)
    end = before * 250_000_000 + still
    slow = replace(first[0], at_ns=end, duration_ns=still, ios=ios, bytes=ios * 4096, mean_ns=5e9, max_ns=still)
    return (*first, slow, *(replace(sample, at_ns=end + sample.at_ns) for sample in second))


def system(
    count: int = 40,
    *,
    test: int = 0,
    interval_s: float = 0.25,
    read_rate: float | None = None,
    write_rate: float | None = None,
    user: float | None = None,
    kernel: float | None = None,
    steal: float | None = None,
    phase: Phase = Phase.MEASURING,
) -> tuple[SystemSample, ...]:
    """What the kernel saw, the same in every interval; rates in bytes per second."""
    return tuple(
        SystemSample(
            *(test, phase, round((index + 1) * interval_s * 1e9), round(interval_s * 1e9)),
            read_bytes=None if read_rate is None else round(read_rate * interval_s),
            write_bytes=None if write_rate is None else round(write_rate * interval_s),
            cpu_user=user,
            cpu_system=kernel,
            cpu_steal=steal,
        )
        for index in range(count)
    )
