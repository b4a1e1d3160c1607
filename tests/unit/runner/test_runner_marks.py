"""The mark of a test file's directory: what is written, what is taken for one, and a disk that takes its time for it."""

import os
from pathlib import Path

import pytest
from program import until

from diskprof.model.plan import TestFile
from diskprof.runner.carry import apart, testfile
from diskprof.runner.carry.marks import Mark, mark_bytes, read_mark
from diskprof.runner.carry.testfile import held_test_files
from diskprof.store import this_process

MARK = Mark("abcdefgh", "/a/st\udcffre", this_process())


def test_a_mark_is_read_as_it_was_written() -> None:
    assert read_mark(mark_bytes(MARK)) == MARK


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        mark_bytes(MARK)[:-9],
        mark_bytes(MARK).replace(b'"pid": ', b'"pid": "x", "p": '),
        mark_bytes(MARK).replace(b'"start_ticks": ', b'"start_ticks": true, "p": '),
        mark_bytes(MARK).replace(b'"place": "', b'"place": "", "p": "'),
    ],
)
def test_nothing_else_is_taken_for_one(wrong: bytes) -> None:
    assert read_mark(wrong) is None


def test_no_run_fails_of_a_disk_that_takes_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    def slow(path: Path) -> None:
        gate.open().close()
        (tmp_path / f"synced {path.name}").touch()

    monkeypatch.setattr(testfile, "sync", slow)
    monkeypatch.setattr(apart, "PATIENCE_S", 1.0)
    file = TestFile(f"{tmp_path}/.diskprof-0123abcd", f"{tmp_path}/.diskprof-0123abcd/test.dat", 4096)
    with held_test_files([file], mark_bytes(MARK), lambda words: pytest.fail(words)):
        assert Path(file.path).stat().st_size == 4096
        with gate.open("w"):
            until((tmp_path / f"synced {tmp_path.name}").exists, "the end of the sync")


def test_a_directory_without_room_for_its_mark_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(testfile.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        testfile._make_directory(tmp_path / ".diskprof-0123abcd", mark_bytes(MARK))
    assert not list(tmp_path.iterdir())
