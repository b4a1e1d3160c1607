"""What a test is called."""

from collections.abc import Mapping

import pytest
from shipped import SHIPPED

from diskprof.model.job import fio_job, ioping_job
from diskprof.model.preset import Preset
from diskprof.model.title import brief, distinct, job_title, sweep_title, title_of
from diskprof.presets.resolve import expand_defaults


def title(*jobs: Mapping[str, str]) -> str:
    return title_of([fio_job(options.items(), f"job{number}") for number, options in enumerate(jobs)])


READ = {"rw": "randread", "bs": "4k", "iodepth": "32", "ioengine": "libaio", "direct": "1"}


@pytest.mark.parametrize(
    ("options", "called"),
    [
        (READ, "4K rand read QD32"),
        ({**READ, "rw": "write", "bs": "1m", "iodepth": "8"}, "1M seq write QD8"),
        ({**READ, "rw": "randrw", "rwmixread": "70", "numjobs": "4"}, "4K rand 70/30 QD32 x4"),
        ({"rw": "write", "bs": "8k", "fsync": "1"}, "8K seq write fsync QD1"),
        ({"rw": "write", "bs": "2300", "fdatasync": "32"}, "2300B seq write fdatasync/32 QD1"),
        ({**READ, "rw": "randwrite", "sync": "dsync"}, "4K rand write dsync QD32"),
        ({**READ, "rw": "randwrite", "sync": "1"}, "4K rand write sync QD32"),
        ({"rw": "randread", "bs": "4k", "iodepth": "32"}, "4K rand read buffered QD1"),
        ({**READ, "bsrange": "4k-64k"}, "4K-64K rand read QD32"),
        ({**READ, "rate_iops": "500"}, "4K rand read QD32 @500/s"),
        ({**READ, "rw": "randrw", "rate_iops": "700,300"}, "4K rand 50/50 QD32 @1000/s"),
        ({**READ, "rate": "200m", "numjobs": "2"}, "4K rand read QD32 @210MB/s x2"),
    ],
)
def test_a_job_of_fios(options: Mapping[str, str], called: str) -> None:
    assert title(options) == called


def test_a_test_of_iopings() -> None:
    assert title_of([ioping_job((("count", "10"),))]) == "4K rand read ioping 1/s"
    assert title_of([ioping_job((("rapid", "1"), ("direct", "1")))]) == "4K rand read ioping direct"
    assert title_of([ioping_job((("rapid", "1"), ("linear", "1")))]) == "256K seq read ioping"
    assert title_of([ioping_job((("cached", "1"), ("interval", "10s")))]) == "4K rand read ioping cached every 10 s"


def test_several_jobs() -> None:
    write = {**READ, "rw": "randwrite"}
    assert title(READ, READ) == "4K rand read QD32 x2"
    assert title(READ, {**write, "rate_iops": "100"}) == "4K rand read + write QD32"
    assert title(READ, {"rw": "write", "bs": "8k", "fsync": "1"}) == "4K rand read + 8K seq write fsync"
    many = [{**READ, "bs": f"{size}k"} for size in (4, 8, 16, 32)]
    assert title(*many) == "4 jobs: job0 + 3 more"


def test_the_author_adds_a_name_and_a_sweep_its_options() -> None:
    job = fio_job(READ.items())
    assert title_of([job], own="Rand_Read_Testing") == "4K rand read QD32 (Rand_Read_Testing)"
    assert title_of([job], own="4k Rand Read QD32") == "4K rand read QD32"
    cell = (("bs", "4k"), ("ioengine", "libaio"), ("size", "1g"))
    assert title_of([job], cell) == "4K rand read QD32 libaio size 1g"
    assert sweep_title([job], (("bs", "4k"), ("iodepth", "32"))) == "rand read"
    assert sweep_title([job], (("rw", "randread"),)) == "4K QD32"
    assert job_title("log", job) == "log: 4K rand read QD32"


def test_titles_that_are_the_same_carry_the_name() -> None:
    same = [("a", "4K rand read QD1"), ("b", "4K rand read QD1"), ("c", "4K rand read QD2")]
    assert distinct(same) == ["4K rand read QD1 (a)", "4K rand read QD1 (b)", "4K rand read QD2"]
    assert brief(["4K rand read QD1 (a)", "4K rand read QD1 (b)", "4K rand read QD2 (c)"]) == [
        *("4K rand read QD1 (a)", "4K rand read QD1 (b)", "4K rand read QD2")
    ]


@pytest.mark.parametrize("preset", SHIPPED.presets, ids=lambda preset: preset.name)
def test_every_shipped_test_has_a_short_title_of_its_own(preset: Preset) -> None:
    titles = [test.title for test in expand_defaults(preset).tests]
    assert len(set(titles)) == len(titles)
    assert all(len(each) <= 30 for each in brief(titles))
