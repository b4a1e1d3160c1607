"""How true a preset is that mimics a load: known loads of fio on a loop device, watched, mimicked, done again and watched again.

Needs root, a loop device and tracefs. The figures are those of the requests that the kernel traced, so how busy the machine is
changes what the disk does, in both turns; a load that is held by its depth is as fast as the disk is then.

    python benchmarks/mimic.py [--quick] [--seconds S] [--only NAME] [--json FILE]
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

from diskprof.analysis.observed_load import load_of_requests  # noqa: E402
from diskprof.devices.machine.device_watch import DeviceWatch  # noqa: E402
from diskprof.devices.requests.trace import RequestTrace  # noqa: E402
from diskprof.devices.requests.tracefs import tracefs  # noqa: E402
from diskprof.devices.scan.udev import topology  # noqa: E402
from diskprof.model.sample import Direction  # noqa: E402
from diskprof.model.seen_load import SeenLoad  # noqa: E402
from diskprof.presets.files.fio_text import job_file  # noqa: E402
from diskprof.presets.mimic import mimic  # noqa: E402

_IMAGE_BYTES = 256 << 20
_SETTLED_S = 1.5
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
        *("--name=pages", "--rw=randrw", "--bs=8k", "--rate_iops=200,80", "--iodepth=4"),
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
def disk(home: Home) -> Iterator[str]:
    with ExitStack() as undo:
        if not tracefs():
            place = home.path / "tracing"
            place.mkdir()
            run(("mount", "-t", "tracefs", "tracefs", str(place)), home)
            undo.callback(run, ("umount", str(place)), home)
        image = home.path / "disk.img"
        with image.open("wb") as file:
            for _ in range(_IMAGE_BYTES >> 20):
                file.write(bytes(1 << 20))
        node = run(("losetup", "--find", "--show", "--direct-io=on", str(image)), home).strip()
        undo.callback(run, ("losetup", "--detach", node), home)
        yield node


def watched(node: str, fio: Sequence[str], home: Home, seconds: float) -> SeenLoad:
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
    return load_of_requests(seen, intervals)


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
    options.add_argument("--seconds", type=float, help="how long each is watched (30; quick: 5)")
    options.add_argument("--only", choices=sorted(LOADS), help="one load")
    chosen = options.parse_args()
    seconds = chosen.seconds or (5.0 if chosen.quick else 30.0)
    told = {}
    with new_home() as home, disk(home) as node:
        common = (
            "--direct=1",
            "--ioengine=libaio",
            "--time_based",
            "--runtime=3600",
            "--norandommap",
            f"--filename={node}",
        )
        for name, load in LOADS.items():
            if chosen.only in (None, name):
                first = watched(node, ("fio", *common, "--name=load", *_everywhere(load, common)), home, seconds)
                preset = mimic(first, "mimicked", "mimicked", "benchmark").preset
                jobs = home.path / "mimicked.fio"
                # Two names of a file would have half of the load each (F75).
                text = job_file(preset, {"runtime": "3600"})
                jobs.write_text(re.sub(r"^filename=.*$", f"filename={node}", text, flags=re.MULTILINE))
                again = watched(node, ("fio", str(jobs)), home, seconds)
                told[name] = rows(first, again)
                _print(name, first, told[name])
    if chosen.json:
        Path(chosen.json).write_text(
            json.dumps({name: [row._asdict() for row in found] for name, found in told.items()})
        )


def _everywhere(load: Sequence[str], common: Sequence[str]) -> Iterator[str]:
    """What is common stands in each job."""
    for word in load:
        yield word
        if word.startswith("--name="):
            yield from common


def _print(name: str, first: SeenLoad, found: Sequence[Row]) -> None:
    print(f"\n{name}: held by its {first.pace}, {first.seconds:.0f} s")
    for row in found:
        verdict = "met" if row.apart <= row.most else "MISSED"
        print(
            f"  {row.name:16} {row.seen:10.3f} {row.again:10.3f}  {row.apart:6.2f} {row.unit:6} of {row.most:g}  {verdict}"
        )


if __name__ == "__main__":
    main()
