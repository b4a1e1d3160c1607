"""Files on a file system that may not answer: a child waits for it, and nobody else."""

import errno
import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from program import until
from recorded import GONE, make_plan

from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.plan import TestFile
from diskprof.model.run import Environment, Status
from diskprof.runner.carry import in_child as apart_module
from diskprof.runner.carry.in_child import NoAnswer, apart
from diskprof.runner.carry.testfile import held_test_files
from diskprof.runner.leftovers import leftovers
from diskprof.store import Store


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart_module, "PATIENCE_S", 0.1)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Path]:
    """A FIFO: who opens it waits, as on a file system that hangs, until somebody opens its other end."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    yield path


def test_what_is_done_apart_is_done(tmp_path: Path) -> None:
    apart((tmp_path / "here").mkdir, "It cannot be made")
    assert (tmp_path / "here").is_dir()


def test_an_error_of_the_child_is_raised_here(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError) as caught:
        apart(tmp_path.mkdir, "It cannot be made")
    assert caught.value.errno == errno.EEXIST


def test_a_mistake_of_ours_is_not_taken_for_success() -> None:
    def wrong() -> None:
        raise ZeroDivisionError

    with pytest.raises(DiskprofError, match="the helper process exited unexpectedly"):
        apart(wrong, "It cannot be made")


@pytest.mark.usefixtures("hurried")
def test_who_does_not_answer_is_not_waited_for_and_holds_nothing(gate: Path, tmp_path: Path) -> None:
    ours, theirs = os.pipe()

    def work() -> None:
        gate.open().close()
        (tmp_path / "done").touch()

    with pytest.raises(NoAnswer, match="It cannot be made: the file system has not answered"):
        apart(work, "It cannot be made")
    os.close(theirs)
    assert select.select([ours], [], [], 10)[0] and os.read(ours, 1) == b"", "the child keeps a pipe of ours open"
    os.close(ours)
    gate.open("w").close()
    until((tmp_path / "done").exists, "what was to be done")


def test_what_cannot_be_removed_is_told_and_does_not_hide_what_went_wrong(tmp_path: Path) -> None:
    file = TestFile(str(tmp_path / ".diskprof-0123abcd"), str(tmp_path / ".diskprof-0123abcd/test.dat"), 4096)
    told: list[str] = []
    with (
        pytest.raises(UsageError, match="the real reason"),
        held_test_files([file.directory], [file], b"mark", told.append),
    ):
        (Path(file.directory) / "somebody else's").touch()
        raise UsageError("the real reason")
    assert len(told) == 1 and "Could not remove the test file" in told[0] and "Directory not empty" in told[0]


def test_a_directory_that_cannot_be_made_is_an_error_of_the_person(tmp_path: Path) -> None:
    file = TestFile("/proc/.diskprof-0123abcd", "/proc/.diskprof-0123abcd/test.dat", 4096)
    with (
        pytest.raises(UsageError, match="Cannot create a test file in /proc"),
        held_test_files([file.directory], [file], b"mark", lambda _: None),
    ):
        pass


@pytest.mark.parametrize(
    ("status", "reason", "known"),
    [
        (Status.FAILED, "", True),
        (Status.CANCELLED, "", True),
        (Status.COMPLETE, "The test file could not be removed.", True),
        (Status.COMPLETE, "", False),
    ],
)
def test_a_file_that_stayed_behind_is_known_to_the_next_start(
    tmp_path: Path, status: Status, reason: str, known: bool
) -> None:
    directory = tmp_path / ".diskprof-0123abcd"
    directory.mkdir()
    plan = replace(
        make_plan(), directory=str(directory), files=(TestFile(str(directory), str(directory / "test.dat"), 4096),)
    )
    with Store.open(tmp_path / "runs.db") as store:
        run_id = store.create_run(plan, Environment(), runner=GONE)
        store.finish_run(run_id, status=status, reason=reason)
        assert [each.run_id for each in leftovers(store)] == [run_id] * known
