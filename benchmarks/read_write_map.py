"""What `diskprof map` draws of a volume of known limits, and how long it takes.

The volume is a loop device that a control group limits to 2,000 read IOPS and 20 MB/s written. It needs root, and a kernel that
can limit block devices.

    python benchmarks/read_write_map.py [--quick] [--json FILE]
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

IOPS, BANDWIDTH = 2_000, 20_000_000
_VOLUME = 256 << 20


def drawn(volume: Volume, home: Path, quick: bool) -> Any:
    """The run, as JSON has it."""
    words = [sys.executable, "-m", "diskprof", "map", volume.node, "--yes", "--json", "--set", "size=256m"]
    words += ["--allow-write", "--confirm-device", volume.name, *(["--quick"] if quick else [])]
    where = {**os.environ, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
    done = subprocess.run(volume.throttle.words(*words), env=where, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure(volume: Volume, home: Path, quick: bool, report: Report) -> None:
    began = time.monotonic()
    run = drawn(volume, home, quick)
    took = time.monotonic() - began
    found = run["map"]
    say(json.dumps(found))
    report.add("all reads: off by", [100 * abs(found["most_reads"] / IOPS - 1)], "%", most=5)
    report.add("all writes: off by", [100 * abs(found["most_written"] / BANDWIDTH - 1)], "%", most=5)
    # All of the rectangle, but for a cell at either end.
    reads, writes = set(found["reads"][:-1]), set(found["writes"][:-1])
    inside = [cell for cell in found["cells"] if cell["reads"] in reads and cell["written"] in writes]
    report.add(
        "cells inside that are not reached",
        [sum(cell["state"] in ("not reached", "skipped") for cell in inside)],
        "",
        most=0,
    )
    report.add(
        "cells that are not measured", [sum(cell["state"] == "not measured" for cell in found["cells"])], "", most=0
    )
    report.add("cells", [len(found["cells"])], "")
    measuring = sum(max(test[way]["runtime_ms"] for way in ("read", "write") if test.get(way)) for test in run["tests"])
    report.add("time of the command", [took], "s", most=390)
    report.add("of it measuring", [measuring / 10 / took], "%")


def main() -> None:
    given = parser(__doc__ or "").parse_args()
    if os.geteuid() != 0:
        print("Read/write map: NOT MEASURED, it needs root to make a loop device and a control group.")
        return
    report = Report("The read/write map of a limited volume", f"{IOPS:,} read IOPS, {BANDWIDTH / 1e6:.0f} MB/s written")
    with (
        tempfile.TemporaryDirectory(prefix="diskprof-bench-") as place,
        throttled_volume(Path(place), _VOLUME) as volume,
    ):
        volume.throttle.limit("read", iops=IOPS)
        volume.throttle.limit("write", bytes_per_s=BANDWIDTH)
        measure(volume, Path(place), given.quick, report)
    report.publish(given.json)


if __name__ == "__main__":
    main()
