"""The plan of a run that watches a device: one test without a command, which the kernel's counters measure."""

from diskprof.model.device import Device
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import Category, EngineName
from diskprof.model.target import Target, TargetKind

LONGEST_S = 24 * 3600.0
"""A watch that nobody ends is over after a day."""
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
