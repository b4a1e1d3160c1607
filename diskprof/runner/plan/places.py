"""Where a plan's tests work: each target under the name of its slot, with the directory that is made there for test files."""

import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.job import EngineJob, FioJob
from diskprof.model.plan import Plan, Severity, TestFile
from diskprof.model.preset import Preset
from diskprof.model.target import Target, TargetKind
from diskprof.model.units import format_size
from diskprof.presets.resolve import ResolvedTest
from diskprof.runner.plan.remarks import Remark

_PLAIN_PATH = re.compile(r"[\w/.,+@=%-]+", re.ASCII)


class FilePlace(Struct, frozen=True):
    """A target, the slot that it fills ("" where a preset has one target only), the private directory of its test files (empty
    where none is made), and those files that tests share."""

    slot: str
    target: Target
    directory: str = ""
    files: tuple[TestFile, ...] = ()

    def with_files(self, files: tuple[TestFile, ...]) -> "FilePlace":
        """The place with these files."""
        return replace(self, files=files)

    @property
    def path(self) -> str:
        """What fio works in or on."""
        return self.directory or self.target.path

    @property
    def link(self) -> str:
        """The name, in the run's working directory, of a link to a path that fio would misread (F27); empty if it would not."""
        if _PLAIN_PATH.fullmatch(self.path):
            return ""
        return f"target-{self.slot}" if self.slot else "target"

    @property
    def root(self) -> str:
        """`path` as fio may be given it."""
        return self.link or self.path


def choose_places(preset: Preset, target: Target | None, named: Mapping[str, Target]) -> tuple[FilePlace, ...]:
    """A place for each slot of the preset, or the one place of a preset without slots. Raises UsageError for a mismatch."""
    slots = [slot.name for slot in preset.targets]
    if not slots:
        if named:
            raise UsageError(f"{preset.name} has one target, without a name.", "Give only the target.")
        if target is None:
            raise UsageError(f"{preset.name} needs a target.", f"For example: diskprof run {preset.name} /mnt/data")
        return (FilePlace("", target),)
    example = " ".join(f"--target {slot}=/mnt/{slot}" for slot in slots)
    if target is not None:
        raise UsageError(
            f"{preset.name} works on {len(slots)} targets: {', '.join(slots)}.", f"Name each target: {example}"
        )
    for name in named:
        if name not in slots:
            raise UsageError(f"{preset.name} has no target {name[:40]!r}.", f"Name each target: {example}")
    missing = [slot for slot in slots if slot not in named]
    if missing:
        raise UsageError(f"{preset.name} needs a target for {' and '.join(missing)}.", f"Name each target: {example}")
    return tuple(FilePlace(slot, named[slot]) for slot in slots)


def places_of(plan: Plan) -> tuple[FilePlace, ...]:
    """The places of a plan, as they were laid out for it."""
    first = FilePlace(plan.slot, plan.target, plan.directory, plan.files)
    return (first, *(FilePlace(each.slot, each.target, each.directory, each.files) for each in plan.others))


def places_of_job(job: EngineJob, places: Sequence[FilePlace]) -> tuple[FilePlace, ...]:
    """The places that a job works on: those of its slots, or the first."""
    return tuple(place for slot in job.targets for place in places if place.slot == slot) or (places[0],)


def with_directory(place: FilePlace, places: Sequence[FilePlace], tests: Sequence[ResolvedTest]) -> FilePlace:
    """The place with a name for the private directory of its test files, where it is a directory and fio jobs work in it."""
    used = any(place in places_of_job(job, places) for test in tests for job in test.load.fio)
    if place.target.kind is not TargetKind.DIRECTORY or not used:
        return place
    return replace(place, directory=str(Path(place.target.path) / f".diskprof-{secrets.token_hex(4)}"))


def fit(test: ResolvedTest, places: Sequence[FilePlace]) -> tuple[ResolvedTest, tuple[Remark, ...]]:
    """The test within the bounds of its files and devices: fio would clip it silently or replace the file (F16, F23).

    Raises UsageError for a target that does not hold one request.
    """
    jobs, notes = [], []
    for job in test.jobs:
        if isinstance(job, FioJob) and (room := _room(test, job, places_of_job(job, places))):
            if job.size_percent:
                part = room * job.size_percent // 100
                said = f"{job.size_percent}% of the target, {format_size(part)}."
                notes.append(Remark("part-of-target", Severity.NOTES, "use", said))
                job = job.changed(size=str(max(job.block_size, part - part % job.block_size)))
            elif job.size is None or job.size > room:
                said = f"{format_size(room)}, the whole target."
                notes.append(Remark("smaller-target", Severity.NOTES, "use", said))
                job = job.changed(size=str(room))
        jobs.append(job)
    return replace(test, jobs=tuple(jobs)), tuple(notes)


def _room(test: ResolvedTest, job: FioJob, places: Sequence[FilePlace]) -> int | None:
    """The most bytes that a job can work on, None where no file or device limits it."""
    block, before = job.block_size, job.offset + job.offset_increment * (job.numjobs - 1)
    rooms = []
    for target in (place.target for place in places):
        held = target.size_bytes
        if target.kind is TargetKind.DIRECTORY or held is None:
            continue
        room = held - before
        room -= room % block
        if room < block:
            raise UsageError(
                f"{target.path} has {format_size(held)}: too small for {test.name}, "
                f"which needs {format_size(before + block)}.",
                "Choose a larger file or device, or a directory.",
            )
        rooms.append(room)
    # fio divides the size of a job evenly among what it works on.
    return min(rooms) * len(places) if rooms else None
