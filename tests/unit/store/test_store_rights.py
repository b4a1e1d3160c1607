"""Journals, locks, rights and room: what the file system allows."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from recorded import FAST, make_plan, record_run, recording
from store_files import library_bytes, raw, read_all

from diskprof.model.errors import StoreError
from diskprof.model.run import Status
from diskprof.store import Store, paths


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return library_bytes(tmp_path_factory.mktemp("library"))


# --- journals and locks ----------------------------------------------------------------------------------------------


def test_a_store_writes_ahead_where_it_can(path: Path) -> None:
    with Store.open(path) as store:
        assert store.journal == "wal"
        with raw(path) as db:
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_store_on_a_network_keeps_a_journal_that_is_safe_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.open(path).close()
    monkeypatch.setattr(paths, "on_network", lambda path: True)
    with Store.open(path) as store:
        assert store.journal == "delete"
        run_id = record_run(store, "ioping-seek")
        assert not Path(f"{path}-wal").exists()
        assert store.run(run_id).status is Status.COMPLETE
        with Store.open(path) as other:
            assert other.samples(run_id) == store.samples(run_id)
            before = other.change_counter()
            store.set_note(run_id, "x")
            assert other.change_counter() > before
    with raw(path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:50 / /home rw - nfs4 server:/home rw
41 40 8:2 / /home/local\\040disk rw - xfs /dev/sdb1 rw
42 22 0:60 / /mnt/far rw master:3 - fuse.sshfs me@far:/ rw
43 22 0:61 / /srv rw - nfs server:/srv rw
44 22 8:3 / /srv rw - btrfs /dev/sdc1 rw
broken line
"""


@pytest.mark.parametrize(
    ("where", "network"),
    [
        ("/var/runs.db", False),
        ("/home/ada/runs.db", True),
        ("/homes/ada/runs.db", False),
        ("/home/local disk/runs.db", False),
        ("/mnt/far/x/runs.db", True),
        ("/srv/runs.db", False),
    ],
)
def test_network_file_systems_are_told_by_their_mounts(tmp_path: Path, where: str, network: bool) -> None:
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(MOUNTS)
    assert paths.on_network(Path(where), mountinfo) is network


def test_without_a_list_of_mounts_a_file_counts_as_local(tmp_path: Path) -> None:
    assert not paths.on_network(tmp_path / "runs.db", tmp_path / "nothing")


def test_a_locked_store_can_be_read_and_says_that_it_is_busy_when_written(path: Path) -> None:
    with Store.open(path, timeout_s=0.01) as store, raw(path) as other:
        run_id = record_run(store, "ioping-seek")
        other.execute("BEGIN IMMEDIATE")
        assert store.run(run_id).status is Status.COMPLETE
        with pytest.raises(StoreError, match="busy") as caught:
            store.set_note(run_id, "x")
        assert str(path) in caught.value.hint
        other.execute("ROLLBACK")
        store.set_note(run_id, "x")
        assert store.run(run_id).note == "x"


def test_a_store_that_is_locked_whole_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "on_network", lambda path: True)
    Store.open(path).close()
    with raw(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="busy"):
            Store.open(path, timeout_s=0.01)


def test_a_closed_store_is_a_mistake_of_ours_and_not_an_error_of_the_store(path: Path) -> None:
    store = Store.open(path)
    store.close()
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.summaries()


# --- no room, no right -----------------------------------------------------------------------------------------------


def test_a_store_that_cannot_grow_keeps_what_it_has(path: Path) -> None:
    with Store.open(path) as store:
        run_id = record_run(store, "ioping-seek")
        samples = store.samples(run_id)
        store._database._connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(StoreError, match="disk is full") as caught:
            record_run(store)
        assert "Free space" in caught.value.hint
        assert store.samples(run_id) == samples
        store._database._connection.execute("PRAGMA max_page_count = 1000000")
        record_run(store)


