"""The lines and the summary of a watched device."""

import json
from datetime import UTC, datetime

from msgspec.structs import replace

from diskprof.analysis.kernel import KernelView
from diskprof.analysis.watched import WatchedTotal
from diskprof.model.histogram import Histogram
from diskprof.model.process_io import ProcessIo
from diskprof.model.requests import (
    DirectionRequests,
    Latencies,
    RequestInterval,
    RequestProcess,
    Requests,
    SizeRequests,
)
from diskprof.reports.content.request_table import request_report
from diskprof.reports.content.watch_report import traced_names, watch_head, watch_line, watch_names, watch_report
from diskprof.reports.data.json_watch import interval_json, total_json
from diskprof.reports.render.lines import text

AT = datetime(2026, 11, 25, 13, 0, 1, tzinfo=UTC)
VIEW = KernelView(
    1.0, 12345.0, 0.0, 50e6, 0.0, 0.0, 0.0, 256e3, None, 4096.0, None, queue_depth=3.16, utilisation=0.997
)
PROCESSES = (
    ProcessIo(0, 4242, 1, "mysqld", 40_000_000, 0, 0, 10**9),
    ProcessIo(0, 7, 1, "log\x1b[31m", 0, 300_000, 0, 10**9),
)


def test_a_line_has_what_its_width_has_room_for() -> None:
    names = watch_names(80)
    head, line = watch_head(names), watch_line(AT, VIEW, PROCESSES, names, 80)
    assert head.split()[1:8] == list(names)
    assert len(line) <= 80 and line.startswith("13:00:01  12.3k      0   50.0  256 us       -   3.16  100%")
    wide = watch_line(AT, VIEW, PROCESSES, watch_names(None), None)
    assert "mysqld (4242) 40.0 MB/s" in wide and "(7) 300 kB/s" in wide and "\x1b" not in wide
    assert " 4 KiB " in wide and "%rrqm" in watch_head(watch_names(120))


def test_what_was_not_counted_is_a_dash_and_an_idle_disk_has_zeros() -> None:
    names = watch_names(80)
    assert watch_line(AT, None, (), names, 80).split()[1:] == ["-"] * len(names)
    idle = KernelView(1.0, 0.0, 0.0, 0.0, 0.0, queue_depth=0.0, utilisation=0.0)
    assert watch_line(AT, idle, (), names, 80).split()[1:] == ["0", "0", "0", "-", "-", "0.00", "0%"]


def test_the_summary_names_who_used_it_and_what_could_not_be_seen() -> None:
    shown = text(watch_report("sda", WatchedTotal(VIEW, VIEW, PROCESSES), hidden=3), 100)
    assert "sda, watched for 1 s" in shown and "highest" in shown
    assert "mysqld" in shown and "99.26%" in shown and "without root" in shown
    narrow = text(watch_report("sda", WatchedTotal(VIEW, VIEW, ()), hidden=0), 79)
    assert max(map(len, narrow.splitlines())) <= 79 and "MB/s" in narrow and "rareq-sz" not in narrow
    assert "No process was seen" in narrow and "without root" not in narrow
    assert "nothing was counted" in text(watch_report("sda", WatchedTotal(None, None, ()), 0), 80)


def test_discards_and_flushes_are_told_where_they_are_counted() -> None:
    both = replace(VIEW, discards_per_s=0.0, discard_bytes_per_s=0.0, flushes_per_s=120.0, flush_wait_ns=1.5e6)
    names = watch_names(None, both)
    assert names[-5:] == ("d/s", "dMB/s", "d_await", "f/s", "f_await")
    assert "0      0       -    120 1.50 ms" in watch_line(AT, both, (), names, None)
    assert watch_names(None, VIEW) == watch_names(120, both)
    assert watch_names(None, replace(VIEW, discards_per_s=0.0))[-1] == "d_await"
    shown = text(watch_report("sda", WatchedTotal(both, both, ()), hidden=0), 79)
    assert "f_await" in shown and "1.50 ms" in shown and max(map(len, shown.splitlines())) <= 79
    assert "f_await" not in text(watch_report("sda", WatchedTotal(VIEW, VIEW, ()), hidden=0), 79)


def traced() -> RequestInterval:
    """Two requests of 8 KiB, one of each direction, of which one was issued before; 32 more of fio are in flight."""
    read = Latencies(Histogram.of_latencies([1_009_000]), 1_009_000, 1_009_000, 1_009_000)
    sizes = (SizeRequests(8192, 1),)
    processes = (RequestProcess(7, "fio", 30, 0, 30 * 8192, 0), RequestProcess(8, "log\x1b[31m", 0, 10, 0, 81920))
    requests = Requests(
        10**9, DirectionRequests(sizes), DirectionRequests(sizes), ((32, 10**9),), 150, processes=processes
    )
    return RequestInterval(requests, read, read)


def test_shares_of_processes_are_of_what_they_issued_and_not_of_what_ended() -> None:
    line = watch_line(AT, VIEW, (), traced_names(), None, traced())
    assert "fio (7) 75.0%" in line and "(8) 25.0%" in line and "\x1b" not in line


def test_no_percentile_of_traced_requests_is_above_their_longest() -> None:
    interval = traced()
    assert (interval.read.histogram.quantile(0.99) or 0) > 1_009_000, "the middle of a bucket"
    told = json.loads(interval_json(AT, "sda", VIEW, (), interval))["requests"]["read"]["latency_ns"]
    assert told == dict.fromkeys(("mean", "min", "max", "p50", "p90", "p95", "p99", "p99_9"), 1_009_000)


def test_flushes_are_counted_and_told_without_writes_too() -> None:
    requests = traced().requests
    shown = text(request_report(requests), 100)
    assert "0% with FUA, 150 flushes" in shown
    alone = text(request_report(replace(requests, write=DirectionRequests(), flushes=1)), 100)
    assert "1 flush\n" in alone and "FUA" not in alone
    assert "Sync writes" not in text(request_report(replace(requests, write=DirectionRequests(), flushes=0)), 100)


def test_json_lines() -> None:
    line = json.loads(interval_json(AT, "sda", VIEW, PROCESSES))
    assert line["type"] == "interval" and line["time"] == "2026-11-25T13:00:01.000000Z"
    assert line["kernel"]["reads_per_s"] == 12345 and line["kernel"]["wait_ns"] == 256e3
    assert line["processes"][0] == {
        "pid": 4242,
        "name": "mysqld",
        "read_bytes": 40_000_000,
        "write_bytes": 0,
        "seconds": 1.0,
    }
    last = json.loads(total_json(AT, "sda", WatchedTotal(None, None, ()), 0, gone=True))
    assert (last["type"], last["mean"], last["gone"]) == ("summary", None, True)
