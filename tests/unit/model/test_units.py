"""Sizes, durations and figures as people and fio write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.model.errors import UnitError
from diskprof.model.units import (
    each_way,
    format_bandwidth,
    format_bandwidths,
    format_clock,
    format_duration,
    format_fio_size,
    format_iops,
    format_latency,
    format_mib,
    format_size,
    parse_duration,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k", 4096),
        ("1024K", 2**20),
        ("1g", 2**30),
        ("1.5g", 3 * 2**29),
        ("256MiB", 2**28),
        ("4096", 4096),
        (512, 512),
        ("2t", 2**41),
    ],
)
def test_sizes_are_powers_of_1024_as_fio_reads_them(text: str | int, expected: int) -> None:
    assert parse_size(text) == expected


@pytest.mark.parametrize(
    ("value", "both"),
    [
        ("500", ("500", "500")),
        ("700,300", ("700", "300")),
        ("1m, 512k", ("1m", "512k")),
        ("700,", ("700", "")),
        (",300", ("", "300")),
        ("8k,16k,", ("8k", "16k")),
        ("", ("", "")),
    ],
)
def test_a_value_for_reads_and_one_for_writes(value: str, both: tuple[str, str]) -> None:
    assert each_way(value) == both


@pytest.mark.parametrize(
    "text", ["", "k", "4kB", "1GB", "-1", "1e9", "4 kk", "9e", "99999999p", "1g;rm", "5\u212a", "9" * 5000]
)
def test_what_is_no_size_or_ambiguous_is_refused_with_advice(text: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_size(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [("30", 30.0), ("30s", 30.0), ("250ms", 0.25), ("2m", 120.0), ("24h", 86400.0), (5, 5.0), ("1d", 86400.0)],
)
def test_durations(text: str | int, expected: float) -> None:
    assert parse_duration(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "s", "-3s", "400d", "five", "1y", "5ſ", "5mſ", "9" * 5000])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse_duration(text)


@given(st.integers(min_value=0, max_value=2**62))
def test_fio_sizes_are_read_back_exactly(value: int) -> None:
    assert parse_size(format_fio_size(value)) == value


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (format_size(2**30), "1 GiB"),
        (format_size(1.5 * 2**30), "1.50 GiB"),
        (format_size(0), "0 B"),
        (format_size(1023), "1023 B"),
        (format_size(3 * 2**50), "3 PiB"),
        (format_bandwidth(61.0e6), "61.0 MB/s"),
        (format_bandwidth(999.96e6), "1.00 GB/s"),
        (format_bandwidth(0), "0 B/s"),
        (format_mib(2**20 * 165.2), "165 MiB/s"),
        (format_iops(0), "0"),
        (format_iops(1), "1"),
        (format_iops(1.25), "1.2"),
        (format_iops(999.7), "1.00k"),
        (format_iops(12345), "12.3k"),
        (format_iops(1.25e6), "1.25M"),
        (format_latency(850), "850 ns"),
        (format_latency(476_000), "476 us"),
        (format_latency(999_960), "1.00 ms"),
        (format_latency(2.5e9), "2.50 s"),
        (format_duration(0.04), "40 ms"),
        (format_duration(0), "0 s"),
        (format_duration(0.5), "0.5 s"),
        (format_duration(32), "32 s"),
        (format_duration(125), "2 min 05 s"),
        (format_duration(86400), "1 d"),
        (format_duration(12000), "3 h 20 min"),
        (format_clock(7), "0:07"),
        (format_clock(3723), "1:02:03"),
    ],
)
def test_figures_for_people(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((6.66e9, 4.85e9), "6.66/4.85 GB/s"),
        ((4.85e9, 170e6), "4.85/0.17 GB/s"),
        ((98e6, 120e6, 4e6), "98.0/120/4.00 MB/s"),
        ((999.6e6,), "1.00 GB/s"),
        ((12, 0), "12.0/0.00 B/s"),
    ],
)
def test_bandwidths_beside_each_other_have_one_unit(values: tuple[float, ...], words: str) -> None:
    assert format_bandwidths(values) == words
