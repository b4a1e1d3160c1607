"""What each part loads when a fresh process imports it: what the static contracts cannot see, and what costs time (F44)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import terminal

HEAVY = frozenset(
    {
        "asyncio",
        "click",
        "numpy",
        "orjson",
        "platformdirs",
        "plotext",
        "psutil",
        "pydantic",
        "pyudev",
        "rich",
        "sqlite3",
        "textual",
    }
)
PARTS = frozenset(
    {
        "analysis",
        "cli",
        "config",
        "devices",
        "engines",
        "fleet",
        "model",
        "presets",
        "reports",
        "runner",
        "store",
        "tui",
    }
)

# What a part may load of the heavy packages and of the other parts, all its modules taken together.
MAY_LOAD: dict[str, tuple[set[str], set[str]]] = {
    "model": (set(), set()),
    "analysis": (set(), {"model"}),
    "devices": ({"psutil", "pyudev"}, {"model"}),
    "engines": ({"asyncio"}, {"model"}),
    "presets": ({"pydantic", "platformdirs"}, {"model"}),
    "store": ({"sqlite3"}, {"model"}),
    "config": ({"pydantic"}, {"model", "presets"}),
    "reports": (set(), {"model", "analysis", "presets"}),
    "runner": (
        {"asyncio", "pydantic", "platformdirs", "psutil", "pyudev", "sqlite3"},
        {"model", "analysis", "devices", "engines", "presets", "store"},
    ),
    "fleet": (
        {"asyncio", "pydantic", "platformdirs", "psutil", "pyudev", "sqlite3"},
        {"model", "analysis", "config", "devices", "engines", "presets", "runner", "store"},
    ),
    "cli": ({"asyncio", "click", "sqlite3"}, PARTS - {"cli", "tui"}),
    "tui": (HEAVY - {"click", "plotext", "numpy", "orjson"}, PARTS - {"cli", "tui"}),
}

WALK = """
import importlib, json, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
json.dump(sorted(sys.modules), sys.stdout)
"""

COMMAND = """
import json, os, sys
from diskprof.cli.main import main
out, sys.stdout = sys.stdout, open(os.devnull, "w")
code = main.main(sys.argv[1:], prog_name="diskprof", standalone_mode=False)
assert not code, code
json.dump(sorted(sys.modules), out)
"""


def loaded(program: str, *words: str | Path, home: Path) -> set[str]:
    """Every module that a fresh interpreter has after it ran `program`."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        env={"HOME": str(home), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def heavy(modules: set[str]) -> set[str]:
    return HEAVY.intersection(modules)


def parts(modules: set[str]) -> set[str]:
    return PARTS.intersection(name.split(".")[1] for name in modules if name.startswith("diskprof."))


def test_the_table_names_every_part() -> None:
    package = Path(__file__).parents[3] / "diskprof"
    assert {path.parent.name for path in package.glob("*/__init__.py")} == PARTS == MAY_LOAD.keys()


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_part_loads_only_what_it_may(part: str, tmp_path: Path) -> None:
    modules = loaded(WALK, f"diskprof.{part}", home=tmp_path)
    packages, others = MAY_LOAD[part]
    assert heavy(modules) <= packages
    assert parts(modules) <= others | {part}


@pytest.mark.parametrize("words", [("--version",), ("--help",)])
def test_what_answers_at_once_loads_next_to_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    modules = loaded(COMMAND, *words, home=tmp_path)
    assert heavy(modules) == {"click"}
    assert parts(modules) <= {"cli", "model"}


@pytest.mark.parametrize(
    ("words", "may_load"),
    [
        (("runs",), {"sqlite3"}),
        (("presets",), {"pydantic", "platformdirs", "sqlite3"}),
        (("devices", "--json"), {"psutil", "pyudev", "sqlite3"}),
        (("run", "--help"), {"asyncio", "sqlite3"}),
        (("show", "--help"), {"asyncio", "sqlite3"}),
    ],
)
def test_a_command_loads_no_more_than_its_work_takes(
    words: tuple[str, ...], may_load: set[str], tmp_path: Path
) -> None:
    assert heavy(loaded(COMMAND, *words, home=tmp_path)) <= may_load | {"click"}


def test_planning_a_run_opens_no_screen(tmp_path: Path) -> None:
    modules = loaded(WALK, "diskprof.runner", home=tmp_path)
    assert not {"diskprof.tui", "diskprof.cli", "textual", "click", "plotext"}.intersection(modules)


SCREEN = """
import builtins, json, os, sys
make = builtins.__build_class__

def noticing(body, name, *bases, **more):
    made = make(body, name, *bases, **more)
    if name == "LettingGoDriver":
        write = made.write
        def told(self, data):
            write(self, data)
            if "nothing running" in data:
                with open(os.environ["TOLD"], "w") as out:
                    json.dump(sorted(sys.modules), out)
                os._exit(0)
        made.write = told
    return made

builtins.__build_class__ = noticing
sys.argv[1:] = []
from diskprof.__main__ import start
start()
"""


@pytest.mark.parametrize(
    ("said", "with_click"),
    [
        ({}, False),
        ({"DISKPROF_CHARTS": "ascii"}, False),
        ({"DISKPROF_ASCII": "1"}, True),
        ({"DISKPROF_STORE": "here.db"}, True),
    ],
    ids=["nothing", "charts", "ascii", "store"],
)
def test_before_the_first_picture_only_what_it_takes_is_loaded(
    tmp_path: Path, said: dict[str, str], with_click: bool
) -> None:
    told = tmp_path / "modules.json"
    environment = {
        "HOME": str(tmp_path),
        "PATH": "/usr/sbin:/usr/bin",
        "TERM": "xterm-256color",
        "TOLD": str(told),
        **said,
    }
    with terminal([sys.executable, "-c", SCREEN], environment, cwd=tmp_path) as screen:
        screen.wait_for_end()
    modules = set(json.loads(told.read_text()))
    # Textual itself takes platformdirs.
    assert heavy(modules) == {"asyncio", "platformdirs", "rich", "sqlite3", "textual"} | (
        {"click"} if with_click else set()
    )
    # Of the parts that find devices and carry runs out only values, and the door to the rest.
    modules -= {"diskprof.runner", "diskprof.runner.session"}
    modules -= {"diskprof.devices", "diskprof.devices.guard", "diskprof.devices.guard.target_doubts"}
    assert parts(modules) <= {"__main__", "cli", "config", "model", "presets", "reports", "store", "tui", "without_tls"}
    assert {name for name in modules if name.startswith("diskprof.reports.")} <= {
        "diskprof.reports.words",
        "diskprof.reports.colours",
    }
    assert "_ssl" not in modules
    assert not modules & {"diskprof.runner", "diskprof.presets.library", "diskprof.devices", "diskprof.analysis"}
