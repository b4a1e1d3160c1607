"""Whether ctrl+z has somewhere to go back to."""

import os
from pathlib import Path


def has_a_shell() -> bool:
    """Whether somebody would notice that this job stopped, and could continue it.

    That is so where the parent of one of its processes is in the same session, but in another job. Over `ssh -t HOST diskprof`
    there is nobody: stopped, it would stay so for ever.
    """
    job, session = os.getpgrp(), os.getsid(0)
    places = dict(_places())
    return any(
        parent in places and places[parent][2] == session and places[parent][1] != job
        for parent, its_job, _ in places.values()
        if its_job == job
    )


def _places() -> "list[tuple[int, tuple[int, int, int]]]":
    """(id, (parent, job, session)) of every process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        found.append((int(stat.parent.name), (int(fields[1]), int(fields[2]), int(fields[3]))))
    return found
