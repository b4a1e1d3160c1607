"""Requests that were traced, as JSON."""

from diskprof.analysis.watched import latency_of
from diskprof.model.requests import DirectionRequests, RequestInterval, Requests
from diskprof.model.run import PERCENTILES
from diskprof.model.sample import Direction
from diskprof.reports.data.json import Json


def interval_requests(interval: RequestInterval) -> Json:
    """As `requests_json`, each direction with what its requests took."""
    found = requests_json(interval.requests)
    for direction in Direction:
        latency = latency_of(interval.latencies(direction))
        names = ("mean", "min", "max", *PERCENTILES)
        found[direction.value]["latency_ns"] = {name: getattr(latency, name) for name in names}
    return found


def requests_json(requests: Requests) -> Json:
    """Sizes, order, how many in flight, and whose they were."""
    return {
        "seconds": requests.duration_ns / 1e9,
        **{direction.value: _direction(requests.direction(direction)) for direction in Direction},
        "flushes": requests.flushes,
        "depth": requests.depth,
        "depths": [{"depth": depth, "seconds": ns / 1e9} for depth, ns in requests.depths],
        "touched_bytes": requests.touched_bytes,
        "lost_events": requests.lost,
        "processes": [
            {
                "pid": each.pid,
                "name": each.name.encode("utf-8", "backslashreplace").decode(),
                "reads": each.reads,
                "writes": each.writes,
                "read_bytes": each.read_bytes,
                "write_bytes": each.write_bytes,
            }
            for each in requests.processes
        ],
    }


def _direction(requests: DirectionRequests) -> Json:
    sizes = [{"bytes": each.size, "ios": each.ios, "in_order": each.in_order} for each in requests.sizes]
    return {"ios": requests.ios, "bytes": requests.bytes, "durable": requests.durable, "sizes": sizes}
