"""What a preset would write with its defaults, before there is a target: an estimate for a list of presets."""

from diskprof.model.device import Device
from diskprof.presets.resolve import ResolvedPreset
from diskprof.runner.plan.workload import assumed_rate, fio_workload


def bytes_written(resolved: ResolvedPreset, device: Device | None) -> int:
    """Bytes, at the rate that plans assume for `device`, without filling the test file."""
    rate = assumed_rate(device)
    return sum(fio_workload(test.load.fio, rate).bytes_written for test in resolved.tests if test.load.fio)
