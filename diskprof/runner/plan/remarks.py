"""What a plan says of its tests: of many that share a reason it is one hazard, with their number."""

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from diskprof.model.advice import Advice
from diskprof.model.plan import Hazard, Severity

_NAMED = 3


class Remark(Struct, frozen=True):
    """A hazard of each test of which it is said: `Test-1 uses 1 GiB.` is the verb `use` and the rest."""

    hazard: str
    severity: Severity
    verb: str
    rest: str
    advice: str | Advice = ""


def hazards_of(remarks: Sequence[tuple[str, Remark]], tests: Sequence[str]) -> list[Hazard]:
    """A hazard for each different remark; `remarks` are names of tests with what is said of them, `tests` all names in order."""
    found: dict[Remark, dict[str, None]] = {}
    for name, remark in remarks:
        found.setdefault(remark, {})[name] = None
    return [
        Hazard(each.hazard, each.severity, f"{_subject(list(names), tests, each.verb)} {each.rest}", each.advice)
        for each, names in found.items()
    ]


def _subject(names: Sequence[str], tests: Sequence[str], verb: str) -> str:
    """`a uses`, `a, b and c use`, `All 35 tests use`, `12 of the 35 tests (e to p) use`."""
    if len(names) == 1:
        return f"{names[0]} {verb}s"
    if len(names) <= _NAMED:
        return f"{', '.join(names[:-1])} and {names[-1]} {verb}"
    if len(names) == len(tests):
        return f"All {len(tests)} tests {verb}"
    places = enumerate(tests.index(name) for name in names)
    runs = [[place for _, place in each] for _, each in groupby(places, key=lambda pair: pair[1] - pair[0])]
    which = f"{names[0]} to {names[-1]}" if len(runs) == 1 else f"such as {names[0]}"
    return f"{len(names)} of the {len(tests)} tests ({which}) {verb}"
