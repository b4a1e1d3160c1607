"""Tests that go on until they are steady, on a volume whose limit falls, stays, or wavers; fio's own steadystate beside them.

Also rounds: all tests of a preset, again and again until one is steady.

The volume is a loop device that a control group limits. It needs root, and a kernel that can limit block devices.

    python benchmarks/steady.py [--quick] [--rounds N] [--json FILE]
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from throttle import Volume, throttled_volume  # noqa: E402

HIGH, LOW = 20_000, 5_000
_SIZE = 64 << 20
_PRESET = """
name = "steady"
[[test]]
name = "steady"
[test.options]
rw = "randread"
bs = "4k"
iodepth = 16
ioengine = "libaio"
direct = true
size = "64m"
time_based = true
runtime = "60s"
"""


_ROUNDS = """
name = "rounds"
[rounds]
test = "depth-16"
figure = "read.iops"
windows = {windows}
range = "{range}%"
slope = "{range}%"
at_most = 12
[fio]
rw = "randread"
ioengine = "libaio"
direct = true
size = "64m"
time_based = true
runtime = "{runtime_s}s"
[[test]]
name = "depth-16"
options = {{ bs = "4k", iodepth = 16 }}
[[test]]
name = "depth-32"
options = {{ bs = "8k", iodepth = 32 }}
"""


class Turns:
    """Sets the limits of a volume, each so many seconds after the first read."""

    def __init__(self, volume: Volume, limits: Mapping[float, int]) -> None:
        self._volume, self._limits = volume, limits
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> None:
        self._volume.throttle.limit("read", iops=next(iter(self._limits.values())))
        self._before = self._reads()
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _reads(self) -> int:
        return int(Path(f"/sys/block/{self._volume.name}/stat").read_text().split()[0])

    def _work(self) -> None:
        # What looks at the device before fio does reads less.
        while self._reads() < self._before + 2000 and not self._over.is_set():
            time.sleep(0.02)
        began = time.monotonic()
        for after_s, iops in self._limits.items():
            if self._over.wait(max(0.0, began + after_s - time.monotonic())):
                return
            self._volume.throttle.limit("read", iops=iops)


def diskprof(volume: Volume, home: Path, text: str, *options: str) -> Any:
    """A run of the preset with this text, as JSON has it."""
    preset = home / "preset.toml"
    preset.write_text(text)
    words = [sys.executable, "-m", "diskprof", "run", preset, volume.node, "--yes", "--json", *options]
    where = {**os.environ, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
    done = subprocess.run(volume.throttle.words(*words), env=where, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def steadied(volume: Volume, home: Path, rule: str) -> Any:
    """The test of a run with this rule."""
    return diskprof(volume, home, _PRESET, "--steady", rule)["tests"][0]


def fio(volume: Volume, *options: str) -> Any:
    """fio's own end of the same test, by its steadystate."""
    words = ["fio", "--name=a", f"--filename={volume.node}", "--rw=randread", "--bs=4k", "--iodepth=16"]
    words += ["--ioengine=libaio", "--direct=1", "--size=64m", "--time_based", "--readonly", "--output-format=json"]
    done = subprocess.run(volume.throttle.words(*words, *options), capture_output=True, text=True, check=True)
    return json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]


