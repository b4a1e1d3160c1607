"""A fleet run with the runs of its members."""

from __future__ import annotations

from msgspec import Struct

from diskprof.analysis.fleet.measured import Measured
from diskprof.analysis.series_figures import SeriesFigure, repeat_figures, series_figures
from diskprof.model.fleet import FleetRun
from diskprof.model.run import FleetStage, Run


class FleetResult(Struct, frozen=True):
    """A fleet run and its runs, in the order of its members."""

    fleet: FleetRun
    runs: tuple[Run, ...]

    @property
    def noun(self) -> str:
        """What its members are: `host`, or, all of one machine, `disk`."""
        return noun_of(self.fleet)

    def _members(self, *stages: FleetStage) -> tuple[Measured, ...]:
        """The members with runs of these stages, as they are called."""
        names = labels(self.fleet)
        found: dict[int, list[Run]] = {}
        for run in self.runs:
            if run.fleet and run.fleet.stage in stages and run.fleet.member < len(names):
                found.setdefault(run.fleet.member, []).append(run)
        return tuple(Measured(names[member], tuple(mine)) for member, mine in sorted(found.items()))

    @property
    def repeat_figures(self) -> tuple[SeriesFigure, ...]:
        """Every headline figure over the repeats of a member at a stage, whose place is `arm`: the member times the number of
        stages, plus the stage. Empty where nothing is repeated."""
        stages = list(FleetStage)
        places = [(run, run.fleet) for run in self.runs if run.fleet and run.fleet.member < len(self.fleet.members)]
        return series_figures(
            [
                repeat_figures(run, place.member * len(stages) + stages.index(place.stage))
                for run, place in places
                if self.fleet.is_repeated
            ]
        )

    @property
    def alone(self) -> tuple[Measured, ...]:
        return self._members(FleetStage.ALONE)

    @property
    def together(self) -> tuple[Measured, ...]:
        return self._members(FleetStage.TOGETHER)

    @property
    def everyone(self) -> tuple[Measured, ...]:
        """With the runs of both stages."""
        return self._members(*FleetStage)

    @property
    def apart(self) -> tuple[Measured, ...]:
        """What tells of each member by itself: it alone where it was alone, else with the others."""
        return self.alone or self.together


def noun_of(fleet: FleetRun) -> str:
    """As `FleetResult.noun`."""
    hosts = {member.host for member in fleet.members}
    return "disk" if len(hosts) == 1 and len(fleet.members) > 1 else "host"


def labels(fleet: FleetRun) -> tuple[str, ...]:
    """What each member is called where all are seen: by its host alone where that says which, by its target on one host."""
    hosts = [member.host for member in fleet.members]
    if noun_of(fleet) == "disk":
        return _short_targets([member.target for member in fleet.members])
    return tuple((member.host or "here") if hosts.count(member.host) == 1 else member.label for member in fleet.members)


def _short_targets(targets: list[str]) -> tuple[str, ...]:
    """Nodes as lsblk has them where all are such."""
    short = [target.removeprefix("/dev/") for target in targets]
    return tuple(short if len(set(short)) == len(short) and not any("/" in each for each in short) else targets)
