"""How arrays (md) and multipath devices are at this moment, by sysfs: members and paths that failed, a resync under way.

Of an array that the device mapper runs (LVM's RAID) sysfs says nothing of the kind (F79).
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from diskprof.devices.scan.files import SYSTEM, Roots, list_names, read_int, read_text
from diskprof.devices.scan.sysfs import natural
from diskprof.model.device import Parts
from diskprof.model.plan import Hazard, Severity
from diskprof.model.text import clean
from diskprof.model.units import format_percent

_SYNCING = {
    "resync": "is resyncing",
    "recover": "is rebuilding a member",
    "check": "is being checked",
    "repair": "is being repaired",
    "reshape": "is being reshaped",
}
# Of SCSI disks and of NVMe controllers; a state such as "blocked" or "resetting" passes by itself.
_FAILED_PATH = frozenset({"offline", "transport-offline", "cancel", "deleted", "dead", "deleting", "deleting (no IO)"})


def parts_of(names: Iterable[str], roots: Roots = SYSTEM) -> tuple[Parts, ...]:
    """The parts of those of the devices (kernel names) that are arrays or multipath devices."""
    found = (_of_array(name, roots) or _of_multipath(name, roots) for name in dict.fromkeys(names))
    return tuple(filter(None, found))


def parts_hazards(names: Iterable[str], roots: Roots = SYSTEM) -> Iterator[Hazard]:
    """What of the devices' parts speaks against a test now."""
    for parts in parts_of(names, roots):
        if parts.sync:
            done = f" ({format_percent(parts.synced)})" if parts.synced is not None else ""
            yield Hazard(
                "array-sync",
                Severity.WARNS,
                f"{parts.name} {_SYNCING[parts.sync]}{done}: it uses the same disks.",
                "Wait until it is done (cat /proc/mdstat).",
            )
        if parts.missing:
            yield Hazard(
                "array-degraded",
                Severity.WARNS,
                f"{parts.name} runs with {parts.wanted - parts.missing} of {parts.wanted} members{_failed(parts)}.",
                f"Results are for the degraded array: see mdadm --detail /dev/{parts.name}.",
            )
        if parts.paths and parts.failed:
            all_paths = len(parts.good) + len(parts.failed)
            yield Hazard(
                "path-lost",
                Severity.WARNS,
                f"{parts.name} runs with {len(parts.good)} of {all_paths} paths{_failed(parts)}.",
                f"Results are for the remaining paths: see multipath -ll {parts.name}.",
            )


def _failed(parts: Parts) -> str:
    return f": {', '.join(parts.failed)} failed" if parts.failed else ""


def _of_array(name: str, roots: Roots) -> Parts | None:
    md = roots.blocks / name / "md"
    wanted = re.match(r"\d+", read_text(md / "raid_disks"))
    if not wanted:
        return None
    states = {}
    for entry in list_names(md):
        if entry.startswith("dev-"):
            states[entry.removeprefix("dev-")] = read_text(md / entry / "state").split(",")
    failed = sorted((member for member, state in states.items() if "faulty" in state), key=natural)
    good = sorted((member for member, state in states.items() if "in_sync" in state), key=natural)
    action, progress = read_text(md / "sync_action"), read_text(md / "sync_completed")
    # "delayed" waits for another array on the same disks, "none" has not begun.
    done = re.fullmatch(r"(\d+) / (\d+)", progress)
    runs = action in _SYNCING and progress not in ("delayed", "none")
    return Parts(
        name,
        paths=False,
        good=tuple(member for member in good if member not in failed),
        failed=tuple(failed),
        wanted=int(wanted[0]),
        missing=read_int(md / "degraded") or 0,
        sync=action if runs else "",
        synced=int(done[1]) / int(done[2]) if runs and done and int(done[2]) else None,
    )


def _of_multipath(name: str, roots: Roots) -> Parts | None:
    device = roots.blocks / name
    if not read_text(device / "dm" / "uuid").startswith("mpath-"):
        return None
    paths = sorted(list_names(device / "slaves"), key=natural)
    failed = tuple(path for path in paths if _is_failed(roots.blocks / path))
    good = tuple(path for path in paths if path not in failed)
    return Parts(clean(read_text(device / "dm" / "name")) or name, paths=True, good=good, failed=failed)


def _is_failed(path: Path) -> bool:
    """A path that was pulled stays among the slaves until the map is loaded anew."""
    return not path.exists() or read_text(path / "device" / "state") in _FAILED_PATH
