"""Test files and their file systems: what killed runs leave, how much room stays, and one run at a time on a disk."""

import os
import re
import signal
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from asking import Terminal
from forked import diskprof, diskprof_json
from loops import MIB, Loops, call
from msgspec.structs import replace
from program import PATIENCE_S, gone, started, until
from recorded import make_plan

from diskprof.model.errors import DiskprofError, Refused
from diskprof.model.plan import TestFile
from diskprof.model.run import Environment
from diskprof.runner.carry.marks import Mark, mark_bytes
from diskprof.runner.carry.testfile import MARK_NAME
from diskprof.runner.leftovers import Leftover, left_alone, leftovers, notice, remove
from diskprof.store import ProcessIdentity, Store, this_process

LONG = ("--set", "size=16m", "--set", "runtime=60")
SHORT = ("--set", "size=4m")
GONE = ProcessIdentity(2**22 + 1, 1, "a boot of long ago")


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk"
    path.mkdir()
    return path


def store_of(home: Path) -> Path:
    return home / ".local/share/diskprof/runs.db"


def under_way(home: Path) -> str:
    """The id of the run that is going, once there is one."""
    if store_of(home).exists():
        with Store.open(store_of(home)) as store:
            return next((summary.id for summary in store.summaries() if not summary.status.over), "")
    return ""


# --- What killed runs leave ------------------------------------------------------------------------------------------


def test_a_killed_run_is_told_of_at_the_next_start_and_removed_when_asked(tmp_path: Path, disk: Path) -> None:
    with started("run", "quick", disk, *LONG, home=tmp_path) as process:
        until(lambda: list(disk.glob(".diskprof-*/test.dat")), "the test file")
        process.kill()
        process.communicate()
    (left,) = disk.glob(".diskprof-*")
    done = diskprof("run", "fio-randread-qd8", disk, *SHORT, home=tmp_path)
    assert done.returncode == 0
    assert "Leftover of killed or failed runs: a test file" in done.stderr and "diskprof clean" in done.stderr
    assert left.exists(), "nothing is removed unasked"
    assert diskprof("clean", home=tmp_path).returncode == 2 and left.exists()
    assert diskprof("clean", "--yes", home=tmp_path).returncode == 0
    assert not left.exists()
    assert "left a test file" not in diskprof("run", "fio-randread-qd8", disk, *SHORT, home=tmp_path).stderr


def left_behind(store: Store, directory: Path, file: Path | None = None, runner: ProcessIdentity = GONE) -> str:
    """A run of the store whose runner is gone, with a test file of this name."""
    plan = replace(
        make_plan(),
        directory=str(directory),
        files=(TestFile(str(directory), str(file or directory / "test.dat"), MIB),),
    )
    return store.create_run(plan, Environment(), runner=runner)


def test_a_test_file_that_is_open_is_left_alone(tmp_path: Path, disk: Path) -> None:
    directory = disk / ".diskprof-0123abcd"
    directory.mkdir()
    with Store.open(tmp_path / "runs.db") as store:
        left_behind(store, directory)
        store.reap()
        with (directory / "test.dat").open("wb"):
            (leftover,) = leftovers(store)
            with pytest.raises(Refused, match=f"process {os.getpid()}"):
                remove(store, leftover)
        assert (directory / "test.dat").exists()
        remove(store, leftover)
    assert not directory.exists()


def test_the_file_of_a_run_that_may_live_is_no_leftover(tmp_path: Path, disk: Path) -> None:
    directory = disk / ".diskprof-0123abcd"
    directory.mkdir()
    me = this_process()
    with Store.open(tmp_path / "runs.db") as store:
        run_id = left_behind(store, directory, runner=me)
        elsewhere = left_behind(store, directory, runner=replace(me, place="another-machine pid:[1]"))
        # An earlier diskprof, which made no marks, may be at work there.
        assert not list(leftovers(store, [str(disk)])) and not notice(store, [str(disk)])
        for each in (run_id, elsewhere):
            with pytest.raises(Refused, match=each):
                remove(store, Leftover(each, str(directory), 0))
    assert directory.exists()


