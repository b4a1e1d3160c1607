import os
from collections.abc import Callable
from pathlib import Path

import pytest

from diskprof.engines import process, tools
from diskprof.engines.process import Brief, run_briefly
from diskprof.engines.tools import asked_once, find_tool, install_command
from diskprof.model.errors import EngineBusy, EngineMissing, ExitCode
from diskprof.model.preset import EngineName


def program(directory: Path, name: str, says: str) -> Path:
    """A program that prints `says`, whatever it is asked."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on its PATH but a shell."""
    bare = tmp_path / "bin"
    bare.mkdir()
    monkeypatch.setenv("PATH", str(bare))
    monkeypatch.delenv("DISKPROF_FIO", raising=False)
    monkeypatch.delenv("DISKPROF_IOPING", raising=False)
    monkeypatch.setattr(tools, "_MORE_PLACES", ())
    monkeypatch.setattr(tools, "_OS_RELEASE", (tmp_path / "os-release",))
    return bare


@pytest.mark.parametrize(
    ("says", "version"), [("fio-3.33", "3.33"), ("fio-3.1", "3.1"), ("fio-4.0-12-gabc", "4.0-12-gabc")]
)
def test_fio_3_1_and_later_will_do(place: Path, says: str, version: str) -> None:
    path = program(place, "fio", f"echo {says}")
    assert find_tool(EngineName.FIO) == tools.Tool(EngineName.FIO, str(path), version)


def test_ioping_1_2_and_later_will_do(place: Path) -> None:
    program(place, "ioping", "echo ioping 1.2")
    assert find_tool(EngineName.IOPING).version == "1.2"


def test_many_plans_ask_once(place: Path, tmp_path: Path) -> None:
    log = tmp_path / "asked"
    program(place, "fio", f"echo asked >> {log}; echo fio-3.33")
    with asked_once():
        assert find_tool(EngineName.FIO) == find_tool(EngineName.FIO)
        assert log.read_text() == "asked\n"
    find_tool(EngineName.FIO)
    assert log.read_text() == "asked\nasked\n"


@pytest.mark.parametrize(
    ("name", "says", "message"),
    [
        (EngineName.FIO, "echo fio-2.21", "is fio 2.21, and diskprof needs 3.1 or later"),
        (EngineName.FIO, "echo fio-3.0", "needs 3.1 or later"),
        (EngineName.FIO, "echo fio, version 1.9.6", "another program of that name (it says: fio, version 1.9.6)"),
        (EngineName.FIO, "printf '\033[31mError'", "another program of that name (it says: \ufffd[31mError)"),
        (EngineName.FIO, "exit 0", "another program of that name."),
        (
            EngineName.FIO,
            "echo >&2 '\033[31mError'; exit 2",
            "--version failed (exit code 2; it says: \ufffd[31mError)",
        ),
        (EngineName.FIO, "exit 1", "--version failed (exit code 1)."),
        (EngineName.IOPING, "kill -SEGV $$", "-v failed (SIGSEGV)."),
        (EngineName.IOPING, "echo ioping 1.1", "needs 1.2 or later"),
    ],
)
def test_other_programs_of_that_name_will_not(place: Path, name: EngineName, says: str, message: str) -> None:
    program(place, name, says)
    with pytest.raises(EngineMissing) as caught:
        find_tool(name)
    assert message in caught.value.message
    assert caught.value.exit_code == ExitCode.ENGINE_MISSING


