"""What is brought onto the disk beside the work, and a disk that fails or does not answer."""

import os
import threading
from pathlib import Path

import pytest
from program import until

from diskprof.model.errors import StoreError
from diskprof.store import database
from diskprof.store.database import Syncer


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SYNC_EVERY_S", 0.0)


def syncs() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "sync"]


def test_a_disk_that_does_not_answer_holds_nobody_up(tmp_path: Path) -> None:
    gate = tmp_path / "wal"
    # Who opens it waits for somebody at its other end.
    os.mkfifo(gate)
    syncer = Syncer(gate)
    for _ in range(5):
        syncer.check()
        syncer.committed()
    (thread,) = syncs()
    assert thread.daemon
    gate.open("w").close()
    until(lambda: not syncs(), "the end of the sync")


def test_a_sync_that_fails_is_an_error_of_the_store_once(tmp_path: Path) -> None:
    wal = tmp_path / "wal"
    wal.symlink_to("elsewhere")
    syncer = Syncer(wal)
    syncer.committed()
    until(lambda: not syncs(), "the end of the sync")
    with pytest.raises(StoreError, match="did not get onto the disk: Too many levels"):
        syncer.check()
    syncer.check()


def test_a_store_that_was_removed_has_nothing_to_sync(tmp_path: Path) -> None:
    syncer = Syncer(tmp_path / "wal")
    syncer.committed()
    until(lambda: not syncs(), "the end of the sync")
    syncer.check()
