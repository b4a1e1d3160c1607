"""Runs that are watched: by `diskprof run` alone, and by the live screen in a terminal."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from measuring.processes import Ended, Home, diskprof, generators, run
from measuring.terminal import Size, Terminal, reads, terminal
from measuring.workloads import Bench, Workload

generators()

from diskprof.model.run import Run  # noqa: E402
from diskprof.store import Store  # noqa: E402

_PATIENCE_S = 60.0


@contextmanager
def run_headless(bench: Bench, workload: Workload, seconds: float) -> Iterator[int]:
    """`diskprof run`, its output thrown away: the id of its process. Waits for its end."""
    with subprocess.Popen(
        bench.order(workload, seconds),
        env=dict(bench.home.environment),
        cwd=bench.home.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process.pid
            process.wait(seconds + _PATIENCE_S)
        finally:
            process.terminate()
    kept_run(bench.home, "latest")


@contextmanager
def run_watched(bench: Bench, workload: Workload, seconds: float, size: Size) -> Iterator[tuple[Terminal, int, str]]:
    """A detached run with the live screen on it: the terminal, the id of the runner's process, the run's. Waits for its end."""
    with terminal(diskprof(), size, bench.home) as screen:
        screen.shows(reads("nothing running"))
        screen.quiet(0.5)
        screen.type("2")
        screen.quiet(0.5)
        run_id = run(bench.order(workload, seconds, "--detach"), bench.home).split()[0]
        with Store.open(bench.home.store) as store:
            pid = store.runner(run_id).pid
        with Ended(pid) as ended:
            yield screen, pid, run_id
            screen.pump(time.perf_counter() + seconds + _PATIENCE_S, ended=ended)
        if not screen.alive:
            raise SystemExit("the screen ended by itself:\n" + "\n".join(screen.lines))
    kept_run(bench.home, run_id)


@contextmanager
def run_followed(bench: Bench, workload: Workload, seconds: float) -> Iterator[int]:
    """A detached run whose intervals `diskprof attach --follow` prints: the id of that process, once it has begun. Stops both."""
    # However long attach takes to start.
    run_id = run(bench.order(workload, seconds + _PATIENCE_S, "--detach"), bench.home).split()[0]
    printed = bench.home.path / "followed"
    with (
        printed.open("wb") as out,
        subprocess.Popen(
            (*diskprof(), "attach", run_id, "--follow", "jsonl"),
            env=dict(bench.home.environment),
            cwd=bench.home.path,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            while not printed.stat().st_size:
                if process.poll() is not None:
                    raise SystemExit("attach --follow ended without a line")
                time.sleep(0.05)
            yield process.pid
        finally:
            run((*diskprof(), "stop", run_id), bench.home)
            process.terminate()


def kept_run(home: Home, name: str) -> Run:
    """A run that ended well; ends the program for any other."""
    with Store.open(home.store) as store:
        found = store.run(store.resolve(name))
    if found.tests[0].result is None or not found.status.over:
        raise SystemExit(f"run {found.id} did not end well: {found.status} {found.reason}")
    return found
