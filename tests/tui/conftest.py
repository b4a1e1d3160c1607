"""A store of recorded runs for the tests of the screens that show it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from stored_screens import copy_of, make_library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    yield from make_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def path(library: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return copy_of(library[0], tmp_path)


@pytest.fixture
def runs(library: tuple[Path, dict[str, str]]) -> dict[str, str]:
    return library[1]
