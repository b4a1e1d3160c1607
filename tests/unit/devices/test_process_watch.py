"""Who else uses a disk, by /proc/PID/io: on a made-up /proc, where a process does what the test says."""

import os
from pathlib import Path

import pytest
from fake_machine import Machine

from diskprof.devices.machine import process_watch
from diskprof.devices.machine.disk_files import numbers_above
from diskprof.devices.machine.process_watch import LEAST_BYTES, ProcessWatch, hidden_processes
from diskprof.model.process_io import ProcessIo, together

OWN = 100
MB = 1_000_000
KERNEL_THREAD = 0x00200040


class Processes:
    """Processes with a file of the disk sda open, on the mount 1000."""

    def __init__(self, machine: Machine) -> None:
        machine.disk("sda")
        machine.mount("sda", "/data", "ext4")
        self.roots = machine.roots
        self.is_at(OWN, 1, "diskprof")
        self.watch = ProcessWatch(["sda"], machine.roots, own=OWN)

    def is_at(
        self,
        pid: int,
        parent: int,
        name: str = "dd",
        read: int = 0,
        written: int = 0,
        cancelled: int = 0,
        *,
        start: int = 7,
        flags: int = 0x400000,
        mount: int = 1000,
    ) -> None:
        """A process as it is now; what is not told is nothing."""
        directory = self.roots.proc / str(pid)
        (directory / "fd").mkdir(parents=True, exist_ok=True)
        (directory / "fdinfo").mkdir(exist_ok=True)
        fields = ["S", parent, 1, 1, 0, -1, flags, *[0] * 12, start, 0]
        (directory / "stat").write_text(f"{pid} ({name}) {' '.join(map(str, fields))}\n")
        (directory / "io").write_text(
            f"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: {read}\nwrite_bytes: {written}\n"
            f"cancelled_write_bytes: {cancelled}\n"
        )
        (directory / "mountinfo").write_bytes((self.roots.proc / "self/mountinfo").read_bytes())
        (directory / "fd" / "3").touch()
        (directory / "fdinfo" / "3").write_text(f"pos:\t0\nflags:\t0100002\nmnt_id:\t{mount}\n")

    def ends(self, *pids: int) -> None:
        for pid in pids:
            (self.roots.proc / str(pid)).rename(self.roots.proc / f"gone-{pid}-{len(os.listdir(self.roots.proc))}")  # noqa: PTH208

    def did(self, at_ns: int = 1, *, last: bool = False) -> dict[str, tuple[int, int]]:
        """(read, written) of each process that is told of."""
        found = self.watch.look(0, at_ns, last=last)
        return {each.name: (each.read_bytes, each.write_bytes) for each in found}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def processes(machine: Machine) -> Processes:
    return Processes(machine)


def test_what_was_done_before_does_not_count(processes: Processes) -> None:
    processes.is_at(200, 1, read=90 * MB)
    processes.watch.begin(10)
    assert processes.did() == {}
    processes.is_at(200, 1, read=95 * MB, written=2 * MB)
    (found,) = processes.watch.look(3, 50)
    assert found == ProcessIo(3, 200, 7, "dd", 5 * MB, 2 * MB, 1, 50)
    assert processes.did(60) == {}


def test_a_process_that_begins_meanwhile_counts_whole(processes: Processes) -> None:
    processes.watch.begin(0)
    processes.is_at(200, 1, read=5 * MB)
    assert processes.did() == {"dd": (5 * MB, 0)}


def test_a_little_waits_until_it_is_enough_or_the_test_ends(processes: Processes) -> None:
    processes.watch.begin(0)
    processes.is_at(200, 1, read=LEAST_BYTES - 1)
    assert processes.did(last=True) == {}, "logs are nobody's business"
    processes.is_at(200, 1, read=LEAST_BYTES)
    assert processes.did() == {"dd": (LEAST_BYTES, 0)}
    processes.is_at(200, 1, read=LEAST_BYTES + 5)
    assert processes.did() == {}
    assert processes.did(last=True) == {"dd": (5, 0)}


def test_a_pid_that_is_given_anew_is_another_process(processes: Processes) -> None:
    processes.is_at(200, 1, "old", read=90 * MB)
    processes.watch.begin(0)
    processes.ends(200)
    processes.is_at(200, 1, "new", read=91 * MB, start=8)
    assert processes.did() == {"new": (91 * MB, 0)}


def test_what_a_child_did_is_not_its_parents_when_that_has_waited_for_it(processes: Processes) -> None:
    processes.is_at(200, 1, "bash", read=MB)
    processes.watch.begin(0)
    processes.is_at(201, 200, "dd", read=40 * MB)
    assert processes.did() == {"dd": (40 * MB, 0)}
    # 3 MB more between the last look and its end; the shell has read nothing.
    processes.ends(201)
    processes.is_at(200, 1, "bash", read=(1 + 40 + 3) * MB)
    assert processes.did() == {"dd": (3 * MB, 0)}


