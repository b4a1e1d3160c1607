"""The observer effect: what watching costs the test that is watched.

fio alone, with the very arguments that diskprof gives it, against `diskprof run` and against a detached run with the live
screen open in a terminal. Every run stands between two of fio alone, and its IOPS are told as a share of theirs.

    python benchmarks/observer.py [--quick] [--rounds N] [--seconds S] [--dir DIR] [--json FILE]
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

from measuring.figures import Report, parser, patience_s, say
from measuring.processes import CALM, Cost, Ended, Home, Others, diskprof, generators, new_home, run
from measuring.terminal import Size, reads, terminal

generators()

from diskprof.model.run import Run  # noqa: E402
from diskprof.store import Store  # noqa: E402

RAMP_S = 1.0
"""fio counts from here on: by then whatever started it has settled."""

SETTLED_S = RAMP_S + 0.5

SIZES: Mapping[str, Size] = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
_FILE_BYTES = 256 << 20

PRESET = """
name = "{name}"
title = "{title}"
category = "quick"

[[test]]
name = "test"
title = "{title}"

[test.options]
rw = "randread"
bs = "4k"
size = "{size}"
runtime = "{seconds}"
ramp_time = "{ramp}"
time_based = true
{options}
"""


@dataclass(frozen=True)
class Workload:
    """A test; `options` in TOML."""

    name: str
    title: str
    options: str


WORKLOADS = (
    Workload("null", "Bound by two processors", 'ioengine = "null"\nnumjobs = 2\nnorandommap = true'),
    Workload("qd1", "Random read, 4 KiB, one at a time", 'ioengine = "libaio"\niodepth = 1\ndirect = {direct}'),
    Workload("qd32", "Random read, 4 KiB, 32 at once", 'ioengine = "libaio"\niodepth = 32\ndirect = {direct}'),
)


@dataclass(frozen=True)
class Seen:
    """One run: its IOPS, what the observers took, and what everybody else on the machine did. CPU as a share of one core."""

    iops: float
    others: float
    runner_cpu: float | None = None
    runner_rss: float | None = None
    screen_cpu: float | None = None
    screen_rss: float | None = None
    bytes_per_s: float | None = None


@dataclass(frozen=True)
class Pair:
    """A run that was watched, its share of what fio did alone before and after it, and the noise of the noisiest of the three."""

    ratio: float
    seen: Seen
    others: float


@dataclass
class Series:
    """The runs of one way of watching."""

    pairs: list[Pair] = field(default_factory=list)

    @property
    def calm(self) -> int:
        return sum(pair.others <= CALM for pair in self.pairs)

    def calmest(self, count: int) -> "Series":
        """Those `count` runs during which the rest of the machine did least, whatever came out."""
        return Series(sorted(self.pairs, key=lambda pair: pair.others)[:count])

    def of(self, what: str) -> list[float | None]:
        return [getattr(pair.seen, what) for pair in self.pairs]


class Bench:
    """A home with one preset for each workload, and a file to read from."""

    def __init__(self, home: Home, file: Path, seconds: float) -> None:
        self.home, self.file, self.seconds = home, file, seconds
        self.span_s = max(0.2, seconds - 1.2)
        direct = "true" if _takes_direct(file) else "false"
        for workload in WORKLOADS:
            text = PRESET.format(
                name=f"observer-{workload.name}",
                title=workload.title,
                size=file.stat().st_size,
                seconds=f"{seconds:g}s",
                ramp=f"{RAMP_S:g}s",
                options=workload.options.format(direct=direct),
            )
            (home.presets / f"observer-{workload.name}.toml").write_text(text)

    def order(self, workload: Workload, *words: str) -> list[str]:
        return [*diskprof(), "run", f"observer-{workload.name}", str(self.file), "--yes", *words]

    def argv(self, workload: Workload) -> list[str]:
        """The arguments that diskprof gives fio."""
        plan = json.loads(run(self.order(workload, "--dry-run", "--json"), self.home))
        return list(plan["tests"][0]["argv"])

    def alone(self, argv: Sequence[str]) -> Seen:
        """fio without diskprof."""
        with tempfile.TemporaryFile(dir=self.home.path) as output:
            with subprocess.Popen(
                argv, cwd=self.home.path, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL
            ) as process:
                try:
                    time.sleep(SETTLED_S)
                    others = Others(process.pid)
                    time.sleep(self.span_s)
                    noise = others.share()
                    process.wait(self.seconds + 60)
                finally:
                    process.kill()
            output.seek(0)
            return Seen(_iops_of_last(output.read()), noise)

    def headless(self, workload: Workload) -> Seen:
        """`diskprof run` to its end, its output thrown away."""
        with subprocess.Popen(
            self.order(workload),
            env=dict(self.home.environment),
            cwd=self.home.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                # It takes a while to import what it needs before fio starts.
                time.sleep(SETTLED_S + 0.5)
                runner = Cost(process.pid, Others(process.pid))
                time.sleep(self.span_s)
                runner.stop()
                process.wait(self.seconds + 60)
            finally:
                process.terminate()
        return Seen(_iops(self._run("latest")), runner.others, runner.cpu, runner.rss)

    def live(self, workload: Workload, size: Size) -> Seen:
        """A detached run, and the live screen on it."""
        with terminal(diskprof(), size, self.home) as screen:
            screen.shows(reads("nothing running"))
            screen.quiet(0.5)
            screen.type("2")
            screen.quiet(0.5)
            run_id = run(self.order(workload, "--detach"), self.home).split()[0]
            with Store.open(self.home.store) as store:
                pid = store.runner(run_id).pid
            with Ended(pid) as ended:
                screen.pump(time.perf_counter() + SETTLED_S, ended=ended)
                runner, sent = Cost(pid, Others(pid, screen.pid)), screen.sent
                watching = Cost(screen.pid)
                screen.pump(time.perf_counter() + self.span_s, ended=ended)
                runner.stop()
                watching.stop()
                rate = (screen.sent - sent) / watching.seconds
                screen.pump(time.perf_counter() + self.seconds + 60, ended=ended)
            if not screen.alive:
                raise SystemExit("the screen ended by itself:\n" + "\n".join(screen.lines))
        iops = _iops(self._run(run_id))
        return Seen(iops, runner.others, runner.cpu, runner.rss, watching.cpu, watching.rss, rate)

    def _run(self, name: str) -> Run:
        with Store.open(self.home.store) as store:
            return store.run(store.resolve(name))


def _iops(finished: Run) -> float:
    result = finished.tests[0].result
    if result is None or not finished.status.over:
        raise SystemExit(f"run {finished.id} did not end well: {finished.status} {finished.reason}")
    return sum(part.iops for _, part in result.directions)


def _iops_of_last(output: bytes) -> float:
    """The IOPS of fio's last document."""
    text = output.decode("utf-8", "replace")
    document = json.loads(text[text.rindex("\n{\n") if "\n{\n" in text else text.index("{\n") :])
    return float(sum(job["read"]["iops"] for job in document["jobs"]))


