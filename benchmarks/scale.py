"""What growth costs: a day-long run, ten thousand runs, a live run that goes on and on, a machine with many disks.

Runs are made by the generators that the tests use. Times of the screen are from the key to the picture, in a terminal.

    python benchmarks/scale.py [--quick] [--seconds N] [--runs N] [--rounds N] [--json FILE]
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median

from measuring.figures import Report, parser, patience_s, say
from measuring.processes import REPOSITORY, Cost, Home, calmest, diskprof, generators, new_home, rss_mib, run
from measuring.terminal import Shown, Terminal, reads, terminal

generators()

from recorded import FIRST_START, record_run  # noqa: E402
from recorded.long import DAY_S, record_long, recording_long  # noqa: E402

from diskprof.model.run import Run, SeriesPlace  # noqa: E402
from diskprof.model.run_series import NewSeries, Repetition  # noqa: E402
from diskprof.store import Store  # noqa: E402

_SIZE = (120, 40)
_BRAILLE = range(0x2801, 0x2900)
_PRESSES = 10
_DISKS = 32
_LIKE_RUNS = 1000
_REPEATS = 50
_COMPARED = 100

# Each in a process of its own: nothing is cached but what the file system keeps. Imports and pydantic's validators come first.
_TIMED = """
import json, sys, time
from pathlib import Path
from measuring.processes import rss_mib
from diskprof.analysis.arms import Arm
from diskprof.analysis.comparison import compare
from diskprof.analysis.headline import headline
from diskprof.reports.content.comparison_report import comparison_report
from diskprof.reports.content.history.history_report import history_report
from diskprof.reports.render import lines
from diskprof.reports.render.text import runs_table
from diskprof.runner.carry.judging import judged
from diskprof.runner.like_runs import history_of
from diskprof.store import Store
path, work, warm, ids = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
with Store.open(warm) as store:
    store.run(store.resolve("latest"))
before = rss_mib()
began = time.perf_counter()
with Store.open(path) as store:
    if work == "list":
        runs_table(store.summaries(), 120)
    elif work == "history":
        history = history_of(store, store.run(ids[0]))
        lines.text(history_report(history), 120)
    elif work == "compare":
        runs = [store.run(name) for name in ids]
        samples = {run.id: store.samples(run.id, histograms=False).samples for run in runs}
        half = len(runs) // 2
        lines.text(comparison_report(compare([Arm(tuple(runs[:half])), Arm(tuple(runs[half:]))], samples)), 120)
    elif work == "series":
        from diskprof.reports.content.series_report import series_report
        from diskprof.reports.render.lines import text
        from diskprof.runner.session import series_result
        began = time.perf_counter()
        text(series_report(series_result(store, store.series_list()[0].id)), 120)
    elif work == "heat":
        from diskprof.tui.live.depths import Depths
        began = time.perf_counter()
        depths = Depths(store, ids[0], 0, preparing=False)
        while depths.read():
            pass
        for direction in depths.directions:
            depths.heat(direction)
    else:
        run = store.run(ids[0])
        judged(store, run)
        headline(run)
