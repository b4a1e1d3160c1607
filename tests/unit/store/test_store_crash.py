"""Several processes on one store, and processes that are killed in the middle of a word."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest
from recorded import FAST, make_plan

from diskprof.model.run import Status
from diskprof.store import Store

WRITER = """
import sys
from pathlib import Path
from random import Random
from recorded import FAST, make_histogram, make_plan
from diskprof.model.run import Progress
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.store import Store

path, seed, batches = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
random = Random(seed)
histogram = make_histogram(random, 20000, FAST.speeds["randread-qd1"])
with Store.open(path) as store:
    run_id = store.create_run(make_plan(), FAST.environment)
    print(run_id, flush=True)
    for number in range(1, batches + 1):
        numbers = (number, 10**9, number, 4096, None, None, None)
        both = [Sample(0, Phase.MEASURING, direction, *numbers, histogram) for direction in Direction]
        store.append(run_id, samples=both, progress=Progress(0, Phase.MEASURING, 0.5, 0.5, None, number))
        print(number, flush=True)
        if number % 10 == 0:
            sys.stdin.readline()
    sys.stdin.read()
"""


@contextmanager
def writer(path: Path, seed: int, batches: int, turns: int = 2000) -> Iterator[subprocess.Popen[str]]:
    """A process that commits batch after batch and says so; after each ten it waits for a `turn`, of which it gets some."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "kit")}
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(seed), str(batches)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    turn(process, turns)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def turn(process: subprocess.Popen[str], times: int = 1) -> None:
    assert process.stdin
    process.stdin.write("\n" * times)
    process.stdin.flush()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def integrity(path: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(path)) as db:
        found = db.execute("PRAGMA integrity_check").fetchall()
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        return found


def test_a_reader_sees_whole_batches_in_order_while_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store, writer(path, 1, 150, turns=0) as process:
        run_id, seen, cursor, changes = said(process), [], 0, set()
        while not seen or seen[-1] < 150:
            promised = int(said(process))
            if promised % 10 == 5:
                turn(process)
            batch = store.samples(run_id, after=cursor)
            cursor = batch.last
            numbers = [sample.at_ns for sample in batch.samples]
            assert numbers[::2] == numbers[1::2], "half a batch was seen"
            seen += numbers[::2]
            assert seen and seen[-1] >= promised, "what was committed was not seen"
            progress = store.run(run_id).progress
            assert progress and progress.at_ns >= seen[-1]
            changes.add(store.change_counter())
        assert seen == list(range(1, 151))
        assert len(changes) > 5


def test_two_writers_and_two_readers_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as a, Store.open(path) as b, writer(path, 1, 60) as first, writer(path, 2, 60) as second:
        ids = said(first), said(second)
        for number in range(1, 61):
            for process, store, run_id in ((first, a, ids[0]), (second, b, ids[1])):
                assert said(process) == str(number)
                store.set_note(run_id, f"note {number}")
                assert len(store.samples(run_id).samples) >= 2 * number
        assert {summary.note for summary in a.summaries()} == {"note 60"}
    assert integrity(path) == [("ok",)]


def test_processes_that_make_a_store_at_the_same_time_share_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.db"
    with writer(path, 1, 1) as a, writer(path, 2, 1) as b, writer(path, 3, 1) as c:
        ids = {said(a), said(b), said(c)}
        assert "" not in ids
        with Store.open(path) as store:
            assert {summary.id for summary in store.summaries()} == ids
            assert store.journal == "wal"
    assert integrity(path) == [("ok",)]


@pytest.mark.parametrize("seed", range(12))
def test_a_killed_writer_leaves_every_sample_that_it_had_committed(tmp_path: Path, seed: int) -> None:
    path, random = tmp_path / "runs.db", Random(seed)
    with writer(path, seed, 100_000) as process:
        run_id, committed = said(process), 0
        for _ in range(random.randrange(1, 120)):
            committed = int(said(process))
        process.kill()
        process.wait()
        assert process.stdout
        rest = process.stdout.read().split("\n")[:-1]
        committed = int(rest[-1]) if rest else committed
    with Store.open(path) as store:
        numbers = [sample.at_ns for sample in store.samples(run_id).samples]
        assert numbers[::2] == numbers[1::2] == list(range(1, len(numbers) // 2 + 1))
        # The last batch may have been committed before the kill and announced never.
        assert len(numbers) // 2 - committed in (0, 1)
        progress = store.run(run_id).progress
        assert progress and progress.at_ns == numbers[-1]
        assert store.reap() == [run_id]
        assert store.run(run_id).status is Status.INTERRUPTED
        again = store.create_run(make_plan(), FAST.environment)
        assert store.resolve("latest") == again
    assert integrity(path) == [("ok",)]


def test_a_power_cut_that_tears_the_wal_loses_the_last_words_only(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with writer(path, 1, 40) as process:
        run_id = said(process)
        for _ in range(40):
            said(process)
        process.kill()
        process.wait()
    wal = Path(f"{path}-wal")
    content, random = wal.read_bytes(), Random(3)
    database = path.read_bytes()
    counts = []
    for cut in sorted((random.randrange(len(content) // 2, len(content)) for _ in range(15)), reverse=True):
        path.write_bytes(database)
        wal.write_bytes(content[:cut])
        Path(f"{path}-shm").unlink(missing_ok=True)
        with Store.open(path) as store:
            numbers = [sample.at_ns for sample in store.samples(run_id).samples]
        assert numbers[::2] == numbers[1::2] == list(range(1, len(numbers) // 2 + 1))
        assert integrity(path) == [("ok",)]
        counts.append(len(numbers))
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < counts[0] < 80
