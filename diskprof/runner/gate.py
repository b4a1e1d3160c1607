"""A gate: new runs of a plan, one after the other, until they are held to keep what the like runs before did, or not to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from diskprof.analysis.gate import LEAST_HISTORY, GateOutcome, GateResult, gate
from diskprof.analysis.search_results import keeping_nothing
from diskprof.model.advice import Advice
from diskprof.model.earlier import EarlierResult
from diskprof.model.errors import NotComparable, RunNotFound, UsageError
from diskprof.model.fingerprint import Aspect, Fingerprint, LikeRuns, fingerprint
from diskprof.model.run import Run, Status
from diskprof.model.text import clean
from diskprof.runner.like_runs import like_results

if TYPE_CHECKING:
    from diskprof.model.plan import Plan
    from diskprof.runner.session import Session
    from diskprof.store import Store

HISTORY = "history"
"""In place of a tag: all like runs."""


class Against(Struct, frozen=True):
    """What a gate holds new runs against: the like runs of the history, or of a tag; `across` is left out of account."""

    tag: str = ""
    across: Collection[Aspect] = ()


class Baseline(Struct, frozen=True):
    """The results of at least LEAST_HISTORY like runs, oldest first, and the fingerprint that new runs have."""

    against: Against
    preset: str
    like: Fingerprint
    results: tuple[EarlierResult, ...]

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.run_id for one in self.results))

    def in_vain(self, run: Run) -> tuple[str, ...]:
        """Of a search such as `run` the runs that found no limit."""
        return keeping_nothing(run.plan, self.results)


def baseline(session: Session, store: Store, plan: Plan, against: Against) -> Baseline:
    """What the runs of `plan` will be held against; starts nothing.

    Raises NotComparable where no run is like them, or too few, RunNotFound for a tag that no run has, UsageError for one of other
    presets, and what the engines raise that are not there.
    """
    from diskprof.runner.carry.begin import environment_of

    like = fingerprint(plan, environment_of(plan, session.scan(), store.path))
    kinds = store.kinds_of_runs(plan.preset, tag=against.tag)
    if against.tag and not kinds:
        _refuse_tag(store, plan, against.tag)
    results = like_results(store, plan, like, against.across, against.tag)
    found = Baseline(against, plan.preset, like, results)
    count = len(found.runs)
    if kinds and not count:
        raise _unlike(store, plan, like, kinds, against)
    if count < LEAST_HISTORY:
        raise _too_few(plan, count, against)
    return found


def _refuse_tag(store: Store, plan: Plan, tag: str) -> None:
    presets = dict.fromkeys(
        run.preset for run in store.summaries() if tag in run.tags and run.status is Status.COMPLETE
    )
    if not presets:
        raise RunNotFound(
            f"No complete run has the tag {clean(tag)}.", "`diskprof runs` lists the runs with their tags."
        )
    raise UsageError(
        f"The runs with the tag {clean(tag)} are of {clean(', '.join(presets))}, not of {plan.preset}.",
        "Name their preset, or another tag.",
    )


def _unlike(store: Store, plan: Plan, like: Fingerprint, kinds: Sequence[LikeRuns], against: Against) -> NotComparable:
    """Which condition changed, by the runs that differ in the fewest; of equals, the newest."""
    nearest = min(kinds, key=lambda kind: len(kind.fingerprint.differs(like, against.across)))
    changed = nearest.fingerprint.differs(like, against.across)
    told = [
        _options(store.run(nearest.newest), plan)
        if aspect is Aspect.TESTS
        else f"the {aspect} was {clean(nearest.fingerprint.of(aspect))}, it is {clean(like.of(aspect))}"
        for aspect in changed
    ]
    words = f"Not comparable with {_called(nearest.runs, plan, against)}: {'; '.join(told)}."
    if Aspect.TESTS in changed:
        return NotComparable(words, f"`diskprof show {nearest.newest}` has the options of those.")
    options = " ".join(f"--across {aspect.replace(' ', '-')}" for aspect in changed)
    return NotComparable(words, f"To compare all the same: {options}")


def _options(before: Run, plan: Plan) -> str:
    """`runtime was 30, it is 2`; of tests that differ otherwise that they do."""
    old, new = dict(before.plan.parameters), dict(plan.parameters)
    told = [
        f"{name} was {clean(old.get(name) or 'not given')}, it is {clean(new.get(name) or 'not given')}"
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]
    return "; ".join(told) or "the tests of the preset changed"


def _too_few(plan: Plan, count: int, against: Against) -> NotComparable:
    more = LEAST_HISTORY - count
    has = f"only {_called(count, plan, against)}" if count else f"no complete run of {plan.preset}"
    options = (f" --repeat {more}" if more > 1 else "") + (f" --tag {against.tag}" if against.tag else "")
    return NotComparable(
        f"Too little history: {has}. {more} more {'is' if more == 1 else 'are'} needed.",
        Advice(
            f"Make them with `diskprof run {plan.preset} {clean(plan.target.given + options)}` and the same options.",
            "",
        ),
    )


def _called(count: int, plan: Plan, against: Against) -> str:
    tagged = f" with the tag {clean(against.tag)}" if against.tag else ""
    return f"{count} run{'' if count == 1 else 's'} of {plan.preset}{tagged}"


class Gated(Struct, frozen=True):
    """How a gate ended: `run` is the last new run; `result` is None where that did not complete."""

    run: Run
    result: GateResult | None = None


def run_gate(
    store: Store,
    base: Baseline,
    run_once: Callable[[], str],
    *,
    allowed: float,
    most: int,
    tell: Callable[[GateResult], None],
) -> Gated:
    """Carry out new runs by `run_once`, which gives their ids, until they decide, at most `most`; `tell` is handed each
    question that takes another run. Raises NotComparable where a new run is not like the others after all.
    """
    made: list[str] = []
    while True:
        run = store.run(run_once())
        if run.status is not Status.COMPLETE:
            return Gated(run)
        made.append(run.id)
        if changed := store.fingerprint(run.id).differs(base.like):
            raise NotComparable(
                f"The {changed[0]} changed while the gate ran, in run {run.id}.",
                "Start it again when that has settled.",
            )
        results = like_results(store, run.plan, base.like)
        after = [one for one in results if one.run_id in made]
        try:
            result = gate(run, base.results, after, allowed, most=most, since_change=not base.against.tag)
        except ValueError:
            kept_nothing = (
                f": in {len(vain)} of them nothing kept what is promised" if (vain := base.in_vain(run)) else ""
            )
            raise NotComparable(
                f"Run {run.id} has no figure in common with the runs before{kept_nothing}.", ""
            ) from None
        if result.outcome is not GateOutcome.UNCLEAR or len(made) >= most:
            return Gated(run, result)
        tell(result)
