"""Without root: what works, and what is said of the rest. Under sudo: whose store it is."""

import grp
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from loops import Loops, loops_in
from users import NOBODY, diskprof_as, diskprof_by_sudo, home_of

pytestmark = pytest.mark.needs("root", "loop")

QUICK = ("--set", "size=16m", "--set", "runtime=1")


@pytest.fixture
def home() -> Iterator[Path]:
    with home_of(NOBODY) as path:
        yield path


def test_everything_that_needs_no_root_works_without(home: Path) -> None:
    done = diskprof_as(NOBODY, "run", "fio-randread-qd8", home, "--set", "size=4m", "--json", home=home)
    assert done.returncode == 0, done.stderr
    for words in (("devices",), ("presets",), ("runs",), ("show", "latest")):
        listed = diskprof_as(NOBODY, *words, home=home)
        assert listed.returncode == 0, listed.stderr
        assert listed.stdout
    assert not list(home.glob(".diskprof-*"))


@pytest.mark.parametrize(
    ("mode", "verb"),
    [((), "read"), (("--allow-write", "--confirm-device", "x"), "write to")],
    ids=["reading", "writing"],
)
def test_a_device_that_may_not_be_opened_says_what_would_help(
    loops: Loops, home: Path, mode: tuple[str, ...], verb: str
) -> None:
    node = Path(loops.disk())
    before = node.stat()
    group = next(group for group in grp.getgrall() if group.gr_name in ("disk", "daemon", "bin"))
    try:
        os.chown(node, 0, group.gr_gid)
        node.chmod(0o660)
        preset = "aerospike-prewarm" if mode else "fio-randread-qd8"
        done = diskprof_as(NOBODY, "run", preset, node, "--set", "size=4m", *mode, home=home)
    finally:
        os.chown(node, before.st_uid, before.st_gid)
        node.chmod(stat.S_IMODE(before.st_mode))
    assert done.returncode == 2, done.stderr
    assert f"No permission to read {node}" in done.stderr or f"No permission to {verb} {node}" in done.stderr
    assert f"sudo /opt/bin/diskprof run {preset} {node}" in done.stderr
    assert f"usermod -aG {group.gr_name}" in done.stderr
    assert "permission denied" not in done.stderr.lower()


def test_a_device_that_may_be_read_only_is_not_written_to(loops: Loops, home: Path) -> None:
    node = Path(loops.disk())
    mode = stat.S_IMODE(node.stat().st_mode)
    try:
        node.chmod(0o604)
        words = ("run", "aerospike-prewarm", node, "--set", "size=4m", "--allow-write", "--confirm-device", node.name)
        done = diskprof_as(NOBODY, *words, home=home)
    finally:
        node.chmod(mode)
    assert done.returncode == 2, done.stderr
    assert f"No permission to write to {node}" in done.stderr and "sudo /opt/bin/diskprof run" in done.stderr


def test_a_file_or_directory_that_may_not_be_used_says_what_would_help(home: Path) -> None:
    with home_of(0) as other:
        other.chmod(0o755)
        (other / "file").write_bytes(bytes(8192))
        (other / "file").chmod(0o600)
        (other / "closed").mkdir(mode=0o700)
        for says, *words in (
            (f"No permission to read {other}/file", other / "file"),
            (f"No permission to enter {other}/closed", other / "closed"),
            (f"no permission to search {other}/closed", other / "closed/within", "--dry-run"),
            (f"No permission to create a file in {other}", other, "--detach"),
        ):
            done = diskprof_as(NOBODY, "run", "fio-randread-qd8", *words, home=home)
            assert done.returncode == 2, done.stderr
            assert says in done.stderr
            assert f"sudo /opt/bin/diskprof run fio-randread-qd8 {' '.join(map(str, words))}" in done.stderr
            assert "permission denied" not in done.stderr.lower()
        assert not list(other.glob(".diskprof-*"))


def test_the_doctor_tells_somebody_without_root_how_to_reach_devices(loops: Loops, home: Path) -> None:
    loops.disk()
    done = diskprof_as(NOBODY, "doctor", home=home)
    assert done.returncode == 0, done.stderr
    assert "directories can still be tested" in done.stdout
    assert "For devices: sudo /opt/bin/diskprof" in done.stdout
    assert f"can be created in {home}" in done.stdout


