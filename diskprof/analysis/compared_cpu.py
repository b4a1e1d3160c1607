"""The CPU use of a test in several runs, as far as it is a figure of the same."""

from collections.abc import Sequence
from enum import StrEnum

from diskprof.analysis.metrics import cpu_use
from diskprof.model.run import TestRecord


class CpuOf(StrEnum):
    """What a test's CPU use is a figure of. fio gives the mean of the jobs of a group; what it reports apart is added up."""

    ONE_JOB = "one job"
    ALL_JOBS = "all jobs"
    JOB_ON_AVERAGE = "a job on average"
    SEVERAL_GROUPS = "several groups"


def cpu_of(record: TestRecord) -> CpuOf:
    """What fio reports the CPU use of this test for."""
    test, cpu = record.planned.load, record.result.cpu if record.result else None
    reports = (cpu.reports if cpu else 0) or test.reported
    if test.threads == 1:
        return CpuOf.ONE_JOB
    if reports >= test.threads:
        return CpuOf.ALL_JOBS
    return CpuOf.JOB_ON_AVERAGE if reports == 1 else CpuOf.SEVERAL_GROUPS


def comparable_cpu(records: Sequence[TestRecord]) -> list[float | None]:
    """The CPU use of a test in each run, as a share of one CPU; None where it is no figure of the same as the first run's."""
    found = [
        (cpu_of(record), use) if record.result and (use := cpu_use(record.result)) is not None else None
        for record in records
    ]  # fmt: skip
    base = found[0][0] if found and found[0] else None
    return [each[1] if each and _alike(base, each[0]) else None for each in found]


def _alike(base: CpuOf | None, other: CpuOf) -> bool:
    """One job is the sum and the mean of itself."""
    return (
        base is None or base is other or (CpuOf.ONE_JOB in (base, other) and CpuOf.SEVERAL_GROUPS not in (base, other))
    )
