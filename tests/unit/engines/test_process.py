"""How the output of a program is taken."""

import asyncio

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
