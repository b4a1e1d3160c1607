"""A run: one execution of a plan, from what was planned to how it ended, with what was found in it."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.device import Device, Mount, device_title
from diskprof.model.drive import DriveRecord
from diskprof.model.histogram import Histogram
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.process_io import ProcessIo
from diskprof.model.requests import Requests
from diskprof.model.sample import WITHIN_NS, Direction, LatencyKind, Phase
from diskprof.model.steady import SteadyWindows
from diskprof.model.title import job_title


class Status(StrEnum):
    """Of a run and of each test in it. INTERRUPTED: its runner died without saying why; PENDING and SKIPPED: tests only.

    LOST: of a run on another host that cannot be reached, where it may go on.
    """

    PENDING = "pending"
    RUNNING = "running"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"
    LOST = "lost"

    @property
    def over(self) -> bool:
        return self not in (Status.PENDING, Status.RUNNING, Status.LOST)


class Latency(Struct, frozen=True):
    """A latency distribution's figures in ns, the engine's own to the last digit; None where it gives none.

    A whole number stays one, in the store and in JSON.
    """

    mean: int | float | None = None
    min: int | float | None = None
    max: int | float | None = None
    stddev: int | float | None = None
    p50: int | float | None = None
    p90: int | float | None = None
    p95: int | float | None = None
    p99: int | float | None = None
    p99_9: int | float | None = None

    @property
    def shown(self) -> "Latency":
        """As it is shown: no percentile above the maximum. fio gives the middle of a bucket, up to 1.6% above it."""
        most = self.max
        if most is None:
            return self
        above = {name: most for name in PERCENTILES if (value := getattr(self, name)) is not None and value > most}
        return replace(self, **above) if above else self


PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}
"""The percentiles of a Latency, by their share of the I/Os."""


class RoundFigures(Struct, frozen=True):
    """One direction of a test in one round of a run: rates per second, and what an I/O took in ns, None where that is not known."""

    iops: float = 0.0
    bandwidth_bytes_per_s: float = 0.0
    mean: float | None = None
    p99: float | None = None
    max: float | None = None


class DirectionResult(Struct, frozen=True):
    """One direction of a finished test. `latency` is what an I/O took, as `latency_kind` says; `histogram` the same, whole.

    `clat` and `slat` are its parts, completion and submission, None where the engine does not tell them apart. `lat` is the whole
    time where `latency` is clat and fio has figures of both; None otherwise. `within`, the share of I/Os within WITHIN_NS, is
    told where it was stored beside the histogram, which then need not be read; results that differ in it alone are equal.
    `rounds` has each round of a run of rounds, from the first on.
    """

    ios: int
    bytes: int
    iops: float
    bandwidth_bytes_per_s: float
    runtime_ms: float
    latency: Latency
    histogram: Histogram | None = None
    latency_kind: LatencyKind = LatencyKind.LAT
    clat: Latency | None = None
    slat: Latency | None = None
    lat: Latency | None = None
    within: float | None = None
    rounds: tuple[RoundFigures, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DirectionResult) and _measured(self) == _measured(other)

    def __hash__(self) -> int:
        return hash(_measured(self))

    def share_within(self, ns: int) -> float | None:
        """The share of I/Os that completed within `ns`; None without a distribution."""
        if ns == WITHIN_NS and self.within is not None:
            return self.within
        return self.histogram.share_below(ns) if self.histogram else None


_measured = attrgetter(*(name for name in DirectionResult.__struct_fields__ if name != "within"))


class Cpu(Struct, frozen=True):
    """CPU use of the engine's jobs in percent of one CPU, as fio prints usr and sys, added up over `reports` of its reports.

    `reports` is 0 where that is not known.
    """

    user_percent: float
    system_percent: float
    reports: int = 0

    @property
    def percent(self) -> float:
        return self.user_percent + self.system_percent


class Result(Struct, frozen=True):
    """What an engine says of a test, a job or a copy of one. `sync` is fsync latency where it syncs (F8)."""

    read: DirectionResult | None = None
    write: DirectionResult | None = None
    cpu: Cpu | None = None
    sync: Latency | None = None

    def direction(self, direction: Direction) -> DirectionResult | None:
        return self.read if direction is Direction.READ else self.write

    @property
    def directions(self) -> tuple[tuple[Direction, DirectionResult], ...]:
        both = ((Direction.READ, self.read), (Direction.WRITE, self.write))
        return tuple((direction, result) for direction, result in both if result)


class JobResult(Result, frozen=True):
    """A job by its name. `copies` is each copy that fio reports apart, in its order, without a histogram; empty of one alone."""

    name: str = ""
    copies: tuple[Result, ...] = ()


class TestResult(Result, frozen=True):
    """A whole test. `jobs` is what fio reports apart, added up in the test's own figures; empty where that is one thing.

    Where jobs that do different things share a direction, the test has their sum and no latency: one of 4k and 128k reads
    together is that of neither.

    `steady` is how a test that went on until it was steady, or a run of rounds, became so: the figures are those of the last
    windows or rounds alone.

    `requests` is what others asked of a disk whose requests were traced.
    """

    jobs: tuple[JobResult, ...] = ()
    steady: SteadyWindows | None = None
    requests: Requests | None = None


class IoLimit(Struct, frozen=True):
    """What a cgroup allows this process on a device (kernel name) in one direction: `iops` I/Os or bytes per second."""

    device: str
    direction: Direction
    iops: bool
    per_second: int
    dm_name: str = ""

    @property
    def device_title(self) -> str:
        """As `Device.title`."""
        return device_title(self.device, self.dm_name)


class FurtherTarget(Struct, frozen=True):
    """What another target of the run lies on, under the name of its slot; the fields mean what they mean in Environment."""

    slot: str
    device: Device | None = None
    disks: tuple[Device, ...] = ()
    layers: tuple[Device, ...] = ()
    mount: Mount | None = None

    @property
    def above(self) -> tuple[Device, ...]:
        """The device itself and what lies between it and its disks."""
        return (*((self.device,) if self.device else ()), *self.layers)


class Environment(Struct, frozen=True):
    """The machine and the disk at the start of the run. Empty or None: not known.

    `disks` are the whole devices below `device`, `layers` what lies between. `store_disks` are the disks (kernel names) that the
    store of runs is on. `temperature_limit_c` is the temperature from which a disk under test slows down by its own account.
    `behind` are the devices (kernel names) that hold the files which loop devices among the disks are.
    `others` says of the further targets what `device`, `disks`, `layers` and `mount` say of the first. `cloud` is whose virtual
    machine it is. `hidden_processes` is how many processes there were whose I/O this user could not see.
    """

    hostname: str = ""
    os: str = ""
    kernel: str = ""
    cpu_model: str = ""
    cpus: int = 0
    memory_bytes: int = 0
    virtualisation: str = ""
    diskprof_version: str = ""
    fio_version: str = ""
    ioping_version: str = ""
    device: Device | None = None
    disks: tuple[Device, ...] = ()
    mount: Mount | None = None
    cgroup_limits: tuple[str, ...] = ()
    layers: tuple[Device, ...] = ()
    store_disks: tuple[str, ...] = ()
    io_limits: tuple[IoLimit, ...] = ()
    cpu_limit: float | None = None
    temperature_limit_c: float | None = None
    others: tuple[FurtherTarget, ...] = ()
    behind: tuple[str, ...] = ()
    cloud: str = ""
    hidden_processes: int = 0

    @property
    def stack(self) -> tuple[Device, ...]:
        """Every device that the I/O of the run passes through, from above, each once."""
        own = (*((self.device,) if self.device else ()), *self.layers, *self.disks)
        more = (device for other in self.others for device in (*other.above, *other.disks))
        return tuple({device.name: device for device in (*own, *more)}.values())

    @property
    def all_disks(self) -> tuple[Device, ...]:
        """The whole devices below every target, each once; where nothing is below one, its own device."""
        places = ((self.device, self.disks), *((other.device, other.disks) for other in self.others))
        found = [disk for device, disks in places for disk in (disks or ((device,) if device else ()))]
        return tuple({disk.name: disk for disk in found}.values())


class Message(Struct, frozen=True):
    """A line for the person: an engine's note, a warning of the runner. `at_ns` since the run began."""

    at_ns: int
    text: str
    test: int | None = None
    warning: bool = False