def _takes_direct(file: Path) -> bool:
    try:
        os.close(os.open(file, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        return False
    return True


def _fill(file: Path, size: int) -> None:
    block = os.urandom(1 << 20)
    with file.open("wb") as out:
        for _ in range(size >> 20):
            out.write(block)
        out.flush()
        os.fsync(out.fileno())


def watch(
    bench: Bench, workload: Workload, sizes: Sequence[str], rounds: int, deadline: float
) -> tuple[list[float], dict[str, Series]]:
    """All ways of watching one workload, each between two runs of fio alone. Returns the IOPS alone, and the rest."""
    argv = bench.argv(workload)
    ways: dict[str, Callable[[], Seen]] = {"headless": lambda: bench.headless(workload)}
    for size in sizes:
        ways[f"live {size}"] = partial(bench.live, workload, SIZES[size])
    found = {name: Series() for name in ways}
    alone = [bench.alone(argv)]
    for turn in count():
        wanted = [name for name, series in found.items() if series.calm < rounds or turn < rounds]
        if not wanted or (turn >= rounds and time.monotonic() > deadline):
            break
        # Another order every time, so that no way always follows the same one.
        first = turn % len(wanted)
        for name in wanted[first:] + wanted[:first]:
            seen = ways[name]()
            alone.append(bench.alone(argv))
            before, after = alone[-2:]
            noise = max(before.others, seen.others, after.others)
            pair = Pair(seen.iops / ((before.iops + after.iops) / 2), seen, noise)
            found[name].pairs.append(pair)
            say(f"  {workload.name:5} {name:12} {pair.ratio:.3f} of fio alone; others took {noise:.0%} of a core")
    calm = sorted(alone, key=lambda one: one.others)[: rounds + 1]
    return [one.iops for one in calm], {name: series.calmest(rounds) for name, series in found.items()}


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, help="how often every way of watching is measured (5; quick: 1)")
    options.add_argument("--seconds", type=float, help="what fio measures each time (8; quick: 1)")
    options.add_argument("--dir", type=Path, help="where the file to read is made (the directory for temporary files)")
    options.add_argument("--workload", action="append", choices=[one.name for one in WORKLOADS], help="only this one")
    options.add_argument("--size", action="append", choices=[*SIZES, "none"], help="only this size of the terminal")
    chosen = options.parse_args()
    rounds = chosen.rounds or (1 if chosen.quick else 5)
    seconds = chosen.seconds or (1.0 if chosen.quick else 8.0)
    sizes = [size for size in chosen.size or (["120x40"] if chosen.quick else list(SIZES)) if size != "none"]
    workloads = [one for one in WORKLOADS if one.name in (chosen.workload or [one.name])]
    report = Report(
        "The observer effect",
        f"Medians of {rounds} runs of {seconds:g} s each, every one between two of fio alone; of more, those during "
        "which the rest of the machine did least.",
    )
    with new_home(chosen.dir) as home:
        file = home.path / "file"
        _fill(file, 32 << 20 if chosen.quick else _FILE_BYTES)
        bench = Bench(home, file, seconds)
        for workload in workloads:
            deadline = time.monotonic() + patience_s(chosen) / len(workloads)
            _tell(report, workload, *watch(bench, workload, sizes, rounds, deadline))
    report.publish(chosen.json)


def _tell(report: Report, workload: Workload, alone: Sequence[float], found: Mapping[str, Series]) -> None:
    report.add(f"{workload.name}: fio alone", alone, "IOPS")
    rates = {"live 120x40": 40.0, "live 80x24": 20.0}
    for name, series in found.items():
        headless = name == "headless"
        label = f"{workload.name}: {name}"
        least = 0.99 if headless else 0.97 if name == "live 120x40" else None
        report.add(label, [pair.ratio for pair in series.pairs], "of fio alone", least=least)
        report.add(f"{label}, others took", _percent([pair.others for pair in series.pairs]), "% of a core")
        report.add(f"{label}, runner's CPU", _percent(series.of("runner_cpu")), "% of a core", most=3)
        report.add(f"{label}, runner's memory", series.of("runner_rss"), "MiB", most=45)
        if not headless:
            report.add(f"{label}, screen's CPU", _percent(series.of("screen_cpu")), "% of a core", most=4)
            report.add(f"{label}, screen's memory", series.of("screen_rss"), "MiB", most=75)
            sent = [None if rate is None else rate / 1000 for rate in series.of("bytes_per_s")]
            report.add(f"{label}, sent", sent, "kB/s", most=rates.get(name))


def _percent(shares: Sequence[float | None]) -> list[float | None]:
    return [None if share is None else 100 * share for share in shares]


if __name__ == "__main__":
    main()
