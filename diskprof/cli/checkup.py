"""What `diskprof doctor` looks at: the tools, the devices, what this user may do, the terminal, the store, the presets.

Each look gives `Check`s, in words, and facts, for programs. Nothing is changed or made, and nothing is read from a device.
"""

import grp
import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from diskprof.model.advice import on_command_line
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.errors import DiskprofError, EngineBusy, EngineMissing, StoreError
from diskprof.model.preset import PROGRAMS
from diskprof.model.text import clean, locale_of, says_utf8


class State(StrEnum):
    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


class Check(Struct, frozen=True):
    """One thing that was looked at. `advice`: what to do about it, may be several lines or empty."""

    name: str
    state: State
    text: str
    advice: str = ""


class Section(Struct, frozen=True):
    """The checks of one kind, and the same as `facts`, plain values for JSON."""

    title: str
    checks: tuple[Check, ...]
    facts: Any = field(default_factory=dict)


def check_tools() -> Section:
    """fio and ioping: found or not, where, which version."""
    from diskprof.engines.tools import find_tool, install_command

    checks, facts = [], []
    for name in PROGRAMS:
        try:
            tool = find_tool(name)
        except EngineMissing as error:
            checks.append(Check(name, State.WRONG, error.message, on_command_line(error.hint)))
            facts.append(_tool_facts(name, problem=error.message, install=install_command((name,))))
        except EngineBusy as error:
            checks.append(Check(name, State.WRONG, error.message, on_command_line(error.hint)))
            facts.append(_tool_facts(name, path=error.path, problem=error.message))
        else:
            checks.append(Check(name, State.OK, f"{tool.version:8} {clean(tool.path)}"))
            facts.append(_tool_facts(name, path=tool.path, version=tool.version))
    return Section("Tools", tuple(checks), facts)


def _tool_facts(
    name: str, *, path: str = "", version: str = "", problem: str = "", install: str = ""
) -> dict[str, object]:
    """As JSON has them: a program that is there and does not answer is found, and has a problem."""
    return {
        "name": str(name),
        "found": bool(path),
        "path": clean(path) or None,
        "version": version or None,
        "problem": problem or None,
        "install": install or None,
    }


def check_io_engines(*, fio: bool) -> Section:
    """fio's own I/O engines that the kernel may refuse (F13). `fio`: whether there is one to use them."""
    from diskprof.runner.plan.ioengines import why_unusable

    checks, facts = [], {}
    for engine, instead in (("io_uring", "libaio"), ("libaio", "psync (QD1)")):
        reason = why_unusable(engine)
        facts[engine] = {"usable": not reason, "problem": reason or None}
        if reason:
            checks.append(Check(engine, State.NOTE, f"not usable: {reason}", f"Presets use {instead} instead."))
        elif fio:
            checks.append(Check(engine, State.OK, "usable"))
        else:
            checks.append(Check(engine, State.NOTE, "allowed by the kernel, but there is no fio to use it"))
    return Section("Engines of fio", tuple(checks), facts)


def check_reach(tree: DeviceTree, *, udevd: bool, root: bool, readable: Callable[[Device], bool]) -> Section:
    """Whether udevd runs, which devices this user may read, and where a test file could be made."""
    from diskprof.devices.targets import default_device, suggest_directory

    checks = [
        Check("udevd", State.OK, "runs")
        if udevd
        else Check(
            "udevd",
            State.NOTE,
            "not running: models, serials and labels may be missing; hotplug still works",
        )
    ]
    devices = [device for device in tree.devices if not device.empty and device.kind is not DeviceKind.ROM]
    may_read = [device for device in devices if readable(device)]
    checks.append(_device_check(devices, may_read, root=root))
    device = default_device(tree)
    directory = suggest_directory(device) if device else None
    if device and directory:
        checks.append(Check("test files", State.OK, f"can be created in {clean(directory)} (on {device.title})"))
    else:
        text = "no writable directory on a disk found"
        checks.append(Check("test files", State.NOTE, text, "Give one: diskprof run quick DIRECTORY"))
    facts = {
        "udevd": udevd,
        "root": root,
        "devices": [
            {"name": d.name, "node": d.node, "readable": d in may_read, "without_root": _without_root(d.node)}
            for d in devices
        ],
        "directory": clean(directory) if directory else None,
    }
    return Section("Reach", tuple(checks), facts)


