"""Fleet runs in a list of runs: one row each."""

from collections.abc import Sequence

from diskprof.analysis.fleet.result import labels, noun_of
from diskprof.model.fleet import FleetRun, MemberState
from diskprof.model.run import FleetStage, RunSummary, Status
from diskprof.reports import figures


def fleet_row(fleet: FleetRun, runs: Sequence[RunSummary]) -> RunSummary:
    """A fleet run as a row among runs. `runs`, one at least, begin with the newest."""
    took = (fleet.ended_at - fleet.started_at).total_seconds() if fleet.ended_at else None
    disks = list(dict.fromkeys(run.device for run in reversed(runs)))
    return runs[0]._replace(
        id=fleet.id,
        status=fleet.status,
        target=", ".join(labels(fleet)),
        device=disks[0] if len(disks) == 1 else figures.count(len(disks), "disk"),
        hostname=", ".join(dict.fromkeys(run.hostname for run in reversed(runs))),
        started_at=fleet.started_at,
        duration_s=took,
        headline=row_words(fleet, runs),
        # Each host's own has its name for a tag, too.
        tags=tuple(tag for tag in runs[0].tags if all(tag in run.tags for run in runs)),
        doubts=tuple(dict.fromkeys(doubt for run in reversed(runs) for doubt in run.doubts)),
        fleet=None,
    )


def row_words(fleet: FleetRun, runs: Sequence[RunSummary]) -> str:
    """`4 hosts`; `3 of 4 hosts, 1 lost`; `6 disks, alone and together`; `4 hosts, 3 repeats`; `4 hosts, 10 of 12 runs`."""
    noun = noun_of(fleet)
    complete = {run.fleet.member for run in runs if run.fleet and run.status is Status.COMPLETE}
    count = len(fleet.members)
    words = figures.count(count, noun) if len(complete) == count else f"{len(complete)} of {figures.count(count, noun)}"
    lost = sum(status.state is MemberState.LOST for status in fleet.statuses)
    stages = {run.fleet.stage for run in runs if run.fleet}
    alone = " and ".join(stage for stage in FleetStage if stage in stages) if FleetStage.ALONE in stages else ""
    return ", ".join(filter(None, (words, f"{lost} lost" if lost else "", alone, _repeats(fleet, runs, len(stages)))))


def _repeats(fleet: FleetRun, runs: Sequence[RunSummary], stages: int) -> str:
    if not fleet.is_repeated:
        return ""
    complete = sum(run.status is Status.COMPLETE for run in runs)
    wanted = (fleet.wanted.repeats or 0) * len(fleet.members) * stages
    if not wanted:
        return figures.count(complete, "run")
    return f"{complete} of {wanted} runs" if complete < wanted else figures.count(fleet.wanted.repeats or 0, "repeat")
