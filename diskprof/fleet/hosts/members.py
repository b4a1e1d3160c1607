"""From the words of a command to the members of a fleet run."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from diskprof.devices.targets import BY_SERIAL
from diskprof.fleet.hosts.connection import checked_host
from diskprof.fleet.hosts.inventory import ListedHost, listed_hosts, split_host
from diskprof.model.errors import UsageError
from diskprof.model.fleet import FleetMember
from diskprof.model.text import clean

_FILE = re.compile(r"@(?P<path>[^#:]+)(?:#(?P<group>[^:]+))?(?::(?P<target>.*))?")


def names_hosts(words: Sequence[str]) -> bool:
    """Whether one of the targets is on another host, or a file of hosts."""
    return any(word.startswith("@") or _is_remote(word) for word in words)


def _is_remote(word: str) -> bool:
    """As scp has it: a colon before any slash. A target of this machine is written ./a:b then."""
    return word.startswith(("ssh://", "[")) or (":" in word.partition("/")[0] and not word.startswith(BY_SERIAL))


def members_of(words: Sequence[str]) -> tuple[FleetMember, ...]:
    """The members that the targets of a command name, in their order.

    Raises UsageError for a host without a target, for one that is named twice, and for a file that cannot be used.
    """
    found = [member for word in words for member in _members(word)]
    seen = dict[tuple[str | None, str], FleetMember]()
    for member in found:
        # Two targets of this machine are two members, of a host they would take its strength from each other.
        key = (member.host, "" if member.host else member.target)
        if key in seen:
            raise UsageError(
                f"{clean(member.host or member.target)} is named twice.",
                "Name each host once. Several disks of one machine: diskprof ssh HOST run PRESET --each-disk",
            )
        seen[key] = member
    return tuple(found)


def _members(word: str) -> Iterator[FleetMember]:
    if word.startswith("@"):
        match = _FILE.fullmatch(word)
        if not match:
            raise UsageError(
                f"{clean(word)}: no file is named.", "Write @hosts.txt, @inventory.yml:/srv or @inventory.yml#web:/srv"
            )
        for listed in listed_hosts(Path(match["path"]).expanduser(), match["group"] or ""):
            yield _member(listed, match["target"] or "", word)
    elif _is_remote(word):
        yield _member(ListedHost(*split_host(word)), "", word)
    else:
        yield FleetMember(None, word)


def _member(listed: ListedHost, otherwise: str, word: str) -> FleetMember:
    target = listed.target or otherwise
    if not target:
        hint = f"For all of them: {clean(word.partition(':')[0])}:/srv" if word.startswith("@") else "Such as web1:/srv"
        raise UsageError(f"{clean(listed.host)} has no target.", hint)
    return FleetMember(checked_host(listed.host), target)