def test_nor_its_grandparents_where_both_ended(processes: Processes) -> None:
    processes.is_at(200, 1, "bash", read=MB)
    processes.watch.begin(0)
    processes.is_at(201, 200, "timeout", read=MB)
    processes.is_at(202, 201, "dd", read=40 * MB)
    assert processes.did() == {"timeout": (MB, 0), "dd": (40 * MB, 0)}
    processes.ends(201, 202)
    processes.is_at(200, 1, "bash", read=(1 + 1 + 40 + 2) * MB)
    assert processes.did() == {"dd": (2 * MB, 0)}


def test_a_child_that_nobody_waited_for_takes_nothing_from_its_parent(processes: Processes) -> None:
    processes.is_at(200, 1, "server", read=MB)
    processes.watch.begin(0)
    processes.is_at(201, 200, "dd", read=40 * MB)
    processes.did()
    processes.ends(201)
    processes.is_at(200, 1, "server", read=21 * MB)
    assert processes.did() == {"server": (20 * MB, 0)}


def test_what_was_never_written_to_the_disk_is_taken_off(processes: Processes) -> None:
    processes.is_at(200, 1)
    processes.watch.begin(0)
    processes.is_at(200, 1, written=50 * MB)
    assert processes.did() == {"dd": (0, 50 * MB)}
    processes.is_at(200, 1, written=60 * MB, cancelled=30 * MB)
    assert processes.did() == {}
    processes.is_at(200, 1, written=95 * MB, cancelled=30 * MB)
    assert processes.did() == {"dd": (0, 15 * MB)}


def test_this_program_and_all_that_it_started_are_not_others(processes: Processes) -> None:
    processes.is_at(101, OWN, "fio", read=MB)
    processes.watch.begin(0)
    processes.is_at(OWN, 1, "diskprof", written=9 * MB)
    processes.is_at(101, OWN, "fio", read=80 * MB)
    processes.is_at(103, 102, "fio", read=80 * MB)
    processes.is_at(102, 101, "sh")
    assert processes.did() == {}


def test_threads_of_the_kernel_are_not_told_of(processes: Processes) -> None:
    processes.watch.begin(0)
    processes.is_at(200, 2, "kworker/1:0-loop0", read=80 * MB, flags=KERNEL_THREAD)
    assert processes.did() == {}


def test_who_has_no_file_of_the_disk_open_is_not_told_of_until_it_has(processes: Processes, machine: Machine) -> None:
    machine.disk("sdb")
    machine.mount("sdb", "/other", "ext4")
    processes.watch.begin(0)
    processes.is_at(200, 1, read=80 * MB, mount=1001)
    assert processes.did() == {}
    processes.is_at(200, 1, read=81 * MB, mount=1000)
    assert processes.did() == {"dd": (81 * MB, 0)}


def test_btrfs_and_a_containers_own_files_are_found_on_their_disk(processes: Processes, machine: Machine) -> None:
    machine.mount("sda", "/pool", "btrfs", number="0:45")
    entry = "1002 1 0:46 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/data/docker/upper,workdir=/w\n"
    (machine.roots.proc / "self/mountinfo").open("a").write(entry)
    processes.watch.begin(0)
    processes.is_at(200, 1, "inside", read=MB, mount=1002)
    processes.is_at(201, 1, "pool", read=MB, mount=1001)
    # /dev/sda is no device node here: btrfs names its device, which has to be one.
    assert processes.did() == {"inside": (MB, 0)}


def test_all_that_lies_on_a_disk_is_of_it(machine: Machine) -> None:
    machine.disk("sda")
    machine.disk("sdb")
    machine.partition("sda", "sda1")
    machine.disk("dm-0", major=253)
    machine.stack("dm-0", "sda1")
    machine.mount("dm-0", "/data", "ext4")
    machine.disk("loop0", major=7, loop__backing_file="/data/image")
    numbers = {
        name: (machine.roots.blocks / name / "dev").read_text().strip() for name in ("sda", "sda1", "dm-0", "loop0")
    }
    assert numbers_above(["sda"], machine.roots) == {
        os.makedev(*map(int, each.split(":"))) for each in numbers.values()
    }
    assert len(numbers_above(["sdb"], machine.roots)) == 1


def test_processes_that_may_not_be_seen_are_counted(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hidden_processes(processes.roots) == 0
    with monkeypatch.context() as ended:
        ended.setattr(process_watch, "_pids", lambda _: [99_999])
        assert hidden_processes(processes.roots) == 0, "it ended before it was read"
    processes.is_at(200, 1)
    (processes.roots.proc / "200" / "io").unlink()
    assert hidden_processes(processes.roots) == 1
    processes.watch.begin(0)
    processes.is_at(200, 1, read=90 * MB)
    assert processes.did() == {}, "what it did before it could be seen is not known"
    processes.is_at(200, 1, read=91 * MB)
    assert processes.did() == {"dd": (MB, 0)}


def test_parts_come_together_the_busiest_first() -> None:
    one = ProcessIo(0, 7, 1, "dd", 5, 0, 10, 20)
    assert together([one, ProcessIo(0, 8, 1, "cp", 0, 99, 1, 2), ProcessIo(0, 7, 1, "dd", 6, 1, 30, 40)]) == (
        ProcessIo(0, 8, 1, "cp", 0, 99, 1, 2),
        ProcessIo(0, 7, 1, "dd", 11, 1, 10, 40),
    )
