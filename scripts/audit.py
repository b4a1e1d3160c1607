"""Asks whether a vulnerability is known in what diskprof runs with: pip-audit, on the installed versions of its dependencies.

Ends with 1 if there is one. Where nobody can be asked (no network, no pip-audit) it says so and ends with 0: that a machine is
offline says nothing about the code. `--strict` ends with 1 then too. pip-audit is installed once its service answers.
"""

import json
import subprocess
import sys
import tempfile
from importlib import invalidate_caches
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

from licences import needed

ROOT = Path(__file__).parents[1]
SERVICE = "https://pypi.org/pypi/{name}/{version}/json"
"""Where pip-audit asks; a mirror of packages alone does not have these pages."""
PATIENCE_S = 60
ANSWER_S = 5


def main() -> int:
    strict = "--strict" in sys.argv[1:]
    try:
        packages = needed("diskprof")
    except PackageNotFoundError as error:
        return not_checked(f"{error.name} is not installed", strict)
    packages.pop("diskprof")
    name, package = min(packages.items())
    if why := silence(SERVICE.format(name=name, version=package.version)):
        return not_checked(why, strict)
    if not installed():
        return not_checked("pip-audit is not installed, and could not be", strict)
    with tempfile.TemporaryDirectory() as directory:
        pinned = Path(directory) / "requirements.txt"
        pinned.write_text(
            "".join(f"{name}=={package.version}\n" for name, package in sorted(packages.items(), key=str))
        )
        words = [
            "-m",
            "pip_audit",
            "--format=json",
            "--progress-spinner=off",
            "--timeout=5",
            "--disable-pip",
            "--no-deps",
        ]
        try:
            done = subprocess.run(
                [sys.executable, *words, "-r", pinned], capture_output=True, text=True, timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            return not_checked(f"no answer within {PATIENCE_S} s", strict)
    try:
        answers = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]
        return not_checked(last[:200], strict)
    return verdict(answers, strict)


def silence(address: str) -> str:
    """Why nothing is to be learnt at `address`; empty if it answers."""
    try:
        with urlopen(address, timeout=ANSWER_S):
            return ""
    except OSError as error:
        return f"{address} does not answer: {error}"


def installed() -> bool:
    """Whether pip-audit is there; installs it if it is not."""
    if find_spec("pip_audit") is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "-e", f"{ROOT}[audit]"], check=False)
        invalidate_caches()
    return find_spec("pip_audit") is not None


def verdict(answers: list[dict[str, object]], strict: bool) -> int:
    """Prints what pip-audit answered of each package."""
    found = 0
    for answer in answers:
        vulnerabilities = answer.get("vulns")
        for each in vulnerabilities if isinstance(vulnerabilities, list) else ():
            found += 1
            fixed = ", ".join(each.get("fix_versions") or ()) or "no version yet"
            print(f"audit: {answer['name']} {answer.get('version')}: {each['id']}, fixed in {fixed}", file=sys.stderr)
    skipped = [str(answer["name"]) for answer in answers if "skip_reason" in answer]
    if found:
        return 1
    if skipped or not answers:
        return not_checked(f"nothing could be said of {', '.join(skipped) or 'anything'}", strict)
    print(f"audit: no vulnerability is known in {len(answers)} packages")
    return 0


def not_checked(why: str, strict: bool) -> int:
    print(f"audit: NOT CHECKED: {why}", file=sys.stderr)
    return 1 if strict else 0


if __name__ == "__main__":
    sys.exit(main())
