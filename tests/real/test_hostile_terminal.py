"""Hostile words through the real program to a real terminal: what it sends there is looked at byte by byte (F39)."""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from forked import diskprof_json
from hostile import ESCAPES, HOSTILE, LINES, imported, poisoned_lines
from loops import MIB, call, loops_in
from program import DISKPROF, descendants, environment, own_preset, started, until
from terminal import terminal

from diskprof.store import Store

# Eight-bit controls, bidi overrides and isolates, invisible characters, the clipboard, the title: Textual sends none of these.
OBEYED = re.compile(
    rb"\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf|\xf3\xa0\x81|\x1b\]|\x9b|\x07|\x08|\x7f"
)
PRESET = """
name = "evil"
title = "Evil \\u001b]52;c;aGk=\\u0007\\u009b31m\\u202e [/][red] title"
summary = "\\u001b[2J\\u2066[@click=app.quit]quit[/]"
category = "quick"
source = "\\u009d0;t\\u009c"
[[test]]
name = "one"
title = "\\u001b]52;c;aGk=\\u0007"
options = { rw = "randread", runtime = 1, time_based = true, size = "1m" }
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home where everything that a stranger could have written is hostile."""
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        lines = poisoned_lines()
        assert len(imported(store, lines)) == len([line for line in LINES if "run" in line])
        # The newest once more, at another time, to compare it with.
        (newest,) = (line["run"] for line in lines if line.get("run", {}).get("id") == "def")
        newest |= {"id": "ghi"} | {key: newest[key].replace("T09:", "T10:") for key in ("started_at", "ended_at")}
        assert "ghi" in imported(store, lines)
    own_preset(tmp_path, "evil", PRESET)
    own_preset(tmp_path, "bad\x1b[31m\x9b1m\u202e[red]", "name = 7\n")
    return tmp_path


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_no_screen_sends_what_a_stranger_wrote(home: Path, columns: int, rows: int) -> None:
    with terminal(DISKPROF, environment(home), cwd=home, columns=columns, rows=rows) as screen:
        screen.wait_for("Plan", "Evil")
        screen.press_until("right", "▸  Quick check")
        screen.press("up")
        screen.wait_for("▸  Evil", "Reads a temporary 1 MiB")
        screen.press("3")
        screen.wait_for("3 runs")
        screen.press_until("enter", "IOPS and latency", "esc Back")
        screen.press("down", "down", "tab", "down")
        screen.press_until("escape", "newest first")
        screen.press("space", "space", "c")  # a mark moves the cursor down
        screen.wait_for("2 runs compared")
        screen.press("down", "down", "down", "m", "a", "q")
        assert screen.wait_for_end() == 0
    # The shape of the pointer is Textual's own business.
    sent = re.sub(rb"\x1b\]22;[a-z-]*\x07", b"", bytes(screen.raw))
    found = OBEYED.search(sent)
    assert not found, sent[max(0, found.start() - 60) : found.end() + 20]


COMMANDS = [
    ("runs",),
    ("show", "abc"),
    ("report", "abc", "def"),
    ("tag", "abc"),
    ("presets",),
    ("presets", "show", "evil"),
    ("presets", "export", "evil"),
    ("presets", "import", f"{HOSTILE[:40]}.fio"),
    ("presets", "import", "--command", f"fio --name=a --bs={ESCAPES}"),
    ("run", "evil", ".", "--dry-run"),
    ("run", "evil", f"/no/{ESCAPES}"),
    ("run", "quick", ".", "--set", f"size={ESCAPES}"),
    ("run", "quick", f"--nosuch{ESCAPES}"),
    ("run", "quick", ".", "--nagios", "--expect", f"x{ESCAPES}>=1"),
    ("show", HOSTILE),
    ("import", f"{ESCAPES}.gz".replace("\n", "")),
    (f"x{ESCAPES}",),
]


@pytest.mark.parametrize("words", COMMANDS, ids=range(len(COMMANDS)))
def test_no_command_prints_what_a_stranger_wrote(home: Path, words: tuple[str, ...]) -> None:
    with terminal([*DISKPROF, *words], environment(home), cwd=home, columns=100, rows=60) as screen:
        assert screen.wait_for_end() in (0, 1, 2, 3, 4)
        sent = bytes(screen.raw)
    assert sent.strip()
    assert b"Traceback" not in sent
    found = re.search(OBEYED.pattern + rb"|\x1b\[2J|\x1b\[31m", sent)
    # Zero-width spaces are ours: they keep a name in a Markdown report from being called in a forge.
    assert not found, sent[max(0, found.start() - 60) : found.end() + 20]


