"""When memory answered in place of the disk."""

from diskprof.analysis.findings.filesystem import compressible_data
from diskprof.analysis.findings.view import TestView, is_virtual
from diskprof.model.preset import EngineName
from diskprof.model.run import Finding, Run, Weight
from diskprof.model.sample import Direction
from diskprof.model.target import TargetKind
from diskprof.model.units import format_bandwidth, format_iops, format_latency, format_percent, format_size

ANSWERED = 0.5
"""Below this share of the engine's bytes seen on the device, memory did most of the work."""

REACHED = 0.9
"""From this share on nearly everything reached the device, and the size of the memory does not matter."""

NOTHING = 0.01
"""Below this share next to nothing reached the device, which needs no time to be told from rates that waver."""

FEW = 100
"""Fewer I/Os than this are too few to hold the two accounts against each other."""

PLATTER_IOPS = 1000.0
"""No rotating disk does more random I/Os a second, however deep the queue and short the way of its arm."""

FLASH_NS = 40e3
"""What reading a page of flash memory takes at the least, the way to it not counted."""

SMALL_BLOCK = 16 << 10

MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs"})


def null_engine(view: TestView) -> Finding | None:
    """An engine of fio's that does nothing shows what fio itself can do."""
    if not view.idle:
        return None
    jobs = [job.name for job in view.record.planned.jobs if job.ioengine == "null"]
    return view.found(
        "null-engine",
        Weight.DOUBT,
        "No disk I/O: the null engine measures fio and the CPU only.",
        f"ioengine=null in {', '.join(jobs)}",
        "To measure the disk, use another ioengine such as libaio.",
    )


def page_cache(view: TestView) -> Finding | None:
    """The engine moved far more bytes than the device did: the page cache, or what else there is, stood in between."""
    if view.load.cached or view.idle:
        return None
    evidence = []
    for direction, result in view.result.directions:
        # What the file system compressed is told as that.
        if result.ios < FEW or (direction is Direction.WRITE and compressible_data(view)):
            continue
        share = _reached(view, direction)
        did = f"{view.record.engine} {'read' if direction is Direction.READ else 'wrote'}"
        if share is None and _nothing_reached(view, direction, result.bytes):
            evidence.append(f"{did} {format_size(result.bytes)}, the device almost nothing")
        elif share is not None and share < ANSWERED:
            device = view.device_rate(direction) or 0.0
            evidence.append(
                f"{did} {format_bandwidth(view.engine_rate(direction))}, the device "
                f"{format_bandwidth(device)} ({format_percent(share)})"
            )
    if not evidence:
        return None
    return view.found(
        "page-cache",
        Weight.DOUBT,
        "Most I/O did not reach the disk."
        if view.load.direct
        else "Most I/O was served from the page cache, not the disk.",
        "; ".join(evidence),
        _way_past_the_cache(view),
    )


def _way_past_the_cache(view: TestView) -> str:
    if any(job.ioengine == "mmap" for job in view.record.planned.jobs):
        return "mmap uses the page cache: use another ioengine with direct=1."
    if not view.load.direct:
        return "To measure the disk, use direct=1 or a test file larger than RAM."
    if view.run.plan.target.kind is TargetKind.FILE:
        # Holes, and what fallocate set aside, are read as zeros without the disk.
        return "The file has unwritten parts, or its file system ignores direct=1: test its directory or a raw device."
    if view.run.plan.target.kind is TargetKind.DEVICE:
        return "Unwritten blocks of a thin volume or an image are read without the disk: write all of it first."
    return "The file system ignores direct=1: test a raw device, or use a file larger than RAM."


