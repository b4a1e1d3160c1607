"""What a terminal gets: it fits, it is harmless, and it says what went wrong."""

from datetime import timedelta
from pathlib import Path

import pytest
from handmade import START, TARGET, direction, environment, fio, ioping, latency, on_disk, run, samples, stalled
from msgspec.structs import replace
from recorded import write_library

from diskprof.analysis.comparison import compare
from diskprof.analysis.kernel import KernelView
from diskprof.model.cells import width_of
from diskprof.model.plan import Hazard, Severity
from diskprof.model.run import Finding, Message, RunSummary, Status, Weight
from diskprof.reports.content.plan_report import plan_sentence
from diskprof.reports.render.markdown import comparison_markdown
from diskprof.reports.render.text import comparison_text, plan_text, runs_table, show
from diskprof.store import Store

EVIL = "\x1b]52;c;x\x07磁盘\n\u202e"


def widest(text: str) -> int:
    return max(map(width_of, text.splitlines()))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_recorded_run_fits(tmp_path: Path, width: int) -> None:
    ids = write_library(tmp_path / "runs.db")
    with Store.open(tmp_path / "runs.db") as store:
        for run_id in ids.values():
            assert widest(show(store.run(run_id), store.samples(run_id).samples, width)) <= width
        assert widest(runs_table(store.summaries(), width)) <= width


def test_in_a_narrow_place_the_columns_that_say_least_go() -> None:
    tested = run(fio("randread-4k-qd32", read=direction(284_000, mean_ns=108_000)))
    heads = {width: show(tested, (), width).split("Test ")[1].splitlines()[0].split() for width in (80, 66, 60, 50)}
    assert heads[80] == ["IOPS", "MB/s", "mean", "p50", "p99", "p99.9", "max"]
    assert heads[66] == ["IOPS", "MB/s", "mean", "p50", "p99", "max"]
    assert heads[60] == ["IOPS", "MB/s", "p50", "p99", "max"]
    assert heads[50] == ["IOPS", "MB/s", "p99", "max"]
    for width in heads:
        assert f"{tested.tests[0].title} " in show(tested, (), width)


def test_two_recorded_runs_side_by_side_fit(tmp_path: Path) -> None:
    ids = write_library(tmp_path / "runs.db")
    with Store.open(tmp_path / "runs.db") as store:
        runs = [store.run(ids[name]) for name in ("first", "slow", "second", "mixed")]
    assert widest(comparison_text(compare(runs[:2]))) <= 80
    assert widest(comparison_text(compare(runs[:3]))) <= 80
    assert widest(comparison_text(compare(runs))) <= 80


def test_what_went_wrong_is_told_once_and_where() -> None:
    failed = run(
        fio("a", read=direction(100)),
        fio("b", status=Status.FAILED, reason="No space left on device"),
        fio("c", status=Status.SKIPPED),
        status=Status.FAILED,
        reason="No space left on device",
    )
    told = show(failed).split("Errors\n")[1]
    assert told == "  Test 2 of 3, b: failed: No space left on device\n  Not started: c\n"


def test_a_run_that_failed_before_its_first_test_says_so() -> None:
    failed = run(fio("a", status=Status.SKIPPED), status=Status.FAILED, reason="The test file cannot be made.")
    assert "The run: failed: The test file cannot be made." in show(failed)


def test_a_reason_of_its_own_is_told_beside_the_tests() -> None:
    cancelled = run(
        fio("a", status=Status.CANCELLED), status=Status.CANCELLED, reason="Stopped by SIGTERM.", ended_at=None
    )
    text = show(cancelled)
    assert "Test 1 of 1, a: cancelled: Stopped by SIGTERM." in text
    assert "The run:" in text


def test_findings_tell_weight_place_evidence_and_advice() -> None:
    found = Finding("stall", Weight.DOUBT, "It stood still.", "once, for 2 s", "Look into dmesg.", "randread")
    text = show(run(fio(read=direction(100)), findings=(found,)))
    assert "  Doubt: randread: It stood still.\n    once, for 2 s\n    -> Look into dmesg.\n" in text


def test_messages_tell_when_and_of_which_test() -> None:
    said = (Message(1_500_000_000, "It said so.", 0, warning=True), Message(0, "Begun."))
    text = show(run(fio("a", read=direction(100)), messages=said))
    assert "     1.5 s  a: warning: It said so.\n     0.0 s  Begun.\n" in text


