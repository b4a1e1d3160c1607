"""The burst model on a volume with credits (F41): the figures of its bucket, and none where there is none."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from throttle import Volume, said, throttled_volume

pytestmark = pytest.mark.needs("root", "loop", "blkio-throttle", "fio")
SIZE, BURST, REFILL, REST_S = 3_000, 3_000, 1_000, 2
PRESET = """
name = "drains"
[parameters]
runtime = "4s"
rest = { kind = "duration", default = "2s" }
[fio]
rw = "randread"
bs = "4k"
iodepth = 32
ioengine = "libaio"
direct = true
size = "64m"
time_based = true
[[test]]
name = "drain"
options = { runtime = "$runtime" }
[[test]]
name = "again"
options = { runtime = "$runtime", startdelay = "$rest" }
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    presets = tmp_path / ".config/diskprof/presets"
    presets.mkdir(parents=True)
    (presets / "drains.toml").write_text(PRESET)
    return tmp_path


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Volume]:
    with throttled_volume(tmp_path, 64 << 20) as volume:
        yield volume


def drained(volume: Volume, home: Path, *words: str) -> Any:
    (burst,) = json.loads(said(volume, home, "run", "drains", volume.node, "--json", "--yes", *words))["bursts"]
    return burst


def test_a_volume_without_one_has_none(volume: Volume, home: Path) -> None:
    volume.throttle.limit("read", iops=2000)
    told = drained(volume, home, "--set", "runtime=2s", "--set", "rest=1s")
    assert told["bucket"] is None and told["level_per_s"] == pytest.approx(2000, rel=0.15)
    shown = " ".join(said(volume, home, "show", "latest").split())
    assert re.search(r"no burst in [12](\.\d)? s \([12]\.\d\dk IOPS all the time\)", shown)
