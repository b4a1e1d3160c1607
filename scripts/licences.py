"""Prints the licence of each package that diskprof runs with, and ends with 1 if one is not on the list.

Only what a user gets counts: the packages that pyproject.toml names under `dependencies`, and what they need in turn. Tools of
development are not passed on.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

ALLOWED = frozenset(
    {
        *("MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "PSF-2.0", "0BSD", "Unlicense"),
        # Of use to a program of any licence, as long as it is a library of its own that one can exchange. An installed Python
        # package is.
        *("LGPL-2.1-or-later", "LGPL-3.0-or-later", "MPL-2.0"),
    }
)
"""SPDX identifiers."""

# What packages wrote before there were License-Expression and SPDX identifiers.
_SPELLINGS = {
    "mit": "MIT",
    "mit license": "MIT",
    "the mit license (mit)": "MIT",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd 2-clause license": "BSD-2-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "isc license (iscl)": "ISC",
    "python software foundation license": "PSF-2.0",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "gnu lesser general public license v2 or later (lgplv2+)": "LGPL-2.1-or-later",
}


def needed(name: str, extras: frozenset[str] = frozenset()) -> dict[str, Distribution]:
    """The distribution `name` with these extras and all that it needs on this machine, by name. Raises PackageNotFoundError."""
    found: dict[str, Distribution] = {}
    waiting, seen = [(name, extras)], set[tuple[str, frozenset[str]]]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        package = distribution(one[0])
        found[package.metadata["Name"]] = package
        for text in package.requires or ():
            requirement = Requirement(text)
            wanted = ({"extra": extra} for extra in ("", *one[1]))
            if requirement.marker is None or any(map(requirement.marker.evaluate, wanted)):
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return found


def licence(package: Distribution) -> str:
    """An SPDX expression, as far as the package tells one; else what it says, or nothing."""
    if expression := _field(package, "License-Expression"):
        return expression
    for said in _said(package):
        if spelled := _SPELLINGS.get(said.lower()):
            return spelled
    return next(_said(package), "")


def _field(package: Distribution, name: str) -> str:
    return str(package.metadata[name]).strip() if name in package.metadata else ""


def _said(package: Distribution) -> Iterator[str]:
    # Some put the whole text of the licence there.
    text = _field(package, "License")
    if text and "\n" not in text and len(text) < 100:
        yield text
    for classifier in package.metadata.get_all("Classifier") or ():
        if classifier.startswith("License :: "):
            yield classifier.rpartition(" :: ")[2]


def allowed(expression: str) -> bool:
    """Whether an SPDX expression can be met by licences of the list: one of each OR, all of each AND."""
    while group := re.search(r"\(([^()]*)\)", expression):
        met = "MIT" if _met(group[1]) else "nothing that is on the list"
        expression = expression[: group.start()] + met + expression[group.end() :]
    return _met(expression)


def _met(expression: str) -> bool:
    return any(all(part.strip() in ALLOWED for part in each.split(" AND ")) for each in expression.split(" OR "))


def main() -> int:
    try:
        packages = needed("diskprof")
    except PackageNotFoundError as error:
        print(f"licences: not checked: {error.name} is not installed", file=sys.stderr)
        return 1
    packages.pop("diskprof")
    rows = [(name, package.version, licence(package)) for name, package in sorted(packages.items(), key=str)]
    width = max(len(name) for name, _, _ in rows)
    for name, version, words in rows:
        print(
            f"{name:{width}}  {version:9}  {words or 'says nothing'}{'' if allowed(words) else '  <-- not on the list'}"
        )
    refused = [name for name, _, words in rows if not allowed(words)]
    if refused:
        print(f"licences: not on the list in scripts/licences.py: {', '.join(refused)}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
