"""What the options of a fio job mean: one reader for the plan, the descriptions, the promises and the findings."""

import pytest
from handmade import fio, ioping

from diskprof.model.job import Opened, fio_job, ioping_job
from diskprof.model.preset import EngineName
from diskprof.model.sample import Direction
from diskprof.model.title import title_of
from diskprof.presets.files.promises import directions
from diskprof.presets.resolve import ResolvedTest
from diskprof.reports.content.preset_words import describe_test
from diskprof.runner.plan.workload import ClassSpeed, fio_workload

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
    job = fio_job(BOTH_GIVEN, "mix")
    test = ResolvedTest("mix", "", EngineName.FIO, (job,))
    assert "(40% reads)" in describe_test(test)
    assert " 40/60 " in title_of([job])
    assert directions(test) == {Direction.READ, Direction.WRITE}
    assert fio_workload((job,), ClassSpeed(1e9, 1e5)).bytes_written == round(0.6 * 1073741824)


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


def test_ioping_options_are_given_as_on_the_command_line() -> None:
    job = ioping_job((("rapid", "1"), ("direct", "0"), ("work-time", "3")))
    assert job.given == (("rapid", ""), ("work-time", "3"))
    assert (job.rapid, job.direct, job.work_s, job.seconds, job.rw) == (True, False, 3.0, 3.0, "randread")


def test_what_an_ioping_test_leaves_open_is_as_ioping_has_it() -> None:
    job = ioping_job((("count", "10"),))
    assert (job.block_size, job.work_size, job.interval_s, job.seconds, job.paced) == (4096, None, 1.0, 10.0, True)
    assert ioping_job((("linear", "1"), ("rapid", "1"))).block_size == 256 << 10


def test_a_job_with_another_option_is_read_anew() -> None:
    job = fio_job(
        (("rw", "read"), ("bs", "4096"), ("ioengine", "io_uring")), "a", targets=("log",), opened=Opened(("/x",))
    )
    other = job.changed(bs="8192", size="1048576")
    assert other.options == (("rw", "read"), ("bs", "8192"), ("ioengine", "io_uring"), ("size", "1048576"))
    assert (other.name, other.targets, other.opened.paths) == ("a", ("log",), ("/x",))
    assert (other.block_size, other.size) == (8192, 1 << 20)


def test_direct_is_what_every_job_does() -> None:
    assert fio(direct=True).planned.load.direct
    assert not fio(direct=False).planned.load.direct
    assert not fio(direct=True, options=("--name=second", "--rw=read")).planned.load.direct
    assert ioping("seek", "-R", "-D").planned.load.direct
    assert not ioping("cached", "-R", "-C").planned.load.direct
    assert ioping("cached", "-R", "-C").planned.load.cached


@pytest.mark.parametrize("option", ["--rate_iops=1000", "--rate=1m", "--thinktime=100"])
def test_a_fio_test_with_a_rate_sets_its_own_pace(option: str) -> None:
    assert fio(options=(option,)).planned.load.paced
    assert not fio().planned.load.paced


def test_ioping_waits_a_second_unless_told_otherwise() -> None:
    assert ioping("latency", "-c", "10").planned.load.interval_s == 1.0
    assert ioping("latency", "-i", "200ms").planned.load.interval_s == pytest.approx(0.2)
    assert ioping("seek", "-R").planned.load.interval_s == 0.0
    assert not ioping("seek", "-R").planned.load.paced
    assert ioping("seek", "-R", "-r", "100").planned.load.paced


def test_a_synchronous_engine_caps_the_depth() -> None:
    assert fio(depth=32).planned.load.depth == 32
    assert fio(depth=32, numjobs=4).planned.load.depth == 128
    capped = fio(depth=32, ioengine="psync").planned.load
    assert (capped.depth, capped.capped) == (1, (("psync", 32),))
    assert fio(depth=1, ioengine="psync").planned.load.capped == ()


@pytest.mark.parametrize(
    ("ioengine", "direct", "depth"), [("libaio", False, 1), ("libaio", True, 32), ("io_uring", False, 32)]
)
def test_libaio_does_one_at_a_time_through_the_page_cache(ioengine: str, direct: bool, depth: int) -> None:
    found = fio(depth=32, ioengine=ioengine, direct=direct).planned.load
    assert (found.depth, bool(found.capped)) == (depth, depth == 1)


def test_jobs_are_reported_apart_unless_grouped() -> None:
    assert fio(numjobs=4).planned.load.reported == 4
    assert fio(numjobs=4, options=("--group_reporting=1",)).planned.load.reported == 1


def test_a_size_that_is_no_number_of_bytes_is_not_known() -> None:
    assert fio(size=4096).planned.load.size_bytes == 4096
    assert fio(options=("--size=50%",)).planned.load.size_bytes is None
