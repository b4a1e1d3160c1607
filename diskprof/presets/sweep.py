"""A sweep: every test of a preset once for each combination of option values, a cell."""

import re
from collections.abc import Mapping, Sequence
from itertools import product

from diskprof.model.preset import Axis, EngineName, Options
from diskprof.presets.options.allowed import short_value

LONGEST_NAME = 64
"""Characters of a test's name, a cell's too."""

MOST_AXES = 4
MOST_CELLS = 1000
"""In all tests together, a test of several jobs counting that often."""

_PREFIXES: Mapping[str, str] = {"bs": "", "rw": "", "ioengine": "", "iodepth": "qd", "numjobs": "jobs"}
_UNFIT = re.compile(r"[^A-Za-z0-9]+")


def short(options: Options) -> Options:
    """Options with their values as a person writes them."""
    return tuple((option, short_value(EngineName.FIO, option, value)) for option, value in options)


def cells(axes: Sequence[Axis]) -> tuple[Options, ...]:
    """Every combination, in rows: the last axis turns fastest. One empty cell where there is no axis."""
    return tuple(product(*([(axis.option, value) for value in axis.values] for axis in axes)))


def cell_name(test: str, cell: Options) -> str:
    """The name of a test's cell: `randread-4k-qd16`, with an option's name before a value that does not tell it."""
    return "-".join([test, *(_part(option, value) for option, value in short(cell))])


def _part(option: str, value: str) -> str:
    return _PREFIXES.get(option, option) + _UNFIT.sub("_", value)
