"""fio's latency histogram: 64 buckets to each power of two, exact to subtract and to merge.

Bucket numbers and their representative values follow `plat_val_to_idx` and `plat_idx_to_val` of fio's stat.c
(FIO_IO_U_PLAT_BITS = 6), so every value shown is one that fio would print.
"""

import binascii
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import itemgetter

from diskprof.model.errors import EngineError

_BITS = 6
PER_GROUP = 1 << _BITS
GROUPS = 29
_BUCKETS = GROUPS * PER_GROUP
_COUNT = itemgetter(1)

# Packing. From here on a difference is written with its length; the scale that differences have at first.
_LONG = 20
_FIRST_SCALE = 32
_CHECK_BYTES = 2
_KEPT_UNPACKED = 256


def bucket_of(ns: int) -> int:
    """The number of the bucket that holds a latency of `ns`."""
    msb = ns.bit_length() - 1
    if msb <= _BITS:
        return max(ns, 0)
    error_bits = msb - _BITS
    index = ((error_bits + 1) << _BITS) + ((PER_GROUP - 1) & (ns >> error_bits))
    return min(index, _BUCKETS - 1)


def bucket_value(index: int) -> int:
    """The latency in ns that stands for a bucket: its middle, as fio prints it."""
    if index < PER_GROUP << 1:
        return index
    error_bits = (index >> _BITS) - 1
    return (1 << (error_bits + _BITS)) + int((index % PER_GROUP + 0.5) * (1 << error_bits))


def bucket_edges(index: int) -> tuple[int, int]:
    """The first latency in ns of a bucket and the first of the next."""
    if index < PER_GROUP << 1:
        return index, index + 1
    error_bits = (index >> _BITS) - 1
    low = (1 << (error_bits + _BITS)) + ((index % PER_GROUP) << error_bits)
    return low, low + (1 << error_bits)


Counts = tuple[tuple[int, int], ...]
"""(bucket, count) in the order of the buckets, no count zero."""


