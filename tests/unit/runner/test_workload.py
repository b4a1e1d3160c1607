"""What options amount to, before anything runs."""

import pytest

from diskprof.model.device import Device, DeviceKind, Transport
from diskprof.model.job import FioJob, fio_job, ioping_job
from diskprof.runner.plan.workload import (
    ClassSpeed,
    assumed_rate,
    fio_workload,
    interval_ms,
    ioping_workload,
    without_false_mix,
)

RATE = ClassSpeed(bandwidth=100e6, iops=1000)


def fio(**options: str) -> FioJob:
    return fio_job(options.items(), "job")


def test_a_timed_read_writes_nothing() -> None:
    job = fio(rw="randread", bs="4k", size="1g", runtime="4", time_based="1", iodepth="32")
    load = fio_workload([job], RATE)
    assert (load.runtime_s, load.amount_bytes, load.bytes_written, load.writes_exact) == (4, None, 0, True)
    assert load.span_bytes == 2**30
    assert (job.block_size, job.iodepth) == (4096, 32)


def test_a_timed_write_is_estimated_and_says_so() -> None:
    small = fio_workload([fio(rw="randwrite", bs="4k", size="1g", runtime="4", time_based="1")], RATE)
    large = fio_workload([fio(rw="write", bs="1m", size="1g", runtime="4", time_based="1")], RATE)
    assert small.bytes_written == 4 * 1000 * 4096
    assert large.bytes_written == 400_000_000
    assert not small.writes_exact and not large.writes_exact


def test_an_amount_ends_a_test_exactly() -> None:
    load = fio_workload([fio(rw="write", bs="1m", size="128m", numjobs="2", loops="3", runtime="60")], RATE)
    assert load.amount_bytes == load.bytes_written == 128 * 2**20 * 6
    assert load.writes_exact


def test_without_a_runtime_the_amount_tells_the_time() -> None:
    assert fio_workload([fio(rw="write", bs="1m", size="100000000")], RATE).runtime_s == pytest.approx(1.0)


def test_a_mix_writes_its_share() -> None:
    jobs = [fio(rw="randrw", bs="4k", size="1m", rwmixwrite="5", io_size="1g")]
    assert fio_workload(jobs, RATE).bytes_written == round(0.05 * 2**30)
    assert not fio_workload(jobs, RATE).writes_exact


def test_a_rate_limits_the_estimate() -> None:
    load = fio_workload(
        [fio(rw="randwrite", bs="128k", size="1g", rate_iops="100", runtime="10", time_based="1")], RATE
    )
    assert load.bytes_written == 100 * 131072 * 10


def test_a_rate_holds_for_writes_by_themselves_whatever_the_mix() -> None:
    options = {"rw": "randrw", "bs": "128k", "size": "1g", "runtime": "10", "time_based": "1", "rwmixwrite": "5"}
    assert fio_workload([fio(**options, rate_iops="100")], RATE).bytes_written == 100 * 131072 * 10
    assert fio_workload([fio(**options, rate_iops="700,300")], RATE).bytes_written == 300 * 131072 * 10
    assert fio_workload([fio(**options, rate_iops=",300")], RATE).bytes_written == 300 * 131072 * 10
    assert fio_workload([fio(**options, rate="1048576,")], RATE).bytes_written == round(100e6 * 10)
    assert fio_workload([fio(**options)], RATE).bytes_written == round(0.05 * 100e6 * 10)


def test_a_mixture_of_sizes_counts_with_its_mean() -> None:
    assert fio(rw="randread", bssplit="4k/75:16k/25", size="1m").block_size == 7168
    assert fio(rw="randread", bsrange="4k-12k", size="1m").block_size == 8192


def test_jobs_run_side_by_side() -> None:
    jobs = [
        fio(rw="randread", bs="4k", size="1g", offset="1g", runtime="5", ramp_time="2", time_based="1"),
        fio(rw="randwrite", bs="4k", size="1g", runtime="9", time_based="1", rate="1m"),
    ]
    load = fio_workload(jobs, RATE)
    assert (load.ramp_s, load.runtime_s, load.span_bytes) == (2, 9, 2**31)
    assert load.bytes_written == 9 * 2**20


def test_what_an_amount_ends_likely_lasts_less_than_its_limit() -> None:
    """A test of 128 MiB with a limit of five minutes had samples of half a second, of which an SSD gave one or two."""
    ended = fio_workload([fio(rw="randread", bs="4k", size="128m", runtime="300")], RATE)
    assert ended.runtime_s == 300
    assert ended.likely_s == pytest.approx((128 << 20) / min(RATE.bandwidth, 4096 * RATE.iops))
    beside = fio_workload(
        [
            fio(rw="randread", bs="4k", size="128m", runtime="300"),
            fio(rw="randread", bs="4k", size="1m", runtime="40", time_based="1", ramp_time="3"),
        ],
        RATE,
    )
    assert (beside.runtime_s, beside.likely_s) == (300, 43)
    slow = fio_workload([fio(rw="randread", bs="4k", size="1g", runtime="10")], RATE)
    assert slow.likely_s == slow.runtime_s == 10


