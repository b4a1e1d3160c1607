"""Raw devices against the real program: what is in use is never written to, under whatever name, and what may be written to
is written to alone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from asking import Terminal
from forked import diskprof, diskprof_json
from loops import MIB, Loops, call, first_bytes, sha256, tried
from msgspec.structs import replace
from program import DISKPROF, PATIENCE_S, environment, started, until

from diskprof.devices.scan.udev import scan
from diskprof.devices.targets import resolve_target
from diskprof.model.errors import Refused
from diskprof.model.plan import WritePermission
from diskprof.model.run import Status
from diskprof.presets.library import load_library
from diskprof.runner.carry.begin import begun
from diskprof.runner.detached.launch import start_detached
from diskprof.runner.plan.planner import make_plan
from diskprof.store import Store

pytestmark = pytest.mark.needs("root", "loop")

PREWARM = ("--set", "size=8m")
FOREVER = ("--set", "size=16m", "--set", "runtime=60")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def write(target: str | Path, home: Path, *more: str, confirm: str | None = None) -> subprocess.CompletedProcess[str]:
    """Asks for a write as a script does, with everything that a script can say in its favour."""
    named = Path(os.path.realpath(target)).name if confirm is None else confirm
    words = ("--allow-write", "--yes", *(("--confirm-device", named) if named else ()))
    return diskprof("run", "aerospike-prewarm", target, *PREWARM, *words, *more, home=home)


def runs(home: Path) -> list[dict[str, object]]:
    listed: list[dict[str, object]] = diskprof_json("runs", "--json", home=home)
    return listed


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


# --- What it takes ---------------------------------------------------------------------------------------------------


def test_a_write_is_off_unless_it_is_allowed(loops: Loops, home: Path) -> None:
    node = loops.disk()
    for words in ((), ("--yes",), ("--yes", "--confirm-device", Path(node).name)):
        refused(diskprof("run", "aerospike-prewarm", node, *PREWARM, *words, home=home), "--allow-write")
    assert not any(first_bytes(node)) and not runs(home)


def test_yes_does_not_name_a_device(loops: Loops, home: Path) -> None:
    node = loops.disk()
    refused(write(node, home, confirm=""), f"--confirm-device {Path(node).name}")
    for wrong in ("yes", "y", "loop", f"{node}x", "*", Path(node).name.upper()):
        refused(write(node, home, confirm=wrong), node)
    assert not any(first_bytes(node)[: 8 * MIB])


def test_a_script_allows_and_names(loops: Loops, home: Path) -> None:
    node = loops.disk()
    words = ("--allow-write", "--confirm-device", Path(node).name)
    for missing in (words[:1], words[1:]):
        refused(diskprof("run", "aerospike-prewarm", node, *PREWARM, "--yes", *missing, home=home), node)
    assert not any(first_bytes(node))
    done = diskprof("run", "aerospike-prewarm", node, *PREWARM, *words, home=home)
    assert done.returncode == 0, done.stderr
    assert any(first_bytes(node))


def test_a_dry_run_needs_no_name_and_writes_nothing(loops: Loops, home: Path) -> None:
    node = loops.disk()
    done = diskprof("run", "aerospike-prewarm", node, *PREWARM, "--allow-write", "--dry-run", home=home)
    assert done.returncode == 0, done.stderr
    assert f"--filename={node}" in done.stdout
    assert "8 MiB will be written" in done.stdout and "25% of its 32 MiB" in done.stdout
    assert not any(first_bytes(node))
    blocked = diskprof("run", "aerospike-prewarm", node, *PREWARM, "--dry-run", home=home)
    assert blocked.returncode == 4


def test_a_permitted_write_goes_to_that_device_and_nowhere_else(loops: Loops, home: Path) -> None:
    before_dev = {path.name for path in Path("/dev").iterdir() if not path.name.startswith("loop")}
    # The device is the middle of a larger file: what lies around it is as near as anything can be.
    image = loops.image(48 * MIB, os.urandom(48 * MIB))
    with image.open("r+b") as file:
        file.seek(16 * MIB)
        file.write(bytes(16 * MIB))
    node = loops.attach(image, "--offset", str(16 * MIB), "--sizelimit", str(16 * MIB))
    around = image.read_bytes()
    beside = loops.image(32 * MIB, os.urandom(MIB))
    untouched = loops.attach(beside)
    mounted = loops.disk(64 * MIB)
    loops.file_system(mounted)
    files = loops.mount(mounted)
    (files / "precious").write_bytes(b"p" * MIB)
    call("sync", "-f", files)
    digest = sha256(beside), sha256(files / "precious")

    run = diskprof_json(
        *("run", "aerospike-prewarm", node, "--allow-write", "--confirm-device", Path(node).name),
        *("--set", "size=16m", "--json"),
        home=home,
    )
    assert run["status"] == "complete"
    assert run["tests"][0]["write"]["bytes"] == 16 * MIB
    call("sync", "-f", image)
    after = image.read_bytes()
    assert after[: 16 * MIB] == around[: 16 * MIB] and after[32 * MIB :] == around[32 * MIB :]
    written = after[16 * MIB : 32 * MIB]
    assert all(any(written[at : at + 4096]) for at in range(0, len(written), 4096))
    assert (sha256(beside), sha256(files / "precious")) == digest
    assert not any(first_bytes(untouched)[MIB:])
    assert {path.name for path in Path("/dev").iterdir() if not path.name.startswith("loop")} == before_dev

    # The plan is honest: it names the node, and the messages say what fio was given in its place.
    assert f"--filename={node}" in run["tests"][0]["argv"]
    said = [message["text"] for message in run["messages"]]
    assert any(re.search(rf"{node} is opened exclusively.*/proc/self/fd/\d+", text) for text in said), said
    assert any("16 MiB will be written" in text for text in said)
    with Store.open(home / ".local/share/diskprof/runs.db") as store:
        (raw,) = store.run(run["id"]).plan.raw_devices
        assert b"/proc/self/fd/" in store.document(run["id"], 0)
    assert (raw.node, raw.confirmed, raw.size_bytes) == (node, Path(node).name, 16 * MIB)
    assert raw.diskseq == int(Path(f"/sys/block/{Path(node).name}/diskseq").read_text())


def test_reads_and_writes_of_one_run_go_by_the_same_descriptor(loops: Loops, home: Path) -> None:
    node = loops.disk(64 * MIB)
    run = diskprof_json(
        *("run", "quick", node, "--set", "size=16m", "--set", "runtime=1", "--json", "--allow-write"),
        *("--confirm-device", Path(node).name),
        home=home,
    )
    assert run["status"] == "complete"
    assert len(run["tests"]) == 6
    for test in run["tests"]:
        assert ("--readonly" in test["argv"]) == (not test.get("write"))


def test_of_two_devices_only_the_one_that_is_written_to_is_asked_for(loops: Loops, home: Path) -> None:
    image = loops.image(64 * MIB, os.urandom(64 * MIB))
    read, written = loops.attach(image), loops.disk(64 * MIB)
    before = sha256(image)
    words = (
        *("run", "azure-max-read-write-iops", "--target", f"cache={read}", "--target", f"nocache={written}"),
        *("--set", "size=16m", "--set", "runtime=1s", "--set", "tier=none", "--allow-write"),
    )
    refused(diskprof(*words, "--confirm-device", Path(read).name, home=home), written)
    run = diskprof_json(*words, "--confirm-device", Path(written).name, "--json", home=home)
    assert run["status"] == "complete"
    assert sha256(image) == before and any(first_bytes(written, 16 * MIB))
    (both,) = [test["argv"] for test in run["tests"] if "--readonly" not in test["argv"]]
    assert f"--filename={read}" in both and f"--filename={written}" in both


def test_a_detached_write_needs_the_name_as_well(loops: Loops, home: Path) -> None:
    node = loops.disk()
    refused(write(node, home, "--detach", confirm=""))
    assert not runs(home)
    done = write(node, home, "--detach")
    assert done.returncode == 0, done.stderr
    ended = diskprof_json("attach", done.stdout.strip(), "--json", home=home)
    assert ended["status"] == "complete"
    assert any(first_bytes(node))


def test_the_runner_itself_asks_for_the_name(loops: Loops, home: Path) -> None:
    """Whatever a front end forgets: the screen starts runs by the same door."""
    node = loops.disk()
    tree = scan()
    plan = make_plan(
        load_library().get("aerospike-prewarm"),
        resolve_target(node, tree),
        {"size": "8m"},
        tree,
        permission=WritePermission(allowed=True),
    )
    store = home / "runs.db"
    for unnamed in (plan, replace(plan, raw_devices=(replace(plan.raw_devices[0], confirmed="yes"),))):
        with Store.open(store) as opened, pytest.raises(Refused, match="Not confirmed"), begun(unnamed, opened):
            pass
        with pytest.raises(Refused, match="Not confirmed"):
            start_detached(unnamed, store)
    # Nor does a plan help that forgot which device it writes to: no descriptor, no write.
    forgetful = start_detached(replace(plan, raw_devices=()), store)
    with Store.open(store) as opened:
        until(lambda: opened.run(forgetful).status.over, "the end of the run")
        assert opened.run(forgetful).status is Status.FAILED
        assert "not opened exclusively" in opened.run(forgetful).reason
    assert not any(first_bytes(node))


def test_a_plugin_needs_the_name_as_well(loops: Loops, home: Path) -> None:
    node = loops.disk()
    words = ("run", "aerospike-prewarm", node, *PREWARM, "--nagios", "--allow-write")
    without = diskprof(*words, home=home)
    assert without.returncode == 3 and "UNKNOWN" in without.stdout
    assert not any(first_bytes(node))
    assert diskprof(*words, "--confirm-device", Path(node).name, home=home).returncode == 0
    assert any(first_bytes(node))


# --- Under other names -----------------------------------------------------------------------------------------------


def aliases(loops: Loops, node: str) -> list[str]:
    name = Path(node).name
    link = loops.directory / "by-id-like"
    link.symlink_to(node)
    chain = loops.directory / "chain"
    chain.symlink_to(link)
    bound = loops.directory / "bound"
    bound.touch()
    call("mount", "--bind", node, bound)
    loops.undo.callback(tried, "umount", bound)
    return [
        *(node, f"/{node}", f"/dev//{name}", f"/dev/../dev/./{name}", f"/proc/self/root{node}", name),
        *map(str, (link, chain, loops.alias(node), bound)),
    ]


@pytest.mark.needs("mkfs.ext4")
def test_a_mounted_device_is_refused_under_every_name(loops: Loops, home: Path) -> None:
    node = loops.disk(64 * MIB)
    loops.file_system(node)
    files = loops.mount(node)
    (files / "precious").write_bytes(os.urandom(4 * MIB))
    digest = sha256(files / "precious")
    for alias in aliases(loops, node):
        done = write(alias, home, "--overwrite-signature", "ext4", confirm=Path(node).name)
        refused(done, f"{Path(node).name} is mounted on {files}")
    assert not runs(home)
    call("umount", files)
    assert tried("e2fsck", "-fn", node).returncode == 0
    call("mount", node, files)
    assert sha256(files / "precious") == digest


def test_an_unused_device_is_the_same_under_every_name(loops: Loops, home: Path) -> None:
    node = loops.disk()
    for alias in aliases(loops, node):
        plan = diskprof_json(
            *("run", "aerospike-prewarm", alias, *PREWARM, "--allow-write", "--dry-run", "--json"), home=home
        )
        assert plan["target"]["path"] == node
        assert f"--filename={node}" in plan["tests"][0]["argv"]


@pytest.mark.needs("mkfs.ext4")
def test_a_second_loop_on_the_same_file_is_the_same_disk(loops: Loops, home: Path) -> None:
    image = loops.image(64 * MIB)
    first, second = loops.attach(image), loops.attach(image)
    loops.file_system(first)
    # Only to be read: what else the kernel would write to it within seconds is not what this is about.
    loops.mount(first, "-o", "ro")
    before = sha256(image)
    done = write(second, home, "--overwrite-signature", "ext4")
    refused(done, f"{Path(first).name} is the same file as {Path(second).name}", "is mounted on")
    assert sha256(image) == before


@pytest.mark.needs("mkfs.ext4")
def test_a_partition_is_in_use_by_the_other_name_of_its_disk(loops: Loops, home: Path) -> None:
    image = loops.image(64 * MIB)
    first, second = (loops.attach(image, "--partscan") for _ in range(2))
    for node in (first, second):
        loops.partition(node, (4 * MIB, 24 * MIB), (32 * MIB, 24 * MIB))
    loops.file_system(f"{first}p1")
    loops.mount(f"{first}p1", "-o", "ro")
    before = sha256(image)
    one, other = (Path(node).name for node in (first, second))
    done = write(f"{second}p1", home, "--overwrite-signature", "ext4")
    refused(done, f"{one}p1 overlaps with {other}p1: {one} is the same file as {other}", f"{one}p1 is mounted on")
    refused(write(second, home, "--overwrite-signature", "ext4"), f"{one}p1 is mounted on")
    assert sha256(image) == before
    # Its neighbour is another matter.
    done = write(f"{second}p2", home)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs("mkfs.ext4")
def test_a_partition_of_a_loop_over_a_disk(loops: Loops, home: Path) -> None:
    node = loops.partitioned((4 * MIB, 24 * MIB))
    over = loops.attach(Path(node), "--partscan")
    loops.partition(over, (4 * MIB, 24 * MIB))
    loops.file_system(f"{node}p1")
    files = loops.mount(f"{node}p1")
    done = write(f"{over}p1", home, "--overwrite-signature", "ext4")
    refused(done, f"{Path(node).name}p1 is mounted on {files}")
    call("umount", files)
    # The loop that carries the target is no stranger to it.
    done = write(f"{over}p1", home, "--overwrite-signature", "ext4")
    assert done.returncode == 0, done.stderr


@pytest.mark.needs("mkfs.ext4")
def test_a_loop_over_a_device_is_that_device(loops: Loops, home: Path) -> None:
    node = loops.disk(64 * MIB)
    over = loops.attach(Path(node))
    loops.file_system(node)
    loops.mount(node)
    refused(write(over, home, "--overwrite-signature", "ext4"), f"set up on {Path(node).name}", "is mounted on")


# --- In use ----------------------------------------------------------------------------------------------------------


@pytest.mark.needs("mkfs.ext4")
def test_a_disk_with_a_mounted_partition(loops: Loops, home: Path) -> None:
    node = loops.partitioned((4 * MIB, 24 * MIB), (32 * MIB, 24 * MIB))
    loops.file_system(f"{node}p2")
    files = loops.mount(f"{node}p2")
    done = write(node, home)
    refused(done, f"{Path(node).name}p2 is mounted on {files}")
    assert "exclusively" not in done.stderr
    # Its neighbour is another matter: nothing of it is lost, and it is told that the disk is shared.
    done = write(f"{node}p1", home)
    assert done.returncode == 0, done.stderr
    (run,) = runs(home)
    shown = diskprof_json("show", str(run["id"]), "--json", home=home)
    assert any(f"{Path(node).name}p2 on the same disk" in message["text"] for message in shown["messages"])
    assert tried("e2fsck", "-fn", f"{node}p2").returncode in (0, 4) and (files / "lost+found").is_dir()


def test_part_of_a_disk_behind_a_loop(loops: Loops, home: Path) -> None:
    node = loops.partitioned((4 * MIB, 24 * MIB), (32 * MIB, 24 * MIB))
    over = loops.attach(Path(node), "--offset", str(32 * MIB), "--sizelimit", str(24 * MIB))
    refused(write(f"{node}p2", home), f"{Path(over).name} is set up on {Path(node).name}")
    refused(write(node, home), f"{Path(over).name} is set up on {Path(node).name}")


@pytest.mark.needs("mkswap")
def test_what_is_swapped_to(loops: Loops, home: Path) -> None:
    node = loops.disk()
    loops.swap(node)
    done = write(node, home, "--overwrite-signature", "swap")
    refused(done, f"{Path(node).name} is swap", f"swapoff {node}")


def test_a_loop_on_top(loops: Loops, home: Path) -> None:
    node = loops.disk()
    over = loops.attach(Path(node))
    refused(write(node, home), f"{Path(over).name} is set up on {Path(node).name}", f"losetup --detach {over}")
    assert not any(first_bytes(node))


NAMESPACE = """
import ctypes, subprocess, sys
assert ctypes.CDLL(None).unshare(0x20000) == 0
subprocess.run(["mount", "--make-rprivate", "/"], check=True)
subprocess.run(["mount", *sys.argv[1:]], check=True)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.needs("mkfs.ext4", "mount")
def test_a_mount_in_another_namespace(loops: Loops, home: Path) -> None:
    node = loops.disk()
    loops.file_system(node)
    place = loops.directory / "hidden"
    place.mkdir()
    other = subprocess.Popen(
        [sys.executable, "-c", NAMESPACE, node, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout and other.stdout.readline() == "ready\n"
        assert node not in Path("/proc/self/mountinfo").read_text()
        done = write(node, home, "--overwrite-signature", "ext4")
        refused(done, f"mounted on {place}", f"process {other.pid}")
    finally:
        other.communicate()


@pytest.mark.needs("mkfs.ext4")
def test_a_mount_that_nobody_can_see(loops: Loops, home: Path) -> None:
    node = loops.disk()
    loops.file_system(node)
    files = loops.mount(node)
    with (files / "open").open("wb"):
        call("umount", "--lazy", files)
        refused(write(node, home, "--overwrite-signature", "ext4"), f"uses {Path(node).name} exclusively")


def test_a_program_that_has_it_open(loops: Loops, home: Path) -> None:
    node = loops.disk()
    descriptor = os.open(node, os.O_RDWR)
    try:
        refused(write(node, home), f"(process {os.getpid()}) has {Path(node).name} open for writing")
    finally:
        os.close(descriptor)
    descriptor = os.open(node, os.O_RDONLY)
    try:
        assert write(node, home).returncode == 0
    finally:
        os.close(descriptor)


def test_a_program_that_has_the_file_behind_it_open(loops: Loops, home: Path) -> None:
    image = loops.image()
    node = loops.attach(image)
    with image.open("r+b"):
        done = write(node, home)
        refused(done, f"(process {os.getpid()}) has the file behind {Path(node).name} open for writing")
    with image.open("rb"):
        assert write(node, home).returncode == 0


@pytest.mark.needs("mkswap")
def test_a_file_that_is_swapped_to(loops: Loops, home: Path) -> None:
    image = loops.image(8 * MIB, b"\1" * 8 * MIB)
    image.chmod(0o600)
    call("mkswap", image)
    node = loops.attach(image)
    done = tried("swapon", image)
    if done.returncode:
        pytest.skip("needs sys-admin: no swap on this file system")
    loops.undo.callback(tried, "swapoff", image)
    refused(write(node, home, "--overwrite-signature", "swap"), f"The file behind {Path(node).name} is swap")


@pytest.mark.needs("mkfs.btrfs")
def test_the_other_half_of_a_file_system(loops: Loops, home: Path) -> None:
    first, second = loops.disk(128 * MIB), loops.disk(128 * MIB)
    call("mkfs.btrfs", "-q", "-f", "-d", "single", "-m", "raid1", first, second)
    tried("btrfs", "device", "scan", first, second)
    loops.mount(first, "-o", f"device={second}")
    for node in (first, second):
        refused(write(node, home, "--overwrite-signature", "btrfs"), Path(node).name)


@pytest.mark.needs("mkfs.ext4")
def test_the_disk_of_the_store_and_of_a_home_is_kept(loops: Loops, home: Path) -> None:
    node = loops.partitioned((4 * MIB, 24 * MIB), (32 * MIB, 24 * MIB))
    loops.file_system(f"{node}p2")
    files = loops.mount(f"{node}p2")
    done = write(f"{node}p1", files)
    refused(done, "this machine runs from that disk", "your home directory")
    words = ("run", "aerospike-prewarm", f"{node}p1", *PREWARM, "--allow-write", "--confirm-device")
    kept = diskprof("--store", files / "kept.db", *words, Path(f"{node}p1").name, home=home)
    refused(kept, "the run database")
    assert not any(first_bytes(f"{node}p1"))


def test_the_disk_below_the_root_file_system_is_never_offered(home: Path) -> None:
    # A plan alone: the machine's own disk is nothing to try an attack on. A container may not see it.
    number = Path("/").stat().st_dev
    name = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name
    for node in filter(Path.is_block_device, [Path("/dev", name)]):
        done = diskprof("run", "aerospike-prewarm", node, *PREWARM, "--allow-write", "--dry-run", home=home)
        assert done.returncode == 4
        said = " ".join(done.stdout.split())
        assert f"{name} is mounted on /: the files there would be destroyed" in said
        assert "this machine runs from that disk" in said


# --- What lies there -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "vfat"])
def test_a_file_system_is_given_up_by_its_own_name_only(loops: Loops, home: Path, kind: str) -> None:
    if not shutil.which(f"mkfs.{kind}", path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
        pytest.skip(f"needs mkfs.{kind}")
    node = loops.disk(400 * MIB)
    loops.file_system(node, kind)
    before = first_bytes(node, 2 * MIB)
    done = write(node, home)
    refused(done, f"holds {kind}", "all files on it would be lost", f"--overwrite-signature {kind}")
    refused(write(node, home, "--overwrite-signature", "ext3"), f"holds {kind}")
    refused(write(node, home, "--overwrite-signature", "all"), f"holds {kind}")
    assert first_bytes(node, 2 * MIB) == before
    done = write(node, home, "--overwrite-signature", kind)
    assert done.returncode == 0, done.stderr
    assert first_bytes(node, 2 * MIB) != before


def test_a_partition_table_and_what_is_in_it(loops: Loops, home: Path) -> None:
    node = loops.partitioned((4 * MIB, 24 * MIB))
    descriptor = os.open(node, os.O_WRONLY)
    entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + (8192).to_bytes(4, "little") + (49152).to_bytes(4, "little")
    os.pwrite(descriptor, entry, 446)
    os.pwrite(descriptor, b"\x55\xaa", 510)
    os.close(descriptor)
    loops.file_system(f"{node}p1", "ext4", "-L", "backup")
    done = write(node, home)
    refused(done, "partition table (dos)", f"{Path(node).name}p1 holds ext4 'backup'")
    refused(write(node, home, "--overwrite-signature", "dos"), "holds ext4 'backup'")
    done = write(node, home, "--overwrite-signature", "dos", "--overwrite-signature", "ext4")
    assert done.returncode == 0, done.stderr


def test_the_copy_of_a_partition_table_at_the_end_counts(loops: Loops, home: Path) -> None:
    image = loops.image()
    with image.open("r+b") as file:
        file.seek(32 * MIB - 512)
        file.write(b"EFI PART")
    refused(write(loops.attach(image), home), "partition table (gpt)")


def test_data_without_a_signature_is_told(loops: Loops, home: Path) -> None:
    node = loops.attach(loops.image(32 * MIB, b"somebody's database" * 1000))
    done = write(node, home, "--dry-run", confirm="")
    assert done.returncode == 0
    assert "holds data without a known signature" in " ".join(done.stdout.split())


def test_a_read_only_device(loops: Loops, home: Path) -> None:
    node = loops.attach(loops.image(), "--read-only")
    done = write(node, home)
    assert done.returncode == 2, done.stderr
    assert "read-only" in done.stderr


# --- Between the plan and the start ----------------------------------------------------------------------------------


def terminal(node: str, home: Path, *more: str) -> Terminal:
    return Terminal(home, "run", "aerospike-prewarm", node, *PREWARM, "--allow-write", *more)


def test_the_name_is_typed_at_the_terminal(loops: Loops, home: Path) -> None:
    node = loops.disk()
    screen = terminal(node, home, "--yes")
    screen.read_until("type its name")
    assert "will be overwritten" in screen.seen and "8 MiB will be written" in screen.seen
    assert not any(first_bytes(node))
    screen.type(Path(node).name)
    assert screen.end() == 0, screen.seen
    assert any(first_bytes(node))


@pytest.mark.parametrize("answer", ["y", "yes", "", "sda", "/dev/loop"])
def test_any_other_answer_refuses(loops: Loops, home: Path, answer: str) -> None:
    node = loops.disk()
    screen = terminal(node, home)
    screen.read_until("type its name")
    screen.type(answer)
    assert screen.end() == 4, screen.seen
    assert not any(first_bytes(node)) and not runs(home)


def test_a_pipe_is_no_person(loops: Loops, home: Path) -> None:
    node = loops.disk()
    done = subprocess.run(
        [*DISKPROF, "run", "aerospike-prewarm", node, *PREWARM, "--allow-write", "--yes"],
        env=environment(home),
        input=f"{Path(node).name}\n" * 10,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    refused(done, "--confirm-device")
    assert not any(first_bytes(node))


def test_a_disk_that_was_replaced_while_the_person_thought(loops: Loops, home: Path) -> None:
    node = loops.far_disk()
    screen = terminal(node, home)
    screen.read_until("type its name")
    loops.detach(node)
    other = loops.image(32 * MIB, b"another disk")
    call("losetup", node, other)
    loops.undo.callback(Loops._detach_own, node, other)
    screen.type(Path(node).name)
    assert screen.end() == 4
    assert "was replaced since it was planned" in " ".join(screen.seen.split())
    assert first_bytes(node)[:12] == b"another disk"


def test_a_disk_that_went_away_while_the_person_thought(loops: Loops, home: Path) -> None:
    node = loops.disk()
    screen = terminal(node, home)
    screen.read_until("type its name")
    loops.detach(node)
    screen.type(Path(node).name)
    assert screen.end() == 4
    assert not Path(node).is_file()


def test_a_disk_that_was_resized_while_the_person_thought(loops: Loops, home: Path) -> None:
    image = loops.image()
    node = loops.attach(image)
    screen = terminal(node, home)
    screen.read_until("type its name")
    os.truncate(image, 64 * MIB)
    call("losetup", "--set-capacity", node)
    screen.type(Path(node).name)
    assert screen.end() == 4
    assert "64 MiB; planned for 32 MiB" in " ".join(screen.seen.split())
    assert not any(first_bytes(node))


@pytest.mark.needs("mkfs.ext4")
@pytest.mark.parametrize("mounted", [True, False])
def test_a_disk_that_was_taken_into_use_while_the_person_thought(loops: Loops, home: Path, mounted: bool) -> None:
    node = loops.disk()
    screen = terminal(node, home)
    screen.read_until("type its name")
    loops.file_system(node)
    if mounted:
        loops.mount(node)
    screen.type(Path(node).name)
    assert screen.end() == 4
    said = " ".join(screen.seen.split())
    assert f"{node} is in use" in said if mounted else "holds ext4" in said
    if not mounted:
        assert tried("e2fsck", "-fn", node).returncode == 0


@pytest.mark.needs("mkfs.ext4")
def test_another_path_that_came_while_the_person_thought(loops: Loops, home: Path) -> None:
    image = loops.image(64 * MIB)
    node = loops.attach(image, "--partscan")
    loops.partition(node, (4 * MIB, 24 * MIB))
    screen = terminal(f"{node}p1", home)
    screen.read_until("type its name")
    other = loops.attach(image, "--partscan")
    loops.partition(other, (4 * MIB, 24 * MIB))
    loops.file_system(f"{other}p1")
    files = loops.mount(f"{other}p1", "-o", "ro")
    before = sha256(image)
    screen.type(f"{Path(node).name}p1")
    assert screen.end() == 4
    said = " ".join(screen.seen.split())
    assert f"{Path(other).name}p1 is mounted on {files}" in said or f"{other}p1 is in use" in said
    assert sha256(image) == before


# --- While it runs ---------------------------------------------------------------------------------------------------


@pytest.mark.needs("mkfs.ext4", "mkswap")
def test_nobody_else_gets_the_device_while_a_run_writes_to_it(loops: Loops, home: Path) -> None:
    image = loops.image()
    node, twin = loops.attach(image), loops.attach(image)
    place = loops.directory / "place"
    place.mkdir()
    words = ("run", "digitalocean-rand-w", node, *FOREVER, "--allow-write", "--confirm-device", Path(node).name)
    with started(*words, home=home) as process:
        until(lambda: any(first_bytes(node, 16 * MIB)), "the first writes")
        for each in (node, twin):
            with pytest.raises(OSError, match="busy"):
                os.open(each, os.O_RDONLY | os.O_EXCL)
            assert tried("mount", each, place).returncode != 0
            assert "in use" in tried("mkfs.ext4", "-q", each).stderr
        again = write(node, home, "--concurrent")
        refused(again, Path(node).name)
        process.send_signal(2)
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    for each in (node, twin):
        os.close(os.open(each, os.O_RDONLY | os.O_EXCL))


def test_a_killed_writer_lets_go_of_the_device(loops: Loops, home: Path) -> None:
    node = loops.disk()
    words = ("run", "digitalocean-rand-w", node, *FOREVER, "--allow-write", "--confirm-device", Path(node).name)
    with started(*words, home=home) as process:
        until(lambda: any(first_bytes(node, 16 * MIB)), "the first writes")
        process.kill()
        process.communicate()

    def free() -> bool:
        try:
            os.close(os.open(node, os.O_RDONLY | os.O_EXCL))
        except OSError:
            return False
        return True

    until(free, "the end of fio")
    still = first_bytes(node, 16 * MIB)
    assert write(node, home).returncode == 0
    assert first_bytes(node, 8 * MIB) != still[: 8 * MIB]


# --- Reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.needs("mkfs.ext4")
def test_reading_a_device_in_use_changes_nothing_and_needs_no_permission(loops: Loops, home: Path) -> None:
    node = loops.disk(64 * MIB)
    loops.file_system(node)
    image = Path(f"/sys/block/{Path(node).name}/loop/backing_file").read_text().strip()
    loops.mount(node, "-o", "ro")
    before = sha256(Path(image))
    run = diskprof_json("run", "fio-randread-qd8", node, "--set", "size=8m", "--json", home=home)
    assert run["status"] == "complete"
    assert all("--readonly" in test["argv"] for test in run["tests"])
    assert sha256(Path(image)) == before


def test_no_report_and_no_export_is_written_over_a_disk(loops: Loops, home: Path) -> None:
    assert diskprof("run", "ioping-latency", home, "--set", "count=2", home=home).returncode == 0
    image = loops.image(8 * MIB, os.urandom(MIB))
    node = loops.attach(image)
    link = home / "report.md"
    link.symlink_to(node)
    before = sha256(image)
    for place in (node, link):
        for words in (
            ("report", "latest", "-o", place),
            ("export", "latest", "-o", place),
            ("presets", "import", "--command", "ioping -c 3 .", "--force", "--output", place),
        ):
            refused(diskprof(*words, home=home), "would be overwritten")
        assert diskprof("--store", place, "runs", home=home).returncode == 1
    os.sync()
    assert sha256(image) == before
