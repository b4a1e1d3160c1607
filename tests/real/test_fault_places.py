"""Disks that fail, hang or fill up below the target or below the store while a run goes, and clocks that are set."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from faults import Case, make_case, stand_still
from forked import diskprof, diskprof_json
from loops import Loops, call, tried
from program import PATIENCE_S, descendants, gone, own_preset, until
from standin import Moment

from diskprof.engines.tools import find_tool
from diskprof.model.preset import EngineName
from diskprof.model.run import Run, Status
from diskprof.model.sample import Phase
from diskprof.runner.leftovers import leftovers
from diskprof.store import Store

# The program with less patience than a person's disk gets.
HURRIED = """
from diskprof.runner.carry import in_child
in_child.PATIENCE_S = 1.0
from diskprof.cli.entry import run
run()
"""


@pytest.fixture
def volume(loops: Loops) -> Path:
    """A file system of ours on `disk1.img`."""
    node = loops.disk(2 << 30)
    loops.file_system(node, "ext4", "-m", "0", "-E", "lazy_itable_init=1")
    return loops.mount(node)


def thawed(place: Path) -> None:
    with suppress(OSError):
        tried("fsfreeze", "--unfreeze", place)


def on(case: Case, place: Path, *more: str) -> tuple[str, ...]:
    return tuple(str(place) if word == "disk" else word for word in case.words) + more


@pytest.mark.needs("fio", "root", "loop", "mkfs.ext4", "fsfreeze")
def test_a_frozen_file_system_holds_up_neither_the_run_nor_who_looks(tmp_path: Path, volume: Path) -> None:
    case = make_case(tmp_path / "home", Moment.BETWEEN)
    with ExitStack() as stack:
        words = [sys.executable, "-c", HURRIED, *on(case, volume)]
        process = stack.enter_context(
            subprocess.Popen(words, env=case.environment, cwd=case.home, stderr=subprocess.PIPE, text=True)
        )
        stack.callback(process.kill)
        stack.callback(thawed, volume)
        case.arrive()
        case.go_on()
        until(lambda: any(sample.test == 1 for sample in case.seen()), "samples of the writes")
        engines = case.engines()
        call("fsfreeze", "--freeze", volume)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130, err
        shown = diskprof("show", "latest", home=case.home)
        assert shown.returncode == 0 and "is stuck in the kernel" in " ".join(shown.stdout.split())
        run = case.ended()
        assert run.status is Status.CANCELLED and run.reason.startswith("Stopped by user")
        assert f"fio (process {engines[0]}) is stuck in the kernel" in run.reason
        assert "Could not remove the test file" in run.reason and "has not answered for 1 s" in run.reason
        assert [test.status for test in run.tests] == [Status.COMPLETE, Status.CANCELLED]
        with case.store() as store:
            (left,) = leftovers(store)
            assert left.run_id == run.id and Path(left.directory).is_dir()
        thawed(volume)
        until(lambda: all(map(gone, engines)), "the end of fio")
        until(lambda: not list(volume.glob(".diskprof-*")), "the removal of the test file")


@pytest.mark.needs("fio", "root", "loop", "mkfs.ext4")
@pytest.mark.parametrize(
    ("gone", "reason"), [(False, "Input/output error (EIO)"), (True, "was removed during the run: its size is 0 now.")]
)
def test_a_disk_that_fails_in_mid_run_is_the_reason_and_its_file_is_not_forgotten(
    tmp_path: Path, volume: Path, gone: bool, reason: str
) -> None:
    case = make_case(tmp_path / "home", Moment.MEASURING)
    case.words = on(case, volume, "--set", "size=64m")
    with case.started() as process:
        case.arrive(process)
        os.truncate(tmp_path / "disk1.img", 0)
        if gone:
            call("losetup", "--set-capacity", call("findmnt", "--noheadings", "--output", "SOURCE", volume))
        (volume / "reader").touch()
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, err
    run = case.ended()
    assert run.status is Status.FAILED and reason in run.reason, run.reason
    assert run.tests[0].status is Status.FAILED
    assert any(sample.phase is Phase.MEASURING for sample in case.seen())
    if list(volume.glob(".diskprof-*")):
        assert "Could not remove the test file" in run.reason
        with case.store() as store:
            assert [each.run_id for each in leftovers(store)] == [run.id]


PULLED = """
name = "matrix"
title = "Pulled"
category = "quick"
parameters = { ioengine = { default = "libaio", kind = "text" } }

[fio]
size = "16m"
ioengine = "$ioengine"
iodepth = 8
direct = true
time_based = true
runtime = "10m"
bs = "4k"

[[test]]
name = "reads"
title = "Random reads"
options = { rw = "randread" }

