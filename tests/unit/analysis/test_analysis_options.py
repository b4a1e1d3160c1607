"""What a command asked for, read back from its argv."""

import pytest
from handmade import fio, ioping

from diskprof.analysis.options import asked, sections
from diskprof.model.preset import EngineName


def test_fio_options_before_the_first_name_stand_apart() -> None:
    argv = ("fio", "--output-format=json+", "--name=a", "--rw=read", "--name=b", "--rw=write", "--direct=1")
    shared, first, second = sections(EngineName.FIO, argv)
    assert (shared.name, shared.get("output-format")) == ("", "json+")
    assert (first.name, first.get("rw"), first.get("direct")) == ("a", "read", None)
    assert (second.name, second.get("rw"), second.get("direct")) == ("b", "write", "1")


def test_the_last_of_two_values_counts() -> None:
    (section,) = sections(EngineName.FIO, ("fio", "--name=a", "--bs=4k", "--bs=8k"))
    assert section.get("bs") == "8k"


@pytest.mark.parametrize(
    "argv",
    [
        ("ioping", "-J", "-RD", "-w", "3", "/mnt"),
        ("ioping", "-J", "-R", "-D", "-w3", "/mnt"),
        ("ioping", "-json", "-rapid", "-direct", "-work-time", "3", "/mnt"),
    ],
)
def test_ioping_options_in_every_spelling(argv: tuple[str, ...]) -> None:
    (section,) = sections(EngineName.IOPING, argv)
    assert dict(section.options) == {"json": "", "rapid": "", "direct": "", "work-time": "3"}


def test_direct_is_what_every_job_does() -> None:
    assert asked(fio(direct=True).planned).direct
    assert not asked(fio(direct=False).planned).direct
    assert not asked(fio(direct=True, options=("--name=second", "--rw=read")).planned).direct
    assert asked(ioping("seek", "-R", "-D").planned).direct
    assert not asked(ioping("cached", "-R", "-C").planned).direct
    assert asked(ioping("cached", "-R", "-C").planned).cached


@pytest.mark.parametrize("option", ["--rate_iops=1000", "--rate=1m", "--thinktime=100"])
def test_a_fio_test_with_a_rate_sets_its_own_pace(option: str) -> None:
    assert asked(fio(options=(option,)).planned).paced
    assert not asked(fio().planned).paced


def test_ioping_waits_a_second_unless_told_otherwise() -> None:
    assert asked(ioping("latency", "-c", "10").planned).interval_s == 1.0
    assert asked(ioping("latency", "-i", "200ms").planned).interval_s == pytest.approx(0.2)
    assert asked(ioping("seek", "-R").planned).interval_s == 0.0
    assert not asked(ioping("seek", "-R").planned).paced
    assert asked(ioping("seek", "-R", "-r", "100").planned).paced


def test_a_synchronous_engine_caps_the_depth() -> None:
    assert asked(fio(depth=32).planned).depth == 32
    assert asked(fio(depth=32, numjobs=4).planned).depth == 128
    capped = asked(fio(depth=32, ioengine="psync").planned)
    assert (capped.depth, capped.capped) == (1, (("psync", 32),))
    assert asked(fio(depth=1, ioengine="psync").planned).capped == ()


@pytest.mark.parametrize(
    ("ioengine", "direct", "depth"), [("libaio", False, 1), ("libaio", True, 32), ("io_uring", False, 32)]
)
def test_libaio_does_one_at_a_time_through_the_page_cache(ioengine: str, direct: bool, depth: int) -> None:
    found = asked(fio(depth=32, ioengine=ioengine, direct=direct).planned)
    assert (found.depth, bool(found.capped)) == (depth, depth == 1)


def test_jobs_are_reported_apart_unless_grouped() -> None:
    assert asked(fio(numjobs=4).planned).reported == 4
    assert asked(fio(numjobs=4, options=("--group_reporting=1",)).planned).reported == 1


def test_a_size_that_is_no_number_of_bytes_is_not_known() -> None:
    assert asked(fio(size=4096).planned).size_bytes == 4096
    assert asked(fio(options=("--size=50%",)).planned).size_bytes is None
