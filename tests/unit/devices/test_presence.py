"""Which disks a run needs, and what is noticed of one that is gone."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fake_machine import Machine

from diskprof.devices.machine.presence import Presence
from diskprof.engines.events import Outcome
from diskprof.model.device import Device, DeviceKind
from diskprof.model.plan import Plan
from diskprof.model.run import Environment, FurtherTarget, Status, TestResult
from diskprof.runner.carry import execute, watches
from diskprof.runner.carry.watches import DiskWatch, LapseWatch


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def attributes(node: Path, **texts: str) -> None:
    for name, text in texts.items():
        (node / name).write_text(f"{text}\n" if text else "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"size": "4096"}, None),
        ({"size": "0"}, "sda was removed during the run: its size is 0 now."),
        # What a file of a disk that was removed says: nothing can be read.
        ({"size": "", "diskseq": ""}, "sda was removed during the run."),
        ({"diskseq": "8"}, "sda was replaced by another disk during the run."),
    ],
)
def test_what_became_of_a_disk(machine: Machine, change: dict[str, str], words: str | None) -> None:
    attributes(machine.disk("sda"), size="2048", diskseq="7")
    attributes(machine.disk("sdb"), size="2048")
    presence = Presence(["sda", "sdb"], machine.roots)
    assert presence.lost() == {}
    attributes(machine.roots.blocks / "sda", **change)
    assert presence.lost() == ({"sda": words} if words else {})


def test_a_disk_that_was_empty_or_out_of_sight_is_not_watched(machine: Machine) -> None:
    attributes(machine.disk("sda"), size="0")
    assert Presence(["sda", "sdz"], machine.roots).lost() == {}


def device(name: str, kind: DeviceKind = DeviceKind.DISK) -> Device:
    return Device(name=name, node=f"/dev/{name}", kind=kind, major=8, minor=0, size_bytes=1 << 20)


class Lost:
    """Stands for the disks: those that a test lets go are gone."""

    def __init__(self, names: Any) -> None:
        self.names = list(names)
        self.gone: list[str] = []

    def lost(self) -> dict[str, str]:
        return {name: f"{name} was removed." for name in self.names if name in self.gone}


def watch(monkeypatch: pytest.MonkeyPatch, where: Environment, *, fs_type: str = "") -> tuple[DiskWatch, Lost]:
    made: list[Lost] = []

    def make(names: Any) -> Lost:
        made.append(Lost(names))
        return made[0]

    monkeypatch.setattr(watches, "Presence", make)
    targets = [SimpleNamespace(fs_type=fs_type), *(SimpleNamespace(fs_type="") for _ in where.others)]
    return DiskWatch(cast(Plan, SimpleNamespace(targets=targets)), where), made[0]


SDA, SDB, PART = device("sda"), device("sdb"), device("sda1", DeviceKind.PARTITION)
ARRAY, MAP = device("md0", DeviceKind.RAID), device("dm-0", DeviceKind.MULTIPATH)


@pytest.mark.parametrize(
    ("where", "gone"),
    [
        (Environment(device=SDA), "sda"),
        (Environment(device=PART, disks=(SDA,)), "sda"),
        (Environment(device=PART, disks=(SDA,)), "sda1"),
        (Environment(device=ARRAY, disks=(SDA, SDB)), "md0"),
        (Environment(device=SDA, others=(FurtherTarget("log", SDB),)), "sdb"),
    ],
)
def test_a_run_ends_without_a_disk_that_it_needs(
    monkeypatch: pytest.MonkeyPatch, where: Environment, gone: str
) -> None:
    disk_watch, lost = watch(monkeypatch, where)
    assert disk_watch.look() == [] and disk_watch.complaint == ""
    lost.gone.append(gone)
    assert disk_watch.look() == [], "the reason of the run says it"
    assert disk_watch.complaint == disk_watch.lost == f"{gone} was removed."


@pytest.mark.parametrize(
    ("where", "fs_type"),
    [
        (Environment(device=ARRAY, disks=(SDA, SDB)), "ext4"),
        (Environment(device=SDA), "btrfs"),
        # A path or member may be the only one now, and be replaced while the run goes on.
        (Environment(device=MAP, disks=(SDA,)), ""),
        (Environment(device=PART, layers=(ARRAY,), disks=(SDA,)), "ext4"),
    ],
)
def test_an_array_or_a_pool_may_do_without_one_of_its_disks(
    monkeypatch: pytest.MonkeyPatch, where: Environment, fs_type: str
) -> None:
    disk_watch, lost = watch(monkeypatch, where, fs_type=fs_type)
    lost.gone.append("sda")
    assert disk_watch.look() == ["sda was removed."] and disk_watch.complaint == ""
    assert disk_watch.look() == [], "said once"
    assert disk_watch.lost == "sda was removed."


def test_a_target_without_a_disk_is_never_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    disk_watch, _ = watch(monkeypatch, Environment(), fs_type="tmpfs")
    assert disk_watch.look() == [] and disk_watch.complaint == ""


class Said:
    """Stands for the keeper: what a run said."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str, *, warning: bool = False, test: int | None = None) -> None:
        assert warning and test == 0
        self.texts.append(text)


