"""Promises at the command line: exit codes, what is said of them, and the line for a monitoring system."""

import re
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json

SMALL = ("--set", "size=8m", "--set", "runtime=1")


def test_a_missed_expectation_is_exit_code_five_and_the_run_is_kept(tmp_path: Path) -> None:
    words = ("run", "vps-randread-qd8", tmp_path, "--set", "size=8m")
    name = diskprof_json(*words, "--dry-run", "--json", home=tmp_path)["tests"][0]["name"]
    # The preset has one test, so that its name can be left out.
    missed = diskprof(*words, "--expect", "read.iops>=900000000", home=tmp_path)
    assert missed.returncode == 5, missed.stderr
    assert "Expectations" in missed.stdout
    met = diskprof(*words, "--expect", f"{name}.read.latency.p99<100s", home=tmp_path)
    assert met.returncode == 0, met.stderr
    shown = diskprof_json("show", "latest", "--json", home=tmp_path)
    assert shown["expectations"][0]["verdict"] == "met"


@pytest.mark.parametrize("expression", ["nonsense", "no-such-test.read.iops>=1", "x.read.iops>=5ms"])
def test_a_wrong_expectation_is_an_error_before_anything_runs(tmp_path: Path, expression: str) -> None:
    done = diskprof("run", "quick", tmp_path, *SMALL, "--expect", expression, home=tmp_path)
    assert done.returncode == 2
    assert not done.stdout
    assert diskprof_json("runs", "--json", home=tmp_path) == []


@pytest.mark.parametrize(("bound", "code", "word"), [(">=1", 0, "OK"), (">=900000000", 2, "CRITICAL")])
def test_the_line_for_nagios(tmp_path: Path, bound: str, code: int, word: str) -> None:
    name = diskprof_json("run", "vps-randread-qd8", tmp_path, "--dry-run", "--json", home=tmp_path)["tests"][0]["name"]
    words = ("run", "vps-randread-qd8", tmp_path, "--set", "size=8m", "--nagios")
    done = diskprof(*words, "--expect", f"{name}.read.iops{bound}", home=tmp_path)
    assert done.returncode == code, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"DISKPROF {word} - ")
    text, _, performance = line.partition(" | ")
    assert text and performance
    for datum in performance.split():
        assert re.fullmatch(r"'[\w.-]+'=[0-9.]+(us|B|%)?(;;[0-9.]+:?)?", datum), datum


def test_nagios_hears_of_mistakes_in_its_own_way(tmp_path: Path) -> None:
    done = diskprof("run", "quick", tmp_path / "nowhere", "--nagios", home=tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith("DISKPROF UNKNOWN - ")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--nagios"),
        ("run", "quick", ".", "--nagios", "--no-such-option"),
        ("run", "quick", ".", "--nagios", "--json"),
        ("--store", "/", "run", "quick", ".", "--nagios"),
        ("--store", "/proc/nothing/runs.db", "run", "ioping-latency", ".", "--nagios"),
    ],
)
def test_wrong_usage_is_not_taken_for_a_slow_disk(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = diskprof(*words, home=tmp_path)
    assert done.returncode == 3, done.stderr
    assert re.fullmatch("DISKPROF UNKNOWN - [^|\n]+\n", done.stdout)