def test_foreign_text_is_harmless_everywhere() -> None:
    tested = run(
        fio(EVIL, read=direction(100)),
        fio("b", status=Status.FAILED, reason=EVIL),
        environment=replace(on_disk(model=EVIL, serial=EVIL), hostname=EVIL, kernel=EVIL, virtualisation=EVIL),
        target=replace(TARGET, path=EVIL),
        status=Status.FAILED,
        reason=EVIL,
        note=EVIL,
        tags=(EVIL,),
        messages=(Message(0, EVIL),),
        findings=(Finding("x", Weight.DOUBT, EVIL, EVIL, EVIL, EVIL),),
    )
    tested = replace(
        tested,
        plan=replace(tested.plan, preset=EVIL, preset_title=EVIL, hazards=(Hazard("h", Severity.WARNS, EVIL, EVIL),)),
    )
    other = replace(tested, environment=environment(kernel=EVIL + "2"), tags=(EVIL + "2",))
    texts = [
        show(tested, samples([100] * 8)),
        comparison_text(compare((tested, other))),
        plan_text(tested.plan),
        runs_table([RunSummary("a", Status.FAILED, EVIL, EVIL, EVIL, EVIL, EVIL, START, 1.0, (EVIL,), EVIL, EVIL)]),
    ]
    for text in texts:
        assert "磁盘" in text
        assert not {char for char in text if not char.isprintable()} - {"\n"}


def test_both_directions_of_a_mixed_test_have_a_row() -> None:
    text = show(run(fio("mix", rw="randrw", read=direction(700), write=direction(300))))
    rows = [line.split()[:3] for line in text.splitlines()]
    assert ["mix", "read", "700"] in rows
    assert ["write", "300", "1.23"] in rows


def test_the_course_of_a_paced_test_is_its_latency() -> None:
    text = show(run(ioping("latency", read=direction(1, seconds=4))), samples([4] * 4, mean_ns=210_000))
    assert "IOPS or latency, from 0" in text
    (course,) = [line for line in text.splitlines() if "████" in line]
    assert course.split() == ["latency", "████", *(["210", "us"] * 3), "-"]


def test_a_disk_that_stood_still_has_a_line_that_lies_low_for_as_long() -> None:
    text = show(run(fio(read=direction(400))), stalled(6, 2.0, 6))
    (course,) = [line for line in text.splitlines() if "██████" in line]
    assert course.split()[1] == "██████▁▁▁▁▁▁▁▁██████"
    text = show(run(fio(read=direction(400))), stalled(100, 50.0, 100))
    (course,) = [line for line in text.splitlines() if "██████" in line]
    line = course.split()[1]
    assert line.count("▁") == pytest.approx(len(line) / 2, abs=2)


def test_without_utf8_all_is_ascii() -> None:
    assert show(run(fio(read=direction(100))), samples([100, 0, 50] * 4), ascii_only=True).isascii()


def summary(run_id: str, status: Status = Status.COMPLETE, days: int = 0, **more: object) -> RunSummary:
    return RunSummary(
        *(run_id, status, "quick", "Quick check", "/mnt/data", "nvme0n1", "db-01", START - timedelta(days=days), 32.0),
        **more,  # type: ignore[arg-type]
    )


def test_the_list_tells_how_a_run_ended_and_its_tags() -> None:
    rows = [
        summary("aaaaaaaa", headline="rand read 12.3k IOPS", tags=("before", "x")),
        summary("bbbbbbbb", Status.CANCELLED, headline="rand read 9.0k IOPS"),
        summary("cccccccc", Status.RUNNING),
    ]
    lines = runs_table(rows, 100).splitlines()
    assert lines[0].split() == ["Run", "UTC", "Preset", "Target", "Result"]
    assert lines[2].endswith("rand read 12.3k IOPS [before] [x]")
    assert lines[3].endswith("cancelled: rand read 9.0k IOPS")
    assert lines[4].endswith("running")
    assert "03-04 12:00" in lines[2]


def test_where_there_is_room_host_and_device_are_told_and_over_the_years_the_year() -> None:
    wide = runs_table([summary("aaaaaaaa")], 120)
    assert "db-01  nvme0n1" in wide
    assert "2026-03-04 12:00" in wide
    assert "2025-01-28" in runs_table([summary("aaaaaaaa"), summary("bbbbbbbb", days=400)], 80)
    assert runs_table([], 80).count("\n") == 2


