"""The machine around the disk: limits, hypervisors, and what the kernel counts while a test runs."""

from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_machine import Machine

from diskprof.devices.machine import watch
from diskprof.devices.machine.cgroups import group_limits
from diskprof.devices.machine.cloud import cloud
from diskprof.devices.machine.environment import describe, virtualisation
from diskprof.devices.machine.watch import SystemWatch
from diskprof.devices.scan.tree import build_tree
from diskprof.devices.scan.udev import Monitor, scan
from diskprof.devices.targets import resolve_target
from diskprof.model.device import DeviceTree
from diskprof.model.sample import Phase, SystemSample
from diskprof.model.target import Target, TargetKind


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def cgroup_mount(machine: Machine, path: str, fs_type: str, options: str) -> None:
    file = machine.roots.proc / "self/mountinfo"
    before = file.read_text() if file.exists() else ""
    write(file, f"{before}{len(before)} 1 0:{len(before)} / {path} rw - {fs_type} {fs_type} {options}\n")


def test_limits_of_control_groups_v2(machine: Machine) -> None:
    machine.disk("sda", major=8)
    cgroup_mount(machine, "/sys/fs/cgroup", "cgroup2", "rw")
    write(machine.roots.proc / "self/cgroup", "0::/system.slice/test.scope\n")
    group = machine.roots.sys / "fs/cgroup/system.slice"
    write(group / "test.scope/io.max", "8:0 rbps=max wbps=209715200 riops=5000 wiops=max\n99:9 riops=7 rbps=max\n")
    write(group / "cpu.max", "150000 100000\n")
    write(group / "test.scope/cpu.max", "max 100000\n")
    assert {limit.words for limit in group_limits(build_tree(machine.roots), machine.roots)} == {
        "sda: writes at most 210 MB/s",
        "sda: reads at most 5000 IOPS",
        "99:9: reads at most 7 IOPS",
        "at most 1.5 CPUs",
    }


def test_limits_of_control_groups_v1(machine: Machine) -> None:
    machine.disk("sda", major=8)
    cgroup_mount(machine, "/sys/fs/cgroup/blkio", "cgroup", "rw,blkio")
    cgroup_mount(machine, "/sys/fs/cgroup/cpu", "cgroup", "rw,cpu,cpuacct")
    write(machine.roots.proc / "self/cgroup", "5:cpu,cpuacct:/user\n4:blkio:/user/one\n3:memory:/\n")
    write(machine.roots.sys / "fs/cgroup/blkio/user/one/blkio.throttle.read_iops_device", "8:0 5000\n")
    write(machine.roots.sys / "fs/cgroup/blkio/user/blkio.throttle.write_bps_device", "8:0 1000000\n")
    write(machine.roots.sys / "fs/cgroup/cpu/user/cpu.cfs_quota_us", "50000\n")
    write(machine.roots.sys / "fs/cgroup/cpu/user/cpu.cfs_period_us", "100000\n")
    write(machine.roots.sys / "fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    assert {limit.words for limit in group_limits(build_tree(machine.roots), machine.roots)} == {
        "sda: reads at most 5000 IOPS",
        "sda: writes at most 1.00 MB/s",
        "at most 0.5 CPUs",
    }


@pytest.fixture
def limited(machine: Machine) -> Machine:
    """Two disks, of which a container may use so much each, and its processors."""
    machine.disk("sda", major=8)
    machine.disk("sdb", major=8)
    machine.partition("sda", "sda1")
    cgroup_mount(machine, "/sys/fs/cgroup", "cgroup2", "rw")
    write(machine.roots.proc / "self/cgroup", "0::/one/two\n")
    group = machine.roots.sys / "fs/cgroup/one"
    write(group / "two/io.max", "8:1 riops=7 rbps=max\n99:9 wiops=9\n")
    write(group / "io.max", "8:0 riops=5000 rbps=max\n")
    write(group / "cpu.max", "50000 100000\n")
    return machine


