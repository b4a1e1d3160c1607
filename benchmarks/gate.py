"""How often a gate cries wolf, and how often it catches a tenth less, beside what is done in its place; on recorded and made noise.

Each gate has twelve like runs, drawn with replacement from the results of real runs or from a distribution, and draws its new runs
from the same, times 0.9 where a regression is planted. Also: how often a planted change of a history is named, and with which run.

    python benchmarks/gate.py [--quick] [--gates N] [--json FILE]
"""

from collections.abc import Callable
from random import Random
from statistics import fmean, median

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from like_runs import recorded_noise  # noqa: E402

from diskprof.analysis.gate import MOST_NEW, GateOutcome, hold  # noqa: E402
from diskprof.analysis.levels import levels  # noqa: E402
from diskprof.analysis.metrics import Better  # noqa: E402

_LIKE_RUNS, _PLANTED = 12, 0.9
_HISTORY = 60

Draw = Callable[[Random], float]
"""A result of a run."""

Ways = dict[str, Callable[[list[float], Callable[[], float]], bool]]
"""Whether a way of judging cries, by its name; it is handed the like runs and what makes another run."""


def gate(before: list[float], another: Callable[[], float], runs: list[int] | None = None) -> GateOutcome:
    """The gate of `diskprof gate`; how many new runs it took is added to `runs`."""
    after: list[float] = []
    while True:
        after.append(another())
        found = hold(before, after, Better.HIGHER).outcome
        if found is not GateOutcome.UNCLEAR or len(after) == MOST_NEW:
            if runs is not None:
                runs.append(len(after))
            return found


def threshold(share: float) -> Callable[[list[float], Callable[[], float]], bool]:
    """One run, worse than the one before it by more than `share`."""
    return lambda before, another: another() < before[-1] * (1 - share)


WAYS: Ways = {
    "diskprof gate": lambda before, another: gate(before, another) is GateOutcome.REGRESSED,
    "one run, threshold 20%": threshold(0.20),
    "one run, threshold 2%": threshold(0.02),
}


def noises() -> dict[str, Draw]:
    """The recorded ones, then the made ones."""
    recorded = recorded_noise()
    found: dict[str, Draw] = {
        f"recorded, {name}": lambda random, values=values: random.choice(values) for name, values in recorded.items()
    }
    for percent in (2, 3, 5):
        found[f"normal, {percent}%"] = lambda random, percent=percent: random.gauss(1000, 10 * percent)
    found["one run in ten 30% slow"] = lambda random: random.gauss(1000, 10) * (0.7 if random.random() < 0.1 else 1)
    return found


def cries(draw: Draw, way: Callable[[list[float], Callable[[], float]], bool], factor: float, gates: int) -> float:
    """Alarms in 100 gates."""
    alarms = 0
    for seed in range(gates):
        random = Random(seed)
        before = [draw(random) for _ in range(_LIKE_RUNS)]
        alarms += way(before, lambda random=random: factor * draw(random))  # type: ignore[misc]
    return 100 * alarms / gates


def gates_on(report: Report, name: str, draw: Draw, gates: int) -> None:
    for label, way in WAYS.items():
        ours = way is WAYS["diskprof gate"]
        # A machine that others use has no result that could be known to a tenth.
        steady = "busy" not in name and "5%" not in name and "30%" not in name
        report.add(
            f"{name}: {label}, alarms without a change", [cries(draw, way, 1.0, gates)], "%", most=1 if ours else None
        )
        least = 95 if ours and steady else None
        report.add(f"{name}: {label}, a tenth less caught", [cries(draw, way, _PLANTED, gates)], "%", least=least)
    runs: list[int] = []
    for seed in range(gates):
        random = Random(seed)
        gate([draw(random) for _ in range(_LIKE_RUNS)], lambda random=random: draw(random), runs)  # type: ignore[misc]
    report.add(f"{name}: new runs of a gate without a change", [fmean(runs)], "runs")


def histories(report: Report, name: str, draw: Draw, count: int) -> None:
    """Histories of sixty runs with a tenth less planted at any run but the first and the last six, and without."""
    named = wrong = 0
    for seed in range(count):
        random = Random(seed)
        at = random.randrange(6, _HISTORY - 6)
        planted = [draw(random) * (_PLANTED if run >= at else 1.0) for run in range(_HISTORY)]
        found = levels(planted, 0.02)
        named += len(found) == 2 and abs(found[1].first - at) <= 1
        wrong += len(levels([draw(random) for _ in range(_HISTORY)], 0.02)) > 1
    steady = "busy" not in name and "5%" not in name and "30%" not in name
    report.add(f"{name}: planted change named within one run", [100 * named / count], "%", least=90 if steady else None)
    report.add(f"{name}: history without a change that shows one", [100 * wrong / count], "%", most=3)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--gates", type=int, metavar="N", help="gates of each kind (2,000; quick: 100)")
    chosen = options.parse_args()
    count = chosen.gates or (100 if chosen.quick else 2000)
    report = Report(
        "Gates and histories", f"{count:,} of each; {_LIKE_RUNS} like runs before a gate, {_HISTORY} in a history"
    )
    for name, draw in noises().items():
        say(name)
        gates_on(report, name, draw, count)
        histories(report, name, draw, max(50, count // 4))
    values = recorded_noise()
    for name, results in values.items():
        middle = median(results)
        spread = 1.4826 * median(abs(value - middle) for value in results) / middle
        report.add(f"recorded, {name}: noise of {len(results)} runs", [100 * spread], "%")
    report.publish(chosen.json)


if __name__ == "__main__":
    main()
