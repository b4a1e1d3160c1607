"""Every promise of docs/safety.md names a test, and every test that it names is there."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
TEXT = (REPOSITORY / "docs/safety.md").read_text()
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| Promise")]


def test_every_promise_names_a_test() -> None:
    assert len(ROWS) > 30
    for row in ROWS:
        assert "::test_" in row.rstrip("| ").rpartition("|")[2], row


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
