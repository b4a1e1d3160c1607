"""What starts this program again, from each of the forms that it comes in."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from diskprof import own_program as module
from diskprof.own_program import own_program


def test_a_package_is_started_as_a_module_of_this_python() -> None:
    assert own_program() == (sys.executable, "-P", "-m", "diskprof")


def test_a_frozen_build_is_its_own_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert own_program() == (sys.executable,)


def test_a_directory_that_is_a_program_is_started_itself(tmp_path: Path) -> None:
    (tmp_path / "diskprof").mkdir()
    (tmp_path / "diskprof/__init__.py").touch()
    shutil.copy(str(module.__file__), tmp_path / "diskprof")
    (tmp_path / "__main__.py").write_text("from diskprof.own_program import own_program\nprint(*own_program())\n")
    for option in ("-P", "-I"):
        words = [sys.executable, option, str(tmp_path)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert done.stdout.split() == words
