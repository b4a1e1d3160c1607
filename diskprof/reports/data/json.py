"""Results for programs: plain dicts and lists ready for `dumps`. Figures are the engines' own, to the last digit."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from diskprof.analysis.comparison import Comparison, Row
from diskprof.analysis.conditions import Condition, OptionDifference
from diskprof.analysis.expectations import judge
from diskprof.analysis.kernel import KernelView
from diskprof.model.finding import Finding
from diskprof.model.plan import Hazard, Plan, PlannedTest
from diskprof.model.run import (
    DirectionResult,
    Latency,
    Message,
    Progress,
    Run,
    RunSummary,
    TestRecord,
)
from diskprof.model.target import Target
from diskprof.model.wear import share_of
from diskprof.reports.content.facts import targets
from diskprof.reports.data.json_expectations import common_json, expectation_json, judgement_json
from diskprof.reports.data.json_machine import environment_json
from diskprof.reports.data.json_sweep import axes_json, sweep_json

Json = dict[str, Any]


def dumps(value: object, *, ascii_only: bool = False) -> str:
    """Valid JSON text, indented, ending in a newline; what is not a finite number is null (F11).

    What a terminal might obey is written as `\\u009b`, which every reader of JSON reads as the same character (F39).
    """
    lines = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False).split("\n")
    fine = str.isascii if ascii_only else str.isprintable
    return "\n".join(line if fine(line) and line.isprintable() else _escaped(line, fine) for line in lines) + "\n"


def _escaped(line: str, fine: Callable[[str], bool]) -> str:
    return "".join(char if fine(char) and char.isprintable() else json.dumps(char)[1:-1] for char in line)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        # A name that is not UTF-8 is held with surrogates (F11), which JSON text cannot carry.
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def run_json(run: Run, kernel: Mapping[int, KernelView] | None = None) -> Json:
    """A whole run, as `diskprof show --json` and `diskprof run --json` print it.

    `kernel` is what the kernel saw of each test that it looked at, by the test's number.
    """
    seen = kernel or {}
    return {
        "id": run.id,
        "status": str(run.status),
        "reason": run.reason,
        "preset": run.plan.preset,
        "title": run.plan.preset_title,
        "category": str(run.plan.category),
        "target": _target(run.plan.target),
        "targets": _targets(run.plan),
        "parameters": dict(run.plan.parameters),
        "started_at": _time(run.started_at),
        "ended_at": _time(run.ended_at),
        "tags": list(run.tags),
        "note": run.note,
        "environment": environment_json(run.environment),
        **_endurance(run.plan),
        "expectations": [judgement_json(judgement) for judgement in judge(run)],
        "findings": [_finding(finding) for finding in run.findings],
        "messages": [_message(message, run.tests) for message in run.messages],
        "progress": _progress(run.progress, run.tests) if run.progress and not run.status.over else None,
        "tests": [{**_test(test), "kernel": _kernel(seen.get(test.index))} for test in run.tests],
        "sweep": sweep_json(run),
    }


def summaries_json(summaries: Sequence[RunSummary]) -> list[Json]:
    """The list of runs, as `diskprof runs --json` prints it."""
    return [
        {
            "id": summary.id,
            "status": str(summary.status),
            "preset": summary.preset,
            "title": summary.preset_title,
            "target": summary.target,
            "device": summary.device,
            "hostname": summary.hostname,
            "started_at": _time(summary.started_at),
            "duration_s": summary.duration_s,
            "tags": list(summary.tags),
            "note": summary.note,
            "headline": summary.headline,
        }
        for summary in summaries
    ]


def comparison_json(comparison: Comparison) -> Json:
    """A comparison, as `diskprof compare --format json` prints it. The first run is what the others are measured against."""
    return {
        "runs": [
            {
                "id": column.id,
                "label": column.label,
                "status": str(column.status),
                "preset": column.preset,
                "target": column.target,
                "hostname": column.hostname,
                "started_at": _time(column.started_at),
                "tags": list(column.tags),
                "findings": [_finding(finding) for finding in column.findings],
            }
            for column in comparison.columns
        ],
        "conditions": [_condition(condition) for condition in comparison.conditions],
        "within_ns": comparison.within_ns,
        "expectations": [common_json(expectation) for expectation in comparison.expectations],
        "tests": [
            {
                "name": test.name,
                "title": test.title,
                "engine": str(test.engine),
                "statuses": [str(status) if status else None for status in test.statuses],
                **_cell(test.cell),
                "options": [_option(option) for option in test.options],
                "metrics": [_row(row) for row in test.rows],
            }
            for test in comparison.tests
        ],
    }


def plan_json(plan: Plan) -> Json:
    """A plan, as `diskprof run --dry-run --json` prints it."""
    return {
        "preset": plan.preset,
        "title": plan.preset_title,
        "category": str(plan.category),
        "target": _target(plan.target),
        "targets": _targets(plan),
        "parameters": dict(plan.parameters),
        "seconds": plan.seconds,
        "bytes_written": plan.bytes_written,
        "writes_exact": plan.writes_exact,
        "space_needed": plan.space_needed,
        **_endurance(plan),
        "test_file": (
            {
                "directory": plan.test_file.directory,
                "path": plan.test_file.path,
                "size_bytes": plan.test_file.size_bytes,
            }
            if plan.test_file
            else None
        ),
        "expectations": [expectation_json(expectation) for expectation in plan.expectations],
        "sweep": axes_json(plan),
        "hazards": [_hazard(hazard) for hazard in plan.hazards],
        "blocked": bool(plan.blocked),
        "layout": _planned(plan.layout) if plan.layout else None,
        "tests": [_planned(test) for test in plan.tests],
    }


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _target(target: Target) -> Json:
    return {
        "kind": str(target.kind),
        "path": target.path,
        "device": target.device,
        "mount_point": target.mount_point,
        "fs_type": target.fs_type,
        "size_bytes": target.size_bytes,
        "free_bytes": target.free_bytes,
    }


def _targets(plan: Plan) -> list[Json]:
    """Every target with the name of its slot, null where the preset names none."""
    return [{"slot": slot or None, **_target(target)} for slot, target in targets(plan)]


def _cell(cell: Sequence[tuple[str, str]]) -> Json:
    """A test's place in a sweep; nothing where it has none."""
    return {"cell": dict(cell)} if cell else {}