def _device_check(devices: list[Device], may_read: list[Device], *, root: bool) -> Check:
    if not devices:
        return Check("devices", State.NOTE, "none visible; directories can still be tested")
    text = f"{len(may_read)} of {len(devices)} readable"
    groups = sorted({group for device in devices if (group := _without_root(device.node)) not in ("", "everybody")})
    if root:
        whose = f"members of {' or '.join(map(clean, groups))} can open them too" if groups else "without root, none"
        return Check("devices", State.OK, f"{text} as root; {whose}")
    if len(may_read) == len(devices):
        return Check("devices", State.OK, f"{text} without root")
    from diskprof.devices.targets import how_to_join, sudo_command

    join = next((f", or {how}" for device in devices if (how := how_to_join(device.node))), "")
    return Check(
        "devices",
        State.NOTE,
        f"{text} without root; directories can still be tested",
        f"For devices: {sudo_command(())}{join}",
    )


def _without_root(node: str) -> str:
    """The group whose members may read a device, "everybody", or empty for root alone."""
    try:
        status = Path(node).stat()
    except OSError:
        return ""
    if status.st_mode & stat.S_IROTH:
        return "everybody"
    if not status.st_mode & stat.S_IRGRP or status.st_gid == 0:
        return ""
    try:
        return grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        return str(status.st_gid)


def check_wear(*, root: bool) -> Section:
    """smartctl, without which no plan can say what share of a disk's endurance it takes."""
    from diskprof.engines.smartctl import find_smartctl
    from diskprof.engines.tools import install_command

    path = find_smartctl()
    if not path:
        text = "not found: disk wear and endurance cost are not shown"
        advice = f"It is part of smartmontools: {install_command(('smartmontools',)) or 'install that package.'}"
        check = Check("smartctl", State.NOTE, text, advice)
    elif not root:
        check = Check("smartctl", State.NOTE, f"{clean(path)}; most disks report wear to root only")
    else:
        check = Check("smartctl", State.OK, f"{clean(path)}: plans show the endurance cost")
    return Section("Wear", (check,), {"smartctl": clean(path) or None})


def check_terminal(
    environment: Mapping[str, str], *, tty: bool, size: tuple[int, int] | None, encoding: str | None
) -> Section:
    """What the terminal can show. `size` is (columns, rows), None without a terminal."""
    term = environment.get("TERM", "")
    colours = _colours(environment)
    utf8 = says_utf8(environment, encoding)
    within = [
        word
        for word, present in (
            ("tmux", environment.get("TMUX")),
            ("screen", environment.get("STY")),
            ("ssh", environment.get("SSH_CONNECTION") or environment.get("SSH_TTY")),
        )
        if present
    ]
    checks = []
    if not tty:
        checks.append(
            Check(
                "screen",
                State.NOTE,
                "no terminal: the screen cannot be shown",
                "Over ssh, request one: ssh -t HOST diskprof",
            )
        )
    elif term in ("", "dumb"):
        advice = "Set TERM to your terminal's type: TERM=xterm-256color diskprof"
        checks.append(Check("screen", State.NOTE, f"TERM={clean(term)!r} cannot show the screen", advice))
    else:
        through = f", through {' and '.join(within)}" if within else ""
        checks.append(Check("screen", State.OK, f"TERM={clean(term)}, {colours} colours{through}"))
    if size:
        columns, rows = size
        small = columns < 80 or rows < 24
        advice = "The screen needs 80x24 or more." if small else ""
        checks.append(Check("size", State.NOTE if small else State.OK, f"{columns}x{rows}", advice))
    if utf8:
        checks.append(Check("characters", State.OK, "UTF-8: charts in braille"))
    else:
        advice = "For finer charts, set a UTF-8 locale such as LANG=C.UTF-8."
        said = f"a locale of {locale_of(environment)}" if says_utf8({}, encoding) else encoding or "unknown"
        checks.append(Check("characters", State.NOTE, f"{said}: charts in plain characters", advice))
    facts = {
        "tty": tty,
        "term": clean(term),
        "colours": colours,
        "columns": size[0] if size else None,
        "rows": size[1] if size else None,
        "utf8": utf8,
        "through": within,
    }
    return Section("Terminal", tuple(checks), facts)


