"""The result in a few words."""

import pytest
from handmade import Given, direction, fio, ioping, latency, run, watched
from msgspec.structs import replace

from diskprof.analysis.headline import WIDTH, headline
from diskprof.model.run import Latency, Status

QUICK = (
    fio("a", read=direction(17_900)),
    fio("b", depth=32, read=direction(284_000)),
    fio("c", rw="randwrite", write=direction(61_500)),
    fio("d", rw="randwrite", depth=32, write=direction(241_000)),
    fio("e", rw="read", block=1 << 20, read=direction(6_350, block=1 << 20)),
    fio("f", rw="write", block=1 << 20, write=direction(4_630, block=1 << 20)),
)
LOG = fio(rw="write", block=2300, options=("--fdatasync=1",), write=direction(5_000, block=2300))
LOG = replace(LOG, result=replace(LOG.result, sync=latency(153_000, p99=2_100_000)))  # type: ignore[type-var]
SYNC_AT_THE_END = replace(fio(rw="write", options=("--end_fsync=1",), write=direction(900)), result=LOG.result)
SLOW_STREAM = fio("f", rw="write", block=1 << 20, write=direction(160, block=1 << 20))
SLOWEST_STREAM = fio("f", rw="write", block=1 << 20, write=direction(16, block=1 << 20))


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (QUICK, "rand R 284k, W 241k IOPS, seq R/W 6.66/4.85 GB/s"),
        (QUICK[1:2] + QUICK[4:5], "rand read 284k IOPS, seq read 6.66 GB/s"),
        (QUICK[2:3] + QUICK[5:], "rand write 61.5k IOPS, seq write 4.85 GB/s"),
        ((*QUICK[:5], SLOW_STREAM), "rand R 284k, W 241k IOPS, seq R/W 6.66/0.17 GB/s"),
        ((*QUICK[:5], SLOWEST_STREAM), "rand R 284k, W 241k IOPS, seq read 6.66 GB/s"),
        (QUICK[:2], "rand read 284k IOPS"),
        (QUICK[4:], "seq R/W 6.66/4.85 GB/s"),
        (
            (fio(depth=8, read=direction(45_447, figures=latency(162_130, p99=310_000))),),
            "rand read 45.4k IOPS, 162 us mean, 310 us p99",
        ),
        (
            (fio(rw="randrw", read=direction(70_000), write=direction(30_000)),),
            "rand R 70.0k, W 30.0k IOPS",
        ),
        (
            (ioping("latency", "-c", "10", read=direction(1, seconds=10, figures=latency(210_000, max=800_000))),),
            "latency 210 us mean, 800 us max",
        ),
        ((ioping("seek", "-R", "-D", read=direction(8_725, seconds=3)),), "8.72k IOPS, latency 115 us"),
        ((LOG,), "fsync 153 us mean, 2.10 ms p99"),
        ((SYNC_AT_THE_END,), "seq write 11.5 MB/s"),
        (
            (watched(direction(705, figures=Latency(mean=1.05e6)), direction(301, figures=Latency(mean=1.07e6))),),
            "705 r/s, 301 w/s, 4.12 MB/s",
        ),
        ((watched(direction(12_345, figures=Latency(mean=81e3))),), "12.3k r/s, 50.6 MB/s, r_await 81.0 us"),
        ((*QUICK[:1], LOG), "rand read 17.9k IOPS, seq write 11.5 MB/s"),
        ((fio(status=Status.FAILED),), ""),
        ((QUICK[0], replace(QUICK[1], status=Status.CANCELLED)), "rand read 17.9k IOPS, 55.9 us mean, 140 us p99"),
        ((replace(QUICK[1], status=Status.CANCELLED),), "rand read 284k IOPS, 3.52 us mean, 8.80 us p99"),
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
