"""Runs beside runs: waiting for those on the same disk, or starting in spite of them."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from diskprof.cli.planning import Request, plan_of
from diskprof.model.errors import StoreError
from diskprof.model.plan import Plan
from diskprof.store import Store

if TYPE_CHECKING:
    from diskprof.runner.carry.begin import Begun

_PERIOD_S = 0.5


@dataclass(frozen=True, slots=True)
class Company:
    """What to do about other runs on the same disk: wait for them, start beside them, or (neither) refuse."""

    wait: bool = False
    concurrent: bool = False


@contextmanager
def begun_in(company: Company, plan: Plan, store: Store, tags: Sequence[str], note: str) -> Iterator["Begun"]:
    """A run of this process, begun as soon as `company` allows. Raises what refuses it."""
    from diskprof.runner.carry.begin import begun
    from diskprof.runner.neighbours import Occupied

    with ExitStack() as stack:
        while True:
            if company.wait:
                wait_for_others(plan, store)
            try:
                run = stack.enter_context(begun(plan, store, tags=tags, note=note, concurrent=company.concurrent))
            except Occupied:
                # Another that waited was quicker.
                if not company.wait:
                    raise
            else:
                break
        yield run


def plan_in(company: Company, request: Request, ctx: click.Context) -> Plan:
    """The plan of a request, made anew where another run was in its way and has been waited for.

    Raises what refuses it; Occupied, which names the run, where another run may be what blocks it.
    """
    from diskprof.devices.scan.udev import topology
    from diskprof.runner.neighbours import refuse_beside_others
    from diskprof.runner.plan.planner import refuse_if_blocked

    plan = plan_of(request)
    if plan.blocked and not company.concurrent:
        # A store that cannot be read has no say here: it is asked again before the start.
        with suppress(StoreError), Store.open(ctx.find_root().obj, create=False) as store:
            if company.wait and wait_for_others(plan, store):
                plan = plan_of(request)
            refuse_beside_others(plan, store, topology())
    refuse_if_blocked(plan)
    return plan


def wait_for_others(plan: Plan, store: Store) -> bool:
    """Returns once no other run works on a disk of the plan, and whether there was one; says on stderr whom it waits for."""
    from diskprof.devices.scan.udev import topology
    from diskprof.runner.neighbours import is_there, neighbours

    told = set[str]()
    while others := neighbours(plan, store, topology()):
        for other in others:
            if other.run_id not in told:
                told.add(other.run_id)
                click.echo(f"{other.words}. Waiting for its end; Ctrl+C gives up.", err=True)
        # Little is asked meanwhile: who waits must not disturb what is being measured.
        while all(is_there(other, store) for other in others):
            time.sleep(_PERIOD_S)
        store.reap()
    return bool(told)
