"""The pauses and rates that a test was told to keep, read back from the options of its jobs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from diskprof.model.errors import UnitError
from diskprof.model.job import fio_job
from diskprof.model.sample import Direction
from diskprof.model.units import each_way, parse_duration, parse_size

Options = Mapping[str, str]

SEEN_S = 0.05
"""A pause from which on time without I/O shows in intervals of 0.25 s: a fifth of one."""

_APART = ("thinktime", "startdelay", "start_delay", "stonewall", "wait_for")
"""What makes a job begin later, or wait longer, than its rate says."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What all jobs together were told to do per second of one direction: I/Os, or bytes where `in_bytes`."""

    direction: Direction
    per_second: float
    in_bytes: bool


@dataclass(frozen=True, slots=True)
class Pace:
    """`pause_s` is the pause between requests that every job makes, 0 where one goes as fast as it can.

    `rests`: pauses are so long that time without I/O is meant. `demands` are the rates asked for, of the directions in which
    every job has one and nothing else holds it back.
    """

    pause_s: float = 0.0
    rests: bool = False
    demands: tuple[Demand, ...] = ()


FULL_SPEED = Pace()


def pace_of_fio(jobs: Sequence[tuple[Options, int, int]]) -> Pace:
    """The pace of fio's jobs, each with its options, its block size in bytes and how many of it there are."""
    pause = min((_pause_s(options, block) for options, block, _ in jobs), default=0.0)
    rest = max((_rest_s(options) for options, _, _ in jobs), default=0.0)
    demands = [_demand(jobs, direction) for direction in Direction]
    return Pace(pause, max(pause, rest) >= SEEN_S, tuple(demand for demand in demands if demand))


def pace_of_ioping(interval_s: float, per_second: float | None) -> Pace:
    """ioping's pace: the time from one request to the next, and the most requests a second."""
    pause = max(interval_s, 1 / per_second if per_second else 0.0)
    return Pace(pause, pause >= SEEN_S)


def amount(unit: Callable[[str], float], text: str | None) -> float | None:
    """What an option says, read by `unit`; None where it is not there, or no plain amount ("50%")."""
    try:
        return unit(text) if text else None
    except UnitError:
        return None


def _pause_s(options: Options, block: int) -> float:
    """The longest time from one request to the next that one job was told to keep."""
    gaps = [_thinks_s(options) if not _rest_s(options) else 0.0]
    for direction in fio_job(options.items()).directions:
        if iops := _rate(options.get("rate_iops"), direction):
            gaps.append(1 / iops)
        if bandwidth := _rate(options.get("rate"), direction):
            gaps.append(block / bandwidth)
    return max(gaps)


def _rest_s(options: Options) -> float:
    """How long a job rests after it has worked for a while."""
    several = options.get("thinktime_blocks", "1") != "1" or "thinktime_iotime" in options
    return _thinks_s(options) if several else 0.0


def _thinks_s(options: Options) -> float:
    text = options.get("thinktime", "0")
    return float(text) / 1e6 if text.isdecimal() else amount(parse_duration, text) or 0.0


def _demand(jobs: Sequence[tuple[Options, int, int]], direction: Direction) -> Demand | None:
    mine = [(options, copies) for options, _, copies in jobs if direction in fio_job(options.items()).directions]
    if not mine or any(_on(options, name) for options, _ in mine for name in _APART):
        return None
    if len({(options.get("runtime"), options.get("size")) for options, _ in mine}) > 1:
        return None
    for option in ("rate_iops", "rate"):
        rates = [(_rate(options.get(option), direction), copies) for options, copies in mine]
        told = [rate * copies for rate, copies in rates if rate]
        if len(told) == len(rates):
            return Demand(direction, sum(told), option == "rate")
    return None


def _on(options: Options, name: str) -> bool:
    return options.get(name, "0") != "0"


def _rate(text: str | None, direction: Direction) -> float:
    """What is asked of one direction by "500", "700,300" or ",300"; 0 where nothing is."""
    return amount(parse_size, each_way(text or "")[direction is Direction.WRITE]) or 0.0
