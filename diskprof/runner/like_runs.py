"""The like runs of a preset on a target, or of a run: which of the stored runs count, and which do not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.model.advice import Advice
from diskprof.model.errors import RunNotFound, UsageError
from diskprof.model.fingerprint import Aspect, Fingerprint, LikeRuns, disk_words, system_words
from diskprof.model.run import Status
from diskprof.model.text import clean

if TYPE_CHECKING:
    from diskprof.analysis.history import RunHistory
    from diskprof.model.earlier import EarlierResult
    from diskprof.model.plan import Plan
    from diskprof.model.run import Run
    from diskprof.runner.session import Session
    from diskprof.store import Store


class Likes(Struct, frozen=True):
    """The newest kind of runs of a preset on a target, and the other kinds there."""

    newest: LikeRuns
    others: tuple[LikeRuns, ...]

    def words(self, across: Collection[Aspect] = ()) -> str:
        """Which runs are left out and why, in a sentence; empty of none.

        `Left out: 3 runs under another kernel (6.1.0), 2 of other tests or options.`
        """
        told = [
            f"{other.runs} with {_unlike(differs, other.fingerprint)}"
            for other in self.others
            if (differs := self.newest.fingerprint.differs(other.fingerprint, across))
        ]
        return f"Left out: {', '.join(told)}." if told else ""


def _unlike(differs: Sequence[Aspect], other: Fingerprint) -> str:
    return " and ".join(
        "other tests or options" if aspect is Aspect.TESTS else f"another {aspect} ({clean(other.of(aspect))})"
        for aspect in differs
    )


def likes_on(session: Session, store: Store, preset: str, target: str, across: Collection[Aspect] = ()) -> Likes:
    """The runs of a preset on what `target` lies on now. Raises RunNotFound where there are none, UsageError of no such target."""
    kinds = store.kinds_of_runs(preset)
    if not kinds:
        # Says what is close to a name that nothing has.
        session.load_library().get(preset)
        raise RunNotFound(
            f"There are no complete runs of {preset}.",
            Advice(f"Start one: diskprof run {preset} {target}", "Start one."),
        )
    tree = session.scan()
    place = session.resolve_target(target, tree)
    disk = disk_words(session.hostname(), place.path, tree.disks_below(place.device))
    system = system_words(place)
    here = [
        kind
        for kind in kinds
        if (Aspect.DISK in across or kind.fingerprint.disk == disk)
        and (Aspect.FILE_SYSTEM in across or kind.fingerprint.file_system == system)
    ]
    if not here:
        places = list(
            dict.fromkeys(
                ", ".join(filter(None, (kind.fingerprint.disk, kind.fingerprint.file_system))) for kind in kinds
            )
        )
        raise RunNotFound(
            f"There are no runs of {preset} on {clean(disk)}, {system}.",
            f"There are of: {'; '.join(map(clean, places))}. `--run RUN` takes any run.",
        )
    return Likes(here[0], tuple(here[1:]))


def newest_complete(store: Store, name: str) -> Run:
    """The newest complete run of a name, which may be that of a series. Raises RunNotFound, UsageError where none is complete."""
    runs = [run for run in map(store.run, store.runs_named(name)) if run.status is Status.COMPLETE]
    if not runs:
        raise UsageError(f"{clean(name)} is not complete: only complete runs have a history.", "Choose another run.")
    return runs[-1]


def report_history(store: Store, run: Run) -> RunHistory | None:
    """The history for the report of a run; None of one that is not complete, and of a sweep, whose result is its grid."""
    return history_of(store, run) if run.status is Status.COMPLETE and not run.plan.sweep else None


def history_of(store: Store, run: Run, across: Collection[Aspect] = ()) -> RunHistory:
    """The history of the runs that are like this one, which is complete."""
    from diskprof.analysis.history import run_history

    return run_history(run, like_results(store, run.plan, store.fingerprint(run.id), across))


def like_results(
    store: Store, plan: Plan, like: Fingerprint, across: Collection[Aspect] = (), tag: str = ""
) -> tuple[EarlierResult, ...]:
    """What the complete runs of the preset of `plan` measured that are alike in all but `across`, the oldest first, with `tag` only
    those that have it; of searches, what each of them found."""
    from diskprof.analysis.search_results import search_results, searches

    results = store.like_results(plan.preset, like, across=across, tag=tag)
    if not searches(plan):
        return results
    return search_results(store.run(run_id) for run_id in dict.fromkeys(one.run_id for one in results))
