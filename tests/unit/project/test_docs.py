"""What the documents say is there: links, commands, targets and the numbers of facts."""

import re
import shlex
from itertools import takewhile
from pathlib import Path

import click
import pytest

from diskprof.cli.main import main

REPOSITORY = Path(__file__).parents[3]
DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")])
SOURCES = sorted(
    path for part in ("diskprof", "tests", "scripts", "benchmarks") for path in (REPOSITORY / part).rglob("*.py")
)


def facts(text: str) -> set[int]:
    """The numbers that `F12` and `F18 to F20` name."""
    found = {int(number) for number in re.findall(r"\bF(\d{1,2})\b", text)}
    for first, last in re.findall(r"\bF(\d{1,2}) to F(\d{1,2})\b", text):
        found |= set(range(int(first), int(last) + 1))
    return found


def test_every_fact_that_is_cited_is_told() -> None:
    told = {int(n) for n in re.findall(r"^\| \*\*F(\d+)\*\*", (REPOSITORY / "docs/facts.md").read_text(), re.MULTILINE)}
    assert told == set(range(1, max(told) + 1))
    for path in (*SOURCES, *DOCUMENTS):
        # F1 to F12 are keys too.
        comments = " ".join(re.findall(r"\([^()]*\bF\d{1,2}\b[^()]*\)", path.read_text()))
        assert facts(comments) <= told, path


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_within_the_repository_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        if not re.match(r"[a-z]+:|#", target):
            assert (document.parent / target.partition("#")[0]).exists(), target


def test_every_command_and_option_that_a_document_types_exists() -> None:
    for document in DOCUMENTS:
        fenced = "".join(re.findall(r"^```sh.*?$(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL))
        for line in re.findall(r"^diskprof ([a-z].*)$", fenced, re.MULTILINE):
            group, context = main, main.make_context("diskprof", [], resilient_parsing=True)
            words = [*shlex.split(line, comments=True), "|"]
            words = words[: words.index("|")]
            while isinstance(group, click.Group):
                command = group.get_command(context, words[0]) if words else None
                if command is None:
                    break
                group, words = command, words[1:]
            assert group is not main, f"{document.name}: {line}"
            if not group.context_settings.get(
                "allow_interspersed_args", True
            ):  # What follows the host is another command.
                words = list(takewhile(lambda word: word.startswith("-"), words))
            options = {name for param in group.params for name in (*param.opts, *param.secondary_opts)}
            typed = {word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)}
            assert typed <= options, f"{document.name}: {line}"


def test_every_command_has_an_example() -> None:
    text = (REPOSITORY / "docs/commands.md").read_text()
    context = main.make_context("diskprof", [], resilient_parsing=True)
    for name in main.list_commands(context):
        assert re.search(rf"^diskprof {name}\b", text, re.MULTILINE), name


def test_make_targets_that_a_document_names_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    for document in DOCUMENTS:
        text = document.read_text()
        named = set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE)) | set(re.findall(r"`make ([a-z-]+)", text))
        assert named <= targets, document.name


def test_sources_name_only_documents_that_exist() -> None:
    for path in SOURCES:
        for name in re.findall(r"\bdocs/[a-z-]+\.md\b", path.read_text()):
            assert (REPOSITORY / name).exists(), f"{path.name} names {name}"


def test_the_architecture_tells_every_part() -> None:
    text = (REPOSITORY / "docs/architecture.md").read_text()
    parts = {path.parent.name for path in (REPOSITORY / "diskprof").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `([a-z]+)/` \|", text, re.MULTILINE)) == parts
    for names in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text):
        assert (REPOSITORY / "diskprof" / names).exists() or (REPOSITORY / names).exists(), names
