"""Under which conditions runs were made, and where these differ: a comparison is worth what its conditions share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diskprof.model.job import BESIDE
from diskprof.model.preset import EngineName
from diskprof.model.run import Run, TestRecord
from diskprof.model.units import amount, format_size, parse_size


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is not the same in every run: one value a run, empty where it is not known."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OptionDifference:
    """An option of a test that differs between runs: its value in each, None if not set. `job` is empty if the test has one."""

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


def differing_conditions(runs: Sequence[Run]) -> tuple[Condition, ...]:
    """Every condition, further target, axis of a sweep and parameter that is not the same in all runs, in a fixed order.

    What a result file does not say of an imported run is no difference, but that its host is not known.
    """
    found = [Condition(name, tuple(read(run) for run in runs)) for name, read in CONDITIONS]
    for word, tables in (
        ("target", [{other.slot: other.target.path for other in run.plan.others} for run in runs]),
        ("sweep", [{option: " ".join(values) for option, values in run.plan.sweep} for run in runs]),
        ("parameter", [dict(run.plan.parameters) for run in runs]),
    ):
        found += (
            Condition(f"{word} {name}", tuple(table.get(name, "") for table in tables))
            for name in dict.fromkeys(name for table in tables for name in table)
        )
    return tuple(condition for condition in found if _differs(condition, runs))


def _differs(condition: Condition, runs: Sequence[Run]) -> bool:
    told = {
        value
        for value, run in zip(condition.values, runs, strict=True)
        if value or not run.imported_from or condition.name == "host"
    }
    return len(told) > 1


def differing_options(records: Sequence[TestRecord | None]) -> tuple[OptionDifference, ...]:
    """The options that differ between the commands of one test in several runs; runs without the test are left out of account."""
    present = [record for record in records if record]
    if len(present) < 2:
        return ()
    found: list[OptionDifference] = []
    engines = [str(record.engine) if record else None for record in records]
    if len({engine for engine in engines if engine}) > 1:
        return (OptionDifference("engine", tuple(engines)),)
    tables = [_options(record) if record else None for record in records]
    known = dict.fromkeys(key for table in tables if table for key in table)
    several = len({job for job, _ in known if job}) > 1
    for job, option in known:
        values = tuple(table.get((job, option)) if table is not None else None for table in tables)
        given = {_amount(table.get((job, option))) for table in tables if table is not None}
        if len(given) > 1:
            found.append(OptionDifference(option, values, job if several else ""))
    return tuple(found)


def _amount(value: str | None) -> int | str | None:
    """A value so that 4k and 4096 are the same."""
    size = amount(parse_size, value)
    return value if size is None else size


def _options(record: TestRecord) -> dict[tuple[str, str], str]:
    return {(job.name, key): value for job in record.planned.jobs for key, value in job.given if key not in BESIDE}
