"""The man page is that of the commands, and roff reads it without complaint."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from diskprof.model.errors import ExitCode

REPOSITORY = Path(__file__).parents[3]
PAGE = REPOSITORY / "share/man/man1/diskprof.1"


def test_it_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, REPOSITORY / "scripts/manpage.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_it_tells_every_exit_code_and_every_variable() -> None:
    text = PAGE.read_text()
    for code in ExitCode:
        assert f"\\fB{int(code)}\\fP" in text, code
    sources = " ".join(path.read_text() for path in (REPOSITORY / "diskprof").rglob("*.py"))
    named = " ".join(re.findall(r"^\\fB(.*)\\fP$", text, re.MULTILINE)).replace(",", "").split()
    for name in set(re.findall(r'"(DISKPROF_[A-Z]+)"', sources)):
        assert name in named, name


@pytest.mark.needs("groff")
def test_roff_has_nothing_against_it() -> None:
    words = ["groff", "-man", "-Tutf8", "-ww", PAGE]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert not done.stderr
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "diskprof run quick /mnt/data --expect 'randread-4k-qd32.read.iops>=5000'" in shown