seconds = time.perf_counter() - began
json.dump({"ms": 1000 * seconds, "mib": rss_mib(peak=True), "more_mib": rss_mib(peak=True) - before}, sys.stdout)
"""


def _timed(home: Home, path: Path, work: str, warm: Path, *ids: str) -> dict[str, float]:
    script = home.path / "timed.py"
    script.write_text(f"import sys\nsys.path[:0] = {[str(REPOSITORY), str(REPOSITORY / 'benchmarks')]!r}\n{_TIMED}")
    found: dict[str, float] = json.loads(run((sys.executable, str(script), str(path), work, str(warm), *ids), home))
    return found


def _drawn(lines: Sequence[str]) -> bool:
    """Whether a chart with data and its axis can be seen; the traffic of a device in the first screen is none."""
    plotted = [line for line in lines if any(ord(sign) in _BRAILLE for sign in line)]
    return len(plotted) >= 4 and any("┤" in line for line in plotted)


def _shown(screen: Terminal, keys: str, shown: Shown) -> float:
    """Milliseconds from a key to the moment when something can be seen."""
    return 1000 * screen.shows(shown, screen.type(keys))


def _settle(screen: Terminal) -> None:
    """Waits until the first screen stands there, whole."""
    screen.shows(reads("running"))
    screen.quiet(0.8)


def _presses(screen: Terminal, keys: Sequence[str]) -> list[float]:
    """Milliseconds from each key to the first change that it made."""
    return [1000 * screen.paint(key, settle_s=0.15)[0] for key in keys]


def _open(home: Home, run_id: str) -> tuple[float, float, float, float]:
    """A run in the Live screen and as a result: ms to the chart, ms to another metric, MiB, ms to the result's chart."""
    with terminal(diskprof(), _SIZE, home) as screen:
        _settle(screen)
        live = _shown(screen, "2", _drawn)
        metric = _presses(screen, "mmm")
        memory = rss_mib(screen.pid)
    with terminal(diskprof(), _SIZE, home) as screen:
        _settle(screen)
        _shown(screen, "3", reads(run_id))
        return live, median(metric), memory, _shown(screen, "\r", _drawn)


def long_run(report: Report, home: Home, seconds: int, rounds: int, patience: float, *, both: bool) -> None:
    """A run of a day: its size, opening it, moving in it, its heat map, what the runner does at its end."""
    whole = seconds >= DAY_S
    label = ("a 24-hour run" if whole else f"a run of {seconds} s") + (" of reads and writes" if both else "")
    say(f"recording {label}")
    with Store.open(home.store) as store:
        run_id = record_long(store, seconds, both=both)
    report.add(f"{label}, in the store", [home.store.stat().st_size / 1e6], "MB", most=40 if whole else None)
    say("  opening it")
    opened = calmest(lambda: _open(home, run_id), rounds, patience)
    live, metric, memory, result = ([one[at] for one in opened] for at in range(4))
    report.add(f"{label}, key to chart (Live)", live, "ms", most=200)
    report.add(f"{label}, another metric", metric, "ms")
    report.add(f"{label}, memory of the screen", memory, "MiB", most=75)
    report.add(f"{label}, key to chart (Result)", result, "ms", most=200)
    mapped = calmest(lambda: _timed(home, home.store, "heat", home.store, run_id), min(rounds, 3), patience)
    report.add(f"{label}, its whole heat map", [one["ms"] for one in mapped], "ms", most=2000)
    judged = calmest(lambda: _timed(home, home.store, "judge", home.store, run_id), min(rounds, 3), patience)
    report.add(f"{label}, findings at its end", [one["ms"] for one in judged], "ms", most=1000)
    report.add(f"{label}, memory for them", [one["more_mib"] for one in judged], "MiB")


