"""From a plan to what is executed: who named the device, which descriptor stands for it, and that nothing else is written to."""

from pathlib import Path

import pytest
from commands import fio_jobs
from msgspec.structs import replace
from recorded import make_plan

from diskprof.engines.fio.reader import fio_argv
from diskprof.model.advice import on_command_line
from diskprof.model.errors import Refused, UsageError
from diskprof.model.plan import Hazard, Plan, PlannedTest, RawDevice, Severity, TestFile
from diskprof.model.target import Target, TargetKind
from diskprof.reports.content.plan_report import plan_sentence
from diskprof.runner.carry.descriptors import held_devices, resolved
from diskprof.runner.plan.planner import refuse_if_blocked
from diskprof.runner.plan.write_permission import (
    confirmed,
    how_to_name,
    needed_places,
    refuse_unconfirmed,
    write_budget,
)

GIB = 1 << 30
SDB = RawDevice("sdb", "/dev/sdb", 8, 16, 100 * GIB, 25 * GIB, 7, "S4EWNX0R", "A disk")


def plan_of(*argv: str, raw: tuple[RawDevice, ...] = (SDB,), file: TestFile | None = None) -> tuple[Plan, PlannedTest]:
    """A plan with one test of these words, on /dev/sdb or in a directory."""
    plan = make_plan()
    target = plan.target if file else Target(TargetKind.DEVICE, "/dev/sdb", "/dev/disk/by-id/x", "sdb", size_bytes=GIB)
    jobs, read_only = fio_jobs(("fio", *argv)), "--readonly" in argv
    command = fio_argv("/usr/bin/fio", jobs, interval_ms=plan.tests[0].interval_ms, read_only=read_only)
    test = replace(plan.tests[0], argv=command, jobs=jobs, bytes_written=0 if read_only else GIB)
    return replace(
        plan,
        target=target,
        tests=(test,),
        directory=file.directory if file else "",
        files=(file,) if file else (),
        raw_devices=raw,
        layout=None,
        space_needed=0,
        hazards=(),
    ), test


WRITES = ("--name=a", "--filename=/dev/sdb", "--thread=1", "--rw=randwrite")


# --- Named -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["sdb", "/dev/sdb", "S4EWNX0R", " sdb\n"])
def test_a_device_is_confirmed_by_its_name_or_serial_number(word: str) -> None:
    plan, _ = plan_of(*WRITES)
    with pytest.raises(Refused):
        refuse_unconfirmed(plan)
    named = confirmed(plan, [word])
    assert named.raw_devices[0].confirmed == word.strip()
    refuse_unconfirmed(named)


@pytest.mark.parametrize("word", ["vg-data", "/dev/mapper/vg-data", "dm-3", "/dev/dm-3"])
def test_a_volume_is_confirmed_by_the_mappers_name_or_the_kernels(word: str) -> None:
    volume = replace(SDB, name="dm-3", node="/dev/mapper/vg-data", dm_name="vg-data", serial="")
    plan, _ = plan_of(*WRITES, raw=(volume,))
    assert confirmed(plan, [word]).raw_devices[0].confirmed == word
    with pytest.raises(Refused, match="the name of /dev/mapper/vg-data") as caught:
        confirmed(plan, ["dm-4"])
    assert on_command_line(caught.value.hint) == "Type its name (vg-data); in a script: --confirm-device vg-data"


@pytest.mark.parametrize(
    "words", [[], [""], ["yes"], ["y"], ["sda"], ["SDB"], ["sdb1"], ["s4ewnx0r"], ["A disk"], ["*"]]
)
def test_nothing_else_confirms_it(words: list[str]) -> None:
    plan, _ = plan_of(*WRITES)
    with pytest.raises(Refused) as caught:
        confirmed(plan, words)
    assert (
        "/dev/sdb" in caught.value.message
        and "sdb" in on_command_line(caught.value.hint)
        and "S4EWNX0R" in on_command_line(caught.value.hint)
    )


def test_each_of_several_devices_is_named() -> None:
    other = replace(SDB, name="sdc", node="/dev/sdc", serial="OTHER1")
    plan, _ = plan_of(*WRITES, raw=(SDB, other))
    with pytest.raises(Refused, match="/dev/sdc"):
        confirmed(plan, ["sdb"])
    assert [device.confirmed for device in confirmed(plan, ["OTHER1", "sdb"]).raw_devices] == ["sdb", "OTHER1"]


@pytest.mark.parametrize("serial", ["", "y", "yes", "true", "sure", "sda"])
def test_a_serial_number_that_could_be_a_word_names_nothing(serial: str) -> None:
    device = replace(SDB, serial=serial)
    assert device.names == ("sdb", "/dev/sdb")
    assert "--confirm-device sdb" in on_command_line(how_to_name(device))


def test_a_forged_confirmation_is_none() -> None:
    plan, _ = plan_of(*WRITES, raw=(replace(SDB, confirmed="yes"),))
    with pytest.raises(Refused):
        refuse_unconfirmed(plan)


# --- Executed --------------------------------------------------------------------------------------------------------


