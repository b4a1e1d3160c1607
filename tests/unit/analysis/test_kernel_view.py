"""What the kernel saw, by iostat's definitions: out of amounts, over one interval and over many."""

import pytest
from msgspec.structs import replace

from diskprof.analysis.kernel import KernelView, kernel_view, medians, while_measuring
from diskprof.model.sample import Direction, Phase, Sample, SystemSample
from diskprof.reports.content.kernel_table import kernel_tables


def seen(duration_s: float = 1.0, **figures: float) -> SystemSample:
    return SystemSample(0, Phase.MEASURING, round(duration_s * 1e9), round(duration_s * 1e9), **figures)  # type: ignore[arg-type]


BUSY = seen(
    0.5,
    reads=1000,
    writes=50,
    read_bytes=4_096_000,
    write_bytes=819_200,
    read_ticks_ms=4000,
    write_ticks_ms=25,
    io_ticks_ms=490,
    queue_ticks_ms=4025,
    read_merges=0,
    write_merges=150,
    cpu_user=0.1,
    cpu_system=0.2,
    cpu_iowait=0.3,
    cpu_steal=0.04,
    cgroup_reads=1000,
    cgroup_writes=0,
    cgroup_read_bytes=4_096_000,
    cgroup_write_bytes=0,
    cpu_periods=5,
    cpu_throttled=2,
    memory_available_bytes=8 << 30,
    cached_bytes=3 << 30,
    dirty_bytes=5 << 20,
    own_write_bytes=500,
    discards=10,
    discard_bytes=10 << 20,
    discard_ticks_ms=50,
    flushes=20,
    flush_ticks_ms=10,
    temperature_c=51.0,
)


def test_one_interval_by_iostats_definitions() -> None:
    view = kernel_view((BUSY,))
    assert view == KernelView(
        seconds=0.5,
        reads_per_s=2000,
        writes_per_s=100,
        read_bytes_per_s=8_192_000,
        write_bytes_per_s=1_638_400,
        read_merges_per_s=0,
        write_merges_per_s=300,
        read_wait_ns=4e6,
        write_wait_ns=0.5e6,
        read_size_bytes=4096,
        write_size_bytes=16384,
        queue_depth=8.05,
        utilisation=0.98,
        cpu_user=0.1,
        cpu_system=0.2,
        cpu_iowait=0.3,
        cpu_steal=0.04,
        cgroup_reads_per_s=2000,
        cgroup_writes_per_s=0,
        cgroup_read_bytes_per_s=8_192_000,
        cgroup_write_bytes_per_s=0,
        own_write_bytes_per_s=1000,
        throttled=0.4,
        memory_available_bytes=8 << 30,
        cached_bytes=3 << 30,
        dirty_bytes=5 << 20,
        temperature_c=51.0,
        discards_per_s=20,
        discard_bytes_per_s=20 << 20,
        discard_wait_ns=5e6,
        flushes_per_s=40,
        flush_wait_ns=5e5,
    )


def test_the_waiting_of_a_steady_queue_is_its_depth() -> None:
    view = kernel_view((BUSY,))
    assert view and view.reads_per_s and view.read_wait_ns and view.writes_per_s and view.write_wait_ns
    in_flight = view.reads_per_s * view.read_wait_ns / 1e9 + view.writes_per_s * view.write_wait_ns / 1e9
    assert view.queue_depth == pytest.approx(in_flight)


def test_intervals_count_by_their_length_and_waits_by_their_requests() -> None:
    idle = seen(1.5, reads=0, read_bytes=0, read_ticks_ms=0, io_ticks_ms=0, queue_ticks_ms=0, cpu_user=0.5)
    view = kernel_view((BUSY, idle))
    assert view
    assert (view.seconds, view.reads_per_s, view.read_wait_ns) == (2.0, 500, 4e6)
    assert view.utilisation == pytest.approx(0.245)
    assert view.cpu_user == pytest.approx(0.4)
    assert view.writes_per_s == 100, "of the interval that knows it"
    assert (view.dirty_bytes, view.temperature_c) == (5 << 20, 51.0)


