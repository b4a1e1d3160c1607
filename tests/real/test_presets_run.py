"""Every shipped preset runs for real, small and short, and gives figures for each of its tests."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import Loaded, loaded
from program import write_quick_fio
from shipped import SHIPPED

from diskprof.model.preset import ParameterKind, Preset
from diskprof.presets.library import load_library, shipped_directory
from diskprof.presets.resolve import resolve

PRESETS = SHIPPED.presets


def small(preset: Preset) -> dict[str, str]:
    """Parameters that make a short run of any preset: little data, a moment for each test, nothing promised."""
    settings = {"size": "8m", "runtime": "0.2"}
    for parameter in preset.parameters:
        if parameter.kind is ParameterKind.DURATION and parameter.name != "runtime":
            settings[parameter.name] = "0.1"
        elif parameter.kind is ParameterKind.SIZE and parameter.name == "apart":
            settings[parameter.name] = "1m"
        elif parameter.name in ("rounds", "at_most"):
            settings[parameter.name] = "2"
        elif parameter.name == "tier":
            settings["tier"] = "none"
        elif parameter.name == "count":
            settings["count"] = "2"
        elif parameter.name == "depth":
            settings["depth"] = "4"
    # A trial of a search, and a cell of a map, takes a second at least.
    if preset.limit:
        settings |= {"runtime": "1", "full": "1", "at_most": "8"}
    elif preset.read_write_map:
        settings |= {"runtime": "1", "reads": "2", "writes": "2", "at_most": "8"}
    return settings


def with_few_cells(preset: Preset, home: Path) -> Preset:
    """The preset with the last two values of each axis, as the person's own: a cell takes a second.

    That fio takes every cell is asked in tests/unit/presets/test_presets_library.py.
    """
    text = (shipped_directory() / f"{preset.name}.toml").read_text()
    own = home / ".config" / "diskprof" / "presets" / "few-cells.toml"
    own.parent.mkdir(parents=True)
    text, named = re.subn(r'^name = ".*"', 'name = "few-cells"', text, count=1, flags=re.MULTILINE)
    before, sweep = text.split("[sweep]")
    dropped: list[str] = []

    def last_two(axis: re.Match[str]) -> str:
        values = axis[2].split(", ")
        dropped.extend(value.strip('"') for value in values[:-2])
        return f"{axis[1]} = [{', '.join(values[-2:])}]"

    sweep, axes = re.subn(r"^(\w+) = \[(.+)\]$", last_two, sweep, flags=re.MULTILINE)
    # Nothing can be promised of a cell that is left out.
    gone = rf'\[\[expect\]\]\ntest = "[\w-]+-({"|".join(dropped)})-.*\n([^\[\n].*\n)*'
    sweep = re.sub(gone, "", sweep)
    assert named == 1 and axes == len(preset.sweep)
    own.write_text(f"{before}[sweep]{sweep}")
    return load_library(own.parent).get("few-cells")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    path = write_quick_fio(tmp_path_factory.mktemp("bin"))
    with loaded(tmp_path_factory.mktemp("home"), PATH=path) as found:
        yield found


@pytest.mark.fio
@pytest.mark.ioping
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_runs(tmp_path: Path, program: Loaded, preset: Preset) -> None:
    if preset.sweep and preset.rounds:
        preset = with_few_cells(preset, tmp_path)
    words = [word for name, value in small(preset).items() for word in ("--set", f"{name}={value}")]
    directories = [tmp_path / slot.name for slot in preset.targets] or [tmp_path / "disk"]
    for directory in directories:
        directory.mkdir()
    if preset.targets:
        for slot, directory in zip(preset.targets, directories, strict=True):
            words += ["--target", f"{slot.name}={directory}"]
    else:
        words.append(str(directories[0]))
    done = program.run("run", preset.name, *words, "--json", cwd=tmp_path, HOME=str(tmp_path))
    assert done.returncode in (0, 5), done.stderr.decode()
    run = json.loads(done.stdout)
    wanted = resolve(preset, small(preset)).tests
    names = [test["name"] for test in run["tests"]]
    # A search adds a test for each further trial, a map for each further cell.
    grows = preset.limit or preset.read_write_map
    assert (names[: len(wanted)] if grows else names) == [test.name for test in wanted]
    for test in run["tests"]:
        assert test["status"] == "complete", (test["name"], test.get("reason"))
        assert any(test.get(direction, {}).get("ios") for direction in ("read", "write") if test.get(direction)), test
    assert not [left for directory in directories for left in directory.iterdir()]
