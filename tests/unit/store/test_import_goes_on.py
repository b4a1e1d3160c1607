"""An import that was killed goes on where it stopped; nothing comes twice, and nothing is left in the temporary directory."""

import fcntl
import io
import os
import signal
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import FIRST_START, record_run

from diskprof.model.errors import DiskprofError
from diskprof.runner.result_files import import_files
from diskprof.store import Store
from diskprof.store.exchange import transfer
from diskprof.store.exchange.runfile import read
from diskprof.store.exchange.runfile_values import End, Record
from diskprof.store.exchange.staging import RunSource, file_key, staging_for
from diskprof.store.exchange.transfer import export_runs, import_records

IDS = tuple(f"run{number}" for number in range(7))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with seven runs."""
    folder = tmp_path_factory.mktemp("packed")
    with Store.open(folder / "runs.db") as store, (folder / "runs.jsonl.gz").open("wb") as file:
        for number, run_id in enumerate(IDS):
            record_run(store, run_id=run_id, runtime_s=1.0, started_at=FIRST_START + timedelta(hours=number))
        export_runs(store, IDS, file)
    return folder / "runs.jsonl.gz"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr(transfer, "_AT_ONCE", 2)
    return place


@pytest.fixture
def store(tmp_path: Path, temporary: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "there.db") as store:
        yield store


def records(path: Path, skipped: list[int], ends_before: int, skip: int) -> Iterator[Record]:
    """The runs of a file, in which this process is killed at the end of one of them."""
    skipped.append(skip)
    with path.open("rb") as file:
        for number, record in enumerate(read(file, path.name, skip)):
            yield record
            ends_before -= isinstance(record, End)
            if not ends_before:
                os.kill(os.getpid(), signal.SIGKILL)
            assert number < 10_000


def source(path: Path, skipped: list[int], ends_before: int = 1000) -> RunSource:
    return RunSource(path.name, partial(records, path, skipped, ends_before), file_key(path))


def killed(store: Store, path: Path, after: int) -> None:
    """Imports in a process that is killed when so many runs were read."""
    child = os.fork()
    if not child:
        try:
            with Store.open(store.path) as own:
                import_records(own, [source(path, [], after)])
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def test_a_killed_import_goes_on(store: Store, packed: Path, temporary: Path) -> None:
    killed(store, packed, after=5)
    assert store.summaries() == [] and list(temporary.iterdir())
    skipped: list[int] = []
    found = import_records(store, [source(packed, skipped)])
    assert skipped == [4]
    assert [(run.run_id, run.new) for run in found] == [(run_id, True) for run_id in IDS]
    assert sorted(run.id for run in store.summaries()) == sorted(IDS)
    assert list(temporary.iterdir()) == []
    with Store.open(packed.with_name("runs.db")) as before:
        for run_id in IDS:
            assert replace(store.run(run_id), runner_pid=0) == replace(before.run(run_id), runner_pid=0)
            assert store.samples(run_id) == before.samples(run_id)
    assert not any(run.new for run in import_records(store, [source(packed, skipped)]))
    assert store.count() == len(IDS)


def test_it_begins_anew_if_a_file_changed_or_another_is_meant(store: Store, packed: Path, temporary: Path) -> None:
    killed(store, packed, after=5)
    os.utime(packed)
    skipped: list[int] = []
    assert len(import_records(store, [source(packed, skipped)])) == len(IDS)
    assert skipped == [0]
    assert list(temporary.iterdir()) == []


def test_after_an_error_nothing_is_left(store: Store, packed: Path, temporary: Path) -> None:
    killed(store, packed, after=5)
    cut = packed.with_name("cut")
    cut.write_bytes(packed.read_bytes()[:-100])
    skipped: list[int] = []
    with pytest.raises(DiskprofError, match="Nothing was imported"):
        import_records(store, [source(packed, skipped), source(cut, skipped)])
    assert skipped == [4, 0]
    assert store.summaries() == [] and list(temporary.iterdir()) == []


def test_what_another_import_prepares_is_left_alone(store: Store, packed: Path, temporary: Path) -> None:
    killed(store, packed, after=5)
    (place,) = temporary.iterdir()
    descriptor = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        kept = sorted(path.name for path in place.iterdir())
        assert len(import_records(store, [source(packed, [])])) == len(IDS)
        assert sorted(path.name for path in place.iterdir()) == kept and list(temporary.iterdir()) == [place]
    finally:
        os.close(descriptor)


def test_a_directory_that_others_can_write_to_is_not_used(store: Store, packed: Path, temporary: Path) -> None:
    killed(store, packed, after=5)
    (place,) = temporary.iterdir()
    place.chmod(0o770)
    skipped: list[int] = []
    assert len(import_records(store, [source(packed, skipped)])) == len(IDS)
    assert skipped == [0] and list(temporary.iterdir()) == [place]


def test_files_and_results_are_known_again(
    store: Store, packed: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As `diskprof import` does it: an exported file and a folder with results, interrupted before they are taken over."""
    results = Path(__file__).parents[2] / "data" / "results"
    places = [str(packed), str(results)]
    with monkeypatch.context() as patched:
        patched.setattr(transfer, "_tables", lambda source: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            import_files(store, places, io.BytesIO())
    assert store.summaries() == []
    read_again: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(transfer, "_create", lambda db, name, head: read_again.append(name))
        found = import_files(store, places, io.BytesIO())
    assert read_again == [] and len(found.runs) > len(IDS) and all(run.new for run in found.runs)
    assert list(temporary.iterdir()) == []


def test_each_store_has_its_own(store: Store, packed: Path, temporary: Path, tmp_path: Path) -> None:
    killed(store, packed, after=5)
    with staging_for(tmp_path / "other.db", [source(packed, [])]) as staging:
        assert staging.runs_of(source(packed, [])) == []
    assert len(list(temporary.iterdir())) == 1
