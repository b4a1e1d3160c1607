"""What the device is, and who else used it."""

from msgspec.structs import replace

from diskprof.analysis.findings.culprits import culprits
from diskprof.analysis.findings.filesystem import COPIES
from diskprof.analysis.findings.view import TestView, is_hypervisors, is_network, virtual_machine
from diskprof.model.device import NETWORK_FILE_SYSTEMS, DeviceKind, Transport
from diskprof.model.preset import EngineName
from diskprof.model.run import Finding, Run, Weight
from diskprof.model.sample import Direction
from diskprof.model.target import TargetKind
from diskprof.model.units import format_bandwidth, format_duration, format_iops

FOREIGN_SHARE = 0.10
FOREIGN_RATE = 5e6
"""Other I/O counts from a tenth of the test's own on, and from 5 MB/s on: journals and atime updates stay below both."""

FOREIGN_REQUESTS = 100.0
"""Small requests count from so many a second on: a volume has a limit of them, and journals and logs stay below."""

FOREIGN_SEEKS = 20.0
"""On a platter, where every request costs a seek, from so many on."""

WRITTEN_AGAIN = 1 << 20
"""So many bytes for each write, and its data twice, are the file system's at most where it writes more than the test (F93)."""

LEAST_REQUEST = 512
"""No request is for fewer bytes."""

SMALL_BLOCK = 64 << 10
"""Larger blocks are split by the kernel, so its requests cannot be held against the test's I/Os."""

STORE_SHARE = 0.01
"""The store's writes are told of from one for every hundred I/Os of the test on."""

STORES = 0.5
"""And where at least half of what the disk wrote was theirs: metadata and journal of their file make up the rest."""

STORE_SEEKS = 1.0
"""On a platter from one a second on: a seek takes 1% of a second."""

PAUSE_S = 0.05
"""A pause after which an NVMe drive may be in a lower power state: Linux sets 50 ms to 100 ms for the shallower ones."""

AWAKE = 1 / PAUSE_S
"""So many requests a second leave no such pause."""


_VERBS = {Direction.READ: "read", Direction.WRITE: "wrote"}
_REPEAT = "Repeat at different times, and for longer than burst credits last."


def other_io(view: TestView) -> Finding | None:
    """More bytes on the device than the test moved: somebody else was at work.

    Not asked of a direction that the test itself does buffered (read-ahead and late write-back look the same),
    of reads where it writes parts of pages, nor of an array, where each write is done several times; and not where the test
    itself did more than its figures are of. Of writes to a file that it syncs only what no journal can be. Of a trial or a cell,
    which lasts a few seconds, only what is more than both accounts may be apart.
    """
    # One job warms up while another measures; a search tells of its last depth alone.
    if view.load.searches or (view.apart and view.record.planned.ramp_s):
        return None
    if len(view.run.environment.disks) > 1 or any(disk.kind is DeviceKind.RAID for disk in view.disks):
        return None
    own = sum(view.engine_rate(direction) for direction in Direction)
    foreign, evidence = 0.0, []
    for direction in Direction:
        engine, device = view.engine_rate(direction), view.device_rate(direction)
        if device is None or _more_for_the_test(view, direction):
            continue
        known = engine
        if direction is Direction.WRITE:
            known += view.store_rate + _written_again(view)
        if device <= known:
            continue
        foreign += device - known
        own_part = format_bandwidth(engine) if engine else "none"
        evidence.append(f"the device {_VERBS[direction]} {format_bandwidth(device)}, {own_part} from the test")
    if view.record.planned.trial:
        foreign -= own * _apart(view)
    if foreign < FOREIGN_RATE or foreign <= FOREIGN_SHARE * own:
        evidence, foreign = _foreign_requests(view), _beyond(view)
    if not evidence:
        return None
    named = culprits(view, foreign)
    hidden = view.run.environment.hidden_processes
    if named:
        advice = f"Stop {'this process' if len(named) == 1 else 'these processes'} or wait, and run the test again."
    elif hidden:
        evidence.append(
            f"the I/O of {hidden} {'process' if hidden == 1 else 'processes'} of other users could not be read"
        )
        advice = "Run the test as root, which names the process, or find it (iotop, pidstat -d 1); stop it or wait."
    else:
        advice = "Find the process (iotop, pidstat -d 1), stop it or wait, and run the test again."
    found = view.found(
        "other-io",
        Weight.DOUBT,
        "Other I/O on the disk during the test.",
        "; ".join((*evidence, *(words for _, words in named))),
        advice,
    )
    return replace(found, processes=tuple(process for process, _ in named))


