"""Superblocks: what is on a device, by its first blocks."""

import os
import subprocess
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skips import unmet

from diskprof.devices.scan.signatures import Signature, identify, read_signature

SIZE = 256 << 20
PATH = os.environ["PATH"] + ":/usr/local/sbin:/usr/sbin:/sbin"
ID = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")


def made(*parts: tuple[int, bytes]) -> Signature | None:
    content = bytearray(512 << 10)
    for offset, data in parts:
        content[offset : offset + len(data)] = data
    return identify(lambda offset, length: bytes(content[offset : offset + length]), SIZE)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(0, b"LUKS\xba\xbe\0\x02"), (24, b"vault"), (168, str(ID).encode())], ("crypto_LUKS", "vault", str(ID))),
        ([(0, b"LUKS\xba\xbe\0\x01"), (24, b"aes"), (168, str(ID).encode())], ("crypto_LUKS", "", str(ID))),
        (
            [(512, b"LABELONE"), (536, b"LVM2 001" + b"abcdefGHIJKLMNOPQRSTUVWXYZ012345")],
            ("LVM2_member", "", "abcdef-GHIJ-KLMN-OPQR-STUV-WXYZ-012345"),
        ),
        ([(0x10040, b"_BHRfS_M"), (0x10020, ID.bytes), (0x1012B, b"pool")], ("btrfs", "pool", str(ID))),
        ([(82, b"FAT32   "), (71, b"EFI        "), (67, b"\x78\x56\x34\x12")], ("vfat", "EFI", "1234-5678")),
        ([(54, b"FAT16   "), (43, b"NO NAME    "), (39, b"\x01\0\0\0")], ("vfat", "", "0000-0001")),
        ([(3, b"NTFS    "), (72, bytes(range(8)))], ("ntfs", "", "0706050403020100")),
        ([(4086, b"SWAPSPACE2"), (0x40C, ID.bytes), (0x41C, b"swp")], ("swap", "swp", str(ID))),
        ([(0x438, b"\x53\xef"), (0x45C, b"\x04"), (0x468, ID.bytes)], ("ext3", "", str(ID))),
        ([(0x438, b"\x53\xef"), (0x460, b"\x40"), (0x478, b"root")], ("ext4", "root", "")),
        ([(0x438, b"\x53\xef")], ("ext2", "", "")),
        ([(0x438, b"\x53\xef"), (0x460, b"\x08")], ("jbd", "", "")),
        ([(128 * 1024 + 2048, bytes.fromhex("0cb1ba0000000000"))], ("zfs_member", "", "")),
        ([(0x8001, b"CD001"), (0x8028, b"DEBIAN                          ")], ("iso9660", "DEBIAN", "")),
    ],
)
def test_known_contents(parts: list[tuple[int, bytes]], expected: tuple[str, str, str]) -> None:
    assert made(*parts) == Signature(*expected)


def test_a_mirrors_half_is_no_file_system() -> None:
    super_block = bytes.fromhex("fc4e2ba9") + bytes(12) + ID.bytes + b"host:0"
    found = made((0x1000, super_block), (0x438, b"\x53\xef"))
    assert found == Signature("linux_raid_member", "host:0", str(ID))
    content = {SIZE - 64 * 1024: bytes.fromhex("fc4e2ba9")}
    assert identify(lambda offset, length: content.get(offset, bytes(length)), SIZE) == Signature("linux_raid_member")


def test_nothing_known() -> None:
    assert made() is None
    assert identify(lambda _offset, _length: b"", 0) is None


@given(st.binary(max_size=2048), st.integers(0, 1 << 50), st.integers(0, 0x10100))
def test_any_bytes_give_a_value(data: bytes, size: int, shift: int) -> None:
    content = bytes(shift) + data
    found = identify(lambda offset, length: content[offset : offset + length], size)
    assert found is None or found.fs_type


@given(st.sampled_from([0, 3, 54, 82, 0x400, 0x438, 0x1018, 4086, 0x10040]), st.binary(max_size=600))
def test_any_bytes_behind_a_magic_number_give_a_value(offset: int, data: bytes) -> None:
    for magic in (b"LUKS\xba\xbe", b"XFSB", b"\x53\xef", b"SWAPSPACE2", b"_BHRfS_M", b"FAT32   ", b"NTFS    "):
        content = bytes(offset) + magic + data
        identify(lambda at, length, content=content: content[at : at + length], len(content))


@pytest.mark.parametrize(
    ("tool", "options", "expected"),
    [
        (tool, options, Signature(fs_type, label, made_uuid))
        for tool, options, fs_type, label, made_uuid in [
            ("mkfs.ext4", ["-q", "-F", "-L", "a label", "-U", str(ID)], "ext4", "a label", str(ID)),
            ("mkfs.ext4", ["-q", "-F", "-t", "ext3", "-U", str(ID)], "ext3", "", str(ID)),
            ("mkfs.ext4", ["-q", "-F", "-t", "ext2", "-U", str(ID)], "ext2", "", str(ID)),
            ("mkswap", ["-L", "a label", "-U", str(ID)], "swap", "a label", str(ID)),
            ("mkfs.xfs", ["-q", "-L", "a_label", "-m", f"uuid={ID}"], "xfs", "a_label", str(ID)),
            ("mkfs.btrfs", ["-q", "-L", "a label", "-U", str(ID)], "btrfs", "a label", str(ID)),
            ("mkfs.vfat", ["-F", "32", "-n", "A LABEL", "-i", "12345678"], "vfat", "A LABEL", "1234-5678"),
        ]
    ],
)
def test_what_the_real_tools_write(tool: str, options: list[str], expected: Signature, tmp_path: Path) -> None:
    if reason := unmet(tool):
        pytest.skip(reason)
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(320 << 20)
    subprocess.run([tool, *options, str(image)], check=True, capture_output=True, env={**os.environ, "PATH": PATH})
    assert read_signature(str(image), image.stat().st_size) == expected


def test_what_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    assert read_signature(str(tmp_path / "absent"), SIZE) is None
    assert read_signature(str(tmp_path), SIZE) is None
    assert read_signature("a\0b", SIZE) is None
