"""Disks of this machine, each alone first, then all together, by the coordinator of fleet runs."""

from collections.abc import Sequence
from pathlib import Path

from diskprof.fleet.detached import start_coordinator
from diskprof.fleet.order import FleetOrder, MemberPlan
from diskprof.model.fleet import FleetMember, NewFleet
from diskprof.model.plan import Plan
from diskprof.model.run import FleetStage
from diskprof.own_program import own_program


def start_each_disk(
    plans: Sequence[Plan], store: Path, *, tags: Sequence[str] = (), note: str = "", concurrent: bool = False
) -> str:
    """Starts the plans of one preset, each on a disk of its own; returns the id of the fleet run once the first has begun.

    Raises the DiskprofError that kept it from starting: then nothing runs.
    """
    members = tuple(FleetMember(None, ", ".join(target.path for target in plan.targets)) for plan in plans)
    new = NewFleet(plans[0].preset, plans[0].preset_title, members)
    program = own_program()
    return start_coordinator(
        FleetOrder(
            *(new, tuple(MemberPlan(plan, program) for plan in plans), str(store), tuple(tags), note),
            concurrent=concurrent,
            stages=tuple(FleetStage),
        )
    )
