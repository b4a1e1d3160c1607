"""The progress line of the command line: a report, from the store, on a run that is not over yet."""

import asyncio
import shutil
import sys
from pathlib import Path

from diskprof.model.cells import cut, width_of
from diskprof.model.histogram import merge
from diskprof.model.run import Progress, Run
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.model.units import format_bandwidth, format_clock, format_iops, format_latency
from diskprof.store import SampleBatch, Store

PERIOD_S = 0.25
CALM_PERIOD_S = 1.0
"""Between two looks where nobody waits for the figures."""

_QUIET_S = 2.0
_WINDOW_NS = 1_000_000_000
_ERASE = "\r\x1b[K"
_SHORTEST_TITLE = 16


async def watch_series(path: Path, series_id: str, period_s: float = PERIOD_S) -> None:
    """As `watch`, of each run of a series in its turn."""
    with Store.open(path) as store:
        while not store.series(series_id).status.over:
            newest = store.series_runs(series_id)[-1]
            if newest.status.over:
                await asyncio.sleep(period_s)
                store.reap()
            else:
                await watch(path, newest.id, period_s)


async def watch(path: Path, run_id: str, period_s: float = PERIOD_S) -> None:
    """Shows the run's progress on stderr until it is over: one line on a terminal, a line a test elsewhere; of a search for a limit
    a line for each trial that has ended, too.

    Every `period_s` it looks at what the runner has written, which takes a third of a millisecond of a processor.
    """
    with Store.open(path) as store:
        line = _Line(sys.stderr.isatty(), _repeat(store, run_id))
        cursor, recent = 0, list[Sample]()
        seen, quiet = -1, 0
        while True:
            changed = store.change_counter()
            quiet += 1
            if changed == seen and quiet % round(_QUIET_S / period_s) == 0:
                # A runner writes several times a second: this one may have been killed.
                store.reap()
            if changed != seen:
                seen, quiet = changed, 0
                run = store.run(run_id)
                line.tell_trials(run)
                if run.status.over:
                    line.clear()
                    return
                if line.has_figures:
                    batch = _news(store, run, cursor)
                    cursor = batch.last
                    recent = _recent([*recent, *batch.samples])
                line.show(run, recent)
            await asyncio.sleep(period_s)


def _repeat(store: Store, run_id: str) -> str:
    """Where the run is in its series, to stand before its progress."""
    from diskprof.reports.content.series_report import place_words

    place = store.run(run_id).series
    return f"{place_words(store.series(place.series_id), place)}: " if place else ""


def _news(store: Store, run: Run, cursor: int) -> SampleBatch:
    """The samples after the cursor. At first none, only where they end: the run may have gone on for a day."""
    return (
        store.samples(run.id, after=cursor) if cursor or run.progress is None else SampleBatch((), newest(store, run))
    )


def newest(store: Store, run: Run) -> int:
    """The cursor of the last sample so far, 0 where there is none yet."""
    return 0 if run.progress is None else store.course(run.id, run.progress.test, most=1).last


def _recent(samples: list[Sample]) -> list[Sample]:
    """The samples of the last second, of the newest test and phase."""
    if not samples:
        return samples
    last = samples[-1]
    return [
        sample
        for sample in samples
        if (sample.test, sample.phase) == (last.test, last.phase) and sample.at_ns > last.at_ns - _WINDOW_NS
    ]


class _Line:
    def __init__(self, terminal: bool, before: str = "") -> None:
        self._terminal, self._before = terminal, before
        self._said: tuple[int, Phase] | None = None
        self._trials = 0

    @property
    def has_figures(self) -> bool:
        """Whether anybody sees figures: without a terminal there is only a heading a test."""
        return self._terminal

    def show(self, run: Run, recent: list[Sample]) -> None:
        progress = run.progress
        if progress is None:
            return
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            rest = width - width_of(self._before)
            self._write(_ERASE + self._before + progress_line(run, progress, recent, rest))
        elif self._said != (progress.test, progress.phase):
            self._said = (progress.test, progress.phase)
            self._write(f"{self._before}{_heading(run, progress)}\n")

    def tell_trials(self, run: Run) -> None:
        """A line for each trial of a search for a limit that has ended since: what it came to."""
        if run.plan.limit is None:
            return
        over = [each for each in run.messages if each.test is not None and not each.warning]
        erase = _ERASE if self._terminal else ""
        for each in over[self._trials :]:
            assert each.test is not None
            self._write(f"{erase}{self._before}{_number(run, each.test)}{_title(run, each.test)}: {each.text}\n")
        self._trials = len(over)

    def clear(self) -> None:
        if self._terminal:
            self._write(_ERASE)

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            # The terminal went away. The run goes on to its orderly end, which SIGHUP asks for.
            self._terminal = False


def _heading(run: Run, progress: Progress) -> str:
    return f"{_number(run, progress.test)}{run.tests[progress.test].title}: {progress.phase.value}"


def _title(run: Run, test: int) -> str:
    """What a test is called; of a trial its load alone, by which trials differ."""
    record = run.tests[test]
    trial = record.planned.trial if run.plan.limit else None
    if trial is None:
        return record.title
    from diskprof.reports.content.limit_report import load_words

    return load_words(trial)


def _number(run: Run, test: int) -> str:
    if run.plan.read_write_map:
        return f"[cell {test + 1}] "
    # What a round has come to is stored with its end: the current one is the next.
    if run.plan.limit:
        return f"[trial {test + 1}] "
    rounds = f"round {run.round}, " if run.plan.rounds else ""
    return f"[{rounds}{test + 1}/{len(run.tests)}] "


def progress_line(run: Run, progress: Progress, recent: list[Sample], width: int) -> str:
    """Test, phase, percent, time left, current IOPS, bandwidth and p99 by direction, in at most `width` cells.

    A title that has no room is cut, then what is at the end.
    """
    parts = [f": {progress.phase.value} {100 * progress.fraction:.0f}%"]
    if progress.remaining_s is not None:
        parts.append(f"{format_clock(progress.remaining_s)} left")
    for direction in Direction:
        mine = [sample for sample in recent if sample.direction is direction]
        seconds = sum(sample.duration_ns for sample in mine) / 1e9
        if seconds and progress.silent_s == 0:
            ios, amount = sum(sample.ios for sample in mine), sum(sample.bytes for sample in mine)
            p99 = merge(sample.histogram for sample in mine if sample.histogram).quantile(0.99)
            tail = f" p99 {format_latency(p99)}" if p99 is not None else ""
            letter = "R" if direction is Direction.READ else "W"
            parts.append(f"{letter} {format_iops(ios / seconds)} IOPS {format_bandwidth(amount / seconds)}{tail}")
    if progress.silent_s >= 2:
        parts.append(f"no status for {progress.silent_s:.0f} s")
    number, rest = _number(run, progress.test), "  ".join(parts)
    title = cut(_title(run, progress.test), max(_SHORTEST_TITLE, width - width_of(number + rest)))
    return cut(number + title + rest, width, mark="")
