"""What is left of a run after a power cut: on a real file system, of what had reached its disk by then."""

import signal
from pathlib import Path

import pytest
from faults import STORE, Case, make_case
from forked import diskprof, diskprof_json
from loops import MIB, Loops
from msgspec.structs import replace
from power import Mains
from program import PATIENCE_S, started, until
from recorded import make_plan
from standin import Moment

from diskprof.model.plan import TestFile
from diskprof.model.run import Environment, Message, Status
from diskprof.runner.carry.marks import Mark, look_at, mark_bytes
from diskprof.runner.carry.testfile import held_test_files
from diskprof.store import Store, this_process

pytestmark = pytest.mark.needs("fio", "root", "loop", "mkfs.ext4")


@pytest.fixture
def mains(loops: Loops) -> Mains:
    return Mains(loops)


def test_a_run_is_on_the_disk_before_its_test_file_is_made_and_so_is_how_it_ends(mains: Mains) -> None:
    """Also in a store that was made just now, in directories that were made for it."""
    place = Path("a/new/place/runs.db")
    file = TestFile("/mnt/.diskprof-0123abcd", "/mnt/.diskprof-0123abcd/test.dat", MIB)
    with Store.open(mains.here / place) as store:
        run_id = store.create_run(replace(make_plan(), directory=file.directory, files=(file,)), Environment())
        with mains.cut() as left, Store.open(left / place) as kept:
            assert kept.run(run_id).plan.test_files == (file,)
        store.begin_test(run_id, 0, 7)
        with mains.cut() as left, Store.open(left / place) as kept:
            assert kept.run(run_id).tests[0].status is Status.RUNNING
        store.append(run_id, messages=[Message(8, "said")])
        store.finish_test(run_id, 0, status=Status.COMPLETE, at_ns=9, document=b"the document")
        with mains.cut() as left, Store.open(left / place) as kept:
            assert kept.run(run_id).tests[0].status is Status.COMPLETE
            assert kept.document(run_id, 0) == b"the document"
            assert [message.text for message in kept.run(run_id).messages] == ["said"]
        store.finish_run(run_id, status=Status.COMPLETE, headline="fine")
        with mains.cut() as left, Store.open(left / place) as kept:
            assert kept.run(run_id).status is Status.COMPLETE


def keeps_what_is_five_seconds_old(case: Case, mains: Mains) -> bool:
    old = case.seen()[-1]
    until(lambda: case.seen()[-1].at_ns - old.at_ns > 5e9, "five seconds more of samples")
    with mains.cut() as left, Store.open(left / "home" / STORE) as kept:
        samples = kept.samples(case.run_id()).samples
        assert samples == case.seen()[: len(samples)]
        return old in samples


def test_samples_are_on_the_disk_after_five_seconds(mains: Mains) -> None:
    """On a disk that is slow to answer it may take longer: one cut of three has to leave them."""
    case = make_case(mains.here / "home", Moment.MEASURING)
    with case.started() as process:
        case.arrive(process)
        assert any(keeps_what_is_five_seconds_old(case, mains) for _ in range(3))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


def test_after_a_power_cut_the_run_is_known_and_its_test_file_removed_when_asked(mains: Mains, tmp_path: Path) -> None:
    home = mains.here / "home"
    disk = home / "disk"
    disk.mkdir(parents=True)
    with started("run", "quick", disk, "--set", "size=16m", "--set", "runtime=60", home=home) as process:
        until(lambda: list(disk.glob(".diskprof-*/test.dat")), "the test file")
        left = mains.copy()
        process.kill()
        process.communicate()
    mains.restart(left)
    (directory,) = disk.iterdir()
    (run,) = diskprof_json("runs", "--json", home=home)
    assert run["status"] == "interrupted"
    told = diskprof("clean", home=home)
    assert told.returncode == 2 and told.stdout.startswith(f"{directory}  ") and f"run {run['id']}" in told.stdout
    # Somebody whose store knows of nothing.
    other = tmp_path / "other"
    other.mkdir()
    told = diskprof("clean", disk, home=other)
    assert told.returncode == 2 and f"run {run['id']} of {home / STORE}" in told.stdout
    assert diskprof("clean", disk, "--yes", home=other).returncode == 0
    assert not list(disk.iterdir())


def test_the_mark_of_a_directory_is_on_the_disk_before_its_test_file_is_made(mains: Mains) -> None:
    file = TestFile(f"{mains.here}/.diskprof-0123abcd", f"{mains.here}/.diskprof-0123abcd/test.dat", MIB)
    mark = Mark("abcdefgh", "/a/store", this_process())
    with (
        held_test_files([file.directory], [file], mark_bytes(mark), lambda words: pytest.fail(words)),
        mains.cut() as left,
    ):
        found = look_at(left / ".diskprof-0123abcd")
        assert found and found.mark == mark
    assert not Path(file.directory).exists()
