"""`python -m fuzz.one TARGET [options of libFuzzer]`: one target, in this process, until something is found or the time is over."""

import sys

import atheris

with atheris.instrument_imports(include=["diskprof"], enable_loader_override=False):
    from fuzz.targets import TARGETS, check


def main() -> None:
    target = TARGETS[sys.argv[1]]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], lambda data: check(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
