"""What speaks against relying on a run, in a few words."""

import re
from dataclasses import replace
from pathlib import Path

from handmade import fio
from handmade import run as made

import diskprof.analysis
from diskprof.model.run import Finding, Weight, doubts_of
from diskprof.reports.content import doubts


def found(name: str, weight: Weight = Weight.DOUBT, test: str = "") -> Finding:
    return Finding(name, weight, "message", "evidence", "advice", test)


def test_every_rule_of_a_doubt_has_its_words() -> None:
    folder = Path(diskprof.analysis.__file__).parent / "findings"
    source = "\n".join(path.read_text() for path in sorted(folder.glob("*.py")))
    rules = set(re.findall(r'"([a-z-]+)",\s+Weight\.DOUBT', source))
    assert len(rules) > 15
    assert rules <= doubts._SHORT.keys()


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


def test_findings_are_counted_by_weight() -> None:
    weights = (Weight.NOTE, Weight.DOUBT, Weight.NOTE, Weight.LIMIT)
    assert doubts.tally(found("x", weight) for weight in weights) == "1 doubt, 1 limit, 2 notes"
    assert doubts.tally(()) == ""
