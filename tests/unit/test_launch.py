"""Starting a run in a session of its own, where that cannot be."""

from pathlib import Path

import pytest
from recorded import make_plan

from diskprof.model.errors import DiskprofError
from diskprof.runner.launch import start_detached


def test_where_a_runner_could_not_leave_its_last_words_nothing_is_started(tmp_path: Path) -> None:
    (tmp_path / "runner.log").mkdir()
    with pytest.raises(DiskprofError, match=r"^Nothing was started: .*runner\.log.*Is a directory") as refused:
        start_detached(make_plan("quick"), tmp_path / "runs.db")
    assert "--store" in refused.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["runner.log"]
