"""Runs, plans and comparisons as JSON. Figures are the engines' own, to the last digit."""

from collections.abc import Mapping, Sequence

from msgspec import to_builtins

from diskprof.analysis.between_runs import Interval
from diskprof.analysis.bursts import BurstResult, burst_results
from diskprof.analysis.caps import Cap, Caps, caps_of
from diskprof.analysis.comparison import (
    ComparedArm,
    ComparedMetric,
    ComparedRun,
    ComparedValue,
    Comparison,
    TestComparison,
)
from diskprof.analysis.conditions import Condition, OptionDifference
from diskprof.analysis.disk_standing import Rank, capacity_gib, rank
from diskprof.analysis.expectations import CommonExpectation, judge
from diskprof.analysis.kernel import KernelView
from diskprof.analysis.score import Score, scores
from diskprof.analysis.sweep import BestOfRow, Limits, Matrix, best, grids, limits, measured, panels
from diskprof.model.advice import Advice, on_command_line
from diskprof.model.device import Device, Mount, Wear, share_of
from diskprof.model.drive import DriveCount, DriveRecord
from diskprof.model.earlier import EarlierResult
from diskprof.model.expectation import Expectation, Judgement
from diskprof.model.metric import Quantity
from diskprof.model.plan import Hazard, Plan, PlannedTest, TestFile
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import (
    Cpu,
    DirectionResult,
    Environment,
    Finding,
    FurtherTarget,
    IoLimit,
    JobResult,
    Latency,
    ProcessShare,
    Result,
    RoundFigures,
    Run,
    RunSummary,
    SeriesPlace,
    TestRecord,
)
from diskprof.model.sample import WITHIN_NS, Sample
from diskprof.model.steady import RoundsRule, SteadyRule
from diskprof.model.target import Target
from diskprof.reports.content.caps_words import matching_tiers
from diskprof.reports.content.class_words import recognised, standings
from diskprof.reports.content.facts import targets
from diskprof.reports.data.json import FieldTable, Json, fields, plain
from diskprof.reports.data.json_limit import found_limit_json, limit_json
from diskprof.reports.data.json_map import found_map_json, map_json
from diskprof.reports.data.json_requests import requests_json

UNITS = {
    Quantity.IOPS: "IOPS",
    Quantity.BANDWIDTH: "bytes/s",
    Quantity.LATENCY: "ns",
    Quantity.SHARE: "share",
    Quantity.CPU: "percent",
}
"""The unit of what is promised and measured; a share is from 0 to 1."""


def run_json(
    run: Run,
    kernel: Mapping[int, KernelView] | None = None,
    earlier: Sequence[EarlierResult] = (),
    samples: Sequence[Sample] = (),
) -> Json:
    """A whole run, as `diskprof show --json` and `diskprof run --json` print it.

    `kernel` is kernel statistics of each test that it looked at, by the test's number: iostat's figures of the measuring
    phase under our names. `earlier` is what earlier runs measured of the same tests on the same disk. `samples` need be
    those of a run with drains alone (`bursts.pairs`).
    """
    seen = kernel or {}
    names: dict[int | None, str] = {test.index: test.name for test in run.tests}
    progress = run.progress if not run.status.over else None
    return {
        **_of(run, "id status reason"),
        **_of(run.plan, "preset title=preset_title category target"),
        "targets": _targets(run.plan),
        **_of(run.plan, "parameters{}"),
        **_of(run, "imported_from? started_at ended_at tags note series environment"),
        **_endurance(run.plan),
        "expectations": [_plain(judgement) for judgement in judge(run)],
        "disk_class": _disk_class(run),
        "ranks": [_rank(score, place) for score in scores(run, earlier) if (place := rank(score, earlier))],
        **_of(run, "findings"),
        "drives": [_drive(each) for each in run.drives],
        "within_ns": WITHIN_NS,
        "messages": [
            {"at_ns": message.at_ns, "test": names.get(message.test), **_of(message, "warning text")}
            for message in run.messages
        ],
        "progress": progress
        and {"test": names.get(progress.test), **_of(progress, "phase fraction overall remaining_s silent_s")},
        "tests": [
            {
                **_test(test),
                "kernel": to_builtins(seen[test.index]) if test.index in seen else None,
                "processes": [_process(each) for each in run.processes if each.test == test.index],
            }
            for test in run.tests
        ],
        "sweep": _sweep(run),
        "rounds": _rounds(run),
        "bursts": [_burst(one) for one in burst_results(run, samples)],
        "limit": found_limit_json(run),
        "map": found_map_json(run),
    }


