"""Writing to raw devices: what the machine needs for itself, what a plan may write to, and who said so by its name."""

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from diskprof.devices.guard.exclusive import raw_device
from diskprof.devices.scan.mounts import read_mountinfo
from diskprof.model.advice import Advice
from diskprof.model.device import DeviceTree, Wear, share_words
from diskprof.model.errors import DiskprofError, Refused
from diskprof.model.plan import Hazard, Plan, RawDevice, Severity, WritePermission
from diskprof.model.target import Target, TargetKind
from diskprof.model.text import clean
from diskprof.model.units import format_size
from diskprof.store import default_path

_OF_THE_MACHINE = ("/", "/boot", "/boot/efi", "/efi", "/usr", "/var", "/home")


def needed_places(store: Path | None = None) -> Mapping[str, str]:
    """Paths that the machine, its user and diskprof itself live on, each with a word for it. `store`: where runs are kept."""
    # What is neither mounted nor a link to elsewhere lies with the directory above it.
    mounted = {entry.path for entry in read_mountinfo()}
    places = {path: path for path in _OF_THE_MACHINE if path in mounted or Path(path).is_symlink()}
    try:
        store = store or default_path()
        home: Path | None = Path.home()
    except (DiskprofError, RuntimeError):
        home = None
    more = (
        (home, "your home directory"),
        (store, "the run database"),
        (Path(sys.executable), "the running program"),
        (Path(__file__), "the running program"),
    )
    return places | {str(path): word for path, word in more if path}


def written_devices(
    written: Iterable[tuple[Target, int]], tree: DeviceTree, permission: WritePermission
) -> tuple[RawDevice, ...]:
    """What a plan is to remember of the raw devices that it writes to, given the bytes for each target; none without permission."""
    amounts: dict[str, int] = {}
    for target, amount in written:
        if permission.allowed and target.kind is TargetKind.DEVICE and amount:
            amounts[target.device] = amounts.get(target.device, 0) + amount
    return tuple(
        raw_device(device, bytes_written=amount, overwrites=permission.signatures)
        for name, amount in amounts.items()
        if (device := tree.get(name))
    )


def write_budget(device: RawDevice, wear: Sequence[Wear] = ()) -> Hazard:
    """How much will be written to a device: in bytes, as a share of it and, by the `wear` of its disks, of their endurance."""
    share = device.bytes_written / device.size_bytes
    part = (
        f"{100 * share:.2g}% of its"
        if share < 1
        else f"{share:.3g} times its"
        if share < 1000
        else f"{share:,.0f} times its"
    )
    endurance = share_words(device.bytes_written, wear)
    return Hazard(
        "write-budget",
        Severity.NOTES,
        f"About {format_size(device.bytes_written)} will be written to {device.node}, {part} "
        f"{format_size(device.size_bytes)}" + (f", {endurance}." if endurance else "."),
        " ".join(("Existing data is lost; flash wears accordingly.", *(f"{each.words}." for each in wear))),
    )


def preconditioning(target: Target, written: int, wear: Sequence[Wear]) -> Hazard:
    """Nobody has agreed yet that so many bytes are `written` to a device before the first test."""
    share = share_words(written, wear)
    return Hazard(
        "precondition",
        Severity.BLOCKS,
        f"Preconditioning would write about {format_size(written)} to {target.path}{f', {share}' if share else ''}, "
        "before the first test.",
        Advice(
            "To agree: --set precondition=yes. Without it: --set precondition=no; the results are then those of the disk as it is.",
            "To agree, edit the preset: precondition yes. Without it: no; the results are then those of the disk as it is.",
        ),
    )


def confirmed(plan: Plan, typed: Sequence[str]) -> Plan:
    """The plan with what was typed to name its raw devices. Raises Refused unless each is named by its name or serial number.

    Nothing else stands in for that: no yes, no answer to another question.
    """
    words = [text.strip() for text in typed]
    devices = []
    for device in plan.raw_devices:
        word = next((word for word in words if word and word in device.names), "")
        if not word:
            said = f"{clean(words[0][:60])!r} is not" if any(words) else "Not confirmed: give"
            raise Refused(f"{said} the name of {device.node}, which would be overwritten.", how_to_name(device))
        devices.append(replace(device, confirmed=word))
    return replace(plan, raw_devices=tuple(devices))


def what_to_type(device: RawDevice) -> str:
    """What names a device: `its name (sdx) or its serial number (S4EW)`."""
    serial = device.serial if device.serial in device.names else ""
    return f"its name ({device.label})" + (f" or its serial number ({clean(serial)})" if serial else "")


def how_to_name(device: RawDevice) -> Advice:
    """What to type on a terminal, or to give in a script."""
    given = device.serial if device.serial in device.names else device.label
    what = f"Type {what_to_type(device)}"
    return Advice(f"{what}; in a script: --confirm-device {shlex.quote(given)}", f"{what}.")


def refuse_unconfirmed(plan: Plan) -> None:
    """Raises Refused for a plan that writes to a device which nobody named."""
    for device in plan.raw_devices:
        if device.confirmed not in device.names:
            raise Refused(f"Not confirmed: device name required to overwrite {device.node}.", how_to_name(device))
