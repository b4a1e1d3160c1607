"""The file: where it lies, who may read it, what else it may turn out to be, and its version."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from recorded import FAST, make_plan, record_run
from store_files import library_bytes, raw, read_all

from diskprof.model.errors import DiskprofError, StoreError
from diskprof.store import Store, default_path, schema
from diskprof.store.schema import VERSION, version_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return library_bytes(tmp_path_factory.mktemp("library"))


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- where -----------------------------------------------------------------------------------------------------------


def test_the_store_lies_where_the_person_or_the_desktop_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert default_path() == Path("/home/ada/.local/share/diskprof/runs.db")
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert default_path() == Path("/home/ada/.local/share/diskprof/runs.db")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_path() == Path("/data/diskprof/runs.db")
    monkeypatch.setenv("DISKPROF_HOME", "~/mine")
    assert default_path() == Path("/home/ada/mine/runs.db")


def test_without_a_path_the_default_one_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROF_HOME", str(tmp_path / "home"))
    with Store.open() as store:
        assert store.path == tmp_path / "home" / "runs.db"


def test_a_store_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Store.open(tmp_path / "a" / "b" / "runs.db") as store:
            record_run(store, "ioping-seek")
            assert {mode_of(file) for file in store.path.parent.iterdir()} == {0o600}
            assert len(list(store.path.parent.iterdir())) == 3
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a" / "b") == mode_of(tmp_path / "a") == 0o700


def test_a_directory_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    with Store.open(tmp_path / "shared" / "runs.db"):
        pass
    assert mode_of(tmp_path / "shared") == 0o755


def test_a_path_keeps_its_meaning_when_the_process_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open(Path("runs.db")) as store:
        assert store.path == tmp_path / "runs.db"


@pytest.mark.parametrize("name", ["a ? b.db", "a%20b#c.db", "é\udcff.db", "-x.db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    for _ in range(2):
        with Store.open(tmp_path / name) as store:
            store.create_run(make_plan(), FAST.environment)
    with Store.open(tmp_path / name) as store:
        assert len(store.summaries()) == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_nothing_is_made_unless_asked(path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        Store.open(path.parent / "deep" / "runs.db", create=False)
    assert list(path.parent.iterdir()) == []


# --- what else it may be ---------------------------------------------------------------------------------------------


def make_directory(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_loose_link(path: Path) -> None:
    path.symlink_to("nowhere")


def make_device_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [make_directory, make_pipe, make_loose_link, make_device_link])
def test_only_a_file_is_opened(path: Path, make: Callable[[Path], None]) -> None:
    """Above all no block device: it looks like an empty database, and SQLite would write to the disk."""
    make(path)
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert caught.value.hint
    assert [entry.name for entry in path.parent.iterdir()] == ["runs.db"]


@pytest.mark.parametrize(
    "content", [b"x", b"[global]\nrw=read\n" * 100, b"SQLite format 2\0" + bytes(4080), bytes(8192)]
)
def test_another_kind_of_file_is_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a diskprof store"):
        Store.open(path)
    assert path.read_bytes() == content
    assert [entry.name for entry in path.parent.iterdir()] == ["runs.db"]


def test_another_programs_database_is_left_as_it_is(path: Path) -> None:
    with raw(path) as db:
        db.execute("CREATE TABLE moz_places (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store.open(path)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    with Store.open(path) as store:
        assert store.summaries() == []


def test_a_store_that_was_interrupted_before_its_first_table_is_finished(path: Path) -> None:
    with raw(path) as db:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL")
    assert path.stat().st_size > 0
    with Store.open(path) as store:
        assert store.summaries() == []


@pytest.mark.parametrize("place", ["/proc/nothing/runs.db", "/dev/null/runs.db", "/sys/runs.db"])
def test_a_place_where_nothing_can_be_made_is_named(place: str) -> None:
    with pytest.raises(StoreError, match=place) as caught:
        Store.open(Path(place))
    assert "--store" in caught.value.hint


def test_a_damaged_store_gives_an_error_that_a_person_can_read(path: Path, library: bytes) -> None:
    """Many kinds of damage: each is either beside what is read, or a StoreError. Never a crash, never a hang."""
    random, errors = Random(7), 0
    for _ in range(120):
        content = bytearray(library)
        for _ in range(random.choice((1, 8, 200))):
            start = random.randrange(0 if random.random() < 0.2 else 100, len(content))
            length = min(random.choice((1, 4, 60, 4096)), len(content) - start)
            content[start : start + length] = random.randbytes(length)
        path.write_bytes(content)
        try:
            with Store.open(path) as store:
                read_all(store)
        except DiskprofError as error:
            errors += 1
            assert error.message.endswith(".")
        for leftover in path.parent.glob("runs.db-*"):
            leftover.unlink()
    assert errors > 30


@pytest.mark.parametrize("length", [17, 99, 100, 4096, 40_000])
def test_a_store_that_was_cut_off_is_an_error(path: Path, library: bytes, length: int) -> None:
    path.write_bytes(library[:length])
    with pytest.raises(StoreError) as caught, Store.open(path) as store:
        read_all(store)
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_damage_names_what_may_save_the_rest(path: Path, library: bytes) -> None:
    path.write_bytes(library[:4096] + bytes(len(library) - 4096))
    with pytest.raises(StoreError, match="damaged") as caught, Store.open(path) as store:
        read_all(store)
    assert f"sqlite3 {path} .recover" in caught.value.hint


# --- versions --------------------------------------------------------------------------------------------------------


def test_a_new_store_says_which_version_it_is(path: Path) -> None:
    Store.open(path).close()
    with raw(path) as db:
        assert version_of(db) == VERSION


def test_tables_that_cannot_all_be_made_leave_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, pytest.raises(StoreError):
        patch.setattr(schema, "_TABLES", (*schema._TABLES, "ALTER TABLE nowhere ADD COLUMN y"))
        Store.open(path)
    with raw(path) as db:
        assert version_of(db) == 0
    with Store.open(path) as store:
        assert store.summaries() == []


@pytest.mark.parametrize("version", [VERSION + 1, VERSION + 4])
def test_a_store_of_a_newer_diskprof_is_refused_untouched(path: Path, library: bytes, version: int) -> None:
    path.write_bytes(library)
    with raw(path) as db:
        db.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"newer diskprof.*its version is {version}") as caught:
        Store.open(path)
    assert "Update diskprof" in caught.value.hint
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["runs.db"]
