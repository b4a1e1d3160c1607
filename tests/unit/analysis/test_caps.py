"""What limits a disk, by the cells of a sweep: caps, hand-over, the depth that suffices, and why there is none."""

from collections.abc import Callable

import pytest
from handmade import cell, direction, run
from msgspec.structs import replace

from diskprof.analysis.caps import Cap, Caps, Uncapped, run_caps
from diskprof.model.run import Run
from diskprof.presets.tiers import tiers
from diskprof.reports.content.caps_words import cap_sentences, caps_report, matching_tiers
from diskprof.reports.data.json_runs import run_json
from diskprof.reports.render.lines import text

BLOCKS = {"4k": 4096, "16k": 16384, "32k": 32768, "64k": 65536, "256k": 262144}
DEPTHS = (1, 2, 4, 8, 64)


def article(size: int, depth: int) -> float:
    """5000 IOPS, 200 MB/s, 0.56 ms for one."""
    return min(depth * 1782.0, 5000.0, 200e6 / size)


def volume(speed: Callable[[int, int], float] = article, cpu: tuple[float, float] = (5.0, 10.0)) -> Run:
    return run(
        *(
            cell(speed(size, depth), {"bs": block, "iodepth": str(depth)}, cpu=cpu)
            for block, size in BLOCKS.items()
            for depth in DEPTHS
        )
    )


def only(tested: Run) -> Caps:
    (caps,) = run_caps(tested)
    return caps


def test_the_volume_of_the_article() -> None:
    caps = only(volume())
    assert caps.iops == Cap(5000.0, 5000.0, 5000.0, 9, (4096, 32768), (4, 64), 4)
    assert caps.bandwidth and caps.bandwidth.value == pytest.approx(200e6)
    assert (caps.bandwidth.sizes, caps.bandwidth.enough) == ((65536, 262144), 2)
    assert caps.handover == (32768, 65536)
    assert caps.crossing == pytest.approx(40_000)
    assert caps.why_iops is None and caps.why_bandwidth is None


def test_what_is_not_capped_says_why() -> None:
    rising = only(volume(lambda size, depth: 70.0 * depth))
    assert rising.iops is None and rising.why_iops is Uncapped.RISING and rising.handover is None
    assert rising.most_iops == pytest.approx(70.0 * 64)
    busy = volume(cpu=(40.0, 58.0))
    caps = only(busy)
    assert caps.why_iops is caps.why_bandwidth is Uncapped.PROCESSOR
    assert "a CPU was the limit" in " ".join(cap_sentences(busy))


def test_a_sweep_of_other_options_has_no_caps() -> None:
    tests = [cell(1_000, {"bs": "4k", "numjobs": str(jobs)}) for jobs in (1, 2)]
    assert run_caps(run(*tests)) == ()
    assert run_caps(run(cell(None, {"bs": "4k", "iodepth": "1"}))) == ()


def whole(tested: Run) -> str:
    return " ".join(text(caps_report(tested), 200).split())


def test_the_answer_in_words_names_the_tiers_that_match() -> None:
    told = whole(volume())
    assert "4 KiB to 32 KiB, QD4 to QD64" in told and "from 5,000 to 5,000" in told
    assert "32 KiB to 64 KiB" in told
    assert "the caps cross at 200 MB/s / 5,000 IOPS = 39.1 KiB" in told
    assert "DigitalOcean volume, the least; DigitalOcean: size and depth, tier=standard" in told
    other = volume(lambda size, depth: min(depth * 1782.0, 5600.0, 210e6 / size))
    assert matching_tiers(other) == []
    assert "No documented tier has these caps" in whole(other)


def test_tiers_are_of_one_direction_and_may_grow_with_the_capacity() -> None:
    found = {(tier.title, str(tier.direction)): tier for tier in tiers()}
    assert len(found) == len(tiers())
    grows = found["Alibaba: all four tests, tier=ssd", "write"]
    assert grows.values(None) is None
    assert grows.values(200.0) == pytest.approx((7_200.0, 80 * 2**20 + 100 * 2**20))
    assert grows.fits(7_100.0, 190e6, 200.0) and not grows.fits(7_100.0, 190e6, 800.0)
    gp3 = found["AWS gp3, the least", "read"]
    assert gp3.fits(3_005.0, 131e6, None) and not gp3.fits(3_005.0, 250e6, None)


def test_json_has_the_caps_and_the_tiers() -> None:
    sweep = run_json(volume())["sweep"]
    (panel,) = sweep["panels"]
    assert panel["caps"]["iops"]["per_s"] == 5000.0 and panel["caps"]["iops"]["enough_depth"] == 4
    assert panel["caps"]["handover_bytes"] == [32768, 65536]
    assert {"title": "DigitalOcean volume, the least", "direction": "read"}.items() <= sweep["tiers"][0].items()


def test_reads_and_writes_are_apart() -> None:
    tests = []
    for rw, way in (("randread", "read"), ("randwrite", "write")):
        for block, size in BLOCKS.items():
            for depth in DEPTHS:
                given = cell(
                    None,
                    {"rw": rw, "bs": block, "iodepth": str(depth)},
                    base="limits",
                    **{way: direction(article(size, depth), block=size)},
                )
                jobs = tuple(job.changed(rw=rw) for job in given.planned.load.fio)
                tests.append(replace(given, planned=replace(given.planned, jobs=jobs)))
    told = whole(run(*tests))
    assert "rand read: 5,000 IOPS" in told and "rand write: 5,000 IOPS" in told
    assert "DigitalOcean: all five tests, tier=standard" in told
