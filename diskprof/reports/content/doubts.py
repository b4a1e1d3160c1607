"""Doubts and limits of a run in a few words, for lists, titles and banners. The findings have the whole."""

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap

from diskprof.model.run import Finding, ProcessShare, Run, Weight
from diskprof.model.units import format_percent
from diskprof.reports.figures import count

_SHORT = {
    "array-degraded": "array degraded",
    "array-sync": "array resyncing",
    "burst": "burst ended",
    "busy-machine": "CPUs busy",
    "compressible-data": "data compressed",
    "cpu-steal": "CPU steal",
    "device-cache": "drive's cache",
    "drive-errors": "new errors of the drive",
    "fio-fault": "fio bug",
    "host-cache": "host's cache",
    "jobs-apart": "jobs not parallel",
    "late-start": "slow start",
    "memory-file-system": "not a disk: memory",
    "mix-missed": "read/write mix missed",
    "not-steady": "not steady",
    "null-engine": "not a disk: null engine",
    "other-io": "other I/O on the disk",
    "page-cache": "page cache",
    "path-lost": "multipath path lost",
    "precondition-not-steady": "preconditioning not steady",
    "rate-missed": "rate missed",
    "slept": "machine suspended",
    "stall": "stall",
    "steady-not-reached": "steady state not reached",
    "stood-still": "test was stopped",
}
_LIMITS = {
    "bandwidth-ceiling": "bandwidth capped",
    "cgroup-limit-reached": "cgroup I/O limit",
    "cpu-throttled": "cgroup CPU limit",
    "depth-capped": "iodepth had no effect",
    "drive-throttled": "thermal events of the drive",
    "iops-ceiling": "IOPS capped",
    "misaligned": "misaligned partition",
    "periodic-stalls": "regular drops",
    "processor-bound": "CPU-bound",
    "thermal-throttling": "thermal throttling",
}
_FEW = 2
"""So many tests or processes are named; of more their number is."""


def short(rule: str) -> str:
    """A rule's doubt or limit in two or three words; that of a rule of another version by its name."""
    return _SHORT.get(rule) or _LIMITS.get(rule) or rule.replace("-", " ")


def in_doubt(rules: Iterable[str]) -> str:
    """`In doubt: other I/O on the disk; CPUs busy`; empty without doubts."""
    words = "; ".join(map(short, rules))
    return f"In doubt: {words}" if words else ""


def run_in_doubt(run: Run) -> str:
    """`in_doubt` of a run, with processes and tests: `In doubt: other I/O: dd (pid 7) 98% of it (4K rand read QD1); stall`."""
    words = with_tests(run.findings, run.title, len(run.tests))
    return f"In doubt: {words}" if words else ""


def run_limits(run: Run) -> str:
    """The limits of a run that has ended, with the tests: `Limit: cgroup I/O limit; CPU-bound (4K rand read QD32)`."""
    words = with_tests(run.findings, run.title, len(run.tests), weight=Weight.LIMIT)
    return f"Limit: {words}" if words else ""


def with_tests(
    findings: Iterable[Finding],
    title: Callable[[str], str],
    total: int,
    *,
    between: str = "; ",
    weight: Weight = Weight.DOUBT,
) -> str:
    """The findings of a weight, `total` tests in all: `other I/O on the disk (4K rand read QD1); stall (3 of 6 tests)`.

    Empty without any. `title` gives a test's title by its name. The processes of a rule are behind its words.
    """
    tests: dict[str, list[str]] = {}
    processes: dict[str, dict[int, ProcessShare]] = {}
    for finding in findings:
        if finding.weight is weight:
            tests.setdefault(finding.name, []).append(finding.test and title(finding.test))
            named = processes.setdefault(finding.name, {})
            named |= {each.pid: each for each in finding.processes if each.pid not in named}
    return between.join(
        f"{short(rule)}{_who(list(processes[rule].values()))}{_where(names, total)}" for rule, names in tests.items()
    )


def _who(processes: Sequence[ProcessShare]) -> str:
    """`: dd (pid 4242) 98% of it`, `: postgres (12 processes), up to 20% of it each`; empty where nobody is named."""
    named: dict[str, list[ProcessShare]] = {}
    for each in processes:
        named.setdefault(each.name, []).append(each)
    words = list(starmap(_named, named.items()))
    more = f" and {len(words) - _FEW} more" if len(words) > _FEW else ""
    return f": {', '.join(words[:_FEW])}{more}" if words else ""


def _named(name: str, mine: Sequence[ProcessShare]) -> str:
    """Shares of several are not added up: they may be those of different tests."""
    most = max((each.share for each in mine if each.share is not None), default=None)
    share = "" if most is None else format_percent(most)
    if len(mine) == 1:
        return f"{name} (pid {mine[0].pid}){share and f' {share} of it'}"
    return f"{name} ({len(mine)} processes){share and f', up to {share} of it each'}"


def _where(names: Sequence[str], total: int) -> str:
    """Which tests a doubt is about; empty where that is all of them, or the run."""
    found = list(dict.fromkeys(names))
    if "" in found or len(found) >= total:
        return ""
    return f" ({', '.join(found)})" if len(found) <= _FEW else f" ({len(found)} of {total} tests)"


def tally(findings: Iterable[Finding]) -> str:
    """`1 doubt, 1 limit, 3 notes`; empty without findings."""
    weights = [finding.weight for finding in findings]
    return ", ".join(count(weights.count(weight), weight.value) for weight in Weight if weight in weights)
