"""Findings that several members of a fleet run share, each told once."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from diskprof.analysis.fleet.measured import Measured
from diskprof.model.run import Finding, Weight


class SharedFinding(Struct, frozen=True):
    """A rule that found something in the runs of `labels`; `finding` is the first, whose words stand for all.

    `tests` are the titles of the tests that it was found in, none of a run as a whole. `of` is how many members there are.
    """

    finding: Finding
    labels: tuple[str, ...]
    tests: tuple[str, ...]
    of: int


def shared_findings(members: Sequence[Measured]) -> tuple[SharedFinding, ...]:
    """Every rule that found something, once: doubts first, then limits, then notes; what most members have before the rest."""
    found: dict[tuple[str, Weight], list[tuple[str, str, Finding]]] = {}
    for member in members:
        for run in member.runs:
            for finding in run.findings:
                title = run.title(finding.test) if finding.test else ""
                found.setdefault((finding.name, finding.weight), []).append((member.label, title, finding))
    shared = [
        SharedFinding(
            each[0][2],
            tuple(dict.fromkeys(label for label, _, _ in each)),
            tuple(dict.fromkeys(title for _, title, _ in each if title)),
            len(members),
        )
        for each in found.values()
    ]
    weights = list(Weight)
    return tuple(sorted(shared, key=lambda one: (weights.index(one.finding.weight), -len(one.labels))))
