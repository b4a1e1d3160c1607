"""From the commands of a plan to what is executed: a device that is written to is named by a descriptor (F25)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from diskprof.devices.guard.exclusive import had_alone
from diskprof.engines.fio.reader import fio_escaped
from diskprof.model.errors import Refused
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.target import TargetKind
from diskprof.runner.plan.places import Place, places_of
from diskprof.runner.plan.write_permission import needed_places

_FILENAME = "--filename="
_READS = {"--rw=read", "--rw=randread"}
Held = Mapping[str, int]
"""Descriptors by the device node that a plan names."""


@contextmanager
def held_devices(plan: Plan, store: Path) -> Iterator[Held]:
    """Has every device that the plan writes to for itself, until the end. Raises Refused or UsageError where it cannot."""
    with ExitStack() as stack:
        places = needed_places(store) if plan.raw_devices else {}
        yield {raw.node: stack.enter_context(had_alone(raw, places)) for raw in plan.raw_devices}


def resolved(planned: PlannedTest, plan: Plan, held: Held) -> tuple[PlannedTest, tuple[int, ...]]:
    """The test as it is started, with the descriptors to pass on: `--filename=/dev/sdb` becomes `--filename=/proc/self/fd/7`.

    All other words stay as they are. Raises Refused for a command that writes to anything but a test file of the plan or
    a device that is held.
    """
    if planned.engine is not EngineName.FIO:
        return planned, ()
    places = places_of(plan)
    numbers = {
        _FILENAME + fio_escaped(place.filename): held[place.target.path]
        for place in places
        if place.target.kind is TargetKind.DEVICE and place.target.path in held
    }
    argv = tuple(f"{_FILENAME}/proc/self/fd/{numbers[word]}" if word in numbers else word for word in planned.argv)
    if "--readonly" not in argv:
        _refuse_strangers(argv, places, numbers.values())
    return replace(planned, argv=argv), tuple(sorted({numbers[word] for word in planned.argv if word in numbers}))


def _refuse_strangers(argv: Sequence[str], places: Sequence[Place], descriptors: Iterable[int]) -> None:
    ours = {_FILENAME + fio_escaped(place.filename) for place in places if place.file}
    ours |= {f"{_FILENAME}/proc/self/fd/{number}" for number in descriptors}
    for job in _jobs(argv):
        if all(word in _READS for word in job if word.startswith("--rw=")):
            continue
        for word in job:
            if word.startswith(_FILENAME) and word not in ours:
                raise Refused(f"{word.removeprefix(_FILENAME)} is not held exclusively, so it is not written to.")


def _jobs(argv: Sequence[str]) -> Iterator[Sequence[str]]:
    starts = [index for index, word in enumerate(argv) if word.startswith("--name=")]
    for start, end in pairwise([*starts, len(argv)]):
        yield argv[start:end]