def _more_for_the_test(view: TestView, direction: Direction) -> bool:
    """Whether what a test does in a direction makes the kernel do more of it."""
    if view.record.engine is not EngineName.FIO:
        return False
    if direction is Direction.READ and view.load.reads_to_write:
        return True
    return view.result.direction(direction) is not None and not view.load.direct


def _written_again(view: TestView) -> float:
    """Bytes a second that the file system writes at most beyond the data of direct writes to a file: its journal at a sync, the
    data there, too, or all anew elsewhere."""
    write, mount = view.result.write, view.run.environment.mount
    if write is None or view.record.engine is not EngineName.FIO or view.run.plan.target.kind is TargetKind.DEVICE:
        return 0.0
    if not (view.load.syncs or (mount is not None and (mount.fs_type in COPIES or "data=journal" in mount.options))):
        return 0.0
    writes = write.ios / view.seconds if view.seconds > 0 else write.iops
    return view.engine_rate(Direction.WRITE) + writes * WRITTEN_AGAIN


def _foreign_requests(view: TestView) -> list[str]:
    """Small requests that a direct test of small blocks did not make: on a platter, or a volume of so many IOPS, each counts.

    fio's account and the kernel's begin and end up to an interval apart, and each copy of a job begins its own with the request
    after its warm-up: in a cell of 1 s that is as much as the test itself does in half of it.
    """
    seen, read = view.kernel, view.result.read
    small = all(job.block_size <= SMALL_BLOCK for job in view.record.planned.jobs)
    if not (seen and read and small and view.load.direct) or view.result.write:
        return []
    if seen.reads_per_s is None or seen.writes_per_s is None:
        return []
    own = view.ios / view.seconds if view.seconds > 0 else read.iops
    foreign = max(0.0, seen.reads_per_s - own - _uncounted(view, own)) + seen.writes_per_s * (1 - _stores_share(view))
    least = FOREIGN_SEEKS if view.platters else FOREIGN_REQUESTS
    if foreign < least or foreign <= FOREIGN_SHARE * own or _beyond(view) < LEAST_REQUEST * foreign:
        return []
    return [
        f"the device was asked for {format_iops(seen.reads_per_s)} reads and {format_iops(seen.writes_per_s)} writes a "
        f"second, {format_iops(own)} reads from the test"
    ]


def _uncounted(view: TestView, own: float) -> float:
    """The requests a second of a test, which does `own`, that the kernel may have counted and fio not."""
    copies = sum(job.numjobs for job in view.load.fio)
    return own * _apart(view) + (copies / view.seconds if view.seconds > 0 else 0.0)


def _apart(view: TestView) -> float:
    """The part of a test that two intervals are: by so much the kernel's account of it may be longer than fio's."""
    return 2 * view.record.planned.interval_ms / 1e3 / view.seconds if view.seconds > 0 else 0.0


def _beyond(view: TestView) -> float:
    """Bytes a second that the device moved beyond what the test did; none where the kernel only split the test's own requests."""
    return sum((view.device_rate(direction) or 0.0) - view.engine_rate(direction) for direction in Direction)


