"""The trials of a search for a limit: a job at a load.

By rate a load is spread over copies of the job, each with one I/O in flight and a rate by chance (poisson) of its own: in one queue
late I/Os hold back later ones (F66), and copies that keep an even pace all ask at the same moment (F96).
"""

import re
from collections.abc import Collection

from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.job import EngineJob, FioJob, fio_job
from diskprof.model.limit import LimitBy, LimitRule, Trial, TrialKind
from diskprof.model.load import Load
from diskprof.model.preset import EngineName, Job, Options, Preset
from diskprof.model.title import sweep_title
from diskprof.model.units import format_fio_size
from diskprof.presets.options.values import write_duration
from diskprof.presets.tuning import CONSENT

TRIAL_SETS = frozenset(
    {
        *("iodepth", "numjobs", "ioengine", "group_reporting", "norandommap", "startdelay"),
        *("rate", "rate_iops", "rate_min", "rate_iops_min", "rate_process", "rate_ignore_thinktime"),
        *("thinktime", "thinktime_spin", "thinktime_blocks", "thinktime_iotime", "thinktime_blocks_type"),
        *("ramp_time", "runtime", "time_based", "number_ios", "io_size", "loops"),
        *("iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete_min", "iodepth_batch_complete_max"),
        "iodepth_low",
    }
)
"""What a trial sets itself, or what would change its load."""

_FEWEST = 4
"""A rate is spread over no fewer copies than this part of them, so that one that is late matters little."""


def searching(
    preset: Preset, test: str, keep: str, by: str | None, depth: int | None, curve: int | None = None
) -> Preset:
    """A preset that searches for what keeps the promises `keep` with the load of one of its tests; `by`, `depth` and the points
    of a `curve` if there is to be one. `test` names one of several. Raises UsageError."""
    asked = {"by": by, "depth": depth, "curve": curve}
    given = {"keep": keep, **{name: str(value) for name, value in asked.items() if value is not None}}
    if preset.limit:
        parameters = tuple(
            replace(each, default=given[each.name]) if each.name in given else each for each in preset.parameters
        )
        if test or any(preset.parameter(name) is None for name in given):
            raise UsageError(f"{preset.name} searches for a limit of its own.", f"diskprof run {preset.name} TARGET")
        return replace(preset, parameters=parameters)
    found = [each for each in preset.tests if each.name == test or (not test and len(preset.tests) == 1)]
    if not found:
        there = f"Choose one: {', '.join(f'{preset.name}:{each.name}' for each in preset.tests[:6])}"
        raise UsageError(
            f"{preset.name} has no test {test[:64]!r}." if test else f"{preset.name} has several tests.", there
        )
    if preset.sweep or preset.rounds:
        raise UsageError(f"{preset.name} sweeps or repeats its tests.", "Choose a preset of single tests.")
    options = " ".join(f"{name}={value}" for name, value in given.items() if name != "keep")
    ignored = TRIAL_SETS - {"ioengine"} if by == LimitBy.DEPTH else TRIAL_SETS
    alone = replace(found[0], steady="", jobs=tuple(_without(job, ignored) for job in found[0].jobs))
    return _without_idle_parameters(
        replace(
            preset, title=f"Limit of {preset.title}", tests=(alone,), expectations=(), limit=f"{keep} {options}".strip()
        )
    )


def _without(job: Job, names: Collection[str]) -> Job:
    return replace(job, options=tuple(pair for pair in job.options if pair[0] not in names))


def _without_idle_parameters(preset: Preset) -> Preset:
    """The preset without the parameters that nothing of it names any more."""
    tests = (*preset.tests, *preset.precondition)
    texts = [preset.limit, *(test.layout for test in tests), *(test.steady for test in tests)]
    texts += [
        text for test in tests for job in test.jobs for _, text in (*job.options, *(("", each) for each in job.files))
    ]
    named = {name for text in texts for name in re.findall(r"\$([a-z][a-z0-9_]*)", text)}
    kept = tuple(each for each in preset.parameters if each.name in named or each.name == CONSENT)
    variants = tuple(
        replace(each, settings=tuple(pair for pair in each.settings if pair[0] in {one.name for one in kept}))
        for each in preset.variants
    )
    return replace(preset, parameters=kept, variants=variants)


