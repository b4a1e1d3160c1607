"""`diskprof mimic`: a preset that does what a disk was seen to do."""

import shlex
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from diskprof.cli import completion_candidates
from diskprof.cli.common import not_empty, open_store, place_of, refuse_device, width_of_stdout
from diskprof.cli.encoding import echo_data, stdout_is_utf8
from diskprof.cli.saying import say
from diskprof.cli.stopped import Stopped
from diskprof.model.errors import UsageError
from diskprof.model.text import clean
from diskprof.model.units import format_duration, format_size, parse_duration

if TYPE_CHECKING:
    from diskprof.model.seen_load import SeenLoad
    from diskprof.presets.mimic import Mimicked

_EVERY_S = 1.0


@click.command("mimic", short_help="Make a preset of what a disk does.")
@click.argument("target", required=False, shell_complete=completion_candidates.targets)
@click.option("--for", "lasting", metavar="DURATION", default="5m", show_default=True, help="Watch for so long.")
@click.option("--from", "pasted", metavar="FILE", callback=not_empty, help="Of what `iostat -x` printed; - is stdin.")
@click.option("--name", default="", help="Preset name (default: mimic- and the device).")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    callback=not_empty,
    help="Write to FILE instead of your preset directory; - is stdout.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing preset.")
@click.pass_context
def mimic_command(
    ctx: click.Context, target: str | None, lasting: str, pasted: str, name: str, output: str, force: bool
) -> None:
    """Make a preset that does to a disk what others do to TARGET: a device, a directory or file on one, or a watched run.

    As root, where tracefs is mounted, each request is traced: rate, mix of reads and writes, block sizes, share in order, sync
    writes, requests in flight, working set. Otherwise the kernel's counters are used, which have mean sizes and the mean queue
    alone. A table says what is known, and what the preset does. Ctrl+C ends it early; what was seen so far is used.

    With --from it reads what `iostat -x` printed; TARGET is then the device, if the text has several.

    \b
    Examples:
      diskprof mimic sda
      diskprof mimic /var/lib/mysql --for 30m --output my-load.toml
      diskprof mimic latest --name night-load
      iostat -x 1 60 | diskprof mimic --from -
    """
    place = place_of(output) if output else None
    if place:
        refuse_device(place)
        if place.exists() and not force:
            raise UsageError(f"{clean(output)} already exists.", "Choose another file, or replace it with --force.")
    if pasted:
        title, device, load = _pasted(pasted, target or "")
    elif target is None:
        raise UsageError("Name a device, a directory or a watched run.", "For example: diskprof mimic sda --for 5m")
    elif _is_place(target):
        title, device, load = _watched(target, _seconds(lasting))
    else:
        title, device, load = _recorded(ctx, target)
    from diskprof.presets.mimic import mimic

    mimicked = mimic(load, name or f"mimic-{device}", f"Load of {device}", f"diskprof mimic: {title}")
    if name and mimicked.preset.name != name:
        raise UsageError(
            f"{name[:40]!r} is not a valid preset name.", f"Small letters, digits, - and _: {mimicked.preset.name}"
        )
    _write(mimicked, title, load, place, output, force=force)


def _write(mimicked: "Mimicked", title: str, load: "SeenLoad", place: Path | None, output: str, *, force: bool) -> None:
    from diskprof.presets.files.write import checked_toml
    from diskprof.reports.content.mimic_report import mimic_report
    from diskprof.reports.render.lines import text
    from diskprof.runner.session import Session

    table = text(mimic_report(title, load, mimicked), width_of_stdout(), ascii_only=not stdout_is_utf8())
    if output and place is None:
        click.echo(table, nl=False, err=True)
        echo_data(checked_toml(mimicked.preset))
        return
    click.echo(table)
    if place is None:
        written = str(Session().save_preset(mimicked.preset, force=force))
        run = mimicked.preset.name
    else:
        written = run = str(place)
        _to_file(place, checked_toml(mimicked.preset), force=force)
    click.echo(clean(written))
    say(f"Run it: diskprof run {clean(shlex.quote(run))} TARGET")


def _to_file(path: Path, text: str, *, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{clean(str(path))} cannot be written: {error.strerror}.") from None


def _seconds(text: str) -> float:
    seconds = parse_duration(text)
    if seconds < 1:
        raise UsageError("--for must be 1 s or more.", "Give a duration such as 30s or 5m.")
    return seconds


def _is_place(target: str) -> bool:
    """Whether it is a device or a path, rather than a run."""
    return "/" in target or Path(target).exists() or Path("/sys/class/block", target).exists() or ":" in target


def _pasted(file: str, device: str) -> tuple[str, str, "SeenLoad"]:
    from diskprof.presets.foreign.iostat import LONGEST_TEXT, load_of_iostat

    place = place_of(file)
    try:
        with sys.stdin if place is None else place.open(errors="replace") as source:
            text = source.read(LONGEST_TEXT + 1)
    except OSError as error:
        raise UsageError(f"{clean(file)} cannot be read: {error.strerror}.") from None
    if len(text) > LONGEST_TEXT:
        say(f"{clean(file)} is long: what is after the first {format_size(LONGEST_TEXT)} is left out.")
    name, load = load_of_iostat(text, device)
    reports = round(load.seconds)
    return f"{name}, {reports} {'report' if reports == 1 else 'reports'} of iostat", name, load


def _recorded(ctx: click.Context, name: str) -> tuple[str, str, "SeenLoad"]:
    from diskprof.runner.observed import observed

    with open_store(ctx) as store:
        found = observed(store, store.run(store.resolve(name)))
    return found.title, found.device, found.load


def _watched(target: str, for_s: float) -> tuple[str, str, "SeenLoad"]:
    from diskprof.analysis.observed_load import load_of_counters, load_of_requests
    from diskprof.devices.machine.device_watch import DeviceWatch, refuse_uncounted
    from diskprof.devices.requests.trace import RequestTrace
    from diskprof.devices.requests.tracefs import why_untraced
    from diskprof.devices.scan.udev import topology
    from diskprof.devices.targets import device_under

    tree = topology()
    device = device_under(target, tree)
    refuse_uncounted(device)
    if refusal := why_untraced(device):
        say(f"{refusal.message} Sizes, order and sync writes are not known then. {refusal.hint}")
    say(f"Watching {device.node} for {format_duration(for_s)}. Ctrl+C ends it.")
    stopped, intervals, seen = Stopped(), [], None
    ends = time.monotonic() + for_s
    with ExitStack() as held:
        watch = DeviceWatch(device, tree.disks_below(device.name))
        trace = None if refusal else held.enter_context(RequestTrace(device))
        while not watch.gone and (left := ends - time.monotonic()) > 0:
            early = stopped.within(min(_EVERY_S, left))
            if found := watch.interval():
                intervals.append(found.sample)
            if trace and (more := trace.interval()):
                seen = seen.plus(more.requests) if seen else more.requests
            if early:
                break
    if watch.gone:
        say(f"{device.node} is gone: what was seen until then is used.")
    load = load_of_requests(seen, intervals) if seen else load_of_counters(intervals)
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{device.label}, watched for {format_duration(load.seconds)}, {when}", device.label, replace(load)
