"""Imported commands beside plain fio: what fio tells of a command, and what diskprof tells of the preset that it made of it.

They take turns in one directory, fio, diskprof, fio or the other way round, so that what else happens to the disk falls on all.
A ratio of 1 is the same; each value is that of one turn. What fio gives twice says how far two equal runs differ: where
diskprof's range lies within that, it is fio's.

    python benchmarks/imported.py [--quick] [--rounds N] [--size SIZE] [--only REGEX] [--dir DIR] [--json FILE]
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring.figures import Report, parser, say

_ASYNC = "--direct=1 --ioengine=libaio"
COMMANDS: Mapping[str, str] = {
    "4 copies, a file each": "fio --name=a --rw=read --bs=1M --numjobs=4",
    "4 copies, one file": "fio --name=a --rw=read --bs=1M --numjobs=4 --filename=x",
    "mix of 4 copies, a file each": f"fio --name=a --rw=randrw --bs=4k {_ASYNC} --iodepth=8 --numjobs=4",
    "O_SYNC writes": "fio --name=a --rw=write --bs=4k --direct=1 --sync=1",
    "random writes": f"fio --name=a --rw=randwrite --bs=4k {_ASYNC} --iodepth=128",
    "two jobs": "fio --direct=1 --name=reads --rw=randread --bs=4k --name=writes --rw=write --bs=128k",
}

Iops = Mapping[str, float]
"""I/Os a second of each job and direction, its copies together."""


def plain(command: str, place: Path) -> Iops:
    """As fio prints them."""
    _settled()
    with tempfile.TemporaryDirectory(dir=place) as directory:
        words = [*shlex.split(command), "--thread", "--output-format=json"]
        done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=True)
    jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return _by_job([(job["jobname"], job) for job in jobs])


def imported(command: str, place: Path, home: Path) -> Iops:
    """As diskprof tells of the command that it imported."""
    _settled()
    preset = home / "imported.toml"
    where = {**os.environ, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}

    def diskprof(*words: object) -> str:
        program = [sys.executable, "-m", "diskprof", *map(str, words)]
        return subprocess.run(program, env=where, capture_output=True, text=True, check=True).stdout

    diskprof("presets", "import", "--force", "--name", "imported", "--output", preset, "--command", command)
    (test,) = json.loads(diskprof("run", preset, place, "--yes", "--json"))["tests"]
    return _by_job([(job["name"], job) for job in test.get("jobs", [])] or [(test["name"], test)])


def _settled() -> None:
    """Waits for what the turn before left to be written or discarded: it would slow down whoever is first."""
    os.sync()


def _by_job(jobs: list[tuple[str, Any]]) -> Iops:
    found: dict[str, float] = {}
    for name, figures in jobs:
        for way in ("read", "write"):
            iops = (figures.get(way) or {}).get("iops", 0.0)
            if iops:
                found[f"{name} {way}"] = found.get(f"{name} {way}", 0.0) + iops
    return found


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, help="how often they take turns (7; quick: 1)")
    options.add_argument("--seconds", type=int, help="what fio measures each time (5; quick: 1)")
    options.add_argument("--only", default="", metavar="REGEX", help="the commands whose name it matches (all)")
    options.add_argument("--size", default="256m", help="what each job touches (256m)")
    options.add_argument("--dir", type=Path, help="where the files are made (the directory for temporary files)")
    chosen = options.parse_args()
    rounds = chosen.rounds or (1 if chosen.quick else 7)
    seconds = chosen.seconds or (1 if chosen.quick else 5)
    report = Report(
        "Imported commands", f"IOPS of diskprof over those of plain fio; medians of {rounds} turns of {seconds} s."
    )
    with tempfile.TemporaryDirectory(dir=chosen.dir) as name:
        home = Path(name)
        place = home / "place"
        place.mkdir()
        for label, command in COMMANDS.items():
            if not re.search(chosen.only, label):
                continue
            say(label)
            # Before the first job they count for each.
            whole = command.replace("fio ", f"fio --size={chosen.size} --time_based --runtime={seconds} ", 1)
            turns = [_turn(whole, place, home, number) for number in range(rounds)]
            for job in turns[0].fio:
                report.add(f"{label}: {job}, fio", [turn.fio[job] for turn in turns], "IOPS")
                for name, values in (
                    ("fio again", [turn.again[job] / turn.fio[job] for turn in turns]),
                    ("diskprof", [turn.diskprof[job] / turn.fio[job] for turn in turns]),
                ):
                    report.add(f"{label}: {job}, {name}", values, "of fio's", of_median=True)
    report.publish(chosen.json)


@dataclass(frozen=True)
class Turn:
    """What each gave of one command."""

    fio: Iops
    diskprof: Iops
    again: Iops


def _turn(command: str, place: Path, home: Path, number: int) -> Turn:
    """Fio twice and diskprof, each first in one turn of three."""
    found: dict[str, Iops] = {}
    order = ["fio", "diskprof", "again"]
    for which in order[number % 3 :] + order[: number % 3]:
        found[which] = imported(command, place, home) if which == "diskprof" else plain(command, place)
    return Turn(**found)


if __name__ == "__main__":
    main()
