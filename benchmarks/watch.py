"""What watching a disk takes of a processor: `diskprof watch` that prints a line a second, and the runner of a recorded one.

The disk is the one that the directory for temporary files is on, or that of `--target`, whatever others do to it meanwhile:
what the kernel counted is read once a second. Most of it is a look at every process. And what tracing each request takes, on a
loop device that fio asks 5,000 requests a second of (as root).

    python benchmarks/watch.py [--quick] [--rounds N] [--seconds S] [--target TARGET] [--json FILE]
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from measuring.figures import Report, parser
from measuring.processes import Cost, Home, diskprof, end, generators, new_home, run

generators()

from diskprof.devices.requests.tracefs import tracefs  # noqa: E402
from diskprof.store import Store  # noqa: E402

_SETTLED_S = 1.0
_PATIENCE_S = 60.0
_RATE = 5000


@contextmanager
def printing(home: Home, target: str, *options: str) -> Iterator[int]:
    """`diskprof watch`, from its first line on; gives its process."""
    words = (*diskprof(), "watch", target, *options)
    with subprocess.Popen(words, env=dict(home.environment), cwd=home.path, stdout=subprocess.PIPE) as process:
        assert process.stdout
        for _ in range(2):
            process.stdout.readline()
        try:
            yield process.pid
        finally:
            end(process.pid, child=False)


@contextmanager
def tracing(home: Home, rate: int) -> Iterator[int]:
    """`diskprof watch --requests` of a disk of ours that fio asks `rate` requests a second of; gives its process."""
    with ExitStack() as undo:
        if not tracefs():
            place = home.path / "tracing"
            place.mkdir()
            run(("mount", "-t", "tracefs", "tracefs", str(place)), home)
            undo.callback(run, ("umount", str(place)), home)
        image = home.path / "traced.img"
        image.write_bytes(bytes(64 << 20))
        node = run(("losetup", "--find", "--show", str(image)), home).strip()
        undo.callback(run, ("losetup", "--detach", node), home)
        half = str(rate // 2)
        load = (
            "fio",
            "--name=load",
            f"--filename={node}",
            "--rw=randrw",
            f"--rate_iops={half},{half}",
            "--direct=1",
            "--bs=4k",
        )
        more = ("--ioengine=libaio", "--iodepth=8", "--time_based", "--runtime=3600")
        fio = undo.enter_context(subprocess.Popen((*load, *more), stdout=subprocess.DEVNULL, cwd=home.path))
        undo.callback(end, fio.pid, child=False)
        yield undo.enter_context(printing(home, node, "--requests"))


@contextmanager
def recorded(home: Home, target: str) -> Iterator[int]:
    """`diskprof watch --record` in the background, from its first interval on; gives its runner."""
    run_id = run((*diskprof(), "watch", target, "--record", "--detach"), home).strip()
    try:
        with Store.open(home.store) as store:
            deadline = time.monotonic() + _PATIENCE_S
            while not store.samples(run_id).samples:
                if time.monotonic() > deadline:
                    raise SystemExit(f"The watch of {target} counted nothing.")
                time.sleep(0.05)
            pid = store.runner(run_id).pid
        yield pid
    finally:
        run((*diskprof(), "stop", run_id), home)


def cost_of(pid: int, seconds: float) -> float:
    """Percent of a core, once the process has settled."""
    time.sleep(_SETTLED_S)
    cost = Cost(pid)
    time.sleep(seconds)
    cost.stop()
    return 100 * cost.cpu


def costs(home: Home, target: str, rounds: int, seconds: float) -> tuple[Sequence[float], Sequence[float]]:
    """Of lines and of the runner, in turn."""
    lines, runner = [], []
    for _ in range(rounds):
        with printing(home, target) as pid:
            lines.append(cost_of(pid, seconds))
        with recorded(home, target) as pid:
            runner.append(cost_of(pid, seconds))
    return lines, runner


def _traced_cost(home: Home, seconds: float) -> float:
    with tracing(home, _RATE) as pid:
        return cost_of(pid, seconds)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, help="how often each is measured (5; quick: 1)")
    options.add_argument("--seconds", type=float, help="how long each time (20; quick: 2)")
    options.add_argument("--target", type=Path, help="what to watch (the directory for temporary files)")
    chosen = options.parse_args()
    rounds = chosen.rounds or (1 if chosen.quick else 5)
    seconds = chosen.seconds or (2.0 if chosen.quick else 20.0)
    processes = sum(name.isdigit() for name in os.listdir("/proc"))  # noqa: PTH208
    report = Report(
        "Watching a disk",
        f"Medians of {rounds} times {seconds:g} s, an interval a second, beside {processes} processes.",
    )
    with new_home() as home:
        lines, runner = costs(home, str(chosen.target or tempfile.gettempdir()), rounds, seconds)
    report.add("a line a second, processor", lines, "% of a core", most=1.0)
    report.add("recorded, processor of the runner", runner, "% of a core", most=1.0)
    if os.geteuid() == 0 and Path("/dev/loop-control").exists():
        with new_home() as home:
            traced = [_traced_cost(home, seconds) for _ in range(rounds)]
        report.add(f"--requests, {_RATE:,} requests a second", traced, "% of a core", most=3.0)
    report.publish(chosen.json)


if __name__ == "__main__":
    main()
