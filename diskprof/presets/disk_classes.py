"""The shipped classes of disks: `classes/disk-classes.toml` beside the presets."""

from collections.abc import Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from functools import cache
from typing import Any

from diskprof.model.disk_class import ClassFigure, DiskClass, SourceDocument
from diskprof.model.errors import UsageError
from diskprof.model.expectation import ClassExpectation, Formula, Operator, PresetExpectation
from diskprof.model.metric import Quantity, parse_value
from diskprof.model.sample import Direction
from diskprof.model.text import clean
from diskprof.model.units import parse_size
from diskprof.presets.library import shipped_directory
from diskprof.presets.resolve import ResolvedTest

_PATTERNS = {
    "randread": (Direction.READ, True),
    "randwrite": (Direction.WRITE, True),
    "read": (Direction.READ, False),
    "write": (Direction.WRITE, False),
}
_IOPS = " IOPS"


@cache
def disk_classes() -> tuple[DiskClass, ...]:
    """Every class, drives before volumes."""
    import tomllib

    document = tomllib.loads((shipped_directory() / "classes" / "disk-classes.toml").read_text("utf-8"))
    read: date = document["read"]
    sources = {
        name: SourceDocument(entry["title"], entry["address"], entry.get("read", read))
        for name, entry in document["sources"].items()
    }
    return tuple(_class(entry, sources) for entry in document["class"])


def disk_class(name: str) -> DiskClass:
    """The class called `name`. Raises UsageError that says which there are."""
    known = {each.name: each for each in disk_classes()}
    if found := known.get(name):
        return found
    close = get_close_matches(name[:64].lower(), known, n=3, cutoff=0.5) or list(known)
    raise UsageError(f"There is no disk class {clean(name[:64])!r}.", f"Classes: {', '.join(close)}.")


def expected_class(asked: ClassExpectation) -> DiskClass:
    """The class that a person expects something of. Raises UsageError where what was written is neither that nor an expression."""
    if any(each.name == asked.disk_class for each in disk_classes()):
        return disk_class(asked.disk_class)
    raise UsageError(
        f"invalid expectation {clean(asked.disk_class[:80])!r}",
        "Write a metric, an operator and a value: read.iops>=5000; or a class of disks: aws-gp3.",
    )


def class_promises(disk_class: DiskClass, tests: Sequence[ResolvedTest]) -> list[PresetExpectation]:
    """What disks of the class do at the least, of each test that its documents say something of.

    Raises UsageError where that is none.
    """
    found = [
        PresetExpectation(test.name, figure.metric, Operator.AT_LEAST, figure.least)
        for test in tests
        for direction in Direction
        if (figure := disk_class.figure_of(test.load, direction)) and figure.least
    ]
    if not found:
        raise UsageError(
            f"The documents of {disk_class.name} say nothing of what these tests do at the least.",
            f"`diskprof presets classes {disk_class.name}` lists what they say.",
        )
    return found


def _class(entry: Mapping[str, Any], sources: Mapping[str, SourceDocument]) -> DiskClass:
    figures = tuple(figure for each in entry["figures"] for figure in _figures(each, sources))
    return DiskClass(
        entry["name"], entry["title"], entry["plural"], figures, entry.get("cloud", ""), entry.get("note", "")
    )


def _figures(entry: Mapping[str, Any], sources: Mapping[str, SourceDocument]) -> list[ClassFigure]:
    """One for each pattern that an entry is of."""
    patterns = entry["io"] if isinstance(entry["io"], list) else [entry["io"]]
    quantity = Quantity.IOPS if _IOPS in entry.get("most", entry.get("least")) else Quantity.BANDWIDTH
    blocks = [parse_size(text) for text in entry["block"]]
    least = None
    most = _value(quantity, entry["most"]) if "most" in entry else None
    if "least" in entry:
        per_gib = _value(quantity, entry["per_gib"]) if "per_gib" in entry else 0.0
        least = Formula(_value(quantity, entry["least"]), per_gib, most)
    return [
        ClassFigure(
            *_PATTERNS[pattern],
            quantity,
            (blocks[0], blocks[-1]),
            (entry["depth"][0], entry["depth"][1] if len(entry["depth"]) > 1 else None),
            least,
            most,
            tuple(sources[name] for name in entry["from"]),
        )
        for pattern in patterns
    ]


def _value(quantity: Quantity, text: str) -> float:
    return parse_value(quantity, text.removesuffix(_IOPS))
