"""The plan of a sweep: a line for each of its axes, not one for each cell."""

import pytest
from msgspec.structs import replace
from recorded import VOLUME, sweep_plan

from diskprof.tui.kit.painted import width_of
from diskprof.tui.run.plan_lines import plan_lines


@pytest.mark.parametrize("width", [38, 58, 78])
def test_a_sweep_is_a_line_an_axis(width: int) -> None:
    lines = plan_lines(sweep_plan(VOLUME), width)
    text = ["".join(piece for piece, _ in line) for line in lines]
    assert all(width_of(line) <= width for line in lines)
    (head,) = (line for line in text if "35 cells" in line)
    assert head.strip().startswith("1") and "rand read: 35 cells" in head and "R" in head
    told = " ".join(" ".join(text).split())
    assert "block size 4 KiB, 16 KiB, 32 KiB, 64 KiB, 256 KiB" in told
    assert "queue depth 1, 2, 4, 8, 16, 32, 64" in told
    assert "QD64" not in told


def test_a_sweep_that_writes_in_some_of_its_cells_says_so() -> None:
    plan = sweep_plan(VOLUME)
    *others, last = plan.tests
    writes = replace(last, jobs=tuple(replace(job, rw="randwrite") for job in last.jobs))
    lines = plan_lines(replace(plan, tests=(*others, writes)), 58)
    (head,) = (line for line in lines if any("35 cells" in piece for piece, _ in line))
    assert [piece for piece in head if piece[0] in ("R", "W")] == [("R", "read"), ("W", "write")]
