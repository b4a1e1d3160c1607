"""How true a preset is that mimics a load: known loads of fio, watched, mimicked, done again and watched again.

Loads that read have a disk of known latency (FUSE, four servers of 2 ms, below a loop device); the others a loop device on a file.

Needs root, a loop device and tracefs. The preset is made of a watch of its own; then the load and the preset take turns, since
how fast the disk is changes with what else the machine does. A load that is held by its depth is as fast as the disk.

    python benchmarks/mimic.py [--quick] [--seconds S] [--rounds N] [--only NAME] [--json FILE]
"""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from measuring.figures import parser
from measuring.processes import Home, end, generators, new_home, run

generators()

from model_disk import Queue, model_disk  # noqa: E402

from diskprof.analysis.observed_load import load_of_requests  # noqa: E402
from diskprof.devices.machine.device_watch import DeviceWatch  # noqa: E402
from diskprof.devices.requests.trace import RequestTrace  # noqa: E402
from diskprof.devices.requests.tracefs import tracefs  # noqa: E402
from diskprof.devices.scan.udev import topology  # noqa: E402
from diskprof.model.requests import Requests  # noqa: E402
from diskprof.model.sample import Direction, SystemSample  # noqa: E402
from diskprof.model.seen_load import SeenLoad  # noqa: E402
from diskprof.presets.files.fio_text import job_file  # noqa: E402
from diskprof.presets.mimic import mimic  # noqa: E402

_IMAGE_BYTES = 256 << 20
_SETTLED_S = 1.5
READS: dict[str, tuple[str, ...]] = {
    "read-rate": ("--rw=randread", "--bs=4k", "--rate_iops=700", "--iodepth=8"),
    "read-depth": ("--rw=randread", "--bssplit=4k/60:32k/40", "--iodepth=16"),
    "read-two": (
        *("--rw=randread", "--bs=4k", "--rate_iops=400", "--iodepth=4"),
        *("--name=scan", "--rw=read", "--bs=64k", "--rate_iops=100", "--iodepth=2"),
    ),
}
"""Of a disk that is as fast at any time."""
LOADS: dict[str, tuple[str, ...]] = {
    "rate": ("--rw=randrw", "--bs=4k", "--rate_iops=700,300", "--iodepth=4"),
    "sizes": (
        *("--rw=randread", "--bs=4k", "--rate_iops=400", "--iodepth=4"),
        *("--name=write", "--rw=randwrite", "--bs=16k", "--rate_iops=150", "--iodepth=4"),
        *("--name=scan", "--rw=read", "--bs=128k", "--rate_iops=50", "--iodepth=2"),
    ),
    "in-order": ("--rw=randread", "--percentage_random=40", "--bs=8k", "--rate_iops=500", "--iodepth=1"),
    "depth": ("--rw=randrw", "--rwmixread=70", "--bssplit=4k/60:32k/40", "--iodepth=16"),
    "log": (
        *("--rw=write", "--bs=8k", "--fdatasync=1", "--rate_iops=100", "--iodepth=1"),
        # One job of both directions may abort (F100).
        *("--name=reads", "--rw=randread", "--bs=8k", "--rate_iops=200", "--iodepth=4"),
        *("--name=pages", "--rw=randwrite", "--bs=8k", "--rate_iops=80", "--iodepth=4"),
    ),
}


class Row(NamedTuple):
    """A figure of the load, first seen and then of the preset; `most` is how far apart they may be, in `unit`."""

    name: str
    seen: float
    again: float
    apart: float
    most: float
    unit: str


@contextmanager
def traces(home: Home) -> Iterator[None]:
    if tracefs():
        yield
        return
    place = home.path / "tracing"
    place.mkdir()
    run(("mount", "-t", "tracefs", "tracefs", str(place)), home)
    try:
        yield
    finally:
        run(("umount", str(place)), home)


@contextmanager
def steady_disk(home: Home) -> Iterator[str]:
    """A disk of known latency, to be read."""
    place = home.path / "model"
    place.mkdir()
    with model_disk(place, Queue()) as file, ExitStack() as undo:
        words = ("losetup", "--find", "--show", "--read-only", "--direct-io=on", str(file))
        node = run(words, home).strip()
        undo.callback(run, ("losetup", "--detach", node), home)
        yield node


@contextmanager
def disk(home: Home) -> Iterator[str]:
    with ExitStack() as undo:
        image = home.path / "disk.img"
        with image.open("wb") as file:
            for _ in range(_IMAGE_BYTES >> 20):
                file.write(bytes(1 << 20))
        node = run(("losetup", "--find", "--show", "--direct-io=on", str(image)), home).strip()
        undo.callback(run, ("losetup", "--detach", node), home)
        yield node


Seen = tuple[Requests, list[SystemSample]]


