"""The file: where it lies, who may read it, what else it may turn out to be, and how old it is."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from recorded import FAST, make_plan, record_run
from store_files import IMPOSSIBLE, LAST, NEXT, drop_courses, library_bytes, open_with, raw, read_all

from diskprof.model.errors import DiskprofError, StoreError
from diskprof.model.sample import Phase, SystemSample
from diskprof.store import Store, default_path
from diskprof.store.schema import MIGRATIONS, version_of


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


def history(path: Path) -> list[tuple[int, str]]:
    with raw(path) as db:
        return db.execute("SELECT version, name FROM migration ORDER BY version").fetchall()


def test_a_new_store_has_a_record_of_every_step(path: Path) -> None:
    Store.open(path).close()
    assert history(path) == [(step.version, step.name) for step in MIGRATIONS]
    with raw(path) as db:
        assert version_of(db) == MIGRATIONS[-1].version == len(MIGRATIONS)
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)


def test_an_earlier_store_is_brought_up_to_date_and_loses_nothing(path: Path, library: bytes) -> None:
    path.write_bytes(library)
    with Store.open(path) as store:
        before = [store.run(summary.id) for summary in store.summaries()]
    open_with(path, NEXT).close()
    assert history(path)[-1] == (NEXT.version, "runs have colours")
    with raw(path) as db:
        assert db.execute("SELECT DISTINCT colour FROM run").fetchall() == [("red",)]
        db.execute("DELETE FROM migration WHERE version = ?", (NEXT.version,))
    with Store.open(path) as store:
        assert [store.run(summary.id) for summary in store.summaries()] == before


def test_what_the_kernel_saw_before_there_was_more_to_see_is_kept(path: Path) -> None:
    with Store.open(path) as store:
        run_id = store.create_run(make_plan(), FAST.environment)
    with raw(path) as db:
        # As the first version left it: the columns of the second are not there.
        drop_courses(db)
        db.execute("DROP INDEX run_by_order")
        for table, count in (("system_sample", 20), ("sample", 13), ("run", 18)):
            for (column,) in db.execute(
                "SELECT name FROM pragma_table_info(?) WHERE cid >= ?", (table, count)
            ).fetchall():
                db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        db.execute("DELETE FROM migration WHERE version > 1")
        db.execute(f"INSERT INTO system_sample VALUES (1, 1, 0, 3, 5, 6, {', '.join(map(str, range(14)))})")
    new = SystemSample(1, Phase.MEASURING, 7, 8, reads=9, cgroup_reads=10, cpu_throttled_ns=11, dirty_bytes=12)
    with Store.open(path) as store:
        (old,) = store.system_samples(run_id).samples
        store.append(run_id, system=[new])
        assert store.system_samples(run_id).samples == (old, new)
    assert (old.reads, old.merges, old.temperature_c) == (0, 8, 13.0)
    assert (old.read_merges, old.cgroup_reads, old.cpu_periods, old.cached_bytes) == (None, None, None, None)
    assert len(history(path)) == LAST


def test_a_step_that_fails_leaves_those_before_it_and_nothing_of_itself(path: Path) -> None:
    Store.open(path).close()
    with pytest.raises(StoreError):
        open_with(path, NEXT, IMPOSSIBLE)
    assert [version for version, _ in history(path)] == list(range(1, NEXT.version + 1))
    with raw(path) as db:
        assert not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'third'").fetchone()
        assert db.execute("PRAGMA user_version").fetchone() == (NEXT.version,)


def test_a_step_is_taken_once(path: Path) -> None:
    open_with(path, NEXT).close()
    open_with(path, NEXT).close()
    assert len(history(path)) == NEXT.version


def test_a_store_of_a_newer_diskprof_is_refused_untouched(path: Path, library: bytes) -> None:
    path.write_bytes(library)
    open_with(path, NEXT).close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer diskprof") as caught:
        Store.open(path)
    assert "Update diskprof" in caught.value.hint
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["runs.db"]
