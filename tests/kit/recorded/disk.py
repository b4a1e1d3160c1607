"""Two disks that do not exist, how fast they are, and plans of tests on them."""

import math
from collections.abc import Mapping
from random import Random
from typing import Any

from commands import fio_jobs, jobs_of
from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.device import Device, DeviceKind, Mount, Transport
from diskprof.model.histogram import Histogram, bucket_of, bucket_value
from diskprof.model.plan import Hazard, Plan, PlannedTest, Severity, TestFile
from diskprof.model.preset import Category, EngineName
from diskprof.model.run import Environment
from diskprof.model.sample import Direction
from diskprof.model.target import Target, TargetKind
from diskprof.model.title import title_of

GIB = 1 << 30


class Speed(Struct, frozen=True):
    """What a disk does in one direction of one kind of test: I/Os a second, median latency, how wide, how long the tail."""

    iops: float
    median_us: float
    spread: float = 0.18
    tail: float = 0.01


class Limits(Struct, frozen=True):
    """What a volume in the network lets through at most, and how long it takes for one small I/O alone."""

    iops: float
    bytes_per_s: float
    alone_us: float

    def speed(self, block_size: int, depth: int) -> Speed:
        """Little's law up to the limits; beyond them I/Os wait."""
        alone = self.alone_us + block_size / self.bytes_per_s * 1e6
        iops = min(depth / alone * 1e6, self.iops, self.bytes_per_s / block_size)
        return Speed(iops, depth / iops * 1e6, 0.1, 0.004)


class RecordedMachine(Struct, frozen=True):
    """A host with one disk, and its speed by kind of test; of a disk with limits, they make its speed."""

    environment: Environment
    speeds: Mapping[str, Speed]
    layout_bytes_per_s: float
    limits: Limits | None = None

    @property
    def disk(self) -> Device:
        return self.environment.disks[0]


def make_machine(
    hostname: str, disk: Device, partition: Device, speeds: Mapping[str, Speed], layout: float, **more: str
) -> RecordedMachine:
    environment = Environment(
        hostname=hostname,
        os=more.get("os", "Debian GNU/Linux 12 (bookworm)"),
        kernel=more.get("kernel", "6.1.0-18-amd64"),
        cpu_model=more.get("cpu", "AMD EPYC 7543P 32-Core Processor"),
        cpus=int(more.get("cpus", "16")),
        memory_bytes=int(more.get("memory_gib", "64")) * GIB,
        virtualisation=more.get("virtualisation", ""),
        diskprof_version="0.1.0",
        fio_version="3.33",
        ioping_version="1.3",
        device=partition,
        disks=(disk,),
        mount=partition.mounts[0],
    )
    return RecordedMachine(environment, speeds, layout)


def make_disk(name: str, part: str, size: int, mount: Mount, **more: Any) -> tuple[Device, Device]:
    disk = Device(name, f"/dev/{name}", DeviceKind.DISK, 259, 0, size, children=(part,), diskseq=9, **more)
    partition = replace(
        disk,
        name=part,
        node=f"/dev/{part}",
        kind=DeviceKind.PARTITION,
        minor=1,
        model="",
        serial="",
        size_bytes=size - 2 * (1 << 20),
        start_bytes=1 << 20,
        fs_type=mount.fs_type,
        fs_label="data",
        fs_uuid="5b2f0c1e-7d0a-4c3e-9d5f-0a1b2c3d4e5f",
        mounts=(mount,),
        parents=(name,),
        children=(),
        diskseq=None,
        by_id=(),
    )
    return disk, partition


