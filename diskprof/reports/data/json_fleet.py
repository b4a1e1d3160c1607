"""Fleet runs as JSON."""

from diskprof.analysis.fleet.compared import FleetsCompared
from diskprof.analysis.fleet.odd_ones import OddFigure, OddOne
from diskprof.analysis.fleet.result import FleetResult, labels
from diskprof.analysis.fleet.shared_findings import SharedFinding, shared_findings
from diskprof.analysis.fleet.sums import Sum, sums
from diskprof.analysis.fleet.together import Together, lost_together
from diskprof.analysis.series_figures import SeriesFigure
from diskprof.model.fleet import FleetPlan, FleetRun
from diskprof.model.run import FleetStage, Run, Status
from diskprof.reports.content.fleet.stands_out import all_odd_ones
from diskprof.reports.data.json import Json
from diskprof.reports.data.json_runs import comparison_json
from diskprof.reports.data.json_series import spread_json, wanted_json

_QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p99_9_ns": 0.999}


def fleet_json(result: FleetResult) -> Json:
    """A fleet run, as `diskprof show --json` prints it; its runs in short."""
    apart = result.apart
    return {
        **fleet_head(result.fleet),
        "complete_runs": sum(run.status is Status.COMPLETE for run in result.runs),
        "repeats": [_repeats(figure, result) for figure in result.repeat_figures],
        "sums": [_sum(each) for each in sums(result.together)],
        "odd": [_odd(each) for each in all_odd_ones(apart)],
        "alone_and_together": [_together(each) for each in lost_together(result.alone, result.together)],
        "findings": [_finding(each) for each in shared_findings(result.everyone)],
        "runs": [_run(run, result.fleet) for run in result.runs],
    }


def fleet_head(fleet: FleetRun) -> Json:
    """What a list has of a fleet run."""
    skew = fleet.skew
    return {
        "id": fleet.id,
        "kind": "fleet",
        "status": str(fleet.status),
        "reason": fleet.reason,
        "preset": fleet.preset,
        "title": fleet.preset_title,
        "members": [
            {
                "label": label,
                "host": member.host,
                "target": member.target,
                "state": str(status.state),
                "reason": status.reason,
            }
            for label, member, status in zip(labels(fleet), fleet.members, fleet.statuses, strict=True)
        ],
        "at_once": fleet.at_once,
        "wanted": wanted_json(fleet.wanted),
        "engine": str(fleet.engine),
        "skew_s": None if skew is None else skew.total_seconds(),
        "skew_within_s": None if skew is None else fleet.skew_within.total_seconds(),
        "started_at": fleet.started_at.isoformat(),
        "ended_at": fleet.ended_at and fleet.ended_at.isoformat(),
    }


def fleet_plan_json(planned: FleetPlan) -> Json:
    """How often a fleet run would run and what that takes, as `diskprof run HOST:TARGET --dry-run --json` prints it."""
    return {
        "wanted": wanted_json(planned.wanted),
        "most_repeats": planned.most_repeats,
        "likely_seconds": planned.least_s,
        "bytes_written": planned.bytes_written,
        "writes_exact": planned.writes_exact,
    }


def _sum(each: Sum) -> Json:
    return {
        "test": each.test,
        "title": each.title,
        "direction": str(each.direction),
        "members": each.members,
        "iops": each.iops,
        "bandwidth_bytes_per_s": each.bandwidth_bytes_per_s,
        **{name: each.quantile(q) for name, q in _QUANTILES.items()},
    }


def _repeats(figure: SeriesFigure, result: FleetResult) -> Json:
    """A figure of a member over its repeats."""
    names, stages = labels(result.fleet), list(FleetStage)
    member, stage = divmod(figure.arm, len(stages))
    return {
        "member": names[member],
        "stage": str(stages[stage]),
        "title": figure.title,
        **spread_json(figure.spread),
        "values": list(figure.values),
    }


def _odd(odd: OddOne) -> Json:
    return {"member": odd.label, "figures": [_odd_figure(figure) for figure in odd.figures]}


def _odd_figure(figure: OddFigure) -> Json:
    return {
        "test": figure.name.test,
        "direction": str(figure.name.direction),
        "metric": str(figure.name.measure),
        "value": figure.value,
        "median_of_others": figure.median,
        "others": figure.others,
        "ratio": figure.apart + 1,
    }


def _together(each: Together) -> Json:
    return {
        "test": each.name.test,
        "direction": str(each.name.direction),
        "metric": str(each.name.measure),
        "alone": each.alone,
        "together": each.together,
        "lost": each.lost,
        "shared": None if each.part is None else each.part.name.lower(),
        "place": each.place,
        "disks": [
            {"member": disk.label, "alone": disk.alone, "together": disk.together, "lost": disk.lost}
            for disk in each.disks
        ],
    }


def _finding(shared: SharedFinding) -> Json:
    finding = shared.finding
    return {
        "name": finding.name,
        "weight": str(finding.weight),
        "message": finding.message,
        "evidence": finding.evidence,
        "advice": finding.advice,
        "members": list(shared.labels),
        "tests": list(shared.tests),
    }


def _run(run: Run, fleet: FleetRun) -> Json:
    place, names = run.fleet, labels(fleet)
    return {
        "id": run.id,
        "member": names[place.member] if place and place.member < len(names) else "",
        "stage": str(place.stage) if place else "",
        "repeat": place.repeat if place else None,
        "status": str(run.status),
        "reason": run.reason,
        "hostname": run.environment.hostname,
        "target": run.plan.target.path,
        "started_at": run.started_at.isoformat(),
        "tags": list(run.tags),
    }


def fleets_compared_json(compared: FleetsCompared) -> Json:
    """Several fleet runs side by side, as `diskprof compare FLEET FLEET --json` prints them: a comparison for each host."""
    members = [{"member": each.label, **comparison_json(each.comparison)} for each in compared.members]
    return {"members": members, "not_compared": list(compared.unpaired)}
