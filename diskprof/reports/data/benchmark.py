"""JSON for services that keep the course of a project's benchmarks: github-action-benchmark and Bencher."""

from collections.abc import Sequence

from diskprof.analysis.arms import Side
from diskprof.analysis.metrics import Better, Measure
from diskprof.reports.data.json import Json, dumps
from diskprof.reports.data.tracked import Tracked, tracked

_UNITS = {Measure.IOPS: "IOPS", Measure.BANDWIDTH: "bytes/s"}
_LATENCY = "ns"

_MEASURES = {
    Measure.IOPS: "throughput",
    Measure.BANDWIDTH: "bandwidth",
    Measure.LATENCY_MEAN: "latency",
    Measure.LATENCY_P50: "latency-p50",
    Measure.LATENCY_P99: "latency-p99",
    Measure.LATENCY_P99_9: "latency-p99-9",
    Measure.LATENCY_MAX: "latency-max",
    Measure.SYNC_MEAN: "latency",
    Measure.SYNC_P50: "latency-p50",
    Measure.SYNC_P99: "latency-p99",
    Measure.SYNC_P99_9: "latency-p99-9",
    Measure.SYNC_MAX: "latency-max",
}
"""Slugs of Bencher's measures. `throughput` (operations per second) and `latency` (ns) are its own."""

_FIGURES = {
    Measure.IOPS: "IOPS",
    Measure.BANDWIDTH: "bandwidth",
    **{
        measure: slug.replace("-", " ", 1).replace("-", ".") for measure, slug in _MEASURES.items() if "latency" in slug
    },
    Measure.LATENCY_MEAN: "latency mean",
    Measure.SYNC_MEAN: "latency mean",
}


def benchmark_json(sides: Sequence[Side], better: Better) -> str:
    """What github-action-benchmark reads: as `customBiggerIsBetter` with Better.HIGHER, `customSmallerIsBetter` with LOWER.

    The value of several runs is their median, with their range. Raises DiskprofError where nothing was measured.
    """
    return dumps([_entry(figure) for figure in tracked(sides) if figure.better is better])


def _entry(figure: Tracked) -> Json:
    entry: Json = {
        "name": f"{figure.name} {_FIGURES[figure.measure]}",
        "unit": _UNITS.get(figure.measure, _LATENCY),
        "value": figure.median,
    }
    if len(figure.values) > 1:
        entry["range"] = f"{min(figure.values):.6g} to {max(figure.values):.6g}"
    runs = (
        f"run {figure.runs[0]}"
        if len(figure.runs) == 1
        else f"median of {len(figure.runs)} runs: {' '.join(figure.runs)}"
    )
    entry["extra"] = "\n".join([runs, *(["in doubt: " + "; ".join(figure.doubts)] if figure.doubts else [])])
    return entry


def bmf_json(sides: Sequence[Side]) -> str:
    """Bencher Metric Format. The value of several runs is their median, with the lowest and the highest.

    Raises DiskprofError where nothing was measured.
    """
    found: dict[str, Json] = {}
    for figure in tracked(sides):
        metric = {"value": figure.median}
        if len(figure.values) > 1:
            metric |= {"lower_value": min(figure.values), "upper_value": max(figure.values)}
        found.setdefault(figure.name, {})[_MEASURES[figure.measure]] = metric
    return dumps(found)