_OPTIONS = ("rw", "noatime", "errors=remount-ro")
FAST = make_machine(
    "db-01",
    *make_disk(
        *("nvme0n1", "nvme0n1p1", 1_000_204_886_016),
        Mount("/mnt/data", "ext4", _OPTIONS, 983_350_071_296, 612_032_839_680),
        model="Samsung SSD 980 PRO 1TB",
        pcie=4,
        serial="S5GXNF0R912345K",
        by_id=("nvme-Samsung_SSD_980_PRO_1TB_S5GXNF0R912345K",),
        transport=Transport.NVME,
        rotational=False,
        scheduler="none",
    ),
    {
        "randread-qd1": Speed(17_900, 54),
        "randread-qd32": Speed(284_000, 108, 0.22),
        "randwrite-qd1": Speed(61_500, 15.2, 0.14, 0.004),
        "randwrite-qd32": Speed(241_000, 122, 0.31, 0.02),
        "seqread": Speed(6_350, 1_240, 0.08, 0.004),
        "seqwrite": Speed(4_630, 1_690, 0.12, 0.01),
        "ioping": Speed(1, 142, 0.2, 0.05),
        "rapid": Speed(9_400, 104),
    },
    3.1e9,
)
SLOW = make_machine(
    "backup-7",
    *make_disk(
        *("sda", "sda1", 500_107_862_016),
        Mount("/mnt/data", "ext4", _OPTIONS, 491_135_000_576, 88_214_102_016),
        model="CT500MX500SSD1",
        serial="2113E5A1B2C3",
        by_id=("ata-CT500MX500SSD1_2113E5A1B2C3",),
        transport=Transport.SATA,
        rotational=False,
        scheduler="mq-deadline",
        physical_block_size=4096,
    ),
    {
        "randread-qd1": Speed(8_150, 118),
        "randread-qd32": Speed(92_400, 338, 0.25),
        "randwrite-qd1": Speed(24_300, 38, 0.2, 0.01),
        "randwrite-qd32": Speed(78_900, 396, 0.35, 0.04),
        "seqread": Speed(531, 14_900, 0.06, 0.004),
        "seqwrite": Speed(468, 16_900, 0.12, 0.02),
        "ioping": Speed(1, 391, 0.25, 0.05),
        "rapid": Speed(4_650, 212),
    },
    0.46e9,
    kernel="5.15.0-97-generic",
    os="Ubuntu 22.04.4 LTS",
    cpu="Intel(R) Xeon(R) E-2224 CPU @ 3.40GHz",
    cpus="4",
    memory_gib="16",
)

QUICK_TESTS = (
    *("randread-4k-qd1", "randread-4k-qd32", "randwrite-4k-qd1", "randwrite-4k-qd32"),
    *("seqread-1m-qd8", "seqwrite-1m-qd8"),
)
_PRESETS: dict[str, tuple[str, Category, tuple[str, ...]]] = {
    "quick": ("Quick check", Category.QUICK, QUICK_TESTS),
    "mixed-70-30": ("Mixed 70/30", Category.MIXED, ("mixed-4k-qd32",)),
    "ioping-latency": ("Latency with ioping", Category.LATENCY, ("latency",)),
    "ioping-seek": ("Seek rate with ioping", Category.IOPS, ("seek",)),
}


class Kind(Struct, frozen=True):
    """What a test's name says of it."""

    rw: str
    block_size: int
    iodepth: int
    parts: tuple[tuple[Direction, str, float], ...]
    """(direction, key of the machine's speeds, share of that speed)"""

    @staticmethod
    def of(name: str) -> "Kind":
        if name == "latency":
            return Kind("randread", 4096, 1, ((Direction.READ, "ioping", 1.0),))
        if name == "seek":
            return Kind("randread", 4096, 1, ((Direction.READ, "rapid", 1.0),))
        word, size, depth = name.split("-")
        qd = int(depth[2:])
        if word == "mixed":
            both = ((Direction.READ, "randread-qd32", 0.58), (Direction.WRITE, "randwrite-qd32", 0.293))
            return Kind("randrw", 4096, qd, both)
        direction = Direction.WRITE if word.endswith("write") else Direction.READ
        key = word if word.startswith("seq") else f"{word}-{depth}"
        rw = word if word.startswith("rand") else direction.value
        return Kind(rw, 1 << 20 if size == "1m" else 4096, qd, ((direction, key, 1.0),))


def speeds_of(planned: PlannedTest, machine: RecordedMachine) -> tuple[int, tuple[tuple[Direction, Speed], ...]]:
    """The block size of a test, and how fast the machine is in each direction of it."""
    if machine.limits is None:
        kind = Kind.of(planned.name)
        return kind.block_size, tuple(
            (direction, replace(machine.speeds[key], iops=machine.speeds[key].iops * share))
            for direction, key, share in kind.parts
        )
    parts = []
    for job in planned.jobs:
        speed = machine.speeds.get(job.name) or machine.limits.speed(job.block_size, job.iodepth * job.numjobs)
        parts.append((Direction.WRITE if job.rw.endswith("write") else Direction.READ, speed))
    return planned.jobs[0].block_size, tuple(parts)