def small_working_set(view: TestView) -> Finding | None:
    """A buffered test on less data than there is memory may be answered from there; silent where it is known to be or not.

    A write that waits until it is safe is not hidden by the page cache.
    """
    memory, size = view.run.environment.memory_bytes, working_set(view)
    if view.record.engine is not EngineName.FIO or view.load.direct or view.load.synced or view.idle:
        return None
    if not memory or not size or size >= memory:
        return None
    shares = [_reached(view, direction) for direction, _ in view.result.directions]
    if all(share is not None and (share < ANSWERED or share >= REACHED) for share in shares):
        return None
    return view.found(
        "small-working-set",
        Weight.NOTE,
        "Buffered I/O on less data than RAM: the page cache may have served part of it.",
        f"{format_size(size)} of data, {format_size(memory)} of memory",
        "Use direct=1, or a size larger than RAM.",
    )


def device_cache(view: TestView) -> Finding | None:
    """Random I/Os that no platter can do: the cache of the drive or of its controller did them."""
    if view.record.engine is not EngineName.FIO or view.idle:
        return None
    if not view.platters or not view.load.random:
        return None
    most, size = PLATTER_IOPS * len(view.disks), working_set(view)
    fast = [(way, result) for way, result in view.result.directions if result.iops > most and result.ios >= FEW]
    if not fast or not view.load.direct or page_cache(view):
        return None
    done = ", ".join(f"{format_iops(result.iops)} random {direction}s a second" for direction, result in fast)
    names = ", ".join(disk.name for disk in view.disks)
    return view.found(
        "device-cache",
        Weight.DOUBT,
        "Served from the cache of the drive or its controller, not from the platters.",
        f"{done} on {names}, which rotate{'' if len(view.disks) > 1 else 's'}{f'; {format_size(size)} of data' if size else ''}",
        "Use a size many times the cache, and a longer test for writes.",
    )


def host_cache(view: TestView) -> Finding | None:
    """A virtual disk that answers faster than flash memory can: the memory of the machine behind it did."""
    read, jobs = view.result.read, view.record.planned.jobs
    if read is None or not view.load.random or not view.load.direct or not view.disks or view.idle:
        return None
    if not all(is_virtual(disk, view.run) for disk in view.disks) or any(job.block_size > SMALL_BLOCK for job in jobs):
        return None
    middle = read.latency.p50 if read.latency.p50 is not None else read.latency.mean
    if middle is None or read.ios < FEW or middle >= FLASH_NS or page_cache(view):
        return None
    size = working_set(view)
    return view.found(
        "host-cache",
        Weight.DOUBT,
        "Served from a cache behind the virtual disk: faster than flash memory can be.",
        f"half of the random reads took {format_latency(middle)} or less{f'; {format_size(size)} of data' if size else ''}",
        "To measure the disk behind it, use a size several times this machine's RAM.",
    )


def _reached(view: TestView, direction: Direction) -> float | None:
    """The device's bytes as a share of the engine's."""
    device, engine = view.device_rate(direction), view.engine_rate(direction)
    return device / engine if device is not None and engine > 0 else None


def _nothing_reached(view: TestView, direction: Direction, moved: int) -> bool:
    """Whether the device saw next to nothing of what the engine `moved`, in a test too short to hold rates against each other.

    Not judged where the kernel was asked about a part of the test alone.
    """
    amounts = [s.read_bytes if direction is Direction.READ else s.write_bytes for s in view.system]
    known = [amount for amount in amounts if amount is not None]
    whole = sum(s.duration_ns for s in view.system) >= REACHED * view.seconds * 1e9
    return bool(known) and whole and sum(known) < NOTHING * moved


def working_set(view: TestView) -> int | None:
    """How many bytes of the target a test touches; None if not known."""
    plan = view.run.plan
    if view.load.size_bytes:
        return view.load.size_bytes
    return sum(file.size_bytes for file in plan.files) or plan.target.size_bytes


def memory_file_system(run: Run) -> Finding | None:
    """The target is no disk at all."""
    kind = run.plan.target.fs_type
    if kind not in MEMORY_FILE_SYSTEMS:
        return None
    return Finding(
        "memory-file-system",
        Weight.DOUBT,
        "The target is in RAM (tmpfs): not a disk result.",
        f"{run.plan.target.path} is on {kind}",
        "Choose a directory on the disk; the list of devices shows the mount points.",
    )
