"""What changes how far a result can be trusted, or says what limits it. Thresholds and reasons: docs/reading-results.md."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from diskprof.analysis.findings import (
    arrays,
    cache,
    cgroup_limits,
    drive,
    filesystem,
    hardware,
    heat,
    lapses,
    limits,
    over_time,
    processor,
    rates,
    rhythm,
    steady_state,
)
from diskprof.analysis.findings.culprits import joined
from diskprof.analysis.findings.view import Rule, views
from diskprof.model.device import Parts
from diskprof.model.run import Finding, Lapse, Run, Weight
from diskprof.model.sample import Sample, SystemSample

TEST_RULES: tuple[Rule, ...] = (
    cache.null_engine,
    lapses.slept,
    lapses.stood_still,
    cache.page_cache,
    cache.device_cache,
    cache.host_cache,
    filesystem.compressible_data,
    hardware.other_io,
    arrays.array_sync,
    arrays.array_degraded,
    arrays.path_lost,
    processor.cpu_steal,
    processor.busy_machine,
    steady_state.steady_not_reached,
    over_time.burst,
    over_time.not_steady,
    over_time.stall,
    limits.submission,
    limits.jobs_apart,
    rates.fio_fault,
    rates.mix_missed,
    rates.rate_missed,
    processor.processor_bound,
    limits.depth_capped,
    cgroup_limits.cgroup_limit_reached,
    cgroup_limits.cpu_throttled,
    limits.ceiling,
    heat.thermal_throttling,
    rhythm.periodic_stalls,
    cache.small_working_set,
    over_time.outliers,
    over_time.few_ios,
    filesystem.copy_on_write,
    hardware.idle_states,
    hardware.store_on_disk,
)

RUN_RULES: tuple[Callable[[Run], Finding | None], ...] = (
    cache.memory_file_system,
    drive.drive_errors,
    drive.drive_throttled,
    drive.write_amplification,
    hardware.misaligned,
    limits.engine_fallback,
    limits.only_clat,
    cgroup_limits.cgroup_limits,
    hardware.virtual_disk,
)

_TOLD_BETTER = {"cgroup-limits": {"cgroup-limit-reached", "cpu-throttled"}}
"""Findings that go without saying where one of these is there: it tells the same with its consequence."""

_ORDER = {Weight.DOUBT: 0, Weight.LIMIT: 1, Weight.NOTE: 2}
_NAMED = 4


def find(
    run: Run,
    samples: Sequence[Sample],
    system: Sequence[SystemSample],
    passed: Sequence[Lapse] = (),
    looks: Sequence[tuple[Parts, ...]] = (),
) -> tuple[Finding, ...]:
    """Every finding about a run, doubts first; what is found in several tests is told once.

    `samples`, `system` and `passed` (time without the run) are the whole run's, of any phase. `looks` are the parts of arrays
    and multipath devices before the first test and after each. Nothing is found where nothing was measured, nor of a disk that
    was watched: the rules judge what a test of ours did.
    """
    if run.plan.watched:
        return ()
    tests = views(run, samples, system, passed, looks)
    if not tests:
        return ()
    found = [finding for rule in RUN_RULES if (finding := rule(run))]
    for rule in TEST_RULES:
        found += _together([finding for view in tests if (finding := rule(view))], run.title)
    if short := over_time.too_short(tests):
        found.append(short)
    names = {finding.name for finding in found}
    kept = [finding for finding in found if not names & _TOLD_BETTER.get(finding.name, set())]
    return tuple(sorted(kept, key=lambda finding: _ORDER[finding.weight]))


def _together(findings: Sequence[Finding], title: Callable[[str], str]) -> list[Finding]:
    """Findings of one rule: those that say the same of several tests become one, with the tests' titles in its evidence."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.name, finding.message), []).append(finding)
    merged = []
    for group in groups.values():
        first = group[0]
        if len(group) == 1:
            merged.append(first)
            continue
        parts = [f"{title(finding.test)}: {finding.evidence}" for finding in group[:_NAMED]]
        if len(group) > _NAMED:
            parts.append(f"and {len(group) - _NAMED} more")
        processes = joined(finding.processes for finding in group)
        merged.append(replace(first, test="", evidence="; ".join(parts), processes=processes))
    return merged
