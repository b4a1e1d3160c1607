"""The machine and the disk at the start of a run, as far as the kernel tells."""

import platform
import re
import socket
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from diskprof import __version__
from diskprof.devices.machine.cgroups import GroupLimit, group_limits
from diskprof.devices.machine.cloud import cloud
from diskprof.devices.machine.process_watch import hidden_processes
from diskprof.devices.machine.watch import temperature_limit
from diskprof.devices.scan.files import SYSTEM, Roots, read_text
from diskprof.devices.scan.mounts import POOLING, as_mount, mount_of, space
from diskprof.devices.targets import resolve_target
from diskprof.model.device import Device, DeviceKind, DeviceTree, Mount
from diskprof.model.errors import UsageError
from diskprof.model.run import Environment, FurtherTarget
from diskprof.model.target import Target, TargetKind
from diskprof.model.text import clean

_VENDORS = (
    ("Amazon EC2", "Amazon EC2"),
    ("Google", "Google Compute Engine"),
    ("Microsoft Corporation", "Hyper-V"),
    ("VMware", "VMware"),
    ("innotek", "VirtualBox"),
    ("VirtualBox", "VirtualBox"),
    ("Parallels", "Parallels"),
    ("Xen", "Xen"),
    # QEMU names itself on arm64 by what it runs on: "KVM Virtual Machine" or "QEMU Virtual Machine" (F82).
    ("KVM", "KVM"),
    ("QEMU", "QEMU"),
    ("OpenStack", "OpenStack"),
    ("Bochs", "Bochs"),
    ("BHYVE", "bhyve"),
)
_CONTAINERS = ("docker", "kubepods", "containerd", "libpod", "lxc", "garden")


def describe(
    target: Target,
    tree: DeviceTree,
    *,
    fio_version: str,
    ioping_version: str,
    store: Path | None = None,
    others: Sequence[tuple[str, Target]] = (),
    roots: Roots = SYSTEM,
) -> Environment:
    """Everything about this machine that a result depends on; what is not known stays empty.

    `store` is the file of the runs, `others` are further targets with the names of their slots.
    """
    disks = tree.disks_below(target.device)
    further = tuple(_further(slot, other, tree) for slot, other in others)
    all_disks = [disk for one in (disks, *(other.disks for other in further)) for disk in one]
    every = dict.fromkeys(disk.name for disk in all_disks)
    backing = _backing(all_disks, tree)
    limits = _limits((target, *(other for _, other in others), *backing), tree, roots)
    quotas = [limit.cpus for limit in limits if limit.cpus is not None]
    cpus = read_text(roots.proc / "cpuinfo")
    memory = re.search(r"^MemTotal:\s*(\d+) kB", read_text(roots.proc / "meminfo"), re.MULTILINE)
    return Environment(
        hostname=clean(socket.gethostname()),
        os=clean(_distribution()),
        kernel=platform.release(),
        cpu_model=_cpu_model(cpus),
        cpus=len(re.findall(r"^processor\s*:", cpus, re.MULTILINE)),
        memory_bytes=int(memory[1]) * 1024 if memory else 0,
        virtualisation=virtualisation(roots),
        diskprof_version=__version__,
        fio_version=fio_version,
        ioping_version=ioping_version,
        device=tree.get(target.device),
        disks=disks,
        mount=_mount(target),
        cgroup_limits=tuple(dict.fromkeys(limit.words for limit in limits)),
        layers=tree.layers_below(target.device),
        store_disks=_store_disks(store, tree) if store else (),
        io_limits=tuple(dict.fromkeys(limit.io for limit in limits if limit.io)),
        cpu_limit=min(quotas, default=None),
        temperature_limit_c=temperature_limit(list(every), roots),
        others=further,
        behind=_names_below(backing, tree),
        cloud=cloud(roots),
        hidden_processes=hidden_processes(roots),
    )


def _further(slot: str, target: Target, tree: DeviceTree) -> FurtherTarget:
    name = target.device
    return FurtherTarget(slot, tree.get(name), tree.disks_below(name), tree.layers_below(name), _mount(target))


def _store_disks(store: Path, tree: DeviceTree) -> tuple[str, ...]:
    place = _place_of(store, tree)
    return tuple(disk.name for disk in tree.disks_below(place.device)) if place else ()


