"""The plan in lines, on the Run screen and in the question before a start."""

from dataclasses import replace

import pytest
from recorded import make_plan, record_run

from diskprof.store import Store
from diskprof.tui.kit.painted import width_of
from diskprof.tui.run.plan_lines import confirm_lines
from diskprof.tui.shell.run_signs import place


@pytest.mark.parametrize("width", [40, 70])
def test_a_parameter_of_any_length_is_shown_whole(width: int) -> None:
    value = " ".join(f"--option{number}=value" for number in range(12))
    plan = replace(make_plan("quick"), parameters=(("size", "1g"), ("more", value), ("runtime", "4s")))
    lines = confirm_lines(plan, (), width)
    assert all(width_of(line) <= width for line in lines)
    texts = ["".join(text for text, _ in line) for line in lines]
    first = next(number for number, text in enumerate(texts) if text.startswith(" more "))
    last = next(number for number, text in enumerate(texts) if text.startswith(" runtime "))
    assert " ".join("".join(texts[first:last]).split()) == f"more {value}"


@pytest.mark.parametrize(
    ("given", "shown"), [("disk", "/mnt/data/disk"), ("./disk", "/mnt/data/disk"), ("/links/disk", "/links/disk")]
)
def test_a_target_is_named_from_the_root_on(store: Store, given: str, shown: str) -> None:
    plan = make_plan("quick")
    plan = replace(plan, target=replace(plan.target, given=given, path="/mnt/data/disk"))
    run = store.run(record_run(store, plan=plan, runtime_s=1.0))
    assert place(run).startswith(f"{shown} (")
