"""Whether a run's process lives, and what becomes of runs whose process does not."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import FAST, FIRST_START, GONE, make_plan, record_run

from diskprof.model.errors import Refused
from diskprof.model.run import Progress, Status
from diskprof.model.sample import Phase
from diskprof.store import ProcessIdentity, Store, is_alive, this_process
from diskprof.store.liveness import is_elsewhere

SLEEPER = (sys.executable, "-c", "import sys; sys.stdin.read()")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(SLEEPER, stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def identity_of(pid: int) -> ProcessIdentity:
    """As the process itself would give it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return replace(this_process(), pid=pid, start_ticks=int(fields[19]))


def create(store: Store, run_id: str, runner: ProcessIdentity | None = None) -> str:
    return store.create_run(make_plan(), FAST.environment, run_id=run_id, runner=runner, started_at=FIRST_START)


def test_this_process_lives() -> None:
    me = this_process()
    assert me.pid == os.getpid()
    assert me.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert is_alive(me) and not is_elsewhere(me)


def test_a_process_is_dead_once_it_has_ended(sleeper: subprocess.Popen[bytes]) -> None:
    who = identity_of(sleeper.pid)
    assert is_alive(who)
    sleeper.kill()
    sleeper.wait()
    assert not is_alive(who)


def test_a_zombie_is_dead(sleeper: subprocess.Popen[bytes]) -> None:
    who = identity_of(sleeper.pid)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{sleeper.pid}/stat").exists()
    assert not is_alive(who)


def test_a_stopped_process_lives(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED)
    assert is_alive(identity_of(sleeper.pid))


def test_another_process_with_the_same_number_is_not_the_same() -> None:
    me = this_process()
    assert not is_alive(replace(me, start_ticks=me.start_ticks - 1))
    assert not is_alive(replace(me, boot_id="00000000-0000-0000-0000-000000000000"))
    assert not is_alive(replace(me, place="another-machine pid:[1]"))


def test_a_name_with_parentheses_does_not_confuse(tmp_path: Path) -> None:
    script = "import ctypes, sys; ctypes.CDLL(None).prctl(15, b') Z 1 (', 0, 0, 0); print('go', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"go\n"
        assert b") Z 1 (" in Path(f"/proc/{process.pid}/stat").read_bytes()
        assert is_alive(identity_of(process.pid))
        process.communicate()


def test_a_process_is_elsewhere_only_if_nothing_can_be_known_of_it() -> None:
    me = this_process()
    machine, _, namespace = me.place.partition(" ")
    before = "00000000-0000-0000-0000-000000000000"
    assert not is_elsewhere(replace(me, place=""))
    assert not is_elsewhere(replace(me, pid=1, boot_id=before))
    # The same machine after a restart: namespaces have new numbers, and whatever ran before is dead.
    assert not is_elsewhere(replace(me, boot_id=before, place=f"{machine} pid:[1]"))
    assert is_elsewhere(replace(me, place=f"{machine} pid:[1]"))
    assert is_elsewhere(replace(me, boot_id=before, place=f"elsewhere {namespace}"))


def test_reaping_takes_the_dead_and_leaves_the_others(store: Store, sleeper: subprocess.Popen[bytes]) -> None:
    create(store, "mine")
    create(store, "theirs", identity_of(sleeper.pid))
    create(store, "gone", GONE)
    record_run(store, "ioping-seek", run_id="complete", runner=GONE)
    store.begin_test("gone", 1, 7_000)
    store.append("gone", progress=Progress(1, Phase.MEASURING, 0.5, 0.5, None, 9_000_000_000))
    assert store.reap() == ["gone"]
    assert store.reap() == []
    run = store.run("gone")
    assert (run.status, run.ended_at) == (Status.INTERRUPTED, FIRST_START + timedelta(seconds=9))
    assert run.reason
    assert [test.status for test in run.tests[:3]] == [Status.SKIPPED, Status.INTERRUPTED, Status.SKIPPED]
    assert (run.tests[1].started_ns, run.tests[1].ended_ns) == (7_000, 9_000_000_000)
    assert store.run("mine").status is store.run("theirs").status is Status.RUNNING
    assert store.run("complete").status is Status.COMPLETE
    sleeper.kill()
    sleeper.wait()
    assert store.reap() == ["theirs"]


def test_a_run_that_never_got_anywhere_ended_when_it_began(store: Store) -> None:
    create(store, "gone", GONE)
    assert store.reap() == ["gone"]
    assert store.run("gone").ended_at == FIRST_START


def test_a_run_on_another_machine_is_left_alone_while_it_is_heard_of(store: Store) -> None:
    create(store, "far", replace(this_process(), place="another-machine pid:[1]"))
    assert store.reap() == []
    with pytest.raises(Refused):
        store.delete("far")
    long_ago = datetime.now(UTC) - timedelta(minutes=11)
    with sqlite3.connect(store.path) as raw:
        raw.execute("UPDATE run SET heard_at = ?", (int(long_ago.timestamp() * 1e6),))
    raw.close()
    assert store.reap() == ["far"]


def test_a_runner_that_was_given_up_too_early_has_the_last_word(store: Store) -> None:
    create(store, "far", GONE)
    store.reap()
    store.append("far", progress=Progress(0, Phase.MEASURING, 0.5, 0.5, None, 1))
    store.finish_run("far", status=Status.COMPLETE, headline="after all")
    assert store.run("far").status is Status.COMPLETE


RUNNER = """
import os, sys
from pathlib import Path
from recorded import FAST, make_plan
from diskprof.model.run import Status
from diskprof.store import Store
sys.stdin.readline()
with Store.open(Path(sys.argv[1])) as store:
    plan = make_plan("ioping-seek")
    for _ in range(40):
        child = os.fork()
        if not child:
            with Store.open(Path(sys.argv[1])) as own:
                run_id = own.create_run(plan, FAST.environment)
                own.begin_test(run_id, 0, 0)
                own.finish_test(run_id, 0, status=Status.COMPLETE, at_ns=1)
                own.finish_run(run_id, status=Status.COMPLETE)
            os._exit(0)
        os.waitpid(child, 0)
"""


def test_reaping_never_takes_a_run_that_ended_by_itself(store: Store) -> None:
    """Runners that begin, end and die as fast as they can, while two others reap without pause."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "kit")}
    command = [sys.executable, "-c", RUNNER, str(store.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as runners:
        assert runners.stdin
        runners.stdin.write(b"go\n")
        runners.stdin.flush()
        with Store.open(store.path) as other:
            while runners.poll() is None:
                assert store.reap() == []
                assert other.reap() == []
    assert runners.returncode == 0
    assert store.reap() == []
    assert [summary.status for summary in store.summaries()] == [Status.COMPLETE] * 40
