"""The Tab key: what it offers, and that real shells do with it what they should."""

import os
import re
from pathlib import Path

import pytest
from forked import diskprof
from hostile import dangers, imported, poisoned_lines
from program import environment, write_program
from recorded import write_library
from terminal import terminal

from diskprof.cli.main import LazyGroup, main
from diskprof.store import Store

SHARE = Path(__file__).parents[2] / "share"


def offered(line: str, home: Path, **more: str) -> list[str]:
    """What bash would offer behind `line`."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_DISKPROF_COMPLETE": "bash_complete"}
    done = diskprof(home=home, **asked, **more)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def plain(*names: str) -> list[str]:
    return [f"plain,{name}" for name in names]


@pytest.fixture
def library(tmp_path: Path) -> list[str]:
    """Ids of recorded runs, newest first."""
    path = tmp_path / ".local/share/diskprof/runs.db"
    write_library(path)
    with Store.open(path) as store:
        return [summary.id for summary in store.summaries()]


def test_every_command_is_offered(tmp_path: Path) -> None:
    assert isinstance(main, LazyGroup)
    names = main.list_commands(main.make_context("diskprof", [], resilient_parsing=True))
    assert offered("diskprof ", tmp_path) == plain(*names)
    assert offered("diskprof comp", tmp_path) == plain("compare", "completion")


def test_presets_are_offered_by_name_and_alias_the_persons_own_too(tmp_path: Path) -> None:
    own = tmp_path / ".config/diskprof/presets"
    own.mkdir(parents=True)
    (own / "wal.toml").write_text('title = "Our log"\naliases = ["write-ahead"]\n')
    (own / "broken.toml").write_text("this is not TOML")
    (own / "odd.toml").write_text('name = 7\naliases = "no list"\n[variants]\nshort = {}\n')
    for command in ("run", "presets show", "presets export"):
        assert offered(f"diskprof {command} w", tmp_path) == plain("wal", "write-ahead", "what-limits")
        assert offered(f"diskprof {command} quic", tmp_path) == plain("quick")
        assert offered(f"diskprof {command} fio-randread-qd1", tmp_path) == plain("fio-randread-qd1")
    assert offered("diskprof run /etc/", tmp_path) == ["file,/etc/"]
    assert offered("diskprof run odd . --variant ", tmp_path) == plain("short")


def test_parameters_and_variants_of_the_preset_are_offered(tmp_path: Path) -> None:
    assert {"plain,size=", "plain,runtime="} <= set(offered("diskprof run quick . --set ", tmp_path))
    assert offered("diskprof run quick . --set runt", tmp_path) == plain("runtime=")
    assert offered("diskprof presets export quick --set runt", tmp_path) == plain("runtime=")
    assert offered("diskprof run nothing . --set ", tmp_path) == []
    assert offered("diskprof run aerospike-write --variant ", tmp_path) == plain("quick")


def test_runs_are_offered_by_tag_and_id(tmp_path: Path, library: list[str]) -> None:
    found = offered("diskprof show ", tmp_path)
    assert found[0] == "plain,latest"
    assert {f"plain,{run_id}" for run_id in library} <= set(found)
    assert "plain,baseline" in found
    assert offered(f"diskprof compare baseline {library[2][:4]}", tmp_path) == plain(library[2])
    assert offered("diskprof tag latest base", tmp_path) == plain("baseline")
    elsewhere = tmp_path / "elsewhere.db"
    assert offered(f"diskprof --store {elsewhere} show ", tmp_path) == []
    assert not elsewhere.exists()


def test_only_runs_under_way_are_offered_to_watch_or_stop(tmp_path: Path, library: list[str]) -> None:
    for command in ("attach", "stop"):
        assert offered(f"diskprof {command} ", tmp_path) == plain(library[0])


def test_a_tag_that_a_shell_would_take_apart_is_not_offered(tmp_path: Path, library: list[str]) -> None:
    for tag in ("two words", "$(reboot)", "a;b", "fine-1.0"):
        assert diskprof("tag", library[-1], tag, home=tmp_path).returncode == 0
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        store.set_tags(library[-1], (*store.run(library[-1]).tags, "--yes"))
    tags = {item for item in offered("diskprof show ", tmp_path) if item not in plain("latest", *library)}
    # A tag has no blanks: "two words" are two of them.
    assert {"plain,fine-1.0", "plain,two", "plain,words"} <= tags
    assert not any(sign in tag for tag in tags for sign in "$; ") and "plain,--yes" not in tags


def test_targets_are_devices_and_paths(tmp_path: Path) -> None:
    (tmp_path / "vdata").mkdir()
    # Loop devices come and go with other tests.
    names = [path.name for path in Path("/sys/class/block").iterdir() if not path.name.startswith("loop")]
    disks = [name for name in names if Path(f"/sys/class/block/{name}/size").read_text().strip() != "0"]
    found = offered("diskprof run quick ", tmp_path)
    assert found[0] == "plain,." and {f"plain,{disk}" for disk in disks} <= set(found)
    assert offered("diskprof run quick vd", tmp_path) == ["file,vd"]
    assert offered("diskprof run quick ./x", tmp_path) == ["file,./x"]
    assert offered("diskprof run quick qqq", tmp_path) == ["file,qqq"]
    for disk in disks[:1]:
        assert f"plain,{disk}" in offered(f"diskprof run quick {disk[:-1]}", tmp_path) or disk.startswith("v")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_without_starting_the_shell(tmp_path: Path, shell: str) -> None:
    done = diskprof("completion", shell, home=tmp_path, PATH="")
    assert done.returncode == 0 and not done.stderr
    assert "_DISKPROF_COMPLETE" in done.stdout


def test_another_shell_is_wrong_usage(tmp_path: Path) -> None:
    done = diskprof("completion", "tcsh", home=tmp_path)
    assert done.returncode == 2 and "bash" in done.stderr


ZSH = f"fpath=({SHARE}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D"
SHELLS = {
    "bash": (("bash", "--norc", "--noprofile", "-i"), f"source {SHARE}/bash-completion/completions/diskprof"),
    "zsh": (("zsh", "-f", "-i"), ZSH),
    # It looks for completions in the share directories by itself.
    "fish": (("fish", "-i"), "true"),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs(name)) for name in SHELLS])
def test_a_shell_completes_with_what_is_installed(tmp_path: Path, library: list[str], name: str) -> None:
    words, setup = SHELLS[name]
    env = environment(
        tmp_path,
        PATH=f"{write_program(tmp_path / 'bin')}:{os.environ['PATH']}",
        PS1="$ ",
        HISTFILE="",
        XDG_DATA_DIRS=f"{SHARE}:/usr/local/share:/usr/share",
    )
    with terminal(words, env, cwd=tmp_path, columns=100, rows=60) as shell:
        shell.press(setup, "enter", "echo rea''dy", "enter")
        shell.wait_for("\nready")
        shell.press("diskprof presets sho", "tab")
        shell.wait_for("diskprof presets show")
        shell.press("ioping-see", "tab", "enter")
        shell.wait_for("Seek rate, no cache")
        shell.press(f"diskprof show {library[1][:5]}", "tab", "enter")
        shell.wait_for(f"diskprof show {library[1]}", "interrupted")


@pytest.mark.parametrize(("shell", "each"), [("zsh", 3), ("fish", 1), ("bash", 1)])
def test_what_a_stranger_wrote_is_no_word_and_no_command_for_a_shell(tmp_path: Path, shell: str, each: int) -> None:
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        ids = imported(store, poisoned_lines())
    # With click, fish gives the word that is completed instead of its number.
    asked = {"COMP_WORDS": "diskprof show ", "COMP_CWORD": "" if shell == "fish" else "2"}
    done = diskprof(home=tmp_path, _DISKPROF_COMPLETE=f"{shell}_complete", **asked)
    assert done.returncode == 0 and not done.stderr, done.stderr
    lines = done.stdout.splitlines()
    assert not any(dangers(line.replace("\t", "")) for line in lines)
    # `latest`, the ids, and of the tags the words that no shell takes apart.
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        tags = {tag for run_id in ids for tag in store.run(run_id).tags if re.fullmatch(r"\w+", tag, re.ASCII)}
    assert len(lines) == each * (1 + len(tags) + len(ids))
    assert all(run_id in done.stdout for run_id in ids)