def _kernel(view: KernelView | None) -> Json | None:
    """iostat's figures of the measuring phase under our names; null where the kernel did not look."""
    return asdict(view) if view else None


def _finding(finding: Finding) -> Json:
    return {
        "name": finding.name,
        "weight": str(finding.weight),
        "test": finding.test or None,
        "message": finding.message,
        "evidence": finding.evidence,
        "advice": finding.advice,
    }


def _message(message: Message, tests: Sequence[TestRecord]) -> Json:
    return {
        "at_ns": message.at_ns,
        "test": _test_name(message.test, tests),
        "warning": message.warning,
        "text": message.text,
    }


def _progress(progress: Progress, tests: Sequence[TestRecord]) -> Json:
    return {
        "test": _test_name(progress.test, tests),
        "phase": str(progress.phase),
        "fraction": progress.fraction,
        "overall": progress.overall,
        "remaining_s": progress.remaining_s,
        "silent_s": progress.silent_s,
    }


def _test_name(index: int | None, tests: Sequence[TestRecord]) -> str | None:
    return next((test.name for test in tests if test.index == index), None)


def _test(test: TestRecord) -> Json:
    found: Json = {
        "name": test.name,
        "title": test.planned.title,
        "engine": str(test.engine),
        "status": str(test.status),
        "reason": test.reason,
        **_cell(test.planned.cell),
        "argv": list(test.planned.argv),
    }
    if test.result:
        for direction, result in test.result.directions:
            found[str(direction)] = _direction(result)
        if test.result.cpu:
            found["cpu"] = {
                "user_percent": test.result.cpu.user_percent,
                "system_percent": test.result.cpu.system_percent,
            }
        if test.result.sync:
            found["sync_latency_ns"] = _latency(test.result.sync)
    return found


def _direction(result: DirectionResult) -> Json:
    return {
        "ios": result.ios,
        "bytes": result.bytes,
        "iops": result.iops,
        "bandwidth_bytes_per_s": result.bandwidth_bytes_per_s,
        "runtime_ms": result.runtime_ms,
        "latency_ns": _latency(result.latency),
        "submission_latency_mean_ns": result.slat_mean,
    }


def _latency(latency: Latency) -> Json:
    return {
        "mean": latency.mean,
        "min": latency.min,
        "max": latency.max,
        "stddev": latency.stddev,
        "p50": latency.p50,
        "p90": latency.p90,
        "p95": latency.p95,
        "p99": latency.p99,
        "p99_9": latency.p99_9,
    }


def _condition(condition: Condition) -> Json:
    return {"name": condition.name, "values": list(condition.values)}


def _option(option: OptionDifference) -> Json:
    return {"option": option.option, "job": option.job or None, "values": list(option.values)}


def _row(row: Row) -> Json:
    return {
        "metric": str(row.metric),
        "direction": str(row.direction) if row.direction else None,
        "better": str(row.better),
        "cells": [
            {
                "value": cell.value,
                "difference": cell.difference,
                "ratio": cell.ratio,
                "verdict": str(cell.verdict) if cell.verdict else None,
            }
            for cell in row.cells
        ],
    }


def _endurance(plan: Plan) -> Json:
    """What the disks that are written to said of their wear, and the share of it that the writes of the plan take."""
    return {
        "endurance_share": share_of(plan.bytes_written, plan.wear) if plan.bytes_written else None,
        "wear": [
            {
                "device": wear.device,
                "used_percent": wear.used_percent,
                "written_bytes": wear.written_bytes,
                "rated_bytes": wear.rated_bytes,
            }
            for wear in plan.wear
        ],
    }


def _hazard(hazard: Hazard) -> Json:
    return {
        "name": hazard.name,
        "severity": str(hazard.severity),
        "message": hazard.message,
        "advice": hazard.advice,
    }


def _planned(test: PlannedTest) -> Json:
    return {
        "name": test.name,
        "title": test.title,
        "engine": str(test.engine),
        **_cell(test.cell),
        "argv": list(test.argv),
        "ramp_s": test.ramp_s,
        "runtime_s": test.runtime_s,
        "delay_s": test.delay_s,
        "amount_bytes": test.amount_bytes,
        "bytes_written": test.bytes_written,
        "writes_exact": test.writes_exact,
    }
