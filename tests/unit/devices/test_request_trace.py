"""The kernel's trace of requests, as fio's were recorded with it, and requests made by hand."""

import struct
from pathlib import Path

import pytest
from handmade import DISK

from diskprof.devices.requests import trace
from diskprof.devices.requests.pages import PageReader, RequestEvent, complete_format, issue_format
from diskprof.devices.requests.sums import Names, RequestSums
from diskprof.devices.scan.files import Roots
from diskprof.model.device import Device
from diskprof.model.errors import DiskprofError
from diskprof.model.requests import RequestInterval, SizeRequests

RECORDED = Path(__file__).parents[2] / "data" / "traces"
PAGE = 4096
MIB = 1 << 20
MS = 10**6
NOBODY = Names(Path("/nowhere"))


def formats() -> tuple[str, str]:
    issue, complete = ((RECORDED / f"block_rq_{name}.format").read_text() for name in ("issue", "complete"))
    return issue, complete


def reader() -> PageReader:
    issue, complete = formats()
    return PageReader(issue_format(issue), complete_format(complete))


def pages() -> list[bytes]:
    data = (RECORDED / "fio-mix.pages").read_bytes()
    return [data[at : at + PAGE] for at in range(0, len(data), PAGE)]


def events() -> list[RequestEvent]:
    found: list[RequestEvent] = []
    for page in pages():
        assert not reader().read(page, found)
    return sorted(found)


def taken(sums: RequestSums, until_ns: int) -> RequestInterval:
    found = sums.take(until_ns, 0, NOBODY)
    assert found
    return found


def test_what_fio_did_is_found_in_the_kernels_pages() -> None:
    """fio said: 68 reads of 524288 bytes and 32 writes of 262144, then 20 writes of 8k in order, each with its fdatasync."""
    found = events()
    sums = RequestSums(16 * MIB, 0, found[0][0])
    sums.add(found)
    seen = taken(sums, found[-1][0] + 1).requests
    assert (seen.read.ios, seen.read.bytes) == (68, 524288)
    assert (seen.write.ios, seen.write.bytes) == (52, 262144 + 20 * 8192)
    assert next(each for each in seen.write.sizes if each.size == 8192) == SizeRequests(8192, 20, 19)
    assert seen.flushes >= 20 and seen.depth_within(0.999) == 4
    assert [(each.name, each.reads, each.writes) for each in seen.processes] == [("fio", 68, 32), ("fio", 0, 20)]
    assert sum(ns for _, ns in seen.depths) == seen.duration_ns


def test_latencies_are_from_issue_to_completion() -> None:
    found = events()
    sums = RequestSums(16 * MIB, 0, found[0][0])
    sums.add(found)
    read = taken(sums, found[-1][0] + 1).read
    assert read.histogram.total == 68 and read.total_ns == 95584228
    assert read.min_ns and read.max_ns and read.min_ns <= (read.histogram.quantile(0.5) or 0) <= read.max_ns


def test_pages_that_are_cut_or_changed_are_refused_or_read_never_more() -> None:
    page = pages()[0]
    for length in (0, 8, 15, 16, 40, 100, 2000):
        with pytest.raises(DiskprofError, match="cannot be read"):
            reader().read(page[:length], [])
    for at in range(16, 400):
        found: list[RequestEvent] = []
        changed = page[:at] + bytes([page[at] ^ 0xFF]) + page[at + 1 :]
        try:
            reader().read(changed, found)
        except DiskprofError as error:
            assert "cannot be read" in error.message
        assert len(found) <= PAGE // 4


def test_a_page_before_which_events_were_lost_is_read_as_any_other() -> None:
    page = pages()[0]
    (commit,) = struct.unpack_from("=Q", page, 8)
    whole: list[RequestEvent] = []
    found: list[RequestEvent] = []
    reader().read(page, whole)
    reader().read(page[:8] + struct.pack("=Q", commit | 1 << 31) + page[16:], found)
    assert found == whole != []


