"""What the file system makes of the data before the disk sees it."""

import re

from diskprof.analysis.findings.view import TestView
from diskprof.model.run import Finding, Weight
from diskprof.model.units import format_fio_size

COPIES = {"btrfs": "nodatacow", "bcachefs": "nocow", "zfs": ""}
"""File systems that write changed data to a new place, and the mount option that stops them."""

_COMPRESSION = re.compile(r"(compress|compress-force|compression|compress_algorithm)=(?!none|no\b)(.+)")
_COMPRESSING = {"btrfs", "bcachefs", "f2fs"}


def compressible_data(view: TestView) -> Finding | None:
    """Data that shrinks on its way to the disk flatters it."""
    mount = view.run.environment.mount
    data = view.load.compressible
    if mount is None or not data or not view.result.write:
        return None
    # btrfs does not compress what overwrites a file directly (F53); zfs does not say among its mount options.
    if mount.fs_type == "btrfs" and view.load.direct:
        return None
    told = [option for option in mount.options if _COMPRESSION.fullmatch(option)]
    if mount.fs_type != "zfs" and not (mount.fs_type in _COMPRESSING and told):
        return None
    how = f"{mount.fs_type} with {', '.join(told)}" if told else f"{mount.fs_type}, which compresses by default"
    return view.found(
        "compressible-data",
        Weight.DOUBT,
        "Compressible data on a compressing file system: the disk received less than the test wrote.",
        f"{', '.join(data)} on {how}",
        "Write random data (no zero_buffers, no buffer_compress_percentage), or test without compression.",
    )


def copy_on_write(view: TestView) -> Finding | None:
    """Random overwrites on a file system that copies on write become writes elsewhere, and the file falls to pieces."""
    mount, jobs = view.run.environment.mount, view.record.planned.jobs
    if mount is None or mount.fs_type not in COPIES or not view.result.write or not view.load.random:
        return None
    stops = COPIES[mount.fs_type]
    if stops and stops in mount.options:
        return None
    block = format_fio_size(min(job.block_size for job in jobs)) if jobs else ""
    return view.found(
        "copy-on-write",
        Weight.NOTE,
        "Copy-on-write: the file fragments, which slows later tests.",
        f"random writes{f' of {block}' if block else ''} on {mount.fs_type}{f' without {stops}' if stops else ''}",
        "For a database that disables it (chattr +C on btrfs), test such a directory.",
    )