@pytest.mark.parametrize(
    ("devices", "fs_type", "expected"),
    [
        (["sda"], "ext4", {"sda"}),
        (["sda1"], "ext4", {"sda"}),
        (["sdb"], "", {"sdb"}),
        (["sda1", "sdb"], "xfs", {"sda", "sdb"}),
        # Nobody tells which disks these lie on.
        ([""], "overlay", {"sda", "sdb", "99:9"}),
        (["sda1"], "btrfs", {"sda", "sdb", "99:9"}),
    ],
)
def test_a_limit_on_another_disk_is_no_limit_of_the_run(
    limited: Machine, devices: list[str], fs_type: str, expected: set[str]
) -> None:
    first, *others = (Target(TargetKind.DIRECTORY, "/a", "/a", name, "/a", fs_type) for name in devices)
    found = describe(
        first,
        build_tree(limited.roots),
        fio_version="",
        ioping_version="",
        others=[("other", target) for target in others],
        roots=limited.roots,
    )
    assert {limit.device for limit in found.io_limits} == expected
    assert {words.partition(":")[0] for words in found.cgroup_limits} == {
        *(name.partition(":")[0] for name in expected),
        "at most 0.5 CPUs",
    }
    assert found.cpu_limit == 0.5


def test_a_watch_counts_what_the_group_did_on_the_disk_under_test(limited: Machine) -> None:
    def counted(*names: str) -> tuple[int | None, int | None]:
        group = limited.roots.sys / "fs/cgroup/one"
        for number in (1, 3):
            for where in (group, group / "two"):
                mine = 10 if where == group else 1
                write(where / "io.stat", f"8:0 rios={number * mine} wios=0\n8:1 rios={number * 100} wios={number}\n")
            if number == 1:
                watcher = SystemWatch([], names, limited.roots)
        sample = watcher.sample(test=0, phase=Phase.MEASURING, at_ns=1)
        assert sample
        return sample.cgroup_reads, sample.cgroup_writes

    assert counted("sda") == (20, 0)
    assert counted("sdb") == (200, 2)
    assert counted("99:9") == (0, 0)
    assert counted() == (None, None)


def test_no_limits(machine: Machine) -> None:
    assert group_limits(DeviceTree(), machine.roots) == ()


