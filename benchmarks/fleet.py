"""What a fleet run costs whoever sits before it, and whether it tells the truth when connections and programs fail.

The hosts are sshds of this machine, each with a home and a store of its own. The volumes are loop devices that a control group
limits: that needs root, and a kernel that can limit block devices.

    python benchmarks/fleet.py [--quick] [--hosts N] [--seconds S] [--json FILE]
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from hosts import Hosts, hosts  # noqa: E402
from program import descendants, environment, gone, until  # noqa: E402
from throttle import Volume, throttled_group, volume_of  # noqa: E402

from diskprof.model.fleet import MemberState  # noqa: E402
from diskprof.model.histogram import merge  # noqa: E402
from diskprof.model.run import Run, Status  # noqa: E402
from diskprof.model.sample import Direction  # noqa: E402
from diskprof.runner.session import fleet_result  # noqa: E402
from diskprof.store import Store  # noqa: E402

_TICKS = os.sysconf("SC_CLK_TCK")
_LIMITS = (5_000, 5_000, 5_000, 3_500)
_AWAY_S = 20.0
_STARTS = 5
_START_S = 4.0
_STEADY = 200
"""So many reads in a tenth of a second are fio's: 2,000 a second, of a volume that is limited to 3,500."""
_JOB = """
[steady]
rw=randread
bs=4k
size=16m
rate_iops=400
ioengine=psync
time_based
runtime={seconds}
"""
_DEEP = """
[deep]
rw=randread
bs=4k
iodepth=32
ioengine=libaio
direct=1
time_based
runtime={seconds}
"""


