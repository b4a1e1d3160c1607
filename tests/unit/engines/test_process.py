"""How the output of a program is taken."""

import asyncio
from pathlib import Path

import pytest

from diskprof.engines.process import _Pipe, edit_file
from diskprof.model.errors import DiskprofError


class Source(asyncio.ReadTransport):
    """Says what it was told, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self.goes_on = asyncio.Event()

    def pause_reading(self) -> None:
        self.told.append("pause")

    def resume_reading(self) -> None:
        self.told.append("go on")
        self.goes_on.set()


async def test_pieces_that_follow_each_other_closely_wake_us_once() -> None:
    taken: list[bytes] = []
    source, pipe = Source(), _Pipe(taken.append)
    pipe.connection_made(source)
    for document in range(3):
        pipe.data_received(b"begins")
        assert taken[-1] == b"begins", "what has come is passed on at once"
        assert source.told == ["pause", "go on"] * document + ["pause"], "what comes now waits in the pipe"
        await source.goes_on.wait()
        source.goes_on.clear()
        pipe.data_received(b"the rest")
        assert taken[-1] == b"the rest"
        assert source.told == ["pause", "go on"] * (document + 1), "until the next document nothing wakes us"


async def test_what_goes_on_coming_in_pieces_is_gathered_again() -> None:
    source, pipe = Source(), _Pipe(lambda data: None)
    pipe.connection_made(source)
    for number in range(5):
        if source.told[-1:] == ["pause"]:
            await source.goes_on.wait()
            source.goes_on.clear()
        pipe.data_received(b"%d" % number)
    assert source.told == ["pause", "go on", "pause", "go on", "pause"]


async def test_a_flood_is_not_held_up() -> None:
    source, pipe = Source(), _Pipe(lambda data: None)
    pipe.connection_made(source)
    pipe.data_received(bytes(256 << 10))
    assert source.told == []


def test_a_file_is_edited_in_the_editor_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a b.toml"
    file.write_text("old")
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", "sed -i 's/old/new one/'")
    edit_file(file)
    assert file.read_text() == "new one"
    for visual, message in (
        ("false", "false failed with exit code 1"),
        ("/nowhere/ed", "cannot be started"),
        ("'ed", "VISUAL is not valid"),
        ("sh -c 'kill -INT $$'", "sh was ended by SIGINT"),
    ):
        monkeypatch.setenv("VISUAL", visual)
        with pytest.raises(DiskprofError, match=message):
            edit_file(file)


def test_without_an_editor_it_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DiskprofError, match="There is no editor") as caught:
        edit_file(tmp_path / "x")
    assert "EDITOR" in str(caught.value.hint)
