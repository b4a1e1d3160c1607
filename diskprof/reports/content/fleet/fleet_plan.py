"""How often a fleet run runs, what that takes, and where a run is in it."""

from diskprof.model.fleet import FleetPlan, FleetRun
from diskprof.model.run import FleetPlace, FleetStage
from diskprof.model.run_series import LEAST_FOR_INTERVAL, Repetition
from diskprof.model.units import format_duration, format_size, percent_words
from diskprof.reports import figures


def fleet_plan_sentence(planned: FleetPlan, noun: str) -> str:
    """`3 repeats on each of 4 hosts, about 5 min, 10 GiB written.`; of one repeat without it. `noun`: host or disk."""
    repeats = "" if planned.wanted.repeats == 1 else f"{fleet_repeats_words(planned.wanted)}, "
    where = f"{repeats}{figures.count(len(planned.plans), noun)}"
    alone = ", each alone and then all together" if FleetStage.ALONE in planned.stages else ""
    pause = f", a pause of {format_duration(planned.wanted.pause_s)}" if planned.wanted.pause_s else ""
    return f"{where[0].upper()}{where[1:]}{alone}{pause}: {_time(planned)}, {_written(planned)}."


def fleet_repeats_words(wanted: Repetition) -> str:
    """`3 repeats`; `until every headline figure of each is within 3%`."""
    if wanted.repeats is not None:
        return figures.count(wanted.repeats, "repeat")
    return f"until every headline figure of each is within {percent_words(wanted.until or 0.0)}"


def repeat_words(fleet: FleetRun, place: FleetPlace) -> str:
    """`repeat 2 of 3`; without the 3 where no number was given, empty of a fleet run that has no repeats."""
    if not fleet.is_repeated:
        return ""
    return f"repeat {place.repeat}{f' of {fleet.wanted.repeats}' if fleet.wanted.repeats else ''}"


def _time(planned: FleetPlan) -> str:
    wanted, least = planned.wanted, format_duration(planned.least_s)
    cap = "" if wanted.at_most_s is None else f", at most {format_duration(wanted.at_most_s)}"
    if wanted.repeats is None:
        return f"{least} or more ({LEAST_FOR_INTERVAL} repeats make an interval){cap}"
    return f"about {least}{cap}"


def _written(planned: FleetPlan) -> str:
    if not planned.bytes_written:
        return "nothing written"
    about = "" if planned.writes_exact else "at most " if planned.wanted.repeats is None else "about "
    return f"{about}{format_size(planned.bytes_written)} written"
