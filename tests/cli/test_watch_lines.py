"""The lines of `diskprof watch`: each is of the time at which the kernel was asked."""

import json
from datetime import UTC, datetime

import pytest

from diskprof.cli.commands.watch import _Output
from diskprof.devices.machine.device_watch import WatchedInterval
from diskprof.model.device import Device, DeviceKind
from diskprof.model.sample import Phase, SystemSample

AT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_a_line_has_the_time_of_its_interval_however_late_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    sample = SystemSample(0, Phase.MEASURING, 10**9, 10**9, reads=5, writes=0)
    output = _Output(Device("sda", "/dev/sda", DeviceKind.DISK, 8, 0, 1 << 30), as_json=True, traced=False)
    output.tell(WatchedInterval(sample, (), AT), None)
    assert json.loads(capsys.readouterr().out)["time"] == "2020-01-02T03:04:05.000000Z"
