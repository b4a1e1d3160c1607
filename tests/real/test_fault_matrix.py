"""Every fault at every moment of a run: what becomes of the run, and that nothing is lost, left over or damaged.

The table says how the run has to end. All moments of a fault are tried side by side, each in a home of its own.
"""

import os
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from faults import Case, make_case, signalled, stand_still
from program import DISKPROF, PATIENCE_S, diskprof, gone, until
from standin import Misbehaviour, Moment
from terminal import Terminal, terminal

from diskprof.model.run import Run, Status
from diskprof.model.sample import Phase
from diskprof.runner.carry.workdir import sweep
from diskprof.runner.leftovers import leftovers, remove
from diskprof.store import is_alive

pytestmark = pytest.mark.needs("fio")

ENGINES_END_WITHIN_S = 3.0
STOOD_S = 5.5
LAYING_OUT, RAMP, MEASURING, BETWEEN = Moment
COMPLETE, CANCELLED, FAILED = Status.COMPLETE, Status.CANCELLED, Status.FAILED
INTERRUPTED, SKIPPED = Status.INTERRUPTED, Status.SKIPPED


@dataclass(frozen=True)
class Ending:
    """How a run ends: itself, the test that was struck, those after it, what `diskprof` exits with, a pattern of the reason."""

    run: Status
    struck: Status
    later: Status
    code: int
    reason: str = ""
    says: str = ""
    """A pattern of a message of the run."""
    leaves_files: bool = False


# --- What is done to the run -----------------------------------------------------------------------------------------

Process = subprocess.Popen[str]


def signal_runner(number: int, case: Case, process: Process) -> None:
    process.send_signal(number)


def kill_fio(case: Case, process: Process) -> None:
    signalled(case.engines(), signal.SIGKILL)


def stop_fio(case: Case, process: Process) -> None:
    signalled(case.engines(), signal.SIGSTOP)


def stop_runner_until_fio_is_done(case: Case, process: Process) -> None:
    """fio has to wait for nobody: it ends while nobody reads."""
    engines = case.engines()
    process.send_signal(signal.SIGSTOP)
    case.go_on()
    until(lambda: all(map(gone, engines)), "the end of fio")
    process.send_signal(signal.SIGCONT)


def lock_store_until_fio_is_done(case: Case, process: Process) -> None:
    """And until the runner has tried to write down what came of it: then it starts the next fio, or removes its files."""
    engines = case.engines()

    def went_on() -> bool:
        return bool(set(case.engines()) - set(engines)) or not list(case.disk.glob(".diskprof-*"))

    with closing(sqlite3.connect(case.store_path, isolation_level=None, timeout=PATIENCE_S)) as db:
        db.execute("BEGIN IMMEDIATE")
        case.go_on()
        until(lambda: all(map(gone, engines)) and went_on(), "the end of fio, and what follows it")
        db.execute("ROLLBACK")


def read_store_until_the_end(case: Case, process: Process) -> None:
    with closing(sqlite3.connect(case.store_path, isolation_level=None, timeout=PATIENCE_S)) as db:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sample").fetchone()
        case.go_on()
        process.wait(PATIENCE_S)
        db.execute("COMMIT")


def everything_stands_still(case: Case, process: Process) -> None:
    """For longer than a silent fio is waited for, as in a control group that is frozen."""
    stand_still(case, process, STOOD_S)
    case.go_on()


def nothing_more(case: Case, process: Process) -> None:
    """The stand-in does it."""


# --- The table -------------------------------------------------------------------------------------------------------


def stopped(words: str) -> Ending:
    return Ending(CANCELLED, CANCELLED, SKIPPED, 130, re.escape(words))


def failed(words: str, says: str = "") -> Ending:
    """The run goes on with the next test."""
    return Ending(FAILED, FAILED, COMPLETE, 1, words, says)


def no_layout(words: str, says: str = "") -> Ending:
    """Without its file no test can go on."""
    return Ending(FAILED, FAILED, SKIPPED, 1, f"Creating the test file failed: {words}", says)


def fine(says: str = "") -> Ending:
    return Ending(COMPLETE, COMPLETE, COMPLETE, 0, says=says)


HANGUP = stopped("Terminal closed (SIGHUP).")
BY_PERSON = stopped("Stopped by user (SIGINT).")
BY_TERM = stopped("Stopped by SIGTERM.")
KILLED = Ending(INTERRUPTED, INTERRUPTED, SKIPPED, -signal.SIGKILL, "exited unexpectedly", leaves_files=True)
BY_KILL = r"fio was ended by SIGKILL\. Possibly out of memory"
SILENT = "fio did not respond for .* and was killed: the device or fio hangs"
TOO_LONG = "The engine printed a document of more than 64 MiB"
MUCH = r"fio said \d+ more lines"
BROKEN = "Truncated fio output"
STOOD = "The runner did not run .* for [3-9]"
LOCKED = "Another program kept the store locked for .*; nothing was lost"


