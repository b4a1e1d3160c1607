"""What `diskprof what-limits` says of a volume of known limits, and how long it takes.

The volume is a loop device that a control group limits to 5,000 IOPS and 200 MB/s each way. It needs root, and a kernel that
can limit block devices.

    python benchmarks/what_limits.py [--quick] [--rounds N] [--json FILE]
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from throttle import Volume, throttled_volume  # noqa: E402

IOPS, BANDWIDTH = 5_000, 200_000_000
HANDOVER = [32 << 10, 64 << 10]
_VOLUME = 256 << 20


def asked(volume: Volume, home: Path, quick: bool) -> Any:
    """The sweep of a run, as JSON has it."""
    words = [sys.executable, "-m", "diskprof", "what-limits", volume.node, "--yes", "--json"]
    words += ["--allow-write", "--confirm-device", volume.name, "--set", "size=256m"]
    words += ["--set", "runtime=1s"] if quick else []
    where = {**os.environ, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
    done = subprocess.run(volume.throttle.words(*words), env=where, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["sweep"]


def measure(volume: Volume, home: Path, rounds: int, quick: bool, report: Report) -> None:
    off: dict[str, list[float | None]] = {}
    wrong, took, named = [], [], []
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        began = time.monotonic()
        sweep = asked(volume, home, quick)
        took.append(time.monotonic() - began)
        for panel, way in zip(sweep["panels"], ("reads", "writes"), strict=True):
            for name, known in (("iops", IOPS), ("bandwidth", BANDWIDTH)):
                cap = panel["caps"][name]
                off.setdefault(f"{way}, {name}", []).append(100 * abs(cap["per_s"] / known - 1) if cap else None)
            wrong.append(100.0 * (panel["caps"]["handover_bytes"] != HANDOVER))
        named.append(100.0 * any("DigitalOcean" in tier["title"] for tier in sweep["tiers"]))
    for name, values in off.items():
        report.add(f"{name}: off by", values, "%", most=1)
    report.add("hand-over not between 32 and 64 KiB", wrong, "%", most=0)
    report.add("the tier with these limits is named", named, "%", least=100)
    report.add("time of the command", took, "s", most=180)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, metavar="N", help="of the whole sweep (1)")
    given = options.parse_args()
    rounds = given.rounds or 1
    if os.geteuid() != 0:
        print("What limits: NOT MEASURED, it needs root to make a loop device and a control group.")
        return
    report = Report("What limits a limited volume", f"{rounds} rounds, {IOPS:,} IOPS and {BANDWIDTH / 1e6:.0f} MB/s")
    with (
        tempfile.TemporaryDirectory(prefix="diskprof-bench-") as place,
        throttled_volume(Path(place), _VOLUME) as volume,
    ):
        for way in ("read", "write"):
            volume.throttle.limit(way, iops=IOPS, bytes_per_s=BANDWIDTH)
        measure(volume, Path(place), rounds, given.quick, report)
    report.publish(given.json)


if __name__ == "__main__":
    main()
