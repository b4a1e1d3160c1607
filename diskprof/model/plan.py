"""A plan: a preset applied to a target. What is shown, confirmed, refused and run is this one value."""

from enum import StrEnum

from msgspec import Struct

from diskprof.model.advice import Advice
from diskprof.model.device import Wear
from diskprof.model.expectation import Expectation
from diskprof.model.job import EngineJob
from diskprof.model.limit import LimitRule, Trial
from diskprof.model.load import Load
from diskprof.model.metric import Quantity
from diskprof.model.preset import WATCHING, Category, EngineName, Layout
from diskprof.model.read_write_map import MapRule
from diskprof.model.sample import LatencyKind
from diskprof.model.steady import RoundsRule, SteadyRule
from diskprof.model.target import Target
from diskprof.model.title import job_title

START_UP_S = 0.3
"""What starting and ending an engine costs beside the time it measures, on an idle machine."""
_BUSY_START_UP_S = 0.75
"""The same beside other work: 0.55 s at a load of 5 on two CPUs, 0.73 s at one of 8."""


class Severity(StrEnum):
    """BLOCKS: the run is refused. WARNS: the person should know. NOTES: good to know."""

    BLOCKS = "blocks"
    WARNS = "warns"
    NOTES = "notes"


class Hazard(Struct, frozen=True):
    """A reason to think twice: what would be lost or disturbed, and what to do instead.

    `signature` is what a person may type out to give up what lies on a device (libblkid's name); empty: nothing helps.
    """

    name: str
    severity: Severity
    message: str
    advice: str | Advice = ""
    signature: str = ""


class TestFile(Struct, frozen=True):
    """A file that is made for the run: `path` in the private directory `directory` (0700), both removed at the end.

    One that is FRESH or SPARSE is there for one test only.
    """

    directory: str
    path: str
    size_bytes: int
    layout: Layout = Layout.FILLED


class FioFault(Struct, frozen=True):
    """A known fault of the fio at hand that a test meets: `a asks` and the `effect` are a sentence.

    `keeps` is the part of the rate asked for, 0 to 1, that fio does on a disk that keeps up; None where it is not of a rate.
    """

    effect: str
    advice: str
    keeps: float | None = None


class PlannedTest(Struct, frozen=True):
    """One process to start: `argv`, made of `jobs`, is what is shown and run.

    `runtime_s` is the longest it measures; `bytes_written` is an estimate unless `writes_exact`.

    `amount_bytes` is set where an amount of data ends the test, possibly before its runtime; `amount_s` is what it then measures,
    where the device does what it is taken to do, or no more than is promised of it. `cell` is its place in a sweep.
    `delay_s` is how much longer it takes because a job begins later. `latency` is what this fio can tell of,
    `faults` what of it the test meets. `files` are those that are made for this test alone and removed after it.
    With `steady` the test ends as soon as it is steady; `runtime_s` is then the longest that it may take. `trial` is its load
    where it is a trial of a search for a limit.
    """

    name: str
    title: str
    engine: EngineName
    argv: tuple[str, ...]
    jobs: tuple[EngineJob, ...]
    ramp_s: float
    runtime_s: float
    amount_bytes: int | None
    bytes_written: int
    writes_exact: bool
    interval_ms: int
    cell: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    latency: LatencyKind = LatencyKind.LAT
    files: tuple[TestFile, ...] = ()
    amount_s: float | None = None
    faults: tuple[FioFault, ...] = ()
    steady: SteadyRule | None = None
    trial: Trial | None = None

    @property
    def layout(self) -> Layout:
        """What its writes find in a file that is made for the run."""
        return self.files[0].layout if self.files else Layout.FILLED

    @property
    def command(self) -> tuple[str, ...]:
        """What is shown of how it was started: `argv`, or the options of its jobs where a result file tells no more."""
        return self.argv or tuple(
            word
            for job in self.jobs
            for word in (f"name={job.name}", *(f"{key}={value}" for key, value in job.options))
        )

    @property
    def writes(self) -> bool:
        return self.bytes_written > 0

    @property
    def one_of_many(self) -> bool:
        """Whether it is a cell of a sweep or a trial of a search, whose result is all of them together."""
        return bool(self.cell) or self.trial is not None

    @property
    def load(self) -> Load:
        """What its jobs ask for together."""
        return Load(self.jobs)

    @property
    def seconds(self) -> float:
        return self.delay_s + self.ramp_s + self.runtime_s

    @property
    def likely_seconds(self) -> float:
        """The time it will take if its amount of data takes as long as it is taken to, or it is steady from the beginning."""
        measuring = self.steady.least_s if self.steady else self.runtime_s if self.amount_s is None else self.amount_s
        return self.delay_s + self.ramp_s + measuring

    @property
    def limited(self) -> bool:
        """Whether it cannot take longer than `seconds`: no amount of data alone ends it."""
        return not self.amount_bytes or all(job.runtime_s is not None for job in self.load.fio)


