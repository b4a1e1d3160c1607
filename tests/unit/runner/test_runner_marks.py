"""The mark of a test file's directory: what is written, what is taken for one, and a disk that takes its time for it."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from program import until

from diskprof.model.plan import TestFile
from diskprof.runner.carry import in_child, marks, testfile
from diskprof.runner.carry.marks import Mark, look_at, mark_bytes, read_mark
from diskprof.runner.carry.testfile import MARK_NAME, held_test_files
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
    monkeypatch.setattr(in_child, "PATIENCE_S", 1.0)
    file = TestFile(f"{tmp_path}/.diskprof-0123abcd", f"{tmp_path}/.diskprof-0123abcd/test.dat", 4096)
    with held_test_files([file.directory], [file], mark_bytes(MARK), lambda words: pytest.fail(words)):
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


@pytest.mark.parametrize(
    ("shared", "host", "boot_id", "kept"),
    [
        (True, "another", "another boot", True),
        (True, "", "another boot", True),
        (True, os.uname().nodename, "another boot", False),
        (False, "another", "another boot", False),
    ],
)
def test_on_a_shared_file_system_a_clone_of_this_machine_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool, host: str, boot_id: str, kept: bool
) -> None:
    """Clones have one machine-id, and pid namespaces have the same number everywhere."""
    monkeypatch.setattr(marks, "may_hang", lambda _mount: shared)
    directory = tmp_path / ".diskprof-0123abcd"
    directory.mkdir(mode=0o700)
    mark = replace(MARK, host=host, runner=replace(this_process(), boot_id=boot_id))
    (directory / MARK_NAME).write_bytes(mark_bytes(mark))
    found = look_at(directory)
    assert found is not None and bool(found.objection) == kept
