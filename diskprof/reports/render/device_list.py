"""The list of devices: a tree like lsblk's for a person, plain values for a program."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from diskprof.model.cells import cut, width_of
from diskprof.model.device import Activity, Device, DeviceKind, DeviceTree, branches
from diskprof.model.units import format_percent, format_size
from diskprof.reports.layout import Column, plain, table

UNCUT = 1_000_000
"""A width at which nothing is shortened."""

_AS_LSBLK = str.maketrans("├└─│", "|`-|")
"""The branches of the tree in ASCII, as lsblk has them."""
_NAME, _SERIAL = "NAME", "SERIAL"
_WIDE = (
    Column(_NAME, least=20, cut=2, middle=True),
    Column("SIZE", right=True),
    Column("TYPE"),
    Column("TRAN"),
    Column("FS"),
    Column("MOUNTED ON", least=16, cut=1, middle=True),
    Column("FREE", right=True),
    Column("BUSY", right=True),
    # What is typed to confirm a write: half of it is worth nothing.
    Column(_SERIAL),
    Column("MODEL OR LABEL", least=20, middle=True),
)
_NARROW = (
    Column(_NAME, least=13, middle=True),
    Column("SIZE", right=True),
    Column("TYPE"),
    Column("FREE", right=True),
    Column("BUSY", right=True),
)
_LEAST_MODEL, _LEAST_CONTENT = 6, 10
_LEAST_ROOM, _ROOM = 10, 28


def devices_text(
    tree: DeviceTree,
    activity: Mapping[str, Activity],
    width: int,
    *,
    show_empty: bool = False,
    ascii_only: bool = False,
) -> str:
    """The tree as lines of at most `width` columns; a device that rests on several stands below each of them."""
    walked = list(tree.walk(show_empty=show_empty))
    drawn = branches([depth for depth, _ in walked])
    names = [branch + plain(device.label) for branch, (_, device) in zip(drawn, walked, strict=True)]
    devices = [device for _, device in walked]
    lines = _wide(names, devices, activity, width)
    if max(map(width_of, lines)) > width:
        lines = _narrow(names, devices, activity, width)
    if ascii_only:
        lines = [line.translate(_AS_LSBLK).encode("ascii", "replace").decode() for line in lines]
    return "".join(f"{line}\n" for line in lines)


def devices_json(
    tree: DeviceTree, activity: Mapping[str, Activity], *, show_empty: bool = False
) -> list[dict[str, Any]]:
    """Every device with all that is known of it, sizes in bytes, in the tree's order; `parents` and `children` are names."""
    shown = {device.name for _, device in tree.walk(show_empty=show_empty)}
    found = []
    for device in tree.devices:
        if device.name in shown:
            now = activity.get(device.name)
            found.append({**to_builtins(device), "activity": to_builtins(now) if now else None})
    return found


def hidden_count(tree: DeviceTree) -> int:
    """How many devices are left out because they are empty."""
    return len(tree.devices) - len({device.name for _, device in tree.walk()})


def _wide(names: Sequence[str], devices: Sequence[Device], activity: Mapping[str, Activity], width: int) -> list[str]:
    """A column for each thing; none for serial numbers where no device has one."""
    shown = [at for at, heading in enumerate(_WIDE) if heading.text != _SERIAL or any(each.serial for each in devices)]
    rows = []
    for name, device in zip(names, devices, strict=True):
        cells = (
            name,
            format_size(device.size_bytes),
            _type(device),
            _transport(device),
            plain(device.fs_type),
            _place(device),
            _free(device),
            _busy(activity.get(device.name)),
            plain(device.serial),
            " ".join(filter(None, (_model(device), _label(device)))),
        )
        rows.append([cells[at] for at in shown])
    return table([_WIDE[at] for at in shown], rows, width)


def _narrow(names: Sequence[str], devices: Sequence[Device], activity: Mapping[str, Activity], width: int) -> list[str]:
    """Disks have no mounts and partitions no models: on a narrow screen they share a column."""
    rows = [
        [
            name,
            format_size(device.size_bytes),
            _type(device),
            _free(device),
            _busy(activity.get(device.name)),
        ]
        for name, device in zip(names, devices, strict=True)
    ]
    least = _ROOM if width >= 80 else _LEAST_ROOM
    # A column of its own, so that each line is filled up to the next.
    lines = table((*_NARROW, Column("|")), [[*row, "|"] for row in rows], width - least + 1)
    room = width - width_of(lines[0]) + 1
    words = ["WHAT IT IS", *(_what_it_is(device, room) for device in devices)]
    return [(line[:-1] + said).rstrip() for line, said in zip(lines, words, strict=True)]


def _what_it_is(device: Device, room: int) -> str:
    """In `room` cells: the model is cut first, then what lies on it, a serial number never."""
    transport, model, serial = _transport(device), _model(device), plain(device.serial)
    place = f"on {_place(device)}" if device.mounts else _place(device)
    content = " ".join(filter(None, (plain(device.fs_type), _label(device), place)))

    def joined() -> str:
        return ", ".join(filter(None, (transport, model, serial, content)))

    def excess() -> int:
        return max(0, width_of(joined()) - room)

    model = cut(model, max(_LEAST_MODEL, width_of(model) - excess()), middle=True)
    content = content if not excess() else " ".join(filter(None, (plain(device.fs_type), place)))
    model = "" if serial and excess() else model
    transport = "" if serial and excess() else transport
    content = cut(content, max(_LEAST_CONTENT, width_of(content) - excess()), middle=True)
    model = "" if excess() else model
    content = cut(content, max(0, width_of(content) - excess()), middle=True)
    return joined()


def _model(device: Device) -> str:
    return plain(device.model or device.backing_file)


def _type(device: Device) -> str:
    return f"{device.kind} ro" if device.read_only else str(device.kind)


def _transport(device: Device) -> str:
    hidden = device.kind in (DeviceKind.PARTITION, DeviceKind.LOOP)
    return "" if hidden else str(device.transport)


def _place(device: Device) -> str:
    more = f" +{len(device.mounts) - 1}" if len(device.mounts) > 1 else ""
    return plain(device.mounts[0].path) + more if device.mounts else "[SWAP]" if device.swap else ""


def _free(device: Device) -> str:
    free = device.mounts[0].free_bytes if device.mounts else None
    return "" if free is None else format_size(free)


def _busy(activity: Activity | None) -> str:
    return format_percent(activity.utilisation) if activity else ""


def _label(device: Device) -> str:
    return f'"{plain(device.fs_label)}"' if device.fs_label else ""