def test_the_same_conditions_are_said_to_be() -> None:
    one = run(fio("a", read=direction(1)), run_id="x")
    assert "Same conditions in all runs" in comparison_text(compare((one, replace(one, id="y"))))


def test_a_comparison_says_what_could_not_be_judged_and_what_is_in_doubt() -> None:
    few = run(fio("a", read=direction(10, seconds=5, figures=latency(1e6))), run_id="x")
    doubtful = replace(few, id="y", findings=(Finding("stall", Weight.DOUBT, "m", "e", "a"),))
    text = comparison_text(compare((few, doubtful)))
    assert "Blank: fewer than 10 I/Os" in text
    assert "In doubt: y stall." in text


def test_options_that_differ_are_told_with_their_run() -> None:
    base = run(fio("a", read=direction(1)), fio("b", read=direction(1)), run_id="x")
    other = run(fio("a", depth=8, read=direction(1)), fio("b", read=direction(1)), run_id="y")
    rows = [line.split() for line in comparison_text(compare((base, other))).splitlines()]
    assert rows[rows.index(["option", "iodepth", "1", "8"]) - 1] == ["x", "y"]


def test_a_plan_tells_commands_exactly_and_what_to_fear() -> None:
    tested = run(fio("a", options=("--description=two words",)))
    plan = replace(tested.plan, hazards=(Hazard("full", Severity.BLOCKS, "No space.", "Choose another."),))
    text = plan_text(plan)
    assert plan_sentence(plan) in " ".join(text.split())
    assert "'--description=two words'" in text
    assert "Writes      nothing" in text
    assert "  Refused: No space.\n    -> Choose another.\n" in text
    assert "Directory   /mnt/data/.diskprof-1\n" in text and "Files       1 GiB, filled before the first test" in text


def test_two_runs_are_a_table_where_only_a_name_is_too_long() -> None:
    first, second = (
        run(fio(read=direction(17_668)), run_id=name, environment=environment(hostname=name))
        for name in ("baseline", "after-the-update")
    )
    lines = comparison_text(compare((first, second)), 56).splitlines()
    assert max(map(len, lines)) <= 56
    assert ["IOPS", "17,668", "17,668", "0%", "same"] in [line.split() for line in lines]


def test_a_test_that_a_run_has_not_takes_no_room_from_figures() -> None:
    first, second = (run(fio(name, read=direction(1_000)), run_id=run_id) for name, run_id in (("a", "x"), ("b", "y")))
    text = comparison_text(compare((first, second)))
    assert "a\n  status: complete (x), has no such test (y)\n" in text
    assert ["x", "y"] in [line.split() for line in text.splitlines()]
    assert "| has no such test |" in comparison_markdown(compare((first, second)))


def test_options_are_told_whole_where_figures_have_less_room() -> None:
    first, second = (
        run(fio(read=direction(1_000), options=(f"--bssplit={values}", f"--thinktime={at}")), run_id=f"run{at}")
        for at, values in enumerate(("4k/50:8k/25:16k/25", "4k/50:8k/25:32k/25"), 1)
    )
    text = comparison_text(compare((first, second)), 60)
    assert "option bssplit: 4k/50:8k/25:16k/25 (run1),\n    4k/50:8k/25:32k/25 (run2)\n" in text
    assert ["option", "thinktime", "1", "2"] in [line.split() for line in text.splitlines()]


def test_a_long_name_of_a_condition_leaves_room_for_its_values() -> None:
    first, second = (
        run(fio(read=direction(1_000)), run_id=value, parameters=(("long" * 20, f"{value}-{'v' * 20}"),))
        for value in ("one", "two")
    )
    lines = comparison_text(compare((first, second))).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(f"one-{'v' * 20}" in line and f"two-{'v' * 20}" in line for line in lines)


def test_a_narrow_terminal_has_the_table_of_the_kernel() -> None:
    view = KernelView(
        1.0, reads_per_s=17_700.0, writes_per_s=0.4, read_bytes_per_s=72.4e6, read_wait_ns=56.2e3, write_wait_ns=2e6,
        queue_depth=1.0, utilisation=1.0, cpu_user=0.02, cpu_system=0.03, cpu_iowait=0.04,
    )  # fmt: skip
    text = show(run(fio("a-name-of-a-test", read=direction(17_700))), width=60, kernel={0: view})
    heads = [line.split() for line in text.splitlines() if "r_await  w_await" in line]
    assert heads == [["Test", "r/s", "w/s", "MB/s", "r_await", "w_await", "aqu-sz"]]
