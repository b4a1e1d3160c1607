"""The plan in lines, on the Run screen and in the question before a start."""

from dataclasses import replace

import pytest
from recorded import make_plan

from diskprof.tui.run_lines import confirm_lines
from diskprof.tui.widgets.painted import width_of


@pytest.mark.parametrize("width", [40, 70])
def test_a_parameter_of_any_length_is_shown_whole(width: int) -> None:
    value = " ".join(f"--option{number}=value" for number in range(12))
    plan = replace(make_plan("quick"), parameters=(("size", "1g"), ("more", value), ("runtime", "4s")))
    lines = confirm_lines(plan, "Tests /mnt/data.", (), width)
    assert all(width_of(line) <= width for line in lines)
    texts = ["".join(text for text, _ in line) for line in lines]
    first = next(number for number, text in enumerate(texts) if text.startswith(" more "))
    last = next(number for number, text in enumerate(texts) if text.startswith(" runtime "))
    assert " ".join("".join(texts[first:last]).split()) == f"more {value}"