@pytest.mark.parametrize(
    ("vendor", "product", "flag", "expected"),
    [
        ("QEMU", "Standard PC", True, "QEMU"),
        ("Red Hat", "KVM", True, "KVM"),
        ("Amazon EC2", "m7i.large", True, "Amazon EC2"),
        ("Amazon EC2", "m7i.metal-24xl", False, ""),
        ("Microsoft Corporation", "Virtual Machine", True, "Hyper-V"),
        ("Microsoft Corporation", "Surface Laptop 5", False, ""),
        ("Dell Inc.", "PowerEdge R650", False, ""),
        ("", "", True, "virtual machine"),
        ("Dell Inc.", "PowerEdge R650", True, "virtual machine"),
    ],
)
def test_hypervisors(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, vendor: str, product: str, flag: bool, expected: str
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    write(machine.roots.sys / "class/dmi/id/sys_vendor", vendor)
    write(machine.roots.sys / "class/dmi/id/product_name", product)
    write(machine.roots.proc / "cpuinfo", f"processor : 0\nflags : fpu vme{' hypervisor' if flag else ''} lahf_lm\n")
    assert virtualisation(machine.roots) == expected


@pytest.mark.parametrize(
    ("vendor", "product", "clocks", "expected"),
    [
        ("QEMU", "Standard PC", "tsc kvm-clock acpi_pm", "KVM"),
        ("QEMU", "Standard PC", "tsc hpet acpi_pm", "QEMU"),
        ("DigitalOcean", "Droplet", "kvm-clock tsc acpi_pm", "KVM"),
        ("Hetzner", "vServer", "kvm-clock tsc acpi_pm", "KVM"),
        ("Hetzner", "vServer", "tsc acpi_pm", "virtual machine"),
        ("", "", "tsc kvm-clock", "KVM"),
        ("Amazon EC2", "m7i.large", "kvm-clock tsc acpi_pm", "Amazon EC2"),
        ("Google", "Google Compute Engine", "kvm-clock tsc acpi_pm", "Google Compute Engine"),
    ],
)
def test_kvm_is_known_by_its_clock(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, vendor: str, product: str, clocks: str, expected: str
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    write(machine.roots.sys / "class/dmi/id/sys_vendor", vendor)
    write(machine.roots.sys / "class/dmi/id/product_name", product)
    write(machine.roots.proc / "cpuinfo", "processor : 0\nflags : fpu vme hypervisor lahf_lm\n")
    write(machine.roots.sys / "devices/system/clocksource/clocksource0/available_clocksource", f"{clocks} \n")
    assert virtualisation(machine.roots) == expected


@pytest.mark.parametrize(
    ("product", "expected"),
    [("KVM Virtual Machine", "KVM"), ("QEMU Virtual Machine", "QEMU"), ("virt-7.2", "QEMU")],
)
def test_qemu_on_arm64_says_itself_what_it_runs_on(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, product: str, expected: str
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    write(machine.roots.sys / "class/dmi/id/sys_vendor", "QEMU")
    write(machine.roots.sys / "class/dmi/id/product_name", product)
    write(machine.roots.proc / "cpuinfo", "processor : 0\nFeatures : fp asimd\n")
    assert virtualisation(machine.roots) == expected


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("sys_vendor", "Amazon EC2", "AWS"),
        ("product_name", "Google Compute Engine", "Google Cloud"),
        ("chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77", "Azure"),
        ("chassis_asset_tag", "OracleCloud.com", "Oracle Cloud"),
        ("sys_vendor", "DigitalOcean", "DigitalOcean"),
        ("sys_vendor", "Google", ""),
    ],
)
def test_clouds(machine: Machine, file: str, text: str, name: str) -> None:
    write(machine.roots.sys / "class/dmi/id" / file, f"{text}\n")
    assert cloud(machine.roots) == name


def test_xen_and_containers(machine: Machine) -> None:
    write(machine.roots.sys / "hypervisor/type", "xen\n")
    assert virtualisation(machine.roots) == "Xen"
    write(machine.roots.proc / "1/cgroup", "0::/kubepods/pod1\n")
    assert virtualisation(machine.roots) == "Xen, container"
    write(machine.roots.proc / "xen/capabilities", "control_d\n")
    assert virtualisation(machine.roots) == "container"


def test_the_environment_of_this_machine(tmp_path: Path) -> None:
    tree = scan()
    target = resolve_target(str(tmp_path), tree)
    store = tmp_path / "runs.db"
    environment = describe(target, tree, fio_version="3.33", ioping_version="1.3", store=store)
    assert environment.hostname and environment.kernel and environment.cpu_model
    assert environment.cpus > 0 and environment.memory_bytes > 1 << 20
    assert environment.mount and environment.mount.path == target.mount_point
    assert environment.device == tree.get(target.device)
    assert environment.disks == tree.disks_below(target.device)
    assert environment.store_disks == tuple(disk.name for disk in environment.disks)
    assert (environment.fio_version, environment.ioping_version) == ("3.33", "1.3")


def times(**spent: float) -> SimpleNamespace:
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    return SimpleNamespace(**{name: spent.get(name, 0.0) for name in names})


def stats(machine: Machine, **lines: str) -> None:
    write(machine.roots.proc / "diskstats", "".join(f"8 0 {name} {line}\n" for name, line in lines.items()))


def test_a_watch_gives_differences(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    node = machine.disk("sda")
    machine.disk("sdb")
    readings = iter(
        [
            times(user=10, idle=10),
            times(user=11, system=1, softirq=1, iowait=2, steal=1, idle=14),
            times(user=11, idle=14),
        ]
    )
    monkeypatch.setattr(watch.psutil, "cpu_times", lambda: next(readings))
    clock = iter([10**9, 2 * 10**9, 3 * 10**9])
    monkeypatch.setattr(watch.time, "monotonic_ns", lambda: next(clock, 4 * 10**9))
    monkeypatch.setattr(watch, "counters_in", without_clock)
    write(node / "device/hwmon/hwmon3/temp1_input", "41850\n")
    stats(machine, sda="1 1 8 10 0 0 0 0 0 5 6", sdb="0 0 0 0 0 0 0 0 0 0 0", sdc="9 9 9 9 9 9 9 9 9 9 9")
    watcher = SystemWatch(["sda", "sdb"], roots=machine.roots)
    stats(machine, sda="11 2 88 30 4 3 16 50 0 105 206", sdb="5 0 40 7 0 0 0 0 0 600 9", sdc="0 0 0 0 0 0 0 0 0 0 0")
    sample = watcher.sample(test=2, phase=Phase.MEASURING, at_ns=77)
    assert sample
    assert (sample.test, sample.phase, sample.at_ns, sample.duration_ns) == (2, Phase.MEASURING, 77, 10**9)
    assert (sample.reads, sample.read_bytes, sample.read_ticks_ms) == (15, 120 * 512, 27)
    assert (sample.writes, sample.write_bytes, sample.write_ticks_ms) == (4, 16 * 512, 50)
    assert (sample.merges, sample.read_merges, sample.write_merges, sample.queue_ticks_ms) == (4, 1, 3, 209)
    assert sample.io_ticks_ms == 600, "the busiest, not the sum"
    assert (sample.cpu_user, sample.cpu_system, sample.cpu_iowait, sample.cpu_steal) == (0.1, 0.2, 0.2, 0.1)
    assert sample.temperature_c == 41.85
    stats(machine, sda="0 0 0 0 0 0 0 0 0 0 0", sdb="5 0 40 7 0 0 0 0 0 600 9")
    replaced = watcher.sample(test=2, phase=Phase.MEASURING, at_ns=78)
    assert replaced and replaced.reads is None and replaced.temperature_c == 41.85
    assert replaced.cpu_user is None, "no time was counted"


NO_IO = "0 0 0 0 0 0 0 0 0 0 0"


@pytest.mark.parametrize(
    ("queue", "after", "discards", "flushes"),
    [
        (True, f"{NO_IO} 3 0 8 20 5 6", (3, 4096, 20), (5, 6)),
        (False, f"{NO_IO} 3 0 8 20 0 0", (3, 4096, 20), (None, None)),
        (True, f"{NO_IO} 3 0 8 20", (3, 4096, 20), (None, None)),
        (True, NO_IO, (None, None, None), (None, None)),
    ],
    ids=["both", "partition-or-volume", "before-5.5", "before-4.18"],
)
def test_discards_and_flushes_are_known_where_the_kernel_counts_them(
    machine: Machine, queue: bool, after: str, discards: tuple[object, ...], flushes: tuple[object, ...]
) -> None:
    node = machine.disk("sda")
    if queue:
        (node / "mq").mkdir()
    stats(machine, sda=" ".join("0" for _ in after.split()))
    watcher = SystemWatch(["sda"], roots=machine.roots)
    stats(machine, sda=after)
    sample = watcher.sample(test=0, phase=Phase.MEASURING, at_ns=1)
    assert sample and sample.reads == 0
    assert (sample.discards, sample.discard_bytes, sample.discard_ticks_ms) == discards
    assert (sample.flushes, sample.flush_ticks_ms) == flushes


def watched(machine: Machine, before: dict[str, str], after: dict[str, str]) -> SystemSample:
    """What a watch says between two states of files of the kernel, named from the root."""
    root = machine.roots.sys.parent
    for name, text in before.items():
        write(root / name, text)
    watcher = SystemWatch([], ["8:0"], machine.roots)
    for name, text in after.items():
        write(root / name, text)
    sample = watcher.sample(test=0, phase=Phase.MEASURING, at_ns=1)
    assert sample
    return sample


def test_a_watch_sees_what_a_limited_group_did_v1(machine: Machine) -> None:
    cgroup_mount(machine, "/sys/fs/cgroup/blkio", "cgroup", "rw,blkio")
    cgroup_mount(machine, "/sys/fs/cgroup/cpu", "cgroup", "rw,cpu")
    write(machine.roots.proc / "self/cgroup", "5:cpu:/one\n4:blkio:/one/two\n")
    one, two = "sys/fs/cgroup/blkio/one/", "sys/fs/cgroup/blkio/one/two/"
    cpu = "sys/fs/cgroup/cpu/one/"
    sample = watched(
        machine,
        {
            f"{one}blkio.throttle.read_bps_device": "8:0 1000\n",
            f"{two}blkio.throttle.io_serviced": "8:0 Read 500\n",
            f"{one}blkio.throttle.io_serviced": "8:0 Read 1\n",
            f"{one}blkio.throttle.io_serviced_recursive": "8:0 Read 10\n8:0 Write 3\n8:0 Total 13\n9:9 Read 4\nTotal 17\n",
            f"{one}blkio.throttle.io_service_bytes_recursive": "8:0 Read 40960\n8:0 Write 512\nTotal 41472\n",
            f"{cpu}cpu.cfs_quota_us": "50000\n",
            f"{cpu}cpu.cfs_period_us": "100000\n",
            f"{cpu}cpu.stat": "nr_periods 5\nnr_throttled 1\nthrottled_time 700\n",
        },
        {
            f"{one}blkio.throttle.io_serviced_recursive": "8:0 Read 25\n8:0 Write 3\n8:0 Total 28\n9:9 Read 44\nTotal 72\n",
            f"{one}blkio.throttle.io_service_bytes_recursive": "8:0 Read 81920\n8:0 Write 512\nTotal 82432\n",
            f"{cpu}cpu.stat": "nr_periods 15\nnr_throttled 9\nthrottled_time 5000700\n",
        },
    )
    assert (sample.cgroup_reads, sample.cgroup_writes) == (15, 0)
    assert (sample.cgroup_read_bytes, sample.cgroup_write_bytes) == (40960, 0)
    assert (sample.cpu_periods, sample.cpu_throttled, sample.cpu_throttled_ns) == (10, 8, 5_000_000)


def test_a_watch_sees_what_a_limited_group_did_v2(machine: Machine) -> None:
    cgroup_mount(machine, "/sys/fs/cgroup", "cgroup2", "rw")
    write(machine.roots.proc / "self/cgroup", "0::/slice/scope\n")
    group = "sys/fs/cgroup/slice/scope/"
    sample = watched(
        machine,
        {
            f"{group}io.max": "8:0 rbps=max wbps=max riops=5000 wiops=max\n",
            f"{group}cpu.max": "50000 100000\n",
            f"{group}cpu.stat": "usage_usec 1\nnr_periods 5\nnr_throttled 1\nthrottled_usec 700\n",
        },
        {
            f"{group}io.stat": "8:0 rbytes=40960 wbytes=8192 rios=10 wios=2 dbytes=0\n8:16 rbytes=1 wbytes=1 rios=1 wios=1\n",
            f"{group}cpu.stat": "usage_usec 1\nnr_periods 8\nnr_throttled 4\nthrottled_usec 900\n",
        },
    )
    assert (sample.cgroup_reads, sample.cgroup_writes) == (10, 2)
    assert (sample.cgroup_read_bytes, sample.cgroup_write_bytes) == (40960, 8192)
    assert (sample.cpu_periods, sample.cpu_throttled, sample.cpu_throttled_ns) == (3, 3, 200_000)


def test_a_watch_sees_what_the_runner_itself_wrote(machine: Machine) -> None:
    before, after = (f"rchar: 9\nread_bytes: 5\nwrite_bytes: {count}\ncancelled_write_bytes: 3\n" for count in (10, 74))
    assert watched(machine, {"proc/thread-self/io": before}, {"proc/thread-self/io": after}).own_write_bytes == 64
    assert watched(machine, {}, {"proc/thread-self/io": ""}).own_write_bytes is None


def test_a_watch_without_limits_sees_the_memory_alone(machine: Machine) -> None:
    text = "MemTotal: 100 kB\nMemAvailable:   50 kB\nCached: 20 kB\nSwapCached: 7 kB\nDirty: 3 kB\n"
    sample = watched(machine, {"proc/meminfo": ""}, {"proc/meminfo": text})
    assert (sample.memory_available_bytes, sample.cached_bytes, sample.dirty_bytes) == (51200, 20480, 3072)
    assert (sample.cgroup_reads, sample.cpu_periods) == (None, None)
    assert watched(machine, {}, {"proc/meminfo": ""}).cached_bytes is None


@pytest.mark.parametrize(
    ("attributes", "limit"),
    [
        ({"temp1_max": "81850", "temp1_crit": "84850"}, 81.85),
        ({"temp1_max": "65261850", "temp1_crit": "84850"}, 84.85),
        ({"temp1_crit": "0"}, None),
        ({}, None),
    ],
)
def test_the_temperature_from_which_a_drive_slows_down(
    machine: Machine, attributes: dict[str, str], limit: float | None
) -> None:
    node = machine.disk("nvme0n1")
    write(node / "device/hwmon3/temp1_input", "41850\n")
    for name, milli in attributes.items():
        write(node / "device/hwmon3" / name, milli)
    assert watch.temperature_limit(["nvme0n1"], machine.roots) == limit


@pytest.mark.parametrize(("milli", "degrees"), [("41850", 41.85), ("-5000", -5.0), ("65261850", None), ("", None)])
def test_the_temperature_of_a_disk_is_that_of_its_sensor(machine: Machine, milli: str, degrees: float | None) -> None:
    write(machine.disk("nvme0n1") / "device/hwmon3/temp1_input", f"{milli}\n")
    assert watch.temperature("nvme0n1", machine.roots) == degrees


def test_a_disk_that_the_kernel_suspended_is_asleep(machine: Machine) -> None:
    for name, status in (("sda", "suspended"), ("sdb", "active")):
        write(machine.disk(name) / "device/power/runtime_status", f"{status}\n")
    machine.disk("vda")
    assert [name for name in ("sda", "sdb", "vda") if watch.asleep(name, machine.roots)] == ["sda"]


def without_clock(text: str, names: Collection[str]) -> object:
    from diskprof.devices.scan import sysfs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sysfs.time, "monotonic_ns", lambda: 0)
        return sysfs.counters_in(text, names)


def test_a_watch_without_devices() -> None:
    sample = SystemWatch([]).sample(test=0, phase=Phase.WARMING, at_ns=0)
    assert sample is None or (sample.reads is None and sample.temperature_c is None)


def test_a_monitor_compares_what_it_can_see(machine: Machine) -> None:
    machine.disk("sda")
    machine.mount("sda", "/one", "ext4")
    with Monitor(machine.roots) as monitor:
        monitor._drain = lambda: False  # other tests' loop devices make events of their own
        assert not monitor.changed()
        machine.disk("sdb")
        assert monitor.changed() and not monitor.changed()
        machine.mount("sdb", "/two", "ext4")
        assert monitor.changed() and not monitor.changed()
        machine.resize("sdb", 77 << 20)
        assert monitor.changed() and not monitor.changed()
        machine.remove("sdb")
        assert monitor.changed() and not monitor.changed(0.01)


def test_a_look_opens_nothing_however_many_devices_there_are(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(32):
        machine.disk(f"sd{number}")
    opened: list[Path] = []
    plain_open = Path.open

    def noting(path: Path, *more: Any, **named: Any) -> Any:
        opened.append(path)
        return plain_open(path, *more, **named)

    with Monitor(machine.roots) as monitor:
        monkeypatch.setattr(Path, "open", noting)
        assert not monitor.changed()
        assert opened == []
        machine.resize("sd17", 3 << 30)
        assert monitor.changed() and not monitor.changed()


def test_a_monitor_without_netlink(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_arguments: object) -> None:
        raise PermissionError

    monkeypatch.setattr("diskprof.devices.scan.udev.socket.socket", forbidden)
    with Monitor(machine.roots) as monitor:
        assert monitor.source == "comparison"
        assert monitor.fileno() >= 0
        machine.disk("sda")
        assert monitor.changed()


def test_a_closed_monitor_does_not_wait() -> None:
    monitor = Monitor()
    monitor.close()
    monitor.close()
    monitor.changed()
    with pytest.raises(ValueError, match="closed"):
        monitor.fileno()