@pytest.mark.parametrize(
    ("directory", "file"),
    [
        ("precious", "test.dat"),
        ("precious", "letter"),
        (".diskprof-0123abcd/../precious", "letter"),
        (".diskprof-0123abcd/../precious", "test.dat"),
        ("precious/.diskprof-0123abcde", "test.dat"),
    ],
)
def test_a_record_from_elsewhere_cannot_name_files_of_others(
    tmp_path: Path, disk: Path, directory: str, file: str
) -> None:
    for place in ("precious", ".diskprof-0123abcd", "precious/.diskprof-0123abcde"):
        (disk / place).mkdir()
        for name in ("letter", "test.dat", "other"):
            (disk / place / name).write_text("precious")
    before = sorted(disk.rglob("*"))
    record = TestFile(f"{disk}/{directory}", f"{disk}/{directory}/{file}", MIB)
    with Store.open(tmp_path / "runs.db") as store:
        run_id = left_behind(store, Path(record.directory), Path(record.path))
        store.reap()
        assert not list(leftovers(store)) and not notice(store)
        with pytest.raises(DiskprofError):
            remove(store, Leftover(run_id, record.directory, 0))
    assert sorted(disk.rglob("*")) == before


def test_a_link_in_the_place_of_the_directory_is_not_followed(tmp_path: Path, disk: Path) -> None:
    (disk / "precious").mkdir()
    (disk / "precious" / "test.dat").write_text("precious")
    link = disk / ".diskprof-0123abcd"
    link.symlink_to("precious")
    with Store.open(tmp_path / "runs.db") as store:
        run_id = left_behind(store, link)
        store.reap()
        with pytest.raises(DiskprofError, match="Could not remove the test file"):
            remove(store, Leftover(run_id, str(link), 0))
    assert (disk / "precious" / "test.dat").read_text() == "precious"


# --- What no store knows of ------------------------------------------------------------------------------------------


def elsewhere(tmp_path: Path) -> Path:
    """The home of somebody whose store knows of nothing."""
    home = tmp_path / "another home"
    home.mkdir()
    return home


def test_what_a_run_of_another_store_left_is_told_of_where_it_lies_and_removed_when_asked(
    tmp_path: Path, disk: Path
) -> None:
    other = elsewhere(tmp_path)
    with started("run", "quick", disk, *LONG, home=tmp_path) as process:
        (file,) = until(
            lambda: [each for each in disk.glob(".diskprof-*/test.dat") if each.stat().st_blocks * 512 >= 16 * MIB],
            "a test file with its data",
        )
        done = diskprof("clean", "--yes", disk, home=other)
        assert done.returncode == 0 and "No leftover test files" in done.stderr and file.exists()
        assert (
            f"{file.parent} not removed: run {under_way(tmp_path)} (process {process.pid}) is using it" in done.stderr
        )
        process.kill()
        process.communicate()
    with Store.open(store_of(tmp_path)) as store:
        (summary,) = store.summaries()
    assert "No leftover test files" in diskprof("clean", home=other).stderr
    done = diskprof("run", "fio-randread-qd8", disk, *SHORT, home=other)
    assert "a test file (16 MiB)" in done.stderr and f"diskprof clean {disk}" in done.stderr
    # That run worked there, so this store knows the directory.
    for more in ((), (disk,), (file.parent,)):
        done = diskprof("clean", *more, home=other)
        assert done.returncode == 2 and file.exists()
        assert done.stdout == f"{file.parent}  16 MiB  run {summary.id} of {store_of(tmp_path)}\n"
    assert diskprof("clean", disk, "--yes", home=other).returncode == 0
    assert not list(disk.iterdir())
    assert "No leftover test files" in diskprof("clean", disk, home=tmp_path).stderr


def made(disk: Path, mark: Mark | None = None, *files: str) -> Path:
    """A private directory of diskprof's with these files in it."""
    directory = disk / ".diskprof-0123abcd"
    directory.mkdir(mode=0o700)
    for name in files:
        (directory / name).touch()
    if mark:
        (directory / MARK_NAME).write_bytes(mark_bytes(mark))
    return directory


