"""What a store of a hundred thousand runs costs: opened, listed, filtered, sorted; and the import of ten thousand.

Runs are copies of one that the tests' generators make, an hour apart, with six tests in each; those that are imported have 62
samples of each kind. Times are of the processor, which other programs change less than those of the clock, in a process that
has done it once. Between them a bare loop is timed: a slower machine shows by that.

    python benchmarks/many_runs.py [--quick] [--runs N] [--imported N] [--rounds N] [--json FILE]
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from measuring.figures import Report, parser, say
from measuring.processes import generators, new_home

generators()

from recorded import make_plan, record_run  # noqa: E402

from diskprof.store import Store  # noqa: E402
from diskprof.store.exchange.transfer import export_runs, import_runs  # noqa: E402
from diskprof.tui.runs.run_list import Order, RunList, RunsView  # noqa: E402

_HOUR_US = 3_600_000_000
_HAS_SAMPLES = ("sample", "system_sample", "course", "system_course", "histogram_block")
# In place of these columns of a run, in its copy with this number.
_CHANGED = {
    "number": "copy.number",
    "id": "printf('r%07d', copy.number)",
    "started_at": f"started_at + copy.number * {_HOUR_US}",
    "ordinal": f"ordinal + copy.number * {_HOUR_US}",
    "ended_at": f"ended_at + copy.number * {_HOUR_US}",
}


def fill(path: Path, count: int, presets: tuple[str, ...], *, samples: bool) -> None:
    """A new store with so many copies of one run, each preset by turns; without `samples` they have their results alone."""
    with Store.open(path) as store:
        record_run(store, plan=make_plan(runtime_s=2.0))
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA synchronous = OFF")
        if not samples:
            db.execute("UPDATE test SET document = NULL")
        db.execute(
            "CREATE TEMP TABLE copy AS WITH RECURSIVE each(number) AS (VALUES (2) UNION ALL SELECT number + 1 FROM each"
            " WHERE number < ?) SELECT number FROM each",
            (count,),
        )
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            key = "number" if table == "run" else "run"
            if key not in names or (table != "run" and "run" not in names) or (not samples and table in _HAS_SAMPLES):
                continue
            changed = _CHANGED if table == "run" else {"run": "copy.number"}
            values = ", ".join(changed.get(name, f"one.{name}") for name in names)
            db.execute(
                f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM copy, {table} AS one WHERE one.{key} = 1"
            )
        # No two results are the same, as of real runs.
        db.execute(
            "UPDATE run SET headline = printf('rand R %dk, W %d IOPS, seq R/W %.3f/%.3f GB/s', 1 + number * 7 % 400,"
            " 1 + number * 7919 % 99991, 0.1 + number * 31 % 6007 / 1000.0, 0.1 + number * 17 % 4001 / 1000.0)"
        )
        for turn, preset in enumerate(presets):
            db.execute("UPDATE run SET preset = ? WHERE number % ? = ?", (preset, len(presets), turn))
        db.commit()


def _ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)


def _loop() -> None:
    for _ in range(1_000_000):
        pass


def store_of(report: Report, path: Path, count: int, rounds: int) -> None:
    """A store of so many runs, as commands and the screen Runs read it."""
    say(f"making {count:,} runs")
    fill(path, count, ("quick", "nightly", "soak"), samples=False)
    with Store.open(path) as store:
        shown = RunList()
        newest = store.resolve("latest")
        views = {
            "sorted by preset": RunsView(order=Order.PRESET),
            "sorted by result": RunsView(order=Order.HEADLINE),
            "sorted by time taken": RunsView(order=Order.TOOK),
            "filtered by a word": RunsView(words="nightly"),
            "filtered by a status": RunsView(words="status:complete"),
        }
        works: dict[str, tuple[Callable[[], object], float | None]] = {
            "opened": (lambda: Store.open(path).close(), 100),
            "the newest hundred": (lambda: store.summaries(limit=100), None),
            "listed": (store.summaries, 250),
            **{name: (lambda view=view: shown.look(view), 250) for name, view in views.items()},  # type: ignore[misc]
            "latest": (lambda: store.run(store.resolve("latest")), 150),
            "latest~1000": (lambda: store.resolve("latest~1000"), 150),
            "those in progress": (store.running, None),
            "earlier results of the newest": (lambda: store.earlier_results(newest), None),
            "a million turns of a loop": (_loop, None),
        }
        shown.load(store.summaries())
        found: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(rounds + 1):
            for name, (work, _) in works.items():
                found[name].append(_ms(work))
    report.add(f"{count:,} runs, sorted by result the first time", found["sorted by result"][:1], "ms")
    for name, (_, most) in works.items():
        label = name if name.startswith("a million") else f"{count:,} runs, {name}"
        report.add(label, found[name][1:], "ms", most=most)


def imported(report: Report, folder: Path, count: int) -> None:
    """The import of a file of so many runs, and of the same once more."""
    say(f"exporting {count:,} runs")
    source, target, packed = folder / "source.db", folder / "target.db", folder / "runs.jsonl.gz"
    fill(source, count, ("quick",), samples=True)
    with Store.open(source) as store, packed.open("wb") as file:
        export_runs(store, [run.id for run in store.summaries()], file)
    with Store.open(target) as store:
        for name, new in (("imported", True), ("imported once more", False)):
            say(f"  {name}")
            with packed.open("rb") as file:
                began, used = time.perf_counter(), time.process_time()
                runs = import_runs(store, [(packed.name, file)])
                wall, used = time.perf_counter() - began, time.process_time() - used
            if len(runs) != count or any(run.new is not new for run in runs):
                raise SystemExit(f"{name}: not all of the runs, or some of them twice")
            report.add(f"{count:,} runs, {name}", [wall], "s", most=30 if new else None)
            report.add(f"{count:,} runs, {name}, processor", [used], "s")


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--runs", type=int, help="runs in the store (100000; quick: 5000)")
    options.add_argument("--imported", type=int, help="runs that are imported (10000; quick: 200)")
    options.add_argument("--rounds", type=int, help="how often each time is taken (5; quick: 2)")
    chosen = options.parse_args()
    report = Report("What a hundred thousand runs cost", "Processor time; imports by the clock, once.")
    with new_home() as home:
        rounds = chosen.rounds or (2 if chosen.quick else 5)
        store_of(report, home.path / "many.db", chosen.runs or (5000 if chosen.quick else 100_000), rounds)
        imported(report, home.path, chosen.imported or (200 if chosen.quick else 10_000))
    report.publish(chosen.json)


if __name__ == "__main__":
    main()