@dataclass(frozen=True)
class Fault:
    """What is done at the moment, by the test or by the stand-in for fio, and how the run ends, by moment."""

    act: Callable[[Case, Process], None]
    endings: tuple[Ending, Ending, Ending, Ending]
    misbehaviour: Misbehaviour = Misbehaviour.NONE
    lasting: bool = True
    impatient: bool = False
    longest_s: float = 3.0
    """A test cannot have measured for longer."""


def same(ending: Ending) -> tuple[Ending, Ending, Ending, Ending]:
    return (ending,) * 4


def at_signal(number: int, ending: Ending) -> Fault:
    return Fault(partial(signal_runner, number), same(ending))


def spoken(misbehaviour: Misbehaviour, *endings: Ending) -> Fault:
    a, b, c, d = endings
    return Fault(nothing_more, (a, b, c, d), misbehaviour, lasting=False)


def impatient(act: Callable[[Case, Process], None], *endings: Ending) -> Fault:
    """With a watch for silence that does not take a minute."""
    a, b, c, d = endings
    return Fault(act, (a, b, c, d), impatient=True)


def held_up(act: Callable[[Case, Process], None], ending: Ending) -> Fault:
    return Fault(act, same(ending), lasting=False)


# fmt: off
FAULTS: Mapping[str, Fault] = {
    # the runner; a terminal that closes is a SIGHUP (test_over_ssh.py)
    "SIGHUP":          at_signal(signal.SIGHUP, HANGUP),
    "SIGINT":          at_signal(signal.SIGINT, BY_PERSON),
    "SIGTERM":         at_signal(signal.SIGTERM, BY_TERM),
    "SIGKILL":         at_signal(signal.SIGKILL, KILLED),
    # fio                                             laying out           ramp              measuring         between tests
    "fio killed":      Fault(kill_fio,               (no_layout(BY_KILL),  failed(BY_KILL),  failed(BY_KILL),  failed(BY_KILL))),
    "fio hangs":       impatient(stop_fio,            no_layout(SILENT),   failed(SILENT),   failed(SILENT),   failed(SILENT)),
    "a 100 MB line":   spoken(Misbehaviour.LONG_LINE, no_layout(TOO_LONG), failed(TOO_LONG), failed(TOO_LONG), failed(TOO_LONG)),
    "flood on stderr": spoken(Misbehaviour.FLOOD,     fine(MUCH),          fine(MUCH),       fine(MUCH),       fine(MUCH)),
    "junk":            spoken(Misbehaviour.JUNK,      fine("iodepth"),     fine("iodepth"),  fine("iodepth"),  fine("iodepth")),
    "broken document": spoken(Misbehaviour.TRUNCATED, fine(BROKEN),        fine(BROKEN),     fine(BROKEN),     fine(BROKEN)),
    # whoever reads
    "slow runner":     held_up(stop_runner_until_fio_is_done, fine()),
    "store locked":    held_up(lock_store_until_fio_is_done, fine(LOCKED)),
    "store in use":    held_up(read_store_until_the_end, fine()),
    # both at once
    "all stand still": Fault(everything_stands_still, same(fine(STOOD)), lasting=False, impatient=True, longest_s=3.0 + STOOD_S),
}
# fmt: on


# --- How it is checked -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Struck:
    """What is known after a case: the run as the next start finds it, and what could be read just before the fault."""

    case: Case
    ending: Ending
    code: int
    run: Run
    longest_s: float


def strike(fault: Fault, moment: Moment, home: Path) -> Struck:
    case = make_case(home, moment, fault.misbehaviour, lasting=fault.lasting)
    with case.started(impatient=fault.impatient) as process:
        if fault.misbehaviour is Misbehaviour.NONE:
            case.arrive(process)
        before = case.seen() if fault.misbehaviour is Misbehaviour.NONE else ()
        engines = case.engines() if case.run_id() else []
        fault.act(case, process)
        _, err = process.communicate(timeout=PATIENCE_S)
        ended = time.monotonic()
        until(lambda: all(map(gone, engines)), "the end of fio")
        assert time.monotonic() - ended < ENGINES_END_WITHIN_S
    assert "Traceback" not in err, err
    run = case.ended()
    assert case.seen()[: len(before)] == before, "a sample that somebody saw was lost"
    return Struck(case, fault.endings[list(Moment).index(moment)], process.returncode, run, fault.longest_s)


