"""The words that CONTRIBUTING's table replaces do not come back into what people read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "share/man/man1/diskprof.1")


def _rows() -> list[list[str]]:
    table = CONTRIBUTING.split("\n## Words\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[1:]]


def banned() -> list[str]:
    return [phrase for *_, phrases in _rows() for phrase in phrases.split("; ")]


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    """Text of a module that may be shown: no docstrings; of f-strings the fixed parts."""
    tree = ast.parse(path.read_text())
    aside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in aside:
            yield node.lineno, node.value


def _found(text: str) -> list[str]:
    text = " ".join(text.split()).casefold()
    return [phrase for phrase in banned() if re.search(rf"(?<!\w){re.escape(phrase.casefold())}", text)]


def test_the_glossary_says_what_to_write_instead() -> None:
    assert 40 <= len(_rows()) <= 60
    assert all(len(row) == 3 and all(row) for row in _rows())


def test_what_is_shown_has_none_of_the_banned_words() -> None:
    found = [
        (f"{path.relative_to(ROOT)}:{line}", phrases)
        for path in sorted((ROOT / "diskprof").rglob("*.py"))
        for line, text in _strings(path)
        if (phrases := _found(text))
    ]
    found += [
        (preset.name, phrases)
        for preset in (ROOT / "presets").glob("*.toml")
        if (phrases := _found(preset.read_text()))
    ]
    assert found == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_and_help_have_none_of_the_banned_words(path: Path) -> None:
    paragraphs = path.read_text().replace("\\-", "-").split("\n\n")
    assert [(paragraph[:60], phrases) for paragraph in paragraphs if (phrases := _found(paragraph))] == []