def diskprof(found: Hosts, *words: str) -> str:
    """What the program prints. Ends the benchmark where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "diskprof", *words],
        env=environment(found.home, PATH=found.path, PYTHONPATH=str(Path(__file__).parents[1])),
        cwd=found.home,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    return done.stdout.strip()


def cpu_s(pid: int) -> float:
    """CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_mb(pid: int) -> float:
    """The most memory that a process had."""
    line = next(row for row in Path(f"/proc/{pid}/status").read_text().splitlines() if row.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def read_bytes(pid: int) -> int:
    """What a process has read: of an ssh that is told nothing, what came over the line."""
    return int(Path(f"/proc/{pid}/io").read_text().split()[1])


def measuring(store: Store, fleet_id: str, count: int) -> bool:
    statuses = store.fleet_run(fleet_id).statuses
    return sum(status.began_at is not None for status in statuses) == count


def cost(report: Report, count: int, seconds: float) -> None:
    """The coordinator, and each line, while all hosts measure."""
    names = [f"h{at + 1}" for at in range(count)]
    with tempfile.TemporaryDirectory(prefix="diskprof-bench-") as directory, hosts(Path(directory), names) as found:
        (found.home / "steady.fio").write_text(_JOB.format(seconds=f"{seconds + 60:g}s"))
        targets = [found.target(at) for at in range(count)]
        say(f"{count} hosts")
        fleet_id = diskprof(found, "run", "steady.fio", *targets, "--concurrent", "--detach", "--yes")
        with found.here() as store:
            until(lambda: measuring(store, fleet_id, count), "the start of all")
            pid = store.coordinator(fleet_id).pid
            lines = descendants(pid, "ssh")
            began, used, came = time.monotonic(), cpu_s(pid), [read_bytes(each) for each in lines]
            by_ssh = sum(map(cpu_s, lines))
            time.sleep(seconds)
            took = time.monotonic() - began
            used, by_ssh = cpu_s(pid) - used, sum(map(cpu_s, lines)) - by_ssh
            came = [read_bytes(each) - before for each, before in zip(lines, came, strict=True)]
            fleet = store.fleet_run(fleet_id)
            report.add(f"{count} hosts: coordinator", [100 * used / took], "% of a core", most=10)
            report.add(f"{count} hosts: their ssh together", [100 * by_ssh / took], "% of a core")
            report.add(f"{count} hosts: coordinator, memory", [memory_mb(pid)], "MB", most=150)
            report.add(f"{count} hosts: on the line, each", [each / took / 1000 for each in came], "kB/s", most=5)
            skew = fleet.skew / timedelta(milliseconds=1) if fleet.skew is not None else None
            report.add(f"{count} hosts: skew of the start", [skew], "ms", most=100)
            diskprof(found, "stop", fleet_id)


def truth(report: Report, seconds: float) -> None:
    """Four volumes of known limits; then once more, while everything fails."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="diskprof-bench-")))
        group = stack.enter_context(throttled_group())
        volumes = [stack.enter_context(volume_of(group, directory / f"{at}.img", 64 << 20)) for at in range(4)]
        for volume, limit in zip(volumes, _LIMITS, strict=True):
            volume.throttle.limit("read", iops=limit)
        found = stack.enter_context(hosts(directory, ("web1", "web2", "web3", "db1")))
        for server in found.servers:
            # What it starts from now on gets no more than the limits.
            (group.path / "cgroup.procs").write_text(str(server.pid))
        say("four volumes")
        fleet_id = diskprof(found, *_words(found, volumes, seconds))
        with found.here() as store:
            until(lambda: store.fleet_run(fleet_id).status.over, "the end")
            result = fleet_result(store, fleet_id)
            iops = [_iops(run) for run in result.runs]
            report.add("four volumes: sum, off its limits", [100 * abs(sum(iops) / sum(_LIMITS) - 1)], "%", most=0.5)
            report.add("four volumes: merged p99 as of the added bins", [float(_merged(found, result.runs))], least=1)
            skew = result.fleet.skew
            report.add("four volumes: skew", [skew / timedelta(milliseconds=1) if skew else None], "ms", most=100)
            _starts(report, found, volumes)
            _fail(report, found, store, diskprof(found, *_words(found, volumes, seconds + _AWAY_S + 20)))


def _starts(report: Report, found: Hosts, volumes: Sequence[Volume]) -> None:
    """How far apart fio's first I/Os are on four volumes, as the kernel counts them: by our barrier, and by fio's own client."""
    say("four volumes, started by the barrier and by fio's client")
    apart = dict[str, list[float]]()
    for _ in range(_STARTS):
        for engine in ("fio", "fio-server"):
            fleet_id = diskprof(found, *_words(found, volumes, _START_S), "--engine", engine)
            apart.setdefault(engine, []).append(_first_ios(volumes))
            with found.here() as store:
                until(lambda: store.fleet_run(fleet_id).status.over, "the end")  # noqa: B023
                assert store.fleet_run(fleet_id).status is Status.COMPLETE, store.fleet_run(fleet_id).reason
    for engine, found_ms in apart.items():
        report.add(f"four volumes, --engine {engine}: first I/Os apart", found_ms, "ms", most=100)


def _first_ios(volumes: Sequence[Volume]) -> float:
    """Milliseconds from the first volume that is read steadily to the last."""
    counts = [Path(f"/sys/block/{volume.node.rpartition('/')[2]}/stat") for volume in volumes]
    seen: list[list[tuple[float, int]]] = [[] for _ in counts]
    began = dict[int, float]()
    deadline = time.monotonic() + _AWAY_S
    while len(began) < len(counts) and time.monotonic() < deadline:
        for at, path in enumerate(counts):
            now, ios = time.monotonic(), int(path.read_text().split()[0])
            seen[at] = [each for each in seen[at] if each[0] > now - 0.1] + [(now, ios)]
            # What looks at a device before reads it now and then.
            if at not in began and ios - seen[at][0][1] >= _STEADY:
                began[at] = next(when for when, count in seen[at] if count > seen[at][0][1])
        time.sleep(0.001)
    if len(began) < len(counts):
        raise SystemExit("Not every volume is read.")
    return 1000 * (max(began.values()) - min(began.values()))


def _words(found: Hosts, volumes: Sequence[Volume], seconds: float) -> list[str]:
    pairs = zip(found.servers, volumes, strict=True)
    targets = [f"{server.host}:{volume.node}" for server, volume in pairs]
    (found.home / "deep.fio").write_text(_DEEP.format(seconds=f"{seconds:g}s"))
    return ["run", "deep.fio", *targets, "--detach", "--yes"]


def _iops(run: Run) -> float:
    result = run.tests[0].result
    return result.read.iops if result and result.read else 0.0


def _merged(found: Hosts, runs: Sequence[Run]) -> bool:
    """Whether p99 of all is that of the bins that the hosts have, added up."""
    from diskprof.analysis.fleet.sums import sums

    bins = []
    for at, run in enumerate(runs):
        with found.store(at) as there:
            result = there.run(run.id).tests[0].result
            if result and result.read and result.read.histogram:
                bins.append(result.read.histogram)
    with found.here() as store:
        assert runs[0].fleet
        together = fleet_result(store, runs[0].fleet.fleet_id).together
    (reads,) = (each for each in sums(together) if each.direction is Direction.READ)
    return len(bins) == len(runs) and reads.quantile(0.99) == merge(bins).quantile(0.99)


def _fail(report: Report, found: Hosts, store: Store, fleet_id: str) -> None:
    """An ssh is killed, an sshd stopped for 20 s, the coordinator killed; nothing that a host measured may be missing."""
    say("four volumes, while everything fails")
    until(lambda: measuring(store, fleet_id, 4), "the start of all")
    pid = store.coordinator(fleet_id).pid

    def states() -> list[MemberState]:
        return [status.state for status in store.fleet_run(fleet_id).statuses]

    os.kill(descendants(pid, "ssh")[0], signal.SIGKILL)
    until(lambda: MemberState.LOST in states(), "the loss of a host")
    until(lambda: states() == [MemberState.RUNNING] * 4, "its return")
    stopped = [found.servers[1].pid, *found.servers[1].sessions()]
    for each in stopped:
        os.kill(each, signal.SIGSTOP)
    time.sleep(_AWAY_S)
    lost = states()[1] is MemberState.LOST
    for each in stopped:
        os.kill(each, signal.SIGCONT)
    until(lambda: states() == [MemberState.RUNNING] * 4, "the return of the stopped host")
    report.add("a stopped sshd is lost, and back", [float(lost)], least=1)
    os.kill(pid, signal.SIGKILL)
    until(lambda: gone(pid), "the end of the coordinator")
    store.reap()
    ids = [run.id for run in store.runs_of_fleet(fleet_id)]
    for at, run_id in enumerate(ids):
        with found.store(at) as there:
            until(lambda: there.run(run_id).status.over, "the end on a host")  # noqa: B023
    diskprof(found, "fleet", "fetch")
    whole = 0
    for at, run_id in enumerate(ids):
        with found.store(at) as there:
            same = store.samples(run_id) == there.samples(run_id) and store.run(run_id).tests == there.run(run_id).tests
            whole += same and store.run(run_id).status is Status.COMPLETE
    report.add("ssh killed, sshd stopped, coordinator killed: whole runs", [float(whole)], "of 4", least=4)
    left = sum(len(server.programs()) for server in found.servers)
    report.add("processes that remain on the hosts", [float(left)], most=0)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--hosts", type=int, metavar="N", help="sshds that the coordinator follows (16; quick: 4)")
    options.add_argument("--seconds", type=float, metavar="S", help="for which each is looked at (30; quick: 10)")
    chosen = options.parse_args()
    count = chosen.hosts or (4 if chosen.quick else 16)
    seconds = chosen.seconds or (10.0 if chosen.quick else 30.0)
    report = Report("A fleet run", f"{count} sshds on this machine, {seconds:g} s; then 4 throttled volumes")
    cost(report, count, seconds)
    truth(report, seconds)
    report.publish(chosen.json)


if __name__ == "__main__":
    main()
