"""What disks lose together, and what they share."""

import pytest
from handmade import direction, fio, on_disk, run
from msgspec.structs import replace

from diskprof.analysis.fleet.measured import Measured
from diskprof.analysis.fleet.together import SharedPart, lost_together
from diskprof.model.run import Finding, Run, Weight

_HOST = ("0000:00:1f.2", "host0")
_SWITCH = ("0000:00:03.0", "0000:04:00.0")


def disk(label: str, iops: float, attached: tuple[str, ...] = (), **more: object) -> Measured:
    made = run(fio("rand", read=direction(iops)), environment=on_disk(name=label, attached=attached))
    return Measured(label, (replace(made, **more),))  # type: ignore[arg-type]


def limit(name: str, runs: Measured) -> Measured:
    found = Finding(name, Weight.LIMIT, "", "", "", test="rand")
    return Measured(runs.label, tuple(replace(one, findings=(found,)) for one in runs.runs))


@pytest.mark.parametrize(
    ("first", "other", "part", "place"),
    [
        (_HOST, _HOST, SharedPart.CONTROLLER, "0000:00:1f.2"),
        # An AHCI controller has a host for each of its ports.
        (_HOST, ("0000:00:1f.2", "host1"), SharedPart.CONTROLLER, "0000:00:1f.2"),
        ((*_HOST, "expander-0:0"), (*_HOST, "expander-0:0"), SharedPart.EXPANDER, "expander-0:0"),
        ((*_SWITCH, "0000:05:01.0"), (*_SWITCH, "0000:06:02.0"), SharedPart.BRIDGE, "0000:04:00.0"),
        (("0000:00:14.0", "usb2", "2-1"), ("0000:00:14.0", "usb2", "2-1"), SharedPart.HUB, "2-1"),
        (("0000:01:00.0",), ("0000:02:00.0",), SharedPart.UNKNOWN, ""),
        ((), (), SharedPart.UNKNOWN, ""),
    ],
)
def test_what_disks_share_is_read_from_where_they_hang(
    first: tuple[str, ...], other: tuple[str, ...], part: SharedPart, place: str
) -> None:
    alone = [disk("sda", 1000), disk("sdb", 1000)]
    [found] = lost_together(alone, [disk("sda", 600, first), disk("sdb", 500, other)])
    assert (found.alone, found.together, round(found.lost, 2)) == (2000, 1100, 0.45)
    assert (found.part, found.place) == (part, place)


def test_a_disk_that_lost_nothing_does_not_share_the_limit() -> None:
    alone = [disk(name, 1000) for name in ("sda", "sdb", "nvme0n1")]
    [found] = lost_together(
        alone, [disk("sda", 600, _HOST), disk("sdb", 600, _HOST), disk("nvme0n1", 990, ("0000:01:00.0",))]
    )
    assert [each.label for each in found.losers] == ["sda", "sdb"]
    assert (found.part, found.place) == (SharedPart.CONTROLLER, "0000:00:1f.2")


def test_busy_cpus_come_before_what_the_disks_hang_on() -> None:
    alone = [disk("sda", 1000), disk("sdb", 1000)]
    for rule, part in (("busy-machine", SharedPart.PROCESSOR), ("cgroup-limit-reached", SharedPart.CGROUP)):
        [found] = lost_together(alone, [limit(rule, disk("sda", 600, _HOST)), disk("sdb", 600, _HOST)])
        assert found.part is part


def test_two_volumes_on_one_disk() -> None:
    behind: Run = disk("loop0", 500).runs[0]
    loops = [Measured(name, (replace(behind, environment=on_disk(name=name)),)) for name in ("loop0", "loop1")]
    loops = [
        Measured(one.label, (replace(one.runs[0], environment=replace(one.runs[0].environment, behind=("vda",))),))
        for one in loops
    ]
    [found] = lost_together([disk("loop0", 1000), disk("loop1", 1000)], loops)
    assert (found.part, found.place) == (SharedPart.DISK, "vda")


def test_nothing_lost_needs_no_limit() -> None:
    alone = [disk("sda", 1000), disk("sdb", 1000)]
    [found] = lost_together(alone, [disk("sda", 980, _HOST), disk("sdb", 1010, _HOST)])
    assert found.part is None
    assert lost_together(alone[:1], alone[:1]) == ()