def test_nothing_is_made_up() -> None:
    assert kernel_view(()) is None
    assert medians(()) is None
    assert kernel_view((seen(0.0, reads=1),)) is None
    view = kernel_view((seen(),))
    assert view == KernelView(seconds=1.0)
    assert kernel_tables([("nothing", KernelView(seconds=1.0))], full=True) == ()
    nothing_read = kernel_view((seen(reads=0, read_bytes=0, read_ticks_ms=0),))
    assert nothing_read and nothing_read.read_wait_ns is None and nothing_read.read_size_bytes is None


def test_a_counter_that_runs_ahead_of_the_clock_is_a_busy_disk() -> None:
    view = kernel_view((seen(0.25, io_ticks_ms=252),))
    assert view and view.utilisation == 1.0


def test_the_median_is_what_most_intervals_were_like() -> None:
    view = medians([seen(1.0, reads=reads, read_ticks_ms=reads) for reads in (100, 110, 90_000)] + [seen(1.0)])
    assert view
    assert (view.seconds, view.reads_per_s, view.read_wait_ns, view.writes_per_s) == (1.0, 110, 1e6, None)


def test_every_figure_of_a_view_can_come_out_of_a_sample() -> None:
    view = kernel_view((BUSY,))
    assert view and all(getattr(view, name) is not None for name in KernelView.__struct_fields__)
    assert medians((BUSY,)) == view


def test_the_words() -> None:
    view = kernel_view((BUSY,))
    assert view
    (brief,), full = (kernel_tables([("busy", view)], full=full) for full in (False, True))
    assert {
        column.text: cell.text for table in full for column, cell in zip(table.columns, table.rows[0], strict=True)
    } == {
        "Test": "busy",
        "r/s": "2.00k",
        "w/s": "100",
        "MB/s": "9.83",
        "r_await": "4.00 ms",
        "w_await": "500 us",
        "aqu-sz": "8.1",
        "%util": "98%",
        "CPU": "30.0%",
        "iowait": "30.0%",
        "steal": "4.0%",
        "throttled": "40.0%",
        "°C": "51",
        "rMB/s": "8.19",
        "wMB/s": "1.64",
        "rareq-sz": "4 KiB",
        "wareq-sz": "16 KiB",
        "%wrqm": "75.0%",
        "f/s": "40",
        "f_await": "500 us",
        "d/s": "20",
        "dMB/s": "21.0",
        "d_await": "5.00 ms",
        "user": "10.0%",
        "system": "20.0%",
        "cgroup r/s": "2.00k",
        "cgroup rMB/s": "8.19",
        "available": "8 GiB",
        "page cache": "3 GiB",
        "dirty": "5 MiB",
    }
    assert {column.text for column in brief.columns} < {column.text for table in full for column in table.columns}
    # What Markdown sets between cells, beside a title as wide as most.
    assert all(sum(len(column.text) + 3 for column in table.columns) < 64 for table in full)
    quiet = kernel_view((seen(reads=0, writes=0, read_bytes=0, write_bytes=0, cpu_user=0.0, cpu_steal=0.0),))
    assert quiet
    (table,) = kernel_tables([("quiet", quiet)], full=True)
    assert [column.text for column in table.columns] == ["Test", "user"]


def engines(*ends_ms: int, test: int = 0) -> list[Sample]:
    """An engine's intervals of 250 ms that end then."""
    return [Sample(test, Phase.MEASURING, Direction.READ, at * 10**6, 250 * 10**6, 500, 2_048_000) for at in ends_ms]


def kernels(
    phase: Phase, *ends: tuple[int, int], reads: int | None = 500, test: int = 0, **more: float
) -> list[SystemSample]:
    """The kernel's intervals: (end, length) in ms."""
    return [SystemSample(test, phase, at * 10**6, length * 10**6, reads=reads, **more) for at, length in ends]  # type: ignore[arg-type]