def test_one_small_io_after_the_other_takes_the_latency_of_the_device() -> None:
    rate = ClassSpeed(bandwidth=1e9, iops=100_000, latency_s=1e-3)
    options = {"bs": "4k", "size": "4096000", "direct": "1"}

    def likely(**more: str) -> float:
        return fio_workload([fio(**options, **more)], rate).likely_s

    assert likely(rw="randread") == pytest.approx(1.0)
    assert likely(rw="randread", ioengine="libaio", iodepth="8") == pytest.approx(0.125)
    assert likely(rw="randread", ioengine="libaio", iodepth="512") == pytest.approx(0.01)
    assert likely(rw="write", fdatasync="1") == pytest.approx(1.0)
    assert likely(rw="read") == pytest.approx(0.01)


def test_devices_are_rated_by_their_kind() -> None:
    def device(**more: object) -> Device:
        return Device("x", "/dev/x", DeviceKind.DISK, 8, 0, 10, **more)  # type: ignore[arg-type]

    hard_disk, nvme, other = device(rotational=True), device(transport=Transport.NVME), device()
    assert assumed_rate(hard_disk).iops < assumed_rate(other).iops < assumed_rate(nvme).iops
    assert assumed_rate(None) == assumed_rate(other)
    for unseen in (Transport.VIRTIO, Transport.XEN, Transport.LOOP, Transport.NBD, Transport.ISCSI):
        assert assumed_rate(device(rotational=True, transport=unseen)) == assumed_rate(other)


def test_ioping_on_a_directory_fills_a_file_of_its_working_set() -> None:
    rapid = ioping_workload(ioping_job((("rapid", "1"), ("direct", "1"))), on_directory=True)
    assert (rapid.bytes_written, rapid.span_bytes, rapid.runtime_s) == (64 << 20, 64 << 20, 3)
    single = ioping_workload(ioping_job((("count", "10"), ("interval", "1"))), on_directory=False)
    assert (single.bytes_written, single.runtime_s) == (0, 10)
    linear = ioping_job((("rapid", "1"), ("linear", "1"), ("work-time", "2")))
    assert (linear.block_size, ioping_workload(linear, on_directory=True).runtime_s) == (256 << 10, 2)


@pytest.mark.parametrize(
    ("test_s", "run_s", "expected"),
    [(5, 5, 250), (19.9, 600, 250), (20, 20, 500), (600, 600, 500), (5, 601, 1000), (86_400, 86_400, 1000)],
)
def test_the_longer_a_test_the_longer_its_samples(test_s: float, run_s: float, expected: int) -> None:
    assert interval_ms(test_s, run_s) == expected


@pytest.mark.parametrize(
    ("options", "rw"),
    [
        ({"rw": "randrw", "rwmixread": "100"}, "randread"),
        ({"rw": "rw", "rwmixwrite": "0"}, "read"),
        ({"rw": "randrw", "rwmixwrite": "50", "rwmixread": "100"}, "randread"),
        ({"rw": "randrw", "rwmixread": "100", "rwmixwrite": "50"}, "randrw"),
        ({"rw": "randrw", "rwmixread": "99"}, "randrw"),
        ({"rw": "randrw", "rwmixread": "0"}, "randrw"),
        ({"rw": "randrw"}, "randrw"),
        ({"rw": "randwrite", "rwmixread": "100"}, "randwrite"),
    ],
)
def test_a_mix_of_reads_alone_is_told_to_fio_as_reads(options: dict[str, str], rw: str) -> None:
    job = without_false_mix(fio(**options, size="1m", bs="4k"))
    assert dict(job.options) == {**options, "rw": rw, "size": "1m", "bs": "4k"}
    assert (fio_workload([job], RATE).bytes_written > 0) is ("read" not in rw)


@pytest.mark.parametrize(
    ("options", "likely_s"),
    [
        ({"rw": "randrw", "rate_iops": "75,25"}, 10),
        ({"rw": "randrw", "rate_iops": "50"}, 10),
        ({"rw": "randread", "rate_iops": "50,500"}, 20),
        ({"rw": "randwrite", "rate_iops": "500,50"}, 20),
        ({"rw": "rw", "rate": "40960,40960"}, 50),
        ({"rw": "randread", "thinktime": "20000"}, 20),
        ({"rw": "randread", "thinktime": "20000", "thinktime_blocks": "4"}, 5),
        ({"rw": "randread", "thinktime": "100"}, 1),
        ({"rw": "randread"}, 1),
    ],
)
def test_the_pace_that_a_test_keeps_tells_how_long_an_amount_takes(options: dict[str, str], likely_s: float) -> None:
    """A thousand blocks of 4 KiB, of which the disk would do a thousand a second."""
    load = fio_workload([fio(**options, bs="4k", size=str(1000 * 4096))], RATE)
    assert (load.runtime_s, load.likely_s) == (pytest.approx(likely_s), pytest.approx(likely_s))


def test_a_job_that_begins_later_makes_the_test_longer() -> None:
    timed = {"rw": "randread", "bs": "4k", "size": "1g", "time_based": "1"}
    now = fio(**timed, runtime="10", ramp_time="2")
    assert fio_workload([now], RATE).delay_s == 0
    assert fio_workload([now, fio(**timed, runtime="10", ramp_time="2", startdelay="6")], RATE).delay_s == 6
    assert fio_workload([now, fio(**timed, runtime="3", startdelay="500ms")], RATE).delay_s == 0
    assert fio_workload([now, fio(**timed, runtime="3", startdelay="11")], RATE).delay_s == 2
