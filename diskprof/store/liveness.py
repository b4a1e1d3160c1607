"""Which process carries a run out, and whether it still does."""

import os
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from msgspec import Struct

from diskprof.store.codec import from_micros

_PROC = Path("/proc")
# A runner writes every second; of one on another machine or in another container its silence is all that tells.
_SILENCE = timedelta(minutes=10)


class ProcessIdentity(Struct, frozen=True):
    """A process that no other can be taken for: its id, when it began (clock ticks since boot), and the boot.

    `place` names the machine and the pid namespace that `pid` counts in: a store in a shared home directory is seen from
    other machines and containers, where the same number is somebody else.
    """

    pid: int
    start_ticks: int
    boot_id: str
    place: str = ""


REPLICATED = ProcessIdentity(pid=2**31 - 1, start_ticks=0, boot_id="", place="fleet")
"""The runner of a run on another host, which the coordinator of a fleet run writes down here: no process that is known here.

Whether such a run goes on is the host's to say; whether somebody listens, the coordinator's.
"""


def this_process() -> ProcessIdentity:
    """The identity of the calling process."""
    stat = _stat("self")
    return ProcessIdentity(os.getpid(), stat[1] if stat else 0, _boot_id(), _place())


def is_alive(process: ProcessIdentity) -> bool:
    """Whether the process runs and can be signalled under its pid from here. A zombie is dead."""
    if process.boot_id != _boot_id() or is_elsewhere(process):
        return False
    stat = _stat(str(process.pid))
    return stat is not None and stat[1] == process.start_ticks and stat[0] not in "ZXx"


def is_elsewhere(process: ProcessIdentity) -> bool:
    """Whether the process belongs to another machine or another pid namespace: from here nothing is known of it."""
    if not process.place or process.place == _place():
        return False
    machine, here = (place.partition(" ")[0] for place in (process.place, _place()))
    # The same machine after a restart: pid namespaces are numbered anew, and every process of before is gone.
    return machine != here or process.boot_id == _boot_id()


def _stat(pid: str) -> tuple[str, int] | None:
    """(state, start time in ticks since boot) of a process, None if there is none."""
    try:
        text = (_PROC / pid / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name, in parentheses, may hold blanks and parentheses itself.
    fields = text.rpartition(")")[2].split()
    return (fields[0], int(fields[19])) if len(fields) > 19 else None


@cache
def _boot_id() -> str:
    return _read(_PROC / "sys/kernel/random/boot_id")


@cache
def _place() -> str:
    machine = _read(Path("/etc/machine-id")) or os.uname().nodename
    try:
        namespace = str((_PROC / "self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{machine} {namespace}"


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def is_dead(runner: ProcessIdentity, heard_us: int) -> bool:
    """Whether a runner that last wrote at `heard_us` (microseconds since 1970) has ended, as far as it can be seen from here."""
    if is_elsewhere(runner):
        return datetime.now(UTC) - from_micros(heard_us) > _SILENCE
    return not is_alive(runner)
