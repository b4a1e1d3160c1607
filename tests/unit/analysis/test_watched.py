"""What a watched device did in all, of the intervals as they came."""

from msgspec.structs import replace

from diskprof.analysis.kernel import kernel_view
from diskprof.analysis.watched import WatchedSums, result_of, samples_of
from diskprof.model.process_io import ProcessIo
from diskprof.model.sample import Direction, Phase, SystemSample

SECOND = 10**9


def interval(at: int, reads: int, *, seconds: float = 1.0, cpu: float | None = None) -> SystemSample:
    return SystemSample(
        *(0, Phase.MEASURING, at * SECOND, round(seconds * SECOND)),
        reads=reads,
        read_bytes=reads * 4096,
        read_ticks_ms=2 * reads,
        io_ticks_ms=reads,
        queue_ticks_ms=2 * reads,
        cpu_user=cpu,
        dirty_bytes=at,
    )


def test_the_whole_is_that_of_all_intervals_and_the_highest_each_figures_own() -> None:
    sums = WatchedSums()
    parts = [interval(1, 100, cpu=0.5), interval(2, 300, cpu=None), interval(4, 200, seconds=2.0, cpu=0.2)]
    for part in parts:
        sums.add(part, ())
    total = sums.total
    assert total.mean and total.highest
    assert total.mean.reads_per_s == 150 and total.mean.seconds == 4.0
    assert total.mean.read_wait_ns == 2e6 and total.mean.utilisation == 0.15
    assert total.mean.dirty_bytes == 4
    assert total.highest.reads_per_s == 300 and total.highest.cpu_user == 0.5
    whole = kernel_view(parts)
    assert whole and whole.reads_per_s == total.mean.reads_per_s and whole.queue_depth == total.mean.queue_depth


def test_an_interval_that_was_cut_short_is_no_highest_one() -> None:
    sums = WatchedSums()
    sums.add(interval(1, 100), ())
    sums.add(interval(2, 50, seconds=0.01), (), whole=False)
    total = sums.total
    assert total.highest and total.highest.reads_per_s == 100
    assert total.mean and total.mean.seconds == 1.01


def test_an_interval_without_counters_adds_nothing_but_its_processes() -> None:
    sums = WatchedSums()
    one = ProcessIo(0, 7, 70, "dd", 4096, 0, 0, SECOND)
    gone = replace(interval(1, 0), reads=None)
    assert sums.add(gone, (one,)) is None
    sums.add(interval(2, 10), (replace(one, read_bytes=8192, first_ns=SECOND, last_ns=2 * SECOND),))
    total = sums.total
    assert total.mean and total.mean.seconds == 1.0
    assert [(each.pid, each.read_bytes, each.first_ns, each.last_ns) for each in total.processes] == [
        (7, 12288, 0, 2 * SECOND)
    ]
    assert WatchedSums().total.mean is None


def test_an_interval_is_a_sample_of_each_direction_and_the_whole_is_a_result() -> None:
    both = replace(interval(2, 100, seconds=0.5), writes=0, write_bytes=0, write_ticks_ms=0)
    read, write = samples_of(both)
    assert (read.direction, read.ios, read.bytes, read.mean_ns) == (Direction.READ, 100, 409600, 2e6)
    assert (write.direction, write.ios, write.mean_ns) == (Direction.WRITE, 0, None)
    assert (read.at_ns, read.duration_ns, read.test, read.phase) == (2 * SECOND, SECOND // 2, 0, Phase.MEASURING)
    assert not read.distributed
    result = result_of(both)
    assert result.read and result.write
    assert (result.read.iops, result.read.bandwidth_bytes_per_s, result.read.latency.mean) == (200, 819200, 2e6)
    assert (result.write.ios, result.write.latency.mean) == (0, None), "an idle direction is a result too"
    assert samples_of(replace(both, reads=None, writes=None)) == ()
    assert not WatchedSums().result.directions


def test_requests_that_took_less_than_a_millisecond_together_have_no_mean() -> None:
    quick = replace(interval(1, 100), read_ticks_ms=0)
    (read,) = samples_of(quick)
    assert read.ios == 100 and read.mean_ns is None
