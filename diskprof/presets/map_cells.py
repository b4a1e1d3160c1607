"""The cells of a read/write map: a job that reads at a rate, and beside it one that writes at a rate.

Reads are spread over copies as those of a search for a limit (`limit_trials`); writes go by their own queue, at an even pace.
"""

from collections.abc import Sequence

from diskprof.model.errors import UsageError
from diskprof.model.job import FioJob, fio_job
from diskprof.model.limit import LimitRule, Trial
from diskprof.model.load import Load
from diskprof.model.preset import EngineName
from diskprof.model.read_write_map import MapRule
from diskprof.model.sample import Direction
from diskprof.model.units import format_bandwidth, format_fio_size
from diskprof.presets.limit_trials import TRIAL_SETS, trial_job
from diskprof.presets.options.values import write_duration

_QUEUE = {"iodepth", "ioengine"}
"""What writes keep of what a trial sets."""


def check_map(tests: Sequence[tuple[str, EngineName, Load]], rule: MapRule) -> None:
    """Raises UsageError for tests, each by name, engine and load, that are not one that writes and one that reads at random."""
    wrong = "a map is of two fio tests of one job each: the first writes, the second reads at random"
    if len(tests) != 2 or any(engine is not EngineName.FIO or len(load.fio) != 1 for _, engine, load in tests):
        raise UsageError(wrong, "Give it these two tests.")
    (_, _, first), (name, _, second) = tests
    writer, reader = first.fio[0], second.fio[0]
    if writer.directions != (Direction.WRITE,) or reader.directions != (Direction.READ,) or not reader.random:
        raise UsageError(wrong, "Set rw of both: write or randwrite, and randread.")
    if writer.searches or reader.searches:
        raise UsageError("a map does not search by itself (latency_target)", "Leave latency_target out.")
    if reader.size and reader.size < rule.depth * reader.block_size:
        raise UsageError(
            f"size={format_fio_size(reader.size)} is less than {rule.depth} reads of"
            f" {format_fio_size(reader.block_size)} in flight ({name})",
            "Give a larger size, or a smaller depth.",
        )
    if writer.size and writer.size < writer.depth * writer.mean_size(write=True):
        raise UsageError(
            f"size={format_fio_size(writer.size)} is less than {writer.depth} writes of"
            f" {format_fio_size(writer.mean_size(write=True))} in flight ({tests[0][0]})",
            "Give a larger size, or a smaller queue depth.",
        )


def cell_jobs(writer: FioJob, reader: FioJob, rule: MapRule, trial: Trial) -> tuple[FioJob, ...]:
    """The jobs of a cell: none reads where no reads are wanted, none writes where no writes are."""
    jobs = []
    if trial.rate != 0:
        # By rate, in its time: a trial of a search for a limit.
        jobs.append(trial_job(reader, LimitRule((), short_s=rule.cell_s, ramp_s=rule.ramp_s), trial))
    if trial.written != 0:
        jobs.append(_writing(writer, rule, trial, beside=bool(jobs)))
    return tuple(jobs)


def _writing(job: FioJob, rule: MapRule, trial: Trial, *, beside: bool) -> FioJob:
    own = {name: value for name, value in job.options if name not in TRIAL_SETS - _QUEUE}
    options = own | {
        "time_based": "1",
        "runtime": write_duration(rule.cell_s),
        "ramp_time": write_duration(rule.ramp_s),
    }
    if job.random:
        options["norandommap"] = "1"
    if trial.written is not None:
        options["rate"] = str(trial.written)
    if beside:
        # A group of its own: otherwise its figures are added to those of the reads (F9).
        options["new_group"] = "1"
    return fio_job(options.items(), job.name, targets=job.targets, files=job.files, opened=job.opened)


def map_cell_name(trial: Trial, number: int = 1) -> str:
    """`all-writes`, `all-reads`; `r250-w2500000`, the second time `r250-w2500000-2`."""
    if trial.written is None:
        return "all-writes"
    name = "all-reads" if trial.rate is None else f"r{trial.rate}-w{trial.written}"
    return name if number == 1 else f"{name}-{number}"


def map_cell_title(trial: Trial, number: int = 1) -> str:
    """`All writes`, `All reads`; `250/s + 2.50 MB/s`, `250/s, no writes`; the second time `250/s, no writes (2)`."""
    if trial.written is None:
        return "All writes"
    if trial.rate is None:
        return "All reads"
    title = f"{trial.rate:,}/s + {format_bandwidth(trial.written)}" if trial.written else f"{trial.rate:,}/s, no writes"
    return title if number == 1 else f"{title} ({number})"
