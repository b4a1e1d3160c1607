"""Starting a run in a session of its own, where that cannot be."""

from pathlib import Path

import pytest
from recorded import make_plan

from diskprof.model.advice import on_screen
from diskprof.model.errors import DiskprofError, Refused
from diskprof.model.run import Environment
from diskprof.runner.detached.launch import start_detached
from diskprof.store import Store, this_process


def test_where_a_runner_could_not_leave_its_last_words_nothing_is_started(tmp_path: Path) -> None:
    (tmp_path / "runner.log").mkdir()
    with pytest.raises(DiskprofError, match=r"^Nothing was started: .*runner\.log.*Is a directory") as refused:
        start_detached(make_plan("quick"), tmp_path / "runs.db")
    assert "--store" in refused.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["runner.log"]


def test_what_to_do_about_a_run_that_is_there_is_said_as_each_surface_has_it(store: Store) -> None:
    plan = make_plan("quick")
    run_id = store.create_run(plan, Environment(), runner=this_process())
    with pytest.raises(Refused, match=f"^Run {run_id} .*two runs on one disk") as refused:
        start_detached(plan, store.path)
    assert f"diskprof stop {run_id}" in refused.value.hint and "--concurrent" in refused.value.hint
    assert on_screen(refused.value.hint) == "Start again when that run is over, or stop it."