class Progress(Struct, frozen=True):
    """Where a run stands. `fraction` of the phase under way, `overall` of the run (both 0 to 1); `at_ns` since the run began."""

    test: int
    phase: Phase
    fraction: float
    overall: float
    remaining_s: float | None
    at_ns: int
    silent_s: float = 0.0


class Weight(StrEnum):
    """DOUBT: do not rely on this result. LIMIT: what held the result back. NOTE: good to know when reading it."""

    DOUBT = "doubt"
    LIMIT = "limit"
    NOTE = "note"


class ProcessShare(Struct, frozen=True):
    """A process that a finding is about, and its share of what was found, 0 to 1; None where that is not known."""

    pid: int
    name: str
    share: float | None = None


class Finding(Struct, frozen=True):
    """`name` is the rule, `message` what was noticed, `evidence` the figures, `advice` what to do next; `test` its test's name.

    A finding is kept, exported and read anywhere, so its words are those of no surface: parameters, no options of a command line.
    `processes` are those that caused it, the largest share first.
    """

    name: str
    weight: Weight
    message: str
    evidence: str
    advice: str
    test: str = ""
    processes: tuple[ProcessShare, ...] = ()


def doubts_of(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The names of the rules that found a doubt, each once, in the order of the findings."""
    return tuple(dict.fromkeys(finding.name for finding in findings if finding.weight is Weight.DOUBT))


class TestRecord(Struct, frozen=True):
    """One test of a run. `reason` says why it did not complete. `job`: which of its jobs it is, empty of the whole test."""

    index: int
    planned: PlannedTest
    status: Status
    reason: str = ""
    started_ns: int | None = None
    ended_ns: int | None = None
    result: TestResult | None = None
    job: str = ""

    @property
    def name(self) -> str:
        """Its identifier in JSON, CSV and `--expect`."""
        return self.planned.name

    @property
    def title(self) -> str:
        """What people read in its place."""
        return self.planned.title or self.planned.name

    @property
    def engine(self) -> EngineName:
        return self.planned.engine

    @property
    def parts(self) -> tuple["TestRecord", ...]:
        """Each of its jobs as a test of its own, called `test.job`, where it has several and is no cell of a sweep or a map."""
        jobs = self.result.jobs if self.result and not self.planned.one_of_many else ()
        return tuple(self._part(job) for job in jobs) if len(jobs) > 1 else ()

    def _part(self, job: JobResult) -> "TestRecord":
        jobs = tuple(each for each in self.planned.jobs if each.name == job.name)
        planned = replace(
            self.planned,
            name=f"{self.name}.{job.name}",
            title=job_title(job.name, jobs[0]) if jobs else f"{self.title}: {job.name}",
            jobs=jobs or self.planned.jobs,
        )
        return replace(self, planned=planned, result=TestResult(job.read, job.write, job.cpu, job.sync), job=job.name)


class SeriesPlace(NamedTuple):
    """Where a run is in its series (model/run_series.py): `repeat` from 1 for each target, `arm` the index of its target."""

    series_id: str
    repeat: int
    arm: int


class FleetStage(StrEnum):
    """ALONE: while the other members wait. TOGETHER: at the same time as they."""

    ALONE = "alone"
    TOGETHER = "together"


class FleetPlace(NamedTuple):
    """Where a run is in its fleet run (model/fleet.py): `member` the index of its member, `repeat` from 1."""

    fleet_id: str
    member: int
    stage: FleetStage = FleetStage.TOGETHER
    repeat: int = 1


class RunSummary(NamedTuple):
    """A line of the list of runs, read without opening the run. `headline` is its result in a few words. Times are UTC.

    `doubts` are the names of the rules that found a doubt. `imported_from` as of `Run`.

    A list has ten thousand, and a tuple is made four times as fast as a dataclass.
    """

    id: str
    status: Status
    preset: str
    preset_title: str
    target: str
    device: str
    hostname: str
    started_at: datetime
    duration_s: float | None
    tags: tuple[str, ...] = ()
    note: str = ""
    headline: str = ""
    doubts: tuple[str, ...] = ()
    series: SeriesPlace | None = None
    imported_from: str = ""
    fleet: FleetPlace | None = None


class RunGlance(Struct, frozen=True):
    """Where a run stands, read without opening it: one of many that are watched at once. `said` is its newest message."""

    id: str
    status: Status
    reason: str
    progress: Progress | None = None
    messages: int = 0
    said: Message | None = None


class Run(Struct, frozen=True):
    """A whole run without its samples, which the store gives by test and time. Times are UTC.

    `imported_from` is the file of an engine's results that it was read from; empty for a run of diskprof's, wherever it ran.
    `processes` is what others did to the disks while each test measured, `drives` what the drives counted themselves.
    """

    id: str
    status: Status
    reason: str
    plan: Plan
    environment: Environment
    started_at: datetime
    ended_at: datetime | None
    tests: tuple[TestRecord, ...]
    tags: tuple[str, ...] = ()
    note: str = ""
    findings: tuple[Finding, ...] = ()
    messages: tuple[Message, ...] = ()
    progress: Progress | None = None
    runner_pid: int | None = None
    series: SeriesPlace | None = None
    imported_from: str = ""
    fleet: FleetPlace | None = None
    processes: tuple[ProcessIo, ...] = ()
    drives: tuple[DriveRecord, ...] = ()

    @property
    def rounds(self) -> SteadyWindows | None:
        """The rounds that are complete, as the tracked test has them; None where there is none."""
        rule = self.plan.rounds
        test = next((test for test in self.tests if test.name == rule.test), None) if rule else None
        return test.result.steady if test and test.result else None

    @property
    def rounds_done(self) -> int:
        """How many rounds are complete."""
        return len(self.rounds.values) if self.rounds else 0

    @property
    def round(self) -> int:
        """The number of the current round, from 1. One that is complete may be the last."""
        return min(self.rounds_done + 1, self.plan.most_rounds)

    @property
    def records(self) -> tuple[TestRecord, ...]:
        """Every test, each followed by its jobs where it has several results."""
        return tuple(record for test in self.tests for record in (test, *test.parts))

    def sampled(self, record: TestRecord, direction: Direction) -> bool:
        """Whether the samples of a test are those of this record of it: of jobs that share a direction they are the sum."""
        test = self.tests[record.index]
        jobs = test.result.jobs if test.result else ()
        return not record.job or sum(job.direction(direction) is not None for job in jobs) < 2

    @property
    def apart(self) -> tuple[TestRecord, ...]:
        """Every test, or in its place its jobs where it has several results."""
        return tuple(record for test in self.tests for record in test.parts or (test,))

    def title(self, name: str) -> str:
        """As `Plan.title`."""
        return self.plan.title(name)

    def test(self, name: str) -> TestRecord | None:
        """The test called so, or the job called `test.job`."""
        found = next((test for test in self.tests if test.name == name), None)
        return found or next((record for record in self.records if record.name == name), None)


class LapseKind(StrEnum):
    """SLEPT: the machine was suspended. STOOD: the runner did not get to run (stopped, or its control group frozen)."""

    SLEPT = "slept"
    STOOD = "stood still"


class Lapse(Struct, frozen=True):
    """`at_ns` is when it ended, in ns since the run began by a clock that stands while the machine sleeps."""

    kind: LapseKind
    test: int
    phase: Phase
    at_ns: int
    seconds: float
