"""What a reader needs to know of a run before its figures: the disk, the machine, the tools, as name and value."""

from diskprof.model.device import Device, Mount, share_words
from diskprof.model.plan import Plan
from diskprof.model.preset import Layout
from diskprof.model.run import Run
from diskprof.model.target import Target
from diskprof.model.units import format_size
from diskprof.reports import figures
from diskprof.reports.content.class_words import disk_class_words
from diskprof.reports.layout import plain

_LAYOUTS = {
    Layout.FILLED: "filled before the first test",
    Layout.FRESH: "made by fio for each test (fresh)",
    Layout.SPARSE: "made for each test without data (sparse)",
}
Pairs = tuple[tuple[str, str], ...]


def brief(run: Run) -> Pairs:
    """(name, value) of what is known, a few lines for a terminal; foreign text as it came."""
    environment = run.environment
    parts = [
        ("Imported", run.imported_from and f"from {run.imported_from}"),
        *_targets(run),
        *_disks(run, with_layers=False),
        ("Class", disk_class_words(run)),
        ("Host", _listed(environment.hostname, environment.os, _kernel(run), environment.virtualisation)),
        ("CPU", _listed(_cpu(run), f"{_memory(run)} of memory" if environment.memory_bytes else "")),
        ("Limits", "; ".join(environment.cgroup_limits)),
        ("Files", test_files(run.plan)),
        ("Tools", _listed(*(f"{name} {version}" for name, version in tools(run)))),
        *_wishes(run),
    ]
    return tuple((name, value) for name, value in parts if value)


def detailed(run: Run) -> Pairs:
    """(name, value) of what is known, one thing a line for a report; foreign text as it came."""
    environment = run.environment
    device = environment.device
    mount = environment.mount
    parts = [
        ("Imported", run.imported_from and f"from {run.imported_from}"),
        ("Preset", f"{run.plan.preset_title} ({run.plan.preset})"),
        *((_slot("Target", slot), target_words(target)) for slot, target in targets(run.plan)),
        ("Files", test_files(run.plan)),
        ("File system", _file_system(mount) if mount else run.plan.target.fs_type),
        *((_slot("File system", other.slot), _file_system(other.mount)) for other in environment.others if other.mount),
        ("Device", _device(device)),
        *((_slot("Device", other.slot), _device(other.device)) for other in environment.others),
        *_disks(run, with_layers=True),
        ("Class", disk_class_words(run)),
        ("Scheduler", ", ".join(dict.fromkeys(disk.scheduler for disk in disks(run) if disk.scheduler))),
        ("Host", environment.hostname),
        ("Operating system", environment.os),
        ("Kernel", environment.kernel),
        ("CPU", _cpu(run)),
        ("Memory", _memory(run)),
        ("Virtualisation", environment.virtualisation),
        ("cgroup limits", "; ".join(environment.cgroup_limits)),
        ("Slows down from", _degrees(environment.temperature_limit_c)),
        ("Wear before", "; ".join(wear.words for wear in run.plan.wear)),
        ("Endurance taken", share_words(run.plan.bytes_written, run.plan.wear)),
        ("Run database", _store(run)),
        *tools(run),
        *_wishes(run),
    ]
    return tuple((name, value) for name, value in parts if value)


def test_files(plan: Plan) -> str:
    """`1 GiB, filled before the first test`; `4 of 256 MiB, ...`; empty where none is made."""
    found: list[str] = []
    for layout, words in _LAYOUTS.items():
        sizes = {file.path: file.size_bytes for file in plan.test_files if file.layout is layout}
        if sizes:
            found.append(f"{_sizes(list(sizes.values()))}, {words}")
    return "; ".join(found)


def _sizes(sizes: list[int]) -> str:
    """`1 GiB`, `4 of 256 MiB`, `3, 1.5 GiB in all`."""
    if len(sizes) == 1:
        return format_size(sizes[0])
    alike = len(set(sizes)) == 1
    return f"{len(sizes)} of {format_size(sizes[0])}" if alike else f"{len(sizes)}, {format_size(sum(sizes))} in all"


def disks(run: Run) -> tuple[Device, ...]:
    """The whole devices below the targets, or the devices themselves where nothing is below them."""
    return run.environment.all_disks


def layer_words(device: Device) -> str:
    """`vg-root (lvm)`."""
    return f"{device.label} ({device.kind})"


