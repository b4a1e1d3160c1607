"""A runner that is killed at any moment whatever: a hundred times, and nothing that anybody saw is lost."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from faults import Case, make_case
from program import PATIENCE_S, descendants, environment, gone, until, write_quick_fio
from standin import Moment

from diskprof.model.run import Status
from diskprof.model.sample import Sample
from diskprof.runner.carry.workdir import sweep
from diskprof.runner.leftovers import leftovers, remove
from diskprof.store import Store

TIMES, SIDE_BY_SIDE, LONGEST_S = 100, 8, 1.3
EARLY = 18
"""So many are killed by the time since they were started, the others by the time since their run was written down."""

# One process that has all modules in memory makes a runner a line: the same program, without its time to start.
LAUNCHER = """
import os, signal, sys
import diskprof.cli.commands.run, diskprof.cli.watching, diskprof.presets.library, diskprof.presets.resolve
import diskprof.reports.render.text, diskprof.runner.carry.begin, diskprof.runner.carry.execute
import diskprof.runner.plan.planner
from diskprof.cli.entry import run
from diskprof.cli.main import main
main.main(["run", "matrix", "disk", "--dry-run", "--json"], standalone_mode=False)
print("ready", flush=True)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        sys.argv = ["diskprof", *line.split()]
        try:
            run()
        finally:
            os._exit(1)
    print(pid, flush=True)
"""


@dataclass
class Witness:
    """Somebody who reads all along, and remembers."""

    store: Store
    seen: dict[str, tuple[Sample, ...]] = field(default_factory=dict)
    runs: dict[int, str] = field(default_factory=dict)

    def look(self) -> None:
        for summary in self.store.summaries(limit=2 * SIDE_BY_SIDE):
            now = self.store.samples(summary.id).samples
            before = self.seen.get(summary.id, ())
            assert now[: len(before)] == before, f"samples of {summary.id} were lost"
            self.seen[summary.id] = now

    def knows(self, doomed: "Sequence[Doomed]") -> bool:
        for summary in self.store.summaries(limit=2 * SIDE_BY_SIDE):
            self.runs[self.store.runner(summary.id).pid] = summary.id
        return all(each.pid in self.runs for each in doomed)


@dataclass
class Doomed:
    pid: int
    end: int
    """A descriptor that is readable once it has ended."""
    seconds: float


@contextmanager
def launcher(case: Case) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER],
        env=environment(case.home, TMPDIR=str(case.home), PATH=write_quick_fio(case.home / "bin")),
        cwd=case.home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            until(lambda: process.stdout.readline() == "ready\n", "the launcher")
            yield process
        finally:
            process.kill()


def launched(process: subprocess.Popen[str], words: tuple[str, ...], seconds: float) -> Doomed:
    assert process.stdin and process.stdout
    process.stdin.write(" ".join(words) + "\n")
    process.stdin.flush()
    pid = int(process.stdout.readline())
    return Doomed(pid, os.pidfd_open(pid), seconds)


@pytest.mark.needs("fio")
def test_a_hundred_runners_killed_at_random_lose_nothing_and_leave_nothing_unknown(tmp_path: Path) -> None:
    case, random = make_case(tmp_path / "home", Moment.RAMP), Random(5)
    words = ("run", "matrix", "disk", "--yes", "--concurrent", "--set", "ramp=100ms", "--set", "first=600ms")
    with launcher(case) as process, Store.open(case.store_path) as store:
        witness, left = Witness(store), TIMES
        while left:
            doomed = [launched(process, words, random.uniform(0, LONGEST_S)) for _ in range(min(left, SIDE_BY_SIDE))]
            left -= len(doomed)
            engines = []
            if left < TIMES - EARLY:
                until(lambda doomed=doomed: witness.knows(doomed), "runs that are written down")
            spent = 0.0
            for each in sorted(doomed, key=lambda each: each.seconds):
                witness.look()
                # The clock decides: that is what is tried here.
                select.select([each.end], [], [], each.seconds - spent)
                spent = each.seconds
                witness.look()
                engines += descendants(each.pid)
                with suppress(ProcessLookupError):  # it was quicker
                    signal.pidfd_send_signal(each.end, signal.SIGKILL)
                assert select.select([each.end], [], [], PATIENCE_S)[0]
                os.close(each.end)
            until(lambda engines=engines: all(map(gone, engines)), "the end of every engine")
            store.reap()
            witness.look()
            assert case.integrity() == "ok"
        check_ends(store, witness)
        check_files(case, store)


def check_ends(store: Store, witness: Witness) -> None:
    summaries = store.summaries()
    assert TIMES - EARLY <= len(summaries) <= TIMES
    assert {summary.status for summary in summaries} <= {Status.INTERRUPTED, Status.COMPLETE}
    assert sum(summary.status is Status.INTERRUPTED for summary in summaries) > TIMES // 2
    assert sum(bool(samples) for samples in witness.seen.values()) > TIMES // 10
    for run_id, samples in witness.seen.items():
        assert store.samples(run_id).samples[: len(samples)] == samples
        numbers = [sample.at_ns for sample in samples]
        assert numbers == sorted(numbers)


def strays(case: Case) -> list[str]:
    """Engines at work in this test's directory, whoever started them."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            text = command.read_bytes().decode(errors="replace")
            if f"--filename={case.disk}" in text:
                found.append(text)
    return found


def check_files(case: Case, store: Store) -> None:
    """A child of a killed runner may be making a directory just now: it is known all the same."""

    def known() -> bool:
        return {each.directory for each in leftovers(store)} == {str(path) for path in case.disk.iterdir()}

    until(lambda: not strays(case), "the end of every engine")
    until(known, "every directory to be known")
    assert list(case.disk.iterdir())
    for each in list(leftovers(store)):
        remove(store, each)
    sweep(store, case.home)
    assert not list(case.disk.iterdir())
    assert not list(case.home.glob("diskprof-*"))