def test_times_are_extended_padding_is_passed_over_and_other_events_too() -> None:
    issue, _ = formats()
    number = int(next(line for line in issue.splitlines() if line.startswith("ID:")).split()[1])
    body = struct.pack("=HBBiI4xQII2x10s16sI", number, 0, 0, 77, 0, 4096, 8, 0, b"R", b"cat", 0)
    body += b"\0" * (-len(body) % 4)
    event = struct.pack("=I", len(body) // 4 | 5 << 5) + body
    long = struct.pack("=II", 0 | 1 << 5, len(body) + 4) + body
    other = struct.pack("=I", 2 | 1 << 5) + struct.pack("=HHI", number + 1, 0, 0)
    stream = [
        event,
        struct.pack("=II", 30 | 7 << 5, 2),
        long,
        other,
        struct.pack("=II", 29 | 3 << 5, 8) + b"\0" * 4,
        struct.pack("=II", 31 | 9 << 5, 100),
        event,
        struct.pack("=I", 29),
        b"\xff" * 16,
    ]
    data = b"".join(stream)
    found: list[RequestEvent] = []
    reader().read(struct.pack("=QQ", 1000, len(data)) + data, found)
    assert [at for at, _, _ in found] == [1005, 1005 + 7 + (2 << 27) + 1, (100 << 27) + 9 + 5]
    assert all(fields[:3] == (77, 4096, 8) and fields[4].rstrip(b"\0") == b"cat" for _, _, fields in found)


def test_a_kernel_with_other_fields_is_refused() -> None:
    issue, complete = formats()
    for text in (
        "",
        issue.replace("sector_t sector", "sector_t start"),
        issue.replace("offset:16;\tsize:8", "offset:16;\tsize:4"),
    ):
        with pytest.raises(DiskprofError, match="not known"):
            issue_format(text)
    with pytest.raises(DiskprofError, match="not known"):
        complete_format(complete.replace("ID:", "id:"))


def issued(at: int, sector: int, sectors: int = 8, kind: bytes = b"R", thread: int = 5) -> RequestEvent:
    return (at, False, (thread, sector, sectors, kind.ljust(8, b"\0"), b"cat".ljust(16, b"\0")))


def done(at: int, sector: int, sectors: int = 8) -> RequestEvent:
    return (at, True, (sector, sectors))


def test_order_is_that_of_each_of_many_streams() -> None:
    sums = RequestSums(MIB, 0, 0)
    # Two streams and a stray one, side by side.
    turns = [
        (0, b"R"),
        (1000, b"R"),
        (8, b"R"),
        (1008, b"R"),
        (500, b"R"),
        (16, b"R"),
        (1016, b"R"),
        (16, b"W"),
        (24, b"W"),
    ]
    at = 0
    for sector, kind in turns:
        sums.add([issued(at + 1, sector, 8, kind), done(at + 2, sector)])
        at += 10
    seen = taken(sums, 100).requests
    assert (seen.read.ios, seen.read.in_order, seen.write.in_order) == (7, 4, 1)


def test_requests_in_flight_are_weighed_by_their_time_and_live_on_in_the_next_interval() -> None:
    sums = RequestSums(MIB, 0, 0)
    sums.add([issued(10, 0), issued(20, 80), done(30, 0)])
    first, second = taken(sums, 40), None
    assert first.requests.depths == ((0, 10), (1, 20), (2, 10)) and first.requests.depth == 1.0
    sums.add([done(60, 80)])
    second = taken(sums, 80)
    assert second.requests.depths == ((0, 20), (1, 20)) and second.read.total_ns == 40
    whole = first.plus(second)
    assert whole.requests.duration_ns == 80 and whole.read.max_ns == 40 and whole.requests.read.ios == 2
    assert sums.take(80, 0, NOBODY) is None


def test_flushes_discards_and_what_nobody_saw_begin_are_no_reads_or_writes() -> None:
    sums = RequestSums(MIB, 0, 0)
    sums.add(
        [issued(1, 0, 0, b"FF"), issued(2, 0, 8, b"D"), done(3, 0), issued(4, 8, 8, b"WFS"), done(5, 8), done(6, 800)]
    )
    sums.add([done(7, (1 << 64) - 1, 0)])
    seen = taken(sums, 10).requests
    assert (seen.flushes, seen.read.ios, seen.write.ios, seen.write.durable) == (1, 0, 1, 1)


def test_what_stands_behind_the_letters_of_a_kind_means_nothing() -> None:
    sums = RequestSums(MIB, 0, 0)
    for number in range(1000):
        sums.add([issued(2 * number, 8, 8, b"R\0" + number.to_bytes(6, "little")), done(2 * number + 1, 8)])
    assert taken(sums, 3000).requests.read.ios == 1000


def test_after_lost_events_nothing_is_in_flight() -> None:
    sums = RequestSums(MIB, 0, 0)
    sums.add([issued(1, 0), issued(2, 80)])
    sums.forget()
    found = sums.take(10, 7, NOBODY)
    assert found and found.requests.lost == 7 and found.requests.depths == ((0, 9), (1, 1))


def test_what_is_touched_is_counted_in_pieces_and_of_a_partition_from_its_first_sector() -> None:
    first = 2048 * 10
    sums = RequestSums(4 * MIB, first, 0)
    sums.add([issued(1, first), issued(2, first + 2047, 2), issued(3, first + 8), issued(4, first + 2048 * 9)])
    seen = taken(sums, 10).requests
    assert (seen.touched_bytes, seen.piece_bytes) == (2 * MIB, MIB)
    long = RequestSums(16 * MIB, 0, 0)
    long.add([issued(1, 2047, 4 * 2048)])
    assert taken(long, 10).requests.touched_bytes == 5 * MIB, "those between its first and its last, too"
    huge = taken(RequestSums(1 << 50, 0, 0), 10).requests
    assert huge.piece_bytes > MIB


def test_a_thread_is_told_by_its_process(tmp_path: Path) -> None:
    (tmp_path / "12").mkdir()
    (tmp_path / "10").mkdir()
    (tmp_path / "12" / "status").write_text("Name:\tworker\nTgid:\t10\n")
    (tmp_path / "10" / "comm").write_text("mysqld\n")
    names = Names(tmp_path)
    assert names.of(12, b"worker\0") == (10, "mysqld")
    assert names.of(13, b"gone\0\0") == (13, "gone")
    (tmp_path / "12" / "status").write_text("Name:\tcat\nTgid:\t12\n")
    (tmp_path / "12" / "comm").write_text("cat\n")
    assert names.of(12, b"cat\0") == (12, "cat"), "its id was given to another"


def test_the_first_interval_begins_with_the_trace_and_not_before_its_buffers_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Instance:
        began_ns = 1_000

        def __init__(self, device: Device, roots: Roots) -> None:
            pass

        def read(self) -> list[RequestEvent]:
            return []

        def lost(self) -> int:
            return 0

    monkeypatch.setattr(trace, "TraceInstance", Instance)
    monkeypatch.setattr(trace.time, "monotonic_ns", lambda: 5_000)
    found = trace.RequestTrace(DISK).interval()
    assert found and found.requests.duration_ns == 4_000
