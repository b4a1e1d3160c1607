"""The line that `run` and `attach` show on a terminal while a run is in progress."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import record_limit, record_run

from diskprof.cli.watching import progress_line, watch
from diskprof.model.cells import width_of
from diskprof.model.run import Run, Status
from diskprof.model.sample import Sample
from diskprof.store import Store, this_process

LONG = "4K 70% rand read, 30% rand write buffered QD32 (Reads and writes of a database)"


@pytest.fixture
def followed(tmp_path: Path) -> tuple[Run, list[Sample]]:
    """A run in progress of reads and writes, with a title longer than a line, and its last two samples."""
    with Store.open(tmp_path / "runs.db") as store:
        run_id = record_run(store, "mixed-70-30", end=Status.RUNNING, stop_in=(0, 0.5), runner=this_process())
        run, samples = store.run(run_id), store.samples(run_id, after=0).samples
    assert run.progress is not None
    test = replace(run.tests[0], planned=replace(run.tests[0].planned, title=LONG))
    return replace(run, tests=(test,), progress=replace(run.progress, remaining_s=1162.0)), list(samples[-2:])


@pytest.mark.parametrize("width", [59, 79, 119])
def test_the_time_left_is_never_cut(followed: tuple[Run, list[Sample]], width: int) -> None:
    run, recent = followed
    assert run.progress is not None
    line = progress_line(run, run.progress, recent, width)
    assert width_of(line) <= width
    assert line.startswith("[1/1] 4K 70% rand re")
    assert "measuring" in line and "19:22 left" in line
    assert ("  W " in line and " p99 " in line) is (width > 100)


def test_what_has_room_is_whole(followed: tuple[Run, list[Sample]]) -> None:
    run, recent = followed
    assert run.progress is not None
    line = progress_line(run, run.progress, recent, 200)
    assert f"] {LONG}: measuring" in line and " left  R " in line and "  W " in line


def test_of_a_search_the_loads_stand_there_and_what_each_trial_came_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        going = store.run(record_limit(store, trials=3, run_id="c4t8h3w0"))
        over = record_limit(store, run_id="c4t8h3w1")
    assert going.progress is not None
    assert progress_line(going, going.progress, [], 79).startswith("[trial 4] 4,")
    asyncio.run(watch(path, over))
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("[trial 1] QD64: 4,9") and "did not keep it (read.p99<=2ms: 16.4 ms)." in told[0]
    assert told[1].startswith("[trial 2] QD1: ") and "kept it" in told[1]
    assert len(told) == len(store_trials(path, over))


def store_trials(path: Path, run_id: str) -> list[int]:
    with Store.open(path) as store:
        return [test.index for test in store.run(run_id).tests]