@pytest.mark.parametrize("files", [(), ("test.dat",), (MARK_NAME,), ("test.dat", MARK_NAME)])
def test_a_directory_whose_mark_did_not_get_onto_the_disk_is_found_by_its_name(
    tmp_path: Path, disk: Path, files: tuple[str, ...]
) -> None:
    directory = made(disk, None, *files)
    with Store.open(tmp_path / "runs.db") as store:
        (leftover,) = leftovers(store, [str(disk)])
        assert (leftover.directory, leftover.origin) == (str(directory), "an unknown run")
        assert f"diskprof clean {disk}" in notice(store, [str(disk)])
        with (directory / "test.dat").open("wb"), pytest.raises(Refused, match=f"process {os.getpid()} is using it"):
            remove(store, leftover)
        remove(store, leftover)
        assert not directory.exists() and not list(leftovers(store, [str(disk)]))


def test_a_run_of_another_machine_keeps_its_directory(tmp_path: Path, disk: Path) -> None:
    directory = made(disk, Mark("abcdefgh", "/a/store", replace(this_process(), place="another-machine pid:[1]")))
    with Store.open(tmp_path / "runs.db") as store:
        assert not list(leftovers(store, [str(disk)])) and not notice(store, [str(disk)])
        (line,) = left_alone([str(disk)])
        assert line.startswith(f"{directory} not removed: run abcdefgh made it on another machine")
        with pytest.raises(Refused, match="on another machine"):
            remove(store, Leftover("abcdefgh", str(directory), 0, known=False))
    assert directory.exists()


def test_what_is_not_diskprofs_alone_is_left_alone(tmp_path: Path, disk: Path) -> None:
    gone = Mark("abcdefgh", "/a/store", GONE)
    precious = disk / "precious"
    precious.mkdir()
    (disk / ".diskprof-01234567").symlink_to("precious")
    (disk / ".diskprof-01234568").write_text("precious")
    (disk / ".diskprof-0123456").mkdir()
    (disk / ".diskprof-012345678").mkdir()
    made(disk, None, "test.dat", "letter")
    others = disk / ".diskprof-01234569"
    others.mkdir(mode=0o700)
    others.chmod(0o777)
    (others / MARK_NAME).write_bytes(mark_bytes(gone))
    before = sorted(disk.rglob("*"))
    with Store.open(tmp_path / "runs.db") as store:
        assert not list(leftovers(store, [str(disk)]))
        lines = list(left_alone([str(disk)]))
        assert len(lines) == 2
        assert (
            "other users may write to it" in lines[0]
            and "it has no diskprof marker and contains other files" in lines[1]
        )
        for name in (".diskprof-01234567", ".diskprof-0123abcd", ".diskprof-01234569"):
            with pytest.raises(DiskprofError):
                remove(store, Leftover("", f"{disk}/{name}", 0, known=False))
    assert sorted(disk.rglob("*")) == before


@pytest.mark.needs("root")
def test_a_directory_of_another_user_is_left_alone(tmp_path: Path, disk: Path) -> None:
    directory = made(disk, Mark("abcdefgh", "/a/store", GONE))
    os.chown(directory, 65534, 65534)
    with Store.open(tmp_path / "runs.db") as store:
        assert not list(leftovers(store, [str(disk)]))
    assert list(left_alone([str(disk)])) == [f"{directory} not removed: it belongs to another user."]


# --- Room ------------------------------------------------------------------------------------------------------------


