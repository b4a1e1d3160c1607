"""Lists of hosts in files: a host a line, or an inventory of Ansible's in YAML with its groups.

PyYAML reads it, as Ansible does: YAML 1.1, and only what is data.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from diskprof.model.errors import UsageError
from diskprof.model.text import clean

_YAML = (".yml", ".yaml")
_MOST = 1000
_MOST_BYTES = 4 << 20
_RANGE = re.compile(r"\[(\w+):(\w+)(?::(\d+))?\]")
_TARGET = "diskprof_target"


class ListedHost(Struct, frozen=True):
    """A host as ssh takes it, and what to test there; an empty target where the file does not say."""

    host: str
    target: str = ""


def listed_hosts(path: Path, group: str = "") -> list[ListedHost]:
    """The hosts in a file, of an inventory those of a group. Raises UsageError with the file and the line or the group."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"{clean(str(path))} cannot be read: {error.strerror}.", "Name a file of hosts: @hosts.txt"
        ) from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{clean(str(path))} is no list of hosts: it is too large.")
    text = data.decode("utf-8", "replace")
    if path.suffix.lower() in _YAML:
        try:
            return _bounded(path, _inventory(path, text, group))
        except RecursionError:
            raise UsageError(f"{clean(str(path))}: its groups are too deep, or hold themselves.") from None
    if group:
        raise UsageError(f"{clean(str(path))} has no groups.", "An inventory of Ansible's has: its name ends in .yml.")
    return _bounded(path, _lines(text))


def _bounded(path: Path, found: Iterator[ListedHost]) -> list[ListedHost]:
    hosts = list(islice(found, _MOST + 1))
    if len(hosts) > _MOST:
        raise UsageError(f"{clean(str(path))} has more than {_MOST} hosts.", "Name a group, or fewer.")
    if not hosts:
        raise UsageError(f"{clean(str(path))} names no hosts.", "A line is HOST:TARGET, such as web1:/srv")
    return hosts


def _lines(text: str) -> Iterator[ListedHost]:
    for line in text.splitlines():
        word = line.partition("#")[0].strip()
        if word:
            yield ListedHost(*split_host(word))


def split_host(word: str) -> tuple[str, str]:
    """(host, target) of HOST:TARGET; an empty target where there is no colon.

    A host in brackets may have colons: [fe80::1]:/srv, root@[fe80::1]:/srv
    """
    if found := re.fullmatch(r"([^/:@\[]+@)?\[([^]/]*)\]:?(.*)", word):
        return (found[1] or "") + found[2], found[3]
    if word.startswith("ssh://"):
        found = re.fullmatch(r"(ssh://(?:[^/:@\[]+@)?(?:\[[^]/]*\]|[^/:]+)(?::\d+)?):?(.*)", word)
        return (found[1], found[2]) if found else (word, "")
    host, _, target = word.partition(":")
    return host, target


# Ansible's inventory


def _inventory(path: Path, text: str, group: str) -> Iterator[ListedHost]:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc, unused-ignore]
        """As Ansible's: an encrypted or unsafe value is a text that is not used here."""

    Loader.add_multi_constructor("!", lambda loader, _suffix, node: getattr(node, "value", None))
    try:
        data = yaml.load(text, Loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or "it cannot be read"
        raise UsageError(f"{clean(str(path))}{where}: {clean(str(why))}.", "It is no YAML.") from None
    groups = _table(data, path, "an inventory")
    wanted = _groups_called(groups, group, path)
    if group and not wanted:
        names = ", ".join(sorted(dict.fromkeys(name for name, _, _ in _walk(groups, {}, path))))
        raise UsageError(f"{clean(str(path))} has no group {clean(group)!r}.", f"It has: {clean(names)}.")
    found: dict[str, ListedHost] = {}
    for body, inherited in wanted:
        for name, values in _hosts(body, inherited, path):
            found.setdefault(name, _listed(name, values, path))
    yield from found.values()


def _groups_called(
    groups: Mapping[str, Any], name: str, path: Path
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """(group, variables of those above it) of the groups of that name; all of them without a name."""
    if not name:
        return [(_table(body, path, key), {}) for key, body in groups.items()]
    return [(body, inherited) for key, body, inherited in _walk(groups, {}, path) if key == name]


def _walk(
    groups: Mapping[str, Any], inherited: Mapping[str, Any], path: Path
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    for name, value in groups.items():
        body = _table(value, path, name)
        yield str(name), body, inherited
        own = {**inherited, **_table(body.get("vars"), path, "vars")}
        yield from _walk(_table(body.get("children"), path, "children"), own, path)


def _hosts(
    body: Mapping[str, Any], inherited: Mapping[str, Any], path: Path
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    own = {**inherited, **_table(body.get("vars"), path, "vars")}
    for pattern, values in _table(body.get("hosts"), path, "hosts").items():
        for name in _expanded(str(pattern), path):
            yield name, {**own, **_table(values, path, name)}
    for name, child in _table(body.get("children"), path, "children").items():
        yield from _hosts(_table(child, path, name), own, path)


def _expanded(pattern: str, path: Path) -> Iterator[str]:
    """web[01:16] is sixteen hosts, with leading zeros as written; [a:c] three."""
    match = _RANGE.search(pattern)
    if not match:
        yield pattern
        return
    first, last, step = match[1], match[2], int(match[3] or 1)
    if first.isdecimal() and last.isdecimal():
        names = [
            str(number).zfill(len(first)) for number in islice(range(int(first), int(last) + 1, max(step, 1)), _MOST)
        ]
    elif len(first) == len(last) == 1:
        names = [chr(code) for code in range(ord(first), ord(last) + 1, max(step, 1))]
    else:
        raise UsageError(f"{clean(str(path))}: {clean(pattern)} is no range of hosts.", "Write web[01:16] or web[a:c].")
    for name in names:
        yield from _expanded(f"{pattern[: match.start()]}{name}{pattern[match.end() :]}", path)


def _listed(name: str, values: Mapping[str, Any], path: Path) -> ListedHost:
    def text(key: str) -> str:
        value = values.get(key, "")
        if isinstance(value, str) and "{{" in value:
            raise UsageError(
                f"{clean(str(path))}: {key} of {clean(name)} is a template.", "Write it out: only Ansible fills it in."
            )
        return str(value) if value not in (None, "") else ""

    host, user, port = text("ansible_host") or name, text("ansible_user"), text("ansible_port")
    by_port = port not in ("", "22")
    host = f"[{host}]" if by_port and ":" in host else host
    host = f"{user}@{host}" if user and "@" not in host else host
    return ListedHost(f"ssh://{host}:{port}" if by_port else host, text(_TARGET))


def _table(value: object, path: Path, what: object) -> Mapping[str, Any]:
    """A table, empty for nothing. Raises UsageError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UsageError(
            f"{clean(str(path))}: {clean(str(what))} is no table.",
            "An inventory has groups with hosts: all: {hosts: {web1: {}}}",
        )
    return value
