"""Every promise of docs/safety.md has a footnote with tests, and every test that it names is there."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
TEXT = (REPOSITORY / "docs/safety.md").read_text()
NOTES = dict(re.findall(r"^\[\^(\d+)\]: (.+)$", TEXT, re.MULTILINE))
"""The footnotes with tests, by number; those with facts have names."""


def promises() -> list[str]:
    """Every list item, but for the first commands and what the guard cannot see."""
    sections = re.split(r"^##+ ", TEXT, flags=re.MULTILINE)
    return [
        line
        for section in sections
        if not section.startswith(("Writing to a raw device", "What it cannot see"))
        for line in section.splitlines()
        if line.startswith("- ")
    ]


def test_every_promise_names_a_test() -> None:
    assert len(promises()) > 80
    named = [re.search(r"\[\^(\d+)\]:?$", promise) for promise in promises()]
    assert [note[1] if note else None for note in named] == list(NOTES)
    for note in NOTES.values():
        assert re.fullmatch(r"`test_\w+\.py::test_\w+`(, `test_\w+\.py::test_\w+`)*", note), note


@pytest.mark.parametrize(("file", "name"), sorted(set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", TEXT))))
def test_every_test_that_is_named_exists(file: str, name: str) -> None:
    (path,) = (REPOSITORY / "tests").rglob(file)
    assert re.search(rf"^(async )?def {name}\(", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "pattern",
    [
        *("real/test_guard_*.py", "real/test_fault_*.py", "real/test_kill_*.py", "real/test_power_*.py"),
        *("vm/test_guard.py", "vm/test_power.py", "vm/test_suspend.py"),
    ],
)
def test_every_test_of_the_guard_and_of_faults_holds_a_promise(pattern: str) -> None:
    for path in (REPOSITORY / "tests").glob(pattern):
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE):
            assert f"{path.name}::{name}`" in TEXT, f"{path.name}::{name}"