def _disk_class(run: Run) -> Json:
    """The class of the disk, or why it is not known, and where the tests are in it."""
    found = recognised(run)
    known = found.disk_class
    return {
        "name": known and known.name,
        "title": known and known.title,
        "chosen": found.chosen,
        "unknown": found.why or None,
        "standings": [
            {
                **_of(record, "test=name"),
                "direction": str(direction),
                "metric": one.figure.metric.name,
                "unit": UNITS[one.figure.quantity],
                **_of(one, "value least most position"),
                "sources": [document.address for document in one.figure.sources],
            }
            for record, direction, one in standings(run)
        ],
    }


def _drive(each: DriveRecord) -> Json:
    """What a drive counted in the time of the run; null: not told."""
    return {
        **_of(each, "device silence advice host_bytes test_bytes nand_bytes amplification"),
        "temperature_before_c": each.before and each.before.temperature_c,
        "temperature_after_c": each.after and each.after.temperature_c,
        **_of(each, "hottest_c"),
        "errors": _drive_counts(each.new_errors),
        "thermal_events": _drive_counts(each.new_heat),
    }


def _drive_counts(counts: Sequence[DriveCount] | None) -> list[Json] | None:
    return None if counts is None else [{"name": each.name, "count": each.count} for each in counts]


def _process(each: ProcessIo) -> Json:
    """What a process beside the test did while it measured."""
    return _plain(each)


def _rank(score: Score, place: Rank) -> Json:
    """1 is the best of `of` runs of this test on this disk."""
    return {
        "test": score.test.name,
        "direction": str(score.direction),
        "metric": str(score.measure),
        "place": place.place,
        "of": place.of,
    }


def summaries_json(summaries: Sequence[RunSummary]) -> list[Json]:
    """The list of runs, as `diskprof runs --json` prints it."""
    return [_plain(summary) for summary in summaries]


def comparison_json(comparison: Comparison) -> Json:
    """A comparison, as `diskprof compare --format json` prints it. The first arm is what the others are measured against."""
    return _of(comparison, "arms=columns conditions within_ns expectations tests")


def plan_json(plan: Plan) -> Json:
    """A plan, as `diskprof run --dry-run --json` prints it."""
    return {
        **_of(plan, "preset title=preset_title category target"),
        "targets": _targets(plan),
        **_of(plan, "parameters{} seconds likely_seconds bytes_written writes_exact space_needed"),
        **_endurance(plan),
        "test_files": _plain(plan.test_files),
        **_of(plan, "expectations"),
        "sweep": _axes(plan),
        **_of(plan, "rounds"),
        "limit": limit_json(plan.limit),
        "map": map_json(plan.read_write_map),
        **_of(plan, "hazards"),
        "blocked": bool(plan.blocked),
        **_of(plan, "layout precondition tests"),
    }


def _targets(plan: Plan) -> list[Json]:
    """Every target with the name of its slot, null where the preset names none."""
    return [{"slot": slot or None, **_plain(target)} for slot, target in targets(plan)]


def _endurance(plan: Plan) -> Json:
    """What the disks that are written to said of their wear, and the share of it that the writes of the plan take."""
    share = share_of(plan.bytes_written, plan.wear) if plan.bytes_written else None
    return {"endurance_share": share, **_of(plan, "wear")}


def _rounds(run: Run) -> Json | None:
    """When a run of rounds is steady, and how many are complete; null of another run. `range` and `slope` are those that it has, as
    shares of the mean, `values` the tracked figure of each round."""
    rule, steady = run.plan.rounds, run.rounds
    if rule is None:
        return None
    return {
        "wanted": _plain(rule),
        "unit": UNITS[rule.metric.quantity],
        "complete": len(steady.values) if steady else 0,
        "counted": steady.count if steady else 0,
        "reached": steady is not None and steady.reached,
        **({name: getattr(steady, name) if steady else None for name in ("range", "slope")}),
        "values": list(steady.values) if steady else [],
    }


