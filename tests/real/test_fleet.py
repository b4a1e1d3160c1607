"""Runs on several hosts by the real program over real sshds: what is lost on the way is not lost on the hosts."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import diskprof
from hosts import Hosts, hosts
from program import descendants, gone, until

from diskprof.model.fleet import FleetRun, MemberState
from diskprof.model.run import Status
from diskprof.runner.detached.launch import request_stop
from diskprof.store import Store
from diskprof.store.exchange.transfer import export_runs, import_runs

pytestmark = pytest.mark.needs("ssh", "sshd", "ssh-keygen", "fio")

# So slow that every disk keeps up.
JOB = """
[steady]
rw=randread
bs=4k
size=1m
rate_iops=400
ioengine=psync
time_based
runtime=10m
"""


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Hosts]:
    with hosts(tmp_path, ("web1", "db1")) as found:
        (found.home / "long.fio").write_text(JOB)
        yield found


def until_states(store: Store, fleet_id: str, wanted: list[MemberState]) -> FleetRun:
    def look() -> FleetRun | None:
        store.reap()
        fleet = store.fleet_run(fleet_id)
        return fleet if [status.state for status in fleet.statuses] == wanted else None

    found: FleetRun = until(look, f"members that are {', '.join(wanted)}")
    return found


def measuring(store: Store, fleet_id: str) -> bool:
    runs = store.runs_of_fleet(fleet_id)
    began = store.fleet_run(fleet_id).skew is not None
    return began and len(runs) == 2 and all(store.samples(run.id).samples for run in runs)


def test_two_hosts_are_one_thing_and_what_was_lost_comes_later(two: Hosts) -> None:
    def run(*words: str) -> tuple[int, str, str]:
        done = diskprof(*words, home=two.home, PATH=two.path)
        return done.returncode, done.stdout, done.stderr

    targets = [two.target(0), two.target(1)]
    # One that cannot start is told before anything starts.
    code, _, said = run("run", "long.fio", targets[0], "db1:/no/such/place", "--yes")
    assert code == 2 and "db1:/no/such/place" in said and "--skip-unready" in said
    # Unless it is asked to go without: then it is told, and the others are what was asked for.
    left_out = (
        "run",
        "ioping-latency",
        targets[0],
        "db1:/no/such/place",
        "--set",
        "count=2",
        "--skip-unready",
        "--yes",
    )
    code, out, said = run(*left_out)
    assert code == 0 and "db1:/no/such/place was left out" in out, (out, said)
    code, out, said = run("run", "long.fio", *targets, "--tag", "pair", "--detach", "--yes")
    assert code == 0, said
    fleet_id = out.strip()
    with two.here() as store:
        until(lambda: measuring(store, fleet_id), "samples of both")
        coordinator = store.coordinator(fleet_id).pid
        # An ssh dies: the member is lost, and attached again.
        os.kill(descendants(coordinator, "ssh")[0], signal.SIGKILL)
        until(lambda: MemberState.LOST in [each.state for each in store.fleet_run(fleet_id).statuses], "the loss")
        until_states(store, fleet_id, [MemberState.RUNNING] * 2)
        os.kill(coordinator, signal.SIGKILL)
        until(lambda: gone(coordinator), "the end of the coordinator")
        fleet = until_states(store, fleet_id, [MemberState.LOST] * 2)
        assert fleet.status is Status.INTERRUPTED
        assert {each.status for each in store.runs_of_fleet(fleet_id)} == {Status.LOST}
        # The hosts go on by themselves, and know all that they measured.
        ids = [each.id for each in store.runs_of_fleet(fleet_id)]
        for at, run_id in enumerate(ids):
            with two.store(at) as there:
                assert there.run(run_id).status is Status.RUNNING
                request_stop(there, run_id)
                until(lambda: there.run(run_id).status.over, "the end on the host")  # noqa: B023
        code, out, said = run("fleet", "fetch")
        assert (code, out.strip()) == (0, fleet_id), said
        assert [each.state for each in store.fleet_run(fleet_id).statuses] == [MemberState.DONE] * 2
        for at, run_id in enumerate(ids):
            with two.store(at) as there:
                assert store.run(run_id).tests == there.run(run_id).tests
                assert store.samples(run_id) == there.samples(run_id)
                assert store.run(run_id).tags == ("pair", two.servers[at].host)
        assert store.resolve_item("pair").id == fleet_id
        for server in two.servers:
            until(lambda: not server.programs(), "the end of the agents")  # noqa: B023


def test_hosts_are_measured_several_times_and_are_one_thing(two: Hosts) -> None:
    def run(*words: str) -> str:
        done = diskprof(*words, home=two.home, PATH=two.path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    words = ("run", "ioping-latency", two.target(0), two.target(1), "--set", "count=2", "--yes", "--repeat", "2")
    planned = json.loads(run(*words, "--dry-run", "--json"))
    assert planned["most_repeats"] == 2
    assert planned["likely_seconds"] == 2 * max(each["plan"]["likely_seconds"] for each in planned["members"])
    told = json.loads(run(*words, "--tag", "pair", "--json"))
    assert (told["status"], told["complete_runs"], told["wanted"]["repeats"]) == ("complete", 4, 2)
    assert told["skew_s"] is not None
    assert [len(each["values"]) for each in told["repeats"]] == [2, 2]
    with two.here() as here, Store.open(two.home / "other.db") as other:
        runs = here.runs_of_fleet(told["id"])
        assert [run.fleet and run.fleet[1:] for run in runs] == [
            (member, "together", repeat) for member in (0, 1) for repeat in (1, 2)
        ]
        began = [[run.started_at for run in runs if run.fleet and run.fleet.repeat == repeat] for repeat in (1, 2)]
        assert max(began[0]) < min(began[1])
        # By its tag it is one thing, which is whole in another store too.
        with (two.home / "pair").open("w+b") as file:
            export_runs(here, here.runs_named("pair"), file)
            file.seek(0)
            assert len(import_runs(other, [("pair", file)])) == 4
        assert other.fleet_run(told["id"]) == here.fleet_run(told["id"])
        assert [run.fleet for run in other.runs_of_fleet(told["id"])] == [run.fleet for run in runs]
        again = json.loads(run("rerun", "pair", "--dry-run", "--json"))
        assert again["wanted"] == told["wanted"]
        for each, before in zip(again["members"], planned["members"], strict=True):
            assert (each["host"], each["target"], each["error"]) == (before["host"], before["target"], None)
            assert each["plan"]["parameters"] == before["plan"]["parameters"] and not each["plan"]["hazards"]