def _disks(run: Run, *, with_layers: bool) -> Pairs:
    """The disks of each target, under the name of its slot where there are several, and what lies between."""
    environment = run.environment
    own = environment.disks or ((environment.device,) if environment.device else ())
    places = [(run.plan.slot if environment.others else "", own, environment.layers)]
    places += [
        (other.slot, other.disks or ((other.device,) if other.device else ()), other.layers)
        for other in environment.others
    ]
    found: list[tuple[str, str]] = []
    for slot, below, layers in places:
        # A word in front, for the short form has no room for a longer name.
        words = "; ".join(map(disk_words, below))
        if with_layers:
            found.append((_slot("Layers", slot), " on ".join(map(layer_words, layers))))
            found.append((_slot("Disk", slot), words))
        else:
            found.append(("Disk", f"{plain(slot)}: {words}" if slot and words else words))
    return tuple(found)


def _file_system(mount: Mount) -> str:
    return _listed(mount.fs_type, ",".join(mount.options))


def _device(device: Device | None) -> str:
    return f"{device.title}, {format_size(device.size_bytes)}" if device else ""


def _degrees(limit_c: float | None) -> str:
    return "" if limit_c is None else f"{limit_c:.0f} °C (drive limit)"


def _store(run: Run) -> str:
    """Where the runs are kept; whether that is a disk under test."""
    where = run.environment.store_disks
    shared = {disk.name for disk in disks(run)} & set(where)
    return f"on {', '.join(where)}{' (the tested disk)' if shared else ''}" if where else ""


def targets(plan: Plan) -> tuple[tuple[str, Target], ...]:
    """(slot, target) of each target; the slot is empty where the preset names none."""
    return (plan.slot, plan.target), *((other.slot, other.target) for other in plan.others)


def sweep_words(plan: Plan) -> str:
    """`bs 4k 16k 32k x iodepth 1 8 64: 9 cells`; empty where nothing is swept."""
    if not plan.sweep:
        return ""
    axes = " x ".join(f"{option} {' '.join(values)}" for option, values in plan.sweep)
    return f"{axes}: {figures.count(sum(bool(test.cell) for test in plan.tests), 'cell')}"


def target_words(target: Target) -> str:
    """`/mnt/data (directory, ext4 on sda1)`."""
    device = "" if target.device_title == target.path else target.device_title
    place = " on ".join(part for part in (target.fs_type, device) if part)
    return f"{target.path} ({_listed(figures.TARGETS[target.kind], place)})"


def disk_words(device: Device) -> str:
    """`Samsung SSD 870 EVO (sda), serial S5Y, 931 GiB, sata, solid state, scheduler mq-deadline`."""
    return _listed(
        f"{device.model} ({device.label})" if device.model else device.label,
        f"serial {device.serial}" if device.serial else "",
        format_size(device.size_bytes),
        str(device.transport),
        device.medium,
        f"scheduler {device.scheduler}" if device.scheduler else "",
        f"file {device.backing_file}" if device.backing_file else "",
    )


def tools(run: Run) -> Pairs:
    """The engines that the run used, and diskprof, with bare version numbers."""
    environment = run.environment
    used = {str(test.engine) for test in run.tests}
    known = (("fio", environment.fio_version), ("ioping", environment.ioping_version))
    engines = [(name, version.removeprefix(f"{name}-")) for name, version in known if version and name in used]
    own = [("diskprof", environment.diskprof_version)] if environment.diskprof_version else []
    return (*engines, *own)


def parameters(run: Run) -> str:
    """What the run's parameters were: `size=64m runtime=1s`; those without a value are left out."""
    return " ".join(f"{name}={value}" for name, value in run.plan.parameters if value)


def _wishes(run: Run) -> Pairs:
    """What the person set or wrote."""
    return (
        ("Sweep", sweep_words(run.plan)),
        ("Parameters", parameters(run)),
        ("Tags", ", ".join(run.tags)),
        ("Note", run.note),
    )


def _slot(name: str, slot: str) -> str:
    return f"{name} {plain(slot)}" if slot else name


def _targets(run: Run) -> Pairs:
    """A line a target; the mount options, which are those of the first, where there is no other."""
    if not run.plan.others:
        return (("Target", _target_and_mount(run)),)
    return tuple(("Target", f"{slot}: {target_words(target)}") for slot, target in targets(run.plan))


def _target_and_mount(run: Run) -> str:
    mount = run.environment.mount
    options = ",".join(mount.options) if mount else ""
    return f"{target_words(run.plan.target)[:-1]}, {options})" if options else target_words(run.plan.target)


def _kernel(run: Run) -> str:
    return f"Linux {run.environment.kernel}" if run.environment.kernel else ""


def _memory(run: Run) -> str:
    return format_size(run.environment.memory_bytes) if run.environment.memory_bytes else ""


def _cpu(run: Run) -> str:
    environment = run.environment
    if not environment.cpus:
        return environment.cpu_model
    return f"{environment.cpus} x {environment.cpu_model}" if environment.cpu_model else f"{environment.cpus} CPUs"


def _listed(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