def check_load(name: str, engine: EngineName, jobs: tuple[EngineJob, ...], rule: LimitRule) -> None:
    """Raises UsageError for a test that cannot be tried at several loads."""
    load = Load(jobs)
    if engine is not EngineName.FIO or len(load.fio) != 1:
        raise UsageError(
            f"{name} is not a fio test of one job: its load cannot be raised as one", "Choose a test of one job."
        )
    job = load.fio[0]
    if job.searches:
        raise UsageError(
            f"{name} searches by itself (latency_target)", "Leave latency_target out, or choose another test."
        )
    if job.syncs and rule.by is LimitBy.DEPTH:
        raise UsageError(f"{name} waits after its writes: more queue depth is no more load", "Search by rate.")
    if job.synchronous and rule.by is LimitBy.DEPTH:
        raise UsageError(
            f"{name} has ioengine={job.ioengine}, whose queue depth is always 1",
            "Choose libaio or io_uring, or search by rate.",
        )
    if not job.random and rule.by is LimitBy.RATE:
        raise UsageError(
            f"{name} is sequential: spread over copies it would be so no more",
            "Search by depth, or choose a random load.",
        )
    if job.size and job.size < rule.depth * job.block_size:
        raise UsageError(
            f"size={format_fio_size(job.size)} is less than {rule.depth} requests of {format_fio_size(job.block_size)} in flight",
            "Give a larger size, or a smaller depth.",
        )
    for promise in rule.promises:
        direction = promise.metric.direction
        if direction and direction not in job.directions:
            raise UsageError(f"{name} does not {direction}: it has no {promise.metric.name}", "Promise what it does.")


def trial_job(job: FioJob, rule: LimitRule, trial: Trial) -> FioJob:
    """The job of a test at the load of a trial, for its time."""
    own = {name: value for name, value in job.options if name not in TRIAL_SETS}
    options = own | {
        "time_based": "1",
        "runtime": write_duration(rule.measuring_s(trial)),
        "ramp_time": write_duration(rule.ramp_s),
    }
    if job.random:
        # Copies beside each other would keep track of nothing together.
        options["norandommap"] = "1"
    if rule.by is LimitBy.DEPTH:
        options |= {"ioengine": job.ioengine, "iodepth": str(trial.depth)}
    else:
        options |= {"ioengine": "psync", **_copies(job, trial), "group_reporting": "1"}
    return fio_job(options.items(), job.name, targets=job.targets, files=job.files, opened=job.opened)


def _copies(job: FioJob, trial: Trial) -> dict[str, str]:
    if trial.rate is None:
        return {"numjobs": str(trial.depth)}
    copies, reads, writes = spread(trial.rate, trial.depth, job.write_share)
    rate = f"{reads},{writes}" if job.mixed else str(reads + writes)
    return {"numjobs": str(copies), "rate_iops": rate, "rate_process": "poisson"}


def spread(rate: int, most: int, write_share: float) -> tuple[int, int, int]:
    """Over how many copies a rate is spread, and how many reads and writes a second each does: whole numbers (F65), which come as
    near to the rate and to the mix as there are, over as many copies as may be."""
    mixed = 0 < write_share < 1
    found: list[tuple[float, int, int, int]] = []
    for copies in range(min(most, rate), max(1, min(most, rate) // _FEWEST) - 1, -1):
        each = rate / copies
        if mixed:
            reads, writes = max(1, round(each * (1 - write_share))), max(1, round(each * write_share))
        else:
            reads, writes = (0, max(1, round(each))) if write_share else (max(1, round(each)), 0)
        total = reads + writes
        error = abs(copies * total - rate) / rate + (abs(writes / total - write_share) if mixed else 0.0)
        # A hundredth is no reason to take half as many.
        found.append((error + 0.01 * (1 - copies / most), copies, reads, writes))
    _, copies, reads, writes = min(found)
    return copies, reads, writes


def trial_name(trial: Trial, number: int) -> str:
    """`qd64`, `rate-1850`; of its second trial `rate-1850-2`."""
    name = (
        f"qd{trial.depth}"
        if trial.rate is None
        else f"{'curve' if trial.kind is TrialKind.CURVE else 'rate'}-{trial.rate}"
    )
    return name if number == 1 else f"{name}-{number}"


def trial_title(job: FioJob, trial: Trial, number: int) -> str:
    """`4K rand read 1,850/s`, `4K rand read QD64`; of its second trial `4K rand read 1,850/s (2)`."""
    without: Options = tuple((name, "") for name in ("iodepth", "numjobs", "rate", "rate_iops"))
    bare = fio_job(((name, value) for name, value in job.options if not name.startswith("rate")), job.name)
    load = f"QD{trial.depth}" if trial.rate is None else f"{trial.rate:,}/s"
    title = f"{sweep_title((bare,), without)} {load}{', curve' if trial.kind is TrialKind.CURVE else ''}"
    return title if number == 1 else f"{title} ({number})"
