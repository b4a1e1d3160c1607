"""diskprof on a host: finds one that is installed, or sends one."""

import os
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

import diskprof
from diskprof.engines.tools import distributions_in, install_command_of
from diskprof.fleet.hosts.connection import Connection
from diskprof.fleet.hosts.programs import Program, ProgramForm, make_bundle, programs_directory, programs_here
from diskprof.model.errors import DiskprofError, EngineMissing
from diskprof.model.fleet import FleetMember
from diskprof.model.text import clean
from diskprof.own_program import own_program

_MARK = "diskprof:"
_UNPACKED = 5
"""A program takes so many times its own size on the host, with what is unpacked and compiled of it."""
_BROKEN, _FULL, _UNFIT, _PACKED = 65, 66, 67, 68

# One round trip finds fio, installed versions of diskprof, and what a program that is sent needs.
_ASK = r"""
PATH="$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin"; version=$1; shift
say() { printf 'diskprof:%s\n' "$*"; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/diskprof/sent
say cache "$cache"
say fio "$(command -v fio)"
machine=$(uname -m)
for known; do
    digest=${known#*:}
    if [ "$known" = "$machine:$digest" ] && [ -x "$cache/$digest/diskprof" ]; then say sent "$cache/$digest"; exit; fi
done
for own in "$(command -v diskprof)" "$HOME/.local/bin/diskprof"; do
    if [ -x "$own" ] && [ "$("$own" --version 2>/dev/null)" = "diskprof $version" ]; then say installed "$own"; exit; fi
done
say system "$(uname -s)"
say machine "$machine"
say user "$(id -u)"
for python in python3.14 python3.13 python3.12 python3.11 python3; do
    found=$(command -v $python) && "$found" -c 'import os, sys, lzma, sqlite3
assert sys.version_info >= (3, 11) and os.confstr("CS_GNU_LIBC_VERSION")
print("diskprof:python %d.%d %s" % (sys.version_info[:2] + (sys.argv[1],)))' "$found" 2>/dev/null
done
for tool in sha256sum tar gzip apt-get dnf yum pacman zypper apk; do
    if command -v $tool >/dev/null; then say has $tool; fi
done
place=$cache
while [ ! -d "$place" ]; do place=$(dirname "$place"); done
say free "$(df -Pk "$place" 2>/dev/null | awk 'NR == 2 { print $4 }')"
if [ ! -w "$place" ]; then say readonly "$place"; fi
sed 's/^/diskprof:release /' /etc/os-release 2>/dev/null || sed 's/^/diskprof:release /' /usr/lib/os-release 2>/dev/null
"""

# All or nothing: what is broken, or does not start, is removed again. The directory is the digest of what was sent.
_TAKE = r"""
cache=$1 digest=$2 form=$3 python=$4
umask 077
part=$cache/.$digest.$$
trap 'rm -rf "$part"; rmdir "$cache" "$(dirname "$cache")" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$part/whole" && cat >"$part/sent" || exit 66
[ "$(sha256sum <"$part/sent" | cut -d' ' -f1)" = "$digest" ] || exit 65
if [ "$form" = bundle ]; then
    gzip -dc <"$part/sent" | tar -xf - -C "$part/whole" || exit 68
    mv "$part/whole"/diskprof-* "$part/program" || exit 66
else
    mkdir "$part/program" || exit 66
    DISKPROF_UNPACKED="$part/program/app" "$python" "$part/sent" --version >/dev/null || exit 67
    cat >"$part/program/diskprof" <<END || exit 66
#!/bin/sh
exec '$python' -I "\$(dirname "\$0")/app" "\$@"
END
    chmod 755 "$part/program/diskprof"
fi
"$part/program/diskprof" --version >/dev/null || exit 67
[ -x "$cache/$digest/diskprof" ] || mv "$part/program" "$cache/$digest" || exit 66
"""