def _colours(environment: Mapping[str, str]) -> int:
    """How many colours can be trusted (F46): OpenSSH does not send COLORTERM, so over SSH it is what TERM says."""
    if "NO_COLOR" in environment:
        return 2
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return 1 << 24
    term = environment.get("TERM", "")
    if term in ("", "dumb", "vt100", "vt102", "vt220"):
        return 2
    return 256 if term.endswith(("-256color", "-direct", "kitty", "alacritty", "ghostty")) else 16


def check_store(path: Path | None) -> Section:
    """The store's place, whether it can be written, its journal mode and how many runs it holds. None: the usual place."""
    from diskprof.store import Store, default_path

    place = path or default_path()
    shown = clean(str(place))
    facts: dict[str, Any] = {"path": shown, "exists": False, "writable": False, "journal": None, "runs": None}
    facts["problem"] = None
    try:
        if not place.exists():
            writable = _can_be_made(place)
            facts["writable"] = writable
            if writable:
                return Section("Store", (Check("place", State.OK, f"{shown}, created by the first run"),), facts)
            raise StoreError(
                f"{shown} cannot be created: no permission.", "Choose another file with --store FILE or $DISKPROF_HOME."
            )
        with Store.open(place, create=False) as store:
            runs = store.count()
            facts.update(exists=True, writable=not store.read_only, journal=store.journal, runs=runs)
            checks = [Check("place", State.OK, f"{shown}, {runs} {'run' if runs == 1 else 'runs'}")]
            if store.read_only:
                checks = [
                    Check("place", State.WRONG, f"{shown} is read-only", "Choose another file with --store FILE.")
                ]
            if store.journal == "wal":
                checks.append(Check("journal", State.OK, "wal: concurrent readers do not block a run"))
            else:
                text = f"{clean(store.journal)}: no shared memory on this file system, so readers may wait for writers"
                checks.append(
                    Check("journal", State.NOTE, text, "A run database on a local disk is faster: --store FILE.")
                )
            return Section("Store", tuple(checks), facts)
    except DiskprofError as error:
        problem, hint = error.message, on_command_line(error.hint)
    except OSError as error:
        problem, hint = f"{shown} cannot be reached: {error.strerror}.", "Choose another file with --store FILE."
    facts["problem"] = problem
    return Section("Store", (Check("place", State.WRONG, problem, hint),), facts)


def _can_be_made(path: Path) -> bool:
    there = next(parent for parent in path.absolute().parents if parent.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK, effective_ids=True)


def check_presets() -> Section:
    """How many presets there are, and which of the person's own cannot be used."""
    from diskprof.presets.library import own_presets, shipped_files, user_directory

    # Only the person's own are read: the shipped ones passed their checks before they were, and reading them takes a while.
    library = own_presets()
    shipped, own = len(shipped_files()), len(library.presets)
    checks = [
        Check("shipped", State.OK, str(shipped))
        if shipped
        else Check("shipped", State.WRONG, "none: this installation is incomplete", "Install diskprof again.")
    ]
    directory = clean(str(user_directory()))
    checks.append(Check("your own", State.OK, f"{own}, from {directory}" if own else f"none (directory: {directory})"))
    checks += [
        Check("broken", State.NOTE, clean(str(problem)), "Correct the file; the other presets work.")
        for problem in library.problems
    ]
    facts = {
        "shipped": shipped,
        "own": own,
        "directory": directory,
        "problems": [clean(str(problem)) for problem in library.problems],
    }
    return Section("Presets", tuple(checks), facts)


def system_facts() -> dict[str, str]:
    """The operating system, kernel and Python in use."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    return {
        "os": clean(name),
        "kernel": clean(platform.release()),
        "machine": clean(platform.machine()),
        "python": platform.python_version(),
        "executable": clean(sys.executable),
    }


def terminal_size() -> tuple[int, int] | None:
    """(columns, rows) of the first of stdout, stderr and stdin that is a terminal."""
    for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
        try:
            if stream and stream.isatty():
                size = os.get_terminal_size(stream.fileno())
                return (size.columns, size.lines) if size.columns else shutil.get_terminal_size()
        except (OSError, ValueError):
            continue
    return None