def _environment_of_fio(parent: int) -> dict[str, str]:
    """What the fio that measures was given, once it is there; before it come some that are asked for their version."""
    for pid in descendants(parent, "fio"):
        with suppress(OSError):
            if b"--status-interval" in Path(f"/proc/{pid}/cmdline").read_bytes():
                entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
                return dict(entry.split("=", 1) for entry in entries if entry)
    return {}


@pytest.mark.needs("fio")
def test_fio_gets_a_small_environment_and_a_directory_of_its_own(home: Path) -> None:
    """F22: whoever can make a file in fio's TMPDIR can make it print; and what is a secret here is none of its business."""
    words = ("run", "quick", home, "--set", "size=16m", "--set", "runtime=60")
    with started(*words, home=home) as program:
        given = until(lambda: _environment_of_fio(program.pid), "fio")
        assert set(given) == {"PATH", "LC_ALL", "TMPDIR"}
        place = Path(given["TMPDIR"])
        assert any(Path(f"/proc/{fio}/cwd").readlink() == place for fio in descendants(program.pid, "fio"))
        assert place.stat().st_mode & 0o777 == 0o700
        assert place.stat().st_uid == os.geteuid()


@pytest.mark.needs("fio")
def test_what_fio_says_is_shown_and_not_obeyed(home: Path) -> None:
    """Its version, its stderr and the lines between its documents: a stand-in says them before it becomes the real one."""
    standin = home / "fio"
    standin.write_text(
        "#!/bin/sh\n"
        "case \"$*\" in *--version*) printf 'fio-3.33-\\033[31m\\302\\233evil\\007\\n'; exit ;; esac\n"
        "printf 'fio: \\033]52;c;aGk=\\007 \\302\\233 [/][red] \\342\\200\\256 stderr\\n' >&2\n"
        "printf '\\033[2J \\302\\235 [bold] stdout\\n'\n"
        f'exec {shutil.which("fio")} "$@"\n'
    )
    standin.chmod(0o755)
    env = environment(home, DISKPROF_FIO=str(standin))
    for words in (("run", "fio-randread-qd8", ".", "--set", "size=4m", "--yes"), ("show", "latest")):
        with terminal([*DISKPROF, *words], env, cwd=home, columns=160, rows=90) as screen:
            assert screen.wait_for_end() == 0, screen.text
            sent = bytes(screen.raw)
        assert b"evil" in sent and b"stderr" in sent and b"stdout" in sent
        found = re.search(OBEYED.pattern + rb"|\x1b\[2J|\x1b\[31m", sent)
        assert not found, sent[max(0, found.start() - 60) : found.end() + 20]


@pytest.mark.needs("root", "loop", "mkfs.ext4")
def test_a_label_on_a_disk_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    with loops_in(tmp_path) as loops:
        image = loops.image(32 * MIB)
        # 16 bytes: a real label, which only a superblock's writer needs to have chosen.
        label = b"\x1b[31m\xc2\x9b\x07[/]|`z"
        call("mkfs.ext4", "-q", "-F", image)
        with image.open("r+b") as file:
            file.seek(1024 + 0x78)
            file.write(label.ljust(16, b"\0"))
        node = loops.attach(image)
        for words in (("devices",), ("devices", "--json"), ("run", "quick", node, "--dry-run")):
            with terminal([*DISKPROF, *words], environment(tmp_path), cwd=tmp_path, columns=160, rows=60) as screen:
                assert screen.wait_for_end() in (0, 2, 4)
                sent = bytes(screen.raw)
            assert node.encode() in sent or Path(node).name.encode() in sent
            assert not OBEYED.search(sent) and b"\x1b[31m" not in sent
        listed = {device["node"]: device for device in diskprof_json("devices", "--json", home=tmp_path)}
        assert "[31m" in listed[node]["fs_label"]
        with terminal(DISKPROF, environment(tmp_path), cwd=tmp_path, columns=120, rows=200) as screen:
            screen.wait_for("Plan", Path(node).name)
            screen.press("q")
            assert screen.wait_for_end() == 0
            assert not OBEYED.search(re.sub(rb"\x1b\]22;[a-z-]*\x07", b"", bytes(screen.raw)))
