"""What speaks against relying on a run, in a few words."""

import re
from pathlib import Path

import pytest
from handmade import fio
from handmade import run as made
from msgspec.structs import replace

import diskprof.analysis
from diskprof.model.run import Finding, ProcessShare, Weight, doubts_of
from diskprof.reports.content import doubts
from diskprof.tui.live.finding_banner import banner_lines


def found(name: str, weight: Weight = Weight.DOUBT, test: str = "") -> Finding:
    return Finding(name, weight, "message", "evidence", "advice", test)


def rules(weight: str) -> set[str]:
    folder = Path(diskprof.analysis.__file__).parent / "findings"
    source = "\n".join(path.read_text() for path in sorted(folder.glob("*.py")))
    return set(re.findall(rf'"([a-z-]+)"[^"]*,\s+Weight\.{weight}', source))


def test_every_rule_of_a_doubt_or_limit_has_its_words() -> None:
    assert len(rules("DOUBT")) > 15 and len(rules("LIMIT")) >= 7
    assert rules("DOUBT") <= doubts._SHORT.keys()
    assert rules("LIMIT") | {"iops-ceiling", "bandwidth-ceiling"} == doubts._LIMITS.keys()


def test_a_rule_of_another_version_is_called_by_its_name() -> None:
    assert doubts.in_doubt(("other-io", "moon-phase")) == "In doubt: other I/O on the disk; moon phase"
    assert doubts.in_doubt(()) == ""


def test_doubts_are_counted_once_and_say_which_tests() -> None:
    run = made(*(fio(name) for name in "abcd"))
    names = [test.name for test in run.tests]
    assert len(names) > 3
    findings = (
        found("stall", test=names[0]),
        found("not-steady", test=names[1]),
        found("stall", test=names[1]),
        *(found("other-io", test=name) for name in names[:3]),
        *(found("cpu-steal", test=name) for name in names),
        found("memory-file-system"),
        found("cloud", Weight.NOTE),
    )
    assert doubts_of(findings) == ("stall", "not-steady", "other-io", "cpu-steal", "memory-file-system")
    assert doubts.run_in_doubt(replace(run, findings=findings)) == (
        f"In doubt: stall ({names[0]}, {names[1]}); not steady ({names[1]}); "
        f"other I/O on the disk (3 of {len(names)} tests); CPU steal; not a disk: memory"
    )


def test_processes_are_named_with_their_share() -> None:
    run = made(fio("a"), fio("b"))
    several = (ProcessShare(7, "dd", 0.6), ProcessShare(8, "cp"), ProcessShare(9, "tar", 0.1))
    named = replace(found("other-io", test="a"), processes=several)
    assert doubts.run_in_doubt(replace(run, findings=(named,))) == (
        f"In doubt: other I/O on the disk: dd (pid 7) 60% of it, cp (pid 8) and 1 more ({run.title('a')})"
    )
    alike = replace(named, processes=tuple(replace(each, name="dd") for each in several))
    assert doubts.run_in_doubt(replace(run, findings=(alike,))) == (
        f"In doubt: other I/O on the disk: dd (3 processes), up to 60% of it each ({run.title('a')})"
    )
    assert "".join(piece for piece, _ in banner_lines(replace(run, findings=(named,)), 120)[0]).startswith(
        " ! In doubt: other I/O on the disk: dd (pid 7) 60% of it"
    )


@pytest.mark.parametrize(("width", "rows"), [(120, 1), (40, 2)])
def test_the_banner_has_doubts_and_limits_on_one_line_if_they_fit(width: int, rows: int) -> None:
    run = made(fio("a"), fio("b"))
    findings = (found("stall", test="a"), found("cgroup-limit-reached", Weight.LIMIT), found("cloud", Weight.NOTE))
    lines = banner_lines(replace(run, findings=findings), width)
    text = ["".join(piece for piece, _ in line).strip() for line in lines]
    assert len(text) == rows
    assert "   ".join(text) == f"! In doubt: stall ({run.title('a')})   ▲ Limit: cgroup I/O limit"
    assert banner_lines(run, width) == []


def test_findings_are_counted_by_weight() -> None:
    weights = (Weight.NOTE, Weight.DOUBT, Weight.NOTE, Weight.LIMIT)
    assert doubts.tally(found("x", weight) for weight in weights) == "1 doubt, 1 limit, 2 notes"
    assert doubts.tally(()) == ""
