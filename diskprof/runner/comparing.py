"""The arms of a comparison, as a person names or marks them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.analysis.arms import Arm
from diskprof.analysis.fleet.result import labels
from diskprof.model.advice import Advice
from diskprof.model.errors import UsageError
from diskprof.model.run import FleetStage, Status

if TYPE_CHECKING:
    from diskprof.analysis.fleet.compared import FleetsCompared
    from diskprof.model.fleet import FleetRun
    from diskprof.model.run import Run, RunSummary, SeriesPlace
    from diskprof.store import Item, Store

_LATEST = re.compile(r"latest(~\d+)?")


class ArmRuns(Struct, frozen=True):
    """The ids of the runs of an arm, in the order of time. `label` is their tag or target, empty of a run by itself."""

    ids: tuple[str, ...]
    label: str = ""


def named_arms(store: Store, names: Sequence[str]) -> tuple[ArmRuns, ...]:
    """What these names mean, each arm once: a series an arm for each of its targets, a fleet run one for each
    of its members, a tag all of its runs, another name one run.

    Raises RunNotFound, and UsageError of a run in two arms.
    """
    found = tuple(dict.fromkeys(arm for name in names for arm in _named(store, name)))
    seen: dict[str, str] = {}
    for arm in found:
        for run_id in arm.ids:
            if run_id in seen:
                where = f"in {seen[run_id]!r} and in {arm.label or arm.ids[0]!r}"
                raise UsageError(f"Run {run_id} is {where}.", "Name runs and tags that have no run in common.")
            seen[run_id] = arm.label or run_id
    return found


def _named(store: Store, name: str) -> tuple[ArmRuns, ...]:
    item = store.resolve_item(name)
    tagged = _tagged(store, item, name)
    if item.is_series:
        runs = store.series_runs(item.id)
        if not set(tagged) - {run.id for run in runs}:
            return repeats(runs, tag=name if tagged else "")
    if (members := _members(store, item, name)) is not None:
        return members
    return (ArmRuns(tuple(tagged), name),) if tagged else tuple(ArmRuns((run_id,)) for run_id in store.runs_named(name))


def _tagged(store: Store, item: Item, name: str) -> list[str]:
    """The runs with this tag, if it is one."""
    return store.tagged(name) if item.id != name and not _LATEST.fullmatch(name) else []


def _members(store: Store, item: Item, name: str) -> tuple[ArmRuns, ...] | None:
    """An arm for each member of the fleet run of this name; None where it is none, or a tag of other runs too."""
    if not item.is_fleet:
        return None
    runs = store.runs_of_fleet(item.id)
    if set(_tagged(store, item, name)) - {run.id for run in runs}:
        return None
    return by_member(store.fleet_run(item.id), [run for run in runs if run.status is Status.COMPLETE])


def each_alone(ids: Sequence[str]) -> tuple[ArmRuns, ...]:
    """An arm a run, each once."""
    return tuple(ArmRuns((run_id,)) for run_id in dict.fromkeys(ids))


def repeats(runs: Sequence[RunSummary], *, tag: str = "") -> tuple[ArmRuns, ...]:
    """The runs of a series as an arm for each target, those of one called `tag`, of several by the paths of the targets."""
    targets: dict[int, list[RunSummary]] = {}
    for run in runs:
        targets.setdefault(run.series.arm if run.series else 0, []).append(run)
    called = len(targets) > 1
    return tuple(
        ArmRuns(tuple(run.id for run in mine), mine[0].target if called else tag) for _, mine in sorted(targets.items())
    )


def by_member(fleet: FleetRun, runs: Sequence[RunSummary]) -> tuple[ArmRuns, ...]:
    """The runs of a fleet run as an arm for each member: those of it alone where it was alone, else those with the others."""
    stages = {run.fleet.stage for run in runs if run.fleet}
    stage = FleetStage.ALONE if FleetStage.ALONE in stages else FleetStage.TOGETHER
    found: dict[int, list[str]] = {}
    for run in runs:
        if run.fleet and run.fleet.stage is stage:
            found.setdefault(run.fleet.member, []).append(run.id)
    names = labels(fleet)
    return tuple(ArmRuns(tuple(ids), names[member]) for member, ids in sorted(found.items()))


class FleetArms(Struct, frozen=True):
    """Several fleet runs: a member that all have, by its name, with an arm for each fleet run; `unpaired` are the other members."""

    members: tuple[tuple[str, tuple[ArmRuns, ...]], ...]
    unpaired: tuple[str, ...]


def fleet_arms(store: Store, names: Sequence[str]) -> FleetArms | None:
    """None where these are not two fleet runs or more. Raises RunNotFound, and UsageError of fleet runs without a common member."""
    called = {store.resolve_item(name): name for name in names}
    fleets = {name: _members(store, item, name) for item, name in called.items()}
    if len(fleets) < 2:
        return None
    found: dict[str, list[ArmRuns]] = {}
    for name, members in fleets.items():
        if members is None:
            return None
        for arm in members:
            found.setdefault(arm.label, []).append(ArmRuns(arm.ids, name))
    paired = tuple((label, tuple(arms)) for label, arms in found.items() if len(arms) == len(fleets))
    if not paired:
        raise UsageError(
            "These fleet runs have no host in common that completed its run in each.",
            Advice(
                "Compare fleet runs of the same hosts, or one fleet run by itself: diskprof compare FLEET",
                "Compare fleet runs of the same hosts, or one fleet run by itself.",
            ),
        )
    return FleetArms(paired, tuple(label for label, arms in found.items() if len(arms) < len(fleets)))


def fleets_compared(store: Store, fleets: FleetArms) -> FleetsCompared:
    """Each member with itself. Raises UsageError of runs that cannot be compared."""
    from diskprof.analysis.arms import require_comparable
    from diskprof.analysis.comparison import compare
    from diskprof.analysis.fleet.compared import FleetsCompared, MemberComparison

    members = []
    for label, arms in fleets.members:
        runs = {run_id: store.run(run_id) for run_id in ids_of(arms)}
        chosen = with_runs(arms, runs)
        require_comparable(chosen)
        samples = {run_id: store.samples(run_id, histograms=False).samples for run_id in runs}
        members.append(MemberComparison(label, chosen, compare(chosen, samples)))
    return FleetsCompared(tuple(members), fleets.unpaired)


class MarkedRun(Struct, frozen=True):
    """What of a run says with which others it is a repeat of one measurement."""

    id: str
    target: str
    tags: tuple[str, ...] = ()
    series: SeriesPlace | None = None


def grouped(runs: Sequence[MarkedRun]) -> tuple[ArmRuns, ...]:
    """Runs of one series and target, or else with the same first tag, as one arm. Empty unless each run belongs to an arm, and
    there are two arms or more, one of them of several runs.
    """
    found: dict[tuple[object, ...], list[MarkedRun]] = {}
    for run in runs:
        if not run.series and not run.tags:
            return ()
        key = (run.series.series_id, run.series.arm) if run.series else (run.tags[0],)
        found.setdefault(key, []).append(run)
    if not 1 < len(found) < len(runs):
        return ()
    labels = [mine[0].tags[0] if mine[0].tags else mine[0].target for mine in found.values()]
    if len(set(labels)) < len(labels):
        labels = [mine[0].target for mine in found.values()]
    distinct = len(set(labels)) == len(labels)
    return tuple(
        ArmRuns(tuple(run.id for run in mine), label if distinct else mine[0].id)
        for mine, label in zip(found.values(), labels, strict=True)
    )


def ids_of(arms: Sequence[ArmRuns]) -> tuple[str, ...]:
    """The runs of all arms."""
    return tuple(chain.from_iterable(arm.ids for arm in arms))


def with_runs(arms: Sequence[ArmRuns], runs: Mapping[str, Run]) -> tuple[Arm, ...]:
    """The arms to compare, `runs` by id."""
    return tuple(Arm(tuple(runs[run_id] for run_id in arm.ids), arm.label) for arm in arms)