def store_on_disk(view: TestView) -> Finding | None:
    """The runs are written down on the disk under test: that counts where the test itself asks little of it.

    Not where what was written is for the most part somebody else's.
    """
    seen, disks = view.kernel, [disk.name for disk in view.disks]
    shared = [name for name in view.run.environment.store_disks if name in disks]
    if not shared or view.result.write or seen is None or not seen.writes_per_s:
        return None
    own, share = view.ios / view.seconds if view.seconds > 0 else 0.0, _stores_share(view)
    writes = seen.writes_per_s * share
    if share < STORES or (writes < STORE_SHARE * own and not (view.platters and writes >= STORE_SEEKS)):
        return None
    return view.found(
        "store-on-disk",
        Weight.NOTE,
        "The run database is on the tested disk: saving the samples disturbed the test.",
        f"{', '.join(shared)} did {format_iops(seen.writes_per_s)} writes/s beside {format_iops(own)} reads/s of the test: "
        f"{format_bandwidth(view.store_rate)} of the {format_bandwidth(seen.write_bytes_per_s or 0.0)} are diskprof's",
        "Set DISKPROF_HOME to a directory on another disk for such tests.",
    )


def _stores_share(view: TestView) -> float:
    """The part of the bytes written to the disk that the runner wrote to its store, 0 to 1."""
    written = view.device_rate(Direction.WRITE)
    return min(1.0, view.store_rate / written) if written else 0.0


def idle_states(view: TestView) -> Finding | None:
    """An NVMe drive asked once a second goes to sleep in between, and the figure holds its wake-up (F33).

    Not where others keep it awake.
    """
    asleep = [disk.name for disk in view.disks if disk.transport is Transport.NVME]
    if view.load.interval_s < PAUSE_S or virtual_machine(view.run) or not asleep:
        return None
    seen = view.kernel
    if seen and (seen.reads_per_s or 0.0) + (seen.writes_per_s or 0.0) > AWAKE:
        return None
    return view.found(
        "idle-states",
        Weight.NOTE,
        "Includes NVMe power-state wake-up latency.",
        f"one request every {format_duration(view.load.interval_s)}, on {', '.join(asleep)}",
        "For the latency of a busy drive, use ioping-seek or a fio test at QD1.",
    )


def virtual_disk(run: Run) -> Finding | None:
    """A virtual or network disk, or a file: caches, limits and neighbours that cannot be seen from here."""
    environment = run.environment
    machine = f" on {environment.virtualisation}" if environment.virtualisation else ""
    mount = environment.mount
    if mount and mount.fs_type in NETWORK_FILE_SYSTEMS:
        return _out_of_sight("a network file system", f"{mount.path} is {mount.fs_type}", _REPEAT)
    for disk in environment.disks or ((environment.device,) if environment.device else ()):
        evidence = f"{disk.title} ({disk.model or disk.transport or disk.kind}){machine}"
        if is_network(disk):
            return _out_of_sight("a network disk", evidence, _REPEAT)
        if is_hypervisors(disk):
            return _out_of_sight("a virtual disk", evidence, _REPEAT)
        if disk.kind is DeviceKind.LOOP:
            return _out_of_sight(
                "a file on another file system",
                f"{disk.name} is {disk.backing_file or 'a loop device'}",
                "To measure the disk itself, test the file system or disk that contains the file.",
            )
    return None


def _out_of_sight(kind: str, evidence: str, advice: str) -> Finding:
    message = f"The device is {kind}: its caches, limits and noisy neighbours are not visible to the guest."
    return Finding("virtual-disk", Weight.NOTE, message, evidence, advice)


def misaligned(run: Run) -> Finding | None:
    """A partition that does not begin on a 4 KiB boundary makes the disk do two I/Os for one."""
    environment = run.environment
    for device in (*((environment.device,) if environment.device else ()), *environment.layers):
        if not device.misaligned:
            continue
        return Finding(
            "misaligned",
            Weight.LIMIT,
            "Misaligned partition: one I/O becomes two.",
            f"{device.name} starts at byte {device.start_bytes}, not a multiple of {device.boundary}",
            "Recreate the partition aligned to 1 MiB (parted -a optimal).",
        )
    return None
