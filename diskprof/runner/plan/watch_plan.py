"""The plan of a run that watches a device: one test without a command, of the kernel's counters or its trace of requests."""

import time

from diskprof.devices.requests.tracefs import why_untraced
from diskprof.devices.scan.sysfs import read_counters
from diskprof.model.advice import Advice
from diskprof.model.device import Device
from diskprof.model.errors import UsageError
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import Category, EngineName
from diskprof.model.target import Target, TargetKind
from diskprof.model.units import format_iops

LONGEST_S = 24 * 3600.0
"""A watch that nobody ends is over after a day."""
_MOST_TRACED = 20_000
"""Requests a second: to trace 5,000 takes 2% of a core."""
_GLANCE_S = 0.25
_NAME = "watched"
_TITLE = "Watched"


def watch_plan(device: Device, given: str, seconds: float = LONGEST_S, engine: EngineName = EngineName.KERNEL) -> Plan:
    """A plan to watch a device for so long at the most; `given` is how the person called it, or something on it."""
    target = Target(
        *(TargetKind.DEVICE, device.node, given),
        device=device.name,
        size_bytes=device.size_bytes,
        dm_name=device.dm_name,
    )
    test = PlannedTest(
        name=_NAME,
        title=_TITLE,
        engine=engine,
        argv=(),
        jobs=(),
        ramp_s=0.0,
        runtime_s=seconds,
        amount_bytes=None,
        bytes_written=0,
        writes_exact=True,
        interval_ms=1000,
    )
    return Plan(
        preset=_NAME,
        preset_title=_TITLE,
        category=Category.OWN,
        target=target,
        parameters=(),
        tests=(test,),
        directory="",
        files=(),
        layout=None,
        hazards=(),
        space_needed=0,
        assumed_bandwidth=0.0,
    )


def why_counted(device: Device) -> UsageError | None:
    """Why it is better to watch a device by its counters than to trace its requests; None where they can be traced.

    Looks for a quarter of a second at how busy it is.
    """
    if refusal := why_untraced(device):
        return refusal
    before = read_counters(names={device.name}).get(device.name)
    time.sleep(_GLANCE_S)
    now = read_counters(names={device.name}).get(device.name)
    if before is None or now is None or now.at_ns <= before.at_ns:
        return None
    requests = now.reads + now.writes - before.reads - before.writes
    rate = requests / (now.at_ns - before.at_ns) * 1e9
    if rate <= _MOST_TRACED:
        return None
    return UsageError(
        f"{device.name} does {format_iops(rate)} requests a second: to trace them takes much of a core.",
        Advice(f"To do it anyway: diskprof watch {device.name} --requests", "Watch it again when it does less."),
    )
