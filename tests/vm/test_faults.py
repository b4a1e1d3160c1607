"""Disks that are slow, fail or hang, in ways that the kernel makes exact: the figures are right, and what happened is said."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from vm.guest import Guest, findings, words_of

MS = 1e6
SHORT = "--set size=64m --set runtime=4 --set tier=none"
"""Of the presets of DigitalOcean, without what they promise."""


@contextmanager
def null_disk(guest: Guest, **settings: int) -> Iterator[str]:
    """The node of a disk of 1 GiB that has no bytes and the speed that `settings` say (null_blk, F86)."""
    place = "/sys/kernel/config/nullb/nullb0"
    lines = "".join(f"echo {value} > {name}; " for name, value in settings.items())
    guest.run(
        f"modprobe null_blk nr_devices=0; mkdir {place}; cd {place}; echo 1024 > size; {lines}echo 1 > power; udevadm settle"
    )
    try:
        yield "/dev/nullb0"
    finally:
        guest.run(f"udevadm settle; echo 0 > {place}/power; rmdir {place}", check=False)


@contextmanager
def mapped(guest: Guest, name: str, table: str) -> Iterator[str]:
    """The node of a device mapping; `table` is a shell word that may use $size, the sectors of a null disk, and $disk."""
    with null_disk(guest) as disk:
        sizes = f"disk={disk}; size=$(blockdev --getsz {disk})"
        guest.run(f'{sizes}; dmsetup create {name} --table "{table}"; udevadm settle')
        try:
            yield f"/dev/mapper/{name}"
        finally:
            guest.run(f"dmsetup resume {name}; dmsetup remove --force --retry {name}", check=False)


# --- Slow -------------------------------------------------------------------------------------------------------------


def test_fio_ioping_and_diskprof_measure_a_delay_alike(guest: Guest) -> None:
    with mapped(guest, "slow", "0 $size delay $disk 0 20") as node:
        by_fio = guest.measured(f"digitalocean-lat-read {node} {SHORT}")["tests"][0]["read"]["latency_ns"]["mean"]
        by_ioping = guest.measured(f"ioping-latency {node} --set count=20 --set interval=0.1s")["tests"][0]["read"][
            "latency_ns"
        ]["mean"]
        words = (
            f"--filename={node} --name=a --rw=randread --direct=1 --ioengine=libaio --size=64m --runtime=4 --time_based"
        )
        plain_fio = json.loads(guest.out(f"fio --readonly {words} --output-format=json"))["jobs"][0]["read"]["lat_ns"][
            "mean"
        ]
        # Nine raw figures: requests, their time, IOPS, bandwidth, minimum, mean, ...
        plain_ioping = float(guest.out(f"ioping -B -q -D -c 20 -i 0.1 {node}").split()[5])
    figures = {"diskprof fio": by_fio, "diskprof ioping": by_ioping, "fio": plain_fio, "ioping": plain_ioping}
    assert all(20 * MS <= figure < 35 * MS for figure in figures.values()), figures
    assert max(figures.values()) - min(figures.values()) < 6 * MS, figures


def test_a_disk_that_takes_its_time_for_each_request_has_no_ceiling(guest: Guest) -> None:
    with null_disk(guest, irqmode=2, completion_nsec=10_000_000, hw_queue_depth=64) as node:
        run = guest.measured(f"vps-randread-qd8 {node} --set size=12m")
    read = run["tests"][0]["read"]
    assert 10 * MS <= read["latency_ns"]["p50"] < 20 * MS
    assert "iops-ceiling" not in findings(run), run["findings"]


def test_a_limit_of_bandwidth_is_measured(guest: Guest) -> None:
    with null_disk(guest, mbps=10) as node:
        run = guest.measured(f"digitalocean-rand-r {node} {SHORT}")
    assert run["tests"][0]["read"]["bandwidth_bytes_per_s"] == pytest.approx(10 * (1 << 20), rel=0.06)


def test_a_limit_of_the_control_group_is_found_and_its_figure_right(guest: Guest) -> None:
    with null_disk(guest) as node:
        done = guest.run(
            f'systemd-run -q --scope -p "IOReadIOPSMax={node} 300" diskprof run digitalocean-rand-r {node} {SHORT} --json'
        )
    run = done.json()
    assert run["tests"][0]["read"]["iops"] == pytest.approx(300, rel=0.15)
    assert "cgroup-limit-reached" in findings(run), run["findings"]


# --- Failing ----------------------------------------------------------------------------------------------------------


def test_errors_of_a_disk_that_fails_by_turns_are_the_reason(guest: Guest) -> None:
    job = guest.write_job("/root/steady.fio", ioengine="libaio", iodepth=4, rate_iops=100, runtime=300)
    with mapped(guest, "flaky", "0 $size flakey $disk 0 10 60") as node:
        run = guest.measured(f"{job} {node}", rc=1)
    assert run["status"] == "failed"
    assert "eio" in words_of(run)


def test_a_disk_that_fails_in_mid_run_is_the_reason(guest: Guest) -> None:
    job = guest.write_job("/root/steady.fio", ioengine="libaio", iodepth=4, rate_iops=100, runtime=300)
    with (
        mapped(guest, "broken", "0 $size linear $disk 0") as node,
        guest.started(f"diskprof run {job} {node} --json") as running,
    ):
        running.wait_for("measuring")
        guest.run(
            "dmsetup suspend --nolockfs --noflush broken; "
            "dmsetup table broken | sed 's/linear.*/error/' | dmsetup reload broken; dmsetup resume broken"
        )
        done = running.wait()
    assert done.rc == 1, done
    assert done.json()["status"] == "failed"
    assert "eio" in words_of(done.json())


def test_a_disk_that_hangs_is_said_and_holds_nothing_up(guest: Guest) -> None:
    job = guest.write_job("/root/steady.fio", ioengine="libaio", iodepth=4, rate_iops=100, runtime=25)
    with (
        mapped(guest, "stuck", "0 $size linear $disk 0") as node,
        guest.started(f"diskprof run {job} {node} --json") as running,
    ):
        running.wait_for("measuring")
        guest.run("dmsetup suspend --nolockfs --noflush stuck")
        guest.until_value(lambda: "may hang" in words_of(guest.diskprof("show latest --json").json()), "the message")
        assert "stuck" in {device["dm_name"] for device in guest.devices().values()}
        guest.run("dmsetup resume stuck")
        done = running.wait()
    assert done.rc == 0, done
    assert "stall" in findings(done.json()), done
    assert done.json()["tests"][0]["read"]["latency_ns"]["max"] > 4e9


# --- Arrays and paths -------------------------------------------------------------------------------------------------


@pytest.fixture
def array(guest: Guest) -> Iterator[str]:
    """A RAID1 of two disks whose resync takes longer than any test."""
    names = ("ARRAY1", "ARRAY2")
    with guest.machine.plugged("scsi", names[0]), guest.machine.plugged("scsi", names[1]):
        nodes = " ".join(guest.node(name) for name in names)
        guest.run("sysctl -q dev.raid.speed_limit_max=2000 dev.raid.speed_limit_min=2000")
        guest.run(f"mdadm --create /dev/md9 --run -q --level=1 --raid-devices=2 {nodes} && udevadm settle")
        try:
            yield nodes.split()[1]
        finally:
            guest.run(
                "sysctl -q dev.raid.speed_limit_max=200000; mdadm --stop -q /dev/md9; udevadm settle", check=False
            )


def test_a_resync_beside_the_test_and_a_member_that_fails_are_said(guest: Guest, array: str) -> None:
    job = guest.write_job("/root/steady.fio", ioengine="libaio", iodepth=4, rate_iops=100, runtime=8)
    run = guest.measured(f"{job} /dev/md9")
    assert "resync" in words_of(run), run["findings"]
    with guest.started(f"diskprof run {job} /dev/md9 --json") as running:
        running.wait_for("measuring")
        guest.run(f"mdadm -q /dev/md9 --fail {array}")
        done = running.wait()
    assert done.rc == 0, done
    assert "degraded" in words_of(done.json()), done


def test_a_path_that_is_pulled_in_mid_run_is_said_and_the_figures_are_right(guest: Guest, storage: None) -> None:
    job = guest.write_job("/root/steady.fio", ioengine="libaio", iodepth=4, rate_iops=100, runtime=30)
    with guest.started(f"diskprof run {job} /dev/mapper/mpatha --json") as running:
        running.wait_for("measuring")
        guest.machine.pull("path-a")
        done = running.wait()
    assert done.rc == 0, done
    assert done.json()["tests"][0]["read"]["iops"] == pytest.approx(100, rel=0.1)
    assert "path" in "\n".join(f"{one['message']} {one['evidence']}" for one in done.json()["findings"]), done


def test_a_disk_that_is_exported_to_other_machines_is_not_written_to(guest: Guest) -> None:
    subsystem = "/sys/kernel/config/nvmet/subsystems/lane"
    with null_disk(guest) as node:
        guest.run(
            f"modprobe nvmet; mkdir {subsystem}; mkdir {subsystem}/namespaces/1; cd {subsystem}/namespaces/1; "
            f"printf %s {node} > device_path; echo 1 > enable"
        )
        try:
            words = f"run streaming-write {node} --set size=16m --set runtime=1 --allow-write --confirm-device {node[5:]} --yes"
            guest.diskprof(words, rc=4)
        finally:
            guest.run(
                f"echo 0 > {subsystem}/namespaces/1/enable; rmdir {subsystem}/namespaces/1 {subsystem}", check=False
            )
