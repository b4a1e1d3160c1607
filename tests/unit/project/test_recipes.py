"""The recipes of CONTRIBUTING.md name files that are there, and in them what is to be copied."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text().partition("## Recipes\n")[2].partition("\n## ")[0]
STEPS = [" ".join(step.split()) for step in re.findall(r"^\d+\. (.*\n(?:   .*\n)*)", TEXT, re.MULTILINE)]


def paths_in(step: str) -> list[str]:
    return [word for word in re.findall(r"`([^` ]+)`", step) if "/" in word or word == "pyproject.toml"]


def test_every_recipe_has_steps() -> None:
    recipes = re.findall(r"^\*\*.*\n\n(?=1\. )", TEXT, re.MULTILINE)
    assert len(recipes) == TEXT.count("\n**") >= 8
    assert len(STEPS) >= 3 * len(recipes) - 2


def test_every_file_that_a_recipe_names_exists() -> None:
    named = [path for step in STEPS for path in paths_in(step)]
    assert named
    assert [path for path in named if not (REPOSITORY / path).exists()] == []


def test_what_is_to_be_copied_is_in_the_file_that_is_named() -> None:
    for step in STEPS:
        for name, path in re.findall(r"((?:`[^` ]+`(?:, | and | or ))*`[^` ]+`) (?:in|of) `([^` ]+/[^` ]+)`", step):
            text = (REPOSITORY / path).read_text()
            for word in re.findall(r"`([^`]+)`", name):
                assert word in text, (word, path)


def test_every_command_in_a_recipe_starts_something_that_is_there() -> None:
    for command in re.findall(r"`([^`]* [^`]*)`", TEXT):
        for word in command.split():
            if word.endswith(".py"):
                assert (REPOSITORY / word).exists(), command
