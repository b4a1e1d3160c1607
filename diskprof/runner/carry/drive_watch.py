"""Asks the drives below a run what they count, before its first test and after its last."""

import asyncio
from collections.abc import Sequence

from diskprof.devices.targets import sudo_command
from diskprof.engines.smartctl import Told, counters_of, counts_itself
from diskprof.engines.tools import install_command
from diskprof.model.device import Device
from diskprof.model.drive import DriveRecord, Silence
from diskprof.model.sample import Direction, Sample, SystemSample


class DriveWatch:
    """Of whole disks. No drive is asked while a test measures, and none is woken."""

    def __init__(self, disks: Sequence[Device]) -> None:
        self._disks = tuple(filter(counts_itself, disks))
        self._alone = len(disks) == 1
        self._before: tuple[Told, ...] = ()
        self._written = 0
        self._hottest: float | None = None

    async def begin(self) -> None:
        """Before anything is written. It waits for drives in a thread, five seconds at most."""
        if self._disks:
            self._before = await asyncio.to_thread(counters_of, self._disks)

    def hear(self, samples: Sequence[Sample], system: Sequence[SystemSample]) -> None:
        """What the engine did and what the sensors said, of every phase."""
        self._written += sum(sample.bytes for sample in samples if sample.direction is Direction.WRITE)
        known = [sample.temperature_c for sample in system if sample.temperature_c is not None]
        self._hottest = max((*known, *([] if self._hottest is None else [self._hottest])), default=None)

    async def end(self) -> tuple[DriveRecord, ...]:
        """What they counted since `begin`; of what said nothing then, why."""
        told = [one for one in self._before if one.counters]
        after = await asyncio.to_thread(counters_of, self._disks) if told else self._before
        return tuple(map(self._record, self._disks, self._before, after))

    def _record(self, disk: Device, before: Told, after: Told) -> DriveRecord:
        silence = before.silence or after.silence
        # A drive that was changed under the same name: the difference of two drives' counters is none of the run's.
        if not silence and before.serial and after.serial and before.serial != after.serial:
            silence = Silence.SWAPPED
        if silence:
            return DriveRecord(disk.name, silence=silence, advice=_advice(silence))
        known = [
            *(told.counters.temperature_c for told in (before, after) if told.counters),
            *([self._hottest] if self._alone else []),
        ]
        return DriveRecord(
            *(disk.name, before.counters, after.counters),
            test_bytes=self._written if self._alone else None,
            hottest_c=max((degrees for degrees in known if degrees is not None), default=None),
        )


def _advice(silence: Silence) -> str:
    match silence:
        case Silence.MISSING:
            return install_command(("smartmontools",))
        case Silence.DENIED:
            return sudo_command(())
        case Silence.ASLEEP | Silence.LATE | Silence.MUTE | Silence.SWAPPED:
            return ""
