"""Where an interval begins in a picture."""


def begin_of(start: float, end: float, before: float) -> float:
    """At the end of the interval before unless that is far from `start`, for two clocks leave slits between them."""
    return min(before, end) if abs(start - before) < (end - start) / 2 else start