def watched(node: str, fio: Sequence[str], home: Home, seconds: float) -> Seen:
    """What the kernel saw of a load while it went."""
    device = topology().get(Path(node).name)
    assert device
    with subprocess.Popen(fio, stdout=subprocess.DEVNULL, cwd=home.path) as load:
        try:
            time.sleep(_SETTLED_S)
            with RequestTrace(device) as trace:
                watch, intervals, seen = DeviceWatch(device, ()), [], None
                for _ in range(round(seconds)):
                    time.sleep(1.0)
                    if found := watch.interval():
                        intervals.append(found.sample)
                    if more := trace.interval():
                        seen = seen.plus(more.requests) if seen else more.requests
        finally:
            end(load.pid, child=False)
    if not seen:
        raise SystemExit("Nothing was seen.")
    return seen, intervals


def together(parts: Sequence[Seen]) -> SeenLoad:
    requests, intervals = parts[0]
    for more, later in parts[1:]:
        requests, intervals = requests.plus(more), [*intervals, *later]
    return load_of_requests(requests, intervals)


def rows(first: SeenLoad, again: SeenLoad) -> list[Row]:
    """The figures that have to be the same."""
    found = [Row("IOPS", first.per_s(), again.per_s(), 100 * abs(again.per_s() / first.per_s() - 1), 3, "%")]
    found.append(_points("reads", first.read_share, again.read_share, 2))
    if first.in_order is not None and again.in_order is not None:
        found.append(_points("in order", first.in_order, again.in_order, 5))
    for direction in Direction:
        sizes = {each.size for load in (first, again) for each in load.sizes if each.direction is direction}
        shares = [(size, _share(first, direction, size), _share(again, direction, size)) for size in sorted(sizes)]
        found += [
            _points(f"{direction.value} {size >> 10}k", one, two, 2)
            for size, one, two in shares
            if max(one, two) >= 0.01
        ]
    if first.depth and again.depth:
        found.append(Row("in flight", first.depth, again.depth, 100 * abs(again.depth / first.depth - 1), 10, "%"))
    if first.flushes or again.flushes:
        found.append(_points("flushes a write", first.flushes or 0, again.flushes or 0, 2))
    return found


def _points(name: str, one: float, two: float, most: float) -> Row:
    return Row(name, one, two, 100 * abs(one - two), most, "points")


def _share(load: SeenLoad, direction: Direction, size: int) -> float:
    return sum(each.per_s for each in load.sizes if (each.direction, each.size) == (direction, size)) / load.per_s()


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--seconds", type=float, help="how long each is watched in a turn (10; quick: 5)")
    options.add_argument("--rounds", type=int, help="how many turns each has (5; quick: 1)")
    options.add_argument("--only", choices=[*READS, *LOADS], help="one load")
    chosen = options.parse_args()
    seconds = chosen.seconds or (5.0 if chosen.quick else 10.0)
    rounds = chosen.rounds or (1 if chosen.quick else 5)
    told: dict[str, list[Row]] = {}
    with new_home() as home, traces(home):
        for loads, place in ((READS, steady_disk), (LOADS, disk)):
            wanted = {name: load for name, load in loads.items() if chosen.only in (None, name)}
            if wanted:
                with place(home) as node:
                    told |= {name: compared(name, node, load, home, seconds, rounds) for name, load in wanted.items()}
    if chosen.json:
        Path(chosen.json).write_text(
            json.dumps({name: [row._asdict() for row in found] for name, found in told.items()})
        )


def compared(name: str, node: str, load: Sequence[str], home: Home, seconds: float, rounds: int) -> list[Row]:
    """A load and the preset of it, in turns; prints how near they are."""
    common = (
        "--direct=1",
        "--ioengine=libaio",
        "--time_based",
        "--runtime=3600",
        "--norandommap",
        f"--filename={node}",
    )
    # What stands before the first name holds for all jobs.
    fio = ("fio", *common, "--name=load", *load)
    preset = mimic(together([watched(node, fio, home, seconds)]), "mimicked", "mimicked", "benchmark").preset
    jobs = home.path / "mimicked.fio"
    # Two names of a file would have half of the load each (F75).
    text = job_file(preset, {"runtime": "3600"})
    jobs.write_text(re.sub(r"^filename=.*$", f"filename={node}", text, flags=re.MULTILINE))
    turns = [
        (watched(node, fio, home, seconds), watched(node, ("fio", str(jobs)), home, seconds)) for _ in range(rounds)
    ]
    first, again = (together(side) for side in zip(*turns, strict=True))
    found = rows(first, again)
    _print(name, first, found)
    return found


def _print(name: str, first: SeenLoad, found: Sequence[Row]) -> None:
    print(f"\n{name}: held by its {first.pace}, {first.seconds:.0f} s")
    for row in found:
        verdict = "met" if row.apart <= row.most else "MISSED"
        print(
            f"  {row.name:16} {row.seen:10.3f} {row.again:10.3f}  {row.apart:6.2f} {row.unit:6} of {row.most:g}  {verdict}"
        )


if __name__ == "__main__":
    main()
