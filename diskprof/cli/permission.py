"""What is asked before a run that writes to a device, and what is told at its start."""

from collections.abc import Sequence

import click

from diskprof.model.plan import Plan, RawDevice
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.store import Store


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
    click.echo(f"{device.node} ({clean(about)}) will be overwritten. What is on it is lost.", err=True)
    answer: str = click.prompt(f"To start, type {what_to_type(device)}", default="", show_default=False, err=True)
    return answer


def tell_of_leftovers(plan: Plan, store: Store) -> None:
    """Says in a line on stderr what killed runs left behind, runs of other stores included where the plan works."""
    from diskprof.runner.leftovers import beside, notice

    if line := notice(store, beside(plan, store)):
        click.echo(line, err=True)