class Histogram:
    """Counts of completed I/Os per latency bucket; `counts` is sorted by bucket and holds no zero. Never changed."""

    def __init__(self, counts: Counts = ()) -> None:
        self._counts = counts

    @property
    def counts(self) -> Counts:
        return self._counts

    def __repr__(self) -> str:
        return f"Histogram({self.counts})"

    @staticmethod
    def of(counts: Mapping[int, int]) -> "Histogram":
        """A histogram of bucket number -> count."""
        pairs = counts.items() if all(counts.values()) else [(index, count) for index, count in counts.items() if count]
        return Histogram(tuple(sorted(pairs)))

    @staticmethod
    def of_latencies(latencies_ns: Iterable[int]) -> "Histogram":
        """A histogram of single latencies in ns."""
        counts: dict[int, int] = {}
        for ns in latencies_ns:
            index = bucket_of(ns)
            counts[index] = counts.get(index, 0) + 1
        return Histogram.of(counts)

    @property
    def is_packed(self) -> bool:
        """Whether its counts have to be unpacked each time they are looked at."""
        return False

    def unpacked(self) -> "Histogram":
        """The same with its counts in it: for one that is looked at now and never again, which is not worth to be kept."""
        return self

    @cached_property
    def total(self) -> int:
        return sum(map(_COUNT, self.counts))

    def __eq__(self, other: object) -> bool:
        return self.counts == other.counts if isinstance(other, Histogram) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.counts)

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __add__(self, other: "Histogram") -> "Histogram":
        return merge((self, other))

    def __sub__(self, other: "Histogram") -> "Histogram":
        """What came after `other`. Raises EngineError if `other` holds something that this lacks (F3: it never does)."""
        counts = dict(self.counts)
        for index, count in other.counts:
            counts[index] = counts.get(index, 0) - count
            if counts[index] < 0:
                raise EngineError("A later histogram holds less than an earlier one of the same epoch.")
        return Histogram.of(counts)

    def quantile(self, q: float) -> int | None:
        """The latency in ns below or at which a share `q` of the I/Os completed, as fio's calc_clat_percentiles finds it."""
        return self.quantiles((q,))[0]

    def quantiles(self, shares: Iterable[float]) -> tuple[int | None, ...]:
        """As `quantile`, of several at once."""
        counts = self.counts
        sums = list(accumulate(map(_COUNT, counts)))
        places = [bisect_left(sums, q * sums[-1] if sums else 0) for q in shares]
        return tuple(bucket_value(counts[at][0]) if at < len(counts) else None for at in places)

    def share_below(self, ns: int) -> float | None:
        """The share of I/Os that completed within `ns`; inside a bucket they are taken as spread evenly."""
        counts = self.counts
        if not counts:
            return None
        edge = bucket_of(ns)
        at = bisect_left(counts, (edge, 0))
        below = float(sum(map(_COUNT, counts[:at])))
        if at < len(counts) and counts[at][0] == edge:
            low, high = bucket_edges(edge)
            # The last bucket also has what is beyond it.
            below += counts[at][1] if high <= ns else counts[at][1] * (ns - low) / (high - low) if low < ns else 0
        return below / self.total

    @property
    def minimum(self) -> int | None:
        return bucket_value(self.counts[0][0]) if self.counts else None

    @property
    def maximum(self) -> int | None:
        return bucket_value(self.counts[-1][0]) if self.counts else None

    @property
    def mean(self) -> float | None:
        """The mean in ns, to the width of a bucket (1.6%)."""
        if not self.counts:
            return None
        return sum(bucket_value(index) * count for index, count in self.counts) / self.total

    def pack(self) -> bytes:
        """About a byte for each bucket: a checksum, then the buckets in an adaptive Rice code.

        Neighbours hold similar counts, so what is written is the difference of a count from the mean of the two before it.
        That is noise, on which zlib takes a third more: a day of samples is some 85,000 histograms. How many bits of it
        are written as they are depends on the scale of its neighbours.
        """
        bits, last, before, earlier, scale = 1, -1, 0, 0, _FIRST_SCALE
        for index, count in self.counts:
            gap, last = index - last - 1, index
            if gap:
                length = gap.bit_length()
                bits = (bits << 2 * length) | ((1 << length) - 1) << length | gap & ((1 << length - 1) - 1)
            else:
                bits <<= 1
            change = count - (before + earlier + 1 >> 1)
            earlier, before = before, count
            value = change << 1 if change >= 0 else (-change << 1) - 1
            low = (scale >> 2).bit_length() - 1 if scale > 3 else 0
            high = value >> low
            if high < _LONG:
                bits = (bits << high + 1 + low) | ((1 << high) - 1) << low + 1 | value & ((1 << low) - 1)
            else:
                length = value.bit_length()
                bits = (bits << _LONG + 7 + length) | (((1 << _LONG) - 1) << 7 | length) << length | value
            scale += value - (scale >> 2)
        body = bits.to_bytes((bits.bit_length() + 7) // 8, "big")
        return _checksum(body) + body

    @staticmethod
    def unpack(data: bytes) -> "Histogram":
        """The inverse of `pack`. Raises EngineError on anything else."""
        return Histogram(_read(_checked(data)))

    @staticmethod
    def packed(data: bytes) -> "Histogram":
        """As `unpack`, but unpacked when it is looked at and not kept that way: a day of histograms would take 2 GB.

        Raises EngineError for what was damaged. What was never a histogram but has the checksum of one raises it later.
        """
        _checked(data)
        return _Packed(data)


class _Packed(Histogram):
    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def is_packed(self) -> bool:
        return True

    @property
    def counts(self) -> Counts:
        return _unpacked(self._data)

    def unpacked(self) -> Histogram:
        return Histogram.unpack(self.pack())

    def pack(self) -> bytes:
        return self._data


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """All I/Os of several histograms in one."""
    counts: dict[int, int] = {}
    for histogram in histograms:
        for index, count in histogram.counts:
            counts[index] = counts.get(index, 0) + count
    return Histogram.of(counts)


def _checksum(body: bytes) -> bytes:
    return binascii.crc_hqx(body, 0xFFFF).to_bytes(_CHECK_BYTES, "big")


def _checked(data: bytes) -> bytes:
    if len(data) <= _CHECK_BYTES or _checksum(data[_CHECK_BYTES:]) != data[:_CHECK_BYTES]:
        raise EngineError("A stored histogram cannot be read: it is damaged.")
    return data


@lru_cache(_KEPT_UNPACKED)
def _unpacked(data: bytes) -> Counts:
    return _read(data)


def _read(data: bytes) -> Counts:
    # Below the highest bit, which marks the beginning.
    bits = bin(int.from_bytes(data[_CHECK_BYTES:], "big"))[3:]
    try:
        return tuple(_read_counts(bits))
    except ValueError:
        raise EngineError("A stored histogram cannot be read: it is cut off.") from None


def _read_counts(bits: str) -> Iterator[tuple[int, int]]:
    """Raises ValueError where `bits` ends too early, EngineError where it says what no histogram says."""
    at, index, before, earlier, scale = 0, -1, 0, 0, _FIRST_SCALE
    while at < len(bits):
        length = bits.index("0", at) - at
        at += length + 1
        index += 1
        if length:
            index += 1 << length - 1 | int(bits[at : at + length - 1] or "0", 2)
            at += length - 1
        # As in `pack`. A function for it would cost a sixth of all this to call.
        low = (scale >> 2).bit_length() - 1 if scale > 3 else 0
        high = bits.index("0", at) - at
        at += high + 1
        if high == _LONG:
            low, high, at = int(bits[at : at + 6], 2), 0, at + 6
        value = high << low | int(bits[at : at + low] or "0", 2)
        at += low
        change = -(value + 1 >> 1) if value & 1 else value >> 1
        count = change + (before + earlier + 1 >> 1)
        if index >= _BUCKETS or count < 1 or at > len(bits):
            raise EngineError("A stored histogram cannot be read: it is damaged.")
        yield index, count
        earlier, before = before, count
        scale += value - (scale >> 2)
