"""`diskprof doctor`: what is missing is named, with the command that gets it, and nothing is changed by asking."""

import json
from pathlib import Path
from typing import Any

import pytest
from forked import diskprof, diskprof_json
from msgspec.structs import replace

from diskprof.cli.checkup import Section, State, check_reach, check_terminal, check_tools
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.errors import EngineBusy


def stand_in(directory: Path, name: str, says: str) -> Path:
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def with_engines(directory: Path) -> dict[str, str]:
    return {
        "DISKPROF_FIO": str(stand_in(directory, "fio", "fio-3.33")),
        "DISKPROF_IOPING": str(stand_in(directory, "ioping", "ioping 1.3")),
    }


def state_of(section: Section, name: str) -> State:
    (check,) = (check for check in section.checks if check.name == name)
    return check.state


@pytest.mark.needs("fio", "ioping")
def test_a_machine_with_all_it_needs_is_fine(tmp_path: Path) -> None:
    done = diskprof("doctor", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "diskprof has what it needs" in done.stdout
    assert done.stderr == ""


def test_versions_and_places_are_told(tmp_path: Path) -> None:
    report = diskprof_json("doctor", "--json", home=tmp_path, **with_engines(tmp_path))
    fio, ioping = report["tools"]
    assert (fio["name"], fio["found"], fio["version"], fio["path"]) == ("fio", True, "3.33", str(tmp_path / "fio"))
    assert (ioping["name"], ioping["version"]) == ("ioping", "1.3")
    assert report["problems"] == []


def test_asking_makes_nothing(tmp_path: Path) -> None:
    report = diskprof_json("doctor", "--json", home=tmp_path, **with_engines(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fio", "ioping"]
    assert report["store"] == {
        "path": str(tmp_path / ".local/share/diskprof/runs.db"),
        "exists": False,
        "writable": True,
        "journal": None,
        "runs": None,
        "problem": None,
    }


def test_a_missing_engine_ends_with_3_and_the_way_to_get_it(tmp_path: Path) -> None:
    env = {**with_engines(tmp_path), "DISKPROF_IOPING": str(tmp_path / "nothing")}
    done = diskprof("doctor", home=tmp_path, **env)
    assert done.returncode == 3
    assert "WRONG  ioping" in done.stdout
    assert "1 thing is wrong" in done.stdout
    done = diskprof("doctor", "--json", home=tmp_path, **env)
    assert done.returncode == 3
    report = json.loads(done.stdout)
    assert [tool["found"] for tool in report["tools"]] == [True, False]
    assert [problem["name"] for problem in report["problems"]] == ["ioping"]


def test_nothing_of_fio_is_usable_where_there_is_no_fio(tmp_path: Path) -> None:
    env = {**with_engines(tmp_path), "DISKPROF_FIO": str(tmp_path / "nothing")}
    done = diskprof("doctor", home=tmp_path, **env)
    assert "WRONG  fio" in done.stdout and "ok     libaio" not in done.stdout


def test_the_command_for_this_distribution_is_named(tmp_path: Path) -> None:
    stand_in(tmp_path, "apk", "")
    env = {**with_engines(tmp_path), "DISKPROF_FIO": str(tmp_path / "nothing"), "PATH": str(tmp_path)}
    done = diskprof("doctor", "--json", home=tmp_path, **env)
    assert json.loads(done.stdout)["tools"][0]["install"].endswith("apk add fio")


def test_another_program_called_fio_is_told_apart(tmp_path: Path) -> None:
    env = {**with_engines(tmp_path), "DISKPROF_FIO": str(stand_in(tmp_path, "fiona", "fio, version 1.9.5"))}
    done = diskprof("doctor", home=tmp_path, **env)
    assert done.returncode == 3
    assert "another program of that name" in done.stdout


def test_an_engine_that_does_not_answer_is_there_and_not_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(name: str) -> None:
        raise EngineBusy(f"/usr/bin/{name} did not answer.", "Try again.", f"/usr/bin/{name}")

    monkeypatch.setattr("diskprof.engines.tools.find_tool", busy)
    section = check_tools()
    assert [check.advice for check in section.checks] == ["Try again.", "Try again."]
    assert state_of(section, "fio") is State.WRONG
    assert section.facts[0] == {
        "name": "fio",
        "found": True,
        "path": "/usr/bin/fio",
        "version": None,
        "problem": "/usr/bin/fio did not answer.",
        "install": None,
    }


def test_a_store_that_is_none_ends_with_1(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text(
        "These are no runs, but they are long enough to be mistaken for a database. " * 20
    )
    done = diskprof("--store", tmp_path / "runs.db", "doctor", home=tmp_path, **with_engines(tmp_path))
    assert done.returncode == 1
    assert "WRONG  place" in done.stdout


def test_the_store_says_how_it_journals(tmp_path: Path) -> None:
    env = with_engines(tmp_path)
    assert diskprof("runs", home=tmp_path, **env).returncode == 0
    store = diskprof_json("doctor", "--json", home=tmp_path, **env)["store"]
    assert store["journal"] in ("wal", "delete")
    assert (store["exists"], store["runs"]) == (True, 0)


def test_a_broken_preset_is_named_and_is_no_failure(tmp_path: Path) -> None:
    directory = tmp_path / ".config/diskprof/presets"
    directory.mkdir(parents=True)
    (directory / "mine.toml").write_text("name = [\n")
    done = diskprof("doctor", home=tmp_path, **with_engines(tmp_path))
    assert done.returncode == 0, done.stdout
    assert "note   broken" in done.stdout
    assert "mine.toml" in done.stdout


# --- The terminal ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, 1 << 24),
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "tmux-256color", "TMUX": "x"}, 256),
        ({"TERM": "screen"}, 16),
        ({"TERM": "linux"}, 16),
        ({"TERM": "vt100"}, 2),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, 2),
    ],
)
def test_colours_are_what_can_be_trusted(environment: dict[str, str], colours: int) -> None:
    section = check_terminal(environment, tty=True, size=(120, 40), encoding="utf-8")
    assert section.facts["colours"] == colours
    assert all(check.state is State.OK for check in section.checks)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"tty": False}, "screen"),
        ({"environment": {"TERM": "dumb"}}, "screen"),
        ({"environment": {}}, "screen"),
        ({"size": (79, 24)}, "size"),
        ({"size": (80, 23)}, "size"),
        ({"encoding": "ANSI_X3.4-1968"}, "characters"),
        ({"encoding": None}, "characters"),
    ],
)
def test_what_a_terminal_cannot_do_is_a_note_with_advice(change: dict[str, Any], name: str) -> None:
    usual: dict[str, Any] = {"environment": {"TERM": "xterm"}, "tty": True, "size": (80, 24), "encoding": "UTF-8"}
    section = check_terminal(**{**usual, **change})
    (noted,) = (check for check in section.checks if check.state is State.NOTE)
    assert noted.name == name
    assert noted.advice


