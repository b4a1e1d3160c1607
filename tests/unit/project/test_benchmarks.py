"""The benchmarks start, measure and print their tables. What they measure depends on the machine and is not looked at."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
BENCHMARKS = (
    "bursts",
    "fleet",
    "gate",
    "imported",
    "limits",
    "read_write_map",
    "many_runs",
    "mimic",
    "observer",
    "odd_ones",
    "repeats",
    "results",
    "scale",
    "ssh_start",
    "startup",
    "steady",
    "watch",
    "what_limits",
)


def benchmark(name: str, *words: str, timeout_s: float = 600.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(REPOSITORY / "benchmarks" / f"{name}.py"), *words],
        env={key: value for key, value in os.environ.items() if key != "CI"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )


def figures(name: str, path: Path, *words: str) -> dict[str, dict[str, object]]:
    """What a benchmark wrote, by name; its table names the same."""
    done = benchmark(name, "--quick", "--json", str(path), *words)
    assert done.returncode == 0, done.stderr
    found = {str(one["name"]): one for one in json.loads(path.read_text())[-1]["figures"]}
    for label, one in found.items():
        assert label in done.stdout
        # Beside much else, fio may not have had a whole interval while an observer was on.
        missing = one["verdict"] == "NOT MEASURED" and one["unit"] in ("of the IOPS", "of the time")
        assert missing or one["verdict"] in ("", "met", "MISSED")
        assert missing or bool(one["goal"]) == bool(one["verdict"])
    return found


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_tells_how_it_is_used(name: str) -> None:
    done = benchmark(name, "--help")
    assert done.returncode == 0
    assert {"--quick", "--json"} <= set(done.stdout.replace(",", " ").replace("[", " ").replace("]", " ").split())


def test_every_benchmark_is_told_of() -> None:
    scripts = {path.stem for path in (REPOSITORY / "benchmarks").glob("*.py")}
    assert scripts == set(BENCHMARKS)
    document = (REPOSITORY / "docs" / "benchmarks.md").read_text()
    assert all(f"benchmarks/{name}.py" in document for name in BENCHMARKS)


@pytest.mark.needs("root", "fuse", "fio")
def test_a_limit_is_searched_on_a_disk_of_known_latency(tmp_path: Path) -> None:
    found = figures("limits", tmp_path / "out.json")
    assert found["trials"]["verdict"] == "met"


@pytest.mark.needs("fio")
def test_watching_is_measured_beside_fio_alone(tmp_path: Path) -> None:
    words = ("--seconds", "0.5", "--workload", "qd1", "--size", "80x24", "--dir", str(tmp_path))
    found = figures("observer", tmp_path / "out.json", *words)
    assert {
        "qd1: headless",
        "qd1: live 80x24",
        "qd1: headless, runner's CPU",
        "qd1: live 80x24, sent",
    } <= found.keys()
    for name in ("qd1: headless", "qd1: live 80x24"):
        assert found[name]["unit"] == "of the IOPS"
        assert found[f"{name}, fio not waiting for a processor"]["unit"] == "of the time"
    assert not list(tmp_path.glob("diskprof-bench-*"))


def test_starting_is_measured_beside_bare_programs(tmp_path: Path) -> None:
    found = figures("startup", tmp_path / "out.json", "--rounds", "1", "--only=runs", "--only=--version")
    assert {"diskprof --version", "first picture of the screen", "diskprof runs, processor"} <= found.keys()


def test_growth_is_measured(tmp_path: Path) -> None:
    found = figures("scale", tmp_path / "out.json", "--seconds", "120", "--runs", "20", "--rounds", "1")
    assert {
        "a run of 120 s, in the store",
        "20 runs, listed",
        "20 runs, two compared",
        "history of 20 runs of 6 tests",
        "series of 20 runs, opened",
        "20 like runs of 6 tests, compared",
    } <= found.keys()
    if os.access("/dev/loop-control", os.W_OK) and shutil.which("losetup"):
        assert "32 disks more, processor of the idle first screen in a second" in found


@pytest.mark.needs("fio")
def test_imported_commands_are_measured_beside_plain_fio(tmp_path: Path) -> None:
    found = figures(
        "imported", tmp_path / "out.json", "--only", "^4 copies, a|two", "--size", "4m", "--dir", str(tmp_path)
    )
    jobs = ("4 copies, a file each: a read", "two jobs: reads read", "two jobs: writes write")
    assert {f"{job}, {which}" for job in jobs for which in ("fio", "fio again", "diskprof")} <= found.keys()


def test_changed_result_files_are_taken_whole_or_not_at_all(tmp_path: Path) -> None:
    found = figures("results", tmp_path / "out.json", "--files", "30")
    assert found["anything else"]["median"] == 0
    assert found["imported whole, and shown"]["median"] and found["refused, nothing kept"]["median"]


def test_gates_are_measured_beside_thresholds(tmp_path: Path) -> None:
    found = figures("gate", tmp_path / "out.json", "--gates", "50")
    assert found["recorded, throttled: diskprof gate, a tenth less caught"]["verdict"] == "met"
    assert {"normal, 2%: one run, threshold 2%, alarms without a change"} <= found.keys()


def test_repeated_runs_are_judged_on_noise_that_was_recorded(tmp_path: Path) -> None:
    found = figures("repeats", tmp_path / "out.json", "--draws", "200")
    for name in ("equal sides told apart", "5% found", "drift, turns taken: same"):
        assert found[f"recorded, throttled: {name}"]["verdict"] == "met"
    assert found["recorded, throttled: drift, one after the other: told apart"]["median"] == 100
    assert found["recorded, busy: equal sides told apart"]["verdict"] == "met"


def test_the_odd_host_is_found_among_noise_that_was_recorded(tmp_path: Path) -> None:
    found = figures("odd_ones", tmp_path / "out.json", "--draws", "50")
    for name in (": one of equal ones named", ", one 30% slow: named"):
        assert found[f"recorded, throttled, 4 hosts{name}"]["verdict"] == "met"


@pytest.mark.needs("ssh", "sshd", "ssh-keygen", "fio")
def test_a_start_over_ssh_is_measured(tmp_path: Path) -> None:
    found = figures("ssh_start", tmp_path / "out.json")
    assert {
        "diskprof ssh, the first time",
        "diskprof ssh, later",
        "ssh and that program",
        "diskprof here",
    } <= found.keys()