def execution(disk_watch: DiskWatch) -> execute._Execution:
    """An execution of which only the look at the disks is there."""
    made = object.__new__(execute._Execution)
    made.disks, made.stop, made.lapse_watch = disk_watch, execute.StopRequest(), LapseWatch(1.0)
    made.keeper, made.meter = cast(Any, Said()), cast(Any, SimpleNamespace(test=0))
    made.watched = None
    return made


RESULT = TestResult()


@pytest.mark.parametrize("status", [Status.COMPLETE, Status.FAILED])
async def test_whatever_the_engine_says_a_test_without_its_disk_failed(
    monkeypatch: pytest.MonkeyPatch, status: Status
) -> None:
    disk_watch, lost = watch(monkeypatch, Environment(device=SDA))
    run = execution(disk_watch)
    outcome = Outcome(status, "Input/output error (EIO)." if status is Status.FAILED else "", RESULT, b"{}")
    assert await run._as_found(outcome) == outcome and not run.stop.event.is_set()
    lost.gone.append("sda")
    assert await run._as_found(outcome) == Outcome(Status.FAILED, "sda was removed.", None, b"{}")
    assert (run.stop.status, run.stop.reason) == (Status.FAILED, "sda was removed."), (
        "the other tests have no disk either"
    )


async def test_a_disk_that_is_removed_after_its_requests_failed_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "_TICK_S", 0.001)
    disk_watch, lost = watch(monkeypatch, Environment(device=SDA))
    run = execution(disk_watch)
    looks = 0

    def removed_later() -> list[str]:
        nonlocal looks
        looks += 1
        if looks == 3:
            lost.gone.append("sda")
        return DiskWatch.look(disk_watch)

    monkeypatch.setattr(disk_watch, "look", removed_later)
    failed = Outcome(Status.FAILED, "request failed: Input/output error. Look at `dmesg`.", None)
    assert (await run._as_found(failed)).reason == "sda was removed." and looks == 3
    # For no other failure is it waited.
    looks = 10
    lost.gone.clear()
    other = execution(watch(monkeypatch, Environment(device=SDB))[0])
    assert (await other._as_found(Outcome(Status.FAILED, "It failed."))).reason == "It failed." and looks == 10


async def test_a_person_who_stopped_a_run_before_its_disk_went_away_did_stop_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk_watch, lost = watch(monkeypatch, Environment(device=SDA))
    run = execution(disk_watch)
    run.stop.ask("Stopped by user (SIGINT).")
    lost.gone.append("sda")
    assert (await run._as_found(Outcome(Status.CANCELLED, "", RESULT))).status is Status.CANCELLED
    assert run.stop.status is Status.CANCELLED


async def test_an_array_that_lost_a_disk_goes_on_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    disk_watch, lost = watch(monkeypatch, Environment(device=ARRAY, disks=(SDA, SDB)), fs_type="ext4")
    run = execution(disk_watch)
    lost.gone.append("sdb")
    fine = Outcome(Status.COMPLETE, "", RESULT)
    assert await run._as_found(fine) == fine and not run.stop.event.is_set()
    assert (await run._as_found(Outcome(Status.FAILED, "It failed."))).reason == "sdb was removed. It failed."
    assert run.keeper.texts == ["sdb was removed."]  # type: ignore[attr-defined]
