"""What each part of being watched takes of fio's IOPS: its status documents, the runner, the screen."""

import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring.figures import say
from measuring.jobs import Jobs, wait_for_fio
from measuring.processes import generators
from measuring.switching import Interval, Rhythm, Span, ratios, standing_still, switch, timed, unhindered_ratios
from measuring.terminal import Size
from measuring.watching import kept_run, run_headless, run_watched
from measuring.workloads import RAMP_S, Bench, Workload

generators()

from diskprof.model.sample import Phase  # noqa: E402
from diskprof.store import Store  # noqa: E402

_STATUS = "--status-interval="


@dataclass(frozen=True)
class Effect:
    """What fio did while something was on, as a share of what it did while it was off, pair by pair.

    `unhindered`: the share of the time in which its jobs did not wait for a processor.
    """

    iops: list[float]
    unhindered: list[float]

    def __mul__(self, other: "Effect") -> "Effect":
        """Both together."""
        return Effect(_times(self.iops, other.iops), _times(self.unhindered, other.unhindered))


def _times(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one * other for one, other in zip(ones, others, strict=False)]


_BEFORE_S, _AFTER_S = RAMP_S + 1.5, 1.0
"""What fio runs longer than it is switched, at either end."""


def fio_alone(bench: Bench, workload: Workload, rhythm: Rhythm) -> Effect:
    """IOPS of fio while it is asked for its status, as a share of what it does when it is not; by its own log of IOPS."""
    seconds = _BEFORE_S + rhythm.seconds + _AFTER_S
    log = bench.home.path / f"alone-{workload.name}"
    given = bench.argv(workload, seconds)
    argv = [word for word in given if not word.startswith(_STATUS)]
    (period_s,) = (int(word.removeprefix(_STATUS).removesuffix("ms")) / 1000 for word in given if word not in argv)
    logged = (
        f"--write_iops_log={log}",
        f"--log_avg_msec={period_s * 1000:.0f}",
        "--log_unix_epoch=1",
        "--per_job_logs=0",
    )
    with subprocess.Popen(
        [*argv, *logged], cwd=bench.home.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as process:

        def asked(for_s: float) -> None:
            for _ in range(round(for_s / period_s)):
                process.send_signal(signal.SIGUSR1)
                time.sleep(period_s)

        try:
            time.sleep(_BEFORE_S)
            spans = switch(rhythm, asked, time.sleep, Jobs(process.pid, workload.jobs))
            process.wait(60)
        finally:
            process.kill()
    lines = [line.split(",") for line in Path(f"{log}_iops.log").read_text().splitlines()]
    intervals = [Interval(int(at) / 1000, period_s, int(value) * period_s) for at, value, *_ in lines]
    return _told(workload, "status documents", spans, intervals)


def headless(bench: Bench, workload: Workload, rhythm: Rhythm) -> Effect:
    """IOPS of fio while its runner works, as a share of what it does while the runner stands still."""
    with run_headless(bench, workload, _BEFORE_S + rhythm.seconds + _AFTER_S) as pid:
        wait_for_fio(pid)
        time.sleep(_BEFORE_S)
        # It may have been the one that makes the file.
        wait_for_fio(pid)
        spans = switch(rhythm, time.sleep, lambda seconds: _stands(pid, seconds), Jobs(pid, workload.jobs))
    return _told(workload, "the runner", spans, _sampled(bench, "latest", spans))


def live(bench: Bench, workload: Workload, size: Size, rhythm: Rhythm) -> Effect:
    """IOPS of fio while the live screen follows the run, as a share of what it does while the screen stands still."""
    with run_watched(bench, workload, _BEFORE_S + rhythm.seconds + _AFTER_S, size) as (screen, runner, run_id):
        wait_for_fio(runner)
        screen.pump(time.perf_counter() + _BEFORE_S)
        wait_for_fio(runner)
        spans = switch(
            rhythm,
            lambda seconds: screen.pump(time.perf_counter() + seconds),
            lambda seconds: _stands(screen.pid, seconds),
            Jobs(runner, workload.jobs),
        )
    return _told(workload, "the screen", spans, _sampled(bench, run_id, spans))


def _told(workload: Workload, what: str, spans: Sequence[Span], intervals: Sequence[Interval]) -> Effect:
    found = Effect(ratios(spans, intervals, of_processor=workload.busy), unhindered_ratios(spans))
    for of, each in (("IOPS", found.iops), ("not waiting for a processor", found.unhindered)):
        say(f"  {workload.name:5} with {what}, {of}: " + " ".join(f"{one:.3f}" for one in each))
    return found


def _stands(pid: int, seconds: float) -> None:
    with standing_still(pid):
        time.sleep(seconds)


def _sampled(bench: Bench, name: str, spans: Sequence[Span]) -> list[Interval]:
    kept = kept_run(bench.home, name)
    with Store.open(bench.home.store) as store:
        samples = store.samples(kept.id).samples
    began = kept.started_at.timestamp()
    measured = [one for one in samples if one.phase is Phase.MEASURING]
    return timed([(began + one.at_ns / 1e9, one.duration_ns / 1e9, one.ios) for one in measured], spans)
