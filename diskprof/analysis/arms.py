"""The sides of a comparison: an arm is one run, the runs of a series, or all runs with a tag."""

from collections.abc import Sequence

from msgspec import Struct

from diskprof.model.advice import Advice
from diskprof.model.errors import UsageError
from diskprof.model.run import Run, Status, TestRecord


class Arm(Struct, frozen=True):
    """`runs`, one or more in the order of time, count as repeats of one measurement. `label` is empty where nobody named them."""

    runs: tuple[Run, ...]
    label: str = ""

    def figured(self, name: str) -> tuple[tuple[Run, TestRecord], ...]:
        """The runs that have the test called so, with it; of several runs those that completed it, if any did."""
        found = [(run, record) for run in self.runs if (record := run.test(name))]
        complete = [each for each in found if each[1].status is Status.COMPLETE]
        return tuple(complete or found)

    def typical(self, name: str) -> Run:
        """The run whose IOPS in this test are in the middle, to stand for the arm where one curve has to."""
        known = [(ios, run) for run in self.runs if (ios := _iops(run.test(name))) is not None]
        ordered = sorted(known, key=lambda each: each[0])
        return ordered[(len(ordered) - 1) // 2][1] if ordered else self.runs[0]


Side = Run | Arm
"""A run is an arm of one."""


def _iops(record: TestRecord | None) -> float | None:
    result = record.result if record else None
    return sum(part.iops for _, part in result.directions) if result and result.directions else None


def arms_of(sides: Sequence[Side]) -> tuple[Arm, ...]:
    """Each side as an arm."""
    return tuple(side if isinstance(side, Arm) else Arm((side,)) for side in sides)


def runs_of(sides: Sequence[Side]) -> tuple[Run, ...]:
    """The runs of all sides."""
    return tuple(run for arm in arms_of(sides) for run in arm.runs)


def require_comparable(sides: Sequence[Side]) -> None:
    """Raises UsageError of fewer than two arms, and of an arm that shares no test with the first."""
    arms = arms_of(sides)
    if len(arms) < 2:
        raise UsageError(
            "Comparing takes at least two different runs or tags.",
            Advice("`diskprof runs` lists them.", "Mark two runs in the list of runs."),
        )
    base, *others = ({record.name for run in arm.runs for record in run.records} for arm in arms)
    names = labels(arms)
    for name, tests in zip(names[1:], others, strict=True):
        if not base & tests:
            raise UsageError(
                f"{names[0]} and {name} share no test.", "Compare runs of the same preset: tests are matched by name."
            )


def labels(sides: Sequence[Side]) -> tuple[str, ...]:
    """A short name for each side by which a person tells it from the others: that of the arm, or of a run its tag, host, device,
    or preset and time (UTC).

    Runs with a tag are called by it also beside others without one.
    """
    arms = arms_of(sides)
    firsts = [arm.runs[0] for arm in arms]
    named = [arm.label for arm in arms]
    tags = [run.tags[0] if run.tags else "" for run in firsts]
    times = [f"{run.plan.preset} {run.started_at:%m-%d %H:%M}" for run in firsts]
    candidates = (
        tags,
        [run.environment.hostname for run in firsts],
        [run.environment.device.model if run.environment.device else "" for run in firsts],
        [run.plan.target.device_title for run in firsts],
        [tag or time for tag, time in zip(tags, times, strict=True)],
        times,
        [run.id for run in firsts],
    )
    for names in candidates:
        told = [label or name for label, name in zip(named, names, strict=True)]
        if all(told) and len(set(told)) == len(told):
            return tuple(told)
    # Arms of one name, or one run given twice: numbered, so that their columns can be told apart.
    called = [label or run.id for label, run in zip(named, firsts, strict=True)]
    return tuple(f"{name} ({number})" for number, name in enumerate(called, start=1))
