"""Everything that a device holds by its signatures: what a write to it would lose. More is looked for than what a list shows."""

import os
from collections.abc import Callable, Iterator
from itertools import chain

from diskprof.devices.scan.signatures import Signature, identify, is_zfs_ring, known_magics

Read = Callable[[int, int], bytes]

_KIB, _MIB = 1 << 10, 1 << 20
_SECTORS = (512, 4096)
_HEAD = 128 * _KIB
_EDGE = _MIB
_PROTECTIVE = 0xEE
_ZFS_LABEL = 256 * _KIB
_LEAST_ZFS = 64 * _MIB

# Names as libblkid gives them; offsets below zero count from the end.
_MORE: tuple[tuple[str, int, bytes], ...] = (
    ("isw_raid_member", -1024, b"Intel Raid ISM Cfg Sig. "),
    ("nvidia_raid_member", -1024, b"NVIDIA"),
    *(("ddf_raid_member", at, bytes.fromhex("de11de11")) for at in (-512, -257 * 512)),
    ("crypto_LUKS", 0x4000, b"SKUL\xba\xbe"),
    ("crypto_LUKS", 0x8000, b"SKUL\xba\xbe"),
    ("BitLocker", 3, b"-FVE-FS-"),
    ("LVM1_member", 0, b"HM\x01\0"),
    ("stratis", 0x204, b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("stratis", 0x1204, b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("vdo", 0, b"dmvdo001"),
    ("DM_integrity", 0, b"integrt\0"),
    ("DM_verity_hash", 0, b"verity\0\0"),
    ("DM_snapshot_cow", 0, b"SnAp"),
    ("ceph_bluestore", 0, b"bluestore block device"),
    ("oracleasm", 32, b"ORCLDISK"),
    ("VMFS_volume_member", _MIB, bytes.fromhex("0dd001c0")),
    ("VMFS", 2 * _MIB, bytes.fromhex("5ef1ab2f")),
    ("apfs", 32, b"NXSB"),
    ("hfsplus", 0x400, b"H+"),
    ("hfsplus", 0x400, b"HX"),
    ("hfs", 0x400, b"BD"),
    ("ReFS", 3, b"ReFS\0"),
    ("udf", 0x8001, b"BEA01"),
    ("udf", 0x8001, b"NSR0"),
    ("jfs", 0x8000, b"JFS1"),
    *(("ocfs2", at, b"OCFSV2") for at in (0x400, 0x800, 0x1000, 0x2000)),
    ("gfs2", 0x10000, bytes.fromhex("01161970")),
    ("reiserfs", 0x10034, b"ReIsEr"),
    ("reiser4", 0x10000, b"ReIsEr4"),
    ("nilfs2", 0x406, b"\x34\x34"),
    ("ufs", 0x255C, bytes.fromhex("54011900")),
    ("ufs", 0x1055C, bytes.fromhex("19015419")),
    ("cramfs", 0, bytes.fromhex("453dcd28")),
    ("romfs", 0, b"-rom1fs-"),
    ("zonefs", 0, b"SFOZ"),
    *(("minix", 0x410, bytes.fromhex(magic)) for magic in ("7f13", "8f13", "6824", "7824")),
    *(("swap", at, b"SWAPSPACE2") for at in (0x1FF6, 0x3FF6, 0x7FF6, 0xFFF6)),
    *(("swsuspend", 4086, magic) for magic in (b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"LINHIB0001")),
)

TABLES = {"gpt", "dos", "sun", "mac", "bsd"}
"""Signatures of partition tables."""


def contents(read: Read, size_bytes: int) -> tuple[Signature, ...]:
    """Every signature on a device of which `read(offset, length)` gives the content, each type once, tables first.

    Raises OSError where the device cannot be read.
    """
    head = read(0, _HEAD)
    first = identify(read, size_bytes)
    found = chain(
        _tables(read, head, size_bytes),
        (first,) if first else (),
        known_magics(head),
        _others(read, head, size_bytes),
    )
    by_type: dict[str, Signature] = {}
    for signature in found:
        by_type.setdefault(signature.fs_type, signature)
    return tuple(by_type.values())


def holds_data(read: Read, size_bytes: int) -> bool:
    """Whether anything but zeros stands at the beginning or the end. Raises OSError."""
    return any(read(0, _EDGE)) or any(read(max(0, size_bytes - _EDGE), _EDGE))


def reader(descriptor: int) -> Read:
    """Reads of an open device, as `contents` wants them."""
    return lambda offset, length: os.pread(descriptor, length, offset)


def _tables(read: Read, head: bytes, size_bytes: int) -> Iterator[Signature]:
    gpt = any(head[sector : sector + 8] == b"EFI PART" for sector in _SECTORS) or any(
        # The copy at the end is enough to bring a table back.
        size_bytes > sector and read(size_bytes - sector, 8) == b"EFI PART"
        for sector in _SECTORS
    )
    if gpt:
        yield Signature("gpt")
    kinds = _dos_partitions(head)
    if kinds and not (gpt and _PROTECTIVE in kinds):
        yield Signature("dos")
    if head[508:510] == bytes.fromhex("dabe"):
        yield Signature("sun")
    if head[:2] == b"ER" and head[512:514] == b"PM":
        yield Signature("mac")
    if any(head[at : at + 4] == bytes.fromhex("57455682") for at in (0, 64, 512)):
        yield Signature("bsd")


def _dos_partitions(head: bytes) -> set[int]:
    """The types of the partitions in a master boot record. A boot sector of FAT or NTFS ends like one, but has code there."""
    if head[510:512] != b"\x55\xaa":
        return set()
    entries = [head[at : at + 16] for at in range(446, 510, 16)]
    if any(entry[0] not in (0, 0x80) for entry in entries):
        return set()
    return {entry[4] for entry in entries if entry[4] and any(entry[12:16])}


def _others(read: Read, head: bytes, size_bytes: int) -> Iterator[Signature]:
    for fs_type, offset, magic in _MORE:
        at = offset if offset >= 0 else size_bytes + offset
        if at < 0:
            continue
        data = head[at : at + len(magic)] if at + len(magic) <= len(head) else read(at, len(magic))
        if data == magic:
            yield Signature(fs_type)
    if size_bytes >= _LEAST_ZFS:
        # Labels at both ends: the ring of a half-wiped one is still there.
        end = size_bytes & ~(_ZFS_LABEL - 1)
        for label in (0, end - 2 * _ZFS_LABEL, end - _ZFS_LABEL):
            if is_zfs_ring(read(label + _ZFS_LABEL // 2, _ZFS_LABEL // 2)):
                yield Signature("zfs_member")
