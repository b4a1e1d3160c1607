"""What the Tab key offers. Loads what it needs when Tab is pressed, and offers nothing rather than an error."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean

if TYPE_CHECKING:
    from diskprof.model.run import RunSummary

    # Before click 8.4 it takes no type.
    Items = list[CompletionItem[str]]

_MOST_RUNS = 40
_PATIENCE_S = 0.3
# Shells would take other characters apart, or for something else.
_ONE_WORD = re.compile(r"[\w.@%+,/~][\w.@%+,/~-]*", re.ASCII)


def presets(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names and aliases of presets."""
    from diskprof.presets.library import preset_names

    return _beginning(incomplete, ((name, title) for name, title in preset_names().items()))


def presets_and_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """As `presets`, or files where what was typed is the beginning of no preset."""
    return presets(ctx, param, incomplete) or _files(incomplete)


def disk_classes(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of classes of disks."""
    from diskprof.presets.disk_classes import disk_classes as shipped

    return _beginning(incomplete, ((each.name, each.title) for each in shipped()))


def settings(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """`size=`, `runtime=` and so on: the parameters of the preset that was typed."""
    from diskprof.presets.library import parameter_names

    return _beginning(incomplete, ((f"{name}=", "") for name in parameter_names(_words(ctx))))


def variants(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The variants of the preset that was typed."""
    from diskprof.presets.library import variant_names

    return _beginning(incomplete, ((name, "") for name in variant_names(_words(ctx))))


def steady_figures(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """What a test may wait for to be steady."""
    ways = ("total", "read", "write")
    names = [f"{way}.{what}" for way in ways for what in ("iops", "bandwidth")]
    return _beginning(incomplete, ((name, "") for name in (*names, "read.latency.mean", "write.latency.mean")))


def targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Devices by their short names, and directories."""
    if not incomplete:
        return [CompletionItem("."), *_beginning("", _mounts()), *_beginning("", _devices())]
    devices = [] if "/" in incomplete or _is_beginning_here(incomplete) else _beginning(incomplete, _devices())
    return devices or _files(incomplete)


def directories(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Tells the shell to complete the path of a directory as it always does."""
    return [CompletionItem(incomplete, type="dir")]


def runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """`latest`, tags and ids, the newest first."""
    newest = _summaries(ctx)
    names = {"latest": _described(newest[0])} if newest else {}
    for summary in newest:
        for tag in summary.tags:
            names.setdefault(tag, _described(summary))
    for summary in newest:
        if summary.series:
            names.setdefault(summary.series.series_id, f"series: {_described(summary)}")
    names |= {summary.id: _described(summary) for summary in newest}
    return _beginning(incomplete, names.items())


def running(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Ids of the runs that are under way."""
    going = ((summary.id, _described(summary)) for summary in _summaries(ctx) if summary.status == "running")
    return _beginning(incomplete, going)


def in_trash(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Ids of deleted runs."""
    from diskprof.store import Store

    path: Path | None = ctx.find_root().params.get("store")
    try:
        with Store.open(path, create=False, timeout_s=_PATIENCE_S) as store:
            return _beginning(incomplete, ((summary.id, _described(summary)) for summary in store.trash()))
    except DiskprofError:
        return []


def tags(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Tags that runs have."""
    return _beginning(incomplete, {tag: "" for summary in _summaries(ctx) for tag in summary.tags}.items())


def _beginning(incomplete: str, found: Iterable[tuple[str, str]]) -> Items:
    return [
        CompletionItem(name, help=text or None)
        for name, text in found
        if name.startswith(incomplete) and _ONE_WORD.fullmatch(name.removesuffix("="))
    ]


def _files(incomplete: str) -> Items:
    """Tells the shell to complete a path as it always does."""
    return [CompletionItem(incomplete, type="file")]


def _words(ctx: click.Context) -> list[str]:
    """Words of which one is the preset. click, in the middle of an option, has not told them apart yet."""
    name = ctx.params.get("preset") or ctx.params.get("name")
    return [str(name)] if name else os.environ.get("COMP_WORDS", "").split()[2:]


def _is_beginning_here(text: str) -> bool:
    try:
        return any(path.name.startswith(text) for path in Path().iterdir())
    except OSError:
        return False


def _devices() -> Iterator[tuple[str, str]]:
    for path in sorted(Path("/sys/class/block").glob("*")):
        try:
            empty = (path / "size").read_text().strip() == "0"
        except OSError:
            continue
        if not empty:
            yield path.name, "block device"


def _mounts() -> Iterator[tuple[str, str]]:
    """Where a device is mounted, but for what belongs to the system."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for device, place, kind in (line.split(" ")[:3] for line in lines if line.count(" ") >= 3):
        if device.startswith("/dev/") and not place.startswith("/boot") and os.path.isdir(place):  # noqa: PTH112
            yield place, kind


def _summaries(ctx: click.Context) -> list[RunSummary]:
    from diskprof.store import Store

    path: Path | None = ctx.find_root().params.get("store")
    try:
        with Store.open(path, create=False, timeout_s=_PATIENCE_S) as store:
            return store.summaries(limit=_MOST_RUNS)
    except DiskprofError:
        return []


def _described(summary: RunSummary) -> str:
    # A shell takes a line break for the end of what it is told, and shows the rest as it is (F39).
    return clean(f"{summary.preset} on {summary.target}, {summary.started_at:%d %b %H:%M}, {summary.status}")
