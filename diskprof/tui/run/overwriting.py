"""Writing to a raw device from the screen: what has to be typed, and the plan that may start once it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from diskprof.model.errors import Refused
from diskprof.model.plan import Plan, RawDevice, WritePermission
from diskprof.model.text import clean
from diskprof.tui.dialogs.form import Field
from diskprof.tui.run.plan_request import Outlook, plan_of

if TYPE_CHECKING:
    from diskprof.model.preset import Preset
    from diskprof.tui.shell.services import Services


def overwrite_fields(plan: Plan) -> list[Field]:
    """One for the name of each device that is written to, one for each signature that is given up with it. All begin empty."""
    from diskprof.runner.plan.write_permission import what_to_type

    names = [
        Field(_name(at), f"To overwrite {device.node}, type {what_to_type(device)}", "", "", _name_check(device))
        for at, device in enumerate(plan.raw_devices)
    ]
    kinds = [
        Field(
            f"signature-{at}", f"To give up what lies there, type its type ({clean(kind)})", "", "", _kind_check(kind)
        )
        for at, kind in enumerate(plan.to_give_up)
    ]
    return [*names, *kinds]


def permitted(services: Services, outlook: Outlook, preset: Preset, typed: Mapping[str, str]) -> Plan:
    """The plan of `outlook` with its devices named by what was typed, made anew where signatures are given up.

    `typed` are the values of `overwrite_fields`. Looks at the devices, so it belongs in a thread. Raises Refused unless each
    device is named, and what refuses the plan.
    """
    from diskprof.runner.plan.write_permission import confirmed

    plan = outlook.plan
    assert plan is not None
    names = [typed[_name(at)] for at in range(len(plan.raw_devices))]
    if plan.to_give_up:
        permission = WritePermission(allowed=True, signatures=plan.to_give_up)
        plan = plan_of(services, replace(outlook.wish, permission=permission), preset)
    return confirmed(plan, names)


def _name(at: int) -> str:
    return f"device-{at}"


def _name_check(device: RawDevice) -> Callable[[str], str]:
    def check(text: str) -> str:
        from diskprof.runner.plan.write_permission import what_to_type

        word = text.strip()
        if word not in device.names:
            said = f"{clean(word[:40])!r} is not the name of {device.node}." if word else "Nothing is typed yet."
            raise Refused(said, f"Type {what_to_type(device)}.")
        return word

    return check


def _kind_check(kind: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        word = text.strip()
        if word != kind:
            said = f"{clean(word[:40])!r} is not what lies there." if word else "Nothing is typed yet."
            raise Refused(said, f"Type {clean(kind)} to give it up.")
        return word

    return check
