"""`diskprof watch TARGET`."""

import os
import shutil
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from diskprof.cli import completion_candidates
from diskprof.cli.run_options import note_option, tag_option
from diskprof.cli.saying import say
from diskprof.cli.stopped import Stopped
from diskprof.model.errors import DiskprofError, ExitCode, UsageError
from diskprof.model.preset import EngineName
from diskprof.model.units import format_duration, parse_duration

if TYPE_CHECKING:
    from diskprof.analysis.kernel import KernelView
    from diskprof.devices.machine.device_watch import DeviceWatch, WatchedInterval
    from diskprof.devices.requests.trace import RequestTrace
    from diskprof.model.device import Device, DeviceTree
    from diskprof.model.requests import RequestInterval

_LEAST_EVERY_S = 0.1
_TRACE_S = 1.0


@click.command("watch", short_help="Watch what a disk does, without loading it.")
@click.argument("target", shell_complete=completion_candidates.targets)
@click.option("--for", "lasting", metavar="DURATION", help="Stop after this time.  [default: until Ctrl+C]")
@click.option(
    "--interval", "every", default="1s", show_default=True, metavar="DURATION", help="Time between two lines."
)
@click.option("--requests", is_flag=True, help="Trace each request: latencies, sizes, order, processes. As root.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, a line for each interval and one for the summary.")
@click.option("--record", is_flag=True, help="Save it as a run, and print its result.")
@tag_option
@note_option
@click.option("--detach", is_flag=True, help="Record in the background and print the id of the run.")
@click.pass_context
def watch_command(
    ctx: click.Context,
    target: str,
    lasting: str | None,
    every: str,
    requests: bool,
    as_json: bool,
    record: bool,
    tags: tuple[str, ...],
    note: str,
    detach: bool,
) -> None:
    """Watch TARGET, a device or a directory or file on one: what the kernel counts of it, and which processes use it.

    The figures are those of `iostat -x`, by the same names, a line for each interval and a summary at the end. It needs no root;
    as root it names the processes of all users. The device is never opened: a disk that sleeps is not woken.

    With --record it is a run like any other, of at most 24 hours, an interval a second: `show`, `report`, `compare` and `export`
    take it. It may watch while other runs use the disk.

    With --requests it traces each request, as root, where tracefs is mounted, of a whole disk or a partition: latency percentiles,
    block sizes, share in order, sync writes, requests in flight, and whose they are. It takes 2% of a core at 5,000 requests a
    second.

    \b
    Examples:
      diskprof watch sda
      diskprof watch /var/lib/mysql --for 5m
      diskprof watch sda --requests
      diskprof watch nvme0n1 --for 1m --json | jq .kernel.utilisation
      diskprof watch sda --for 8h --record --detach --tag monday
    """
    from diskprof.devices.machine.device_watch import DeviceWatch, refuse_uncounted
    from diskprof.devices.requests.trace import RequestTrace
    from diskprof.devices.requests.tracefs import why_untraced
    from diskprof.devices.scan.udev import topology
    from diskprof.devices.targets import device_under

    for_s, every_s = _seconds("--for", lasting) if lasting is not None else None, _seconds("--interval", every)
    if every_s < _LEAST_EVERY_S:
        raise UsageError(f"--interval {every} is too short.", f"The least is {format_duration(_LEAST_EVERY_S)}.")
    if not record and (tags or note or detach):
        raise click.UsageError("--tag, --note and --detach are for --record.", ctx)
    if record and ctx.get_parameter_source("every") is not ParameterSource.DEFAULT:
        raise click.UsageError("--interval is not for --record, which has an interval a second.", ctx)
    tree = topology()
    device = device_under(target, tree)
    refuse_uncounted(device)
    if requests and (refusal := why_untraced(device)):
        raise refusal
    if record:
        engine = EngineName.TRACE if requests else EngineName.KERNEL
        ctx.exit(_record(ctx, device, target, for_s, engine, tags, note, as_json=as_json, detach=detach))
    output = _Output(device, as_json=as_json, traced=requests)
    output.begin(tree, for_s)
    stopped = Stopped()
    with ExitStack() as held:
        watch = DeviceWatch(device, tree.disks_below(device.name))
        trace = held.enter_context(RequestTrace(device)) if requests else None
        _follow(watch, trace, output, every_s, for_s, stopped)
    output.end(gone=watch.gone)
    if watch.gone:
        raise DiskprofError(f"{device.node} is gone: removed, or replaced by another device.", "Check dmesg.")


def _record(
    ctx: click.Context,
    device: "Device",
    target: str,
    for_s: float | None,
    engine: EngineName,
    tags: tuple[str, ...],
    note: str,
    *,
    as_json: bool,
    detach: bool,
) -> ExitCode:
    """Watches as a run, here or in the background."""
    from diskprof.cli.carrying import run_here
    from diskprof.cli.common import exit_code_of, open_store, print_result
    from diskprof.runner.plan.watch_plan import LONGEST_S, watch_plan
    from diskprof.runner.session import Company, Session

    plan, session = watch_plan(device, target, min(for_s or LONGEST_S, LONGEST_S), engine), Session(ctx.find_root().obj)
    if for_s and for_s > LONGEST_S:
        raise UsageError(f"A recorded watch lasts {format_duration(LONGEST_S)} at the most.", "Give --for less.")
    with open_store(ctx) as store:
        if detach:
            click.echo(session.start_detached(plan, store.path, tags=tags, note=note, concurrent=True))
            return ExitCode.OK
        run_id = run_here(session, plan, store, tags, note, Company.BESIDE)
        print_result(store, run_id, as_json)
        return exit_code_of(store.run(run_id))


