"""The plan in lines, on the Run screen and in the question before a start."""

from collections.abc import Callable
from datetime import datetime

import pytest
from msgspec.structs import replace
from recorded import make_plan, record_run

from diskprof.model.expectation import Expectation, Operator
from diskprof.model.metric import parse_metric
from diskprof.model.plan import Plan
from diskprof.store import Store
from diskprof.tui.kit.painted import Line, width_of
from diskprof.tui.run.plan_lines import confirm_lines, plan_lines
from diskprof.tui.shell.run_signs import place


@pytest.mark.parametrize("width", [40, 70])
def test_a_parameter_of_any_length_is_shown_whole(width: int) -> None:
    value = " ".join(f"--option{number}=value" for number in range(12))
    plan = replace(make_plan("quick"), parameters=(("size", "1g"), ("more", value), ("runtime", "4s")))
    lines = confirm_lines(plan, (), width)
    assert all(width_of(line) <= width for line in lines)
    texts = ["".join(text for text, _ in line) for line in lines]
    assert f"Parameters size=1g more={value} runtime=4s" in " ".join("".join(texts).split())


@pytest.mark.parametrize("lines", [plan_lines, lambda plan, width: confirm_lines(plan, (), width)])
def test_what_is_expected_of_the_disk_is_told_before_a_start(lines: Callable[[Plan, int], list[Line]]) -> None:
    plan = make_plan("quick")
    expected = Expectation(plan.tests[0].name, parse_metric("read.iops"), Operator.AT_LEAST, 8880, "tier ssd")
    told = ["".join(text for text, _ in line) for line in lines(replace(plan, expectations=(expected,)), 40)]
    words = " ".join(" ".join(told).split())
    assert f"Expected {plan.title(plan.tests[0].name)}: read IOPS >= 8,880 (tier ssd)" in words
    assert all(len(line) <= 40 for line in told)
    assert "Expected" not in str(lines(plan, 40))


@pytest.mark.parametrize(
    ("given", "shown"), [("disk", "/mnt/data/disk"), ("./disk", "/mnt/data/disk"), ("/links/disk", "/links/disk")]
)
def test_a_target_is_named_from_the_root_on(store: Store, given: str, shown: str) -> None:
    plan = make_plan("quick")
    plan = replace(plan, target=replace(plan.target, given=given, path="/mnt/data/disk"))
    run = store.run(record_run(store, plan=plan, runtime_s=1.0))
    assert place(run).startswith(f"{shown} (")


@pytest.mark.parametrize("lines", [plan_lines, lambda plan, width, **more: confirm_lines(plan, (), width, **more)])
def test_a_long_plan_says_when_it_ends(lines: Callable[..., list[Line]]) -> None:
    now, plan = datetime(2026, 3, 4, 13, 30), make_plan("quick")
    day = replace(plan, layout=None, tests=(replace(plan.tests[0], ramp_s=0.0, runtime_s=86400.0),))
    assert "about Thu 05 Mar 13:30" in str(lines(day, 60, now=now))
    assert "End" not in str(lines(plan, 60, now=now))