def make_plan(preset: str = "quick", *, machine: RecordedMachine = FAST, runtime_s: float = 5.0) -> Plan:
    """A plan of one of the presets `quick`, `mixed-70-30`, `ioping-latency`, `ioping-seek` on /mnt/data."""
    title, category, names = _PRESETS[preset]
    mount, directory = machine.environment.mount, "/mnt/data/.diskprof-7f3k9q2m"
    assert mount is not None and machine.environment.device is not None
    ioping = preset.startswith("ioping")
    file = TestFile(directory, f"{directory}/test.file", GIB if not ioping else 256 << 20)
    target = Target(
        *(TargetKind.DIRECTORY, "/mnt/data", "/mnt/data", machine.environment.device.name, mount.path, mount.fs_type),
        free_bytes=mount.free_bytes,
        fs_size_bytes=mount.size_bytes,
    )
    tests = tuple(_planned(name, machine, file, runtime_s) for name in names)
    return Plan(
        preset=preset,
        preset_title=title,
        category=category,
        target=target,
        parameters=(("size", "1g" if not ioping else "256m"), ("runtime", f"{runtime_s:g}s")),
        tests=tests,
        directory=file.directory,
        files=(file,),
        layout=make_layout(file, machine),
        hazards=(
            Hazard("writes", Severity.NOTES, "Writes a test file to /mnt/data.", "It is removed when the run ends."),
        ),
        space_needed=file.size_bytes,
        assumed_bandwidth=machine.layout_bytes_per_s,
    )


def _planned(name: str, machine: RecordedMachine, file: TestFile, runtime_s: float) -> PlannedTest:
    kind, ioping = Kind.of(name), name in ("latency", "seek")
    written = sum(
        machine.speeds[key].iops * share * kind.block_size * runtime_s
        for direction, key, share in kind.parts
        if direction is Direction.WRITE
    )
    if ioping:
        options = ("-R",) if name == "seek" else ("-i", "1s")
        argv = ("/usr/bin/ioping", "-J", "-D", *options, "-w", f"{runtime_s:g}", file.path)
    else:
        argv = (
            *("/usr/bin/fio", "--output-format=json+", "--status-interval=250ms", f"--name={name}", "--thread=1"),
            *(f"--filename={file.path}", f"--size={file.size_bytes}", f"--rw={kind.rw}", f"--bs={kind.block_size}"),
            *(f"--iodepth={kind.iodepth}", "--ioengine=libaio", "--direct=1", "--time_based=1"),
            f"--runtime={runtime_s:g}s",
        )
    engine = EngineName.IOPING if ioping else EngineName.FIO
    jobs = jobs_of(engine, argv)
    return PlannedTest(
        name=name,
        title=title_of(jobs),
        engine=engine,
        argv=argv,
        jobs=jobs,
        ramp_s=0.0 if ioping else 0.5,
        runtime_s=runtime_s,
        amount_bytes=None,
        bytes_written=int(written),
        writes_exact=False,
        interval_ms=1000 if name == "latency" else 250,
    )


def make_layout(file: TestFile, machine: RecordedMachine) -> PlannedTest:
    argv = (
        "/usr/bin/fio",
        "--output-format=json+",
        "--name=layout",
        f"--filename={file.path}",
        "--rw=write",
        "--bs=1m",
        *(f"--size={file.size_bytes}", "--ioengine=libaio", "--direct=1", "--iodepth=8"),
    )
    return PlannedTest(
        name="layout",
        title="Create the test file",
        engine=EngineName.FIO,
        argv=argv,
        jobs=fio_jobs(argv),
        ramp_s=0.0,
        runtime_s=file.size_bytes / machine.layout_bytes_per_s,
        amount_bytes=file.size_bytes,
        bytes_written=file.size_bytes,
        writes_exact=True,
        interval_ms=250,
    )


_VALUES = tuple(map(bucket_value, range(bucket_of(1 << 62) + 1)))


def make_histogram(random: Random, count: int, speed: Speed) -> Histogram:
    """About `count` latencies: a log-normal body, and a tail up to eight times the median.

    Made bucket by bucket and not one by one, which would take a second for each sample of a fast disk.
    """
    median, counts = speed.median_us * 1e3 * random.gauss(1.0, 0.02), {}
    if count < 64:
        return Histogram.of_latencies(int(median * random.lognormvariate(0, speed.spread)) for _ in range(count))
    first, last = bucket_of(int(median * 0.5)), bucket_of(int(median * 8))
    # The names are local since all this is done some hundred times for each of some ten thousand samples.
    spread, tail, log, exp, sqrt, gauss = speed.spread, speed.tail, math.log, math.exp, math.sqrt, random.gauss
    weights = []
    for value in _VALUES[first : last + 1]:
        distance = log(value / median)
        body = exp(-0.5 * (distance / spread) ** 2)
        weights.append(body + (tail * exp(-2.2 * distance) if distance > 0 else 0.0))
    total = sum(weights)
    for bucket, weight in enumerate(weights, first):
        expected = count * weight / total
        if expected > 0.02 and (number := round(expected + gauss(0, sqrt(expected)))) > 0:
            counts[bucket] = number
    return Histogram.of(counts) or Histogram.of({bucket_of(int(median)): count})