class OtherTarget(Struct, frozen=True):
    """A further target of a preset that has several, under the name of its slot; `directory` and `files` as of the plan."""

    slot: str
    target: Target
    directory: str = ""
    files: tuple[TestFile, ...] = ()


class WritePermission(Struct, frozen=True):
    """What the person allows to be done to a raw device: writing to it at all, and overwriting the signatures that they named."""

    allowed: bool = False
    signatures: tuple[str, ...] = ()


class RawDevice(Struct, frozen=True):
    """A device that is itself written to, as it was when the plan was made: that very device is written to, or none.

    `bytes_written` is what the run may write to it, an estimate as that of its tests. `overwrites` are the signatures on it
    that the person gave up (libblkid's names). `confirmed` is what they typed to name the device; empty until they did.
    """

    name: str
    node: str
    major: int
    minor: int
    size_bytes: int
    bytes_written: int
    diskseq: int | None = None
    serial: str = ""
    model: str = ""
    dm_name: str = ""
    overwrites: tuple[str, ...] = ()
    confirmed: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What a person may type to name the device. A serial number that could be a word or another's name is none."""
        telling = len(self.serial) >= 4 and any(char.isdigit() for char in self.serial)
        serial = self.serial if telling else ""
        mapped = (self.dm_name, f"/dev/{self.name}") if self.dm_name else ()
        return tuple(dict.fromkeys(filter(None, (self.name, self.node, serial, *mapped))))

    @property
    def label(self) -> str:
        """As `Device.label`."""
        return self.dm_name or self.name