def test_what_lies_below_a_closed_directory_is_told_of_in_words(home: Path) -> None:
    long = home / ("x" * 300)
    with home_of(0) as closed, loops_in(closed) as loops:
        node = loops.disk()
        loops.file_system(node)
        loops.mount(node).chmod(0o777)
        (closed / "jobs.fio").write_text("[a]\nrw=read\n", encoding="ascii")
        done = diskprof_as(NOBODY, "run", "ioping-latency", home, "--set", "count=2", home=home)
        assert done.returncode == 0, done.stderr
        for code, says, *words in (
            (0, "", "doctor"),
            (0, "", "devices"),
            (1, f"{closed}/x.md cannot be written: Permission denied.", "report", "latest", "-o", closed / "x.md"),
            (1, f"{long}.md cannot be written: File name too long.", "report", "latest", "-o", f"{long}.md"),
            (1, f"{closed}/x cannot be written: Permission denied.", "export", "latest", "-o", closed / "x"),
            (1, f"{long} cannot be written: File name too long.", "export", "latest", "-o", long),
            (1, f"{closed}/x cannot be read: Permission denied.", "import", closed / "x"),
            (1, f"{long} cannot be read: File name too long.", "import", long),
            (2, f"{closed}/jobs.fio cannot be reached: no permission to search", "run", closed / "jobs.fio", home),
        ):
            done = diskprof_as(NOBODY, *words, home=home)
            assert done.returncode == code, (words, done.stderr)
            assert says in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_devices_are_listed_with_all_that_the_kernel_says_without_root(loops: Loops, home: Path) -> None:
    node = loops.disk()
    found = {
        device["node"]: device for device in json.loads(diskprof_as(NOBODY, "devices", "--json", home=home).stdout)
    }
    by_root = {device["node"]: device for device in diskprof_json("devices", "--json", home=home)}
    for key in ("name", "kind", "size_bytes", "scheduler", "logical_block_size", "backing_file", "mounts", "parents"):
        assert found[node][key] == by_root[node][key], key


def test_runs_can_be_kept_named_and_taken_elsewhere_without_root(home: Path) -> None:
    done = diskprof_as(NOBODY, "run", "ioping-latency", home, "--set", "count=2", "--tag", "mine", home=home)
    assert done.returncode == 0, done.stderr
    for words in (
        *(
            ("tag", "mine", "again"),
            ("report", "mine"),
            ("show", "mine", "--plot"),
            ("export", "mine", "-o", home / "f"),
        ),
        *(("delete", "mine", "--yes"), ("import", home / "f"), ("show", "mine", "--json"), ("clean",)),
    ):
        done = diskprof_as(NOBODY, *words, home=home)
        assert done.returncode == 0, (words, done.stderr)
    assert (home / "f").stat().st_uid == NOBODY


def test_a_run_of_root_is_stopped_by_root(home: Path) -> None:
    words = ("run", "ioping-latency", home, "--set", "count=200", "--detach")
    run_id = diskprof_by_sudo(NOBODY, *words, home=home).stdout.strip()
    try:
        done = diskprof_as(NOBODY, "stop", home=home)
        assert done.returncode == 1
        assert f"The run {run_id} belongs to another user" in done.stderr
        store = home / ".local/share/diskprof/runs.db"
        assert f"sudo /opt/bin/diskprof --store {store} stop {run_id}" in done.stderr
    finally:
        assert diskprof_by_sudo(NOBODY, "stop", run_id, home=home).returncode == 0
    assert "cancelled" in diskprof_as(NOBODY, "runs", home=home).stdout


def test_under_sudo_the_store_belongs_to_the_person_who_called_it(home: Path) -> None:
    done = diskprof_by_sudo(NOBODY, "run", "fio-randread-qd8", home, "--set", "size=4m", "--json", home=home)
    assert done.returncode == 0, done.stderr
    detached = diskprof_by_sudo(NOBODY, "run", "fio-randread-qd8", home, "--set", "size=4m", "--detach", home=home)
    assert detached.returncode == 0, detached.stderr
    assert diskprof_by_sudo(NOBODY, "attach", detached.stdout.strip(), home=home).returncode == 0
    made = [path for path in home.rglob("*") if "diskprof" in str(path.relative_to(home))]
    assert {path.name for path in made} >= {"runs.db", "runner.log"}
    for path in home.rglob("*"):
        assert path.lstat().st_uid == NOBODY, path
    assert stat.S_IMODE((home / ".local/share/diskprof/runs.db").stat().st_mode) == 0o600
    # So they can go on without sudo, and write to it.
    assert diskprof_as(NOBODY, "tag", "latest", "mine", home=home).returncode == 0
    assert diskprof_as(NOBODY, "run", "fio-randread-qd8", home, "--set", "size=4m", home=home).returncode == 0


def test_sudo_leads_root_nowhere_by_a_link(home: Path, tmp_path: Path) -> None:
    forbidden = tmp_path / "forbidden"
    forbidden.mkdir(mode=0o755)
    share = home / ".local" / "share"
    share.mkdir(parents=True)
    (share / "diskprof").symlink_to(forbidden)
    for path in (home / ".local", share):
        os.chown(path, NOBODY, NOBODY)
    os.lchown(share / "diskprof", NOBODY, NOBODY)
    done = diskprof_by_sudo(NOBODY, "runs", home=home)
    assert "Traceback" not in done.stderr
    assert all(path.lstat().st_uid == 0 for path in forbidden.iterdir()), "a link made root give something away"


def test_root_itself_keeps_a_store_of_its_own(home: Path, tmp_path: Path) -> None:
    own = tmp_path / "root"
    own.mkdir()
    assert diskprof("runs", home=own, SUDO_UID="0", SUDO_GID="0").returncode == 0
    assert (own / ".local/share/diskprof/runs.db").stat().st_uid == 0
    for odd in ("", "-1", "x", "99999999999999999999", "4294967295"):
        assert diskprof("runs", home=own, SUDO_UID=odd, SUDO_GID=odd).returncode == 0
