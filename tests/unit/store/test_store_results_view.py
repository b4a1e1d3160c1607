"""The view `results`: what a program that knows SQLite alone reads of the store."""

import csv
import io
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from handmade import START, direction, fio, latency, run
from msgspec.structs import replace
from recorded import record_volumes, write_library

from diskprof.model.run import JobResult, Run, Status, TestResult
from diskprof.model.run_series import NewSeries, Repetition
from diskprof.reports.data.tables import results_csv
from diskprof.store import Store
from diskprof.store.exchange.transfer import export_runs, import_runs

DOCUMENT = Path(__file__).parents[3] / "docs/scripting.md"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def rows(path: Path, query: str = "SELECT * FROM results") -> list[sqlite3.Row]:
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


def stored(path: Path, made: Run) -> str:
    """The run in the store, test by test."""
    with Store.open(path) as store:
        run_id = store.create_run(made.plan, made.environment, started_at=made.started_at, tags=made.tags)
        for test in made.tests:
            store.begin_test(run_id, test.index, 0)
            store.finish_test(run_id, test.index, status=test.status, at_ns=1, result=test.result)
        store.finish_run(run_id, status=made.status)
    return run_id


def of_csv(runs: list[Run]) -> Iterator[tuple[str, str, str, str, str, float]]:
    """(run, test, job, direction, figure, value) of each figure that the CSV of a run has, without those of copies."""
    for each in runs:
        for row in csv.DictReader(io.StringIO(results_csv([each]), newline="")):
            for name, cell in row.items():
                if cell and not row["copy"] and re.search(r"(_ns|_ms|_per_s|^ios|^bytes|^iops)$", name):
                    yield row["run"], row["test"], row["job"], row["direction"], name, float(cell)


def test_it_has_every_figure_of_the_results(path: Path) -> None:
    write_library(path)
    with Store.open(path) as store:
        record_volumes(store)
        runs = [store.run(summary.id) for summary in store.summaries()]
    found = [tuple(row)[:6] for row in rows(path, "SELECT run, test, job, direction, figure, value FROM results")]
    assert len(found) == len(set(found)) > 1_000
    assert {each for each in found if each[3]} == set(of_csv(runs))
    cpu = {(r.id, t.name, t.result.cpu.user_percent) for r in runs for t in r.tests if t.result and t.result.cpu}
    assert {(each[0], each[1], each[5]) for each in found if each[4] == "cpu_user_percent"} == cpu


def test_a_row_says_what_it_is_a_figure_of(path: Path) -> None:
    made = run(fio(read=direction(5_000)), tags=("before", "x"))
    run_id = stored(path, made)
    (row,) = (each for each in rows(path) if each["figure"] == "latency_p99_ns")
    assert dict(row) == {
        "run": run_id,
        "series": None,
        "repeat": None,
        "started_at": f"{START:%Y-%m-%dT%H:%M:%SZ}",
        "host": "db-01",
        "preset": "own",
        "target": "/mnt/data",
        "device": "Example 1000",
        "run_status": "complete",
        "doubts": "",
        "imported_from": "",
        "test": "randread",
        "job": "",
        "engine": "fio",
        "test_status": "complete",
        "direction": "read",
        "figure": "latency_p99_ns",
        "value": latency(1e9 / 5_000).p99,
        "unit": "ns",
    }
    assert [tuple(each) for each in rows(path, "SELECT * FROM tags")] == [(run_id, "before"), (run_id, "x")]


def test_jobs_stand_beside_their_test_and_syncs_and_cpu_have_rows(path: Path) -> None:
    read = direction(100)
    result = TestResult(read, sync=latency(2e6), jobs=(JobResult(read, name="a"), JobResult(direction(50), name="b")))
    made = run(fio(read=read))
    stored(path, replace(made, tests=(replace(made.tests[0], result=result),)))
    assert [(each["job"], each["value"]) for each in rows(path) if each["figure"] == "iops"] == [
        ("", 100),
        ("a", 100),
        ("b", 50),
    ]
    assert [
        each["value"] for each in rows(path) if (each["direction"], each["figure"]) == ("sync", "latency_mean_ns")
    ] == [2e6]


def test_what_is_not_a_number_is_not_there(path: Path) -> None:
    stored(path, run(fio(read=direction(100, figures=latency(1e6, p99=float("nan"), max=float("inf"))))))
    assert not {"latency_p99_ns", "latency_max_ns"} & {each["figure"] for each in rows(path)}


def test_every_column_has_a_type_for_programs_that_ask(path: Path) -> None:
    stored(path, run(fio(read=direction(100))))
    types = {each["name"]: each["type"] for each in rows(path, "PRAGMA table_info(results)")}
    assert types.pop("value") == "REAL" and types.pop("repeat") == "INTEGER"
    assert set(types.values()) == {"TEXT"}


def test_a_run_of_a_series_names_it(path: Path) -> None:
    made = run(fio(read=direction(100)))
    with Store.open(path) as store:
        new = NewSeries(("/mnt/data",), Repetition(repeats=2))
        run_id = store.create_run(made.plan, made.environment, series=new)
        store.finish_test(run_id, 0, status=Status.COMPLETE, at_ns=1, result=made.tests[0].result)
        place = store.run(run_id).series
    assert place
    assert {(each["series"], each["repeat"]) for each in rows(path)} == {(place.series_id, 1)}


def test_deleted_runs_are_not_in_it_and_imported_ones_are(path: Path, tmp_path: Path) -> None:
    run_id = stored(path, run(fio(read=direction(100)), fio("failed", status=Status.FAILED)))
    before = [tuple(row) for row in rows(path)]
    file, other = tmp_path / "runs.jsonl.gz", tmp_path / "other.db"
    with Store.open(path) as store, file.open("wb") as out:
        export_runs(store, [run_id], out)
        store.discard(run_id, START)
    assert before and rows(path) == [] and rows(path, "SELECT * FROM tags") == []
    with Store.open(other) as store, file.open("rb") as given:
        import_runs(store, [("runs", given)])
    assert [tuple(row) for row in rows(other)] == before
    with Store.open(path) as store:
        store.delete(run_id)
    assert [tuple(row) for row in rows(path, "SELECT count(*) FROM figure")] == [(0,)]


def test_every_column_is_told() -> None:
    section = DOCUMENT.read_text().partition("## Run database")[2].partition("\n## ")[0]
    told = set(re.findall(r"`(\w+)`", section))
    with sqlite3.connect(":memory:") as database:
        from diskprof.store.schema import make_tables

        make_tables(database)
        columns = {row[1] for row in database.execute("PRAGMA table_info(results)")}
    assert columns <= told
