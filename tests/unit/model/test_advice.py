"""Advice: each surface says it in its own words, from where it is made to where it is read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from diskprof.model.advice import Advice, joined, on_command_line, on_screen
from diskprof.model.errors import DiskprofError
from diskprof.model.preset import Preset
from diskprof.presets.library import load_library

_SOURCE = Path(__file__).parents[3] / "diskprof"


_OPTION = re.compile(
    r"--(set|force|allow-write|overwrite|confirm|wait|concurrent)|`diskprof (devices|presets|runs|clean|delete)|: diskprof \w"
)
_ROOMS = ("analysis", "devices", "engines", "runner", "store")
"""The rooms whose words the screen says too."""

_FOR_COMMANDS = {
    "runner/gate.py": "`diskprof runs` lists the runs with their tags.",
    "runner/leftovers.py": "). List and remove: diskprof clean",
    "runner/plan/places.py": "For example: diskprof run ",
}
"""What the screen never says."""


def _advices() -> Iterator[tuple[str, str]]:
    """Where an advice stands, and the words of it that a screen says, as far as they stand there."""
    for path in sorted(_SOURCE.rglob("*.py")):
        if path == _SOURCE / "model/advice.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Advice":
                words = [part.value for part in ast.walk(node.args[1]) if isinstance(part, ast.Constant)]
                yield f"{path.relative_to(_SOURCE)}:{node.lineno}", "".join(map(str, words))


def test_what_a_screen_says_names_no_option_and_no_command() -> None:
    found = list(_advices())
    assert len(found) > 15
    assert [(where, words) for where, words in found if "--" in words or "`diskprof" in words] == []


def test_whatever_names_an_option_or_a_command_that_the_screen_has_in_its_own_way_says_that_too() -> None:
    said = [found for room in _ROOMS for path in (_SOURCE / room).rglob("*.py") for found in _said_once(path)]
    assert said == []


def _said_once(path: Path) -> Iterator[tuple[str, str]]:
    """Texts outside of advices: neither documentation nor the arguments of other programs."""
    tree = ast.parse(path.read_text())
    aside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Name) and call.func.id == "Advice":
            aside |= {id(part) for part in ast.walk(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in aside:
            where = str(path.relative_to(_SOURCE))
            if _OPTION.search(node.value) and _FOR_COMMANDS.get(where) != node.value:
                yield f"{where}:{node.lineno}", node.value


def test_an_advice_is_said_by_each_in_its_own_words() -> None:
    advice = Advice("Smaller: --set size=1g", "Smaller: edit the size.")
    assert (on_command_line(advice), on_screen(advice)) == ("Smaller: --set size=1g", "Smaller: edit the size.")
    assert (on_command_line("Wait."), on_screen("Wait.")) == ("Wait.", "Wait.")


def test_several_are_joined_on_both_sides() -> None:
    both = joined(("Wait.", Advice("`diskprof clean` tries again.", "The Run screen removes it.")))
    assert on_command_line(both) == "Wait. `diskprof clean` tries again."
    assert on_screen(both) == "Wait. The Run screen removes it."
    assert joined(("Wait.", "Try again."), "\n") == "Wait.\nTry again."


def test_an_error_keeps_both_until_it_is_read() -> None:
    error = DiskprofError("No.", Advice("diskprof stop k3f7p2qa", "Stop it first."))
    assert str(error) == "No.\ndiskprof stop k3f7p2qa"
    assert on_screen(error.hint) == "Stop it first."
    assert error.kept == "No.\nStop it first."


def test_what_a_preset_says_of_itself_names_no_option_of_the_command_line(tmp_path: Path) -> None:
    presets = load_library(tmp_path).presets
    said = [(preset.name, text) for preset in presets for text in _texts(preset)]
    assert len(said) > 100
    assert [(name, text) for name, text in said if "--" in text or "diskprof " in text] == []


def _texts(preset: Preset) -> tuple[str, ...]:
    """What the screen shows of a preset in its own words."""
    parts = (*preset.parameters, *preset.targets)
    return (preset.title, preset.summary, *(part.summary for part in parts), *(test.title for test in preset.tests))
