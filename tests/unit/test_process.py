"""How the output of a program is taken."""

import asyncio

import pytest

from diskprof.engines.process import _Pipe


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


@pytest.mark.parametrize("pieces", [1, 3])
async def test_pieces_that_follow_each_other_closely_wake_us_once(pieces: int) -> None:
    taken: list[bytes] = []
    source, pipe = Source(), _Pipe(taken.append)
    pipe.connection_made(source)
    for number in range(pieces):
        pipe.data_received(b"%d" % number)
        assert source.told == ["pause", "go on"] * number + ["pause"], "what comes now waits in the pipe"
        assert taken[-1] == b"%d" % number, "what has come is passed on at once"
        await source.goes_on.wait()
        source.goes_on.clear()
    assert source.told == ["pause", "go on"] * pieces


async def test_a_flood_is_not_held_up() -> None:
    source, pipe = Source(), _Pipe(lambda data: None)
    pipe.connection_made(source)
    pipe.data_received(bytes(256 << 10))
    assert source.told == []
