"""Which presets are found by words that somebody remembers."""

from pathlib import Path

import pytest
import shipped

from diskprof.model.preset import Preset
from diskprof.presets.files.load import parse
from diskprof.presets.search import matching, titled

SHIPPED = shipped.SHIPPED.presets
ALIBABA = {preset.name for preset in SHIPPED if preset.name.startswith("alibaba")}
AZURE = {preset.name for preset in SHIPPED if preset.name.startswith("azure")}
NGUVU = {preset.name for preset in SHIPPED if "nguvu" in preset.source}
DIGITALOCEAN = {preset.name for preset in SHIPPED if preset.name.startswith("digitalocean")}
FIO_OF_NGUVU = {"vps-randread-qd1", "vps-randread-qd8", "vps-randread-qd32", "vps-compare"}
LOADS = {"aerospike-write", "aerospike-50-50", "aerospike-95-5", "aerospike-80-20"}


def found(words: str) -> set[str]:
    return {preset.name for preset in matching(SHIPPED, words)}


VENDORS = ("google-hyperdisk", "google-persistent-disk", "oracle-block-volume")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        # vendors and articles
        ("aliyun", ALIBABA),
        ("ECS", ALIBABA),
        ("droplet", DIGITALOCEAN),
        ("microsoft", AZURE),
        ("linode", NGUVU),
        ("Digital Ocean", NGUVU | DIGITALOCEAN),
        ("digitalocean", DIGITALOCEAN),
        ("50/50", {"aerospike-50-50"}),
        ("95/5", {"aerospike-95-5"}),
        ("80/20", {"aerospike-80-20"}),
        ("baseline", LOADS),
        ("fiowrite", {"azure-max-write-iops"}),
        ("fioreadwrite.ini", {"azure-max-read-write-iops"}),
        # tests and jobs
        ("pps", {"alibaba-read", "alibaba-write", "alibaba-cloud-disk"}),
        ("rand_write_testing", {"alibaba-rand-write", "alibaba-cloud-disk"}),
        ("benchtest", LOADS),
        ("wal fdatasync", {"etcd-fsync", "postgres-like"}),
        ("random-read", FIO_OF_NGUVU),
        ("fio-randread-qd8", {"vps-randread-qd8"}),
        ("randread-4k-qd64", {"digitalocean-sweep"}),
        # shelves
        ("suites", {"alibaba-cloud-disk", "digitalocean-volume", "vps-compare", *VENDORS}),
        # options and flags
        ("fdatasync", {"etcd-fsync", "postgres-like"}),
        ("iodepth=256", {"azure-max-read-iops", "azure-max-write-iops", *VENDORS}),
        ("--iodepth=256 -rw=randread", {"azure-max-read-iops", *VENDORS}),
        ("-RC", {"ioping-cached", "vps-compare"}),
        ("ioping -c", {"ioping-latency", "vps-compare"}),
        ("diskspd -w100", {"azure-diskspd-max-write-iops", "azure-diskspd-max-throughput"}),
        # whole commands, wherever they worked
        ("ioping /tmp -c 10", {"ioping-latency", "vps-compare"}),
        ("# ioping /srv -RD", {"ioping-seek", "vps-compare"}),
        ("sudo fio --runtime 30 fioread.ini", {"azure-max-read-iops"}),
        (
            "fio -direct=1 -iodepth=128 -rw=randwrite -ioengine=libaio -bs=4k -size=1G -numjobs=1 -runtime=1000 "
            "-group_reporting -filename=iotest -name=Rand_Write_Testing",
            {"alibaba-rand-write", "alibaba-cloud-disk"},
        ),
        ("diskspd -c200G -b4K -F4 -r -o128 -W7200 -d30 -Sh testfile.dat", {"azure-diskspd-max-read-iops"}),
        # nothing
        ("no such words", set()),
        ("/no/such/place", set()),
    ],
)  # fmt: skip
def test_words_of_the_articles_find_their_presets(words: str, names: set[str]) -> None:
    assert found(words) == names


def test_no_words_leave_all_in_their_order() -> None:
    assert matching(SHIPPED, "  ") == list(SHIPPED)
    assert next(preset.name for preset in matching(SHIPPED, "ioping -R")) == "ioping-cached"


def test_an_option_that_is_left_out_and_a_dollar_are_no_words() -> None:
    text = (
        'keywords = ["cost in $"]\n[parameters]\ndepth = ""\nsize = "7m"\n[[test]]\nname = "t"\n'
        'options = { size = "$size", iodepth = "$depth", ioengine = "libaio" }\n'
    )
    preset = parse(text.encode(), Path("mine.toml"), shipped=False)
    assert isinstance(preset, Preset)
    assert matching([preset], "-size=7m --name=mine") == []
    assert matching([preset], "--size=7m --name=t your own") == [preset]
    assert matching([preset], "iodepth") == [] and matching([preset], "depth") == []


def test_sweep_finds_every_sweep() -> None:
    assert {preset.name for preset in SHIPPED if preset.sweep} <= found("sweep")


@pytest.mark.parametrize(
    ("words", "name"), [("depth size", "digitalocean-sweep"), ("quick", "quick"), ("rw=randwrite", None), ("-R", None)]
)
def test_what_has_the_words_in_its_title_is_meant_first(words: str, name: str | None) -> None:
    found = titled(matching(SHIPPED, words), words)
    assert (found.name if found else None) == name