def _burst(one: BurstResult) -> Json:
    """What two drains show. Amounts are in `unit`, rates in it per second; `bucket` is null where there was no burst."""
    bucket = one.bucket
    return {
        "tests": [one.pair.first.name, one.pair.second.name],
        "unit": "bytes" if one.in_bytes else "I/Os",
        **_of(one, "looked_s level_per_s=level"),
        "bucket": bucket
        and {
            **_of(bucket, "baseline_per_s=baseline burst_per_s=burst burst_s size"),
            "size_at_least": not bucket.whole,
            **_of(bucket, "refill_per_s=refill refill_at_least=at_least rest_s full_after_s"),
        },
    }


def _test(test: TestRecord) -> Json:
    found = _of(test, "name title=planned.title engine status reason cell=planned.cell{}~ argv=planned.argv")
    if test.result:
        found |= _result(test.result)
        if test.planned.steady and test.result.steady:
            rule, steady = test.planned.steady, test.result.steady
            found["steady"] = {
                **_of(steady, "reached after_s windows=count"),
                "figure": rule.metric.name,
                "unit": UNITS[rule.metric.quantity],
                "window_s": rule.window_s,
                **_of(steady, "range slope values"),
            }
        if test.result.requests:
            found["requests"] = requests_json(test.result.requests)
        if test.result.jobs:
            found["jobs"] = [_job(job) for job in test.result.jobs]
    return found


def _job(job: JobResult) -> Json:
    """A job that fio reports apart, with each of its copies where they are, too."""
    found = {"name": job.name, **_result(job)}
    return {**found, "copies": [_result(copy) for copy in job.copies]} if job.copies else found


def _result(result: Result) -> Json:
    directions = {
        str(direction): {**_plain(part), "share_within": part.share_within(WITHIN_NS)}
        for direction, part in result.directions
    }
    return {**directions, **_of(result, "cpu~ sync_latency_ns=sync~")}


def _expectation(expected: Expectation) -> Json:
    unit = UNITS[expected.metric.quantity]
    return {
        **_of(expected, "test metric=metric.name operator promised"),
        "unit": unit,
        **_of(expected, "basis seconds"),
    }


def _judgement(judgement: Judgement) -> Json:
    return {**_expectation(judgement.expectation), **_of(judgement, "measured ratio verdict")}


def _io_limit(limit: IoLimit) -> Json:
    unit = "IOPS" if limit.iops else "bytes/s"
    return {**_of(limit, "device direction"), "unit": unit, "per_second": limit.per_second}


def _axes(plan: Plan) -> Json | None:
    """What a plan sweeps, null where it sweeps nothing."""
    if not plan.sweep:
        return None
    axes = [{"option": option, "values": list(values)} for option, values in plan.sweep]
    return {"axes": axes, "cells": sum(bool(test.cell) for test in plan.tests)}


def _sweep(run: Run) -> Json | None:
    """A run's sweep, null where nothing is swept: axes, every cell in short, and what the panels say.

    A cell without figures failed, was stopped or is yet to come; `status` says which.
    """
    found = grids(run)
    if not found:
        return None
    axes = {axis.option: axis.values for grid in found for axis in grid.axes}
    return {
        "axes": [{"option": option, "values": list(values)} for option, values in axes.items()],
        "cells": [_swept(grid.name, test) for grid in found for test in grid.cells.values()],
        "panels": [_panel(panel) for grid in found for panel in panels(grid)],
        "tiers": _tiers(run),
    }


def _swept(sweep: str, test: TestRecord) -> Json:
    result = measured(test)
    short = "iops bandwidth_bytes_per_s latency_mean_ns=latency.mean latency_p99_ns=latency.p99"
    return {
        "sweep": sweep,
        **_of(test, "test=name cell=planned.cell{} status"),
        **{str(direction): _of(part, short) for direction, part in (result.directions if result else ())},
    }


