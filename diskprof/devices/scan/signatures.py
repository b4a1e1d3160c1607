"""What a device holds, by the magic numbers in its first blocks: for machines where udev does not say it (F34)."""

import os
import uuid
from collections.abc import Callable, Iterator
from itertools import pairwise

from msgspec import Struct

_MD_MAGIC = bytes.fromhex("fc4e2ba9")
_ZFS_MAGICS = (bytes.fromhex("0cb1ba0000000000"), bytes.fromhex("0000000000bab10c"))
_HEAD = 69 * 1024
_ZFS_RING = 128 * 1024
_EXT3_INCOMPAT, _EXT3_RO_COMPAT, _EXT_JOURNAL_DEVICE = 0x2 | 0x4 | 0x10, 0x1 | 0x2 | 0x4, 0x8


class Signature(Struct, frozen=True):
    """libblkid's names: fs_type as in ID_FS_TYPE."""

    fs_type: str
    label: str = ""
    uuid: str = ""


def read_signature(path: str, size_bytes: int) -> Signature | None:
    """What the device at `path` holds; None if nothing is known there or it may not be read."""
    try:
        # O_NONBLOCK: a drive without a medium answers at once.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        return identify(lambda offset, length: os.pread(descriptor, length, offset), size_bytes)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def identify(read: Callable[[int, int], bytes], size_bytes: int) -> Signature | None:
    """The signature of a device of which `read(offset, length)` gives the content. Members of arrays come first: a
    mirror's half looks like the file system on it."""
    head = read(0, _HEAD)
    return _raid(head, read, size_bytes) or _by_magic(head) or _zfs(read, size_bytes)


def _raid(head: bytes, read: Callable[[int, int], bytes], size_bytes: int) -> Signature | None:
    for offset in (0, 0x1000):
        if head[offset : offset + 4] == _MD_MAGIC:
            label, set_uuid = _text(head, offset + 32, 32), _uuid(head, offset + 16)
            return Signature("linux_raid_member", label, set_uuid)
    old = (size_bytes & ~0xFFFF) - 0x10000
    late = (size_bytes // 512 - 16 & ~7) * 512
    for offset in (late, old):
        if offset > 0 and (block := read(offset, 64))[:4] == _MD_MAGIC:
            newer = offset == late
            label, set_uuid = (_text(block, 32, 32), _uuid(block, 16)) if newer else ("", "")
            return Signature("linux_raid_member", label, set_uuid)
    return None


def _zfs(read: Callable[[int, int], bytes], size_bytes: int) -> Signature | None:
    if size_bytes < 64 << 20:
        return None
    return Signature("zfs_member") if is_zfs_ring(read(_ZFS_RING, _ZFS_RING)) else None


def is_zfs_ring(ring: bytes) -> bool:
    """Whether there is a valid entry in the second half of a ZFS label, its ring of uberblocks."""
    return any(ring[at : at + 8] in _ZFS_MAGICS for at in range(0, len(ring), 1024))


def known_magics(head: bytes) -> Iterator[Signature]:
    """Every signature in the first blocks, which `head` is, not the weightiest alone."""
    for offset, magic, describe in _MAGICS:
        if head[offset : offset + len(magic)] == magic:
            yield describe(head)


def _by_magic(head: bytes) -> Signature | None:
    return next(known_magics(head), None)


def _text(data: bytes, offset: int, length: int, encoding: str = "utf-8") -> str:
    text = data[offset : offset + length].decode(encoding, "replace")
    return text.split("\0", 1)[0].strip()


def _uuid(data: bytes, offset: int) -> str:
    found = data[offset : offset + 16]
    return str(uuid.UUID(bytes=found)) if len(found) == 16 and any(found) else ""


def _fat_serial(data: bytes, offset: int) -> str:
    number = int.from_bytes(data[offset : offset + 4], "little")
    return f"{number >> 16:04X}-{number & 0xFFFF:04X}"


def _ext(head: bytes) -> Signature:
    compat, incompat, ro_compat = (int.from_bytes(head[at : at + 4], "little") for at in (0x45C, 0x460, 0x464))
    label, fs_uuid = _text(head, 0x478, 16), _uuid(head, 0x468)
    if incompat & _EXT_JOURNAL_DEVICE:
        return Signature("jbd", label, fs_uuid)
    if incompat & ~_EXT3_INCOMPAT or ro_compat & ~_EXT3_RO_COMPAT:
        return Signature("ext4", label, fs_uuid)
    return Signature("ext3" if compat & 0x4 else "ext2", label, fs_uuid)


def _fat_label(head: bytes, offset: int) -> str:
    label = _text(head, offset, 11)
    return "" if label == "NO NAME" else label


def _luks(head: bytes) -> Signature:
    label = _text(head, 24, 48) if head[6:8] == b"\0\x02" else ""
    return Signature("crypto_LUKS", label, _text(head, 168, 40))


def _lvm(sector: int) -> Callable[[bytes], Signature]:
    def describe(head: bytes) -> Signature:
        raw = _text(head, sector * 512 + 32, 32)
        ends = (0, 6, 10, 14, 18, 22, 26, 32)
        return Signature("LVM2_member", "", "-".join(raw[a:b] for a, b in pairwise(ends)))

    return describe


def _fixed(
    fs_type: str, label: tuple[int, int] | None = None, uuid_at: int | None = None, encoding: str = "utf-8"
) -> Callable[[bytes], Signature]:
    def describe(head: bytes) -> Signature:
        return Signature(
            fs_type,
            _text(head, *label, encoding) if label else "",
            "" if uuid_at is None else _uuid(head, uuid_at),
        )

    return describe


_MAGICS: tuple[tuple[int, bytes, Callable[[bytes], Signature]], ...] = (
    (0, b"LUKS\xba\xbe", _luks),
    *((sector * 512 + 24, b"LVM2 001", _lvm(sector)) for sector in range(4)),
    (0x1018, bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81"), _fixed("bcache", (0x1048, 32), 0x1028)),
    (0x438, b"\x53\xef", _ext),
    (0, b"XFSB", _fixed("xfs", (108, 12), 32)),
    (0x10040, b"_BHRfS_M", _fixed("btrfs", (0x1012B, 256), 0x10020)),
    (0x1018, bytes.fromhex("c68573f666ce90a9d96a60cf803df7ef"), _fixed("bcachefs", (0x1048, 32), 0x1038)),
    (4086, b"SWAPSPACE2", _fixed("swap", (0x41C, 16), 0x40C)),
    (4086, b"SWAP-SPACE", _fixed("swap")),
    (0x400, bytes.fromhex("1020f5f2"), _fixed("f2fs", (0x47C, 512), 0x46C, "utf-16-le")),
    (3, b"NTFS    ", lambda head: Signature("ntfs", "", head[72:80][::-1].hex().upper())),
    (3, b"EXFAT   ", lambda head: Signature("exfat", "", _fat_serial(head, 100))),
    (82, b"FAT32   ", lambda head: Signature("vfat", _fat_label(head, 71), _fat_serial(head, 67))),
    (54, b"FAT16   ", lambda head: Signature("vfat", _fat_label(head, 43), _fat_serial(head, 39))),
    (54, b"FAT12   ", lambda head: Signature("vfat", _fat_label(head, 43), _fat_serial(head, 39))),
    (0x8001, b"CD001", _fixed("iso9660", (0x8028, 32))),
    (0, b"hsqs", _fixed("squashfs")),
    (0x400, bytes.fromhex("e2e1f5e0"), _fixed("erofs", (0x440, 16), 0x430)),
)
