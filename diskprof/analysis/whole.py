"""Figures of a test as a whole, which neither direction has: how it synced, and what CPU use it is told with."""

from collections.abc import Sequence
from enum import StrEnum

from diskprof.analysis.metrics import Metric, cpu_use
from diskprof.model.preset import EngineName
from diskprof.model.run import TestRecord


def leading(records: Sequence[TestRecord | None]) -> Metric:
    """What a test is judged by first: IOPS, which at one block size is bandwidth too; with ioping, the latency.

    A log that syncs each write is judged by how long that takes, where every run tells it.
    """
    present = [record for record in records if record]
    if present and present[0].engine is EngineName.IOPING:
        return Metric.LATENCY_MEAN
    told = [record for record in present if record.result]
    return Metric.SYNC_MEAN if told and all(_synced(record) for record in told) else Metric.IOPS


def _synced(record: TestRecord) -> bool:
    sync = record.result.sync if record.result else None
    return sync is not None and sync.mean is not None and record.planned.load.synced


def syncs(record: TestRecord | None) -> int:
    """About how many syncs a fio test did, by its writes; 0 where its jobs do not all sync after as many."""
    if record is None or record.result is None or record.result.write is None or record.engine is not EngineName.FIO:
        return 0
    after = {max(job.fsync, job.fdatasync) for job in record.planned.load.fio if not job.reads_only}
    every = after.pop() if len(after) == 1 else 0
    return record.result.write.ios // every if every else 0


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


def comparable_cpu(records: Sequence[TestRecord | None]) -> list[float | None]:
    """The CPU use of a test in each run, as a share of one CPU; None where it is no figure of the same as the first run's."""
    found = [
        (cpu_of(record), use) if record and record.result and (use := cpu_use(record.result)) is not None else None
        for record in records
    ]  # fmt: skip
    base = found[0][0] if found and found[0] else None
    return [each[1] if each and _alike(base, each[0]) else None for each in found]


def _alike(base: CpuOf | None, other: CpuOf) -> bool:
    """One job is the sum and the mean of itself."""
    return (
        base is None or base is other or (CpuOf.ONE_JOB in (base, other) and CpuOf.SEVERAL_GROUPS not in (base, other))
    )