[[test]]
name = "more"
title = "More of them"
options = { rw = "read" }
"""


def pulled(home: Path, target: Path | str, pull: Callable[[], object]) -> Case:
    """A run on `target` from which `pull` takes the data away while it measures; it lets the run end by itself."""
    case = make_case(home, Moment.MEASURING)
    own_preset(home, "matrix", PULLED)
    case.words = ("run", "matrix", str(target), "--yes", "--expect", "reads.read.iops>=1")
    with case.started() as process:
        case.arrive(process)
        pull()
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, err
    return case


def stands_without_result(case: Case, then: Status) -> Run:
    """The samples stand, and hold nothing that moved no data; nothing is made of them. `then`: what becomes of the second test."""
    run = case.ended()
    assert [test.status for test in run.tests] == [Status.FAILED, then]
    assert [test.result for test in run.tests] == [None, None]
    assert run.findings == ()
    samples = case.seen()
    ios, size = (sum(getattr(sample, name) for sample in samples) for name in ("ios", "bytes"))
    # fio reads the two one after the other (F88): one of them may be some milliseconds ahead.
    assert samples and all(sample.test == 0 for sample in samples) and size > 0.8 * 4096 * ios
    (test, _) = diskprof_json("show", run.id, "--json", home=case.home)["tests"]
    assert test["status"] == "failed" and not test.get("read")
    with case.store() as store:
        (summary,) = store.summaries(limit=1)
        assert summary.headline == ""
    return run


@pytest.mark.needs("fio", "root", "loop")
def test_a_disk_that_is_pulled_ends_the_run_and_keeps_what_it_did_until_then(tmp_path: Path, loops: Loops) -> None:
    node = loops.disk(32 << 20)

    def pull() -> None:
        os.truncate(tmp_path / "disk1.img", 0)
        call("losetup", "--set-capacity", node)

    run = stands_without_result(pulled(tmp_path / "home", node, pull), Status.SKIPPED)
    assert run.reason == f"{Path(node).name} was removed during the run: its size is 0 now."
    assert run.tests[0].reason == run.reason


@pytest.mark.needs("fio")
def test_a_file_that_becomes_shorter_ends_its_test_and_keeps_what_it_did_until_then(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(os.urandom(16 << 20))
    case = pulled(tmp_path / "home", file, lambda: os.truncate(file, 0))
    run = stands_without_result(case, Status.FAILED)
    assert run.reason.startswith("reads: fio counted requests that moved no data: the target shrank or disappeared")


@pytest.mark.needs("fio", "sys-admin", "mount")
def test_a_store_that_cannot_grow_ends_the_run_and_keeps_what_it_had(tmp_path: Path) -> None:
    case = make_case(tmp_path / "home", Moment.MEASURING)
    place = case.store_path.parent
    call("mount", "-t", "tmpfs", "-o", "size=1m", "small", place)
    try:
        with case.started() as process:
            case.arrive(process)
            before = case.seen()
            fill(place / "ballast")
            _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
        assert "cannot grow: the disk is full" in err and "Free space" in err and "Traceback" not in err
        assert case.integrity() == "ok"
        (place / "ballast").unlink()
        run = case.ended()
        assert case.seen()[: len(before)] == before
        assert run.status in (Status.FAILED, Status.INTERRUPTED) and run.reason
        assert not list(case.disk.iterdir())
        with case.store() as store:
            store.set_note(run.id, "there is room again")
    finally:
        call("umount", place)


def fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))


@pytest.mark.needs("fio", "sys-admin", "mount")
def test_a_run_that_cannot_be_written_down_does_not_begin(tmp_path: Path) -> None:
    case = make_case(tmp_path / "home", Moment.RAMP)
    place = case.store_path.parent
    call("mount", "-t", "tmpfs", "-o", "size=1m", "small", place)
    try:
        Store.open(case.store_path).close()
        call("mount", "-o", "remount,ro", place)
        done = diskprof(*case.words, home=case.home)
        assert done.returncode == 1 and f"{case.store_path} can only be read here" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
        assert diskprof_json("runs", "--json", home=case.home) == []
    finally:
        call("umount", place)
    assert not list(case.disk.iterdir())


# As if somebody set the clock of the machine while the run goes: an hour back, later two hours on.
SET_CLOCK = """
import time
from datetime import UTC, datetime, timedelta
from diskprof.store import store

class Clock(datetime):
    began = time.monotonic()

    @classmethod
    def now(cls, zone=None):
        seconds = time.monotonic() - cls.began
        hours = 0 if seconds < 1.2 else -1 if seconds < 2.4 else 1
        return datetime.now(UTC) + timedelta(hours=hours)