def _panel(panel: Matrix[TestRecord]) -> Json:
    """Reads and writes together. `limits` is null where the data show none; block sizes are in bytes."""
    return {
        **_of(panel, "sweep=name fixed{} rows=rows.option"),
        "columns": panel.columns.option if panel.columns else None,
        "best": [
            {panel.rows.option: value, **_plain(one)}
            for value, one in zip(panel.rows.values, best(panel), strict=True)
            if one
        ],
        "limits": _plain(limits(panel)),
        "caps": _plain(caps_of(panel)),
    }


def _tiers(run: Run) -> list[Json]:
    """The tiers that match the caps, each once, with their limits for a volume of this capacity."""
    gib = capacity_gib(run.environment)
    known = {tier: values for _, tier in matching_tiers(run) if (values := tier.values(gib))}
    return [
        {"title": tier.title, "direction": str(tier.direction), "iops": iops, "bandwidth_bytes_per_s": bandwidth}
        for tier, (iops, bandwidth) in known.items()
    ]


def _caps(caps: Caps) -> Json:
    spec = "iops why_iops bandwidth why_bandwidth most_iops most_bandwidth_bytes_per_s=most_bandwidth"
    return _of(caps, f"{spec} handover_bytes=handover crossing_bytes=crossing")


_FIELDS: FieldTable = {
    Advice: on_command_line,
    Cap: "per_s=value low high cells sizes_bytes=sizes depths enough_depth=enough",
    Caps: _caps,
    BestOfRow: "iops iops_at? bandwidth_bytes_per_s=bandwidth bandwidth_at? enough?",
    ComparedValue: "value values difference ratio interval verdict more_runs",
    ComparedArm: "label runs",
    ComparedRun: "id status preset target hostname started_at tags findings",
    CommonExpectation: "test metric=metric.name judgements",
    Condition: "name values",
    Cpu: "user_percent system_percent",
    Device: "name node kind size_bytes model serial wwid by_id transport rotational rpm pcie sd_class scheduler"
    " logical_block_size physical_block_size fs_type fs_label",
    DirectionResult: "ios bytes iops bandwidth_bytes_per_s runtime_ms latency_kind latency_ns=latency"
    " clat_ns=clat slat_ns=slat lat_ns=lat rounds~",
    Environment: "hostname os kernel cpu_model cpus memory_bytes virtualisation cloud diskprof_version fio_version ioping_version"
    " device disks mount layers others behind store_disks cgroup_limits io_limits cpu_limit temperature_limit_c"
    " hidden_processes",
    Expectation: _expectation,
    Finding: "name weight test? message evidence advice processes",
    ProcessShare: "pid name share",
    ProcessIo: "pid name start_ticks read_bytes write_bytes first_ns last_ns",
    FurtherTarget: "slot device disks layers mount",
    Hazard: "name severity message advice",
    Interval: "low high",
    IoLimit: _io_limit,
    Judgement: _judgement,
    Latency: "mean min max stddev p50 p90 p95 p99 p99_9",
    Limits: "iops iops_up_to_bytes=iops_up_to bandwidth_bytes_per_s=bandwidth bandwidth_from_bytes=bandwidth_from",
    Mount: "path fs_type options size_bytes free_bytes",
    OptionDifference: "option job? values",
    PlannedTest: "name title engine cell{}~ argv ramp_s runtime_s delay_s amount_bytes amount_s bytes_written writes_exact"
    " layout steady",
    ComparedMetric: "metric direction better cells",
    RoundFigures: "iops bandwidth_bytes_per_s latency_mean_ns=mean latency_p99_ns=p99 latency_max_ns=max",
    RoundsRule: "test figure=metric.name windows range slope at_most",
    RunSummary: "id status preset title=preset_title target device hostname started_at duration_s tags note headline doubts"
    " imported_from? series",
    SeriesPlace: "id=series_id repeat arm",
    SteadyRule: "figure=metric.name windows window_s range slope at_most_s",
    Target: "kind path device mount_point fs_type size_bytes free_bytes",
    TestComparison: "name title engine statuses lacking cell{}~ options metrics=rows",
    TestFile: "directory path size_bytes layout",
    Wear: "device used_percent written_bytes rated_bytes",
}


def _of(value: object, spec: str) -> Json:
    return fields(value, spec, _FIELDS)


def _plain(value: object) -> Json:
    found: Json = plain(value, _FIELDS)
    return found
