"""The faults of the matrix (test_fault_matrix.py) that make sense for ioping, while its first test measures."""

import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from faults import Case, make_home, signalled, stand_still
from program import PATIENCE_S, environment, gone, own_preset, until
from standin import Misbehaviour, Moment, write_ioping_standin

from diskprof.engines.tools import find_tool
from diskprof.model.preset import EngineName
from diskprof.model.run import Run, Status
from diskprof.model.sample import Phase

pytestmark = pytest.mark.needs("ioping")

PRESET = """
name = "pings"
title = "Pings"
category = "quick"

[parameters]
first = { default = "60", kind = "duration" }

[[test]]
name = "first"
title = "One after the other"
engine = "ioping"
options = { rapid = true, rate-limit = "200", work-size = "4m", work-time = "$first" }

[[test]]
name = "second"
title = "Again"
engine = "ioping"
options = { rapid = true, rate-limit = "200", work-size = "4m", work-time = "500ms" }
"""
STOOD_S = 5.5
COMPLETE, CANCELLED, FAILED, SKIPPED = Status.COMPLETE, Status.CANCELLED, Status.FAILED, Status.SKIPPED
INTERRUPTED = Status.INTERRUPTED
Process = subprocess.Popen[str]


@dataclass(frozen=True)
class Fault:
    """What is done, how the run, its first test and its second end, the exit code, patterns of the reason and a message."""

    act: Callable[[Case, Process], None]
    run: Status
    first: Status
    second: Status
    code: int
    reason: str = ""
    says: str = ""
    misbehaviour: Misbehaviour = Misbehaviour.NONE
    time: str = "60"
    """How long the first test takes, if nothing happens to it."""
    impatient: bool = False


def to_runner(number: int, case: Case, process: Process) -> None:
    process.send_signal(number)


def to_ioping(number: int, case: Case, process: Process) -> None:
    signalled(case.engines(), number)


def runner_slow(case: Case, process: Process) -> None:
    engines = case.engines()
    process.send_signal(signal.SIGSTOP)
    until(lambda: all(map(gone, engines)), "the end of ioping")
    process.send_signal(signal.SIGCONT)


def all_still(case: Case, process: Process) -> None:
    stand_still(case, process, STOOD_S)


def nothing_more(case: Case, process: Process) -> None:
    """The stand-in does it."""


def stopped(number: int, reason: str) -> Fault:
    return Fault(partial(to_runner, number), CANCELLED, CANCELLED, SKIPPED, 130, re.escape(reason))


def failed(act: Callable[[Case, Process], None], reason: str, *, impatient: bool = False) -> Fault:
    return Fault(act, FAILED, FAILED, COMPLETE, 1, reason, impatient=impatient)


def fine(act: Callable[[Case, Process], None], says: str = "", *, time: str, impatient: bool = False) -> Fault:
    return Fault(act, COMPLETE, COMPLETE, COMPLETE, 0, says=says, time=time, impatient=impatient)


def spoken(misbehaviour: Misbehaviour, says: str) -> Fault:
    return Fault(nothing_more, COMPLETE, COMPLETE, COMPLETE, 0, "", says, misbehaviour, time="6")


KILLED = Fault(partial(to_runner, signal.SIGKILL), INTERRUPTED, INTERRUPTED, SKIPPED, -9, "exited unexpectedly")
TOO_LONG = "printed a document of more than 64 MiB"
FAULTS: Mapping[str, Fault] = {
    "SIGHUP": stopped(signal.SIGHUP, "Terminal closed (SIGHUP)."),
    "SIGINT": stopped(signal.SIGINT, "Stopped by user (SIGINT)."),
    "SIGTERM": stopped(signal.SIGTERM, "Stopped by SIGTERM."),
    "SIGKILL": KILLED,
    "ioping killed": failed(partial(to_ioping, signal.SIGKILL), r"ioping was ended by SIGKILL\."),
    "ioping hangs": failed(partial(to_ioping, signal.SIGSTOP), "ioping did not respond", impatient=True),
    # Told to stop by somebody else it ends as if all were well (F30).
    "ioping told to end": failed(partial(to_ioping, signal.SIGINT), "ioping measured for .* instead of 1 min"),
    "a 100 MB line": Fault(nothing_more, FAILED, FAILED, COMPLETE, 1, TOO_LONG, "", Misbehaviour.LONG_LINE, time="6"),
    "flood on stderr": spoken(Misbehaviour.FLOOD, r"ioping said \d+ more lines"),
    "junk": spoken(Misbehaviour.JUNK, "iodepth"),
    "broken element": spoken(Misbehaviour.TRUNCATED, "Truncated ioping output"),
    "slow runner": fine(runner_slow, time="3"),
    "all stand still": fine(all_still, "The runner did not run .* for [3-9]", time="6", impatient=True),
}


def make_case(home: Path, fault: Fault) -> Case:
    make_home(home)
    own_preset(home, "pings", PRESET)
    ioping = find_tool(EngineName.IOPING).path
    acting = fault.misbehaviour is not Misbehaviour.NONE
    program = write_ioping_standin(home / "ioping", ioping, fault.misbehaviour) if acting else Path(ioping)
    words = ("run", "pings", "disk", "--yes", "--set", f"first={fault.time}")
    env = environment(home, DISKPROF_IOPING=str(program), TMPDIR=str(home))
    return Case(home, Moment.MEASURING, program, words, env, EngineName.IOPING)


def strike(name: str, home: Path) -> tuple[Case, int, Run]:
    fault = FAULTS[name]
    case = make_case(home, fault)
    with case.started(impatient=fault.impatient) as process:
        acting = fault.misbehaviour is not Misbehaviour.NONE
        if not acting:
            case.arrive(process)
        before = () if acting else case.seen()
        engines = [] if acting else case.engines()
        fault.act(case, process)
        _, err = process.communicate(timeout=PATIENCE_S)
        until(lambda: all(map(gone, engines)), "the end of ioping")
    assert "Traceback" not in err, err
    run = case.ended()
    assert case.seen()[: len(before)] == before, "a sample that somebody saw was lost"
    return case, process.returncode, run


def check(fault: Fault, case: Case, code: int, run: Run) -> None:
    assert (code, run.status) == (fault.code, fault.run), run.reason
    assert tuple(test.status for test in run.tests) == (fault.first, fault.second), run.reason
    assert re.search(fault.reason, run.reason), run.reason
    assert any(re.search(fault.says, message.text) for message in run.messages) or not fault.says, run.messages
    assert len(run.messages) < 60
    assert not any(char in message.text for message in run.messages for char in "\x1b\x07\0")
    samples = case.seen()
    assert all(before.at_ns <= after.at_ns for before, after in pairwise(samples))
    for test in run.tests:
        measured = [each for each in samples if each.test == test.index and each.phase is Phase.MEASURING]
        if test.result and test.result.read:
            assert sum(each.ios for each in measured) == test.result.read.ios
        if test.status is COMPLETE:
            assert test.result and test.result.read and test.result.read.ios > 0
    assert case.integrity() == "ok"
    assert not list(case.disk.iterdir()), "ioping leaves no file (F31)"
    if fault.run is not INTERRUPTED:
        assert not list(case.home.glob("diskprof-*"))


def test_a_fault_while_ioping_measures(tmp_path: Path) -> None:
    with ThreadPoolExecutor(len(FAULTS)) as pool:
        cases = {name: pool.submit(strike, name, tmp_path / re.sub(r"\W", "-", name)) for name in FAULTS}
    for name, struck in cases.items():
        try:
            check(FAULTS[name], *struck.result())
        except AssertionError as error:
            error.add_note(name)
            raise
