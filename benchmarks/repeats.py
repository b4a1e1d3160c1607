"""How often comparing repeated runs is wrong, how often it finds 5%, and what drift does: real runs, recorded noise, made noise.

Pairs of equal sides of five runs each, of sides 5% apart, and of sides on a machine that loses a tenth over the experiment: with
turns taken (A B B A ...) and one after the other. With `--pairs` also real runs: a loop device that a control group limits to 5,000
IOPS, for the other side of a planted difference to 5,250; every run is one of `diskprof run`, every verdict one of
`diskprof compare`. It needs root.

    python benchmarks/repeats.py [--quick] [--draws N] [--pairs N [--kind KIND]] [--seconds S] [--json FILE]
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from like_runs import recorded_noise  # noqa: E402
from throttle import Volume, throttled_volume  # noqa: E402

from diskprof.analysis.between_runs import ratio_of_medians, verdict  # noqa: E402
from diskprof.analysis.metrics import Better  # noqa: E402
from diskprof.model.metric import Change  # noqa: E402

_RUNS, _PLANTED, _DRIFT = 5, 1.05, 0.1
_IOPS = 5000
_TURNS = (0, 1, 1, 0, 0, 1, 1, 0, 0, 1)
_IN_ORDER = (0,) * _RUNS + (1,) * _RUNS

Draw = Callable[[Random], float]
"""A result of a run."""


def noises() -> dict[str, Draw]:
    """The recorded ones, then the made ones."""
    found: dict[str, Draw] = {
        f"recorded, {name}": lambda random, values=values: random.choice(values)
        for name, values in recorded_noise().items()
    }
    for percent in (1, 2):
        found[f"normal, {percent}%"] = lambda random, percent=percent: random.gauss(1000, 10 * percent)
    found["1%, one run in ten 30% slow"] = lambda random: random.gauss(1000, 10) * (0.7 if random.random() < 0.1 else 1)
    return found


def judged(sides: tuple[list[float], list[float]], *, paired: bool = False) -> Change:
    """The verdict on two sides."""
    turns = (1, -1) * _RUNS if paired else ()
    return verdict(ratio_of_medians(*sides, turns=turns[:_RUNS]).change_interval, Better.HIGHER)


def sides(
    draw: Draw, random: Random, turns: Sequence[int], *, planted: float = 1.0, drift: float = 0.0
) -> tuple[list[float], list[float]]:
    """The results of both sides in the order of `turns`; the second is `planted` times as fast."""
    found: tuple[list[float], list[float]] = ([], [])
    for turn, side in enumerate(turns):
        faded = 1 - drift * turn / (len(turns) - 1)
        found[side].append(draw(random) * faded * (planted if side else 1.0))
    return found


def share(verdicts: Iterable[Change], *wanted: Change) -> float:
    """Of 100."""
    found = list(verdicts)
    return 100 * sum(each in wanted for each in found) / len(found)


def drawn(report: Report, name: str, draw: Draw, count: int) -> None:
    """Sides of drawn results, judged as `diskprof compare` judges them."""
    # With more noise five runs a side do not always find a twentieth, and say so.
    steady = name in ("recorded, throttled", "normal, 1%")
    wrong = Change.BETTER, Change.WORSE

    def of(turns: Sequence[int] = _IN_ORDER, *, paired: bool = False, **more: float) -> list[Change]:
        return [judged(sides(draw, Random(seed), turns, **more), paired=paired) for seed in range(count)]

    report.add(f"{name}: equal sides told apart", [share(of(), *wrong)], "%", most=9)
    report.add(f"{name}: equal sides that took turns told apart", [share(of(_TURNS, paired=True), *wrong)], "%", most=9)
    least = 95 if steady else None
    report.add(f"{name}: 5% found", [share(of(planted=_PLANTED), Change.BETTER)], "%", least=least)
    found = of(_TURNS, paired=True, planted=_PLANTED)
    report.add(f"{name}: 5% found by taking turns", [share(found, Change.BETTER)], "%", least=least)
    fading = of(_TURNS, paired=True, drift=_DRIFT)
    calm = "throttled" in name
    report.add(f"{name}: drift, turns taken: same", [share(fading, Change.SAME)], "%", least=90 if calm else None)
    report.add(f"{name}: drift, turns taken: told apart", [share(fading, *wrong)], "%", most=9)
    report.add(f"{name}: drift, one after the other: told apart", [share(of(drift=_DRIFT), *wrong)], "%")


class Program:
    """diskprof on a volume whose limit is set before each run."""

    def __init__(self, home: Path, volume: Volume, seconds: float) -> None:
        self._volume, self._seconds = volume, seconds
        self._env = {**os.environ, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}

    def _diskprof(self, *words: str, limited: bool = False) -> str:
        command = [sys.executable, "-m", "diskprof", *words]
        command = self._volume.throttle.words(*command) if limited else command
        done = subprocess.run(command, env=self._env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def measure(self, tag: str, iops: int) -> None:
        """A run of the volume that allows so many reads a second."""
        self._volume.throttle.limit("read", iops=iops)
        runtime = f"runtime={self._seconds:g}s"
        self._diskprof(
            "run", "fio-randread-qd32", self._volume.node, "--set", runtime, "--tag", tag, "--yes", limited=True
        )

    def verdict(self, before: str, after: str) -> Change:
        """What comparing two tags says of the IOPS."""
        (test,) = json.loads(self._diskprof("compare", before, after, "--json"))["tests"]
        row = next(row for row in test["metrics"] if row["metric"] == "iops")
        return Change(row["cells"][1]["verdict"])

    def experiment(self, name: str, turns: Sequence[int], *, planted: float = 1.0, drift: float = 0.0) -> Change:
        """Both sides in the order of `turns`, and the verdict."""
        for turn, side in enumerate(turns):
            faded = 1 - drift * turn / (len(turns) - 1)
            self.measure(f"{name}-{side}", round(_IOPS * faded * (planted if side else 1)))
        return self.verdict(f"{name}-0", f"{name}-1")


_KINDS: dict[str, tuple[Sequence[int], float, float, Change | None]] = {
    "equal sides": (_IN_ORDER, 1.0, 0.0, None),
    "5% planted": (_IN_ORDER, _PLANTED, 0.0, Change.BETTER),
    "drift, turns taken": (_TURNS, 1.0, _DRIFT, Change.SAME),
    "drift, one after the other": (_IN_ORDER, 1.0, _DRIFT, Change.WORSE),
}
"""The order of the sides, what the second side has more, what the machine loses, the verdict that is right."""


def real(report: Report, kinds: Iterable[str], pairs: int, seconds: float) -> None:
    """The same with runs of a throttled volume."""
    with (
        tempfile.TemporaryDirectory(prefix="diskprof-bench-") as directory,
        throttled_volume(Path(directory), 256 << 20) as volume,
    ):
        program = Program(Path(directory), volume, seconds)
        for kind in kinds:
            turns, planted, drift, expected = _KINDS[kind]
            found = []
            for pair in range(pairs):
                say(f"{kind}: pair {pair + 1} of {pairs}")
                name = f"{kind.replace(' ', '-').replace(',', '').replace('%', '')}-{pair}"
                found.append(program.experiment(name, turns, planted=planted, drift=drift))
                say(f"{kind}: {found[-1]}")
            what = f"real runs of {seconds:g} s, {kind}"
            if expected is None:
                report.add(f"{what}: told apart", [share(found, Change.BETTER, Change.WORSE)], "%", most=9)
            else:
                report.add(f"{what}: {expected}", [share(found, expected)], "%", least=90)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--draws", type=int, metavar="N", help="pairs of drawn sides of each kind (2,000; quick: 100)")
    options.add_argument("--pairs", type=int, default=0, metavar="N", help="pairs of real sides of each kind (0)")
    options.add_argument("--kind", choices=_KINDS, action="append", help="of the real pairs (all)")
    options.add_argument("--seconds", type=float, default=3.0, metavar="S", help="of each real run (3)")
    chosen = options.parse_args()
    count = chosen.draws or (100 if chosen.quick else 2000)
    report = Report(
        "Repeated runs", f"{_RUNS} runs a side; {count:,} drawn pairs and {chosen.pairs} real ones of each kind"
    )
    for name, draw in noises().items():
        say(name)
        drawn(report, name, draw, count)
    if chosen.pairs:
        real(report, chosen.kind or _KINDS, chosen.pairs, chosen.seconds)
    report.publish(chosen.json)


if __name__ == "__main__":
    main()