def test_a_program_that_does_not_answer_is_no_missing_one(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_PATIENCE_S", 0.2)
    program(place, "apt-get", "exit 0")
    path = program(place, "fio", "exec /bin/sleep 1000")
    said: list[str] = []
    with pytest.raises(EngineBusy) as caught:
        find_tool(EngineName.FIO, said.append)
    assert caught.value.message == (
        f"{path} did not answer to --version within 0.2 s: the machine or its disk is busy."
    )
    assert "apt-get" not in caught.value.hint and "ry again" in caught.value.hint
    assert caught.value.exit_code == ExitCode.FAILED
    assert said == [f"Waiting for {path} --version to answer: the machine or its disk is busy."]


def test_the_real_one_is_found_behind_a_program_that_does_not_answer(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(place, "fio", "exec /bin/sleep 1000")
    ask = tools.run_briefly

    def at_once(argv: tuple[str, ...], timeout_s: float, waiting: Callable[[], None]) -> Brief:
        return ask(argv, 0.0 if argv[0].startswith(str(place)) else timeout_s, waiting)

    monkeypatch.setattr(tools, "run_briefly", at_once)
    real = program(tmp_path / "usr", "fio", "echo fio-3.36")
    monkeypatch.setenv("PATH", f"{place}:{tmp_path / 'usr'}")
    assert find_tool(EngineName.FIO).path == str(real)


def test_a_program_that_is_slow_is_waited_for_and_one_that_answers_is_not_told_of(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PATIENCE_S", 0.0)
    pipe = tmp_path / "go"
    os.mkfifo(pipe)
    program(place, "fio", f"read line < {pipe}; echo fio-3.33")
    said: list[str] = []

    def let_go(text: str) -> None:
        said.append(text)
        pipe.write_text("go\n")

    assert find_tool(EngineName.FIO, let_go).version == "3.33"
    assert len(said) == 1
    monkeypatch.undo()
    said.clear()
    quick = program(tmp_path / "other", "fio", "echo fio-3.33")
    monkeypatch.setenv("DISKPROF_FIO", str(quick))
    assert find_tool(EngineName.FIO, said.append).path == str(quick)
    assert not said


def test_the_real_one_is_found_behind_another_program(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(place, "fio", "echo fio, version 1.9.6")
    real = program(tmp_path / "usr", "fio", "echo fio-3.36")
    monkeypatch.setenv("PATH", f"{place}:{tmp_path / 'usr'}")
    assert find_tool(EngineName.FIO).path == str(real)


def test_a_variable_names_another_one(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(place, "fio", "echo fio-3.33")
    own = program(tmp_path / "own", "my-fio", "echo fio-3.42")
    monkeypatch.setenv("DISKPROF_FIO", str(own))
    assert find_tool(EngineName.FIO) == tools.Tool(EngineName.FIO, str(own), "3.42")


def test_a_variable_that_names_nothing_is_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(place, "fio", "echo fio-3.33")
    monkeypatch.setenv("DISKPROF_FIO", "/no/such/fio")
    with pytest.raises(EngineMissing, match="DISKPROF_FIO is /no/such/fio"):
        find_tool(EngineName.FIO)


def test_a_missing_engine_comes_with_the_command_that_installs_it(place: Path) -> None:
    program(place, "apt-get", "exit 0")
    with pytest.raises(EngineMissing) as caught:
        find_tool(EngineName.IOPING)
    assert caught.value.message == "ioping is not installed."
    assert "apt-get install -y ioping" in caught.value.hint
    assert "DISKPROF_IOPING" in caught.value.hint


@pytest.mark.parametrize(
    ("release", "managers", "command"),
    [
        ("ID=debian", ("apt-get",), "apt-get install -y fio ioping"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"', ("dnf", "apt-get"), "apt-get install -y fio ioping"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"', ("yum", "dnf"), "dnf install -y fio ioping"),
        ("ID=centos", ("yum",), "yum install -y fio ioping"),
        ("ID=arch", ("pacman",), "pacman -S --needed --noconfirm fio ioping"),
        ('ID="opensuse-leap"', ("zypper", "apt-get"), "zypper --non-interactive install fio ioping"),
        ("ID=alpine", ("apk",), "apk add fio ioping"),
        ("ID=unheard-of", ("pacman",), "pacman -S --needed --noconfirm fio ioping"),
        ("", ("apk",), "apk add fio ioping"),
        ("ID=debian", (), ""),
    ],
)
def test_the_distribution_says_how_to_install(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, managers: tuple[str, ...], command: str
) -> None:
    (tmp_path / "os-release").write_text(release + "\n")
    for manager in managers:
        program(place, manager, "exit 0")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert install_command(("fio", "ioping")) == command
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert install_command(("fio", "ioping")) == (f"sudo {command}" if command else "")


def test_a_program_that_never_answers_is_left_alone(tmp_path: Path) -> None:
    path = program(tmp_path, "silent", "sleep 1000")
    brief = run_briefly((str(path),), timeout_s=0.2)
    assert brief.code is None and brief.late


def test_a_program_that_never_stops_talking_is_cut_off(tmp_path: Path) -> None:
    path = program(tmp_path, "yes", "while :; do echo yes; done")
    brief = run_briefly((str(path),))
    assert brief.code is None and not brief.late


def test_a_program_that_is_not_there_gives_no_answer() -> None:
    assert run_briefly(("/no/such/program",)) == Brief(None, "")


def test_a_program_sees_little_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    path = program(tmp_path, "tell", "env")
    names = {line.partition("=")[0] for line in run_briefly((str(path),)).output.splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {"PATH", "LC_ALL"}