def _look_through(home: Home, newest: str) -> tuple[float, float, float]:
    """The list of runs: ms to its first picture, ms for the key down, ms for a page."""
    with terminal(diskprof(), _SIZE, home) as screen:
        _settle(screen)
        first = _shown(screen, "3", reads(newest))
        down = _presses(screen, ["\x1b[B"] * _PRESSES)
        return first, median(down), median(_presses(screen, ["\x1b[6~", "\x1b[5~"] * (_PRESSES // 2)))


def many_runs(report: Report, home: Home, count: int, rounds: int, patience: float) -> None:
    """A store of many runs: its list, a comparison of two, the list on the screen."""
    say(f"recording {count} runs")
    path, small = home.store, home.path / "small.db"
    with Store.open(small) as store:
        pattern = store.run(record_run(store, runtime_s=2.0))
        record_run(store, runtime_s=2.0, factor=1.1)
    ids = _copies(path, small, pattern, count)
    listed = calmest(lambda: _timed(home, path, "list", small)["ms"], rounds, patience)
    compared = calmest(lambda: _timed(home, path, "compare", small, ids[0], ids[-1])["ms"], rounds, patience)
    report.add(f"{count:,} runs, listed", listed, "ms", most=200)
    report.add(f"{count:,} runs, two compared", compared, "ms", most=100)
    moved = calmest(lambda: _look_through(home, ids[-1]), min(rounds, 3), patience)
    first, down, page = ([one[at] for one in moved] for at in range(3))
    report.add(f"{count:,} runs, key to list", first, "ms", most=300)
    report.add(f"{count:,} runs, key down", down, "ms")
    report.add(f"{count:,} runs, a page up or down", page, "ms")
    report.add(f"{count:,} runs, in the store", [path.stat().st_size / 1e6], "MB")


def long_series(report: Report, home: Home, count: int, rounds: int, patience: float) -> None:
    """A series of so many runs: its result with all intervals, as `diskprof show` and the preview on Runs have it."""
    say(f"recording a series of {count} runs")
    path, small = home.store, home.path / "small.db"
    with Store.open(small) as store:
        pattern = store.run(record_run(store, runtime_s=2.0))
    _copies(path, small, pattern, count, NewSeries((pattern.plan.target.path,), Repetition(repeats=count)))
    opened = calmest(lambda: _timed(home, path, "series", small)["ms"], rounds, patience)
    report.add(f"series of {count} runs, opened", opened, "ms", most=200)


def many_compared(report: Report, home: Home, count: int, rounds: int, patience: float) -> None:
    """Like runs, each with intervals of its own, as two sides of a comparison: from the store to its text."""
    say(f"comparing {count} runs")
    path, small = home.store, home.path / "small.db"
    with Store.open(small) as store:
        record_run(store, runtime_s=2.0)
    with Store.open(path) as store:
        ids = [
            record_run(store, seed=number, started_at=FIRST_START + timedelta(hours=number)) for number in range(count)
        ]
        tests = len(store.run(ids[0]).tests)
    compared = calmest(lambda: _timed(home, path, "compare", small, *ids)["ms"], rounds, patience)
    report.add(f"{count} like runs of {tests} tests, compared", compared, "ms", most=300)


def _copies(path: Path, source: Path, pattern: Run, count: int, series: NewSeries | None = None) -> list[str]:
    """Runs like `pattern`, an hour apart, with its results, documents and a few of its samples; of a series if it is given."""
    ids: list[str] = []
    place: SeriesPlace | NewSeries | None = series
    with Store.open(source) as store:
        samples = store.samples(pattern.id).samples
        system = store.system_samples(pattern.id).samples
        documents = [store.document(pattern.id, test.index) for test in pattern.tests]
    with Store.open(path) as store:
        for number in range(count):
            start = FIRST_START + timedelta(hours=number)
            run_id = store.create_run(pattern.plan, pattern.environment, started_at=start, series=place)
            if series and (first := store.run(run_id).series):
                place = first._replace(repeat=number + 2)
            ids.append(run_id)
            store.append(run_id, samples=samples, system=system)
            for test, document in zip(pattern.tests, documents, strict=True):
                store.finish_test(
                    run_id,
                    test.index,
                    status=test.status,
                    at_ns=test.ended_ns or 0,
                    result=test.result,
                    document=document,
                )
            store.finish_run(run_id, status=pattern.status, headline="284k IOPS, mean 114 us", ended_at=start)
    return ids


def long_history(report: Report, home: Home, count: int, rounds: int, patience: float) -> None:
    """The history of so many like runs, from the store to its text."""
    say(f"the history of {count} runs")
    path, small = home.path / "history.db", home.path / "small-history.db"
    with Store.open(small) as store:
        pattern = store.run(record_run(store, runtime_s=2.0))
    with Store.open(path) as store:
        for number in range(count):
            run_id = store.create_run(
                pattern.plan, pattern.environment, started_at=FIRST_START + timedelta(hours=number)
            )
            for test in pattern.tests:
                store.finish_test(run_id, test.index, status=test.status, at_ns=test.ended_ns or 0, result=test.result)
            store.finish_run(run_id, status=pattern.status)
    told = calmest(lambda: _timed(home, path, "history", small, run_id)["ms"], rounds, patience)
    report.add(f"history of {count:,} runs of {len(pattern.tests)} tests", told, "ms", most=300)


def growing_run(report: Report, home: Home, seconds: int) -> None:
    """A run under way that the live screen follows: what the screen holds at first and in the end."""
    say(f"growing a live run to {seconds} samples")
    sizes = []
    with terminal(diskprof(), _SIZE, home) as screen, Store.open(home.store) as store:
        _settle(screen)
        screen.type("2")
        screen.quiet(0.5)
        steps = max(8, seconds // 200)
        for _ in recording_long(store, seconds, step=max(1, seconds // steps)):
            screen.pump(time.perf_counter() + 0.25)
            sizes.append(rss_mib(screen.pid))
        if not screen.alive:
            raise SystemExit("the screen ended by itself")
    # By then every code path of the live screen was taken, and the charts hold as much as they ever do.
    warm = sizes[len(sizes) // 4]
    report.add(f"live run of {seconds:,} samples, memory of the screen", [sizes[-2]], "MiB", most=75)
    report.add("the same, grown since a quarter of them", [sizes[-2] - warm], "MiB", most=3)


@contextmanager
def _disks(home: Home, count: int) -> Iterator[None]:
    """So many loop devices on small files, detached afterwards."""
    with ExitStack() as undo:
        for number in range(count):
            image = home.path / f"disk{number}.img"
            image.touch()
            os.truncate(image, 4 << 20)
            node = run(("losetup", "--find", "--show", str(image)), home).strip()
            undo.callback(run, ("losetup", "--detach", node), home)
        yield


def _rest(home: Home, seconds: float) -> float:
    """Milliseconds of a processor that the first screen takes in a second while nobody presses a key."""
    with terminal(diskprof(), _SIZE, home) as screen:
        _settle(screen)
        screen.pump(time.perf_counter() + 2)
        cost = Cost(screen.pid)
        screen.pump(time.perf_counter() + seconds)
        cost.stop()
        return 1000 * cost.cpu


def many_disks(report: Report, home: Home, seconds: float, rounds: int, patience: float) -> None:
    """The first screen at rest beside many disks, which it follows second by second."""
    if not os.access("/dev/loop-control", os.W_OK) or not shutil.which("losetup"):
        say(f"{_DISKS} disks: NOT MEASURED, loop devices cannot be made here")
        return
    say(f"resting beside {_DISKS} disks")
    with _disks(home, _DISKS):
        resting = calmest(lambda: _rest(home, seconds), rounds, patience)
    report.add(f"{_DISKS} disks more, processor of the idle first screen in a second", resting, "ms", most=4)


def growing_runner(report: Report, home: Home, documents: int) -> None:
    """What the runner's side holds after many status documents: reader, pace and store."""
    say(f"reading {documents} status documents")
    script = home.path / "runner.py"
    paths = [str(REPOSITORY), str(REPOSITORY / "tests" / "kit"), str(REPOSITORY / "benchmarks")]
    script.write_text(f"import sys\nsys.path[:0] = {paths!r}\n{_RUNNER}")
    found = json.loads(run((sys.executable, str(script), str(home.path / "grown.db"), str(documents)), home))
    report.add(f"{documents:,} status documents, memory of the runner", [found["last"]], "MiB")
    report.add("the same, grown since a quarter of them", [found["last"] - found["quarter"]], "MiB", most=3)
    report.add("processor time for a document", [found["ms"]], "ms")


_RUNNER = """
import json, time
from msgspec.structs import replace
from pathlib import Path
from random import Random
from measuring.processes import rss_mib
from recorded import FAST, make_histogram, make_plan
from diskprof.engines.events import Sampled
from diskprof.engines.fio.reader import FioReader
from diskprof.model.histogram import bucket_value, merge
from diskprof.model.sample import Phase
from diskprof.runner.carry.progress import ProgressMeter
from diskprof.store import Store
path, count = Path(sys.argv[1]), int(sys.argv[2])
random, speed = Random(1), FAST.speeds["randread-qd32"]
pool = [make_histogram(random, round(speed.iops / 4), speed) for _ in range(50)]
plan = make_plan(runtime_s=count / 4)
now = 0
reader = FioReader(plan.tests[1], index=1, started_ns=0, preparing=False)
pace = ProgressMeter(plan, lambda: now)
whole, total, found, used = pool[0], 0, {}, 0.0
with Store.open(path) as store:
    run_id = store.create_run(plan, FAST.environment)
    store.begin_test(run_id, 1, 0)
    pace.begin(1, plan.tests[1], Phase.MEASURING)
    for number in range(1, count + 1):
        whole = merge((whole, pool[number % len(pool)]))
        now = number * 250_000_000
        bins = {str(bucket_value(bucket)): many for bucket, many in whole.counts}
        latency = {"min": whole.minimum, "max": whole.maximum, "mean": whole.mean, "stddev": 1.0, "N": whole.total, "bins": bins}
        read = {"io_bytes": 4096 * whole.total, "total_ios": whole.total, "runtime": number * 250, "clat_ns": latency}
        document = {"fio version": "fio-3.33", "timestamp_ms": number * 250, "jobs": [{"jobname": "x", "read": read}]}
        chunk = json.dumps(document, indent=2).encode() + b"\\n"
        began = time.process_time()
        for event in reader.feed(chunk, now):
            if isinstance(event, Sampled):
                pace.heard(event.samples)
                store.append(run_id, samples=event.samples, progress=pace.progress())
        used += time.process_time() - began
        if number == count // 4:
            found["quarter"] = rss_mib()
found["last"], found["ms"] = rss_mib(), 1000 * used / count
json.dump(found, sys.stdout)
"""


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--seconds", type=int, help=f"length of the long run ({DAY_S}; quick: 3600)")
    options.add_argument("--runs", type=int, help="runs in the store of many (10000; quick: 300)")
    options.add_argument("--rounds", type=int, help="how often each time is taken (5; quick: 1)")
    chosen = options.parse_args()
    seconds = chosen.seconds or (3600 if chosen.quick else DAY_S)
    count = chosen.runs or (300 if chosen.quick else 10_000)
    rounds = chosen.rounds or (1 if chosen.quick else 5)
    # Twelve things are measured again where they were disturbed.
    patience = patience_s(chosen) / 12
    report = Report(
        "What growth costs",
        f"Medians of {rounds}, those left out that others disturbed; keys are timed until the picture that they lead to.",
    )
    for both in (False, True):
        with new_home() as home:
            home.store.parent.mkdir(parents=True)
            long_run(report, home, seconds, rounds, patience, both=both)
    with new_home() as home:
        home.store.parent.mkdir(parents=True)
        many_runs(report, home, count, rounds, patience)
    with new_home() as home:
        long_history(report, home, min(count, _LIKE_RUNS), rounds, patience)
    with new_home() as home:
        home.store.parent.mkdir(parents=True)
        long_series(report, home, min(count, _REPEATS), rounds, patience)
    with new_home() as home:
        home.store.parent.mkdir(parents=True)
        many_compared(report, home, min(count, _COMPARED), rounds, patience)
    with new_home() as home:
        home.store.parent.mkdir(parents=True)
        growing_run(report, home, min(seconds, 20_000))
        growing_runner(report, home, min(seconds, 4000))
    with new_home() as home:
        home.store.parent.mkdir(parents=True)
        many_disks(report, home, 2 if chosen.quick else 20, min(rounds, 3), patience)
    report.publish(chosen.json)


if __name__ == "__main__":
    main()
