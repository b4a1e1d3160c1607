"""`python -m fuzz [--seconds 60] [TARGET...]`: each target for so long, one after the other. 1 if one of them found something.

Guided by coverage (atheris, which is libFuzzer), because blind changes to a well-formed input hardly ever come past the first
check of a parser; the tests throw blind ones (tests/unit/project/test_hostile_parsers.py). It is no part of `make test`:
atheris has no wheel for every system and Python. What was interesting is kept in .fuzz/, so that the next time goes on from there.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from fuzz.targets import ROOT, TARGETS, Target, check

_WORK = ROOT / ".fuzz"
_SLOWEST_S = 10
_MEMORY_MB = 1024
_LONGEST = 64 << 10
_MISSING = "atheris is not installed: pip install 'diskprof[fuzz]', or `make fuzz`. It has wheels for Linux with glibc."


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Fuzzes what reads foreign bytes.")
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(TARGETS)}; all if none is named"
    )
    parser.add_argument("--seconds", type=int, default=60, help="how long each target is fuzzed (60)")
    parser.add_argument(
        "--input", type=Path, metavar="FILE", help="run the one target on this input, to see what it does"
    )
    given = parser.parse_args()
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    names = given.targets or list(TARGETS)
    if given.input:
        check(TARGETS[names[0]], given.input.read_bytes())
        print(f"{names[0]}: nothing wrong with {given.input}")
        return 0
    found = [name for name in names if not _fuzzed(TARGETS[name], given.seconds)]
    print(f"Found something: {', '.join(found)}." if found else f"Nothing found in {len(names)} targets.")
    return 1 if found else 0


def _fuzzed(target: Target, seconds: int) -> bool:
    """Fuzzes a target in a process of its own: libFuzzer ends the process that it runs in."""
    corpus, seeds = _WORK / target.name / "corpus", _WORK / target.name / "seeds"
    for directory in (corpus, seeds):
        directory.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        (seeds / str(number)).write_bytes(seed[:_LONGEST])
    words = [
        *(sys.executable, "-m", "fuzz.one", target.name),
        *(
            f"-max_total_time={seconds}",
            f"-timeout={_SLOWEST_S}",
            f"-rss_limit_mb={_MEMORY_MB}",
            f"-max_len={_LONGEST}",
        ),
        *(f"-artifact_prefix={_WORK / target.name}/", "-print_final_stats=1", str(corpus), str(seeds)),
    ]
    print(f"{target.name}: {seconds} s ...", flush=True)
    done = subprocess.run(
        words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    if done.returncode == 0:
        print(f"{target.name}: {_executed(done.stderr)} inputs, nothing found", flush=True)
        return True
    print("\n".join(done.stderr.splitlines()[-60:]))
    print(f"{target.name}: found something (see above); to see it again: python -m fuzz {target.name} --input FILE")
    return False


def _executed(output: str) -> str:
    lines = (line for line in output.splitlines() if line.startswith("stat::number_of_executed_units:"))
    return next((line.split()[-1] for line in lines), "?")


if __name__ == "__main__":
    try:
        import atheris  # type: ignore[import-untyped]  # noqa: F401
    except ImportError:
        if "--input" not in sys.argv and not {"-h", "--help"} & set(sys.argv):
            sys.exit(_MISSING)
    sys.exit(main())
