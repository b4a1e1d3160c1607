"""Where tracefs is, and what is said where it is not."""

from pathlib import Path

import pytest
from handmade import DISK
from msgspec.structs import replace

from diskprof.devices.requests.tracefs import remove_leftovers, tracefs, why_untraced
from diskprof.devices.scan.files import Roots


def machine(tmp_path: Path, mounts: str = "", *, queue: bool = True) -> Roots:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "mounts").write_text(mounts)
    disk = tmp_path / "sys" / "class" / "block" / DISK.name
    disk.mkdir(parents=True)
    if queue:
        (disk / "mq").mkdir()
    return Roots(sys=tmp_path / "sys", proc=tmp_path / "proc")


def test_it_is_found_wherever_it_is_mounted(tmp_path: Path) -> None:
    assert tracefs(machine(tmp_path, "proc /proc proc rw 0 0\ntracefs /a\\040b tracefs rw 0 0\n")) == Path("/a b")


@pytest.mark.parametrize(
    ("mounts", "said"), [("", "not mounted"), ("t {} tracefs rw 0 0", "no events of block devices")]
)
def test_what_is_missing_is_said_with_the_command_that_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounts: str, said: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    refusal = why_untraced(DISK, machine(tmp_path, mounts.format(tmp_path)))
    assert refusal and said in refusal.message and refusal.hint
    assert said != "not mounted" or "mount -t tracefs" in str(refusal.hint)


def test_without_root_it_says_how_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("sys.argv", ["/no/such/diskprof", "watch", "sda", "--requests"])
    refusal = why_untraced(DISK, machine(tmp_path))
    assert refusal and "root alone" in refusal.message
    assert refusal.hint == "As root: sudo /no/such/diskprof watch sda --requests"


def test_a_volume_without_a_queue_of_its_own_has_no_requests(tmp_path: Path) -> None:
    refusal = why_untraced(DISK, machine(tmp_path, queue=False))
    assert refusal and "no requests" in refusal.message
    child = replace(DISK, name="dm-0", parents=("sda", "sdb"))
    refusal = why_untraced(child, machine(tmp_path / "dm", queue=False))
    assert refusal and refusal.hint == "Watch its disk: sda."


def test_what_a_killed_watch_left_goes_and_one_that_just_begins_stays(tmp_path: Path) -> None:
    """Until it has opened files of it, its trace could be removed."""
    roots = machine(tmp_path)
    (roots.proc / "71").mkdir()
    for name in ("diskprof-70-abc123", "diskprof-71-abc123", "foreign"):
        (tmp_path / "instances" / name).mkdir(parents=True)
    remove_leftovers(tmp_path, roots)
    assert {each.name for each in (tmp_path / "instances").iterdir()} == {"diskprof-71-abc123", "foreign"}
