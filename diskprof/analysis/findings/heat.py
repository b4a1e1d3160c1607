"""When the disk grew too hot to keep its speed."""

from diskprof.analysis.findings.view import TestView
from diskprof.analysis.statistics import median
from diskprof.model.run import Finding, Weight
from diskprof.model.sample import SystemSample
from diskprof.model.units import format_bandwidth, format_duration, format_percent

HOT_C = 70.0
"""Where a drive does not name its limit: solid-state disks begin to slow down between 70 and 85 degrees."""

NEAR_C = 5.0
"""So far below its limit a drive counts as hot: it slows down before it has to, and the sensor is read every 5 s."""

LOSS = 0.15
"""Share of the bandwidth lost from which heat is to blame: more than a steady disk varies."""

LEAST_S = 2.0
"""So long each it must have been cool and hot."""


def thermal_throttling(view: TestView) -> Finding | None:
    """Slower while hot than while cool before it; or at its own limit all the time."""
    limit = view.run.environment.temperature_limit_c
    hot_from = limit - NEAR_C if limit else HOT_C
    known = [(sample.temperature_c, sample) for sample in view.system if sample.temperature_c is not None]
    first = next((index for index, (degrees, _) in enumerate(known) if degrees >= hot_from), None)
    if view.uneven or first is None:
        return None
    top = max(degrees for degrees, _ in known)
    cool, hot = [s for _, s in known[:first]], [s for degrees, s in known[first:] if degrees >= hot_from]
    whose = f"drive limit {limit:.0f} °C" if limit else "drives throttle from about 70 °C"
    before, after = _bandwidth(cool), _bandwidth(hot)
    if before and after is not None and after < (1 - LOSS) * before and _test_lost(view, hot[0]):
        when = (cool[-1].at_ns - cool[0].at_ns + cool[0].duration_ns) / 1e9
        evidence = (
            f"{format_bandwidth(before)} until {format_duration(when)} into the test, {format_bandwidth(after)} from then on, "
            f"{format_percent(1 - after / before)} less, at up to {top:.0f} °C; {whose}"
        )
    elif limit and not cool and all(degrees >= limit for degrees, _ in known) and _seconds(hot) >= LEAST_S:
        evidence = f"{min(degrees for degrees, _ in known):.0f} °C or more throughout; {whose}"
    else:
        return None
    return view.found(
        "thermal-throttling",
        Weight.LIMIT,
        "Thermal throttling: the drive was too hot.",
        evidence,
        "Improve cooling and rerun; this result shows the drive as installed.",
    )


def _test_lost(view: TestView, first: SystemSample) -> bool:
    """Whether the test, too, moved less from then on: what somebody else did before is no loss."""
    if not view.samples:
        return True
    began_s = view.into_test(first.at_ns - first.duration_ns)
    cool = median([window.bandwidth for window in view.intervals if window.end_s <= began_s])
    hot = median([window.bandwidth for window in view.intervals if window.start_s >= began_s])
    return cool is None or hot is None or hot < (1 - LOSS) * cool


def _bandwidth(samples: list[SystemSample]) -> float | None:
    """The median interval's bytes per second, both directions; None if there is too little to say."""
    if _seconds(samples) < LEAST_S:
        return None
    return median(
        [
            (sample.read_bytes + sample.write_bytes) * 1e9 / sample.duration_ns
            for sample in samples
            if sample.read_bytes is not None and sample.write_bytes is not None and sample.duration_ns > 0
        ]
    )


def _seconds(samples: list[SystemSample]) -> float:
    return sum(sample.duration_ns for sample in samples) / 1e9
