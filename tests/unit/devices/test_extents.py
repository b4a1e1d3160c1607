"""FIEMAP's answers, as a kernel gives them and as none does."""

import fcntl
import struct
from pathlib import Path

import pytest

from diskprof.devices.guard.extents import unwritten_bytes

UNWRITTEN, LAST = 0x800, 0x1
MIB = 1 << 20


def answering(monkeypatch: pytest.MonkeyPatch, extents: list[tuple[int, int, int]], at_once: int = 2) -> list[int]:
    """A kernel that knows these (start, length, flags) and tells `at_once` of them; returns where it was asked from."""
    asked: list[int] = []

    def ioctl(_descriptor: int, request: int, buffer: bytearray) -> int:
        assert request == 0xC020660B
        start = struct.unpack_from("=Q", buffer)[0]
        asked.append(start)
        told = [extent for extent in extents if extent[0] + extent[1] > start][:at_once]
        struct.pack_into("=I", buffer, 20, len(told))
        for index, (first, length, flags) in enumerate(told):
            struct.pack_into("=QQQ16xI12x", buffer, 32 + 56 * index, first, 0, length, flags)
        return 0

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    return asked


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "data"
    path.write_bytes(b"x")
    return str(path)


def test_what_was_never_written_is_added_up(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    extents = [(0, MIB, 0), (MIB, MIB, UNWRITTEN), (2 * MIB, MIB, 0), (3 * MIB, 4 * MIB, UNWRITTEN | LAST)]
    asked = answering(monkeypatch, extents)
    assert unwritten_bytes(file, 7 * MIB) == 5 * MIB
    assert asked == [0, 2 * MIB]


def test_what_lies_behind_the_end_of_the_file_does_not_count(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, [(0, MIB, 0), (MIB, 100 * MIB, UNWRITTEN | LAST)])
    assert unwritten_bytes(file, 3 * MIB) == 2 * MIB


def test_a_file_in_very_many_pieces_is_not_followed_for_ever(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, [(number * 4096, 4096, UNWRITTEN) for number in range(1000)], at_once=1)
    assert unwritten_bytes(file, 1000 * 4096) == 64 * 4096
    assert len(asked) == 64


def test_a_file_of_holes_alone_and_one_that_nobody_tells_of_have_none(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, [])
    assert unwritten_bytes(file, MIB) == 0
    assert unwritten_bytes(str(tmp_path / "nothing"), MIB) == 0

    def refuse(*_given: object) -> int:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "ioctl", refuse)
    assert unwritten_bytes(file, MIB) == 0
