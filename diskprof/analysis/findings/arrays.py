"""Arrays and multipath devices whose parts changed during a test, or were not all there."""

from collections.abc import Iterator

from diskprof.analysis.findings.view import TestView
from diskprof.model.device import Parts
from diskprof.model.run import Finding, Weight
from diskprof.model.units import format_percent


def array_sync(view: TestView) -> Finding | None:
    """A resync, a rebuild or a check reads and writes the disks of the array that is tested."""
    evidence = [_synced(before, after) for before, after in _pairs(view) if before.sync or after.sync]
    if not evidence:
        return None
    return view.found(
        "array-sync",
        Weight.DOUBT,
        "An array was resyncing during the test and shared the disks with it.",
        "; ".join(evidence),
        "Wait until it has finished (cat /proc/mdstat) and run the test again.",
    )


def array_degraded(view: TestView) -> Finding | None:
    """An array that lacks a member reads what is left, or computes what is missing."""
    found = [(before, after) for before, after in _pairs(view) if not after.paths and (before.missing or after.missing)]
    if not found:
        return None
    lost = any(after.missing > before.missing or _lost(before, after) for before, after in found)
    return view.found(
        "array-degraded",
        Weight.DOUBT,
        "An array lost a member during the test: figures before and after are mixed."
        if lost
        else "Degraded array: a member was missing during the test.",
        "; ".join(_members(before, after) for before, after in found),
        "Find out why it failed (dmesg, mdadm --detail), replace it, and run the test again.",
    )


def path_lost(view: TestView) -> Finding | None:
    """The test goes on by the paths that are left, perhaps at another speed."""
    found = [(before, after) for before, after in _pairs(view) if after.paths]
    lost = [(after.name, gone) for before, after in found if (gone := _lost(before, after))]
    if lost:
        return view.found(
            "path-lost",
            Weight.DOUBT,
            "A multipath device lost a path during the test: figures before and after are mixed.",
            "; ".join(f"{name} lost {', '.join(gone)}" for name, gone in lost),
            "Find out why (multipath -ll, dmesg), and run the test again when it is back.",
        )
    down = [after for _, after in found if after.failed]
    if not down:
        return None
    return view.found(
        "path-lost",
        Weight.NOTE,
        "Degraded multipath device: not all paths were up.",
        "; ".join(f"{each.name}: {', '.join(each.failed)} failed, {', '.join(each.good)} left" for each in down),
        "Find out why (multipath -ll, dmesg), and run the test again when it is back.",
    )


def _pairs(view: TestView) -> Iterator[tuple[Parts, Parts]]:
    """Each device before and after; one that was there at one of the two times only is taken as it was then."""
    before, after = ({parts.name: parts for parts in looked} for looked in (view.before, view.after))
    for name in {**before, **after}:
        yield before.get(name) or after[name], after.get(name) or before[name]


def _lost(before: Parts, after: Parts) -> tuple[str, ...]:
    return tuple(name for name in before.good if name not in after.good)


def _synced(before: Parts, after: Parts) -> str:
    if before.sync and after.sync:
        return f"{after.name}: {after.sync}, {_share(before)} when the test began, {_share(after)} when it ended"
    if before.sync:
        return f"{after.name}: {before.sync}, {_share(before)} when the test began, over when it ended"
    return f"{after.name}: {after.sync}, not yet begun when the test began, {_share(after)} when it ended"


def _share(parts: Parts) -> str:
    return "under way" if parts.synced is None else f"{format_percent(parts.synced)} done"


def _members(before: Parts, after: Parts) -> str:
    there = [f"{each.wanted - each.missing} of {each.wanted} members" for each in (before, after)]
    gone = _lost(before, after) or after.failed
    who = f" ({', '.join(gone)} failed)" if gone else ""
    if there[0] == there[1]:
        return f"{after.name}: {there[1]}{who}"
    return f"{after.name}: {there[0]} when the test began, {there[1]} when it ended{who}"
