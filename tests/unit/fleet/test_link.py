"""What a host says is never taken for more than it is: nonsense ends the connection, and nothing else."""

import json
import shlex
from io import BytesIO

import pytest

from diskprof import __version__
from diskprof.fleet.follow.link import HostFailed, Link, LinkLost
from diskprof.fleet.follow.messages import StopRun
from diskprof.model.errors import DiskprofError

HELLO = json.dumps({"n": 1, "answer": {"version": __version__, "hostname": "web1", "machine": "vax"}})


def saying(*lines: str) -> tuple[str, ...]:
    """A program that answers each line with one of these, and then waits for its end."""
    answers = "".join(f"read -r _; printf '%s\\n' {shlex.quote(line)}; " for line in lines)
    return ("sh", "-c", f"{answers} cat >/dev/null")


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "7",
        '"n"',
        "[" * 100_000,
        '{"n": [1]}',
        '{"n": 1, "answer": null}',
        '{"n": 1, "answer": {"version": 7}}',
        '{"n": 1, "error": 7}',
        '{"n": 1, "error": {"run": "", "error": "Nonsense", "message": "", "hint": ""}}',
        '{"news": []}',
        '{"news": {}, "records": [7]}',
        '{"news": {"run_id": "x", "status": "running", "passed_us": 1e999}, "records": []}',
    ],
)
async def test_nonsense_is_told_as_an_error(line: str) -> None:
    with pytest.raises(DiskprofError):
        await Link.open("web1", saying(line), None)


async def test_answers_that_are_none() -> None:
    link = await Link.open("web1", saying(HELLO, '{"n": 2, "answer": -1}'), None)
    with pytest.raises(LinkLost, match="web1 answers AskClock with"):
        await link.clock()
    await link.close()
    # The store of the host is none of ours.
    broken = {"run": "", "error": "StoreError", "message": "The disk is full.", "hint": ""}
    empty = {"n": 3, "answer": {"data": "", "last": False}}
    link = await Link.open("web1", saying(HELLO, json.dumps({"n": 2, "error": broken}), json.dumps(empty)), None)
    with pytest.raises(HostFailed, match="The disk is full"):
        await link.tell(StopRun("abcdefgh"))
    with pytest.raises(LinkLost, match="ExportRun"):
        await link.export("abcdefgh", BytesIO())
    await link.close()
