"""docs/reading-results.md tells every finding, and gives an example of each in the words of the program."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/reading-results.md").read_text()
RULES = [*(ROOT / "diskprof/analysis/findings").glob("*.py")]


def strings() -> set[str]:
    """Every text in the rules, adjacent parts joined as Python does."""
    nodes = (node for path in RULES if path.exists() for node in ast.walk(ast.parse(path.read_text())))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def names() -> set[str]:
    """The names that the rules give to findings: the first text of a call that makes one."""
    calls = (
        node
        for path in RULES
        if path.exists()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and node.args
    )
    return {
        call.args[0].value
        for call in calls
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in ("found", "Finding")
        if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
    }


def test_every_finding_is_told_with_an_example() -> None:
    findings = TEXT[TEXT.index("## Findings") :]
    told = re.findall(r"\*\*([a-z]+(?:-[a-z0-9]+)*)\*\*", findings)
    assert len(told) == len(set(told))
    assert names() <= set(told)
    assert len(re.findall(r"^> ", findings, re.MULTILINE)) == len(told)


def test_every_finding_has_the_four_lines_before_its_example() -> None:
    findings = TEXT[TEXT.index("### Doubts") :]
    entries = re.split(r"^(?=\*\*[a-z-]+\*\*)", findings, flags=re.MULTILINE)[1:]
    form = r"\*\*.+\n\n" + "".join(rf"- \*\*{part}:\*\* .+\n" for part in ("Rule", "Threshold", "Exceptions", "Reason"))
    assert [entry for entry in entries if not re.match(form + r"\n> ", entry)] == []


def test_the_examples_are_in_the_words_of_the_program() -> None:
    said = strings()
    for example in re.findall(r"^> (.+)$", TEXT, re.MULTILINE):
        message = example.split(" *")[0]
        # It may begin with a word that the rule puts in, such as IOPS or Bandwidth.
        assert any(message.endswith(text) for text in said if len(text) > 20), message


def test_the_result_that_is_explained_is_one_of_the_program() -> None:
    (shown,) = re.findall(r"^```text\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert shown in (ROOT / "tests/golden/show-first.txt").read_text()
