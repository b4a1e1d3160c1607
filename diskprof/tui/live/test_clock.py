"""When the intervals of a test were, in seconds since it began."""

from __future__ import annotations

from diskprof.model.sample import Sample

_GAP_NS = 1_000_000_000
"""What is apart by more is of two rounds: within one an interval begins where that before it ended."""


class TestClock:
    """Of a test that is repeated in `rounds` the time between them is left out, in which the other tests ran."""

    __test__ = False

    def __init__(self, *, rounds: bool) -> None:
        self._rounds = rounds
        self._began_ns: int | None = None
        self._heard_ns = self._left_out_ns = 0

    def span(self, sample: Sample) -> tuple[float, float]:
        """Begin and end of an interval; they come in the order of time."""
        began = sample.at_ns - sample.duration_ns
        if self._began_ns is None:
            self._began_ns = began
        elif self._rounds and (gap := began - self._heard_ns) > _GAP_NS:
            self._left_out_ns += gap
        self._heard_ns = max(self._heard_ns, sample.at_ns)
        end = (sample.at_ns - self._began_ns - self._left_out_ns) / 1e9
        return max(0.0, end - sample.duration_ns / 1e9), end
