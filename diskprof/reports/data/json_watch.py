"""A watched device as JSON lines: an object an interval, and one of what it came to."""

import json
from collections.abc import Sequence
from datetime import datetime

from msgspec import to_builtins

from diskprof.analysis.kernel import KernelView
from diskprof.analysis.watched import WatchedTotal
from diskprof.model.process_io import ProcessIo
from diskprof.model.requests import RequestInterval
from diskprof.reports.data.json import Json
from diskprof.reports.data.json_requests import interval_requests


def interval_json(
    at: datetime,
    device: str,
    view: KernelView | None,
    processes: Sequence[ProcessIo],
    traced: RequestInterval | None = None,
) -> str:
    """A line, with its end, of an interval that ended at `at` (UTC). `kernel` is null where nothing was counted; `requests` are
    told where they were traced."""
    found = {"type": "interval", **_head(at, device), "kernel": _kernel(view), "processes": _processes(processes)}
    return _line({**found, **_requests(traced)})


def total_json(
    at: datetime, device: str, total: WatchedTotal, hidden: int, gone: bool, traced: RequestInterval | None = None
) -> str:
    """The last line: means and highest figures of the whole time. `hidden` processes were not seen; `gone`: the device is."""
    return _line(
        {
            "type": "summary",
            **_head(at, device),
            "mean": _kernel(total.mean),
            "highest": _kernel(total.highest),
            "processes": _processes(total.processes),
            "hidden_processes": hidden,
            "gone": gone,
            **_requests(traced),
        }
    )


def _requests(traced: RequestInterval | None) -> Json:
    return {"requests": interval_requests(traced)} if traced else {}


def _line(value: Json) -> str:
    # ASCII: what a terminal might obey is escaped, and a name that is not UTF-8 is told all the same.
    return f"{json.dumps(value, allow_nan=False)}\n"


def _head(at: datetime, device: str) -> Json:
    return {"time": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}", "device": device}


def _kernel(view: KernelView | None) -> Json | None:
    return {**to_builtins(view), "wait_ns": view.wait_ns, "size_bytes": view.size_bytes} if view else None


def _processes(processes: Sequence[ProcessIo]) -> list[Json]:
    return [
        {
            "pid": each.pid,
            "name": each.name.encode("utf-8", "backslashreplace").decode(),
            "read_bytes": each.read_bytes,
            "write_bytes": each.write_bytes,
            "seconds": max(0, each.last_ns - each.first_ns) / 1e9,
        }
        for each in processes
    ]
