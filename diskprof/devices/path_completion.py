"""Paths that begin as somebody has typed, as a shell completes them."""

import os
from itertools import islice
from pathlib import Path

from diskprof.model.device import DeviceTree
from diskprof.model.text import clean

_MOST_READ = 5000
_MOST = 200


def completions(text: str, tree: DeviceTree) -> tuple[str, ...]:
    """What `text` may become: directories with a `/` at their end, files, and in /dev the devices of `tree`; sorted.

    Reads a directory, so it belongs in a thread. Names that a terminal could not show as they are, are left out.
    """
    directory, _, begin = text.rpartition("/")
    if "/" not in text:
        return ()
    if directory == "/dev":
        return tuple(sorted(each.node for each in tree.devices if each.node.startswith(text) and not each.empty))
    found = []
    try:
        with os.scandir(Path(f"{directory}/").expanduser()) as entries:
            for entry in islice(entries, _MOST_READ):
                name = entry.name
                fits = name.startswith(begin) and (begin or not name.startswith("."))
                if fits and clean(name) == name:
                    found.append(f"{directory}/{name}{'/' if entry.is_dir() else ''}")
    except (OSError, RuntimeError, ValueError):
        # No such directory, none that may be read, or nobody's home.
        pass
    return tuple(sorted(found)[:_MOST])