def _seconds(option: str, text: str) -> float:
    seconds = parse_duration(text)
    if seconds <= 0:
        raise UsageError(f"{option} must be more than 0.", "Give a duration such as 30s or 5m.")
    return seconds


def _follow(
    watch: "DeviceWatch",
    trace: "RequestTrace | None",
    output: "_Output",
    every_s: float,
    for_s: float | None,
    stopped: Stopped,
) -> None:
    """Prints until the time is over, the device is gone, or somebody ends it."""
    began, turn, last = time.monotonic(), 0, False
    while not last:
        # Intervals that nobody was there for are left out.
        turn = max(turn + 1, int((time.monotonic() - began) / every_s) + 1)
        ends = for_s is not None and turn * every_s >= for_s - 1e-9
        due = for_s if ends and for_s is not None else turn * every_s
        early = _waited(began + due, trace, stopped)
        last = ends or early
        found = watch.interval(last=last)
        seen = trace.interval() if trace else None
        if watch.gone:
            return
        if found and early:
            output.add(found, seen, whole=found.sample.duration_ns >= every_s * 5e8)
        elif found:
            output.tell(found, seen)


def _waited(until: float, trace: "RequestTrace | None", stopped: Stopped) -> bool:
    """Waits until a time (monotonic, in seconds), or somebody ends it, which it says. What the kernel keeps of requests is taken
    meanwhile: it is about a second's."""
    while trace and until - time.monotonic() > _TRACE_S:
        if stopped.within(_TRACE_S):
            return True
        trace.read()
    return stopped.within(until - time.monotonic())


class _Output:
    """What is printed: on a terminal in its width and with its head on every page, elsewhere whole lines, or JSON."""

    def __init__(self, device: "Device", *, as_json: bool, traced: bool) -> None:
        from diskprof.analysis.watched import WatchedSums

        self._device, self._as_json, self._traced = device, as_json, traced
        self._sums = WatchedSums()
        self._lines = self._hidden = 0
        self._counted: KernelView | None = None
        """The first interval in which something was counted: its columns are those of all."""

    def begin(self, tree: "DeviceTree", for_s: float | None) -> None:
        """Says on stderr what is watched, where there is somebody to read it, and what of it cannot be seen."""
        from diskprof.devices.machine.process_watch import hidden_processes
        from diskprof.devices.machine.watch import asleep
        from diskprof.devices.targets import sudo_command

        # As root there is nobody else's: what cannot be read has just ended.
        self._hidden = hidden_processes() if os.geteuid() else 0
        if sys.stderr.isatty():
            how_long = f"for {format_duration(for_s)}" if for_s is not None else "until Ctrl+C"
            model = f" ({self._device.model})" if self._device.model else ""
            say(f"Watching {self._device.node}{model} {how_long}.")
        for disk in tree.disks_below(self._device.name):
            if asleep(disk.name):
                say(f"{disk.node} is suspended. Watching does not wake it.")
        if self._hidden:
            say(f"To see the processes of other users: {sudo_command()}")

    def add(
        self, found: "WatchedInterval", seen: "RequestInterval | None", *, whole: bool = True
    ) -> "KernelView | None":
        if seen:
            self._sums.trace(seen)
        return self._sums.add(found.sample, found.processes, whole=whole)

    def tell(self, found: "WatchedInterval", seen: "RequestInterval | None") -> None:
        from diskprof.reports.content.watch_report import traced_names, watch_head, watch_line, watch_names
        from diskprof.reports.data.json_watch import interval_json

        view, now = self.add(found, seen), found.at
        if self._as_json:
            _print(interval_json(now, self._device.name, view, found.processes, seen))
            return
        size = shutil.get_terminal_size() if sys.stdout.isatty() else None
        self._counted = self._counted or view
        width = size.columns if size else None
        names = traced_names() if self._traced else watch_names(width, self._counted)
        if self._lines == 0:
            _print(f"{watch_head(names)}\n")
            self._lines = max(10, size.lines - 2) if size else sys.maxsize
        self._lines -= 1
        _print(f"{watch_line(now.astimezone(), view, found.processes, names, width, seen)}\n")

    def end(self, *, gone: bool) -> None:
        """The summary."""
        from diskprof.cli.common import width_of_stdout
        from diskprof.cli.encoding import stdout_is_utf8
        from diskprof.reports.content.watch_report import watch_report
        from diskprof.reports.data.json_watch import total_json
        from diskprof.reports.render.lines import text

        total = self._sums.total
        if self._as_json:
            _print(total_json(datetime.now(UTC), self._device.name, total, self._hidden, gone, self._sums.traced))
            return
        blocks = watch_report(self._device.title, total, self._hidden, self._sums.traced)
        _print(f"\n{text(blocks, width_of_stdout(), ascii_only=not stdout_is_utf8())}")


def _print(text: str) -> None:
    click.echo(text, nl=False)
    sys.stdout.flush()