def test_a_descriptor_takes_the_place_of_the_node_and_of_nothing_else() -> None:
    words = (*WRITES, "--size=1048576", "--name=b", "--filename=/dev/sdb", "--thread=1", "--rw=read", "--bs=4k")
    plan, test = plan_of("--output-format=json+", *words)
    started, descriptors = resolved(test, plan, {"/dev/sdb": 7})
    assert descriptors == (7,)
    assert started.argv == tuple(word.replace("=/dev/sdb", "=/proc/self/fd/7") for word in test.argv)
    assert replace(started, argv=test.argv) == test


@pytest.mark.parametrize(
    "filename",
    ["/dev/sdb", "//dev/sdb", "/dev/sdc", "/dev/disk/by-id/x", "/etc/passwd", "/proc/self/fd/8", "/proc/self/fd/77"],
)
def test_what_is_not_held_is_not_written_to(filename: str) -> None:
    plan, test = plan_of("--name=a", f"--filename={filename}", "--thread=1", "--rw=write")
    held = {"/dev/sdz": 7} if filename == "/dev/sdb" else {"/dev/sdb": 7}
    with pytest.raises(Refused, match="not opened exclusively"):
        resolved(test, plan, held)


@pytest.mark.parametrize("rw", ["write", "randwrite", "rw", "randrw", "trim", "anything"])
def test_only_jobs_that_read_may_name_something_else(rw: str) -> None:
    reads = ("--name=r", "--filename=/dev/sdc", "--thread=1", "--allow_file_create=0", "--rw=randread")
    plan, test = plan_of(*reads, *WRITES)
    assert resolved(test, plan, {"/dev/sdb": 7})[1] == (7,)
    plan, test = plan_of(*reads[:-1], f"--rw={rw}", *WRITES)
    with pytest.raises(Refused):
        resolved(test, plan, {"/dev/sdb": 7})
    plan, test = plan_of("--readonly", *reads[:-1], f"--rw={rw}")
    resolved(test, plan, {})


@pytest.mark.parametrize("changes", [("--filename=/dev/sdb", "--filename=/dev/sdc"), ("--rw=write", "--rw=trim")])
def test_a_command_that_its_jobs_do_not_make_is_not_started(changes: tuple[str, str]) -> None:
    plan, test = plan_of("--name=a", "--filename=/dev/sdb", "--rw=write")
    forged = tuple(word.replace(*changes) for word in test.argv)
    for argv in (forged, (*test.argv, "--exec_prerun=true"), tuple(word for word in test.argv if word != "--thread=1")):
        with pytest.raises(Refused, match="does not match its jobs"):
            resolved(replace(test, argv=argv), plan, {"/dev/sdb": 7})
    with pytest.raises(Refused, match="does not match its jobs"):
        resolved(replace(test, jobs=()), plan, {"/dev/sdb": 7})


def test_a_test_file_of_the_plan_may_be_written_to() -> None:
    file = TestFile("/mnt/data/.diskprof-01234567", "/mnt/data/.diskprof-01234567/test.dat", GIB)
    plan, test = plan_of("--name=a", f"--filename={file.path}", "--rw=write", raw=(), file=file)
    assert resolved(test, plan, {}) == (test, ())
    plan, test = plan_of("--name=a", "--filename=/mnt/data/test.dat", "--rw=write", raw=(), file=file)
    with pytest.raises(Refused):
        resolved(test, plan, {})


def test_a_device_that_is_gone_is_not_held(tmp_path: Path) -> None:
    gone = replace(SDB, node=str(tmp_path / "sdb"))
    plan, _ = plan_of(*WRITES, raw=(gone,))
    with pytest.raises(Refused, match="is gone"), held_devices(plan, tmp_path / "runs.db"):
        pass
    (tmp_path / "sdb").write_bytes(b"a file in its place")
    with pytest.raises(Refused, match="different device"), held_devices(plan, tmp_path / "runs.db"):
        pass
    assert (tmp_path / "sdb").read_bytes() == b"a file in its place"


# --- Told ------------------------------------------------------------------------------------------------------------


def test_the_write_budget_is_told_in_bytes_and_as_a_share() -> None:
    assert "About 25 GiB will be written to /dev/sdb, 25% of its 100 GiB" in write_budget(SDB).message
    assert "3.5 times its 100 GiB" in write_budget(replace(SDB, bytes_written=350 * GIB)).message


def test_the_sentence_says_that_a_device_is_overwritten() -> None:
    plan, _ = plan_of(*WRITES)
    sentence = plan_sentence(plan)
    assert sentence.startswith("Overwrites the device /dev/sdb") and "removes" not in sentence


def test_everything_that_blocks_is_said_at_once() -> None:
    lost = Hazard("in-use", Severity.BLOCKS, "It is mounted.", "Unmount it.")
    unusable = Hazard("read-only", Severity.BLOCKS, "It is read-only.", "Choose another.")
    plan, _ = plan_of(*WRITES)
    with pytest.raises(Refused) as caught:
        refuse_if_blocked(replace(plan, hazards=(unusable, lost)))
    assert caught.value.message == "It is read-only.\nIt is mounted."
    with pytest.raises(UsageError):
        refuse_if_blocked(replace(plan, hazards=(unusable,)))
    refuse_if_blocked(plan)


def test_the_places_that_are_needed(tmp_path: Path) -> None:
    places = needed_places(tmp_path / "runs.db")
    assert places["/"] == "/" and places[str(tmp_path / "runs.db")] == "the run database"
    assert "the running program" in places.values() and "your home directory" in places.values()
