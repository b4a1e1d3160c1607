"""A fleet run in an exported file, and out of it into another store."""

import gzip
import io
import json
from pathlib import Path

import pytest
from fleets import begun, ended

from diskprof.store import Store
from diskprof.store.exchange.transfer import BadFile, export_runs, import_runs


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, bytes]:
    """A store with a fleet run of two hosts, its id, and its file."""
    path = tmp_path_factory.mktemp("store") / "runs.db"
    with Store.open(path) as store:
        fleet_id, runs = begun(store, 1.0, 0.9)
        ended(store, fleet_id, runs)
        file = io.BytesIO()
        export_runs(store, store.runs_named(fleet_id), file)
    return path, fleet_id, file.getvalue()


def test_it_is_the_same_fleet_run_in_another_store(exported: tuple[Path, str, bytes], tmp_path: Path) -> None:
    path, fleet_id, data = exported
    with Store.open(path) as store, Store.open(tmp_path / "other.db") as other:
        for new in (True, False):
            taken = import_runs(other, [("fleet.gz", io.BytesIO(data))])
            assert [run.new for run in taken] == [new, new]
            assert other.fleet_run(fleet_id) == store.fleet_run(fleet_id)
            assert [run.fleet for run in other.runs_of_fleet(fleet_id)] == [
                run.fleet for run in store.runs_of_fleet(fleet_id)
            ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (', 1, "together", 1]', ', 7, "together", 1]', "it has no place in its fleet run"),
        (', 1, "together", 1]', ', 1, "together", 0]', "it has no place in its fleet run"),
        ('"target": "/srv"}]', '"target": "/srv"}, {"host": "db9", "target": "/srv"}]', "a state for each"),
        ("fleet-line", "", "its series or fleet run is missing"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    old: str, new: str, told: str, exported: tuple[Path, str, bytes], tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in gzip.decompress(exported[2]).splitlines()]
    if old == "fleet-line":
        lines = [line for line in lines if "fleet" not in line]
    changed = "\n".join(json.dumps(line) for line in lines).replace(old, new) + "\n"
    with Store.open(tmp_path / "other.db") as other, pytest.raises(BadFile, match=told):
        import_runs(other, [("fleet.gz", io.BytesIO(gzip.compress(changed.encode())))])
