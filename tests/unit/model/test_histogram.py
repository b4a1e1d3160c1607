"""fio's histogram: its buckets, its percentiles, exact arithmetic."""

import binascii
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded.disk import FAST, make_histogram

from diskprof.model.errors import EngineError
from diskprof.model.histogram import Histogram, bucket_edges, bucket_of, bucket_value, merge

latencies = st.lists(st.integers(min_value=0, max_value=10**10), max_size=200)


@given(st.integers(min_value=0, max_value=2**34 - 1))
def test_a_bucket_holds_its_latency_and_the_value_that_stands_for_it(ns: int) -> None:
    low, high = bucket_edges(bucket_of(ns))
    assert low <= ns < high
    assert low <= bucket_value(bucket_of(ns)) < high
    assert high - low <= max(1, ns / 64)


@pytest.mark.parametrize("value", [23680, 25216, 29312, 36096, 138240, 577536, 2670592])
def test_values_that_fio_prints_are_bucket_values(value: int) -> None:
    assert bucket_value(bucket_of(value)) == value


@given(latencies, latencies)
def test_what_was_merged_subtracts_exactly(first: list[int], second: list[int]) -> None:
    a, b = Histogram.of_latencies(first), Histogram.of_latencies(second)
    assert (a + b) - a == b
    assert merge((a, b)).total == len(first) + len(second)


def test_a_histogram_cannot_lose_what_it_held() -> None:
    with pytest.raises(EngineError):
        Histogram.of_latencies([5]) - Histogram.of_latencies([5, 5])


@given(latencies)
def test_packing_loses_nothing(values: list[int]) -> None:
    histogram = Histogram.of_latencies(values)
    assert Histogram.unpack(histogram.pack()) == histogram


@given(st.dictionaries(st.integers(0, 29 * 64 - 1), st.integers(1, 2**40), max_size=300))
def test_packing_loses_nothing_of_any_counts(counts: dict[int, int]) -> None:
    histogram = Histogram.of(counts)
    packed = histogram.pack()
    later = Histogram.packed(packed)
    assert later == histogram == Histogram.unpack(packed)
    assert (later.counts, later.total, hash(later)) == (histogram.counts, histogram.total, hash(histogram))
    assert later.pack() == packed
    assert later + histogram == histogram + later
    assert bool(later) == bool(counts)


@given(latencies, st.integers(min_value=0), st.integers(1, 255))
def test_a_damaged_histogram_is_an_error_at_once(values: list[int], where: int, change: int) -> None:
    damaged = bytearray(Histogram.of_latencies(values).pack())
    damaged[where % len(damaged)] ^= change
    for read in (Histogram.unpack, Histogram.packed):
        with pytest.raises(EngineError):
            read(bytes(damaged))
        with pytest.raises(EngineError):
            read(bytes(damaged[:-1]))


def test_a_bucket_takes_about_a_byte() -> None:
    histogram = make_histogram(Random(1), 284_000, FAST.speeds["randread-qd32"])
    assert len(histogram.counts) > 200
    assert len(histogram.pack()) < 1.05 * len(histogram.counts)


@given(st.binary(max_size=400))
def test_any_bytes_with_a_checksum_unpack_to_a_histogram_or_an_error(body: bytes) -> None:
    data = binascii.crc_hqx(body, 0xFFFF).to_bytes(2, "big") + body
    try:
        histogram = Histogram.unpack(data)
    except EngineError:
        return
    assert list(histogram.counts) == sorted(dict(histogram.counts).items())
    assert all(count > 0 for _, count in histogram.counts)


@given(st.binary(max_size=400))
def test_any_bytes_unpack_to_a_histogram_or_an_error(data: bytes) -> None:
    try:
        histogram = Histogram.unpack(data)
    except EngineError:
        return
    assert histogram.total >= 0


@given(st.lists(st.integers(min_value=0, max_value=10**10), min_size=1, max_size=200), st.floats(0.01, 1))
def test_a_quantile_lies_in_the_bucket_of_the_exact_one(values: list[int], q: float) -> None:
    import math

    exact = sorted(values)[max(0, math.ceil(q * len(values) - 1e-9) - 1)]
    found = Histogram.of_latencies(values).quantile(q)
    assert found is not None
    assert abs(bucket_of(found) - bucket_of(exact)) <= 1


@given(latencies, st.integers(0, 1 << 40))
def test_the_share_below_a_threshold_is_that_of_each_bucket(values: list[int], ns: int) -> None:
    histogram = Histogram.of_latencies(values)
    below = 0.0
    for index, count in histogram.counts:
        low, high = bucket_edges(index)
        below += count if high <= ns else count * (ns - low) / (high - low) if low < ns else 0
    assert histogram.share_below(ns) == (below / histogram.total if values else None)


def test_the_share_below_a_threshold() -> None:
    histogram = Histogram.of_latencies([100_000] * 3 + [900_000])
    assert histogram.share_below(250_000) == 0.75
    assert Histogram().share_below(1) is None
    assert Histogram().quantile(0.5) is None
    assert json.dumps(histogram.maximum) == str(bucket_value(bucket_of(900_000)))
