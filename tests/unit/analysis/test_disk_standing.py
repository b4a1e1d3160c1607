"""Is that good? Which class a disk is of, where a figure is in it, and its place among earlier runs."""

import pytest
from handmade import DISK, ENVIRONMENT, Given, direction, fio
from handmade import run as make_run
from msgspec.structs import replace

from diskprof.analysis.disk_standing import Position, class_of, rank
from diskprof.analysis.score import scores
from diskprof.model.device import Device, Transport
from diskprof.model.earlier import EarlierResult
from diskprof.model.run import Environment, Run
from diskprof.model.sample import Direction
from diskprof.presets.disk_classes import disk_classes
from diskprof.reports.content.class_words import disk_class_words, rank_words, standing_line, standings
from diskprof.reports.content.scorecard import scorecard

SATA = replace(DISK, name="sda", transport=Transport.SATA)


def on(disk: Device, **machine: str) -> Environment:
    return replace(ENVIRONMENT, device=disk, disks=(disk,), **machine)


def ran(*tests: Given, disk_class: str = "", environment: Environment = ENVIRONMENT) -> Run:
    run = replace(make_run(*tests), environment=environment)
    return replace(run, plan=replace(run.plan, disk_class=disk_class))


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        (on(SATA), "SATA SSD"),
        (on(replace(DISK, pcie=4)), "NVMe SSD, PCIe 4.0"),
        (on(replace(DISK, pcie=4), virtualisation="container"), "NVMe SSD, PCIe 4.0"),
        (on(DISK), "unknown: the PCIe generation of the drive is not known"),
        (on(replace(SATA, rotational=True, rpm=7200)), "7,200 rpm disk"),
        (on(replace(SATA, rotational=True, rpm=5400)), "unknown: 5,400 rpm"),
        (on(replace(SATA, rotational=True)), "unknown: its rotation rate is not known"),
        (on(replace(DISK, transport=Transport.MMC, sd_class=2)), "SD card A2"),
        (on(replace(DISK, transport=Transport.MMC)), "unknown: neither A1 nor A2"),
        (on(replace(DISK, transport=Transport.USB)), "unknown: usb disks are of no class"),
        (on(SATA, virtualisation="KVM"), "unknown: a virtual machine hides the disk"),
        (
            on(DISK, virtualisation="Amazon EC2", cloud="AWS"),
            "unknown: a disk of AWS may be aws-gp3 or aws-gp2 or aws-io2",
        ),
        (on(DISK, cloud="Hetzner Cloud"), "unknown: a disk of Hetzner Cloud"),
        (replace(ENVIRONMENT, disks=(DISK, SATA)), "unknown: several disks"),
        (Environment(), "unknown: the disk is not known"),
    ],
)
def test_which_class_a_disk_is_of(environment: Environment, words: str) -> None:
    assert disk_class_words(ran(environment=environment)) == words


def test_a_class_that_was_chosen_counts_and_one_that_is_gone_is_unknown() -> None:
    assert disk_class_words(ran(disk_class="aws-gp3")) == "AWS gp3 (chosen)"
    gone = class_of(ran(disk_class="tape"), disk_classes())
    assert (gone.disk_class, gone.why) == (None, "there is no class tape")


@pytest.mark.parametrize(
    ("iops", "position", "words"),
    [
        (2700.0, Position.BELOW, "90% of what gp3 volumes do (3,000 to 80,000 IOPS)"),
        (2900.0, Position.WITHIN, "within what gp3 volumes do (3,000 to 80,000 IOPS)"),
        (80_500.0, Position.WITHIN, "within what gp3 volumes do (3,000 to 80,000 IOPS)"),
        (90_000.0, Position.ABOVE, "above what gp3 volumes do (3,000 to 80,000 IOPS)"),
    ],
)
def test_where_a_figure_is_in_its_class(iops: float, position: Position, words: str) -> None:
    run = ran(fio(depth=32, read=direction(iops)), disk_class="aws-gp3")
    ((_, _, one),) = standings(run)
    assert one.position is position and standing_line(one).words[0] == words
    (line,) = scorecard(run)
    assert line.standing == standing_line(one)


@pytest.mark.parametrize(
    "test",
    [
        fio(depth=8, read=direction(5000)),
        fio(depth=32, block=65536, read=direction(5000)),
        fio(depth=32, direct=False, read=direction(5000)),
        fio(depth=32, rw="randrw", read=direction(5000), write=direction(5000)),
        fio(depth=32, rw="randwrite", options=("--fsync=1",), write=direction(5000)),
        fio(depth=32, options=("--rate_iops=100",), read=direction(100)),
    ],
    ids=["shallow", "other-blocks", "buffered", "mixed", "fsync", "limited"],
)
def test_no_document_is_of_such_a_test(test: Given) -> None:
    assert standings(ran(test, disk_class="aws-gp3")) == ()


def test_what_grows_with_the_capacity_counts_with_that_of_the_disk() -> None:
    run = ran(fio(depth=32, read=direction(20_000)), disk_class="oracle-balanced")
    ((_, _, one),) = standings(run)
    assert one.least == 25_000 and one.position is Position.BELOW
    small = replace(run, environment=on(replace(DISK, size_bytes=100 << 30)))
    assert standings(small)[0][2].least == 6000
    unknown = replace(run, environment=Environment())
    assert standings(unknown)[0][2].least is None


def test_the_place_among_the_runs_of_this_test() -> None:
    (score,) = scores(ran(fio(read=direction(5000))))
    start = score.test.result
    assert start and rank(score, ()) is None
    moment = ran().started_at
    earlier = [
        EarlierResult("a", moment, "randread", Direction.READ, iops, iops * 4096) for iops in (4000, 6000, 7000, 5000)
    ]
    place = rank(score, earlier)
    assert place and (place.place, place.of) == (3, 5)
    assert rank_words(place) == "3rd best of 5 runs"
    assert [rank_words(replace(place, place=n, of=41)) for n in (1, 2, 11, 22)] == [
        *("best of 41 runs", "2nd best of 41 runs", "11th best of 41 runs", "22nd best of 41 runs")
    ]
