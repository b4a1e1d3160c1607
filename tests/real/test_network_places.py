"""A real network file system (sshfs, from a real sshd) below the target and below the store, and its server that goes away."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from faults import make_home
from forked import diskprof, diskprof_json
from program import PATIENCE_S, descendants, gone, started, until
from sshd import Server, mounted, sshd

from diskprof.model.run import Status
from diskprof.model.sample import Phase
from diskprof.runner.leftovers import leftovers
from diskprof.store import Store

pytestmark = pytest.mark.needs("fio", "sshd", "sshfs", "fuse", "ssh-keygen")


@dataclass(frozen=True)
class Share:
    """`here` is where the server's directory `far` is mounted; `home` is on a disk of this machine."""

    server: Server
    far: Path
    here: Path
    home: Path

    @property
    def store(self) -> Path:
        return self.home / ".local/share/diskprof/runs.db"


@pytest.fixture
def share(tmp_path: Path) -> Iterator[Share]:
    home = make_home(tmp_path / "home")
    far, here = tmp_path / "far", tmp_path / "here"
    far.mkdir()
    here.mkdir()
    with sshd(tmp_path / "sshd", home) as server, mounted(server, far, here):
        yield Share(server, far, here, home)


def test_a_target_on_a_network_is_named_as_such_and_left_clean(share: Share) -> None:
    plan = diskprof_json("run", "matrix", share.here, "--dry-run", "--json", home=share.home)
    assert plan["target"]["fs_type"] == "fuse.sshfs"
    (network,) = (hazard for hazard in plan["hazards"] if hazard["name"] == "network")
    assert network["severity"] == "warns" and "network file system (fuse.sshfs)" in network["message"]
    run = diskprof_json("run", "matrix", share.here, "--yes", "--json", home=share.home)
    assert [test["status"] for test in run["tests"]] == ["complete", "complete"]
    assert any("network file system" in finding["message"] for finding in run["findings"])
    assert not list(share.far.iterdir())


def test_a_store_on_a_network_keeps_a_run_and_can_be_read_meanwhile(share: Share) -> None:
    store = ("--store", share.here / "runs.db")
    doctor = diskprof_json(*store, "doctor", "--json", home=share.home)
    assert doctor["store"]["writable"] and not doctor["store"]["exists"]
    words = ("run", "matrix", share.home / "disk", "--yes", "--json", "--set", "first=8")
    with started(*store, *words, home=share.home) as process:
        until(lambda: (share.far / "runs.db").exists(), "the store")
        until(lambda: _progress(share), "a run that somebody else can see")
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    run = json.loads(out)
    assert run["status"] == "complete"
    assert [each["id"] for each in diskprof_json(*store, "runs", "--json", home=share.home)] == [run["id"]]
    assert diskprof_json(*store, "doctor", "--json", home=share.home)["store"]["journal"] == "delete"
    # What lies on the server is a sound store without anything beside it.
    assert sorted(path.name for path in share.far.iterdir()) == ["runs.db"]
    with closing(sqlite3.connect(share.far / "runs.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM sample").fetchone()[0] > 5


def _progress(share: Share) -> bool:
    runs = diskprof("--store", share.here / "runs.db", "runs", "--json", home=share.home)
    return runs.returncode == 0 and any(run["status"] == "running" for run in json.loads(runs.stdout))


def test_a_target_whose_server_goes_away_ends_the_run_with_the_reason(share: Share) -> None:
    with started("run", "matrix", share.here, "--yes", "--set", "first=60", home=share.home) as process:
        until(lambda: process.poll() is not None or _measures(share.store), "samples")
        assert process.poll() is None, process.communicate()
        engines = descendants(process.pid, "fio")
        assert engines
        share.server.cut()
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1 and "Traceback" not in err, err
    until(lambda: all(map(gone, engines)), "the end of fio")
    with Store.open(share.store) as store:
        (summary,) = store.summaries()
        run = store.run(summary.id)
        assert run.status is Status.FAILED and run.reason
        assert [test.status for test in run.tests] == [Status.FAILED, Status.SKIPPED], "not on the disk below"
        assert "The remaining tests were not run: they would measure another disk" in run.reason
        assert "Could not remove the test file" in run.reason and "If its file system was unmounted" in run.reason
        assert list(share.far.glob(".diskprof-*")), "it is still there, on the server"
        # Where it was mounted before, it is found again and can be removed.
        with mounted(share.server, share.far, share.here):
            assert [each.run_id for each in leftovers(store)] == [run.id]
            assert diskprof("clean", "--yes", home=share.home).returncode == 0
    assert not list(share.far.iterdir())


def _measures(path: Path) -> bool:
    if not path.exists():
        return False
    with Store.open(path) as store:
        return any(
            sample.phase is Phase.MEASURING for each in store.summaries() for sample in store.samples(each.id).samples
        )


def test_a_store_whose_server_goes_away_ends_the_run_and_what_it_had_is_sound(share: Share) -> None:
    store = ("--store", share.here / "runs.db")
    words = ("run", "matrix", share.home / "disk", "--yes", "--set", "first=60")
    with started(*store, *words, home=share.home) as process:
        # By the server's side: who opens it here would hold a lock of the run's.
        until(lambda: process.poll() is not None or _samples_in(share.far / "runs.db") > 3, "samples")
        assert process.poll() is None, process.communicate()
        engines = descendants(process.pid, "fio")
        share.server.cut()
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1 and "Traceback" not in err, err
    assert str(share.here / "runs.db") in err
    until(lambda: all(map(gone, engines)), "the end of fio")
    assert not list((share.home / "disk").iterdir()), "the test file is on a disk that is there"
    again = share.here.with_name("again")
    again.mkdir()
    with mounted(share.server, share.far, again):
        runs = diskprof_json("--store", again / "runs.db", "runs", "--json", home=share.home)
        assert [run["status"] for run in runs] == ["interrupted"]
        shown = diskprof("--store", again / "runs.db", "show", "latest", home=share.home)
        assert shown.returncode == 0 and "interrupted" in shown.stdout
    assert _samples_in(share.far / "runs.db") > 3


def _samples_in(path: Path) -> int:
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)) as db:
            return int(db.execute("SELECT count(*) FROM sample").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
