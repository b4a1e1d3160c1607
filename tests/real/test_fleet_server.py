"""One load from several hosts by fio's client and servers, over real sshds."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import diskprof
from hosts import Hosts, hosts
from program import descendants, until

from diskprof.model.run import Run, Status
from diskprof.model.sample import Phase
from diskprof.store import Store

pytestmark = pytest.mark.needs("ssh", "sshd", "ssh-keygen", "fio")

JOB = """
[global]
rw=randread
bs=4k
size=1m
ioengine=psync
{0}
[slow]
rate_iops=100
io_size=200k
[fast]
rate_iops=400
io_size=800k
"""
SLOW, FAST = 50, 200
"""How many I/Os these are, however busy the machine is."""


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Hosts]:
    with hosts(tmp_path, ("web1", "db1")) as found:
        (found.home / "short.fio").write_text(JOB.format("runtime=1m"))
        (found.home / "long.fio").write_text(JOB.format("time_based\nruntime=10m"))
        yield found


def started(two: Hosts, job: str, *more: str) -> str:
    done = diskprof(
        *("run", job, two.target(0), two.target(1), "--engine", "fio-server", "--yes", *more),
        home=two.home,
        PATH=two.path,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def runs(store: Store, fleet_id: str) -> list[Run]:
    return [store.run(each.id) for each in store.runs_of_fleet(fleet_id)]


def servers(two: Hosts) -> list[int]:
    """The fio servers that this machine's fio client may reach: none of another test's has these sockets."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
            directory = (each.parent / "cwd").readlink()
        except OSError:
            continue
        if any(word.startswith(b"--server=sock:") for word in words) and directory.name.startswith("diskprof-"):
            ids = {run.id for at in range(2) for run in _runs_there(two, at)}
            if any(run_id in directory.name for run_id in ids):
                found.append(int(each.parent.name))
    return found


def _runs_there(two: Hosts, at: int) -> list[Run]:
    with two.store(at) as there:
        return [there.run(each.id) for each in there.summaries()]


def test_each_host_has_its_own_results(two: Hosts) -> None:
    started(two, "short.fio")
    with two.here() as store:
        (fleet,) = store.fleet_runs()
        assert fleet.status is Status.COMPLETE, fleet.reason
        for run, server in zip(runs(store, fleet.id), two.servers, strict=True):
            (test,) = run.tests
            assert test.result and test.result.read
            jobs = {job.name: job.read for job in test.result.jobs}
            assert {name: read and read.ios for name, read in jobs.items()} == {"slow": SLOW, "fast": FAST}
            assert test.result.read.ios == SLOW + FAST
            assert test.result.read.histogram and test.result.read.histogram.total == SLOW + FAST
            # Of two hosts on one machine only the files tell whose fio it was.
            assert str(server.home).encode() in store.document(run.id, 0)
            measured = [each for each in store.samples(run.id).samples if each.phase is Phase.MEASURING]
            assert sum(each.ios for each in measured) == SLOW + FAST
    assert servers(two) == []


def test_a_lost_connection_fails_its_host_and_a_stop_leaves_no_server(two: Hosts) -> None:
    fleet_id = started(two, "long.fio", "--detach")
    with two.here() as store:
        coordinator = store.coordinator(fleet_id).pid
        until(lambda: len(servers(two)) == 6, "a server, its connection and its jobs on each host")
        until(lambda: descendants(coordinator, "fio"), "the client")
        forwards = [
            pid
            for pid in descendants(coordinator, "ssh")
            if b"-N" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        ]
        assert len(forwards) == 2
        os.kill(forwards[0], signal.SIGKILL)
        until(lambda: sum(run.status.over for run in runs(store, fleet_id)) == 1, "the end of one")
        (failed,) = [run for run in runs(store, fleet_id) if run.status.over]
        assert failed.status is Status.FAILED
        assert "The connection to the fio client was lost." in failed.reason
        assert len(servers(two)) == 3
        done = diskprof("stop", fleet_id, home=two.home, PATH=two.path)
        assert done.returncode == 0, done.stderr
        until(lambda: store.fleet_run(fleet_id).status.over, "the end of all")
        assert {run.status for run in runs(store, fleet_id)} == {Status.FAILED, Status.CANCELLED}
    until(lambda: servers(two) == [], "the end of the servers")
