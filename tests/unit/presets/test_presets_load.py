"""A preset file: what it may say, and how what is wrong with it is named: file, line, key."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preset_files import problems, read

from diskprof.model.preset import Category, EngineName, ParameterKind, Preset
from diskprof.presets.files.load import load_file
from diskprof.presets.files.toml_document import LARGEST_FILE
from diskprof.presets.library import shipped_directory
from diskprof.presets.options.allowed import FIO_OPTIONS
from diskprof.presets.resolve import resolve

GOOD = """\
name = "mine"
title = "My test"
category = "mixed"

[parameters]
size = "256m"
runtime = { default = 5, summary = "how long" }

[parameters.depth]
kind = "count"
default = 8
choices = [1, 8, 32]

[fio]
ioengine = "libaio"
size = "$size"
runtime = "$runtime"
time_based = true

[[test]]
name = "one"
options = { rw = "randread", iodepth = "$depth" }

[[test]]
name = "two"
title = "Two jobs"
options.direct = true
[[test.job]]
name = "reader"
options = { rw = "randread" }
[[test.job]]
name = "writer"
options = { rw = "randwrite", bs = "8k", direct = false }

[[test]]
name = "three"
engine = "ioping"
options = { count = 3 }
"""


def test_a_preset_with_everything_in_it() -> None:
    preset = read(GOOD)
    assert isinstance(preset, Preset)
    assert (preset.name, preset.title, preset.category) == ("mine", "My test", Category.MIXED)
    assert not preset.shipped and preset.path == "/home/me/mine.toml"
    assert [(p.name, p.kind, p.default, p.choices) for p in preset.parameters] == [
        ("size", ParameterKind.SIZE, "256m", ()),
        ("runtime", ParameterKind.DURATION, "5", ()),
        ("depth", ParameterKind.COUNT, "8", ("1", "8", "32")),
        ("ioengine", ParameterKind.TEXT, "libaio", FIO_OPTIONS["ioengine"].choices),
        ("sync", ParameterKind.TEXT, "", ("0", "1", "dsync")),
        ("layout", ParameterKind.TEXT, "filled", ("filled", "fresh", "sparse")),
        ("steady", ParameterKind.TEXT, "", ()),
    ]
    one, two, three = preset.tests
    assert dict(one.jobs[0].options)["iodepth"] == "$depth"
    assert one.jobs[0].name == one.name and not one.title
    assert [job.name for job in two.jobs] == ["reader", "writer"]
    assert dict(two.jobs[0].options)["direct"] == "1"
    assert dict(two.jobs[1].options)["direct"] == "0"
    assert dict(two.jobs[1].options)["time_based"] == "1"
    assert three.engine is EngineName.IOPING and three.jobs[0].options == (("count", "3"),)


def test_the_name_of_the_file_is_the_name_of_a_preset_that_has_none() -> None:
    preset = read(GOOD.replace('name = "mine"\n', "", 1))
    assert isinstance(preset, Preset) and preset.name == "mine"


def test_titles_are_harmless_for_a_terminal() -> None:
    preset = read(GOOD.replace("My test", "Mein \\u001b[31mTest\\u202e\\n  für 日本"))
    assert isinstance(preset, Preset)
    assert preset.title == "Mein \ufffd[31mTest\ufffd für 日本"


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "says"),
    [
        # the schema
        ('title = "My test"', 'tittle = "x"', 2, "tittle", "did you mean title?"),
        ('title = "My test"', "title = 7", 2, "title", "must be a text"),
        ('title = "My test"', f'title = "{"x" * 81}"', 2, "title", "too long"),
        ('name = "mine"', 'name = "My Preset"', 1, "name", "no capitals"),
        ('name = "mine"', 'name = "../evil"', 1, "name", "is not a valid name"),
        ('name = "mine"', "name = 3", 1, "name", "must be a text"),
        ('category = "mixed"', 'category = "fast"', 3, "category", "'quick'"),
        ('category = "mixed"', 'aliases = ["ok", "no way"]', 3, "aliases[2]", "is not a valid name"),
        ('category = "mixed"', 'keywords = ["ok", ""]', 3, "keywords[2]", "must not be empty"),
        ('category = "mixed"', 'keywords = "ok"', 3, "keywords", "must be a list"),
        ('category = "mixed"', "sweeps = { bs = [1] }", 3, "sweeps", "did you mean sweep?"),
        ("default = 8", "", 9, "parameters.depth.default", "missing"),
        ("default = 8", "default = [8]", 11, "parameters.depth.default", "must be a text, a number"),
        ("default = 8", "default = 1979-05-27", 11, "parameters.depth.default", "must be a text, a number"),
        ('kind = "count"', 'kind = "counts"', 10, "parameters.depth.kind", "'count'"),
        ('kind = "count"', 'kid = "count"', 10, "parameters.depth.kid", "did you mean kind?"),
        ("[parameters.depth]", "[parameters.Depth]", 9, "parameters.Depth", "is not a valid name"),
        ('size = "256m"', 'sise = "256m"', 6, "parameters.sise", "its kind must be said"),
        ('name = "one"', "", 20, "test[1].name", "missing"),
        ('name = "one"', 'name = "a.b"', 21, "test[1].name", "is not a valid name"),
        ('name = "one"', 'name = "one"\nengin = "fio"', 22, "test[1].engin", "did you mean engine?"),
        ('name = "one"', 'name = "globals"', 21, "test[1].name", "options of all jobs"),
        ('name = "writer"', 'name = "global"', 32, "test[2].job[2].name", "options of all jobs"),
        ('engine = "ioping"', 'engine = "dd"', 37, "test[3].engine", "'fio'"),
        ('engine = "ioping"', 'engine = "kernel"', 37, "test[3].engine", "'fio'"),
        ('name = "writer"', 'nam = "writer"', 32, "test[2].job[2].nam", "did you mean name?"),
        ("options.direct = true", "options = 5", 27, "test[2].options", "must be a table"),
        ("options = { count = 3 }", "options = { count = [3] }", 38, "test[3].options.count", "must be a text, a number"),
        ('"8k"', '"8k\\u0007"', 33, "test[2].job[2].options.bs", "control character"),
        # what a schema cannot say
        ("default = 8", "default = 7", 9, "parameters.depth", "1, 8, 32"),
        ("default = 8", 'default = "8k"', 9, "parameters.depth", "not a whole number"),
        ('size = "256m"', 'size = "256 apples"', 6, "parameters.size", "not a size"),
        ('choices = [1, 8, 32]', 'choices = ["x"]', 9, "parameters.depth", "not a whole number"),
        ('name = "two"', 'name = "one"', 25, "test[2].name", "two tests named one"),
        ('name = "writer"', 'name = "reader"', 28, "test[2].job", "same name"),
        ('ioengine = "libaio"', 'ioengine = "exec"', 15, "fio.ioengine", "runs a program"),
        ('ioengine = "libaio"', 'exec_prerun = "rm -rf /"', 15, "fio.exec_prerun", "runs a program"),
        ("time_based = true", "time_base = true", 18, "fio.time_base", "time_based"),
        ("time_based = true", 'filename = "/etc/passwd"', 18, "fio.filename", "the target is chosen"),
        ('iodepth = "$depth"', 'iodepth = "$dept"', 22, "test[1].options.iodepth", "Did you mean $depth?"),
        ('iodepth = "$depth"', 'iodepth = "$"', 22, "test[1].options.iodepth", "$$ for a dollar"),
        ('iodepth = "$depth"', 'iodepth = "$$8"', 22, "test[1].options.iodepth", "not a whole number"),
        ('iodepth = "$depth"', "iodepth = 8", 9, "parameters.depth", "no option uses"),
        ("options.direct = true", 'options.bs = "4x"', 27, "test[2].options.bs", "not a size"),
        ('bs = "8k"', 'bs = "1g"', 24, "test[2]", "less than one request"),
        ('bs = "8k", direct = false', "bs = 1000", 24, "test[2]", "multiples of 512"),
        ('runtime = "$runtime"', 'ramp_time = "$runtime"', 20, "test[1]", "never ends"),
        ("options = { count = 3 }", "options = { iodepth = 3 }", 38, "test[3].options.iodepth", "not an allowed option"),
        ('engine = "ioping"', 'engine = "ioping"\njob = [{ name = "a" }, { name = "b" }]', 38, "test[3].job", "one job"),
        # syntax
        ('title = "My test"', "title = My test", 2, "", "not TOML"),
        ('title = "My test"', 'title = "My test', 2, "", "not TOML"),
        ('title = "My test"', 'name = "again"', 2, "", "not TOML"),
        ("options = { count = 3 }", "options = {", 38, "", "not TOML"),
        ("default = 8", f"default = {'9' * 5000}", 11, "", "too long"),
        ("default = 8", f"default = {'[' * 5000}", None, "", "too deeply"),
        ("default = 8", "a" + ".b" * 5000 + " = 1", 11, "", "more than 16 parts"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line_and_key(
    old: str, new: str, line: int | None, key: str, says: str
) -> None:
    assert old in GOOD
    problem = problems(GOOD.replace(old, new, 1))[0]
    assert says in problem.message, problem
    assert (problem.line, problem.key) == (line, key), problem
    assert str(problem).startswith(f"/home/me/mine.toml:{line}: " if line else "/home/me/mine.toml: ")
    assert "pydantic" not in str(problem) and "\n" not in str(problem) and len(str(problem)) < 600


def test_every_wrong_key_is_named_not_only_the_first() -> None:
    text = GOOD.replace('title = "My test"', "title = 1").replace('rw = "randwrite"', 'rw = ["randwrite"]')
    assert [(problem.line, problem.key) for problem in problems(text)] == [
        (2, "title"),
        (33, "test[2].job[2].options.rw"),
    ]
    text = GOOD.replace('"randwrite"', '"randwriet"').replace("count = 3", "cuont = 3")
    assert [problem.key for problem in problems(text)] == ["test[2].job[2].options.rw", "test[3].options.cuont"]


def test_wrong_parameters_do_not_hide_wrong_options() -> None:
    text = GOOD.replace('size = "256m"', 'sise = "256m"\nwidth = 3').replace('"randwrite"', '"randwriet"')
    text = text.replace("default = 8", "default = 7")
    found = [problem.key for problem in problems(text)]
    # $size is used below, but it is the parameter's name that is wrong; $depth is told of where it stands.
    assert found[:3] == ["parameters.sise", "parameters.width", "parameters.depth"]
    assert "test[2].job[2].options.rw" in found
    assert not any("iodepth" in key for key in found)


def test_a_shared_option_that_is_wrong_is_named_once_where_it_stands() -> None:
    found = problems(GOOD.replace("libaio", "libaoi"))
    assert [(problem.line, problem.key) for problem in found] == [(15, "fio.ioengine")]


def test_what_is_no_text() -> None:
    assert problems(b"name = 'x'\n\xff\xfe")[0].line == 2
    assert "UTF-8" in problems(b"\xff")[0].message
    assert "larger" in problems(b"#" * (LARGEST_FILE + 1))[0].message
    assert problems(b"")[0].key == "test"
    assert isinstance(read(b"\xef\xbb\xbf" + GOOD.encode()), Preset)
    assert isinstance(read(GOOD.replace("\n", "\r\n")), Preset)


def test_what_is_no_file(tmp_path: Path) -> None:
    for name in ("nothing.toml", "directory.toml", "pipe.toml", "loop.toml"):
        path = tmp_path / name
        match name.partition(".")[0]:
            case "directory":
                path.mkdir()
            case "pipe":
                os.mkfifo(path)
            case "loop":
                path.symlink_to(path)
        found = load_file(path, shipped=False)
        assert isinstance(found, tuple) and len(found) == 1, name
        assert found[0].path == str(path) and found[0].preset == path.stem


def test_a_problem_tells_which_preset_is_lost() -> None:
    assert problems(GOOD.replace("libaio", "exec"))[0].preset == "mine"
    assert problems("name = [")[0].preset == "mine"
    assert problems("name = []")[0].preset == "mine"


@given(st.binary(max_size=400))
def test_any_bytes_are_a_preset_or_problems(data: bytes) -> None:
    found = read(data)
    assert isinstance(found, Preset) or found


ROOT_KEYS = (
    "name",
    "title",
    "category",
    "parameters",
    "fio",
    "ioping",
    "test",
    "job",
    "options",
    "aliases",
    "keywords",
    "size",
    "kind",
)
PIECES = [
    *(f"[{key}]\n" for key in ROOT_KEYS),
    *(f"[[{key}]]\n" for key in ROOT_KEYS),
    *(f"{key} = " for key in ROOT_KEYS),
    *("1\n", "'x'\n", '"$size"\n', "true\n", "[]\n", "{}\n", "nan\n", "-inf\n", "[1, 'a', {}]\n", "{ a = {} }\n", "1979-05-27\n"),
    *("\x00", "\x1b[31m", "\ud7ff", '"""', "'''", "$", "$$", "\\", ".", "=", "#", "\n", "9" * 5000, "0x" + "f" * 5000),
]  # fmt: skip