def check(struck: Struck) -> None:
    case, ending, run = struck.case, struck.ending, struck.run
    assert (struck.code, run.status) == (ending.code, ending.run), run.reason
    assert re.search(ending.reason, run.reason), run.reason
    first, second = (test.status for test in run.tests)
    if case.moment is BETWEEN:
        assert (first, second) == (COMPLETE, ending.struck)
    else:
        assert (first, second) == (ending.struck, ending.later)
    assert any(re.search(ending.says, message.text) for message in run.messages) or not ending.says, run.messages
    assert len(run.messages) < 60
    assert not any(char in message.text for message in run.messages for char in "\x1b\x07\0")
    check_samples(case, run, struck.longest_s)
    assert case.integrity() == "ok"
    check_files(case, ending)


def check_samples(case: Case, run: Run, longest_s: float) -> None:
    samples = case.seen()
    for test in run.tests:
        measured = [sample for sample in samples if sample.test == test.index and sample.phase is Phase.MEASURING]
        for result, direction in (
            (test.result and test.result.read, "read"),
            (test.result and test.result.write, "write"),
        ):
            if result:
                assert sum(sample.ios for sample in measured if sample.direction == direction) == result.ios
        if test.status is COMPLETE:
            assert test.result
            # Where fio could not go on since nobody read what it said, that is in its own figures, too.
            engines_ns = max(each.runtime_ms for _, each in test.result.directions) * 1.1e6
            assert 0.3e9 < sum(sample.duration_ns for sample in measured) < max(longest_s * 1e9, engines_ns)
    if run.status is INTERRUPTED and case.moment is not BETWEEN:
        assert run.progress and run.progress.at_ns - samples[-1].at_ns < 1_000_000_000
    assert all(before.at_ns <= after.at_ns for before, after in pairwise(samples))


def check_files(case: Case, ending: Ending) -> None:
    """Test files and private directories are gone, or they are known to the next start, which can remove them."""
    left = list(case.disk.glob(".diskprof-*"))
    assert len(left) == ending.leaves_files
    with case.store() as store:
        known = list(leftovers(store))
        assert [each.directory for each in known] == list(map(str, left))
        for each in known:
            remove(store, each)
        if ending.leaves_files:
            sweep(store, case.home)
    assert not list(case.disk.iterdir())
    assert not list(case.home.glob("diskprof-*"))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_at_every_moment(name: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(len(Moment)) as pool:
        cases = {
            moment: pool.submit(strike, FAULTS[name], moment, tmp_path / moment.replace(" ", "-")) for moment in Moment
        }
    for moment, case in cases.items():
        try:
            check(case.result())
        except AssertionError as error:
            error.add_note(f"{name}, {moment}")
            raise


# --- The screen ------------------------------------------------------------------------------------------------------

RESTORED = b"\x1b[?1049l"


def hang_up(screen: Terminal) -> None:
    """The terminal is closed."""
    screen.hang_up()
    screen._reap()


def signal_screen(number: int, screen: Terminal) -> None:
    os.kill(screen.pid, number)
    screen.wait_for_end()


# What ends the screen, and whether it can leave the terminal as it was.
ENDS: Mapping[str, tuple[Callable[[Terminal], None], bool]] = {
    "terminal closed": (hang_up, False),
    "SIGHUP": (partial(signal_screen, signal.SIGHUP), True),
    "SIGINT": (partial(signal_screen, signal.SIGINT), True),
    "SIGTERM": (partial(signal_screen, signal.SIGTERM), True),
    "SIGKILL": (partial(signal_screen, signal.SIGKILL), False),
}


@pytest.mark.parametrize("moment", Moment)
def test_whatever_ends_the_screen_the_run_goes_on(moment: Moment, tmp_path: Path) -> None:
    case = make_case(tmp_path / "home", moment)
    begun = diskprof(*case.words, "--detach", home=case.home, **case.environment)
    assert begun.returncode == 0, begun.stderr
    with case.store() as store, ExitStack() as stack:
        run_id = begun.stdout.strip()
        stack.callback(diskprof, "stop", run_id, home=case.home)
        case.arrive()
        runner = store.runner(run_id)
        screens = {
            name: stack.enter_context(terminal(DISKPROF, case.environment, cwd=case.home, columns=120)) for name in ENDS
        }

        def end(name: str) -> None:
            screen, (ending, restores) = screens[name], ENDS[name]
            screen.press_until("2", "Bandwidth", run_id)
            ending(screen)
            assert not restores or RESTORED in screen.raw, name

        with ThreadPoolExecutor(len(ENDS)) as pool:
            list(pool.map(end, ENDS))
        assert is_alive(runner)
        reached = store.run(run_id).progress
        until(lambda: store.run(run_id).progress != reached, "the run to go on")
        assert store.run(run_id).status is Status.RUNNING
        assert diskprof("stop", run_id, home=case.home).returncode == 0
        assert store.run(run_id).status is CANCELLED
    check_files(case, HANGUP)
