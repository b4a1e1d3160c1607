"""A TOML file is a document or none for a reason; the lines of its keys, held against what tomllib itself reads."""

import tomllib
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.presets.files.toml_document import LARGEST_FILE, MOST_PARTS, NotToml, TomlDocument, read_toml
from diskprof.presets.problem import KeyPath

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


def read(text: str) -> TomlDocument:
    return read_toml(text.encode())


def key_lines(text: str) -> dict[KeyPath, int]:
    return read(text).lines


def test_a_document_with_everything_in_it() -> None:
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
    document = read("[[test]]\nname = 'x'\n[[test]]\nengine = 'fio'\n")
    assert document.line_of(("test", 1, "name")) == 3
    assert document.line_of(("nothing",)) is None


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
    assert set(key_lines(text)) == {path for path in paths_of(document) if len(path) <= MOST_PARTS}


@given(st.text("ab.'\"\\#= ,{}\n[]", max_size=200) | st.text())
def test_any_text_is_a_document_or_none_for_a_reason(text: str) -> None:
    end = text.count("\n") + 1
    try:
        lines = read_toml(text.encode("utf-8", "surrogatepass")).lines
    except NotToml as error:
        assert error.message and (error.line is None or 1 <= error.line <= end)
    else:
        assert all(1 <= line <= end for line in lines.values())


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a" + ".b" * 50_000 + " = 1",
        "".join(f"a{n} = {'[' * 80}{']' * 80}\n" for n in range(700)),
        "a = " + "{a=" * 80 + "1" + "}" * 80,
        "".join(f"[a{n}.'b'.c.d.e.f.g.h.i.j.k.l.m.n.o]\nx.y.z = 1\n" for n in range(2000)),
        "[[a]]\n[[a.b]]\n" * 7000,
        "a = [" + "1," * 60_000 + "]",
        "a = '''" + "\n[x]" * 30_000 + "'''",
        "a = '''" + "''\n" * 40_000,
        'a = """' + '\\"\n' * 40_000,
        '"' * 100_000,
        "'" * 100_000,
    ],
)
def test_what_is_deep_or_long_does_no_harm(text: str) -> None:
    """No step takes the square of the text's length: it would be minutes and gigabytes."""
    with suppress(NotToml):
        assert len(read(text).lines) < LARGEST_FILE


DEEP = "a" + ".b" * MOST_PARTS


@pytest.mark.parametrize(
    "text",
    [
        f"x = 1\n{DEEP} = 1",
        f"x = 1\n[{DEEP}]",
        'x = """\n"""\n' + "a" + ' . "b.c"' * MOST_PARTS + " = 1",
        "x = 1 # it's\n" + "a" + ".'b'" * MOST_PARTS + " = 1",
        f'# """\n{DEEP} = 1\n# """',
        f"x = '\\'\n{DEEP} = 1",
    ],
)
def test_a_key_of_many_parts_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(NotToml, match="more than 16 parts") as caught:
        read(text)
    assert caught.value.line == 2 + text.startswith('x = """')


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".b" * (MOST_PARTS - 1) + " = 1",
        f'source = "{DEEP}"',
        f"source = '{DEEP}' # {DEEP}",
        f'source = """\n\\"""{DEEP}\n"""\nx = 1',
        f"source = '''\n{DEEP}'''",
        "",
    ],
)
def test_what_stands_in_strings_and_comments_is_no_key(text: str) -> None:
    assert read(text).table == tomllib.loads(text)