def _limits(places: Collection[Target | None], tree: DeviceTree, roots: Roots) -> tuple[GroupLimit, ...]:
    """The limits on CPUs and on the devices that the I/O of `places` goes through.

    Those on every device where one of the places does not tell all its devices: an overlay, zfs, a btrfs of several.
    """
    limits = group_limits(tree, roots)
    if any(not place or not place.device or place.fs_type in POOLING for place in places):
        return limits
    names = _names_below(places, tree)
    return tuple(limit for limit in limits if not limit.io or limit.io.device in names)


def _backing(disks: Sequence[Device], tree: DeviceTree) -> tuple[Target | None, ...]:
    """What the files of loop devices lie on, which may be loop devices themselves; None for a file that is out of sight."""
    found: dict[str, Target | None] = {}
    waiting = [disk.backing_file for disk in disks if disk.kind is DeviceKind.LOOP and disk.backing_file]
    while waiting:
        file = waiting.pop()
        place = found[file] = _place_of(Path(file), tree)
        below = tree.disks_below(place.device) if place else ()
        waiting += [disk.backing_file for disk in below if disk.backing_file and disk.backing_file not in found]
    return tuple(found.values())


def _names_below(places: Iterable[Target | None], tree: DeviceTree) -> tuple[str, ...]:
    """Every device that the I/O of `places` goes through, each once."""
    names = [place.device for place in places if place and place.device]
    every = [(tree.get(name), *tree.layers_below(name), *tree.disks_below(name)) for name in names]
    return tuple(dict.fromkeys(device.name for devices in every for device in devices if device))


def _place_of(file: Path, tree: DeviceTree) -> Target | None:
    """The directory that a file lies in; None where that cannot be reached."""
    try:
        return resolve_target(str(file.resolve().parent), tree)
    except UsageError:
        return None


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _cpu_model(cpuinfo: str) -> str:
    match = re.search(r"^(?:model name|Model|cpu model|cpu)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return clean(" ".join(match[1].split())) if match else platform.machine()


def _mount(target: Target) -> Mount | None:
    if target.kind is TargetKind.DEVICE:
        return None
    entry = mount_of(target.path)
    return as_mount(entry, space(target.path)) if entry else None


def virtualisation(roots: Roots = SYSTEM) -> str:
    """The hypervisor, or "virtual machine" where it does not name itself, and "container"; "" on bare metal."""
    return ", ".join(filter(None, (_hypervisor(roots), _container(roots))))


def _hypervisor(roots: Roots) -> str:
    identity = roots.sys / "class" / "dmi" / "id"
    words = " ".join(read_text(identity / name) for name in ("sys_vendor", "product_name", "bios_vendor"))
    guest = (
        re.search(r"^flags\s*:.*\bhypervisor\b", read_text(roots.proc / "cpuinfo"), re.MULTILINE) is not None
        or (roots.proc / "device-tree" / "hypervisor").exists()
    )
    kind = read_text(roots.sys / "hypervisor" / "type")
    privileged = "control_d" in read_text(roots.proc / "xen" / "capabilities")
    if kind and not privileged:
        guest = True
    named = next((name for vendor, name in _VENDORS if vendor in words), "")
    if named in ("", "QEMU") and _has_kvm_clock(roots):
        return "KVM"
    # Cloud vendors sell bare metal too, and Microsoft and Google build laptops.
    if guest:
        return named or kind.capitalize() or "virtual machine"
    arm = platform.machine() not in ("x86_64", "i686")
    return named if arm and named and "metal" not in words else ""


def _has_kvm_clock(roots: Roots) -> bool:
    """Whether the kernel found KVM below it on x86; QEMU without KVM has no such clock (F82)."""
    clocks = read_text(roots.sys / "devices" / "system" / "clocksource" / "clocksource0" / "available_clocksource")
    return "kvm-clock" in clocks.split()


def _container(roots: Roots) -> str:
    groups = read_text(roots.proc / "1" / "cgroup")
    marks = (roots.run / ".containerenv", roots.proc.parent / ".dockerenv")
    inside = any(mark.exists() for mark in marks) or any(word in groups for word in _CONTAINERS)
    return "container" if inside else ""
