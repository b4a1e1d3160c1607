"""Under which conditions runs were made, and where these differ: a comparison is worth what its conditions share."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from diskprof.analysis.arms import Arm, Side, arms_of
from diskprof.model.job import BESIDE
from diskprof.model.preset import EngineName
from diskprof.model.run import Run, TestRecord
from diskprof.model.units import amount, format_size, parse_size


class Condition(Struct, frozen=True):
    """Something that is not the same in every run: one value an arm, empty where it is not known.

    Where the runs of an arm differ, each value with how many have it: `6.1.0 (3 of 5), 6.2.0 (2 of 5)`.
    """

    name: str
    values: tuple[str, ...]


class OptionDifference(Struct, frozen=True):
    """An option of a test that differs between runs: its value in each arm, None if not set. `job` is empty if the test has one.

    Runs of an arm that differ are written as in Condition.
    """

    option: str
    values: tuple[str | None, ...]
    job: str = ""


def _device(attribute: str) -> Callable[[Run], str]:
    def read(run: Run) -> str:
        device = run.environment.device
        return str(getattr(device, attribute)) if device else ""

    return read


def _model(run: Run) -> str:
    """The model of the device, or of the disks below a partition or a volume."""
    device = run.environment.device
    if device and device.model and not run.environment.others:
        return device.model
    return ", ".join(dict.fromkeys(disk.model for disk in run.environment.all_disks if disk.model))


def _scheduler(run: Run) -> str:
    """The disk's, because a partition and a device-mapper volume have none of their own."""
    return ", ".join(dict.fromkeys(disk.scheduler for disk in run.environment.all_disks if disk.scheduler))


def _transport(run: Run) -> str:
    return ", ".join(dict.fromkeys(str(disk.transport) for disk in run.environment.all_disks if disk.transport))


def _size(run: Run) -> str:
    return format_size(run.environment.device.size_bytes) if run.environment.device else ""


def _mount_options(run: Run) -> str:
    return ",".join(run.environment.mount.options) if run.environment.mount else ""


def _file_system(run: Run) -> str:
    first = run.environment.mount.fs_type if run.environment.mount else run.plan.target.fs_type
    further = (other.mount.fs_type for other in run.environment.others if other.mount)
    return ", ".join(dict.fromkeys(name for name in (first, *further) if name))


def _cgroup(run: Run) -> str:
    return ", ".join(run.environment.cgroup_limits)


def _memory(run: Run) -> str:
    return format_size(run.environment.memory_bytes) if run.environment.memory_bytes else ""


def _fio_version(run: Run) -> str:
    return run.environment.fio_version


def _latency(run: Run) -> str:
    """fio's latency that the figures are: lat, or clat of an older fio."""
    tests = [test.result for test in run.tests if test.result and test.engine is EngineName.FIO]
    return ", ".join(dict.fromkeys(part.latency_kind for result in tests for _, part in result.directions))


CONDITIONS: tuple[tuple[str, Callable[[Run], str]], ...] = (
    ("host", lambda run: run.environment.hostname),
    ("preset", lambda run: run.plan.preset),
    ("target", lambda run: run.plan.target.path),
    ("device", lambda run: run.plan.target.device_title),
    ("device model", _model),
    ("device serial", _device("serial")),
    ("device size", _size),
    ("transport", _transport),
    ("file system", _file_system),
    ("mount options", _mount_options),
    ("scheduler", _scheduler),
    ("kernel", lambda run: run.environment.kernel),
    ("operating system", lambda run: run.environment.os),
    ("CPU", lambda run: run.environment.cpu_model),
    ("CPUs", lambda run: str(run.environment.cpus or "")),
    ("memory", _memory),
    ("virtualisation", lambda run: run.environment.virtualisation),
    ("cgroup limits", _cgroup),
    ("fio version", _fio_version),
    ("latency", _latency),
    ("test files", lambda run: str(len({file.path for file in run.plan.test_files}) or "")),
    ("layout", lambda run: ", ".join(dict.fromkeys(file.layout for file in run.plan.test_files))),
    ("ioping version", lambda run: run.environment.ioping_version),
    ("diskprof version", lambda run: run.environment.diskprof_version),
)


def differing_conditions(sides: Sequence[Side]) -> tuple[Condition, ...]:
    """Every condition, further target, axis of a sweep and parameter that is not the same in all runs, in a fixed order.

    What a result file does not say of an imported run is no difference, but that its host is not known.
    """
    arms, read = arms_of(sides), dict(CONDITIONS)
    for word, table in _TABLES:
        known = dict.fromkeys(name for arm in arms for run in arm.runs for name in table(run))
        read |= {f"{word} {name}": partial(_entry, table, name) for name in known}
    found = (Condition(name, _values(arms, each)) for name, each in read.items() if _differs(name, arms, each))
    return tuple(found)


_TABLES: tuple[tuple[str, Callable[[Run], dict[str, str]]], ...] = (
    ("target", lambda run: {other.slot: other.target.path for other in run.plan.others}),
    ("sweep", lambda run: {option: " ".join(values) for option, values in run.plan.sweep}),
    ("parameter", lambda run: dict(run.plan.parameters)),
)


def _entry(table: Callable[[Run], dict[str, str]], name: str, run: Run) -> str:
    return table(run).get(name, "")


def _differs(name: str, arms: Sequence[Arm], read: Callable[[Run], str]) -> bool:
    told = {
        value for arm in arms for run in arm.runs if (value := read(run)) or not run.imported_from or name == "host"
    }
    return len(told) > 1


def _values(arms: Sequence[Arm], read: Callable[[Run], str]) -> tuple[str, ...]:
    return tuple(_in_one([read(run) for run in arm.runs]) for arm in arms)


def _in_one(values: Sequence[str]) -> str:
    """The value that all have; of several each with how many have it, the most frequent first."""
    counts = Counter(values)
    if len(counts) == 1:
        return values[0]
    return ", ".join(f"{value or '-'} ({times} of {len(values)})" for value, times in counts.most_common())


def differing_options(arms: Sequence[Sequence[TestRecord]]) -> tuple[OptionDifference, ...]:
    """The options that differ between the commands of one test; arms without the test are left out of account."""
    records = [record for arm in arms for record in arm]
    if len(records) < 2:
        return ()
    if len({record.engine for record in records}) > 1:
        return (
            OptionDifference(
                "engine", tuple(_in_one([str(each.engine) for each in arm]) if arm else None for arm in arms)
            ),
        )
    tables = [[_options(record) for record in arm] for arm in arms]
    known = dict.fromkeys(key for arm in tables for table in arm for key in table)
    several = len({job for job, _ in known if job}) > 1
    found: list[OptionDifference] = []
    for job, option in known:
        given = [[table.get((job, option)) for table in arm] for arm in tables]
        if len({_amount(value) for arm in given for value in arm}) > 1:
            found.append(OptionDifference(option, tuple(map(_given, given)), job if several else ""))
    return tuple(found)


def _amount(value: str | None) -> int | str | None:
    """A value so that 4k and 4096 are the same."""
    size = amount(parse_size, value)
    return value if size is None else size


def _given(values: Sequence[str | None]) -> str | None:
    """As `_in_one`; None where none gives it."""
    return (
        None
        if all(value is None for value in values)
        else _in_one(["" if value is None else value for value in values])
    )


def _options(record: TestRecord) -> dict[tuple[str, str], str]:
    return {(job.name, key): value for job in record.planned.jobs for key, value in job.given if key not in BESIDE}
