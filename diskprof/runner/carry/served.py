"""Where fio's client on another machine measures: what is started in place of fio."""

import json
from collections.abc import Sequence

from msgspec.structs import replace

from diskprof.model.plan import PlannedTest
from diskprof.own_program import HiddenEntry, own_program

CLIENT_S = 60.0
"""The longest that a server waits for its client."""
NOTED = "fio runs as a server: fio's client starts each test on all hosts at once, and tells of it at its end only."


def served(planned: PlannedTest, room: str, index: int, descriptors: Sequence[int]) -> PlannedTest:
    """The test as a server of fio's with its sockets in `room`. It says nothing before its end."""
    words = (*own_program(), HiddenEntry.FIO_SERVER, room, str(index), json.dumps(list(descriptors)))
    return replace(planned, argv=(*words, *planned.argv), interval_ms=planned.interval_ms + round(CLIENT_S * 1000))
