"""The burst model on a volume with credits (F41): the figures of its bucket, and none where there is none."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from throttle import Volume, said, throttled_volume
from token_bucket import token_bucket

pytestmark = pytest.mark.needs("root", "loop", "blkio-throttle", "fio")
SIZE, BURST, REFILL = 6_000, 3_000, 1_000
PRESET = """
name = "drains"
[parameters]
runtime = "5s"
rest = { kind = "duration", default = "3s" }
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


def test_a_bucket_is_told_by_its_figures_and_in_words(volume: Volume, home: Path) -> None:
    with token_bucket(volume, size=SIZE, burst=BURST, refill=REFILL) as ledger:
        told = drained(volume, home)
    first, second = ledger.drains()
    assert told["tests"] == ["drain", "again"] and told["unit"] == "I/Os"
    # What is not known is where in an interval of a quarter of a second a burst began and ended, and the volume hands out its
    # limit every tenth of a second, of which the end has fifteen.
    bucket, edge = told["bucket"], 0.25 * (first.burst - first.baseline)
    assert bucket["size"] == pytest.approx(first.spent, abs=edge)
    assert bucket["burst_per_s"] == pytest.approx(first.burst, abs=edge)
    assert bucket["baseline_per_s"] == pytest.approx(first.baseline, rel=2 / 15)
    assert bucket["rest_s"] == pytest.approx(second.start - first.end, abs=0.5)
    assert bucket["refill_per_s"] > 0 and bucket["full_after_s"] == pytest.approx(
        bucket["size"] / bucket["refill_per_s"]
    )
    shown = said(volume, home, "show", "latest")
    assert "Bursts" in shown and "a job of 1.00k I/Os takes" in shown


def test_a_volume_without_one_has_none(volume: Volume, home: Path) -> None:
    volume.throttle.limit("read", iops=2000)
    told = drained(volume, home, "--set", "runtime=2s", "--set", "rest=1s")
    assert told["bucket"] is None and told["level_per_s"] == pytest.approx(2000, rel=0.15)
    shown = " ".join(said(volume, home, "show", "latest").split())
    assert re.search(r"no burst in [12](\.\d)? s \([12]\.\d\dk IOPS on average\)", shown)