_FORGET = r"""
place=$1
for process in /proc/[0-9]*; do
    [ "$process" = "/proc/$$" ] || ! tr '\0' '\n' <"$process/cmdline" 2>/dev/null | grep -qF "$place/" || exit 3
done
rm -rf "$place"; rmdir "$(dirname "$place")" "$(dirname "$(dirname "$place")")" 2>/dev/null
true
"""


class HostLacks(EngineMissing):
    """The host lacks what diskprof takes there; nothing was changed on it."""


class RemoteProgram(Struct, frozen=True):
    """diskprof on a host: the path of its program, and the directory that it was sent to, if it was."""

    path: str
    sent: str = ""

    def words(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """The words that run it there."""
        colours = os.environ.get("COLORTERM", "")
        return (*(("env", f"COLORTERM={colours}") if colours else ()), self.path, *arguments)


class _Answer(Struct, frozen=True):
    """What a host said of itself: lines of a key and a value, several of some keys."""

    host: str
    lines: Sequence[tuple[str, str]]

    def one(self, key: str) -> str:
        return next((value for name, value in self.lines if name == key), "")

    def all(self, key: str) -> Sequence[str]:
        return [value for name, value in self.lines if name == key]

    def install(self, package: str) -> str:
        """The command that installs a package there; empty where no package manager is known."""
        distributions = distributions_in("\n".join(self.all("release")))
        return install_command_of((package,), distributions, self.all("has").__contains__, root=self.one("user") == "0")


def prepared(connection: Connection, saying: Callable[[str], None], given: Program | None = None) -> RemoteProgram:
    """diskprof of this version on the host: one that is installed or was sent before, or else what fits, sent now.

    `given` is what to send, whatever is installed there. Raises HostUnreachable where ssh does not get in, HostLacks where
    something is missing there (before anything is changed), DiskprofError where sending fails (and nothing of it stays).
    """
    known = [given] if given else list(programs_here())
    answer = _ask(connection, [f"{program.machine}:{program.digest}" for program in known], installed=given is None)
    if not answer.one("fio"):
        # The first answer ends at what is installed; the second has what else the error needs.
        answer = _ask(connection, (), installed=False)
        how = answer.install("fio")
        raise HostLacks(
            f"There is no fio on {clean(connection.host)}.", f"Install it there: {how}" if how else "Install it there."
        )
    if place := answer.one("sent"):
        return RemoteProgram(f"{place}/diskprof", place)
    if own := answer.one("installed"):
        return RemoteProgram(own)
    _check_machine(answer)
    program, python = _fitting(answer, known, given, saying)
    _check_room(answer, program)
    return _send(connection, answer, program, python, saying)


def program_on(host: str, saying: Callable[[str], None]) -> tuple[str, ...]:
    """The words that start diskprof on a host, which nobody is asked a password for. Raises what `prepared` raises."""
    return prepared(Connection(host), saying).words(())


def program_of_member(member: FleetMember, saying: Callable[[str], None]) -> tuple[str, ...]:
    """As `program_on`, where a member of a fleet run is."""
    return own_program() if member.host is None else program_on(member.host, saying)


def forget(connection: Connection, program: RemoteProgram) -> bool:
    """Removes what was sent; False where a run on the host still needs it."""
    return not program.sent or connection.run(("sh", "-c", _FORGET, "sh", program.sent)).code == 0


def _ask(connection: Connection, digests: Sequence[str], *, installed: bool) -> _Answer:
    """What a host says. `digests` are those of programs that may have been sent, each behind its machine and a colon."""
    version = diskprof.__version__ if installed else "-"
    done = connection.run(("sh", "-c", _ASK, "sh", version, *digests))
    said = [
        line[len(_MARK) :].partition(" ")
        for line in done.output.decode("utf-8", "replace").splitlines()
        if line.startswith(_MARK)
    ]
    if not said:
        raise HostLacks(
            f"{clean(connection.host)} runs no shell as Linux has it.", f"It said: {clean(done.errors.strip()[:200])}"
        )
    return _Answer(connection.host, [(key, value) for key, _, value in said])


def _check_machine(answer: _Answer) -> None:
    if answer.one("system") != "Linux":
        raise HostLacks(f"{clean(answer.host)} runs {clean(answer.one('system'))}: diskprof is for Linux.")
    if missing := [tool for tool in ("sha256sum", "tar", "gzip") if tool not in answer.all("has")]:
        raise HostLacks(
            f"There is no {' and no '.join(missing)} on {clean(answer.host)}.", "Install it, or diskprof, there."
        )


def _fitting(
    answer: _Answer, known: Sequence[Program], given: Program | None, saying: Callable[[str], None]
) -> tuple[Program, str]:
    """What to send, and the Python there that a zipapp takes."""
    machine, host = answer.one("machine"), clean(answer.host)
    fitting = [program for program in known if program.machine == machine]
    if given is None and machine != os.uname().machine and not fitting:
        raise HostLacks(
            f"{host} is {clean(machine)}, and this is {os.uname().machine}: no program here runs there.",
            f"Make one for it: make pyz ARGS='--machine {clean(machine)}', for Python 3.11 and later there, or `make bundle` on"
            f" such a machine. Lay it in {programs_directory()}, or name it with --program.",
        )
    if given and not fitting:
        raise HostLacks(
            f"{given.path.name} is not for {host}, which is {clean(machine)}.", "Its name says what it is for."
        )
    python = answer.one("python").partition(" ")[2]
    for program in fitting:
        if program.form is ProgramForm.BUNDLE or python:
            return program, python
    if given or machine != os.uname().machine:
        raise HostLacks(
            f"There is no Python 3.11 or later on {host}, which a zipapp takes.",
            "Send a bundle: `make bundle`" + (", on such a machine." if machine != os.uname().machine else "."),
        )
    return make_bundle(saying), ""


def _check_room(answer: _Answer, program: Program) -> None:
    place = clean(answer.one("cache"))
    if readonly := answer.one("readonly"):
        raise HostLacks(
            f"{clean(readonly)} on {clean(answer.host)} cannot be written to.", f"diskprof is kept in {place} there."
        )
    free, needed = answer.one("free"), program.size_bytes * _UNPACKED
    if free.isdigit() and int(free) << 10 < needed:
        raise HostLacks(
            f"There is no room for diskprof in {place} on {clean(answer.host)}: it takes {needed >> 20} MiB,"
            f" and {int(free) >> 10} MiB are free.",
            "Make room there, or set XDG_CACHE_HOME there to another directory.",
        )


def _send(
    connection: Connection, answer: _Answer, program: Program, python: str, saying: Callable[[str], None]
) -> RemoteProgram:
    cache = answer.one("cache")
    saying(f"Sending the {program.form} ({program.size_bytes / 1e6:.0f} MB) to {clean(connection.host)}, once ...")
    done = connection.run(("sh", "-c", _TAKE, "sh", cache, program.digest, program.form, python), program.path)
    if done.code:
        why = {
            _BROKEN: "it arrived damaged",
            _FULL: f"{clean(cache)} there cannot be written to",
            _UNFIT: "it does not start there",
            _PACKED: f"it cannot be unpacked in {clean(cache)}",
        }.get(done.code, f"exit code {done.code}")
        said = "".join(f"\n  {clean(line)}" for line in done.errors.splitlines()[-4:])
        raise DiskprofError(
            f"diskprof was not sent to {clean(connection.host)}: {why}. Nothing of it stays there.{said}",
            "A directory that programs may not be started from (noexec)? XDG_CACHE_HOME names another."
            if done.code == _UNFIT
            else "",
        )
    place = str(PurePosixPath(cache, program.digest))
    return RemoteProgram(f"{place}/diskprof", place)
