"""Starting a run in a session of its own, where that cannot be."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import make_plan

from diskprof.devices.scan.udev import scan
from diskprof.devices.targets import resolve_target
from diskprof.model import errors
from diskprof.model.advice import Advice, on_command_line, on_screen
from diskprof.model.errors import DiskprofError, EngineMissing, ExitCode, Refused
from diskprof.model.run import Environment
from diskprof.model.run_series import Repetition
from diskprof.runner.detached.launch import start_detached
from diskprof.runner.detached.order import RunOrder, answer_json, order_json, read_answer, read_order, refusal, refused
from diskprof.runner.neighbours import Occupied
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
    said = on_command_line(refused.value.hint)
    assert f"diskprof stop {run_id}" in said and "--concurrent" in said
    assert on_screen(refused.value.hint) == "Wait until it has finished, or stop it."


KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DiskprofError)]


@pytest.mark.parametrize("hint", ["", "Do it.", Advice("Say --it.", "Press it.")])
@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_arrives_as_the_error_that_it_was(kind: type[DiskprofError], hint: str | Advice) -> None:
    error = refused(read_answer(answer_json(refusal(kind("No.\n\x1b", hint)))))
    assert type(error) is kind
    assert (error.message, error.hint, error.exit_code) == ("No.\n\x1b", hint, kind.exit_code)


def test_every_exit_code_of_an_error_can_arrive() -> None:
    assert {kind.exit_code for kind in KINDS} == set(ExitCode) - {
        ExitCode.OK,
        ExitCode.EXPECTATION_MISSED,
        ExitCode.REGRESSED,
    }


def test_a_refusal_of_a_class_that_others_do_not_know_arrives_as_the_nearest(store: Store) -> None:
    class Local(EngineMissing):
        pass

    assert type(refused(read_answer(answer_json(refusal(Local("No.")))))) is EngineMissing
    assert Occupied.__mro__[1] is Refused


@pytest.mark.parametrize("output", [b"", b"{", b"7", b'{"error": "Path"}', b'{"error": "IntEnum"}', b"{}"])
def test_an_answer_that_is_none_names_the_last_words(
    output: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diskprof.runner.detached.launch.start_session", lambda *_: output)
    with pytest.raises(DiskprofError, match="did not start") as caught:
        start_detached(make_plan("quick"), tmp_path / "runs.db")
    assert "runner.log" in str(caught.value)


def test_an_engine_that_went_missing_is_told_of_as_that(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = resolve_target(str(tmp_path), scan())
    plan = replace(make_plan("quick"), target=target, directory="", files=(), hazards=())
    for variable in ("DISKPROF_FIO", "DISKPROF_IOPING"):
        monkeypatch.setenv(variable, "/nowhere")
    with pytest.raises(EngineMissing) as caught:
        start_detached(plan, store.path)
    assert caught.value.exit_code == ExitCode.ENGINE_MISSING
    assert caught.value.hint


def test_a_name_that_is_no_utf_8_arrives_as_it_was() -> None:
    plan = make_plan("quick")
    named = replace(plan, target=replace(plan.target, path="/mnt/\udcff"))
    order = RunOrder((named,), "/\udcfe/runs.db", ("a",), "note", wanted=Repetition(until=0.03))
    assert read_order(order_json(order)) == order
    assert refused(read_answer(answer_json(refusal(Refused("/mnt/\udcff is full."))))).message == "/mnt/\udcff is full."
