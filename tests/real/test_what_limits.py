"""What limits a volume whose limits are known (F41)."""

import json
from pathlib import Path
from typing import Any

import pytest
from throttle import Volume, said

pytestmark = pytest.mark.needs("root", "loop", "blkio-throttle", "fio")
IOPS, BANDWIDTH = 5_000, 200_000_000
PRESET = """
name = "few"
[sweep]
bs = ["16k", "32k", "64k", "128k"]
iodepth = [16, 32]
[fio]
rw = "randread"
ioengine = "libaio"
direct = true
size = "64m"
runtime = "1s"
time_based = true
[[test]]
name = "few"
"""


@pytest.fixture
def volume(volume: Volume) -> Volume:
    volume.throttle.limit("read", iops=IOPS, bytes_per_s=BANDWIDTH)
    return volume


def test_both_caps_the_hand_over_and_the_tier_are_told(volume: Volume, tmp_path: Path) -> None:
    preset = tmp_path / "few.toml"
    preset.write_text(PRESET)

    def caps() -> Any:
        run = json.loads(said(volume, tmp_path, "run", preset, volume.node, "--json", "--yes", timeout=120))
        return run["sweep"]["panels"][0]["caps"]

    iops, bandwidth = pytest.approx(IOPS, rel=0.02), pytest.approx(BANDWIDTH, rel=0.03)
    # Of a second alone, on a machine with too much to do, a slice of the limit is a percent.
    for _ in range(5):
        told = caps()
        known = told["iops"] and told["bandwidth"]
        if known and (told["iops"]["per_s"], told["bandwidth"]["per_s"]) == (iops, bandwidth):
            break
    assert told["iops"]["per_s"] == iops
    assert told["bandwidth"]["per_s"] == bandwidth
    assert told["handover_bytes"] == [32 << 10, 64 << 10]
    shown = " ".join(said(volume, tmp_path, "show", "latest").split())
    assert "What limits" in shown and "DigitalOcean volume, the least" in shown


def test_only_reads_are_planned_where_nothing_may_be_written(volume: Volume, tmp_path: Path) -> None:
    """A directory, and a device that may be overwritten, has writes too."""

    def patterns(*words: str | Path) -> list[str]:
        plan = json.loads(said(volume, tmp_path, "what-limits", *words, "--dry-run", "--json"))
        return next(axis["values"] for axis in plan["sweep"]["axes"] if axis["option"] == "rw")

    assert patterns(volume.node) == ["randread"]
    assert patterns(tmp_path) == ["randread", "randwrite"]
    assert patterns(volume.node, "--allow-write", "--confirm-device", volume.name) == ["randread", "randwrite"]
