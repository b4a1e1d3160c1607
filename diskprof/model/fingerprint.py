"""What makes two runs of a preset alike: the same tests with the same options, disk, file system and kernel."""

import json
from collections.abc import Collection, Sequence
from enum import StrEnum

from msgspec import Struct

from diskprof.model.device import Device
from diskprof.model.job import BESIDE
from diskprof.model.limit import LimitRule, promise_words
from diskprof.model.plan import Plan
from diskprof.model.read_write_map import MapRule
from diskprof.model.run import Environment
from diskprof.model.steady import RoundsRule, SteadyRule
from diskprof.model.target import Target, TargetKind
from diskprof.model.units import format_size

_DIGITS = 12


class Aspect(StrEnum):
    """What runs can be alike or unlike in."""

    TESTS = "tests"
    DISK = "disk"
    FILE_SYSTEM = "file system"
    KERNEL = "kernel"


class Fingerprint(Struct, frozen=True):
    """`tests` is a digest of tests and options; the others are words that a person can read."""

    tests: str
    disk: str
    file_system: str
    kernel: str

    def of(self, aspect: Aspect) -> str:
        match aspect:
            case Aspect.TESTS:
                return self.tests
            case Aspect.DISK:
                return self.disk
            case Aspect.FILE_SYSTEM:
                return self.file_system
            case Aspect.KERNEL:
                return self.kernel

    def differs(self, other: "Fingerprint", across: Collection[Aspect] = ()) -> tuple[Aspect, ...]:
        """What is not the same in both, leaving `across` out of account."""
        return tuple(each for each in Aspect if each not in across and self.of(each) != other.of(each))


class LikeRuns(Struct, frozen=True):
    """The complete runs of a preset that have one fingerprint: how many, and the newest of them."""

    fingerprint: Fingerprint
    runs: int
    newest: str


def fingerprint(plan: Plan, environment: Environment) -> Fingerprint:
    """The fingerprint of a run of `plan` on a machine."""
    host = environment.hostname
    places = [(plan.target, environment.disks or _own(environment.device))]
    disks_of = {other.slot: other.disks or _own(other.device) for other in environment.others}
    places += [(other.target, disks_of.get(other.slot, ())) for other in plan.others]
    mounts = {other.slot: other.mount for other in environment.others}
    systems = [system_words(plan.target, environment.mount.fs_type if environment.mount else "")]
    for other in plan.others:
        mount = mounts.get(other.slot)
        systems.append(system_words(other.target, mount.fs_type if mount else ""))
    return Fingerprint(
        tests=_tests(plan),
        disk=", ".join(disk_words(host, target.path, disks) for target, disks in places),
        file_system=", ".join(systems),
        kernel=environment.kernel,
    )


def _own(device: Device | None) -> tuple[Device, ...]:
    return (device,) if device else ()


def disk_words(host: str, path: str, disks: Sequence[Device]) -> str:
    """The disks of a target, each by what tells it from others: its number, else its file or its name in its host.

    Where none is known, the path in its host stands for it; of an imported result perhaps the path alone.
    """
    found = []
    for disk in sorted(disks, key=lambda each: (each.serial, each.wwid, each.name)):
        number = disk.serial or disk.wwid
        if number:
            found.append(f"{disk.model} {number}".strip())
        else:
            found.append(f"{disk.backing_file or disk.name} in {host} ({format_size(disk.size_bytes)})")
    return " + ".join(found) or (f"{path} in {host}" if host else path)


def system_words(target: Target, mounted: str = "") -> str:
    """The file system of a target, `mounted` where that is known better."""
    match target.kind:
        case TargetKind.DEVICE:
            return "none (device)"
        case TargetKind.FILE:
            return f"{mounted or target.fs_type} (existing file)"
        case TargetKind.DIRECTORY:
            return mounted or target.fs_type


def _rule(steady: SteadyRule | None) -> list[object]:
    """What ends a test beside its options; nothing where nothing does."""
    if steady is None:
        return []
    return [steady.metric.name, steady.windows, steady.window_s, steady.range, steady.slope, steady.at_most_s]


def _rounds(rule: RoundsRule) -> list[object]:
    return [rule.test, rule.metric.name, rule.windows, rule.range, rule.slope, rule.at_most]


def _limit(rule: LimitRule) -> list[object]:
    promises = sorted(map(promise_words, rule.promises))
    times = [rule.short_s, rule.full_s, rule.ramp_s, rule.most_trials, rule.most_s]
    return [promises, str(rule.by), rule.depth, *times, *([rule.curve] if rule.curve else [])]


def _map(rule: MapRule) -> list[object]:
    return [rule.reads, rule.writes, rule.depth, rule.cell_s, rule.ramp_s, rule.most_s]


def _tests(plan: Plan) -> str:
    """A digest of every option of every test and of how its files are made, whatever these are called."""
    # Only what begins a run or looks for its like needs it.
    from hashlib import sha256

    tests = [
        [
            *(test.name, str(test.engine), [list(each) for each in test.cell]),
            [
                [job.name, sorted([name, value] for name, value in job.given if name not in BESIDE), list(job.targets)]
                for job in test.jobs
            ],
            _rule(test.steady),
        ]
        # What a search for a limit tries further is what it finds, not what was asked.
        for test in plan.asked
    ]
    rounds = [_rounds(plan.rounds)] if plan.rounds else [_limit(plan.limit)] if plan.limit else []
    rounds += [_map(plan.read_write_map)] if plan.read_write_map else []
    layouts = sorted({str(file.layout) for file in plan.test_files})
    return sha256(json.dumps([tests, layouts, *rounds]).encode()).hexdigest()[:_DIGITS]
