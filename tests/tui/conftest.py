"""Stores for the tests of the screens: one of recorded runs, and one that grows while it is looked at."""

from pathlib import Path

import pytest
from bench_screens import Bench, bench_sentence
from stored_screens import copy_of, make_library


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run under the cursor is read at once: a test waits for its worker, not for a time."""
    monkeypatch.setattr("diskprof.tui.runs.preview._RESTS_S", 0.0)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    return make_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def path(library: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return copy_of(library[0], tmp_path)


@pytest.fixture
def runs(library: tuple[Path, dict[str, str]]) -> dict[str, str]:
    return library[1]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The screen on a store that it makes, or that of `store`."""
    monkeypatch.setattr("diskprof.tui.run.plan_lines.plan_sentence", bench_sentence)
    return Bench(tmp_path / "runs.db")
