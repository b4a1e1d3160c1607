"""The configuration file: any bytes give settings and problems, and what is wrong is named by file, line and key."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diskprof.config.described import DESCRIBED, example
from diskprof.config.fields import ConfigFile
from diskprof.config.file import config_path, load_config, parse_config
from diskprof.config.settings import TEXTUAL_THEMES, Charts, Configuration, Settings, SlowLink
from diskprof.model.text import clean
from diskprof.presets.files.toml_document import LARGEST_FILE

PATH = Path("/home/me/.config/diskprof/config.toml")


def parse(text: str) -> Configuration:
    return parse_config(text.encode(), PATH)


def test_without_a_file_everything_is_a_default(tmp_path: Path) -> None:
    found = load_config(tmp_path / "config.toml")
    assert (found.exists, found.settings, found.problems) == (False, Settings(), ())


def test_what_the_file_says_holds_and_its_line_is_known() -> None:
    found = parse(
        'theme = "light"\nmouse = false\n\nslow_link = true\nrefresh = 2\ncharts = "blocks"\nstore = "/data/runs.db"\n'
        '[keys]\nrun.start = "f5"\n"list.down" = ["down", "n", ","]\n'
    )
    assert found.problems == ()
    said = found.settings
    assert (said.theme, said.mouse, said.ascii, said.slow_link) == ("light", False, False, SlowLink.ON)
    assert (said.refresh, said.charts, said.store) == (2.0, Charts.BLOCKS, Path("/data/runs.db"))
    assert said.keys == {"run.start": ("f5",), "list.down": ("down", "n", "comma")}
    assert found.lines == {
        "theme": 1,
        "mouse": 2,
        "slow_link": 4,
        "refresh": 5,
        "charts": 6,
        "store": 7,
        "keys.run.start": 9,
        "keys.list.down": 10,
    }


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ('\ntheme = "drak"', 2, "theme", "auto, dark, light, 16"),
        ('mouse = "no"', 1, "mouse", "true or false"),
        ("ascii = 1", 1, "ascii", "true or false"),
        ('charts = "dots"', 1, "charts", "auto, braille, blocks"),
        ('slow_link = "yes"', 1, "slow_link", 'true, false or "auto"'),
        ("refresh = 60", 1, "refresh", "from 0.1 to 4"),
        ("refresh = nan", 1, "refresh", "from 0.1 to 4"),
        ('refresh = "often"', 1, "refresh", "from 0.1 to 4"),
        ('preset = "Quick check"', 1, "preset", "not a valid preset name"),
        ('store = "runs.db"', 1, "store", "absolute path"),
        ("store = 3", 1, "store", "text, in quotes"),
        ("mosue = true", 1, "mosue", "did you mean mouse?"),
        ("zzz = true", 1, "zzz", "there are theme, mouse"),
        ("keys = 3", 1, "keys", "must be a table"),
        ("[keys]\n\nrun.start = 5", 3, "keys.run.start", "a key in quotes"),
        ('[keys]\n"run.start" = []', 2, "keys.run.start", "a key in quotes"),
        ("theme = ", 1, "", "not TOML"),
    ],
)
def test_a_mistake_is_named_by_line_and_key_with_what_is_allowed(text: str, line: int, key: str, words: str) -> None:
    found = parse(text)
    (problem,) = found.problems
    assert (problem.path, problem.line, problem.key) == (str(PATH), line, key)
    assert words in problem.message
    assert found.settings == Settings()


def test_a_mistake_costs_no_other_setting() -> None:
    found = parse('theme = "light"\nrefresh = -1\n[keys]\nlive.stop = 7\nlive.zoom = "Z"\n')
    assert [problem.key for problem in found.problems] == ["refresh", "keys.live.stop"]
    assert (found.settings.theme, found.settings.refresh) == ("light", 2.0)
    assert found.settings.keys == {"live.zoom": ("Z",)}


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"x" * (LARGEST_FILE + 1), b"a" + b".a" * 400 + b" = 1", b"a = " + b"[" * 5000]
)
def test_what_is_no_configuration_is_one_problem(data: bytes) -> None:
    found = parse_config(data, PATH)
    assert len(found.problems) == 1
    assert found.settings == Settings()


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    loop = tmp_path / "config.toml"
    loop.symlink_to(loop)
    found = load_config(loop)
    assert found.settings == Settings()


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({"XDG_CONFIG_HOME": "/etc/mine"}, "/etc/mine/diskprof/config.toml"),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/home/me"}, "/home/me/.config/diskprof/config.toml"),
        ({"HOME": "/home/me"}, "/home/me/.config/diskprof/config.toml"),
    ],
)
def test_it_lies_where_xdg_says(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], path: str) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert config_path() == Path(path)


_VALUES = st.one_of(
    st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text(), max_size=3), st.dates().map(str)
)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(char):08x}" for char in value if not 0xD800 <= ord(char) < 0xE000) + '"'
    return str(value)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from([*ConfigFile.model_fields, "other"]), _VALUES), st.dictionaries(st.text(), _VALUES)
)
def test_any_values_give_settings_and_problems(top: dict[str, object], keys: dict[str, object]) -> None:
    lines = [f"{name} = {_toml(value)}" for name, value in top.items() if name != "keys"]
    lines += ["[keys]", *(f"{_toml(name)} = {_toml(value)}" for name, value in keys.items())]
    found = parse("\n".join(lines))
    assert isinstance(found.settings, Settings)
    assert all(str(problem) == clean(str(problem)) for problem in found.problems)


@settings(max_examples=150)
@given(st.binary(max_size=300))
def test_any_bytes_give_settings_and_problems(data: bytes) -> None:
    assert isinstance(parse_config(data, PATH).settings, Settings)


def test_the_example_says_every_setting_and_changes_nothing() -> None:
    assert tomllib.loads(example()) == {"keys": {}}
    *lines, keys = example().partition("[keys]")[::2]
    said = [line.removeprefix("# ") for line in lines[0].splitlines() if " = " in line]
    found = parse("\n".join([*said, "[keys]", *(line.removeprefix("# ") for line in keys.splitlines())]))
    assert found.problems == ()
    assert found.settings == Settings(keys={"live.stop": ("S",), "app.quit": ("q", "f10")})
    assert {one.name for one in DESCRIBED} == ConfigFile.model_fields.keys() - {"keys"}


def test_the_file_in_the_document_can_be_used() -> None:
    document = (Path(__file__).parents[3] / "docs/terminals.md").read_text()
    found = parse(document.partition("```toml\n")[2].partition("```")[0])
    assert found.problems == ()
    assert {*found.lines} == {"theme", "mouse", "slow_link", "refresh", "charts", "preset", "store"} | {
        f"keys.{name}" for name in found.settings.keys
    }


def test_textuals_themes_are_there() -> None:
    from textual.theme import BUILTIN_THEMES

    assert set(TEXTUAL_THEMES) <= BUILTIN_THEMES.keys()
