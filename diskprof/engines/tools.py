"""fio and ioping on this machine: where they are, whether they are the right programs, how to get them."""

import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from msgspec import Struct

from diskprof.engines.process import run_briefly
from diskprof.model.errors import EngineBusy, EngineMissing
from diskprof.model.preset import EngineName
from diskprof.model.text import clean


class Tool(Struct, frozen=True):
    """An engine that can be used; `version` as it calls itself, without its name: `3.33`."""

    name: EngineName
    path: str
    version: str


class _Wanted(Struct, frozen=True):
    variable: str
    ask: str
    answer: re.Pattern[str]
    oldest: tuple[int, int]
    why: str


_WANTED = {
    # A program of another kind is called fio too: only fio-3 and later speak as we need it (F8, F14).
    EngineName.FIO: _Wanted(
        "DISKPROF_FIO", "--version", re.compile(r"fio-((\d+)\.(\d+)\S*)"), (3, 1), "its figures are too coarse"
    ),
    EngineName.IOPING: _Wanted(
        "DISKPROF_IOPING", "-v", re.compile(r"ioping ((\d+)\.(\d+)\S*)"), (1, 2), "it cannot write JSON"
    ),
}
_PATIENCE_S = 30.0
"""A program whose disk is under load takes its time: fio needed 6 s to tell its version on a slow machine (F81)."""

_MORE_PLACES = ("/usr/local/bin", "/usr/bin", "/usr/local/sbin", "/usr/sbin")
PACKAGE_MANAGERS = {
    "apt-get": "apt-get install -y",
    "dnf": "dnf install -y",
    "yum": "yum install -y",
    "pacman": "pacman -S --needed --noconfirm",
    "zypper": "zypper --non-interactive install",
    "apk": "apk add",
}
_MANAGER_OF = {
    "debian": ("apt-get",),
    "ubuntu": ("apt-get",),
    "fedora": ("dnf", "yum"),
    "rhel": ("dnf", "yum"),
    "centos": ("dnf", "yum"),
    "amzn": ("dnf", "yum"),
    "arch": ("pacman",),
    "suse": ("zypper",),
    "opensuse": ("zypper",),
    "alpine": ("apk",),
}


_known: ContextVar[dict[EngineName, Tool] | None] = ContextVar("_known", default=None)


@contextmanager
def asked_once() -> Iterator[None]:
    """Inside, in this thread, an engine that was found once is not asked again."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def find_tool(name: EngineName, waiting: Callable[[str], None] | None = None) -> Tool:
    """The engine to use: the one that DISKPROF_FIO or DISKPROF_IOPING names, else the first fitting one on PATH.

    `waiting` is handed a line for the person where it has to be waited for. Raises EngineMissing where it is absent, broken,
    too old or another program of that name (F14), EngineBusy where it does not answer in 30 s.
    """
    known = _known.get()
    if known is None:
        return _find_tool(name, waiting)
    if name not in known:
        known[name] = _find_tool(name, waiting)
    return known[name]


def _find_tool(name: EngineName, waiting: Callable[[str], None] | None) -> Tool:
    wanted = _WANTED[name]
    refusals: list[str] = []
    busy: EngineBusy | None = None
    for path in _candidates(name, os.environ.get(wanted.variable)):
        try:
            found = _examine(name, path, waiting)
        except EngineBusy as error:
            busy = busy or error
            continue
        if isinstance(found, Tool):
            return found
        refusals.append(found)
    if busy:
        raise busy
    hint = _hint(name, wanted)
    if refusals:
        raise EngineMissing(refusals[0], hint)
    if given := os.environ.get(wanted.variable):
        raise EngineMissing(f"{wanted.variable} is {clean(given)}, which is not a program.", hint)
    raise EngineMissing(f"{name} is not installed.", hint)


def _candidates(name: str, given: str | None) -> Iterator[str]:
    if given:
        if path := shutil.which(given):
            yield path
        return
    seen: set[str] = set()
    for place in (*os.environ.get("PATH", "").split(os.pathsep), *_MORE_PLACES):
        path = shutil.which(name, path=place) if place else None
        if path and (real := str(Path(path).resolve())) not in seen:
            seen.add(real)
            yield str(Path(path).absolute())


def _examine(name: EngineName, path: str, waiting: Callable[[str], None] | None) -> Tool | str:
    """The tool at `path`, or why it cannot be used. Raises EngineBusy."""
    wanted, shown = _WANTED[name], clean(path)

    def tell() -> None:
        if waiting:
            waiting(f"Waiting for {shown} {wanted.ask} to answer: the machine or its disk is busy.")

    answer = run_briefly((path, wanted.ask), _PATIENCE_S, tell)
    if answer.late:
        raise EngineBusy(
            f"{shown} did not answer to {wanted.ask} within {_PATIENCE_S:g} s: the machine or its disk is busy.",
            "Try again when the machine is less busy.",
            path,
        )
    first = clean(answer.output.strip().partition("\n")[0])[:60]
    if answer.code is None:
        return f"{shown} cannot be started, or its output for {wanted.ask} is endless."
    if answer.code:
        how = f"exit code {answer.code}" if answer.code > 0 else _signal_name(-answer.code)
        return f"{shown} {wanted.ask} failed ({how}{f'; it says: {first}' if first else ''})."
    match = wanted.answer.match(answer.output)
    if not match:
        return f"{shown} is another program of that name" + (f" (it says: {first})." if first else ".")
    if (int(match[2][:6]), int(match[3][:6])) < wanted.oldest:
        oldest = ".".join(map(str, wanted.oldest))
        return f"{shown} is {name} {clean(match[1])}, and diskprof needs {oldest} or later: {wanted.why}."
    return Tool(name, path, clean(match[1]))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _hint(name: EngineName, wanted: _Wanted) -> str:
    command = install_command((name,))
    how = f"Install it: {command}" if command else f"Install {name} with your distribution's package manager."
    return f"{how}\nOr set {wanted.variable} to the program's full path."


def install_command(packages: Sequence[str]) -> str:
    """The command that installs `packages` here, with sudo where it takes root; empty where no package manager is known."""
    return install_command_of(packages, _distributions(), lambda name: bool(shutil.which(name)), root=os.geteuid() == 0)


def install_command_of(
    packages: Sequence[str], distributions: Sequence[str], has: Callable[[str], bool], *, root: bool
) -> str:
    """The same for a machine of these `distributions`, which `has` programs: its own package manager, else the first there is."""
    named = (manager for like in distributions for manager in _MANAGER_OF.get(like, ()))
    manager = next((manager for manager in (*named, *PACKAGE_MANAGERS) if has(manager)), "")
    if not manager:
        return ""
    command = f"{PACKAGE_MANAGERS[manager]} {' '.join(packages)}"
    return command if root else f"sudo {command}"


def _distributions() -> tuple[str, ...]:
    for file in _OS_RELEASE:
        try:
            return distributions_in(file.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
    return ()


def distributions_in(os_release: str) -> tuple[str, ...]:
    """ID and ID_LIKE of os-release, the nearest first."""
    values: dict[str, str] = {}
    for line in os_release.splitlines():
        key, _, value = line.partition("=")
        values[key.strip()] = value.strip().strip("\"'").lower()
    names = (values.get("ID", ""), *values.get("ID_LIKE", "").split())
    return tuple(name.partition("-")[0] if name.startswith("opensuse") else name for name in names)


_OS_RELEASE = (Path("/etc/os-release"), Path("/usr/lib/os-release"))
