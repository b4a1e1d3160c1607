"""What is kept with a run is read on the command line and on the screen: no words of the command line alone."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import make_plan

from diskprof.model.advice import Advice
from diskprof.model.errors import DiskprofError
from diskprof.model.plan import Hazard, Severity, TestFile
from diskprof.model.run import Environment, Status
from diskprof.runner.carry import execute
from diskprof.runner.carry.begin import Begun
from diskprof.runner.carry.execute import StopRequest
from diskprof.runner.carry.testfile import DIRECTORY, held_test_files
from diskprof.store import Store

EDIT = Advice("Say --set size=1g.", "Edit the size.")


async def test_why_a_run_failed_and_what_its_plan_noted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def fails(*_: object) -> Iterator[Path]:
        raise DiskprofError("No room.", EDIT)
        yield

    monkeypatch.setattr(execute, "private_directory", fails)
    plan = replace(make_plan("quick"), hazards=(Hazard("space", Severity.WARNS, "It is tight.", EDIT),))
    run_id = store.create_run(plan, Environment())
    status = await execute.execute(Begun(plan, Environment(), store, run_id, {}), StopRequest())
    run = store.run(run_id)
    assert (status, run.reason) == (Status.FAILED, "No room.\nEdit the size.")
    assert [message.text for message in run.messages] == ["It is tight. Edit the size."]
    assert run.plan.hazards[0].advice == EDIT


def test_what_could_not_be_removed(tmp_path: Path) -> None:
    directory = tmp_path / ".diskprof-0123abcd"
    assert DIRECTORY.fullmatch(directory.name)
    told: list[str] = []
    with held_test_files(
        [str(directory)], [TestFile(str(directory), str(directory / "test.dat"), 4096)], b"{}", told.append
    ):
        shutil.rmtree(directory)
    (text,) = told
    assert "The Run screen removes it." in text and "`diskprof" not in text