@contextmanager
def small_file_system(tmp_path: Path, size: str = "1m") -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "small", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.needs("sys-admin", "mount")
def test_a_full_file_system_stops_writing_and_not_reading(tmp_path: Path) -> None:
    with small_file_system(tmp_path) as place, Store.open(place / "runs.db") as store:
        run_id = record_run(store, "ioping-seek")
        (place / "ballast").write_bytes(bytes(200_000))
        with pytest.raises(StoreError) as caught:
            for _ in range(50):
                record_run(store)
        assert caught.value.hint
        assert store.run(run_id).status is Status.COMPLETE
        assert read_all(store) >= 2
        (place / "ballast").unlink()
        store.set_note(run_id, "room again")
        with raw(store.path) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def check_read_only(path: Path, runs: int) -> None:
    with Store.open(path) as store:
        assert store.read_only
        assert read_all(store) == runs
        newest = store.resolve("latest")
        assert store.reap() == []
        assert store.change_counter() >= 0
        with pytest.raises(StoreError, match="only be read") as caught:
            store.set_note(newest, "x")
        assert caught.value.hint
        with pytest.raises(StoreError, match="only be read"):
            store.create_run(make_plan(), FAST.environment)


@pytest.mark.needs("sys-admin", "mount")
@pytest.mark.parametrize("left_open", [False, True])
def test_a_store_on_a_read_only_file_system_can_be_read(tmp_path: Path, library: bytes, left_open: bool) -> None:
    """Also one whose last writer was killed: what is in its WAL counts."""
    with small_file_system(tmp_path, "8m") as place:
        path = place / "runs.db"
        path.write_bytes(library)
        runs = 10
        if left_open:
            with Store.open(path) as store:
                record_run(store, "ioping-seek")
                for file in list(place.iterdir()):
                    shutil.copy(file, tmp_path / file.name)
            for file in tmp_path.glob("runs.db*"):
                shutil.copy(file, place / file.name)
            assert Path(f"{path}-wal").stat().st_size
            runs += 1
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        check_read_only(path, runs)


@pytest.fixture
def others_place() -> Iterator[Path]:
    """A directory that every user may enter."""
    place = Path(tempfile.mkdtemp(prefix="diskprof-test-", dir="/tmp"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


@contextmanager
def somebody() -> Iterator[None]:
    """As a user without rights, if this one is root."""
    if os.geteuid():
        yield
        return
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.parametrize(("directory", "file"), [(0o555, 0o444), (0o555, 0o666), (0o777, 0o444)])
def test_a_store_without_the_right_to_write_can_be_read(
    others_place: Path, library: bytes, directory: int, file: int
) -> None:
    path = others_place / "runs.db"
    path.write_bytes(library)
    path.chmod(file)
    others_place.chmod(directory)
    with somebody():
        check_read_only(path, 10)
    others_place.chmod(0o755)
    assert path.read_bytes() == library


def test_an_empty_file_that_cannot_be_written_is_no_store(others_place: Path) -> None:
    path = others_place / "runs.db"
    path.touch(0o444)
    others_place.chmod(0o555)
    with somebody(), pytest.raises(StoreError, match="is empty") as caught:
        Store.open(path)
    assert "--store" in caught.value.hint
    others_place.chmod(0o755)


def test_a_store_that_may_not_even_be_read_says_so(others_place: Path, library: bytes) -> None:
    path = others_place / "runs.db"
    path.write_bytes(library)
    path.chmod(0)
    with somebody(), pytest.raises(StoreError, match="permission denied") as caught:
        Store.open(path)
    assert caught.value.hint


def test_a_directory_that_may_not_be_written_takes_no_store(others_place: Path) -> None:
    others_place.chmod(0o555)
    with somebody(), pytest.raises(StoreError, match="permission denied"):
        Store.open(others_place / "deep" / "runs.db")
    others_place.chmod(0o755)
    assert list(others_place.iterdir()) == []


# --- size ------------------------------------------------------------------------------------------------------------


def test_a_day_of_samples_stays_small(path: Path) -> None:
    """86,400 one-second samples, and as many of kernel statistics, take less than 40 MB: a sixtieth of them is made here."""
    with Store.open(path) as store:
        run_id = list(recording(store, "quick", runtime_s=360, stop_in=(1, 0.0), end=Status.CANCELLED))[-1]
        samples = len(store.samples(run_id).samples)
        assert samples > 1440
    assert path.stat().st_size * 86_400 / samples < 40e6
