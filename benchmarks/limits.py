"""What `diskprof limit` says of a disk of known latency, in how many trials and how long; its load curve beside queueing theory.

The disk is a file system (FUSE) with four servers of 2 ms each. It needs root, libfuse3 and the package mfusepy.

    python benchmarks/limits.py [--quick] [--rounds N] [--json FILE]
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from model_disk import Queue, model_disk  # noqa: E402

_PROMISED_S = 0.015
_PRESET = """
name = "search"
[parameters]
keep = { default = "read.p99<=15ms" }
[limit]
keep = "$keep"
LIMIT
[fio]
rw = "randread"
bs = "4k"
size = "256m"
ioengine = "psync"
direct = true
[[test]]
name = "load"
"""
FULL, QUICK = "curve = 10", 'short = "1s"\nfull = "1s"\ntrials = 3'


def searched(file: Path, home: Path, limit: str) -> Any:
    """What diskprof says of the disk."""
    preset = home / "search.toml"
    preset.write_text(_PRESET.replace("LIMIT", limit))
    words = [sys.executable, "-m", "diskprof", "run", preset, file, "--yes", "--json"]
    where = {**os.environ, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
    done = subprocess.run(list(map(str, words)), env=where, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def by_fio(file: Path) -> float:
    """The I/Os a second at the depth that fio's own search for a latency ends with."""
    words = ["fio", "--output-format=json", "--name=target", "--thread=1", f"--filename={file}", "--readonly"]
    words += ["--rw=randread", "--bs=4k", "--ioengine=libaio", "--direct=1", "--norandommap=1", "--iodepth=64"]
    words += ["--time_based=1", "--runtime=90", f"--latency_target={1e3 * _PROMISED_S:g}ms", "--latency_percentile=99"]
    done = subprocess.run([*words, "--latency_window=4s"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout[done.stdout.index("{\n") :])
    return float(found["jobs"][0]["read"]["iops"])


def measure(file: Path, home: Path, queue: Queue, limit: str, rounds: int, report: Report) -> None:
    truth = queue.rate_at(0.99, _PROMISED_S)
    off, trials, took, share, middle, little, other = (list[float]() for _ in range(7))
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        run = searched(file, home, limit)
        found, tests = run["limit"], {test["name"]: test for test in run["tests"]}
        if found["kept"]:
            off.append(100 * abs(found["kept"]["iops"] / truth - 1))
        names = [trial["test"] for trial in found["trials"]]
        trials.append(len(names))
        messages = {message["test"]: message["at_ns"] / 1e9 for message in run["messages"] if message["test"]}
        took.append(max(messages[name] for name in names))
        share.append(100 * sum(tests[name]["read"]["runtime_ms"] / 1e3 for name in names) / took[-1])
        if limit == FULL and not other:
            other.append(100 * abs(by_fio(file) / truth - 1))
        curve = found["curve"]
        if curve is None:
            continue
        half = min(curve["points"], key=lambda point: abs(point["iops"] - truth / 2))
        # What FUSE takes of it, by one I/O at a time, which waits for no other.
        alone = tests[next(trial["test"] for trial in found["trials"] if trial["depth"] == 1)]["read"]
        extra_s = alone["latency_ns"]["mean"] / 1e9 - queue.service_s
        theory_s = queue.quantile_s(half["iops"], 0.5) + extra_s
        middle.append(100 * abs(half["latency"]["p50"] / 1e9 / theory_s - 1))
        little += [100 * abs(each["in_flight"] / each["depth"] - 1) for each in curve["littles_law"]]
    report.add(f"the limit, {truth:,.0f} IOPS: off by", off, "%", most=5)
    report.add("trials", trials, "", most=12)
    report.add("time of the search", took, "s", most=90)
    report.add("of it measuring", share, "%", least=90)
    if little:
        report.add("p50 at half the load: off by", middle, "%", most=10)
        report.add("Little's law: off by", little, "%")
        report.add("fio's latency_target: off by", other, "%")


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, metavar="N", help="searches (3; quick: 1)")
    given = options.parse_args()
    rounds = given.rounds or (1 if given.quick else 3)
    if os.geteuid() != 0 or which("fusermount3") is None or find_spec("mfusepy") is None:
        print("Limits: NOT MEASURED, it needs root, FUSE and mfusepy.")
        return
    queue = Queue()
    told = f"{rounds} searches, read.p99<=15ms, {queue.servers} servers of {1e3 * queue.service_s:g} ms"
    report = Report("The limit of a disk of known latency", told)
    with (
        tempfile.TemporaryDirectory(prefix="diskprof-bench-") as place,
        model_disk(Path(place), queue) as file,
    ):
        measure(file, Path(place), queue, QUICK if given.quick else FULL, rounds, report)
    report.publish(given.json)


if __name__ == "__main__":
    main()
