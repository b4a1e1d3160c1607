"""The shape of a preset file."""

import re
from typing import Annotated, Any

from msgspec import Struct

from diskprof.model.preset import Category, EngineName, Layout, ParameterKind
from diskprof.model.text import clean
from diskprof.presets.files.shape import (
    Read,
    line,
    list_of,
    mapping_of,
    named,
    one_of,
    read_table,
    table_of,
    text,
    truth,
)
from diskprof.presets.limit_text import limit_text
from diskprof.presets.map_text import map_text
from diskprof.presets.steady_text import rounds_text, steady_text

NAME = r"[a-z0-9][a-z0-9_-]{0,39}"
TEST_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
PARAMETER_NAME = r"[a-z][a-z0-9_]{0,31}"
FILE_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"

_LONGEST_VALUE = 200


def scalar(value: Any) -> str:
    """A text, number or truth value as text: true is 1."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError("must be a text, a number, true or false")
    if value != clean(value):
        raise ValueError("contains a control character")
    if len(value) > _LONGEST_VALUE:
        raise ValueError("this is too long")
    return value


def _test_name(value: Any) -> str:
    found: str = _plain_test_name(value)
    if found.startswith("global"):
        raise ValueError("fio takes a name that begins with global for the options of all jobs: choose another")
    return found


def _parameter(value: Any) -> "ParameterEntry":
    return read_table(ParameterEntry, value if isinstance(value, dict) else {"default": value})


def _steady(value: Any) -> str:
    """A table of what makes a test steady as one text."""
    return scalar(steady_text(value) if isinstance(value, dict) else value)


def _table_as_text(key: str, as_text: Read) -> Read:
    """The table of that key as one text."""

    def read(value: Any) -> str:
        if not isinstance(value, dict):
            raise ValueError(f"must be a table: [{key}]")
        return scalar(as_text(value))

    return read


def _files(value: Any) -> Any:
    if isinstance(value, list):
        return _file_names(value)
    if value not in ("own", "shared") and not re.fullmatch(rf"\${PARAMETER_NAME}", text(value)):
        raise ValueError("must be 'own', 'shared', the names of files in a list, or a parameter such as '$files'")
    return value


_NAME = named(NAME, ", no capitals")
_PARAMETER_NAME = named(PARAMETER_NAME, ", no capitals")
_plain_test_name = named(TEST_NAME)
_file_names = list_of(named(FILE_NAME), 1, 64)
_TITLE, _TEXT = line(80), line(2000)
_TARGETS = list_of(text, most=8, or_one=True)
_OPTIONS = mapping_of(scalar)
_LINES = list_of(scalar, 1, 4, or_one=True)


class ParameterEntry(Struct, frozen=True, kw_only=True):
    default: Annotated[str, scalar]
    kind: Annotated[ParameterKind | None, one_of(*ParameterKind)] = None
    summary: Annotated[str, _TEXT] = ""
    choices: Annotated[list[str], list_of(scalar, most=50)] = []
    optional: Annotated[bool, truth] = False


class JobEntry(Struct, frozen=True, kw_only=True):
    name: Annotated[str, _test_name]
    target: Annotated[list[str], _TARGETS] = []
    files: Annotated[str | list[str] | None, _files] = None
    options: Annotated[dict[str, str], _OPTIONS] = {}


class TestEntry(Struct, frozen=True, kw_only=True):
    name: Annotated[str, _test_name]
    title: Annotated[str, _TITLE] = ""
    engine: Annotated[EngineName, one_of(EngineName.FIO, EngineName.IOPING)] = EngineName.FIO
    target: Annotated[list[str], _TARGETS] = []
    files: Annotated[str | list[str] | None, _files] = None
    layout: Annotated[str, scalar] = Layout.FILLED
    steady: Annotated[str, _steady] = ""
    options: Annotated[dict[str, str], _OPTIONS] = {}
    job: Annotated[list[JobEntry], list_of(table_of(JobEntry), most=64)] = []


class ExpectEntry(Struct, frozen=True, kw_only=True):
    test: Annotated[str, text] = ""
    job: Annotated[str, text] = ""
    disk_class: Annotated[str, text] = ""
    metric: Annotated[str, line(64)] = ""
    min: Annotated[str | None, scalar] = None
    max: Annotated[str | None, scalar] = None
    above: Annotated[str | None, scalar] = None
    below: Annotated[str | None, scalar] = None
    base: Annotated[list[str] | None, _LINES] = None
    per_gib: Annotated[list[str] | None, _LINES] = None
    cap: Annotated[str | None, scalar] = None
    when: Annotated[dict[str, list[str]], mapping_of(list_of(scalar, 1, 50, or_one=True), most=4)] = {}
    seconds: Annotated[str, scalar] = "60"


def _tests(value: Any) -> list[TestEntry]:
    if not isinstance(value, list):
        raise ValueError("must be a list: [[test]] begins one")
    found: list[TestEntry] = _one_or_more_tests(value)
    return found


_one_or_more_tests = list_of(table_of(TestEntry), 1, 200)


class PresetFile(Struct, frozen=True, kw_only=True):
    name: Annotated[str, _NAME]
    title: Annotated[str, _TITLE] = ""
    summary: Annotated[str, _TEXT] = ""
    category: Annotated[Category, one_of(*Category)] = Category.OWN
    source: Annotated[str, _TEXT] = ""
    aliases: Annotated[list[str], list_of(_NAME, most=20)] = []
    keywords: Annotated[list[str], list_of(line(120, least=1), most=40)] = []
    parameters: Annotated[dict[str, ParameterEntry], mapping_of(_parameter, _PARAMETER_NAME, 32)] = {}
    targets: Annotated[dict[str, str], mapping_of(_TEXT, _NAME, 8)] = {}
    variants: Annotated[dict[str, dict[str, str]], mapping_of(_OPTIONS, _NAME, 8)] = {}
    sweep: Annotated[dict[str, list[str]], mapping_of(list_of(scalar, 1, 1000), most=32)] = {}
    rounds: Annotated[str, _table_as_text("rounds", rounds_text)] = ""
    limit: Annotated[str, _table_as_text("limit", limit_text)] = ""
    map: Annotated[str, _table_as_text("map", map_text)] = ""
    fio: Annotated[dict[str, str], _OPTIONS] = {}
    ioping: Annotated[dict[str, str], _OPTIONS] = {}
    expect: Annotated[list[ExpectEntry], list_of(table_of(ExpectEntry), most=200)] = []
    precondition: Annotated[list[TestEntry], list_of(table_of(TestEntry), most=8)] = []
    test: Annotated[list[TestEntry], _tests]
