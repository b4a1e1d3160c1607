"""Where UTF-8 would not be shown, and with `--ascii`, every command prints ASCII; what programs read stays what it is."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from forked import Loaded, loaded
from program import DISKPROF, PATIENCE_S, environment
from recorded import write_library

from diskprof.cli.main import _COMMANDS
from diskprof.model.text import ascii_table, in_ascii, says_utf8
from diskprof.store import Store

TAGGED = "Größe·µ–×"
PLAIN = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "LANG": "", "PYTHONIOENCODING": ""}
WAYS = {
    "an ASCII stream": ((), PLAIN),
    "a locale of C, which Python takes for UTF-8": ((), {"LC_ALL": "C", "LANG": ""}),
    "a stream of Latin-1": ((), {"PYTHONIOENCODING": "latin-1"}),
    "--ascii": (("--ascii",), {}),
    "DISKPROF_ASCII": ((), {"DISKPROF_ASCII": "1"}),
}
COMMANDS = {
    "devices": [("devices",), ("devices", "--json"), ("devices", "--all")],
    "watch": [("watch", "/nothing-µ"), ("watch", "--help")],
    "presets": [("presets",), ("presets", "show", "quick"), ("presets", "options"), ("presets", "--help")],
    "run": [("run", "quick", ".", "--dry-run"), ("run", "quick", "./µ", "--dry-run"), ("run", "--help")],
    "rerun": [("rerun", "FIRST", "--dry-run"), ("rerun", "nothing-µ"), ("rerun", "--help")],
    "attach": [("attach", "nothing-µ"), ("attach", "--help")],
    "fleet": [("fleet", "fetch", "nothing-µ"), ("fleet", "--help")],
    "ssh": [("ssh", "--help")],
    "stop": [("stop", "nothing-µ"), ("stop", "--help")],
    "runs": [("runs",), ("runs", "--json")],
    "show": [("show", "FIRST"), ("show", "FIRST", "--plot"), ("show", "FIRST", "--json"), ("show", "nothing-µ")],
    "compare": [
        *(("compare", "FIRST", "SLOW"), ("compare", "FIRST", "SLOW", "--plot")),
        *(("compare", "FIRST", "SLOW", "--format", "json"), ("compare", "FIRST", "SLOW", "--format", "markdown")),
    ],
    "limit": [("limit", "/nothing-µ", "--keep", "read.p99<=5ms", "--dry-run"), ("limit", "--help")],
    "mimic": [("mimic", "nothing-µ"), ("mimic", "--help")],
    "map": [("map", "/nothing-µ", "--dry-run"), ("map", "--help")],
    "what-limits": [("what-limits", "/nothing-µ", "--dry-run"), ("what-limits", "--help")],
    "history": [("history", "--run", "FIRST"), ("history", "nothing-µ"), ("history", "--help")],
    "gate": [("gate", "nothing-µ"), ("gate", "--help")],
    "report": [("report", "FIRST"), ("report", "FIRST", "SLOW"), ("report", "--help")],
    "export": [("export", "FIRST", "-o", "µ.jsonl"), ("export", "--help")],
    "import": [("import", "nothing-µ.jsonl")],
    "delete": [("delete", "nothing-µ", "--yes"), ("delete", "--help")],
    "undelete": [("undelete", "nothing-µ"), ("undelete", "--help")],
    "tag": [("tag", "SECOND", TAGGED), ("tag", "--help")],
    "clean": [("clean",), ("clean", "--help")],
    "config": [("config",), ("config", "keys"), ("config", "path"), ("config", "--help")],
    "doctor": [("doctor",), ("doctor", "--json")],
    "completion": [("completion", "bash"), ("completion", "--help")],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def runs(home: Path) -> dict[str, str]:
    ids = write_library(home / "runs.db")
    with Store.open(home / "runs.db") as store:
        for run_id in ids.values():
            store.set_tags(run_id, [f"{TAGGED}-{run_id}"])
            store.set_note(run_id, "a note with “quotes” and an é")
    return ids


@pytest.fixture(scope="module")
def programs(home: Path) -> Iterator[dict[str, Loaded]]:
    """The program, started in each of the ways."""
    with ExitStack() as stack:
        yield {
            way: stack.enter_context(loaded(home, DISKPROF_STORE=str(home / "runs.db"), **more))
            for way, (_, more) in WAYS.items()
        }


class Printer:
    """Runs commands in a home, in one of the ways."""

    def __init__(self, home: Path, programs: Mapping[str, Loaded]) -> None:
        self._home, self._programs = home, programs

    def __call__(self, *words: str, way: str = "--ascii") -> subprocess.CompletedProcess[bytes]:
        return self._programs[way].run(*WAYS[way][0], *words, cwd=self._home)


@pytest.fixture
def printed(home: Path, runs: dict[str, str], programs: dict[str, Loaded]) -> Printer:
    return Printer(home, programs)


def test_every_command_is_here() -> None:
    assert set(COMMANDS) == set(_COMMANDS)


# The other ways end in the same place: they are tried on a few commands.
TRIED = [
    (command, way)
    for way in WAYS
    for command in [*COMMANDS, ""]
    if way in ("an ASCII stream", "--ascii") or command in ("show", "compare", "runs")
]


@pytest.mark.parametrize(("command", "way"), TRIED)
def test_every_command_prints_ascii(printed: Printer, runs: dict[str, str], command: str, way: str) -> None:
    for words in COMMANDS.get(command, [("--help",), ("nothing-µ",)]):
        found = [
            {"FIRST": runs["first"], "SLOW": runs["slow"], "SECOND": runs["second"]}.get(word, word) for word in words
        ]
        done = printed(*found, way=way)
        assert done.stdout.isascii(), (words, done.stdout.decode(errors="replace"))
        assert done.stderr.isascii(), (words, done.stderr.decode(errors="replace"))
        assert b"Traceback" not in done.stderr
        assert done.stdout or done.stderr


def test_like_signs_stand_in_as_many_cells(home: Path, printed: Printer) -> None:
    ascii_lines = printed("runs").stdout.decode().splitlines()
    env = environment(home, DISKPROF_STORE=str(home / "runs.db"))
    done = subprocess.run([*DISKPROF, "runs"], env=env, cwd=home, capture_output=True, timeout=PATIENCE_S)
    lines = done.stdout.decode().splitlines()
    assert TAGGED in "\n".join(lines) or "Größe" in "\n".join(lines)
    assert [len(line) for line in ascii_lines] == [len(line) for line in lines]


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("a stream of Latin-1", b"iso8859-1: charts in plain characters"),
        ("a locale of C, which Python takes for UTF-8", b"a locale of C: charts in plain characters"),
        ("--ascii", b"UTF-8: charts in braille"),
    ],
)
def test_the_doctor_says_what_the_terminal_is(printed: Printer, way: str, said: bytes) -> None:
    assert said in printed("doctor", way=way).stdout


def test_json_loses_nothing(printed: Printer, runs: dict[str, str]) -> None:
    told = json.loads(printed("show", runs["first"], "--json").stdout)
    assert told["tags"] == [f"{TAGGED}-{runs['first']}"]


def test_a_report_in_a_file_is_utf8(home: Path, printed: Printer, runs: dict[str, str]) -> None:
    for way in ("an ASCII stream", "--ascii"):
        for name in ("report.md", "report.html", "report.csv"):
            assert printed("report", runs["first"], "-o", name, way=way).returncode == 0
            text = (home / name).read_text(encoding="utf-8")
            assert name.endswith("csv") or "Größe" in text, name
    assert "▁" in (home / "report.md").read_text(encoding="utf-8") or "█" in (home / "report.md").read_text("utf-8")


def test_what_says_itself_that_it_is_utf8_is_printed_as_it_is(printed: Printer, runs: dict[str, str]) -> None:
    done = printed("report", runs["first"], "--format", "html", way="an ASCII stream")
    assert "Größe" in done.stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("environment", "encoding", "utf8"),
    [
        ({"LANG": "C.UTF-8"}, "utf-8", True),
        ({}, "utf-8", True),
        ({"LANG": "C.UTF-8", "LC_ALL": "C"}, "utf-8", False),
        ({"LANG": "POSIX"}, "utf-8", False),
        ({"LANG": "C.UTF-8"}, "ascii", False),
        ({"LANG": "C.UTF-8"}, "iso8859-1", False),
        ({"LANG": "C.UTF-8"}, None, False),
    ],
)
def test_what_a_stream_leads_to(environment: dict[str, str], encoding: str | None, utf8: bool) -> None:
    assert says_utf8(environment, encoding) is utf8


def test_signs_of_another_width_keep_their_cells() -> None:
    assert in_ascii("µs 10–20 ×3 “é” 漢 ▁▄█ ⠿") == 'us 10-20 x3 "e" ?? _:# :'
    assert "ab".translate(ascii_table(len)) == "ab"
