"""What iostat printed, pasted: the load in it, and what is said of a text without one."""

from pathlib import Path

import pytest

from diskprof.model.errors import UsageError
from diskprof.model.sample import Direction
from diskprof.model.seen_load import LoadSource, SeenLoad
from diskprof.presets.foreign.iostat import load_of_iostat

TEXTS = Path(__file__).parents[2] / "data" / "iostat"


def sizes(load: SeenLoad) -> list[tuple[Direction, int, float]]:
    return [(each.direction, each.size, each.per_s) for each in load.sizes]


def test_of_sysstat_11_the_first_report_is_that_since_the_boot() -> None:
    name, load = load_of_iostat((TEXTS / "sysstat-11.txt").read_text())
    assert (name, load.source, load.seconds, load.depth) == ("sda", LoadSource.IOSTAT, 1.0, 3.2)
    assert sizes(load) == [(Direction.READ, 8192, 700.0), (Direction.WRITE, 16384, 300.0)]
    assert (load.in_order, load.flushes, load.touched_bytes) == (None, None, None)


def test_of_sysstat_12_the_means_of_all_other_reports() -> None:
    name, load = load_of_iostat((TEXTS / "sysstat-12.txt").read_text())
    assert (name, load.seconds, load.depth, load.highest_per_s, load.flushes) == ("nvme0n1", 2.0, 8.0, 6000.0, 0.5)
    assert sizes(load) == [(Direction.READ, 4096, 4000.0), (Direction.WRITE, 16384, 1000.0)]


def test_a_device_may_be_named() -> None:
    text = (TEXTS / "sysstat-11.txt").read_text()
    name, load = load_of_iostat(text, "/dev/dm-0")
    assert (name, sizes(load)) == ("dm-0", [(Direction.READ, 4096, 1.0)])
    with pytest.raises(UsageError, match="nothing of sdz"):
        load_of_iostat(text, "sdz")


@pytest.mark.parametrize(
    ("head", "line", "size"),
    [
        ("Device r/s w/s rMB/s wMB/s avgrq-sz", "sda 100,00 0,00 1,00 0,00 20,97", 10486),
        ("Device: r/s w/s rsec/s wsec/s", "sda 100.00 0.00 800.00 0.00", 4096),
        ("Device r/s w/s rareq-sz wareq-sz aqu-sz", "sda 100.00 0.00 4.00 0.00 1.00", 4096),
        ("Device: r/s w/s avgrq-sz avgqu-sz", "sda 100.00 0.00 8.00 1.00", 4096),
    ],
)
def test_sizes_are_known_from_any_of_its_columns(head: str, line: str, size: int) -> None:
    _, load = load_of_iostat(f"{head}\n{line}\n")
    assert sizes(load) == [(Direction.READ, size, 100.0)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sda 1 2 3",
        "Device tps kB_read/s kB_wrtn/s\nsda 1.00 2.00 3.00\n",
        "Device r/s w/s\nsda -1 nan\n",
        "Device r/s\n",
    ],
)
def test_a_text_without_extended_statistics_is_told_the_command_that_prints_them(text: str) -> None:
    with pytest.raises(UsageError, match="no line of extended statistics") as refused:
        load_of_iostat(text)
    assert "iostat -x" in str(refused.value.hint)


def test_without_a_column_of_sizes_there_is_no_load() -> None:
    with pytest.raises(UsageError, match="no sizes"):
        load_of_iostat("Device r/s w/s %util\nsda 100.00 5.00 3.00\n")
