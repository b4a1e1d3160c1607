"""Two files of figures side by side: what got worse is told from what varies."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
sys.path.insert(0, str(REPOSITORY / "benchmarks"))

from measuring.figures import Report, read_reports  # noqa: E402
from measuring.machine import Machine  # noqa: E402
from measuring.markdown import section  # noqa: E402
from measuring.regressions import compared, differences, machines  # noqa: E402

from diskprof.model.metric import Change  # noqa: E402

MACHINE = Machine(2, "EPYC", "6.18", "3.11.7", "8.2.8", "fio-3.33", 0.5, 20.0)
CALM = (100.0, 101.0, 99.5, 100.4, 99.8, 100.2, 100.9)


def report(values: Sequence[float], unit: str = "ms", **goal: float) -> Report:
    made = Report("What starting costs", "Medians.")
    made.add("diskprof runs", values, unit, most=goal.get("most"), least=goal.get("least"))
    return made


def change(before: Report, after: Report) -> Change:
    (found,) = differences(before, after)
    return found.change


def times(factor: float) -> list[float]:
    return [factor * value for value in CALM]


def test_a_slower_start_is_worse_and_a_faster_one_better() -> None:
    assert change(report(CALM), report(times(1.1))) is Change.WORSE
    assert change(report(CALM), report(times(0.9))) is Change.BETTER


def test_equal_ones_are_the_same_and_noise_cannot_be_told() -> None:
    assert change(report(CALM), report(CALM)) is Change.SAME
    noisy = (60.0, 140.0, 95.0, 180.0, 70.0)
    assert change(report(noisy), report([1.05 * value for value in noisy])) is Change.UNCLEAR


def test_what_should_be_at_least_so_much_gets_worse_by_less() -> None:
    assert change(report(CALM, "%", least=90), report(times(0.9), "%", least=90)) is Change.WORSE
    assert change(report(CALM, "of the IOPS"), report(times(1.1), "of the IOPS")) is Change.BETTER


def test_one_measurement_each_says_nothing() -> None:
    assert change(report((100.0,)), report((200.0,))) is Change.UNCLEAR
    assert compared(report((100.0,)), report((200.0,)))[1:] == (0, 0)


def test_figures_that_can_be_nothing() -> None:
    assert change(report((0.0,) * 5, "%"), report((0.0,) * 5, "%")) is Change.SAME
    assert change(report((0.0,) * 5, "%"), report((4.0, 5.0, 6.0, 5.0, 4.5), "%")) is Change.WORSE


def test_what_only_one_file_has_is_named() -> None:
    more = report(CALM)
    more.add("diskprof show", CALM, "ms")
    assert "only one of the files has: diskprof show" in compared(report(CALM), more)[0]


def test_another_machine_is_said() -> None:
    assert any("NOT ONE MACHINE" in line for line in machines(MACHINE, replace(MACHINE, cpu="Xeon")))
    assert any("+20.0%" in line for line in machines(MACHINE, replace(MACHINE, turns_ms=24.0)))
    assert len(list(machines(MACHINE, replace(MACHINE, load=9.0)))) == 2


def test_several_benchmarks_write_into_one_file_and_replace_their_own(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    other = Report("What growth costs", "Medians.")
    other.add("a day", (39.0,), "MB", most=40)
    for each in (report(CALM), other, report(times(2))):
        each.publish(path)
    found = {read.title: read for _, read in read_reports(path)}
    assert found == {"What starting costs": report(times(2)), "What growth costs": other}


def test_a_file_becomes_the_tables_of_the_document() -> None:
    made = report(CALM, most=90)
    made.add("diskprof runs, once", (8.0,), "ms")
    made.add("not to be had here", (), "ms", most=1)
    assert section(MACHINE, made).splitlines()[-5:] == [
        "| | median | goal |",
        "|---|---:|---|",
        "| diskprof runs | 100.2 ms (99.5 to 101.0) | <= 90 ms, MISSED |",
        "| diskprof runs, once | 8.00 ms |  |",
        "| not to be had here |  | <= 1 ms, NOT MEASURED |",
    ]


def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "precious.json"
    for text in ('{"precious": 1}', "precious", "[1, 2]"):
        path.write_text(text)
        with pytest.raises(SystemExit, match="something else"):
            report(CALM).publish(path)
        with pytest.raises(SystemExit, match="something else"):
            read_reports(path)
        assert path.read_text() == text
    path.write_text(json.dumps([{"title": "t", "how": "", "machine": "a line", "figures": []}]))
    with pytest.raises(SystemExit, match="something else"):
        read_reports(path)


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """As `make bench-compare` does it."""
    return subprocess.run(
        [sys.executable, "-m", "measuring.regressions", *words],
        env={"PYTHONPATH": str(REPOSITORY / "benchmarks")},
        capture_output=True,
        text=True,
    )


def test_the_program_says_so_by_its_exit_code(tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    report(CALM).publish(before)
    report(times(1.2)).publish(after)
    done = make(str(before), str(after))
    assert done.returncode == 1 and "diskprof runs" in done.stdout and "WORSE" in done.stdout
    assert "1 of 1 figures got worse" in done.stdout
    assert make(str(before), str(before)).returncode == 0
    lost = make(str(before), str(tmp_path / "nowhere.json"))
    assert lost.returncode == 1 and "No such file" in lost.stderr
