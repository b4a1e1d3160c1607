"""The power fails while runs in progress: after the next boot each is known, and no test file is lost from sight."""

import csv
from dataclasses import dataclass
from datetime import datetime

import pytest
from vm.guest import Guest

PROMISED_S = 5.0
"""So many seconds of samples may be lost."""
LATE_S = 4.0
"""What an emulated processor may be late by, with the commit and with telling us its time."""
OTHER_STORE = "/dev/shm/other.db"
"""In memory: after the cut no store knows its run."""


@dataclass(frozen=True)
class Cut:
    """Ids of the runs that were under way, and when the power failed, by the guest's clock (seconds since 1970)."""

    long: str
    just_begun: str
    at_s: float


@pytest.fixture(scope="module")
def cut(booted: Guest) -> Cut:
    job = booted.write_job("/root/steady.fio", ioengine="libaio", iodepth=4, rate_iops=50, runtime=600)

    def begin(directory: str, more: str = "") -> str:
        booted.run(f"mkdir -p /root/{directory}; sync")
        run = booted.out(f"diskprof {more} run {job} /root/{directory} --concurrent --detach")
        booted.until(f"test -s /root/{directory}/.diskprof-*/test.dat", "its test file")
        return run.split()[-1]

    first = begin("long")
    begin("unknown", f"--store {OTHER_STORE}")
    # Long enough for the kernel to have written something back, and for something to be left that it has not.
    booted.until(f"[ $(date +%s) -ge {int(booted.out('date +%s')) + 35} ]")
    last = begin("begun")
    at_s = float(booted.out("date +%s.%N"))
    booted.machine.cut_power()
    booted.machine.boot(fresh=False)
    booted.run("ls -d /root/*/.diskprof-*")
    return Cut(first, last, at_s)


def test_a_run_that_was_cut_off_is_kept_as_interrupted(cut: Cut, guest: Guest) -> None:
    assert guest.diskprof(f"show {cut.long} --json").json()["status"] == "interrupted"


def test_few_seconds_of_samples_are_lost(cut: Cut, guest: Guest) -> None:
    run = guest.diskprof(f"show {cut.long} --json").json()
    rows = list(csv.DictReader(guest.out(f"diskprof report {cut.long} --format samples -o -").splitlines()))
    last = datetime.fromisoformat(run["started_at"]).timestamp() + max(float(row["at_s"]) for row in rows)
    assert cut.at_s - last < PROMISED_S + LATE_S


def test_a_run_that_had_just_begun_is_known(cut: Cut, guest: Guest) -> None:
    assert guest.diskprof(f"show {cut.just_begun} --json").json()["status"] == "interrupted"


def test_test_files_are_known_and_removed_when_asked(cut: Cut, guest: Guest) -> None:
    done = guest.diskprof("clean --yes")
    assert "/root/long/" in done.out
    assert "/root/begun/" in done.out
    assert guest.run("ls -d /root/long/.diskprof-* /root/begun/.diskprof-*", check=False).out == ""


def test_a_test_file_that_no_store_knows_is_found_by_its_mark(cut: Cut, guest: Guest) -> None:
    assert "/root/unknown/" in guest.diskprof("clean /root/unknown --yes").out
    assert guest.run("ls -d /root/unknown/.diskprof-*", check=False).out == ""
