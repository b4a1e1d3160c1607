"""A thousand runs, read from all sides while another is written; and a process that is killed while it makes a store."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from program import until
from recorded import FAST, make_plan
from store_files import raw

from diskprof.model.run import Status
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.store import Store

RUNS, READERS, BATCHES = 1000, 4, 200

READER = """
import sys
from pathlib import Path
from random import Random
from diskprof.store import Store

path, run_id, random = Path(sys.argv[1]), sys.argv[2], Random(int(sys.argv[3]))
with Store.open(path) as store:
    print("ready", flush=True)
    cursor = rounds = seen = 0
    while seen < int(sys.argv[4]):
        summaries = store.summaries()
        assert len(summaries) == 1001, len(summaries)
        other = random.choice(summaries)
        if other.id != run_id:
            run = store.run(other.id)
            assert run.status == "complete" and len(store.samples(other.id).samples) == 2
        batch = store.samples(run_id, after=cursor)
        cursor = batch.last
        for sample in batch.samples:
            seen += 1
            assert sample.at_ns == seen, (sample.at_ns, seen)
        rounds += 1
    print(rounds)
"""


def sample_at(number: int) -> Sample:
    return Sample(0, Phase.MEASURING, Direction.READ, number, 10**9, number, 4096, None, None, None, None)


@contextmanager
def readers(path: Path, run_id: str) -> Iterator[list[subprocess.Popen[str]]]:
    with ExitStack() as stack:
        started = []
        for seed in range(READERS):
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", READER, str(path), run_id, str(seed), str(BATCHES)],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(process.kill)
            started.append(process)
        yield started


def test_a_thousand_runs_are_read_from_all_sides_while_one_is_written(tmp_path: Path) -> None:
    path, plan = tmp_path / "runs.db", make_plan("ioping-seek")
    with Store.open(path) as store:
        for _ in range(RUNS):
            run_id = store.create_run(plan, FAST.environment)
            store.append(run_id, samples=[sample_at(1), sample_at(2)])
            store.finish_run(run_id, status=Status.COMPLETE)
        run_id = store.create_run(plan, FAST.environment)
        with readers(path, run_id) as processes:
            for process in processes:
                assert process.stdout and process.stdout.readline() == "ready\n"
            for number in range(1, BATCHES + 1):
                store.append(run_id, samples=[sample_at(number)])
            for process in processes:
                out, err = process.communicate(timeout=120)
                assert process.returncode == 0, err
                assert int(out) >= 1
        assert len(store.samples(run_id).samples) == BATCHES
        with raw(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# The tables, more than SQLite keeps in memory, and then on and on.
MAKER = """
import sys
from pathlib import Path
from diskprof.store import Store, schema

COUNT = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {}) "
schema._TABLES = (
    *schema._TABLES,
    "CREATE TABLE ballast (bytes BLOB) STRICT",
    "INSERT INTO ballast " + COUNT.format(4000) + "SELECT randomblob(4000) FROM n",
    "INSERT INTO ballast " + COUNT.format(10**12) + "SELECT NULL FROM n WHERE x < 0",
)
Store.open(Path(sys.argv[1]))
"""


def test_a_store_whose_making_is_killed_in_the_middle_is_made_by_the_next(tmp_path: Path) -> None:
    path, wal = tmp_path / "runs.db", tmp_path / "runs.db-wal"
    with subprocess.Popen([sys.executable, "-c", MAKER, str(path)]) as process:
        try:
            until(lambda: wal.exists() and wal.stat().st_size > 8 << 20, "tables that have been half written")
        finally:
            process.kill()
    assert process.returncode == -signal.SIGKILL
    with raw(path) as db:
        assert db.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    with Store.open(path) as store:
        run_id = store.create_run(make_plan("ioping-seek"), FAST.environment)
        assert [summary.id for summary in store.summaries()] == [run_id]
    with raw(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'ballast'").fetchone()
