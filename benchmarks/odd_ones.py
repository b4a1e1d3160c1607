"""How often a host of an equal fleet is called odd, and how often a slow one is found: recorded noise, made noise, real volumes.

Fleets of equal hosts, and fleets of which one has 70% of the IOPS of the others. With `--fleets` also real ones: runs of
`diskprof run` on a loop device that a control group limits to 5,000 IOPS, for the slow host to 3,500. It needs root.

    python benchmarks/odd_ones.py [--quick] [--draws N] [--fleets N] [--seconds S] [--json FILE]
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from like_runs import recorded_noise  # noqa: E402
from throttle import Volume, throttled_volume  # noqa: E402

from diskprof.analysis.fleet.measured import Measured  # noqa: E402
from diskprof.analysis.fleet.odd_ones import beyond  # noqa: E402
from diskprof.reports.content.fleet.stands_out import all_odd_ones  # noqa: E402
from diskprof.store import Store  # noqa: E402

_SIZES = (4, 5, 6, 8, 12, 24, 48)
_SLOW, _USUAL = 3500, 5000

Draw = Callable[[Random], float]
"""A figure of a host whose truth is 1."""


def noises() -> dict[str, Draw]:
    """The recorded ones, then the made ones."""
    found: dict[str, Draw] = {}
    for name, values in recorded_noise().items():
        usual = sorted(values)[len(values) // 2]
        found[f"recorded, {name}"] = lambda random, values=values, usual=usual: random.choice(values) / usual
    for percent in (1, 2, 3, 5, 10, 20):
        found[f"normal, {percent}%"] = lambda random, percent=percent: random.gauss(1, percent / 100)
    return found


def odd(values: list[float]) -> list[int]:
    """The places of the values that stand out."""
    limit, middle = beyond(values), median(values)
    return [] if limit is None else [at for at, value in enumerate(values) if abs(value - middle) > limit]


def drawn(report: Report, name: str, draw: Draw, size: int, count: int) -> None:
    """Fleets of `size` hosts, equal and with a slow one."""
    random = Random(f"{name} {size}")
    wrong = sum(bool(odd([draw(random) for _ in range(size)])) for _ in range(count))
    slow = [[draw(random) * (_SLOW / _USUAL if at == 0 else 1) for at in range(size)] for _ in range(count)]
    found = sum(odd(values) == [0] for values in slow)
    # With more noise 30% less is not beyond what hosts differ by, and nobody is named.
    least = {"recorded, throttled": 99, "normal, 1%": 90}.get(name)
    report.add(f"{name}, {size} hosts: one of equal ones named", [100 * wrong / count], "%", most=3)
    report.add(f"{name}, {size} hosts, one 30% slow: named", [100 * found / count], "%", least=least)


class Fleet:
    """Runs of diskprof on one volume, whose limit is set before each: that of the host which it stands for."""

    def __init__(self, home: Path, volume: Volume, seconds: float) -> None:
        self._volume, self._seconds = volume, seconds
        self._env = {**os.environ, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
        self._store = home / "data" / "diskprof" / "runs.db"

    def named(self, *levels: int) -> list[str]:
        """The hosts that stand out among those with these IOPS."""
        found = []
        for at, level in enumerate(levels, start=1):
            self._volume.throttle.limit("read", iops=level)
            words = ["run", "fio-randread-qd32", self._volume.node, "--set", f"runtime={self._seconds:g}s", "--yes"]
            command = self._volume.throttle.words(sys.executable, "-m", "diskprof", *words)
            done = subprocess.run(command, env=self._env, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr.strip())
            with Store.open(self._store) as store:
                found.append(Measured(f"db{at}", (store.run(store.resolve("latest")),)))
        return [odd.label for odd in all_odd_ones(found)]


def real(report: Report, fleets: int, seconds: float) -> None:
    """Three hosts at 5,000 IOPS, and a fourth at as many or at 3,500."""
    with (
        tempfile.TemporaryDirectory(prefix="diskprof-bench-") as directory,
        throttled_volume(Path(directory), 256 << 20) as volume,
    ):
        fleet = Fleet(Path(directory), volume, seconds)
        for name, last, right in (("equal", _USUAL, []), ("one 30% slow", _SLOW, ["db4"])):
            found = 0
            for each in range(fleets):
                say(f"{name}: fleet {each + 1} of {fleets}")
                found += fleet.named(_USUAL, _USUAL, _USUAL, last) == right
            what = "none named" if not right else "it alone is named"
            report.add(f"real runs of {seconds:g} s, 4 hosts, {name}: {what}", [100 * found / fleets], "%", least=100)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--draws", type=int, metavar="N", help="drawn fleets of each kind (2,000; quick: 100)")
    options.add_argument("--fleets", type=int, default=0, metavar="N", help="real fleets of each kind (0)")
    options.add_argument("--seconds", type=float, default=3.0, metavar="S", help="of each real run (3)")
    chosen = options.parse_args()
    count = chosen.draws or (100 if chosen.quick else 2000)
    report = Report("The odd one of a fleet", f"{count:,} drawn fleets and {chosen.fleets} real ones of each kind")
    for name, draw in noises().items():
        say(name)
        for size in _SIZES:
            drawn(report, name, draw, size, count)
    if chosen.fleets:
        real(report, chosen.fleets, chosen.seconds)
    report.publish(chosen.json)


if __name__ == "__main__":
    main()
