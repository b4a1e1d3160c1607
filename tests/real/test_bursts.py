"""The burst model on a volume with credits (F41): the figures of its bucket, and none where there is none."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from program import own_preset
from throttle import Volume, said
from token_bucket import Drain, token_bucket

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
    own_preset(tmp_path, "drains", PRESET)
    return tmp_path


def drained(volume: Volume, home: Path, *words: str) -> Any:
    (burst,) = json.loads(said(volume, home, "run", "drains", volume.node, "--json", "--yes", *words))["bursts"]
    return burst


def test_a_bucket_is_told_by_its_figures_and_in_words(volume: Volume, home: Path) -> None:
    # A machine with too much to do reads an interval late now and then, or lets the volume stand still.
    for tries_left in reversed(range(4)):
        with token_bucket(volume, size=SIZE, burst=BURST, refill=REFILL) as ledger:
            told = drained(volume, home)
        off = wrong_figures(told["bucket"], ledger.drains())
        if not (off and tries_left):
            break
    assert not off
    assert told["tests"] == ["drain", "again"] and told["unit"] == "I/Os"
    assert told["bucket"]["full_after_s"] == pytest.approx(told["bucket"]["size"] / told["bucket"]["refill_per_s"])
    shown = said(volume, home, "show", "latest")
    assert "Bursts" in shown and "a job of 1.00k I/Os takes" in shown


def wrong_figures(bucket: Any, drains: Sequence[Drain]) -> str:
    """What is told of the bucket, beside what the kernel counted, and is further off than can be known."""
    if bucket is None or len(drains) != 2:
        return f"{bucket} of {drains}"
    first, second = drains
    # What is not known is where in an interval of a quarter of a second a burst began and ended, and the volume hands out its
    # limit every tenth of a second, of which the end has fifteen.
    edge = 0.25 * (first.burst - first.baseline)
    expected = {
        "size": pytest.approx(first.spent, abs=edge),
        "burst_per_s": pytest.approx(first.burst, abs=edge),
        "baseline_per_s": pytest.approx(first.baseline, rel=2 / 15),
        "rest_s": pytest.approx(second.start - first.end, abs=0.5),
    }
    return ", ".join(f"{name} {bucket[name]} of {value}" for name, value in expected.items() if bucket[name] != value)


def test_a_volume_without_one_has_none(volume: Volume, home: Path) -> None:
    volume.throttle.limit("read", iops=2000)
    told = drained(volume, home, "--set", "runtime=2s", "--set", "rest=1s")
    assert told["bucket"] is None and told["level_per_s"] == pytest.approx(2000, rel=0.15)
    shown = " ".join(said(volume, home, "show", "latest").split())
    assert re.search(r"no burst in [12](\.\d)? s \([12]\.\d\dk IOPS on average\)", shown)
