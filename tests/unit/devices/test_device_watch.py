"""A watched device: figures as iostat has them, and never a look at the device itself."""

from pathlib import Path

import pytest
from fake_machine import Machine

from diskprof.analysis.kernel import KernelView, kernel_view
from diskprof.devices import targets
from diskprof.devices.machine import device_watch, watch
from diskprof.devices.machine.device_watch import DeviceWatch, refuse_uncounted, sensed
from diskprof.devices.scan.tree import build_tree
from diskprof.devices.targets import device_under
from diskprof.model.device import DeviceTree
from diskprof.model.errors import UsageError

IOSTAT = [
    "r/s",
    "rkB/s",
    "rrqm/s",
    "%rrqm",
    "r_await",
    "rareq-sz",
    "w/s",
    "wkB/s",
    "wrqm/s",
    "%wrqm",
    "w_await",
    "wareq-sz",
    "aqu-sz",
    "%util",
]
# /proc/diskstats before and after `iostat -x -y 5 1` (sysstat 12.6.1), and its figures without those of discards and flushes:
# of mixed 4k to 32k on a loop device, and of small buffered writes to an ext4 on another, which are merged.
RECORDED = {
    "mixed": (
        "7 0 loop0 6529729 703 144739779 1692595 2896836 39515 74818220 1239309 0 151644 2945404 248 6 325587456 104 2209 13395",
        "7 0 loop0 6530219 703 144757075 1693123 2897035 39515 74825404 1239526 0 152140 2946150 248 6 325587456 104 2209 13395",
        "98.00 1729.60 0.00 0.00 1.08 17.65 39.80 718.40 0.00 0.00 1.09 18.05 0.15 9.92",
    ),
    "merged": (
        "7 1 loop1 10075805 164 1425111224 4179224 8233050 24201 1211136820 4985409 0 670588 9234708 39 2 11452462 20 23717 70054",
        "7 1 loop1 10075826 165 1425127394 4179251 8233383 24224 1211160408 4985565 0 670648 9234926 39 2 11452462 20 23725 70089",
        "4.20 1617.00 0.20 4.55 1.29 385.00 66.60 2358.80 4.60 6.46 0.47 35.42 0.04 1.20",
    ),
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def counted(machine: Machine, *lines: str) -> None:
    (machine.roots.proc / "diskstats").write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("load", RECORDED)
def test_figures_are_those_of_iostat(machine: Machine, monkeypatch: pytest.MonkeyPatch, load: str) -> None:
    before, after, printed = RECORDED[load]
    name = before.split()[2]
    machine.disk(name, major=7)
    counted(machine, before)
    seconds = 0
    monkeypatch.setattr(watch.time, "monotonic_ns", lambda: seconds * 10**9)
    device = build_tree(machine.roots).get(name)
    assert device
    watching = DeviceWatch(device, (device,), machine.roots)
    counted(machine, after)
    seconds = 5
    found = watching.interval()
    view = kernel_view((found.sample,)) if found else None
    assert found and view
    assert found.sample.duration_ns == 5 * 10**9
    reads, reads_merged = view.reads_per_s or 0, view.read_merges_per_s or 0
    writes, writes_merged = view.writes_per_s or 0, view.write_merges_per_s or 0
    ours = {
        "r/s": reads,
        "rkB/s": (view.read_bytes_per_s or 0) / 1024,
        "rrqm/s": reads_merged,
        "%rrqm": 100 * reads_merged / (reads_merged + reads),
        "r_await": (view.read_wait_ns or 0) / 1e6,
        "rareq-sz": (view.read_size_bytes or 0) / 1024,
        "w/s": writes,
        "wkB/s": (view.write_bytes_per_s or 0) / 1024,
        "wrqm/s": writes_merged,
        "%wrqm": 100 * writes_merged / (writes_merged + writes),
        "w_await": (view.write_wait_ns or 0) / 1e6,
        "wareq-sz": (view.write_size_bytes or 0) / 1024,
        "aqu-sz": view.queue_depth,
        "%util": 100 * (view.utilisation or 0),
    }
    theirs = dict(zip(IOSTAT, map(float, printed.split()), strict=True))
    assert ours == pytest.approx(theirs, abs=0.0051)


def test_await_and_the_size_of_a_request_are_of_reads_and_writes_together() -> None:
    view = KernelView(1.0, 30.0, 10.0, read_wait_ns=1e6, write_wait_ns=5e6, read_size_bytes=4096, write_size_bytes=None)
    assert (view.wait_ns, view.size_bytes) == (2e6, 4096)
    assert KernelView(1.0, 0.0, 0.0).wait_ns is None


@pytest.fixture
def tree(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> DeviceTree:
    machine.disk("sda")
    machine.partition("sda", "sda1")
    machine.disk("sdb", size=0)
    built = build_tree(machine.roots)
    monkeypatch.setattr(targets, "mount_of", lambda path: None)
    return built


def test_what_is_watched_needs_no_node(tree: DeviceTree) -> None:
    assert device_under("sda1", tree).name == "sda1"
    disk = tree.get("sda")
    assert disk and not Path(disk.node).exists()
    assert device_under(disk.node, tree) == disk


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("sdb", "/sdb is empty"),
        ("/no/such", "does not exist"),
        ("/proc", "not on a block device"),
        ("by-serial:X", "No disk has the serial number"),
    ],
)
def test_what_cannot_be_watched(tree: DeviceTree, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        device_under(text, tree)


def test_a_device_of_which_nothing_is_counted_is_refused(machine: Machine, tree: DeviceTree) -> None:
    disk, partition = tree.get("sda"), tree.get("sda1")
    assert disk and partition
    counted(machine, "8 0 sda 1 0 8 1 0 0 0 0 0 1 1", "8 1 sda1 1 0 8 1 0 0 0 0 0 1 1")
    refuse_uncounted(disk, machine.roots)
    queue = (machine.roots.blocks / "sda").resolve() / "queue"
    queue.mkdir(exist_ok=True)
    (queue / "iostats").write_text("0\n")
    for device in (disk, partition):
        with pytest.raises(UsageError, match="iostats are off"):
            refuse_uncounted(device, machine.roots)
    counted(machine)
    with pytest.raises(UsageError, match="counts no I/O of"):
        refuse_uncounted(disk, machine.roots)


def test_a_volume_counts_whether_its_disk_does_or_not(machine: Machine) -> None:
    machine.disk("sda", queue={"iostats": "0"})
    node = machine.disk("dm-0", major=253, queue={"iostats": "1"})
    machine.stack("dm-0", "sda")
    counted(machine, "8 0 sda 0 0 0 0 0 0 0 0 0 0 0", "253 0 dm-0 1 0 8 1 0 0 0 0 0 1 1")
    volume = build_tree(machine.roots).get("dm-0")
    assert volume and volume.parents == ("sda",)
    refuse_uncounted(volume, machine.roots)
    (node / "queue/iostats").write_text("0\n")
    with pytest.raises(UsageError) as refused:
        refuse_uncounted(volume, machine.roots)
    assert str(refused.value.hint).endswith("/sys/block/dm-0/queue/iostats")


def test_the_sensor_of_a_disk_that_turns_is_left_alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, turns in (("sda", "1"), ("nvme0n1", "0")):
        node = machine.disk(name, queue={"rotational": turns})
        (node / "device/hwmon/hwmon1").mkdir(parents=True)
        (node / "device/hwmon/hwmon1/temp1_input").write_text("41000\n")
    counted(machine, "8 0 sda 1 0 8 1 0 0 0 0 0 1 1", "8 0 nvme0n1 1 0 8 1 0 0 0 0 0 1 1")
    monkeypatch.setattr(device_watch, "Presence", lambda names, roots: None)
    found = {}
    for device in build_tree(machine.roots).devices:
        watching = DeviceWatch(device, (device,), machine.roots).interval()
        assert watching
        found[device.name] = watching.sample.temperature_c
    assert found == {"sda": None, "nvme0n1": 41.0}
    assert sensed(build_tree(machine.roots).devices) == ("nvme0n1",)