def spans(samples: tuple[SystemSample, ...]) -> list[tuple[int, int, int | None]]:
    return [(one.at_ns // 10**6, one.duration_ns // 10**6, one.reads) for one in samples]


def test_the_engines_start_and_end_are_no_time_of_the_disk() -> None:
    """fio took 600 ms to begin, and its last interval was kept back and the process ended before the kernel was asked again."""
    seen = [
        *kernels(Phase.PREPARING, (500, 250), reads=9_000),
        *kernels(Phase.MEASURING, (1360, 860), (1610, 250), (1860, 250)),
        *kernels(Phase.MEASURING, (2400, 540), reads=20, dirty_bytes=7),
        *kernels(Phase.MEASURING, (3000, 250), reads=7, test=1),
    ]
    measuring = while_measuring(engines(1250, 1500, 1750, 2000), seen, 0)
    assert spans(measuring) == [(1360, 360, 500), (1610, 250, 500), (1860, 250, 500), (2400, 140, 20)]
    assert measuring[-1].dirty_bytes == 7
    view = kernel_view(measuring)
    assert view and view.reads_per_s == pytest.approx(1520)


def test_what_was_counted_after_the_end_belongs_to_the_last_interval() -> None:
    seen = kernels(Phase.MEASURING, (250, 250), (500, 250), (900, 400))
    assert spans(while_measuring(engines(250, 480), seen, 0)) == [(250, 250, 500), (500, 230, 1000)]


@pytest.mark.parametrize(
    ("ends", "end"),
    [
        ((250, 500, 800), 750),  # it told of it 50 ms after its jobs had ended
        ((250, 500, 740), 740),
        ((250, 500, 1250), 1250),  # after a pause
        ((800,), 800),
    ],
)
def test_the_engine_may_end_before_its_last_word(ends: tuple[int, ...], end: int) -> None:
    seen = kernels(Phase.MEASURING, *((at, 100) for at in range(100, 1400, 100)), reads=100)
    measuring = while_measuring(engines(*ends), seen, 0)
    assert sum(one.duration_ns for one in measuring) / 1e6 == end - (ends[0] - 250)


def test_of_two_directions_the_last_to_end_counts() -> None:
    writes = [replace(one, direction=Direction.WRITE) for one in engines(250, 500, 820)]
    taken = sorted([*engines(250, 500, 790), *writes], key=lambda one: one.at_ns)
    measuring = while_measuring(taken, kernels(Phase.MEASURING, *((at, 100) for at in range(100, 1400, 100))), 0)
    assert sum(one.duration_ns for one in measuring) / 1e6 == 750


def test_what_was_counted_before_the_begin_is_left_out() -> None:
    seen = kernels(Phase.MEASURING, (250, 250), (500, 250), (1000, 500))
    assert spans(while_measuring(engines(1000), seen, 0)) == [(1000, 250, 500)]


def test_between_ramp_and_measuring_there_is_no_pause() -> None:
    seen = [*kernels(Phase.WARMING, (250, 250), (500, 250)), *kernels(Phase.MEASURING, (860, 360), (1110, 250))]
    assert spans(while_measuring(engines(750, 1000), seen, 0)) == [(860, 360, 500), (1110, 140, 500)]


def test_without_the_engines_word_the_phase_tells() -> None:
    seen = kernels(Phase.MEASURING, (250, 250), (500, 250))
    assert while_measuring([], seen, 0) == tuple(seen)
    assert while_measuring(engines(250), [], 0) == ()
    assert while_measuring(engines(250), kernels(Phase.WARMING, (250, 250)), 0) == ()
    assert while_measuring(engines(9250), seen, 0) == ()


def test_of_rounds_the_time_between_them_is_left_out() -> None:
    second = 10**9

    def seen(test: int, begin: float, end: float, size: int) -> SystemSample:
        at_ns, duration_ns = round(end * second), round((end - begin) * second)
        return SystemSample(
            test, Phase.MEASURING, at_ns, duration_ns, reads=size, writes=0, read_bytes=size, write_bytes=0
        )

    def done(end: float, size: int) -> Sample:
        return Sample(0, Phase.MEASURING, Direction.READ, round(end * second), second, size, size)

    # Two rounds of a test, in each of which the engine takes half a second to begin and to end; another test between them.
    system = [
        seen(0, 0, 1.5, 100),
        seen(0, 1.5, 3, 100),
        seen(1, 3, 9, 7),
        seen(0, 9, 10.5, 100),
        seen(0, 10.5, 12, 100),
    ]
    samples = [done(1.5, 100), done(2.5, 100), done(10.5, 100), done(11.5, 100)]
    found = while_measuring(samples, system, 0)
    assert sum(one.duration_ns for one in found) == 4 * second
    assert sum(one.reads or 0 for one in found) == 400