@settings(max_examples=300)
@given(st.data())
def test_a_good_file_with_anything_changed_is_a_preset_or_problems(data: Any) -> None:
    text = GOOD
    for _ in range(data.draw(st.integers(1, 4))):
        words = list(re.finditer(r"[\w$]+|[^\w\s]|\n", text))
        if not words:
            break
        word = data.draw(st.sampled_from(words))
        piece = data.draw(st.sampled_from(PIECES) | st.text(max_size=6))
        text = text[: word.start()] + piece + text[word.end() :]
    found = read(text.encode("utf-8", "surrogatepass"))
    if isinstance(found, Preset):
        resolve(found, {})
    else:
        assert all(problem.message and "\x1b" not in str(problem) for problem in found)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(ROOT_KEYS), inner),
    )
)
def test_any_shape_of_document_is_a_preset_or_problems(value: Any) -> None:
    lines = [f"{key} = {toml(inner)}" for key, inner in value.items()] if isinstance(value, dict) else []
    assert read("\n".join(lines))


def toml(value: Any) -> str:
    match value:
        case None:
            return "true"
        case int():
            return str(value)
        case str():
            return '"' + "".join(f"\\U{ord(char):08x}" for char in value if not 0xD800 <= ord(char) < 0xE000) + '"'
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case _:
            return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"


def test_shipped_files_pass_the_same_gate() -> None:
    for path in shipped_directory().glob("*.toml"):
        assert isinstance(load_file(path, shipped=True), Preset), path
