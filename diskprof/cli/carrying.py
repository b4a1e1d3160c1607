"""A plan carried out by this process: its devices named, what lies about told, its progress on stderr."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from diskprof.cli.following import following
from diskprof.cli.planning import tell_of_waiting
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError
from diskprof.model.plan import Plan, RawDevice
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.reports.formats import FollowFormat
from diskprof.runner.session import Company, Session
from diskprof.store import Item, Store

if TYPE_CHECKING:
    from diskprof.runner.carry.begin import Begun


def named(plan: Plan, confirm: Sequence[str], *, asking: bool) -> Plan:
    """The plan with every device that it writes to named: by `confirm`, or typed on the terminal where `asking`.

    Raises Refused where it is named by neither. A plan without such devices comes back as it is.
    """
    if not plan.raw_devices:
        return plan
    from diskprof.runner.plan.write_permission import confirmed

    if asking and not confirm:
        confirm = [_ask(device) for device in plan.raw_devices]
    return confirmed(plan, confirm)


def _ask(device: RawDevice) -> str:
    from diskprof.runner.plan.write_permission import what_to_type

    about = ", ".join(filter(None, (device.model, device.serial, format_size(device.size_bytes))))
    say(f"{device.node} ({clean(about)}) will be overwritten. What is on it is lost.")
    answer: str = click.prompt(f"To start, type {what_to_type(device)}", default="", show_default=False, err=True)
    return answer


def tell_of_leftovers(plan: Plan, store: Store) -> None:
    """Says in a line on stderr what killed runs left behind, runs of other stores included where the plan works."""
    from diskprof.runner.leftovers import beside, notice

    if line := notice(store, beside(plan, store)):
        say(line)


def run_here(
    session: Session,
    plan: Plan,
    store: Store,
    tags: Sequence[str],
    note: str,
    company: Company,
    follow: FollowFormat | None = None,
) -> str:
    """Carries the plan out in this process, with progress on stderr; returns the run's id."""
    with session.begun(plan, store, company, tell_of_waiting, tags=tags, note=note) as run:
        with following(store.path, Item(run.run_id), follow):
            asyncio.run(_execute(run))
        return run.run_id


async def _execute(run: "Begun") -> None:
    from diskprof.cli.watching import watch
    from diskprof.runner.carry.execute import StopRequest, execute

    stop = StopRequest()
    stop.on_signals()
    line = asyncio.create_task(watch(run.store.path, run.run_id))
    try:
        await execute(run, stop)
    except DiskprofError:
        # The store could not be written: it will never say that the run is over.
        line.cancel()
        raise
    finally:
        with suppress(asyncio.CancelledError):
            await line