def measure(volume: Volume, home: Path, rounds: int, quick: bool, report: Report) -> None:
    windows, window_s, fall_s = (3, 1, 3.0) if quick else (5, 2, 10.0)
    most_s = 20 if quick else 60
    rule = f"read.iops windows={windows} window={window_s}s range=5% slope=5% at_most={most_s}s"
    falls = {0.0: HIGH, fall_s: LOW}
    wavers = {float(at): (HIGH, LOW)[at // (2 * window_s) % 2] for at in range(0, 2 * most_s, 2 * window_s)}
    fallen, whole, late, flat, reached, own = [], [], [], [], [], []
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        with Turns(volume, falls):
            test = steadied(volume, home, rule)
        steady = test["steady"]
        fallen.append(test["read"]["iops"] / LOW if steady["reached"] else None)
        whole.append(sum(steady["values"]) / len(steady["values"]))
        late.append(len(steady["values"]) - windows - fall_s / window_s)
        with Turns(volume, {0.0: LOW}):
            flat.append(float(len(steadied(volume, home, rule.replace("5%", "20%"))["steady"]["values"])))
        with Turns(volume, wavers):
            reached.append(
                100.0 * steadied(volume, home, rule.replace(f"{most_s}s", f"{most_s // 2}s"))["steady"]["reached"]
            )
        with Turns(volume, falls):
            told = fio(volume, "--ss=iops:2.5%", f"--ss_dur={windows * window_s}", f"--runtime={most_s}")
        own.append(told["steadystate"]["data"]["iops_mean"] / LOW if told["steadystate"]["attained"] else None)
    report.add("falling limit: IOPS over the lower limit", fallen, least=0.99)
    report.add("falling limit: IOPS over the lower limit, at most", fallen, most=1.01)
    report.add("falling limit: IOPS of the whole test", whole, "IOPS", least=None if quick else 8000)
    report.add("falling limit: windows beyond those that are needed", late, most=2)
    report.add("flat limit: windows", flat, least=windows)
    report.add("flat limit: windows, at most", flat, most=windows)
    report.add("wavering limit: steady", reached, "%", most=0)
    report.add("falling limit: fio's steadystate over the lower limit", own, least=0.99)


def measure_rounds(volume: Volume, home: Path, rounds: int, quick: bool, report: Report) -> None:
    """Rounds of two tests. Those that are measured, wholly or in part, above the lower limit cannot count."""
    windows, runtime_s, fall_s, range_ = (2, 1, 3.0, 20) if quick else (3, 2, 10.0, 5)
    text = _ROUNDS.format(windows=windows, runtime_s=runtime_s, range=range_)
    tracked, other, first, late, flat = [], [], [], [], []
    for number in range(rounds):
        say(f"preset with rounds, {number + 1} of {rounds}")
        with Turns(volume, {0.0: HIGH, fall_s: LOW}):
            run = diskprof(volume, home, text)
        told = run["rounds"]
        for found, test in zip((tracked, other), run["tests"], strict=True):
            found.append(test["read"]["iops"] / LOW if told["reached"] else None)
        first.append(told["values"][0])
        late.append(told["complete"] - windows - sum(value > (1 + range_ / 100) * LOW for value in told["values"]))
        with Turns(volume, {0.0: LOW}):
            flat.append(float(diskprof(volume, home, text)["rounds"]["complete"]))
    for name, values in (("tracked test", tracked), ("other test", other)):
        report.add(f"rounds, falling limit: IOPS of the {name} over the lower limit", values, least=0.99)
        report.add(f"rounds, falling limit: IOPS of the {name} over the lower limit, at most", values, most=1.01)
    report.add("rounds, falling limit: IOPS of the first round", first, "IOPS")
    report.add("rounds, falling limit: rounds beyond those that are needed", late, most=1)
    report.add("rounds, flat limit: rounds", flat, least=windows)
    report.add("rounds, flat limit: rounds, at most", flat, most=windows)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, metavar="N", help="of each kind (3; quick: 1)")
    given = options.parse_args()
    rounds = given.rounds or (1 if given.quick else 3)
    if os.geteuid() != 0:
        print("Steady state: NOT MEASURED, it needs root to make a loop device and a control group.")
        return
    report = Report("Steady state on a limited volume", f"{rounds} rounds, limits of {HIGH:,} and {LOW:,} IOPS")
    with tempfile.TemporaryDirectory(prefix="diskprof-bench-") as place, throttled_volume(Path(place), _SIZE) as volume:
        measure(volume, Path(place), rounds, given.quick, report)
        measure_rounds(volume, Path(place), rounds, given.quick, report)
    report.publish(given.json)


if __name__ == "__main__":
    main()
