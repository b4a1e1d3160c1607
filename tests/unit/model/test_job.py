"""What the options of a fio job mean: one reader for the plan, the descriptions, the promises and the findings."""

import pytest

from diskprof.model.job import fio_job, fio_sections
from diskprof.model.preset import EngineName, Job, Test
from diskprof.model.sample import Direction
from diskprof.presets.files.promises import directions
from diskprof.presets.foreign.imported import test_title as title_of
from diskprof.reports.content.preset_text import describe_test
from diskprof.runner.plan.workload import Rate, fio_workload

BOTH_GIVEN = (("rw", "randrw"), ("rwmixread", "100"), ("size", "1073741824"), ("rwmixwrite", "60"))


def test_what_a_job_leaves_open_is_as_fio_has_it() -> None:
    job = fio_job(())
    assert (job.rw, job.ioengine, job.iodepth, job.depth, job.numjobs) == ("read", "psync", 1, 1, 1)
    assert job.sizes() == job.sizes(write=True) == (4096,) and not job.direct and not job.random and not job.mixed
    assert job.directions == (Direction.READ,) and job.reads_only


@pytest.mark.parametrize(
    ("options", "writes"),
    [
        ((("rw", "read"),), 0.0),
        ((("rw", "randwrite"),), 1.0),
        ((("rw", "randrw"),), 0.5),
        ((("rw", "rw"), ("rwmixread", "70")), 0.3),
        ((("rw", "readwrite"), ("rwmixwrite", "70")), 0.7),
        ((("rw", "rw"), ("rwmixread", "100")), 0.0),
        (BOTH_GIVEN, 0.6),
        ((("rw", "randrw"), ("rwmixwrite", "60"), ("rwmixread", "100")), 0.0),
        ((("rw", "randrw"), ("rwmixread", "100"), ("rwmixwrite", "60"), ("rwmixread", "30")), 0.7),
        ((("rw", "rw"), ("rwmixread", "junk")), 0.5),
    ],
)
def test_fio_takes_the_last_of_the_two_shares_of_a_mix(options: tuple[tuple[str, str], ...], writes: float) -> None:
    assert fio_job(options).write_share == pytest.approx(writes)


def test_everybody_says_the_same_of_a_mix_that_is_given_twice() -> None:
    job = Job("mix", BOTH_GIVEN)
    test = Test("mix", "", EngineName.FIO, (job,))
    assert "(40% reads)" in describe_test(test)
    assert "of 40% reads" in title_of([("mix", dict(BOTH_GIVEN))])
    assert directions(test) == {Direction.READ, Direction.WRITE}
    assert fio_workload((job,), Rate(1e9, 1e5)).bytes_written == round(0.6 * 1073741824)


@pytest.mark.parametrize(
    ("options", "reads", "writes", "mean"),
    [
        ((("bs", "4k"),), (4096,), (4096,), 4096),
        ((("bs", "8k,"),), (8192,), (4096,), 8192),
        ((("bs", ",8k"),), (4096,), (8192,), 4096),
        ((("bsrange", "4k-12k"),), (4096, 12288), (4096, 12288), 8192),
        ((("bssplit", "4k/75:16k/25"),), (4096, 16384), (4096, 16384), 7168),
        ((("bssplit", "4k:12k"),), (4096, 12288), (4096, 12288), 8192),
        ((("bssplit", "4k/0:64k/100"),), (65536,), (65536,), 65536),
        ((("bs", "no size"),), (4096,), (4096,), 4096),
    ],
)
def test_block_sizes(
    options: tuple[tuple[str, str], ...], reads: tuple[int, ...], writes: tuple[int, ...], mean: int
) -> None:
    job = fio_job(options)
    assert (job.sizes(), job.sizes(write=True), job.mean_size()) == (reads, writes, mean)


@pytest.mark.parametrize(
    ("engine", "depth"), [("libaio", 32), ("io_uring", 32), ("vsync", 1), ("psync", 1), ("mmap", 1)]
)
def test_a_synchronous_engine_has_one_io_in_flight(engine: str, depth: int) -> None:
    job = fio_job((("ioengine", engine), ("iodepth", "32")))
    assert (job.iodepth, job.depth, job.synchronous) == (32, depth, depth == 1)


@pytest.mark.parametrize(
    ("options", "direct"),
    [
        ({"direct": "1"}, True),
        ({"direct": "0"}, False),
        ({"buffered": "0"}, True),
        ({"direct": "1", "ioengine": "mmap"}, False),
    ],
)
def test_direct(options: dict[str, str], direct: bool) -> None:
    assert fio_job(options.items()).direct is direct


def test_the_jobs_of_a_command() -> None:
    argv = ("/usr/bin/fio", "--output-format=json+", "--name=a", "--rw=read", "--bs=4096", "--name=b", "--rw=write")
    assert list(fio_sections(argv)) == [
        ("", (("output-format", "json+"),)),
        ("a", (("rw", "read"), ("bs", "4096"))),
        ("b", (("rw", "write"),)),
    ]
