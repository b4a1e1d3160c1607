"""What the benchmark of the observer makes of seconds in which something was on, and of those in which it was off."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import descendants, until

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from measuring.figures import Figure, Report  # noqa: E402
from measuring.jobs import Jobs  # noqa: E402
from measuring.machine import Machine  # noqa: E402
from measuring.processes import cpu_seconds  # noqa: E402
from measuring.switching import Interval, Rhythm, Span, ratios, standing_still, switch, timed, unhindered_ratios  # noqa: E402


def spans(*seconds: float) -> list[Span]:
    """Off and on by turns, from 100 s on."""
    found, began = [], 100.0
    for number, each in enumerate(seconds):
        found.append(Span(began, began + each, bool(number % 2)))
        began += each
    return found


def intervals(given: list[Span], on: float, off: float, drift: float = 0.0) -> list[Interval]:
    """Quarters of a second; `drift` is what the machine does more, or less, with each second."""
    found = []
    ends = [given[0].began + 0.1 + 0.25 * number for number in range(200)]
    for end in ends:
        span = next((one for one in given if one.began <= end <= one.ended), None)
        if span:
            rate = (on if span.on else off) + drift * (end - 0.125 - given[0].began)
            found.append(Interval(end, 0.25, rate / 4))
    return found


def test_what_is_lost_while_it_is_on_is_told() -> None:
    given = spans(1.25, 2.5, 1.25, 2.5, 1.25)
    assert ratios(given, intervals(given, 950.0, 1000.0), of_processor=False) == pytest.approx([0.95, 0.95])


def test_a_machine_that_becomes_faster_or_slower_is_not_taken_for_a_loss() -> None:
    given = spans(1.25, 2.5, 1.25, 2.5, 1.25)
    assert ratios(given, intervals(given, 1000.0, 1000.0, drift=20.0), of_processor=False) == pytest.approx(
        [1.0, 1.0], abs=0.004
    )


def test_what_a_hypervisor_takes_is_no_loss_of_what_the_processor_does() -> None:
    given = [replace(span, stolen=0.2 if span.on else 0.0) for span in spans(1.25, 2.5, 1.25)]
    assert ratios(given, intervals(given, 760.0, 1000.0), of_processor=True) == pytest.approx([0.95])
    assert ratios(given, intervals(given, 760.0, 1000.0), of_processor=False) == pytest.approx([0.76])


def test_what_fio_waits_for_a_processor_is_told() -> None:
    given = [replace(span, unhindered=0.98 if span.on else 1.0) for span in spans(1.25, 2.5, 1.25)]
    assert unhindered_ratios(given) == pytest.approx([0.98])
    assert unhindered_ratios(spans(1.25, 2.5, 1.25)) == []


@pytest.mark.needs("fio")
def test_the_jobs_of_fio_are_found_below_who_started_it(tmp_path: Path) -> None:
    words = (
        "fio",
        "--name=x",
        "--ioengine=null",
        "--thread=1",
        "--size=1m",
        "--time_based=1",
        "--runtime=60",
        "--output=log",
    )
    with subprocess.Popen(["sh", "-c", '"$@"; :', "sh", *words], cwd=tmp_path) as shell:
        (fio,) = until(lambda: descendants(shell.pid, "fio"), "fio")
        try:
            until(lambda: Jobs(shell.pid, 1).times().ran > 10e6, "its job at work")
            jobs = Jobs(shell.pid, 1)
            before = jobs.times()
            until(lambda: jobs.times().ran - before.ran > 50e6, "more work of the job")
            share = jobs.times().share_since(before)
            assert share is not None and 0 < share <= 1
            assert before.share_since(before) is None
        finally:
            os.kill(fio, signal.SIGKILL)
    with pytest.raises(OSError, match="has started no fio"):
        Jobs(os.getpid(), 1)


@pytest.mark.needs("fio")
def test_jobs_that_share_a_processor_wait_for_it_half_of_the_time(tmp_path: Path) -> None:
    words = ["fio", "--ioengine=null", "--thread=1", "--size=1m", "--time_based=1", "--runtime=60", "--output=log"]
    cpu = min(os.sched_getaffinity(0))
    words += [word for name in "ab" for word in (f"--name={name}", f"--cpus_allowed={cpu}")]
    with subprocess.Popen(words, cwd=tmp_path) as fio:
        try:
            until(lambda: len(list(Path(f"/proc/{fio.pid}/task").iterdir())) > 2, "two jobs")
            until(lambda: Jobs(fio.pid, 2).times().ran > 50e6, "both at work")
            jobs = Jobs(fio.pid, 2)
            before = jobs.times()
            until(lambda: jobs.times().ran - before.ran > 300e6, "more work of both")
            share = jobs.times().share_since(before)
            # Less where something else wants that processor, too.
            assert share is not None and 0 < share < 0.6
        finally:
            fio.kill()


def test_a_span_without_a_whole_interval_decides_nothing() -> None:
    given = spans(1.25, 2.5, 0.2)
    assert ratios(given, intervals(given, 1000.0, 1000.0), of_processor=False) == []


def test_what_came_late_is_dated_by_the_clock_of_fio() -> None:
    given = spans(1.0, 1.0, 1.0)
    arrivals = [(101.0 + 0.25 * number, 0.25, 10.0) for number in range(1, 5)] + [(103.02, 0.25, 10.0)] * 4
    found = timed(arrivals, given)
    assert [one.ended for one in found] == pytest.approx([101.25, 101.5, 101.75, 102.0, 102.25, 102.5, 102.75, 103.0])
    assert sum(one.ios for one in found) == 80


def test_what_came_before_the_first_in_time_has_no_date() -> None:
    assert timed([(100.5, 0.25, 1.0), (100.9, 0.25, 1.0)], spans(1.0, 1.0, 1.0)) == []


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        until(lambda: cpu_seconds(process.pid) > 0, "its first work")
        yield process
        process.kill()


def test_a_process_stands_still_and_goes_on(busy: subprocess.Popen[bytes]) -> None:
    with standing_still(busy.pid):
        before = cpu_seconds(busy.pid)
        others = sum(range(3_000_000))  # time for it to have worked, if it could
        assert others and cpu_seconds(busy.pid) == before
    until(lambda: cpu_seconds(busy.pid) > before, "its work to go on")


def test_a_process_that_is_gone_cannot_stand_still() -> None:
    with pytest.raises(FileNotFoundError), standing_still(1 << 23):
        pass


def test_it_is_off_first_and_last_and_keeps_to_its_timetable(monkeypatch: pytest.MonkeyPatch) -> None:
    now, late = 100.0, 0.01
    lengths: list[tuple[str, float]] = []
    monkeypatch.setattr("measuring.switching.time", SimpleNamespace(time=lambda: now))

    def waits(which: str) -> Callable[[float], None]:
        def wait(seconds: float) -> None:
            nonlocal now
            lengths.append((which, seconds))
            now += seconds + late

        return wait

    found = switch(Rhythm(20, 2.5, 1.75), waits("on"), waits("off"))
    assert [which for which, _ in lengths] == ["off", *["on", "on", "off"] * 20]
    assert [span.on for span in found] == [False, *[True, False] * 20]
    assert lengths[0] == ("off", 1.75)
    # Woken late, it makes up for it, so that the last one ends when fio's time is up.
    assert {round(seconds, 6) for which, seconds in lengths[1:] if which == "off"} == {1.75 - late}
    assert {round(seconds, 6) for which, seconds in lengths[1:] if which == "on"} == {0.1, 2.4 - 2 * late}
    assert now == pytest.approx(100.0 + Rhythm(20, 2.5, 1.75).seconds + late)


def test_the_bounds_of_a_median() -> None:
    values = tuple(float(number) for number in range(1, 41))
    assert Figure("x", values).bounds == (1.0, 40.0)
    # Of 40 throws of a coin at most 13 are heads in 1.9 of 100 cases, at most 14 in 4.0: ranks 14 and 27.
    assert Figure("x", values, of_median=True).bounds == (14.0, 27.0)
    assert Figure("x", (3.0,), of_median=True).bounds == (3.0, 3.0)


def test_what_could_not_be_measured_stands_in_the_table() -> None:
    report = Report("A benchmark", "Medians of 2.")
    report.add("measured", [3.0, None], "ms", most=2)
    report.add("not measured", [None], "ms", most=2)
    said = [" ".join(line.split()) for line in report.text(Machine.here()).splitlines()]
    assert "measured 3.00 ms 3.00 3.00 1 <= 2 ms MISSED" in said
    assert "not measured 0 <= 2 ms NOT MEASURED" in said
    (first, second) = [figure.verdict for figure in report.figures]
    assert (first, second) == ("MISSED", "NOT MEASURED")
    assert '"median": null' in json.dumps(report.json(Machine.here()))
