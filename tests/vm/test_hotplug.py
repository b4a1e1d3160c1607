"""Disks that are plugged in, and pulled: seen at once, and a run on one that is pulled is no result."""

import csv
import json
from dataclasses import dataclass
from typing import Any

import pytest
from vm.guest import MANY, Done, Guest, many_results

KINDS = ("nvme", "virtio", "scsi", "usb")
ENGINES = ("libaio", "io_uring", "psync", "ioping")
WAYS = [(place, engine) for place in ("raw", "file") for engine in ENGINES]
DEPTH = 4
RATE = 40
"""Requests a second of each fio, so that eight runs at once are no load."""


@dataclass
class Pulled:
    """A disk from plugging in to pulling: whether it was listed, and the runs that were on it."""

    listed: dict[str, bool]
    ended: dict[tuple[str, str], Done]
    samples: dict[tuple[str, str], list[dict[str, str]]]


def _command(guest: Guest, place: str, engine: str, target: str) -> list[str]:
    if engine == "ioping":
        words = [
            "ioping-latency",
            target,
            "--set",
            "interval=0.25s",
            "--set",
            "count=800",
            "--expect",
            "latency.read.iops>=0.1",
        ]
    else:
        depth = 1 if engine == "psync" else DEPTH
        job = f"/root/{engine}.fio"
        guest.write_job(job, ioengine=engine, iodepth=depth, rate_iops=RATE, runtime=200)
        words = [job, target, "--expect", "steady.read.iops>=1"]
    return ["run", *words, "--concurrent", "--json", "--tag", f"{place}-{engine}"]


@pytest.fixture(scope="module", params=KINDS)
def pulled(request: pytest.FixtureRequest, booted: Guest) -> Pulled:
    """All ways to read run at once on one disk, which is pulled when each measures."""
    serial = f"PULL{request.param.upper()}"
    place = f"/mnt/{serial}"

    def listed() -> bool:
        return any(device["serial"] == serial for device in booted.devices().values())

    with booted.machine.plugged(request.param, serial):
        node = booted.node(serial)
        # The file system is in a partition, so that the disk itself can be read too.
        booted.run(f"parted -s {node} mklabel gpt mkpart data 1MiB 600MiB; udevadm settle")
        part = booted.out(f"lsblk -nrpo NAME {node} | sed -n 2p")
        booted.run(f"mkfs.ext4 -q {part} && mkdir -p {place} && mount {part} {place}")
        booted.run(f"dd if=/dev/urandom of={place}/file bs=1M count=16 status=none && sync")
        there = listed()
        targets = {"raw": node, "file": f"{place}/file"}
        commands = [_command(booted, where, engine, targets[where]) for where, engine in WAYS]
        try:
            with booted.started(f"cd /root && {MANY} {len(commands)}", data=json.dumps(commands)) as runs:
                runs.wait_for("measuring", len(commands), unless="(ended)")
                reads = f"$(awk '{{print $1}}' /sys/block/{node[5:]}/stat)"
                many = int(booted.out(f"echo {reads}")) + 3 * 6 * RATE
                booted.until(f"[ {reads} -gt {many} ]", "requests of all runs")
                booted.machine.pull(serial)
                ended = dict(zip(WAYS, many_results(commands, runs.wait()), strict=True))
        finally:
            booted.run(f"umount -l {place}", check=False)
    known = {way: done.json()["id"] for way, done in ended.items()}
    reports = booted.many([["report", run, "--format", "samples", "-o", "-"] for run in known.values()])
    samples = {way: list(csv.DictReader(report.out.splitlines())) for way, report in zip(known, reports, strict=True)}
    return Pulled({"while it is there": there, "after it was pulled": listed()}, ended, samples)


def test_a_disk_is_listed_from_plugging_in_to_pulling(pulled: Pulled, guest: Guest) -> None:
    assert pulled.listed == {"while it is there": True, "after it was pulled": False}


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_a_disk_that_is_pulled_fails_the_run(pulled: Pulled, guest: Guest, way: tuple[str, str]) -> None:
    done = pulled.ended[way]
    assert done.rc == 1, done
    run: dict[str, Any] = done.json()
    assert run["status"] == "failed"
    assert "removed" in f"{run['reason']} {run['tests'][0]['reason']}", done
    assert [each["verdict"] for each in run["expectations"] if each["verdict"] == "met"] == []


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_only_what_was_read_before_it_was_pulled_counts(pulled: Pulled, guest: Guest, way: tuple[str, str]) -> None:
    rows = [row for row in pulled.samples[way] if row["direction"] == "read" and row["phase"] == "measuring"]
    assert sum(int(row["ios"]) for row in rows) > 0
    # fio's documents are not of one moment (F88): the bytes may be those of some requests more or less, of two seconds at most.
    requests = sum(int(row["ios"]) for row in rows)
    assert abs(requests - sum(int(row["bytes"]) for row in rows) / 4096) <= 2 * RATE
    # What a removed disk answers at once is no speed.
    assert max(int(row["ios"]) / float(row["duration_s"]) for row in rows if float(row["duration_s"]) > 0.2) < 10 * RATE


def test_the_screen_follows_what_is_plugged_in_and_pulled(guest: Guest) -> None:
    names = {kind: f"SHOW{kind.upper()}" for kind in KINDS}
    with guest.screen("diskprof", columns=160, rows=100) as screen:
        screen.wait_for("vda")
        for kind, name in names.items():
            guest.machine.plug(kind, name)
        nodes = tuple(guest.node(name).removeprefix("/dev/") for name in names.values())
        screen.wait_for(*nodes)
        guest.machine.pull(*names.values())
        screen.wait_for("vda", gone=nodes)