store.datetime = Clock
from diskprof.cli.entry import run
run()
"""
# fio tells the time of day too.
SHIFTED = """#!{python} -IS
import re, subprocess, sys
fio = subprocess.Popen([{fio!r}, *sys.argv[1:]], stdout=subprocess.PIPE)
number = 0
for line in fio.stdout:
    number += line == b"{{\\n"
    shift = (0, 0, -3_600_000, 3_600_000)[min(number, 3)]
    line = re.sub(rb'("timestamp(?:_ms)?" : )(\\d+)', lambda m: m[1] + b"%d" % (int(m[2]) + shift), line)
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(fio.wait())
"""


@pytest.mark.needs("fio")
def test_a_clock_that_is_set_in_mid_run_changes_no_figure_and_no_order(tmp_path: Path) -> None:
    case = make_case(tmp_path / "home", Moment.RAMP)
    standin = tmp_path / "fio"
    standin.write_text(SHIFTED.format(python=sys.executable, fio=find_tool(EngineName.FIO).path))
    standin.chmod(0o755)
    words = [sys.executable, "-c", SET_CLOCK, "run", "matrix", "disk", "--yes", "--set", "first=1500ms"]
    env = {**case.environment, "DISKPROF_FIO": str(standin)}
    began = datetime.now(UTC)
    done = subprocess.run(words, env=env, cwd=case.home, capture_output=True, text=True, timeout=PATIENCE_S)
    took = datetime.now(UTC) - began
    assert done.returncode == 0, done.stderr
    run = case.ended()
    assert run.status is Status.COMPLETE
    assert run.ended_at and timedelta(seconds=2) < run.ended_at - run.started_at < took
    samples = case.seen()
    assert [sample.at_ns for sample in samples] == sorted(sample.at_ns for sample in samples)
    measured = [sample for sample in samples if sample.phase is Phase.MEASURING]
    assert len(measured) > 5
    assert all(sample.duration_ns < 2_000_000_000 for sample in measured)
    for test in run.tests:
        mine = sum(sample.duration_ns for sample in measured if sample.test == test.index)
        assert 0 < mine < (test.ended_ns or 0) - (test.started_ns or 0)


# As if the machine slept for 3 h 12 min while the first test measures: the one clock goes on, the other does not.
ASLEEP = """
import time
from functools import partial
from diskprof.model.sample import Phase
from diskprof.runner.carry import execute

heard = 0

class ProgressMeter(execute.ProgressMeter):
    def heard(self, samples):
        global heard
        super().heard(samples)
        heard += self.phase is Phase.MEASURING

def boottime_ns():
    return time.monotonic_ns() + (11_520 * 10**9 if heard >= 3 else 0)

execute.ProgressMeter = ProgressMeter
execute.boottime_ns = boottime_ns
execute.LapseWatch = partial(execute.LapseWatch, boottime=boottime_ns)
from diskprof.cli.entry import run
run()
"""


@pytest.mark.needs("fio")
def test_a_machine_that_sleeps_while_a_test_measures_is_told(tmp_path: Path) -> None:
    case = make_case(tmp_path / "home", Moment.MEASURING)
    words = [sys.executable, "-c", ASLEEP, "run", "matrix", "disk", "--yes", "--set", "first=5", "--set", "size=1m"]
    done = subprocess.run(
        words, env=case.environment, cwd=case.home, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    run = case.ended()
    assert run.status is Status.COMPLETE
    told = [message.text for message in run.messages if message.warning and "suspended" in message.text]
    assert told == ["The machine was suspended for 3 h 12 min."]
    (slept,) = (finding for finding in run.findings if finding.name == "slept")
    assert slept.test == "reads" and slept.evidence.startswith("for 3 h 12 min, ")
    assert run.ended_at and timedelta(seconds=11_520) < run.ended_at - run.started_at < timedelta(seconds=11_580)
    assert all(sample.duration_ns < 2_000_000_000 for sample in case.seen())


@pytest.mark.needs("fio")
def test_a_run_that_was_stopped_and_continued_says_so_and_does_not_blame_the_disk(tmp_path: Path) -> None:
    case = make_case(tmp_path / "home", Moment.MEASURING, lasting=False)
    case.words = ("run", "matrix", "disk", "--yes", "--set", "first=7")
    with case.started() as process:
        case.arrive(process)
        until(lambda: sum(sample.phase is Phase.MEASURING for sample in case.seen()) > 6, "some samples")
        stand_still(case, process, 3.0)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    run = case.ended()
    assert run.status is Status.COMPLETE
    names = {finding.name for finding in run.findings if finding.test in ("reads", "")}
    assert "stood-still" in names and not {"stall", "slept"} & names


def test_a_watcher_of_a_killed_run_is_told_and_does_not_wait_for_ever(tmp_path: Path) -> None:
    case = make_case(tmp_path / "home", Moment.RAMP)
    begun = diskprof(*case.words, "--detach", home=case.home, **case.environment)
    assert begun.returncode == 0, begun.stderr
    with case.store() as store:
        runner = store.runner(begun.stdout.strip()).pid
    case.arrive()
    with subprocess.Popen(
        [sys.executable, "-m", "diskprof", "attach", "--json"],
        env=case.environment,
        cwd=case.home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stderr and "warming up" in watching.stderr.readline()
        assert descendants(runner, "fio")
        os.kill(runner, signal.SIGKILL)
        out, _ = watching.communicate(timeout=PATIENCE_S)
    assert watching.returncode == 1
    assert '"status": "interrupted"' in out
