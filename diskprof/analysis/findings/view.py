"""What a rule looks at: one finished test with everything that was seen of it."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import Struct

from diskprof.analysis.kernel import KernelView, kernel_view, while_measuring
from diskprof.analysis.statistics import median
from diskprof.analysis.steady import counted
from diskprof.analysis.windows import Window, joined, measured, windows
from diskprof.model.device import Device, DeviceKind, Parts, Transport
from diskprof.model.load import Load
from diskprof.model.preset import EngineName
from diskprof.model.run import Finding, Lapse, LapseKind, Run, TestRecord, TestResult, Weight
from diskprof.model.sample import Direction, Phase, Sample, SystemSample

_VIRTUAL_TRANSPORTS = frozenset({Transport.VIRTIO, Transport.XEN})
_NETWORK_TRANSPORTS = frozenset({Transport.ISCSI, Transport.NBD, Transport.FC})
_VIRTUAL_MODEL = re.compile(
    r"qemu|virtual|vbox|vmware|msft|elastic block store|persistentdisk|alibaba cloud|bochs|xen", re.IGNORECASE
)

LEAST_S = 1.0
"""Tests shorter than this, in seconds, are mostly start and end, and are not judged."""

HELD = 0.8
"""An interval that contains a pause lasts at least this share of the pause, because the engine reports nothing during it."""

APART_S = 0.5
APART = 0.1
"""Jobs that are meant to begin and end together do so to less than this, and less than this part of their time."""

LEAST_INTERVALS = 4
"""The engine's account and the kernel's begin and end up to an interval apart: over fewer they may differ by half."""


class TestView(Struct, frozen=True, dict=True):
    """One test that ended with a result. `samples`, `system`, `lapses` are those of its measuring phase, in the order of time.

    `before` and `after` are the parts of arrays and multipath devices in its stack when it began and when it ended.
    """

    __test__ = False
    run: Run
    record: TestRecord
    result: TestResult
    samples: tuple[Sample, ...]
    system: tuple[SystemSample, ...]
    lapses: tuple[Lapse, ...] = ()
    before: tuple[Parts, ...] = ()
    after: tuple[Parts, ...] = ()

    @cached_property
    def load(self) -> Load:
        return self.record.planned.load

    @cached_property
    def intervals(self) -> tuple[Window, ...]:
        """One window an interval, both directions together."""
        return windows(self.samples)

    @cached_property
    def halves(self) -> tuple[Window, ...]:
        """Windows of half a second or, where intervals are longer, of one interval."""
        return joined(self.intervals, 0.5)

    @cached_property
    def wholes(self) -> tuple[Window, ...]:
        """Windows of a second."""
        return joined(self.intervals, 1.0)

    @cached_property
    def seconds(self) -> float:
        """How long it measured, by the engine or by its intervals, whichever knows of more.

        Of a search for a queue depth the intervals show all that was tried, the engine's figures what was found.
        """
        if self.load.searches and self.longest_s:
            return self.longest_s
        return max(self.longest_s, self.intervals[-1].end_s if self.intervals else 0.0)

    @cached_property
    def longest_s(self) -> float:
        """How long the job measured that measured longest, over which fio gives the rates of them all."""
        return max((result.runtime_ms / 1e3 for _, result in self.result.directions), default=0.0)

    @cached_property
    def apart(self) -> bool:
        """Whether its jobs did not all run at the same time, so that no job measured for as long as the test."""
        many = self.load.threads > 1 and self.record.engine is EngineName.FIO
        return many and self.seconds - self.longest_s > max(APART_S, APART * self.longest_s)

    @property
    def uneven(self) -> bool:
        """Whether its speed changes by what it was told, or that it was stopped, whatever the disk does."""
        return self.load.rests or self.load.searches or self.apart or bool(self.stood)

    @cached_property
    def ios(self) -> int:
        return sum(result.ios for _, result in self.result.directions)

    @cached_property
    def idle(self) -> bool:
        """Whether a job asks no disk at all, so that nothing can be held against one."""
        return self.load.idle

    @cached_property
    def stood(self) -> tuple[tuple[Lapse, Window], ...]:
        """When the engine stood still with the runner: the interval that holds the pause did at most half of what is usual.

        Where the runner alone was stopped, the engine worked on, and an interval is as full as the others.
        """
        lapses = [lapse for lapse in self.lapses if lapse.kind is LapseKind.STOOD]
        # Of a day it takes a while to find.
        usual = median([window.iops for window in self.intervals]) if lapses else None
        if usual is None:
            return ()
        found = []
        for lapse in lapses:
            end_s = self.into_test(lapse.at_ns)
            start_s = end_s - lapse.seconds
            holding = max(self.intervals, key=lambda window: min(window.end_s, end_s) - max(window.start_s, start_s))
            if holding.seconds >= HELD * lapse.seconds and holding.iops <= usual / 2:
                found.append((lapse, holding))
        return tuple(found)

    @property
    def disks(self) -> tuple[Device, ...]:
        """The whole devices below all targets, or the devices themselves."""
        return self.run.environment.all_disks

    @property
    def stack(self) -> tuple[Device, ...]:
        """Every device that the I/O goes through, from above."""
        return self.run.environment.stack

    @property
    def lasted(self) -> bool:
        """Whether it measured for long enough that its shares and rates are more than its beginning and end."""
        return self.seconds >= LEAST_S

    @cached_property
    def watched(self) -> tuple[SystemSample, ...]:
        """What the kernel saw, nothing where that is too short to be held against what the engine says."""
        spans = sorted(sample.duration_ns for sample in self.system)
        if not spans or sum(spans) < LEAST_INTERVALS * max(spans[len(spans) // 2], LEAST_S * 1e9 / LEAST_INTERVALS):
            return ()
        return self.system

    @cached_property
    def kernel(self) -> KernelView | None:
        """What the kernel saw over the whole measuring phase; None where it was too short to count."""
        return kernel_view(self.watched)

    @property
    def platters(self) -> bool:
        """Whether all the disks rotate. What a virtual disk says of its platters is a default of whoever made it."""
        return bool(self.disks) and all(disk.rotational and not is_virtual(disk, self.run) for disk in self.disks)

    def into_test(self, at_ns: int) -> float:
        """Seconds since the measuring began, at a time of the run."""
        first = self.samples[0]
        return max(0.0, (at_ns - first.at_ns + first.duration_ns) / 1e9)

    def engine_rate(self, direction: Direction) -> float:
        """Bytes per second over the whole of the test's time, by the engine's own account.

        fio's bandwidth is over the time of the direction's jobs, which may be a part of it; ioping's leaves its pauses out.
        """
        result = self.result.direction(direction)
        if result is None:
            return 0.0
        return result.bytes / self.seconds if self.seconds > 0 else result.bandwidth_bytes_per_s

    def device_rate(self, direction: Direction) -> float | None:
        """Bytes per second that the kernel counted on the device while the test measured; None where that is not known."""
        seen = self.kernel
        return (
            None if seen is None else seen.read_bytes_per_s if direction is Direction.READ else seen.write_bytes_per_s
        )

    def spent(self, start_s: float, end_s: float) -> tuple[SystemSample, ...]:
        """What the kernel saw in intervals that lie between two times of the test, in seconds."""
        if not self.samples:
            return ()
        return tuple(
            each
            for each in self.system
            if self.into_test(each.at_ns - each.duration_ns) >= start_s and self.into_test(each.at_ns) <= end_s
        )

    def beyond(self, start_s: float, end_s: float) -> float | None:
        """Bytes a second that the device moved beyond what the test did between two times of it; None where it is not known."""
        seen = [each for each in self.spent(start_s, end_s) if each.read_bytes is not None]
        own = [window for window in self.intervals if window.start_s >= start_s and window.end_s <= end_s]
        seconds, worked = sum(each.duration_ns for each in seen) / 1e9, sum(window.seconds for window in own)
        if seconds <= 0 or worked <= 0:
            return None
        moved = sum((each.read_bytes or 0) + (each.write_bytes or 0) for each in seen) / seconds
        return max(0.0, moved - sum(window.bytes for window in own) / worked)

    @property
    def store_rate(self) -> float:
        """Bytes a second that the runner wrote to its store on a disk under test; 0 where it is elsewhere or not known."""
        shared = set(self.run.environment.store_disks) & {disk.name for disk in self.disks}
        return (self.kernel.own_write_bytes_per_s or 0.0) if shared and self.kernel else 0.0

    def found(self, name: str, weight: Weight, message: str, evidence: str, advice: str) -> Finding:
        """A finding about this test."""
        return Finding(name, weight, message, evidence, advice, self.record.name)


Rule = Callable[[TestView], Finding | None]


def views(
    run: Run,
    samples: Sequence[Sample],
    system: Sequence[SystemSample],
    lapses: Sequence[Lapse] = (),
    looks: Sequence[tuple[Parts, ...]] = (),
) -> tuple[TestView, ...]:
    """A view of every test that has a result, whether it completed or was ended early.

    `looks` are the parts of arrays and multipath devices before the first test and after each.
    """
    found = []
    for record in run.tests:
        if record.status.over and record.result and record.result.directions:
            steady = record.result.steady
            taken = counted(steady, measured(samples, record.index))
            seen = counted(steady, while_measuring(samples, system, record.index))
            during = tuple(each for each in lapses if each.test == record.index and each.phase is Phase.MEASURING)
            before, after = looks[record.index : record.index + 2] if len(looks) > record.index + 1 else ((), ())
            found.append(TestView(run, record, record.result, taken, seen, during, before, after))
    return tuple(found)


def virtual_machine(run: Run) -> bool:
    """Whether the machine is a guest whose disks may be anything; a container's are its host's."""
    return any(kind.strip() not in ("", "container") for kind in run.environment.virtualisation.split(","))


def is_network(disk: Device) -> bool:
    """Whether a disk is somewhere else."""
    return disk.transport in _NETWORK_TRANSPORTS


def is_hypervisors(disk: Device) -> bool:
    """Whether a disk is made by a hypervisor or a cloud."""
    return disk.transport in _VIRTUAL_TRANSPORTS or _VIRTUAL_MODEL.search(disk.model) is not None


def is_virtual(disk: Device, run: Run) -> bool:
    """Whether a disk may be anything behind its name: of a hypervisor, of a network, a file, or in a guest."""
    return is_hypervisors(disk) or is_network(disk) or disk.kind is DeviceKind.LOOP or virtual_machine(run)
