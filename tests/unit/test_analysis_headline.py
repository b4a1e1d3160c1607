"""The result in a few words."""

import pytest
from handmade import Given, direction, fio, ioping, latency, run

from diskprof.analysis.headline import WIDTH, headline
from diskprof.model.run import Status

QUICK = (
    fio("a", read=direction(17_900)),
    fio("b", depth=32, read=direction(284_000)),
    fio("c", rw="randwrite", write=direction(61_500)),
    fio("d", rw="randwrite", depth=32, write=direction(241_000)),
    fio("e", rw="read", block=1 << 20, read=direction(6_350, block=1 << 20)),
    fio("f", rw="write", block=1 << 20, write=direction(4_630, block=1 << 20)),
)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (QUICK, "rand read 284k, write 241k IOPS, seq 6.66 GB/s"),
        (QUICK[:2], "rand read 284k IOPS"),
        (QUICK[4:], "seq read 6.66 GB/s, write 4.85 GB/s"),
        (
            (fio(depth=8, read=direction(45_447, figures=latency(162_130, p99=310_000))),),
            "rand read 45.4k IOPS, 162 us mean, 310 us p99",
        ),
        (
            (fio(rw="randrw", read=direction(70_000), write=direction(30_000)),),
            "rand read 70.0k, write 30.0k IOPS",
        ),
        (
            (ioping("latency", "-c", "10", read=direction(1, seconds=10, figures=latency(210_000, max=800_000))),),
            "latency 210 us mean, 800 us max",
        ),
        ((ioping("seek", "-R", "-D", read=direction(8_725, seconds=3)),), "8.72k IOPS, latency 115 us"),
        ((fio(status=Status.FAILED),), ""),
        ((), ""),
    ],
)
def test_headlines(tests: tuple[Given, ...], words: str) -> None:
    assert headline(run(*tests)) == words


def test_no_headline_is_too_long_for_its_column() -> None:
    for iops in (0.1, 99.9, 999.9, 12_345.0, 999_900.0, 12_345_678.0):
        tests = (
            fio("r", read=direction(iops)),
            fio("w", rw="randwrite", write=direction(iops)),
            fio("s", rw="read", block=1 << 20, read=direction(iops, block=1 << 20)),
        )
        for some in (tests, tests[:1], tests[1:2], tests[2:], (ioping("l", read=direction(iops)),)):
            words = headline(run(*some))
            assert words
            assert len(words) <= WIDTH
