"""The lines of keys, held against what tomllib itself reads."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from diskprof.presets.files.positions import DEEPEST, KeyPath, key_lines, line_of

DOCUMENT = '''# a comment with [brackets] = and "quotes
name = "x" # [no.table]
"quoted key".'lit eral'.bare = 1
text = """
[not.a.table]
key = "no key"
two quotes "" and \\""" three
end"""
raw = \'\'\'
x = 'y'
it's''\'\'\'
after = 1979-05-27 07:32:00

[parameters]
size = "1g"
runtime = { default = "4s", summary = "a, b = c # no comment", "choices" = [
  "1s", # ]
  "4s",
] }

[parameters.depth]
kind = "count"

[[test]]
name = "one"
options.bs = "4k"
options."rw" = "read"

[[test]]
name = "two"
[[test.job]]
name = "a"
[[test.job]]
name = "b"
[test.job.options]
bs = "8k"
"caf\\u00e9" = 1
'''


def test_a_document_with_everything_in_it() -> None:
    tomllib.loads(DOCUMENT)
    lines = key_lines(DOCUMENT)
    texts = DOCUMENT.split("\n")
    for path, beginning in {
        ("name",): 'name = "x"',
        ("quoted key", "lit eral", "bare"): '"quoted key"',
        ("text",): 'text = """',
        ("raw",): "raw =",
        ("after",): "after =",
        ("parameters", "size"): "size =",
        ("parameters", "runtime", "summary"): "runtime =",
        ("parameters", "runtime", "choices"): "runtime =",
        ("parameters", "runtime", "choices", 1): '  "4s"',
        ("parameters", "depth"): "[parameters.depth]",
        ("parameters", "depth", "kind"): "kind =",
        ("test", 0, "options", "bs"): "options.bs",
        ("test", 0, "options", "rw"): 'options."rw"',
        ("test", 1, "name"): 'name = "two"',
        ("test", 1, "job", 0, "name"): 'name = "a"',
        ("test", 1, "job", 1, "name"): 'name = "b"',
        ("test", 1, "job", 1, "options", "bs"): 'bs = "8k"',
        ("test", 1, "job", 1, "options", "café"): '"caf',
    }.items():
        assert texts[lines[path] - 1].startswith(beginning), path
    assert {part for path in lines for part in path} >= {"choices", "kind"}
    assert ("not", "a", "table") not in lines and ("key",) not in lines


def test_windows_line_ends_count_once() -> None:
    assert key_lines("a = 1\r\n\r\nb = '''x\r\ny'''\r\nc = 2\r\n") == {("a",): 1, ("b",): 3, ("c",): 5}


def test_the_nearest_table_answers_for_a_key_that_is_not_there() -> None:
    lines = key_lines("[[test]]\nname = 'x'\n[[test]]\nengine = 'fio'\n")
    assert line_of(lines, ("test", 1, "name")) == 3
    assert line_of(lines, ("nothing",)) is None


keys = st.text(min_size=1, max_size=5) | st.sampled_from(["a", "b", "a-b", "1", "é", '"', "\\", "]", ".", "#"])
scalars = (
    st.integers(-(2**60), 2**60)
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"), max_size=12)
    | st.sampled_from(['"""', "'''", "\\", "a\nb = 1\n[c]\n", "#", "]", "}"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def quoted(text: str) -> str:
    # json's escapes are TOML's, but for surrogate pairs and DEL.
    plain = all(char.isprintable() and char not in '"\\' for char in text)
    return f'"{text}"' if plain else '"' + "".join(f"\\U{ord(char):08x}" for char in text) + '"'


def written(value: Any, draw: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            if (
                "'''" not in value
                and not value.endswith("'")
                and value.replace("\n", "").isprintable()
                and draw(st.booleans())
            ):
                return f"'''\n{value}'''"
            return quoted(value)
        case list():
            gap = draw(st.sampled_from([" ", "\n", " # ] }\n"]))
            return f"[{gap}" + f",{gap}".join(written(item, draw) for item in value) + f"{gap}]"
        case dict():
            return "{ " + ", ".join(f"{quoted(key)} = {written(item, draw)}" for key, item in value.items()) + " }"
    raise AssertionError(value)


@st.composite
def documents(draw: Any) -> str:
    """TOML text: top-level keys, then tables and arrays of tables."""
    lines = []
    # The names of the tables are longer than any key: to give one of them another value is no TOML.
    for key, value in draw(st.dictionaries(keys, values, max_size=3)).items():
        lines.append(f"{quoted(key)} = {written(value, draw)}")
    for number in range(draw(st.integers(0, 4))):
        header = draw(
            st.sampled_from(
                ["[[tables]]", "[[others]]", f"[section{number}]", f"[section{number}.'y z']", "[[ 'tables' ]]"]
            )
        )
        lines.append(header + draw(st.sampled_from(["", " # [no]"])))
        for key, value in draw(st.dictionaries(keys, values, max_size=3)).items():
            lines.append(f"  {quoted(key)} = {written(value, draw)}")
    return draw(st.sampled_from(["\n", "\n\n"])).join(lines)


def paths_of(value: Any, path: KeyPath = ()) -> set[KeyPath]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = {path} if path else set()
    for key, item in items:
        found |= paths_of(item, (*path, key))
    return found


@given(documents())
def test_every_key_of_any_document_has_a_line_and_nothing_else_has(text: str) -> None:
    document = tomllib.loads(text)
    assert set(key_lines(text)) == {path for path in paths_of(document) if len(path) <= DEEPEST}


@given(st.text())
def test_text_that_is_no_toml_does_no_harm(text: str) -> None:
    lines = key_lines(text)
    assert all(1 <= line <= text.count("\n") + text.count("\r") + 1 for line in lines.values())


def test_deep_nesting_does_no_harm() -> None:
    key_lines("a = " + "[" * 100_000)
    key_lines("a" + ".b" * 100_000 + " = 1")
