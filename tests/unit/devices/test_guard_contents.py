"""Everything that lies on a device: tables, several signatures at once, what real tools make, and what random bytes do not."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.devices.guard.contents import Read, contents, holds_data, reader

MIB = 1 << 20
SIZE = 512 * MIB
SBIN = ":/usr/local/sbin:/usr/sbin:/sbin"


def device(*pieces: tuple[int, bytes], size: int = 4 * MIB) -> Read:
    """Reads of a device that is empty but for these pieces; an offset below zero counts from the end."""
    placed = [(at if at >= 0 else size + at, data) for at, data in pieces]

    def read(offset: int, length: int) -> bytes:
        found = bytearray(max(0, min(length, size - offset)))
        for at, data in placed:
            for index, byte in enumerate(data):
                if offset <= at + index < offset + len(found):
                    found[at + index - offset] = byte
        return bytes(found)

    return read


def kinds(*pieces: tuple[int, bytes], size: int = 4 * MIB) -> list[str]:
    return [signature.fs_type for signature in contents(device(*pieces, size=size), size)]


def test_an_empty_device_holds_nothing() -> None:
    assert kinds() == []
    assert not holds_data(device(), 4 * MIB)
    assert holds_data(device((0, b"x")), 4 * MIB) and holds_data(device((-1, b"x")), 4 * MIB)


PROTECTIVE = bytes([0, 0, 2, 0, 0xEE, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0xFF, 0xFF, 0, 0])
LINUX = bytes([0x80, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0])


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([(446, PROTECTIVE), (510, b"\x55\xaa"), (512, b"EFI PART"), (-512, b"EFI PART")], ["gpt"]),
        ([(4096, b"EFI PART")], ["gpt"]),
        ([(-512, b"EFI PART")], ["gpt"]),
        ([(-4096, b"EFI PART")], ["gpt"]),
        ([(446, PROTECTIVE), (510, b"\x55\xaa")], ["dos"]),
        ([(446, LINUX), (510, b"\x55\xaa")], ["dos"]),
        ([(494, LINUX), (510, b"\x55\xaa")], ["dos"]),
        ([(446, LINUX), (510, b"\x55\xaa"), (512, b"EFI PART")], ["gpt", "dos"]),
        ([(510, b"\x55\xaa")], []),
        ([(0, b"\xeb\x58\x90"), (446, b"missing operating system"), (510, b"\x55\xaa")], []),
        ([(446, LINUX), (510, b"\x55\xaa"), (0x438, b"\x53\xef")], ["dos", "ext2"]),
        ([(0, b"LUKS\xba\xbe\0\x01"), (0x438, b"\x53\xef")], ["crypto_LUKS", "ext2"]),
        ([(0x1000, bytes.fromhex("fc4e2ba9")), (0x438, b"\x53\xef")], ["linux_raid_member", "ext2"]),
        ([(0x4000, b"SKUL\xba\xbe")], ["crypto_LUKS"]),
        ([(-1024, b"Intel Raid ISM Cfg Sig. 1.0")], ["isw_raid_member"]),
        ([(-512, bytes.fromhex("de11de11"))], ["ddf_raid_member"]),
        ([(3, b"-FVE-FS-")], ["BitLocker"]),
        ([(0, b"bluestore block device\n")], ["ceph_bluestore"]),
        ([(0x10034, b"ReIsEr2Fs")], ["reiserfs"]),
        ([(MIB, bytes.fromhex("0dd001c0"))], ["VMFS_volume_member"]),
        ([(4086, b"S1SUSPEND")], ["swsuspend"]),
    ],
)
def test_signatures(pieces: list[tuple[int, bytes]], expected: list[str]) -> None:
    assert kinds(*pieces) == expected


@pytest.mark.parametrize("label", [0, -512 << 10, -256 << 10])
def test_each_label_of_a_zfs_member_counts(label: int) -> None:
    at = label + (128 << 10) + 5 * 1024
    assert kinds((at, bytes.fromhex("0cb1ba0000000000")), size=128 * MIB) == ["zfs_member"]
    assert kinds((at, bytes.fromhex("0000000000bab10c")), size=128 * MIB) == ["zfs_member"]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("mkfs.ext4", "-q", "-F"), "ext4"),
        (("mkfs.xfs", "-q", "-f"), "xfs"),
        (("mkfs.btrfs", "-q", "-f"), "btrfs"),
        (("mkfs.vfat",), "vfat"),
        (("mkswap", "-q"), "swap"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_the_real_tools_make(tmp_path: Path, command: tuple[str, ...], kind: str) -> None:
    from skips import met

    if not met(command[0]):
        pytest.skip(f"needs {command[0]}")
    path = tmp_path / "image"
    path.touch()
    os.truncate(path, SIZE)
    env = {**os.environ, "PATH": os.environ["PATH"] + SBIN}
    subprocess.run([*command, path], check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert [signature.fs_type for signature in contents(reader(descriptor), SIZE)] == [kind]
        assert holds_data(reader(descriptor), SIZE)
    finally:
        os.close(descriptor)


@given(st.binary(max_size=4096), st.integers(0, 70000), st.integers(0, 1 << 40))
def test_any_bytes_give_an_answer(data: bytes, at: int, size: int) -> None:
    def read(offset: int, length: int) -> bytes:
        begin = max(0, offset - at)
        return data[begin : begin + length] if offset >= at else b"\0" * min(length, at - offset) + data[:length]

    found = contents(read, size)
    assert len({signature.fs_type for signature in found}) == len(found)
