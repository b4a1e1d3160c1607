"""Requests, as the kernel traced them, to the load that they are; generated, so that it is known."""

from pathlib import Path

import pytest

from diskprof.analysis.observed_load import load_of_counters, load_of_requests, pace_of
from diskprof.devices.requests.pages import RequestEvent
from diskprof.devices.requests.sums import Names, RequestSums
from diskprof.model.errors import UsageError
from diskprof.model.requests import DirectionRequests, Requests, SizeRequests
from diskprof.model.sample import Direction, Phase, SystemSample
from diskprof.model.seen_load import LoadSource, Pace, RateLevels, SeenLoad
from diskprof.presets.mimic import mimic
from diskprof.reports.content.request_table import request_report
from diskprof.reports.render.lines import text

SECOND = 10**9
MS = 10**6


def interval(second: int, ios: int, queue_ms: float) -> SystemSample:
    reads = round(0.7 * ios)
    return SystemSample(
        *(0, Phase.MEASURING, second * SECOND, SECOND),
        reads=reads,
        writes=ios - reads,
        read_bytes=reads * 4096,
        write_bytes=(ios - reads) * 8192,
        queue_ticks_ms=round(queue_ms),
    )


def seen(rate: int, seconds: int, took_ms: float) -> SeenLoad:
    """Of every ten requests 5 are reads of 4k at random, 2 reads of 16k in order, 3 writes of 8k at random."""
    events: list[RequestEvent] = []
    scan = 1 << 24
    for number in range(rate * seconds):
        at, turn = number * SECOND // rate, number % 10
        sector, sectors, kind = number * 7919 % (1 << 22) * 8, 8, b"R"
        if turn in (3, 8):
            sector, sectors, scan = scan, 32, scan + 32
        elif turn in (1, 5, 9):
            sector, sectors, kind = sector + (1 << 26), 16, b"WS"
        events.append((at, False, (7, sector, sectors, kind.ljust(8, b"\0"), b"made".ljust(16, b"\0"))))
        events.append((at + round(took_ms * MS), True, (sector, sectors)))
    sums = RequestSums(1 << 40, 0, 0)
    sums.add(sorted(events))
    taken = sums.take(seconds * SECOND, 0, Names(Path("/nowhere")))
    assert taken
    return load_of_requests(taken.requests, [interval(1, rate, rate * took_ms)] * seconds)


def test_the_levels_of_a_rate_are_those_of_the_kernels_intervals() -> None:
    calm, busy = [interval(at, 100, 1) for at in range(18)], [interval(at, 900, 9) for at in range(18, 20)]
    assert load_of_counters((*calm[:5], *busy, *calm[5:])).levels == RateLevels(100.0, 900.0)


def test_generated_requests_give_the_load_that_was_generated() -> None:
    load = seen(rate=1000, seconds=10, took_ms=2.5)
    shares = {(each.direction, each.size): each.per_s / load.per_s() for each in load.sizes}
    assert load.per_s() == pytest.approx(1000, rel=0.003)
    assert shares == {
        (Direction.READ, 4096): pytest.approx(0.5, abs=0.001),
        (Direction.READ, 16384): pytest.approx(0.2, abs=0.001),
        (Direction.WRITE, 8192): pytest.approx(0.3, abs=0.001),
    }
    assert load.read_share == pytest.approx(0.7, abs=0.001)
    assert load.in_order == pytest.approx(0.2, abs=0.005)
    assert load.depth == pytest.approx(2.5, rel=0.01) and load.most_in_flight == 3
    assert (load.source, load.pace, load.flushes, load.highest_per_s) == (LoadSource.REQUESTS, Pace.RATE, 0.0, 1000.0)


def held(*depths: tuple[int, int]) -> Requests:
    return Requests(10 * SECOND, depths=depths)


def test_a_load_at_its_deepest_whose_rate_changes_more_than_its_depth_is_held_by_that() -> None:
    full = held((0, SECOND), (7, SECOND), (8, 8 * SECOND))
    disk_changes = [interval(second, 900 + 200 * (second % 2), 7800 + 10 * second) for second in range(10)]
    rate_stays = [interval(second, 1000, 3000 + 4000 * (second % 2)) for second in range(10)]
    assert pace_of(full, disk_changes) is Pace.DEPTH
    assert pace_of(full, rate_stays) is Pace.RATE
    assert pace_of(full, disk_changes[:3]) is Pace.DEPTH


def test_one_at_a_time_and_what_is_seldom_at_its_deepest_come_at_a_rate() -> None:
    changes = [interval(second, 900 + 200 * (second % 2), 800) for second in range(10)]
    assert pace_of(held((0, SECOND), (1, 9 * SECOND)), changes) is Pace.RATE
    assert pace_of(held((1, 5 * SECOND), (2, 4 * SECOND), (9, SECOND)), changes) is Pace.RATE
    assert pace_of(held((0, SECOND)), changes) is Pace.RATE


def test_of_counters_there_are_means_alone() -> None:
    load = load_of_counters([interval(1, 1000, 2000), interval(2, 2000, 4000)])
    assert (load.source, load.depth, load.highest_per_s, load.in_order) == (LoadSource.COUNTERS, 3.0, 2000.0, None)
    assert [(each.size, each.per_s) for each in load.sizes] == [(4096, 1050.0), (8192, 450.0)]
    assert load_of_counters([]).per_s() == 0


def test_what_an_imported_run_says_of_no_requests_is_no_load() -> None:
    odd = (SizeRequests(0, 5), SizeRequests(4096, 0), SizeRequests(8192, -3))
    load = load_of_requests(Requests(0, write=DirectionRequests(odd)), ())
    assert load.sizes == () and load.per_s() == 0
    with pytest.raises(UsageError, match="nothing to mimic"):
        mimic(load, "x", "x", "x")
    for requests in (
        Requests(0, DirectionRequests(odd)),
        Requests(0, DirectionRequests((SizeRequests(4096, 5, 9), *odd))),
    ):
        assert isinstance(text(request_report(requests), 80), str)
