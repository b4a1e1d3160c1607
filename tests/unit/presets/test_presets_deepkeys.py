import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.presets.files.deepkeys import MOST_PARTS, deep_key_line

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
def test_a_deep_key_is_found_in_its_line(text: str) -> None:
    assert deep_key_line(text) == 2 + text.startswith('x = """')


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
    assert tomllib.loads(text) is not None
    assert deep_key_line(text) is None


@given(st.text("ab.'\"\\#= \n[]", max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    line = deep_key_line(text)
    assert line is None or 1 <= line <= text.count("\n") + 1
