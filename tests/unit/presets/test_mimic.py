"""A load that was seen -> a preset: what it says is what was seen, and the loader takes it."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.sample import Direction
from diskprof.model.seen_load import LoadSource, Pace, SeenLoad, SeenSize, rate_levels
from diskprof.presets.files.write import checked_toml
from diskprof.presets.mimic import Mimicked, mimic
from diskprof.presets.resolve import expand_defaults
from diskprof.reports.content.mimic_report import mimic_report
from diskprof.reports.render.lines import text

READ, WRITE = Direction.READ, Direction.WRITE
MIB = 1 << 20
LOAD = SeenLoad(
    LoadSource.REQUESTS,
    60.0,
    (
        SeenSize(READ, 4096, 700.4, 0.0),
        SeenSize(READ, 131072, 50.3, 1.0),
        SeenSize(WRITE, 8192, 180.3, 0.55),
        SeenSize(WRITE, 12288, 1.0, 0.0),
    ),
    depth=1.4,
    most_in_flight=5,
    highest_per_s=1200.0,
    durable=0.0,
    flushes=100 / 181.3,
    touched_bytes=300 * MIB + 5,
)


def made(load: SeenLoad) -> Mimicked:
    found = mimic(load, "my-load", "Mine", "a test")
    # The loader takes it, and its options are such as presets may have.
    assert checked_toml(found.preset)
    expand_defaults(found.preset)
    return found


def options(load: SeenLoad) -> dict[str, dict[str, str]]:
    (test,) = made(load).preset.tests
    return {job.name: dict(job.options) for job in test.jobs}


def test_a_load_that_comes_at_a_rate_is_a_job_for_each_size() -> None:
    jobs = options(LOAD)
    assert {name: job["rate_iops"] for name, job in jobs.items()} == {
        "read-4k": "701",
        "read-128k": "50",
        "write-8k-sync": "100",
        "write-8k": "81",
    }
    assert sum(int(job["rate_iops"]) for job in jobs.values()) == round(LOAD.per_s())
    assert {job["iodepth"] for job in jobs.values()} == {"5"}
    assert [job["rw"] for job in jobs.values()] == ["randread", "read", "write", "randwrite"]
    assert "percentage_random" not in jobs["write-8k"]
    assert [name for name, job in jobs.items() if "fdatasync" in job] == ["write-8k-sync"]


def test_a_rate_that_changed_over_time_is_the_usual_one_and_that_of_its_busiest_tenth() -> None:
    """54 of 60 seconds at 300 a second, 6 at 5,000; of the reads of 4k, which are three quarters of all."""
    load = replace(
        LOAD,
        sizes=(SeenSize(READ, 4096, 577.5, 0.0), SeenSize(WRITE, 8192, 192.5, 0.5)),
        flushes=None,
        levels=rate_levels([300.0] * 54 + [5000.0] * 6),
    )
    found = made(load)
    usual, busy = found.preset.tests
    assert (usual.name, busy.name) == ("usual", "busy")
    rates = [{job.name: dict(job.options)["rate_iops"] for job in test.jobs} for test in (usual, busy)]
    assert rates == [{"read-4k": "225", "write-8k": "75"}, {"read-4k": "3750", "write-8k": "1250"}]
    shown = text(mimic_report("sda", load, found), 100)
    assert "300 and 5.00k/s" in shown and "usual; busiest tenth" in shown
    assert "0.92/15.4 MB/s" in shown


def test_a_rate_that_changed_little_or_was_seen_too_shortly_is_its_mean() -> None:
    assert rate_levels([300.0] * 9) is None
    for levels in (rate_levels([300.0] * 54 + [590.0] * 6), None):
        assert [test.name for test in made(replace(LOAD, levels=levels)).preset.tests] == ["load"]
    still = rate_levels([0.0] * 54 + [5000.0] * 6)
    assert [test.name for test in made(replace(LOAD, levels=still)).preset.tests] == ["busy"], "and nothing between"
    held = replace(LOAD, pace=Pace.DEPTH, levels=still)
    assert [test.name for test in made(held).preset.tests] == ["load"]


def test_what_is_partly_in_order_is_partly_at_random() -> None:
    jobs = options(replace(LOAD, sizes=(SeenSize(READ, 8192, 100.0, 0.6),), flushes=None, durable=None))
    assert jobs["read-8k"]["rw"] == "randread" and jobs["read-8k"]["percentage_random"] == "40"


def test_rare_sizes_are_done_with_the_next_and_there_are_no_more_than_eight() -> None:
    many = tuple(SeenSize(READ, 4096 * number, 1000 / number, 0.0) for number in range(1, 200))
    found = made(replace(LOAD, sizes=many, flushes=0.0))
    assert len(found.made.sizes) <= 8
    assert abs(found.made.per_s() - sum(each.per_s for each in many)) < 1
    assert all(one.size < other.size for one, other in pairwise(found.made.sizes))


def test_a_direction_of_few_requests_stays_if_all_its_sizes_are_rare_but_together_are_not() -> None:
    few = tuple(SeenSize(WRITE, 4096 * number, 4.0, 0.0) for number in range(1, 6))
    found = made(replace(LOAD, sizes=(SeenSize(READ, 4096, 980.0, 0.0), *few), flushes=None))
    assert found.made.per_s(WRITE) == pytest.approx(20, abs=1)


def test_a_load_that_is_held_by_its_depth_is_one_job_without_a_rate() -> None:
    (job,) = options(replace(LOAD, pace=Pace.DEPTH, most_in_flight=16)).values()
    assert "rate_iops" not in job and (job["iodepth"], job["rw"], job["rwmixread"]) == ("16", "randrw", "81")
    # The write of 12k is one in a thousand.
    assert job["bssplit"] == "4096/93:131072/7,8192/100"
    assert job["percentage_random"] == "93,45" and job["fdatasync"] == "2"


def test_writes_alone_at_their_depth() -> None:
    sizes = (SeenSize(WRITE, 4096, 50.0, 0.0), SeenSize(WRITE, 65536, 50.0, 0.0))
    (job,) = options(replace(LOAD, sizes=sizes, pace=Pace.DEPTH, flushes=0.0)).values()
    assert (job["rw"], job["bssplit"]) == ("randwrite", "4096/50:65536/50,4096/50:65536/50") and "rwmixread" not in job


def test_means_become_sizes_that_a_request_can_have_and_the_queue_its_depth() -> None:
    means = (SeenSize(READ, 5300, 100.0), SeenSize(WRITE, 700, 50.0))
    found = made(SeenLoad(LoadSource.IOSTAT, 10.0, means, depth=3.2))
    assert [each.size for each in found.made.sizes] == [4096, 512]
    assert found.made.most_in_flight == 4 and found.size_bytes == 1 << 30


def test_the_area_is_what_was_touched_and_large_enough_for_its_sizes() -> None:
    assert made(LOAD).size_bytes == 301 * MIB
    large = replace(LOAD, sizes=(SeenSize(READ, 8 * MIB, 10.0, 1.0),), touched_bytes=MIB)
    assert made(large).size_bytes == 32 * MIB


def test_of_a_quiet_disk_there_is_nothing_to_mimic() -> None:
    with pytest.raises(UsageError, match="nothing to mimic: 30 requests in 60 s"):
        mimic(replace(LOAD, sizes=(SeenSize(READ, 4096, 0.5),)), "a", "b", "c")
    with pytest.raises(UsageError, match=r"nothing to mimic: 0 requests a second in 60 reports\."):
        mimic(SeenLoad(LoadSource.IOSTAT, 60, ()), "x", "X", "")
    with pytest.raises(UsageError, match="nothing to mimic: 3 requests in 60 s"):
        mimic(replace(LOAD, sizes=(SeenSize(READ, 4096, 0.05, 0.0),)), "x", "x", "x")


@pytest.mark.parametrize("source", LoadSource)
def test_the_table_says_what_is_known_and_what_is_not(source: LoadSource) -> None:
    if source is LoadSource.REQUESTS:
        load = replace(LOAD, lost=12)
    else:
        load = SeenLoad(source, 10.0, (SeenSize(READ, 5300, 100.0), SeenSize(WRITE, 9000, 50.0)), depth=3.2)
    shown = text(mimic_report("sda", load, made(load)), 100)
    assert max(map(len, shown.splitlines())) <= 100
    assert ("12 events of the trace were lost" in shown) == (source is LoadSource.REQUESTS)
    if source is LoadSource.REQUESTS:
        assert "fdatasync 100/s" in shown and "301 MiB" in shown and "taken to be" not in shown
    else:
        assert "taken to be at random" in shown and "single sizes: not known" in shown and "Working set" in shown