@pytest.mark.needs("root", "loop", "mkfs.ext4")
def test_a_run_ends_when_the_file_system_is_down_to_its_reserve(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk(12 << 30)
    loops.file_system(node, "ext4", "-m", "0")
    files = loops.mount(node)
    with started("run", "quick", files, *LONG, "--json", home=tmp_path) as process:
        until(lambda: list(files.glob(".diskprof-*/test.dat")), "the test file")
        free = os.statvfs(files).f_bavail * os.statvfs(files).f_frsize
        call("fallocate", "--length", str(free - (800 << 20)), files / "somebody else's")
        _out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, err
    run = diskprof_json("show", "latest", "--json", home=tmp_path)
    assert run["status"] == "failed"
    assert "is down to its reserve" in run["reason"] and "1 GiB must remain" in run["reason"]
    ended = [test for test in run["tests"] if test["status"] == "failed"]
    assert len(ended) == 1 and "reserve" in ended[0]["reason"]
    assert {test["status"] for test in run["tests"]} <= {"complete", "failed", "skipped"}
    assert not list(files.glob(".diskprof-*"))


@pytest.mark.needs("root", "loop", "mkfs.ext4")
def test_a_directory_whose_disk_went_away_is_another_disk(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk(2 << 30)
    loops.file_system(node)
    files = loops.mount(node)
    screen = Terminal(tmp_path, "run", "fio-randread-qd8", str(files), *SHORT)
    screen.read_until("Start?")
    call("umount", files)
    screen.type("y")
    assert screen.end() == 4, screen.seen
    assert f"planned for {files} ({Path(node).name})" in " ".join(screen.seen.split())
    assert not list(files.iterdir())


@pytest.mark.needs("root", "loop", "mkfs.ext4")
def test_room_that_got_scarce_since_the_plan_was_made(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk(12 << 30)
    loops.file_system(node, "ext4", "-m", "0")
    files = loops.mount(node)
    screen = Terminal(tmp_path, "run", "fio-randread-qd8", str(files), "--set", "size=256m")
    screen.read_until("Start?")
    free = os.statvfs(files).f_bavail * os.statvfs(files).f_frsize
    call("fallocate", "--length", str(free - (1100 << 20)), files / "somebody else's")
    screen.type("y")
    assert screen.end() == 4, screen.seen
    assert "less than 1 GiB would remain" in " ".join(screen.seen.split())
    assert not list(files.glob(".diskprof-*"))


@pytest.mark.needs("root", "loop", "mkfs.ext4")
@pytest.mark.parametrize("size", [128 * MIB, 512 * MIB, 1_000_000_000])
def test_a_small_stick_can_be_tested_with_the_size_that_is_told(loops: Loops, tmp_path: Path, size: int) -> None:
    node = loops.disk(size)
    loops.file_system(node)
    files = loops.mount(node)
    refused = diskprof("run", "quick", files, "--yes", home=tmp_path)
    assert refused.returncode == 4 and "must stay free" in refused.stderr
    fits = re.search(r"--set (size=\d+m) fits", refused.stderr)
    assert fits
    run = diskprof_json(
        "run", "quick", files, "--yes", "--set", fits[1], "--set", "runtime=1s", "--json", home=tmp_path
    )
    assert run["status"] == "complete"
    assert not list(files.glob(".diskprof-*"))


@pytest.mark.needs("root", "loop", "mkfs.ext4")
@pytest.mark.parametrize("size", [2_000_000_000, 20 << 30])
def test_larger_sticks_have_room_for_a_preset_as_it_is(loops: Loops, tmp_path: Path, size: int) -> None:
    node = loops.disk(size)
    loops.file_system(node)
    done = diskprof("run", "quick", loops.mount(node), "--dry-run", home=tmp_path)
    assert done.returncode == 0, done.stdout


# --- One run at a time -----------------------------------------------------------------------------------------------


def test_a_second_run_on_a_disk_is_told_who_is_there(tmp_path: Path, disk: Path) -> None:
    with started("run", "quick", disk, *LONG, home=tmp_path) as process:
        first = until(lambda: under_way(tmp_path), "the first run")
        for more in ((), ("--detach",)):
            done = diskprof("run", "fio-randread-qd8", disk, *SHORT, *more, home=tmp_path)
            assert done.returncode == 4, done.stderr
            assert f"Run {first} (" in done.stderr and "since" in done.stderr
            assert "--wait" in done.stderr and "--concurrent" in done.stderr and f"diskprof stop {first}" in done.stderr
        beside = diskprof_json("run", "fio-randread-qd8", disk, *SHORT, "--concurrent", "--json", home=tmp_path)
        assert beside["status"] == "complete"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    assert len(diskprof_json("runs", "--json", home=tmp_path)) == 2
    assert not list(disk.glob(".diskprof-*"))


def test_a_second_run_can_wait_for_the_first(tmp_path: Path, disk: Path) -> None:
    with started("run", "quick", disk, *LONG, home=tmp_path) as process:
        first = until(lambda: under_way(tmp_path), "the first run")
        with started("run", "fio-randread-qd8", disk, *SHORT, "--wait", "--json", home=tmp_path) as waiting:
            assert waiting.stderr
            assert f"Run {first} (" in waiting.stderr.readline()
            assert not gone(waiting.pid)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)
            waiting.communicate(timeout=PATIENCE_S)
    assert waiting.returncode == 0
    both = diskprof_json("runs", "--json", home=tmp_path)
    assert [run["status"] for run in both] == ["complete", "cancelled"]


def test_waiting_can_be_given_up(tmp_path: Path, disk: Path) -> None:
    with started("run", "quick", disk, *LONG, home=tmp_path) as process:
        until(lambda: under_way(tmp_path), "the first run")
        with started("run", "fio-randread-qd8", disk, *SHORT, "--wait", home=tmp_path) as waiting:
            assert waiting.stderr and waiting.stderr.readline()
            waiting.send_signal(signal.SIGINT)
            waiting.communicate(timeout=PATIENCE_S)
        assert waiting.returncode == 130
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    assert len(diskprof_json("runs", "--json", home=tmp_path)) == 1


@pytest.mark.needs("root", "loop", "mkfs.ext4")
def test_runs_on_different_disks_do_not_wait_for_each_other(loops: Loops, tmp_path: Path, disk: Path) -> None:
    node = loops.disk(2 << 30)
    loops.file_system(node)
    files = loops.mount(node)
    with started("run", "quick", disk, *LONG, home=tmp_path) as process:
        until(lambda: under_way(tmp_path), "the first run")
        assert diskprof("run", "fio-randread-qd8", files, *SHORT, home=tmp_path).returncode == 0
        # The device below that file system is the same disk, read or written.
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    with started("run", "quick", files, *LONG, home=tmp_path) as process:
        until(lambda: under_way(tmp_path), "a run on the second disk")
        done = diskprof("run", "fio-randread-qd8", node, *SHORT, home=tmp_path)
        assert done.returncode == 4 and f"using {Path(node).name}" in done.stderr
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


@pytest.mark.needs("root", "loop")
def test_a_second_writer_is_told_of_the_run_and_can_wait_for_it(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk()
    name = Path(node).name
    words = ("--allow-write", "--confirm-device", name)
    with started("run", "digitalocean-rand-w", node, *LONG, *words, home=tmp_path) as process:
        first = until(lambda: under_way(tmp_path), "the first run")
        second = ("run", "aerospike-prewarm", node, "--set", "size=8m", *words)
        for more in ((), ("--detach",)):
            done = diskprof(*second, *more, home=tmp_path)
            assert done.returncode == 4 and f"Run {first} (" in done.stderr, done.stderr
        # Not even those who mean it: the device is held exclusively.
        beside = diskprof(*second, "--concurrent", home=tmp_path)
        assert beside.returncode == 4 and "open for writing" in beside.stderr
        with started(*second, "--wait", home=tmp_path) as waiting:
            assert waiting.stderr and f"Run {first} (" in waiting.stderr.readline()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)
            _out, err = waiting.communicate(timeout=PATIENCE_S)
        assert waiting.returncode == 0, err


def test_of_many_that_start_at_once_one_runs(tmp_path: Path, disk: Path) -> None:
    Store.open(store_of(tmp_path)).close()
    from program import DISKPROF, environment

    several = [
        subprocess.Popen(
            [*DISKPROF, "run", "fio-randread-qd8", str(disk), "--set", "size=64m", "--set", "runtime=20", "--detach"],
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    codes = []
    for each in several:
        each.communicate(timeout=60)
        codes.append(each.returncode)
    assert set(codes) <= {0, 4} and codes.count(0) >= 1
    with Store.open(store_of(tmp_path)) as store:
        until(lambda: all(summary.status.over for summary in store.summaries()), "the end of the runs")
        spans = sorted(
            (run.started_at, run.ended_at) for run in (store.run(summary.id) for summary in store.summaries())
        )
    assert len(spans) == codes.count(0)
    for (_, ended), (began, _) in pairwise(spans):
        assert ended <= began, "two ran at the same time"