class Plan(Struct, frozen=True):
    """`directory` is made for test files on the target, empty where there are none. `layout` fills `files`, which the tests share,
    before the first test and is None where there are none. `precondition` are the steps after it that bring the disk into a
    known state. With `rounds` all tests are repeated until one of them is steady; time and bytes of a test are those of one round.
    With `limit` the first test is the first trial of a search, which adds tests as it goes; time and bytes are its most. With
    `read_write_map` the first two are the first cells of a map (all writes, all reads), which adds others as it goes.
    `disk_class` is the class that the person chose for the disk, empty where it is found out.

    `target` is the first target, called `slot` where the preset names its targets; `others` are the rest. `sweep` holds the
    axes of a sweep: option and values. `raw_devices` are those written to themselves: a test's argv names their nodes, and
    what is executed has `/proc/self/fd/N` in that place, a descriptor that the runner holds exclusively (F25). `wear` is
    that of the disks below what is written to, as they told it when the plan was made; empty where none does.
    """

    preset: str
    preset_title: str
    category: Category
    target: Target
    parameters: tuple[tuple[str, str], ...]
    tests: tuple[PlannedTest, ...]
    directory: str
    files: tuple[TestFile, ...]
    layout: PlannedTest | None
    hazards: tuple[Hazard, ...]
    space_needed: int
    assumed_bandwidth: float
    expectations: tuple[Expectation, ...] = ()
    slot: str = ""
    others: tuple[OtherTarget, ...] = ()
    sweep: tuple[tuple[str, tuple[str, ...]], ...] = ()
    raw_devices: tuple[RawDevice, ...] = ()
    wear: tuple[Wear, ...] = ()
    precondition: tuple[PlannedTest, ...] = ()
    rounds: RoundsRule | None = None
    disk_class: str = ""
    limit: LimitRule | None = None
    read_write_map: MapRule | None = None

    @property
    def watched(self) -> bool:
        """Whether it measures nothing of its own, but watches what others do."""
        return bool(self.tests) and all(test.engine in WATCHING for test in self.tests)

    @property
    def search(self) -> LimitRule | MapRule | None:
        """What adds tests as it goes, each by what those before it came to."""
        return self.limit or self.read_write_map

    @property
    def asked(self) -> tuple[PlannedTest, ...]:
        """The tests that were planned; what a search added is what it found."""
        return self.tests[:1] if self.limit else self.tests[:2] if self.read_write_map else self.tests

    @property
    def about_latency(self) -> bool:
        """Whether it is a latency that this is for: of a preset of that category, or of rounds that wait for one."""
        waits = self.rounds is not None and self.rounds.metric.quantity is Quantity.LATENCY
        return waits or self.category is Category.LATENCY

    @property
    def least_rounds(self) -> int:
        """How often each test is carried out at least, where none fails."""
        return self.rounds.windows if self.rounds else 1

    @property
    def most_rounds(self) -> int:
        return self.rounds.at_most if self.rounds else 1

    @property
    def preparation(self) -> tuple[PlannedTest, ...]:
        """What is carried out before the first test."""
        return (*((self.layout,) if self.layout else ()), *self.precondition)

    @property
    def targets(self) -> tuple[Target, ...]:
        return (self.target, *(other.target for other in self.others))

    @property
    def test_files(self) -> tuple[TestFile, ...]:
        """Every file that is made for the run, those of single tests behind the others."""
        own = (file for test in (*self.precondition, *self.tests) for file in test.files)
        return tuple(dict.fromkeys((*self.filled, *own)))

    @property
    def filled(self) -> tuple[TestFile, ...]:
        """The files that are filled before the first test, of all targets."""
        return (*self.files, *(file for other in self.others for file in other.files))

    @property
    def directories(self) -> tuple[str, ...]:
        """The private directories, one on each target that needs one."""
        return tuple(filter(None, (self.directory, *(other.directory for other in self.others))))

    def title(self, name: str) -> str:
        """The title of the test called so, or of the job `test.job`; the name itself where there is none."""
        for test in self.tests:
            if test.name == name:
                return test.title or name
            for job in test.jobs:
                if f"{test.name}.{job.name}" == name:
                    return job_title(job.name, job)
        return name

    def space_in(self, directory: str) -> int:
        """The most bytes that test files take in a private directory at once."""
        own = [sum(file.size_bytes for file in test.files if file.directory == directory) for test in self.tests]
        return sum(file.size_bytes for file in self.filled if file.directory == directory) + max(own, default=0)

    @property
    def seconds(self) -> float:
        """The time it will take at the longest, the layout at the assumed bandwidth."""
        tests = (
            self.search.longest_s
            if self.search
            else self.most_rounds * (self.round_s(longest=True) + self._starts_s(_BUSY_START_UP_S))
        )
        return sum(step.seconds for step in self.preparation) + tests

    @property
    def likely_seconds(self) -> float:
        """The time it will take if amounts of data take as long as they are taken to, and rounds are steady from the first on."""
        tests = (
            self.search.likely_s if self.search else self.least_rounds * (self.round_s() + self._starts_s(START_UP_S))
        )
        return sum(step.likely_seconds for step in self.preparation) + tests

    def _starts_s(self, each_s: float) -> float:
        """What a round takes beside its tests: many short ones add up."""
        return len(self.tests) * each_s if self.rounds else 0.0

    def round_s(self, *, longest: bool = False) -> float:
        """The time that each test once takes likely, or at the longest."""
        return sum(test.seconds if longest else test.likely_seconds for test in self.tests)

    @property
    def limited(self) -> bool:
        """Whether each of its tests is ended by a time at the latest."""
        return all(test.limited for test in self.tests)

    @property
    def bytes_written(self) -> int:
        """With all rounds, or trials, that there may be."""
        if self.search:
            return (
                sum(step.bytes_written for step in self.preparation)
                + self.search.most_short * self.tests[0].bytes_written
            )
        once = sum(step.bytes_written for step in self.preparation)
        return once + self.most_rounds * sum(test.bytes_written for test in self.tests)

    @property
    def writes_exact(self) -> bool:
        return all(test.writes_exact for test in (*self.precondition, *self.tests))

    @property
    def blocked(self) -> tuple[Hazard, ...]:
        return tuple(hazard for hazard in self.hazards if hazard.severity is Severity.BLOCKS)

    @property
    def to_give_up(self) -> tuple[str, ...]:
        """The signatures to be typed out before the plan may start; none where something blocks that nothing helps against."""
        if not all(hazard.signature for hazard in self.blocked):
            return ()
        return tuple(dict.fromkeys(hazard.signature for hazard in self.blocked))

    @property
    def engines(self) -> tuple[EngineName, ...]:
        names = {step.engine for step in (*self.preparation, *self.tests)}
        return tuple(sorted(names))