def test_tmux_and_ssh_are_named() -> None:
    environment = {"TERM": "screen-256color", "TMUX": "/tmp/tmux", "SSH_CONNECTION": "1.2.3.4 1 5.6.7.8 22"}
    section = check_terminal(environment, tty=True, size=(80, 24), encoding="utf-8")
    assert section.facts["through"] == ["tmux", "ssh"]
    assert "through tmux and ssh" in section.checks[0].text


def test_an_escape_in_term_does_not_reach_the_terminal() -> None:
    section = check_terminal({"TERM": "x\x1b]52;c;AA\x07"}, tty=True, size=None, encoding="utf-8")
    assert not any("\x1b" in check.text for check in section.checks)


# --- Reach ----------------------------------------------------------------------------------------------------------

DISK = Device(name="sdx", node="/dev/diskprof-none", kind=DeviceKind.DISK, major=8, minor=0, size_bytes=1 << 30)


def test_devices_that_only_root_may_read_are_a_note_with_a_way_out() -> None:
    tree = DeviceTree((DISK, replace(DISK, name="sdy", minor=16)))
    section = check_reach(tree, udevd=True, root=False, readable=lambda device: device.name == "sdx")
    (check,) = (check for check in section.checks if check.name == "devices")
    assert check.state is State.NOTE
    assert check.text.startswith("1 of 2 readable without root")
    assert "sudo" in check.advice
    assert [device["readable"] for device in section.facts["devices"]] == [True, False]


def test_empty_devices_and_drives_do_not_count() -> None:
    tree = DeviceTree((DISK, replace(DISK, name="loop0", size_bytes=0), replace(DISK, name="sr0", kind=DeviceKind.ROM)))
    section = check_reach(tree, udevd=True, root=True, readable=lambda _: True)
    assert [device["name"] for device in section.facts["devices"]] == ["sdx"]
    assert state_of(section, "devices") is State.OK


def test_without_udevd_it_is_a_note() -> None:
    section = check_reach(DeviceTree(()), udevd=False, root=True, readable=lambda _: True)
    assert state_of(section, "udevd") is State.NOTE
    assert state_of(section, "devices") is State.NOTE
