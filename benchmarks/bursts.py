"""What a burst is worth, on a volume with a bucket of known size; and on one without.

The volume is a loop device that a control group limits, by a bucket of credits. It needs root, and a kernel that can limit block
devices.

    python benchmarks/bursts.py [--quick] [--rounds N] [--way read|write] [--bytes] [--json FILE]
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from throttle import Volume, throttled_volume  # noqa: E402
from token_bucket import token_bucket  # noqa: E402

_VOLUME = 64 << 20


@dataclass(frozen=True)
class Truth:
    """A bucket of `size` I/Os or bytes, and how long the drains and the rest take."""

    size: int
    burst: int
    refill: int
    drain_s: int
    rest_s: int
    again_s: int
    in_bytes: bool = False

    def preset(self, way: str) -> str:
        """Both drains of the preset burst-model that count I/Os, or bytes."""
        load = f'"{way}"\nbs = "1m"\niodepth = 8' if self.in_bytes else f'"rand{way}"\nbs = "4k"\niodepth = 32'
        shared = f'rw = {load}\nioengine = "libaio"\ndirect = true\nsize = "64m"\ntime_based = true'
        again = f'options = {{ runtime = "{self.again_s}s", startdelay = "{self.rest_s}s" }}'
        drain = f'options = {{ runtime = "{self.drain_s}s" }}'
        return (
            f'name = "drains"\n[fio]\n{shared}\n[[test]]\nname = "drain"\n{drain}\n[[test]]\nname = "again"\n{again}\n'
        )


FULL = Truth(60_000, 3_000, 300, 60, 60, 30)
QUICK = Truth(3_000, 3_000, 1_000, 4, 2, 3)
_MB = 1_000_000
FULL_BYTES = Truth(1_200 * _MB, 60 * _MB, 6 * _MB, 60, 60, 30, in_bytes=True)
QUICK_BYTES = Truth(60 * _MB, 60 * _MB, 20 * _MB, 4, 2, 3, in_bytes=True)


def drained(volume: Volume, home: Path, truth: Truth, way: str) -> Any:
    """What diskprof says of the volume."""
    preset = home / "drains.toml"
    preset.write_text(truth.preset(way))
    words = [sys.executable, "-m", "diskprof", "run", preset, volume.node, "--yes", "--json"]
    if way == "write":
        words += ["--allow-write", "--confirm-device", volume.name]
    where = {**os.environ, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
    done = subprocess.run(volume.throttle.words(*words), env=where, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["bursts"][0]


def measure(volume: Volume, home: Path, truth: Truth, way: str, rounds: int, report: Report) -> None:
    known = {
        "baseline_per_s": truth.refill,
        "burst_per_s": truth.burst,
        "size": truth.size,
        "burst_s": truth.size / (truth.burst - truth.refill),
        "refill_per_s": truth.refill,
        "full_after_s": truth.size / truth.refill,
    }
    off: dict[str, list[float | None]] = {name: [] for name in known}
    wrong = []
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        for bucket in (True, False):
            if bucket:
                sizes = {"size": truth.size, "burst": truth.burst, "refill": truth.refill}
                with token_bucket(volume, **sizes, way=way, in_bytes=truth.in_bytes):
                    told = drained(volume, home, truth, way)["bucket"]
            else:
                if truth.in_bytes:
                    volume.throttle.limit(way, bytes_per_s=truth.burst)
                else:
                    volume.throttle.limit(way, iops=truth.burst)
                told = drained(volume, home, truth, way)["bucket"]
            if not bucket:
                wrong.append(100.0 * (told is not None))
                continue
            for name, value in known.items():
                off[name].append(100 * abs(told[name] / value - 1) if told else None)
    for name, values in off.items():
        report.add(f"{name} {known[name]:,.4g}: off by", values, "%", most=1 if name == "baseline_per_s" else 5)
    report.add("no bucket: one told all the same", wrong, "%", most=0)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, metavar="N", help="with a bucket and without (2; quick: 1)")
    options.add_argument("--way", choices=("read", "write"), default="read", help="what drains (read)")
    options.add_argument("--bytes", action="store_true", help="the bucket is of bytes, not of I/Os")
    given = options.parse_args()
    rounds = given.rounds or (1 if given.quick else 2)
    if os.geteuid() != 0:
        print("Bursts: NOT MEASURED, it needs root to make a loop device and a control group.")
        return
    truth = (QUICK_BYTES if given.quick else FULL_BYTES) if given.bytes else (QUICK if given.quick else FULL)
    unit = "bytes" if given.bytes else "I/Os"
    told = f"{given.way}s, {truth.size:,} {unit}, {truth.burst:,} a second, refill {truth.refill:,}, {truth.drain_s} s long"
    report = Report("Bursts of a limited volume", f"{rounds} rounds, {told}")
    with (
        tempfile.TemporaryDirectory(prefix="diskprof-bench-") as place,
        throttled_volume(Path(place), _VOLUME) as volume,
    ):
        measure(volume, Path(place), truth, given.way, rounds, report)
    report.publish(given.json)


if __name__ == "__main__":
    main()
