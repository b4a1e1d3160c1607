"""The observer effect: what watching costs the test that is watched.

What diskprof takes of the machine is measured over whole runs: `diskprof run`, and a detached run with the live screen open
in a terminal. What it takes of fio's IOPS is measured within a run, because fio alone wavers more from one run to the
next than any of this costs: fio's status documents, the runner and the screen are each switched off and on, second
by second, and what fio did while they were on is told as a share of what it did just before and after. A disk wavers
from second to second, too, so the same is told of how long fio's jobs had to wait for a processor, which the kernel
counts to the microsecond: while they wait they ask for nothing, and a processor is most of what an observer can take.

    python benchmarks/observer.py [--quick] [--rounds N] [--seconds S] [--pairs N] [--dir DIR] [--json FILE]
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from measuring.figures import Report, parser, patience_s, say
from measuring.processes import CALM, Cost, Ended, Others, new_home
from measuring.switching import MOST_PAIRS, Rhythm
from measuring.terminal import Size
from measuring.watching import run_followed, run_headless, run_watched
from measuring.ways import Effect, fio_alone, headless, live
from measuring.workloads import RAMP_S, WORKLOADS, Bench, Workload

SETTLED_S = RAMP_S + 0.5

SIZES: Mapping[str, Size] = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
_GOAL = "120x40"
"""The size for which there is a goal of IOPS."""
_SCREEN_MOST = {"live 80x24": 1.5, "live 120x40": 2.0}
"""Percent of a core."""


@dataclass(frozen=True)
class Seen:
    """One run: what the observers took, and what everybody else on the machine did. CPU as a share of one core."""

    others: float
    runner_cpu: float
    runner_rss: float
    screen_cpu: float | None = None
    screen_rss: float | None = None
    bytes_per_s: float | None = None


class Costs:
    """Whole runs, and what diskprof took of the machine meanwhile."""

    def __init__(self, bench: Bench, seconds: float) -> None:
        self.bench, self.seconds = bench, seconds
        self.span_s = max(0.2, seconds - 1.2)

    def headless(self, workload: Workload) -> Seen:
        """`diskprof run` to its end, its output thrown away."""
        with run_headless(self.bench, workload, self.seconds) as pid:
            # It takes a while to import what it needs before fio starts.
            time.sleep(SETTLED_S + 0.5)
            runner = Cost(pid, Others(pid))
            time.sleep(self.span_s)
            runner.stop()
        return Seen(runner.others, runner.cpu, runner.rss)

    def followed(self, workload: Workload) -> float:
        """What `--follow` takes of a core: that of `attach` is a process of its own, that of `run` a thread of the runner."""
        with run_followed(self.bench, workload, self.seconds) as pid:
            cost = Cost(pid)
            time.sleep(self.span_s)
            cost.stop()
        return cost.cpu

    def live(self, workload: Workload, size: Size) -> Seen:
        """A detached run, and the live screen on it."""
        with run_watched(self.bench, workload, self.seconds, size) as (screen, pid, _), Ended(pid) as ended:
            screen.pump(time.perf_counter() + SETTLED_S, ended=ended)
            runner, sent = Cost(pid, Others(pid, screen.pid)), screen.sent
            watching = Cost(screen.pid)
            screen.pump(time.perf_counter() + self.span_s, ended=ended)
            runner.stop()
            watching.stop()
            rate = (screen.sent - sent) / watching.seconds
        return Seen(runner.others, runner.cpu, runner.rss, watching.cpu, watching.rss, rate)


def costs_of(
    costs: Costs, workload: Workload, sizes: Sequence[str], rounds: int, deadline: float
) -> dict[str, list[Seen]]:
    """All ways of watching one workload in turn; of more than `rounds` of each, those during which the others did least."""
    ways: dict[str, Callable[[], Seen]] = {"headless": partial(costs.headless, workload)}
    for size in sizes:
        ways[f"live {size}"] = partial(costs.live, workload, SIZES[size])
    found: dict[str, list[Seen]] = {name: [] for name in ways}
    for turn in count():
        calm = {name: sum(seen.others <= CALM for seen in seens) for name, seens in found.items()}
        wanted = [name for name in ways if turn < rounds or calm[name] < rounds]
        if not wanted or (turn >= rounds and time.monotonic() > deadline):
            break
        # Another order every time, so that no way always follows the same one.
        first = turn % len(wanted)
        for name in wanted[first:] + wanted[:first]:
            seen = ways[name]()
            found[name].append(seen)
            screen = "" if seen.screen_cpu is None else f", the screen {seen.screen_cpu:.1%}"
            say(
                f"  {workload.name:5} {name:12} runner {seen.runner_cpu:.1%}{screen}; others {seen.others:.0%} of a core"
            )
    return {name: sorted(seens, key=lambda seen: seen.others)[:rounds] for name, seens in found.items()}


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, help="how often the cost of every way is measured (5; quick: 1)")
    options.add_argument("--seconds", type=float, help="what fio measures each time (8; quick: 4)")
    options.add_argument("--pairs", type=int, help="how often each is switched off and on for the IOPS (40; quick: 2)")
    options.add_argument("--dir", type=Path, help="where the file to read is made (the directory for temporary files)")
    options.add_argument("--workload", action="append", choices=[one.name for one in WORKLOADS], help="only this one")
    options.add_argument("--size", action="append", choices=[*SIZES, "none"], help="only this size of the terminal")
    chosen = options.parse_args()
    if chosen.pairs and not 1 <= chosen.pairs <= MOST_PAIRS:
        options.error(f"--pairs is from 1 to {MOST_PAIRS}: in a longer run fio tells its status once a second.")
    rounds = chosen.rounds or (1 if chosen.quick else 5)
    seconds = chosen.seconds or (4.0 if chosen.quick else 8.0)
    pairs = chosen.pairs or (2 if chosen.quick else 40)
    sizes = [size for size in chosen.size or ([_GOAL] if chosen.quick else list(SIZES)) if size != "none"]
    workloads = [one for one in WORKLOADS if one.name in (chosen.workload or [one.name])]
    report = Report(
        "The observer effect",
        f"Costs: medians of {rounds} runs of {seconds:g} s each; of more, those during which the rest of the machine did "
        f"least.\nIOPS: medians of {pairs} times off and on, from and to being the interval of the median (95%).",
    )
    with new_home(chosen.dir) as home:
        bench = Bench(home, small=chosen.quick)
        for workload in workloads:
            deadline = time.monotonic() + patience_s(chosen) / len(workloads)
            costs = Costs(bench, seconds)
            found = costs_of(costs, workload, sizes, rounds, deadline)
            followed = [100 * costs.followed(workload) for _ in range(rounds)]
            report.add(f"{workload.name}: --follow, CPU", followed, "% of a core", most=0.2)
            rhythm = Rhythm(pairs, 1.5, 1.25) if chosen.quick else Rhythm(pairs)
            _tell_iops(report, bench, workload, sizes if _GOAL not in sizes else [_GOAL], rhythm)
            for name, seens in found.items():
                _tell_costs(report, f"{workload.name}: {name}", name, seens)
    report.publish(chosen.json)


def _tell_iops(report: Report, bench: Bench, workload: Workload, sizes: Sequence[str], rhythm: Rhythm) -> None:
    """Headless is fio that is asked for its status, and the runner; live is both and the screen."""
    documents = fio_alone(bench, workload, rhythm)
    runner = headless(bench, workload, rhythm)
    screens = {size: live(bench, workload, SIZES[size], rhythm) for size in sizes}
    both = documents * runner
    _tell_effect(report, workload, "fio with status documents", documents)
    _tell_effect(report, workload, "fio with the runner", runner)
    _tell_effect(report, workload, "headless", both, least=0.995)
    for size, screen in screens.items():
        _tell_effect(report, workload, f"fio with the screen, {size}", screen)
        _tell_effect(report, workload, f"live {size}", both * screen, least=0.99 if size == _GOAL else None)


def _tell_effect(report: Report, workload: Workload, what: str, effect: Effect, least: float | None = None) -> None:
    """A disk does not give the same from second to second: IOPS are told to some hundredths. How long fio waited is counted."""
    label = f"{workload.name}: {what}"
    report.add(label, effect.iops, "of the IOPS", least=least, of_median=True)
    report.add(
        f"{label}, fio not waiting for a processor", effect.unhindered, "of the time", least=least, of_median=True
    )


def _tell_costs(report: Report, label: str, name: str, seens: Sequence[Seen]) -> None:
    report.add(f"{label}, others took", [100 * seen.others for seen in seens], "% of a core")
    report.add(f"{label}, runner's CPU", [100 * seen.runner_cpu for seen in seens], "% of a core", most=3)
    report.add(f"{label}, runner's memory", [seen.runner_rss for seen in seens], "MiB", most=45)
    if name != "headless":
        taken = [None if seen.screen_cpu is None else 100 * seen.screen_cpu for seen in seens]
        report.add(f"{label}, screen's CPU", taken, "% of a core", most=_SCREEN_MOST.get(name))
        report.add(f"{label}, screen's memory", [seen.screen_rss for seen in seens], "MiB", most=75)
        sent = [None if seen.bytes_per_s is None else seen.bytes_per_s / 1000 for seen in seens]
        report.add(f"{label}, sent", sent, "kB/s", most={"live 120x40": 20.0, "live 80x24": 20.0}.get(name))


if __name__ == "__main__":
    main()
