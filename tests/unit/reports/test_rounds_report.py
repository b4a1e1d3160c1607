"""What a report says of a run of rounds."""

from handmade import cell, run
from msgspec.structs import replace

from diskprof.analysis.headline import headline
from diskprof.model.metric import parse_metric
from diskprof.model.run import Run, Status, TestRecord
from diskprof.model.steady import RoundsRule, SteadyWindows
from diskprof.reports.blocks import Form, Heading, Table
from diskprof.reports.content.result_sentences import unfinished, verdict
from diskprof.reports.content.rounds_report import rounds_blocks, rounds_sentence
from diskprof.reports.content.run_report import run_report
from diskprof.reports.data.json_runs import run_json
from diskprof.reports.data.junit import junit
from diskprof.tui.live.rounds_line import rounds_line


def with_rounds(record: TestRecord, values: tuple[float, ...], *, reached: bool) -> TestRecord:
    assert record.result
    steady = SteadyWindows(reached, values, min(2, len(values)), 0, 1, 0.0, 0.05, -0.012)
    return replace(record, result=replace(record.result, steady=steady))


def rounds(*values: float, reached: bool = True, status: Status = Status.COMPLETE) -> Run:
    made = run(*(cell(1000.0, {"rwmixread": mix, "bs": bs}) for mix in ("100", "0") for bs in ("8k", "4k")))
    tracked = made.tests[-1]
    rule = RoundsRule(tracked.name, parse_metric("read.iops"), windows=2, at_most=5)
    tests = tuple(with_rounds(test, values, reached=reached) for test in made.tests)
    return replace(made, plan=replace(made.plan, rounds=rule), tests=tests, status=status)


def words(line: list[tuple[str, str]]) -> str:
    return "".join(text for text, _ in line)


def test_a_steady_run_says_after_which_round_and_which_rounds_count() -> None:
    told = rounds(9000.0, 5100.0, 5000.0)
    title = told.tests[-1].title
    assert rounds_sentence(told) == (
        f"Steady after round 3. The results are those of rounds 2 to 3. read.iops of {title}: 1,000 IOPS, range 5.0%, slope -1.2%"
        " (limits 20% and 10%). From the first round to the last: 9,000 IOPS to 5,000 IOPS."
    )
    (table,) = (block for block in rounds_blocks(told) if isinstance(block, Table))
    # The row of the tracked test: both block sizes of its mix.
    assert [column.text for column in table.columns] == ["Round", "", "8 KiB", "4 KiB"]
    assert [[each.text for each in row] for row in table.rows] == [
        ["1", "", "9,000", "9,000"],
        ["2", "counted", "5,100", "5,100"],
        ["3", "counted", "5,000", "5,000"],
    ]
    line = words(rounds_line(told, 120, ascii_only=False))
    assert line.startswith("   Steady after round 3, results of rounds 2 to 3  ") and "5,000 IOPS" in line
    assert unfinished(told) == ""
    assert Heading("Rounds", 2) in run_report(told, form=Form.TERMINAL)


def test_a_run_that_was_not_steady_or_ended_early_says_so() -> None:
    assert rounds_sentence(rounds(*[1.0, 2.0, 3.0, 4.0, 5.0], reached=False)).startswith("Not steady within 5 rounds. ")
    killed = rounds(9000.0, 5100.0, reached=False, status=Status.INTERRUPTED)
    assert rounds_sentence(killed).startswith("Interrupted in round 3, not steady after 2 rounds. ")
    assert unfinished(killed) == "Interrupted in round 3: the results are those of rounds 1 to 2."


def test_a_run_in_progress_tells_its_round() -> None:
    going = rounds(9000.0, 5100.0, reached=False, status=Status.RUNNING)
    assert words(rounds_line(going, 80, ascii_only=False)).startswith("   Round 3 of at most 5  ")
    narrow = words(rounds_line(going, 80, ascii_only=False))
    assert len(narrow) <= 80 and "range 5.0%, slope -1.2%" in narrow
    # A limit that is cut is another one.
    assert "(20%" not in words(rounds_line(going, narrow.index(" (20%") + 8, ascii_only=False))
    first = replace(going, tests=tuple(replace(test, result=None) for test in going.tests))
    assert words(rounds_line(first, 80, ascii_only=False)).startswith(
        "   Round 1 of at most 5  waits for read.iops of "
    )


def test_json_has_the_rule_and_the_course() -> None:
    told = run_json(rounds(9000.0, 5100.0, 5000.0))["rounds"]
    assert (told["complete"], told["counted"], told["reached"], told["unit"]) == (3, 2, True, "IOPS")
    assert told["wanted"]["at_most"] == 5 and told["values"] == [9000.0, 5100.0, 5000.0]
    assert run_json(run(cell(1.0, {"bs": "4k"})))["rounds"] is None


def test_a_case_of_junit_has_no_time_in_rounds_as_it_would_be_that_of_all_tests() -> None:
    made = rounds(9000.0, 5100.0, 5000.0)
    made = replace(made, tests=tuple(replace(test, started_ns=0, ended_ns=10**10) for test in made.tests))
    cases = [line for line in junit([made]).splitlines() if "<testcase" in line]
    assert len(cases) == 4 and not any("time=" in case for case in cases)
    alone = replace(made, plan=replace(made.plan, rounds=None))
    assert all('time="10.000"' in line for line in junit([alone]).splitlines() if "<testcase" in line)


def test_rounds_that_wait_for_a_latency_are_told_by_it() -> None:
    told = rounds(9000.0, 5100.0, 5000.0)
    title = told.tests[-1].title
    assert headline(told) == "rand read 1.00k IOPS"
    assert verdict(told).startswith(f"Steady after round 3, read.iops of {title}: 1,000 IOPS. ")
    rule = RoundsRule(told.tests[-1].name, parse_metric("read.latency.mean"), windows=2, at_most=5)
    waiting = replace(told, plan=replace(told.plan, rounds=rule))
    assert headline(waiting) == f"{title}: read latency mean 1.00 ms"
    assert verdict(waiting).startswith(f"Steady after round 3, read.latency.mean of {title}: 1.00 ms. ")
    assert not verdict(rounds(9000.0, status=Status.CANCELLED)).startswith("Not steady")
