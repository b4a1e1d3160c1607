"""From what was typed to a series: how often, until when, in which order."""

import re
from collections.abc import Sequence

from diskprof.model.advice import Advice
from diskprof.model.errors import UnitError, UsageError
from diskprof.model.fleet import FleetPlan
from diskprof.model.plan import Plan
from diskprof.model.run import FleetStage
from diskprof.model.run_series import LEAST_FOR_INTERVAL, Repetition, SeriesPlan, TargetOrder
from diskprof.model.units import format_duration, parse_duration

MOST_REPEATS = 1000
_PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*")


def repetition(
    repeats: int | None, until: str, at_most: str, pause: str, *, in_order: bool, targets: int
) -> Repetition | None:
    """What the texts of the options say; None where no series is asked for. `targets` is how many there are.

    Raises UsageError.
    """
    if repeats is None and not until:
        _refuse_without_repeats(at_most, pause, in_order=in_order, targets=targets)
        return None
    if repeats is not None and until:
        raise UsageError(
            "--repeat and --until exclude each other.",
            Advice("--until repeats as often as needed; --at-most limits it.", "Give a number or a percentage."),
        )
    if repeats is not None and not 1 <= repeats <= MOST_REPEATS:
        raise UsageError(f"--repeat {repeats}: not a number of repeats.", f"Give 1 to {MOST_REPEATS}.")
    if in_order and targets < 2:
        raise UsageError("--in-order needs two targets or more.", "Leave it out.")
    if in_order and until:
        raise UsageError("--in-order needs --repeat: with --until the targets alternate.", "Leave one of them out.")
    return Repetition(
        repeats=repeats,
        until=_share(until) if until else None,
        at_most_s=_seconds("--at-most", at_most, least=True) if at_most else None,
        pause_s=_seconds("--pause", pause) if pause else 0.0,
        order=TargetOrder.IN_ORDER if in_order else TargetOrder.ALTERNATED,
    )


def _refuse_without_repeats(at_most: str, pause: str, *, in_order: bool, targets: int) -> None:
    for option, given in (("--at-most", at_most), ("--pause", pause), ("--in-order", in_order)):
        if given:
            raise UsageError(f"{option} needs --repeat or --until.", "For example: --repeat 5")
    if targets > 1:
        raise UsageError(
            f"{targets} targets need --repeat or --until: they are tested in turn.",
            "For example: --repeat 5. A preset that works on several targets at once names them with --target.",
        )


def _share(text: str) -> float:
    match = _PERCENT.fullmatch(text)
    share = float(match[1]) / 100 if match else 0.0
    if not 0 < share < 1:
        raise UsageError(f"--until {text}: not a percentage between 0% and 100%.", "For example: --until 3%")
    return share


def _seconds(option: str, text: str, *, least: bool = False) -> float:
    try:
        seconds = parse_duration(text)
    except UnitError as error:
        raise UsageError(f"{option} {error.message}.", str(error.hint)) from None
    if least and not seconds:
        raise UsageError(f"{option} {text}: nothing can run.", "For example: --at-most 20m")
    return seconds


def plan_series(plans: Sequence[Plan], wanted: Repetition) -> SeriesPlan:
    """The series of these plans, one for each target. Raises UsageError where it could not do what is wanted."""
    series = SeriesPlan.of(tuple(plans), wanted)
    paths = [plan.target.path for plan in plans]
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(f"{path} is given twice.", "Give each target once; --repeat tests it several times.")
    if wanted.until is not None and any(all(test.cell for test in plan.tests) for plan in plans):
        raise UsageError("A sweep has no headline figures that --until could wait for.", "Use --repeat.")
    _refuse_short_cap(series.wanted, series.round_s, "one run" if len(plans) == 1 else "one run of each target")
    return series


def plan_fleet(
    plans: Sequence[Plan], wanted: Repetition, at_once: int | None, stages: tuple[FleetStage, ...]
) -> FleetPlan:
    """These plans of members of a fleet run, as often as `wanted`. Raises UsageError where it could not do that."""
    planned = FleetPlan.of(tuple(plans), wanted, at_once, stages)
    if wanted.until is not None and any(all(test.cell for test in plan.tests) for plan in plans):
        raise UsageError("A sweep has no headline figures that --until could wait for.", "Use --repeat.")
    _refuse_short_cap(planned.wanted, planned.round_s, "one run of each")
    return planned


def _refuse_short_cap(wanted: Repetition, round_s: float, what: str) -> None:
    """`what` takes `round_s` seconds, the pause after it included."""
    cap = wanted.at_most_s
    needed = 1 if wanted.until is None else LEAST_FOR_INTERVAL
    if cap is not None and cap < needed * round_s - wanted.pause_s:
        why = what if needed == 1 else f"{needed} times {what}, which an interval needs at least"
        takes = format_duration(needed * round_s - wanted.pause_s)
        raise UsageError(
            f"--at-most {format_duration(cap)} is shorter than {why} (about {takes}).",
            "Give more time, or shorter tests.",
        )
