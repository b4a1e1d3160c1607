"""A preset: named tests with parameters. Option values may name a parameter as `$size`.

With `sweep`, every test of the preset stands for as many as its axes have combinations (`cell` tells which one).
"""

from enum import StrEnum

from msgspec import Struct

from diskprof.model.expectation import PresetExpectation

Options = tuple[tuple[str, str], ...]


class EngineName(StrEnum):
    """What measures. KERNEL: no program, but the kernel's counters, while others use the disk; TRACE: also its trace of each
    request."""

    FIO = "fio"
    IOPING = "ioping"
    KERNEL = "kernel"
    TRACE = "trace"


PROGRAMS = (EngineName.FIO, EngineName.IOPING)
"""The engines that are programs: those that a preset may name, and that have to be installed."""

WATCHING = (EngineName.KERNEL, EngineName.TRACE)
"""Those that measure what others do."""


class Category(StrEnum):
    """The shelves of the preset library."""

    QUICK = "quick"
    LATENCY = "latency"
    IOPS = "iops"
    BANDWIDTH = "bandwidth"
    MIXED = "mixed"
    SUITE = "suite"
    ENDURANCE = "endurance"
    OWN = "own"

    @property
    def heading(self) -> str:
        """What stands above its presets in a list."""
        return _HEADINGS.get(self, self.value.capitalize())


_HEADINGS = {Category.IOPS: "IOPS", Category.SUITE: "Suites", Category.OWN: "Your own"}


class ParameterKind(StrEnum):
    """What a parameter's value is read as: `size` 256m, `duration` 30s, `count` 4, `text` one of its choices or free."""

    SIZE = "size"
    DURATION = "duration"
    COUNT = "count"
    TEXT = "text"


class Parameter(Struct, frozen=True):
    """`optional`: its value may be empty, and options that come out empty are left out."""

    name: str
    kind: ParameterKind
    default: str
    summary: str = ""
    choices: tuple[str, ...] = ()
    optional: bool = False


class Layout(StrEnum):
    """What a test that only writes finds in a directory: a file that was FILLED before the first test, a FRESH one that fio
    makes for this test as it does for a command of its own, or a SPARSE one of full size without data."""

    FILLED = "filled"
    FRESH = "fresh"
    SPARSE = "sparse"


class Consent(StrEnum):
    """Whether the steps that precondition a disk are carried out: YES, NO, or ASK: in a file, and on a device once it is YES."""

    ASK = "ask"
    YES = "yes"
    NO = "no"


OWN_FILES = ("*",)
"""As the `files` of a job: each copy has its own."""


class Job(Struct, frozen=True):
    """One fio section, or the one set of options of an ioping test, under the engine's own option names.

    `targets` names the slots whose files or devices it works on, of which ioping takes one. `files` are the names of the files
    that it works on in a directory: empty for the one that jobs share, or OWN_FILES.
    """

    name: str
    options: Options
    targets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Test(Struct, frozen=True):
    """One fio or ioping process. An ioping test has exactly one job. `cell`: its place in a sweep, option by option.

    `title` is what the file adds to the title that the options give (see `model.title`); empty for nothing.
    `layout` is a `Layout`, or a parameter that gives one. `steady` says when it is steady, which then ends it, in the words of a
    preset (`presets.steady_text`), or names a parameter that does; empty: its options end it.
    """

    name: str
    title: str
    engine: EngineName
    jobs: tuple[Job, ...]
    cell: Options = ()
    layout: str = Layout.FILLED
    steady: str = ""


class TargetSlot(Struct, frozen=True):
    """A target that the person has to name, where a preset works on several."""

    name: str
    summary: str = ""


class Axis(Struct, frozen=True):
    """One option of a sweep and the values that it takes, in their order."""

    option: str
    values: tuple[str, ...]


class Variant(Struct, frozen=True):
    """Parameter values under a name, such as `quick` for a shorter run."""

    name: str
    settings: Options


class Preset(Struct, frozen=True):
    """`keywords` are further words that it is found by: a vendor's, an article's. `precondition` are the steps that bring a disk
    into a known state before the first test, none of them a result. `rounds` says how often its tests are repeated, in the words
    of `presets.steady_text`; empty: each is carried out once. `limit` is what its one test is searched for, in the words of
    `presets.limit_text`; empty: for nothing. `read_write_map` is the map that its two tests draw, in the words of
    `presets.map_text`; empty: none."""

    name: str
    title: str
    summary: str
    category: Category
    source: str
    parameters: tuple[Parameter, ...]
    tests: tuple[Test, ...]
    aliases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    path: str = ""
    shipped: bool = True
    targets: tuple[TargetSlot, ...] = ()
    sweep: tuple[Axis, ...] = ()
    expectations: tuple[PresetExpectation, ...] = ()
    variants: tuple[Variant, ...] = ()
    precondition: tuple[Test, ...] = ()
    rounds: str = ""
    limit: str = ""
    read_write_map: str = ""

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)
