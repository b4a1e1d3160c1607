"""Where a plan's tests work: each target under the name of its slot, with the test file that is made there."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from diskprof.model.advice import Advice
from diskprof.model.errors import UsageError
from diskprof.model.job import EngineJob, FioJob
from diskprof.model.plan import Plan, Severity, TestFile
from diskprof.model.preset import Preset
from diskprof.model.target import Target, TargetKind
from diskprof.model.units import format_size
from diskprof.presets.resolve import ResolvedTest
from diskprof.runner.plan.remarks import Remark
from diskprof.runner.plan.workload import span

_PLAIN_PATH = re.compile(r"[\w/.,+@=%-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A target, the slot that it fills ("" where a preset has one target only), and its test file."""

    slot: str
    target: Target
    file: TestFile | None = None

    @property
    def path(self) -> str:
        """What fio reads and writes."""
        return self.file.path if self.file else self.target.path

    @property
    def link(self) -> str:
        """The name, in the run's working directory, of a link to a path that fio would misread (F27); empty if it would not."""
        if _PLAIN_PATH.fullmatch(self.path):
            return ""
        return f"target-{self.slot}" if self.slot else "target"

    @property
    def filename(self) -> str:
        """`path` as fio may be given it."""
        return self.link or self.path


def choose_places(preset: Preset, target: Target | None, named: Mapping[str, Target]) -> tuple[FilePlace, ...]:
    """A place for each slot of the preset, or the one place of a preset without slots. Raises UsageError for a mismatch."""
    slots = [slot.name for slot in preset.targets]
    if not slots:
        if named:
            raise UsageError(f"{preset.name} works on one target, which has no name.", "Give the target alone.")
        if target is None:
            raise UsageError(f"{preset.name} needs a target.", f"For example: diskprof run {preset.name} /mnt/data")
        return (FilePlace("", target),)
    example = " ".join(f"--target {slot}=/mnt/{slot}" for slot in slots)
    if target is not None:
        raise UsageError(f"{preset.name} works on {len(slots)} targets: {', '.join(slots)}.", f"Name each: {example}")
    for name in named:
        if name not in slots:
            raise UsageError(f"{preset.name} has no target {name[:40]!r}.", f"Name each: {example}")
    missing = [slot for slot in slots if slot not in named]
    if missing:
        raise UsageError(f"{preset.name} needs a target for {' and '.join(missing)}.", f"Name each: {example}")
    return tuple(FilePlace(slot, named[slot]) for slot in slots)


def places_of(plan: Plan) -> tuple[FilePlace, ...]:
    """The places of a plan, as they were laid out for it."""
    first = FilePlace(plan.slot, plan.target, plan.test_file)
    return (first, *(FilePlace(other.slot, other.target, other.test_file) for other in plan.others))


def place_of(job: EngineJob, places: Sequence[FilePlace]) -> FilePlace:
    """The place that a job works on: that of its slot, or the first."""
    return next((place for place in places if place.slot == job.target), places[0])


def with_test_file(place: FilePlace, places: Sequence[FilePlace], tests: Sequence[ResolvedTest]) -> FilePlace:
    """The place with the test file that its fio jobs need, where it is a directory and has such jobs."""
    spans = [span(job) for test in tests for job in test.load.fio if place_of(job, places) == place]
    if place.target.kind is not TargetKind.DIRECTORY or not spans:
        return place
    if min(spans) <= 0:
        raise UsageError(
            "A fio test of this preset has no size.",
            Advice("Give it one: --set size=1g, or size in the preset.", "Give it one: edit the size."),
        )
    directory = Path(place.target.path) / f".diskprof-{secrets.token_hex(4)}"
    return replace(place, file=TestFile(str(directory), str(directory / "test.dat"), max(spans)))


def fit(test: ResolvedTest, places: Sequence[FilePlace]) -> tuple[ResolvedTest, tuple[Remark, ...]]:
    """The test within the bounds of its files and devices: fio would clip it silently or replace the file (F16, F23).

    Raises UsageError for a target that does not hold one request.
    """
    jobs, notes = [], []
    for job in test.jobs:
        target = place_of(job, places).target
        if isinstance(job, FioJob) and target.kind is not TargetKind.DIRECTORY and target.size_bytes is not None:
            room = _room(test, job, target, target.size_bytes)
            if job.size is None or job.size > room:
                said = f"{format_size(room)}, all that the target holds."
                notes.append(Remark("smaller-target", Severity.NOTES, "use", said))
                job = job.changed(size=str(room))
        jobs.append(job)
    return replace(test, jobs=tuple(jobs)), tuple(notes)


def _room(test: ResolvedTest, job: FioJob, target: Target, held: int) -> int:
    block, room = job.block_size, held - job.offset
    room -= room % block
    if room < block:
        raise UsageError(
            f"{target.path} holds {format_size(held)}: too small for {test.name}, "
            f"which needs {format_size(block)} a request.",
            "Choose a larger file or device, or a directory.",
        )
    return room
