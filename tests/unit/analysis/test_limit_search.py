"""The search for a limit, on simulated disks of known truth: four servers, 2 ms each, 2,000 I/Os a second at the most."""

import heapq
import random
from collections.abc import Callable, Sequence

import pytest

from diskprof.analysis.limit_search import Bracket, TrialOutcome, bracket_of, next_trial
from diskprof.model.limit import LimitBy, LimitRule, Trial, TrialKind
from diskprof.presets.limit_text import parse_promise

SERVERS, SERVICE_S = 4, 0.002
PROMISE = parse_promise("read.p99<=15ms")
RULE = LimitRule((PROMISE,))
TRUTH = 1644
"""The rate at which p99 is 15 ms, of a million I/Os of this disk with exponential service times."""

Disk = Callable[[Trial, float], TrialOutcome]


def latencies(chance: random.Random, trial: Trial, seconds: float) -> list[float]:
    """In s, in their order of length: M/M/4 at a rate, or a closed loop."""
    free, found, end = [0.0] * SERVERS, list[float](), RULE.ramp_s + seconds

    def serve(at: float) -> float:
        ended = max(at, heapq.heappop(free)) + chance.expovariate(1 / SERVICE_S)
        heapq.heappush(free, ended)
        if at >= RULE.ramp_s:
            found.append(ended - at)
        return ended

    if trial.rate is None:
        ready = [0.0] * trial.depth
        while ready[0] < end:
            heapq.heappushpop(ready, serve(ready[0]))
    else:
        at = chance.expovariate(trial.rate)
        while at < end:
            serve(at)
            at += chance.expovariate(trial.rate)
    return sorted(found)


def queue(seed: int) -> Disk:
    chance = random.Random(seed)

    def served(trial: Trial, seconds: float) -> TrialOutcome:
        found = latencies(chance, trial, seconds)
        strain = found[int(0.99 * len(found))] / 0.015
        return TrialOutcome(trial, len(found) / seconds, strain <= 1, strain)

    return served


def search(rule: LimitRule, disk: Disk) -> tuple[Bracket, Sequence[TrialOutcome], float]:
    outcomes, spent = list[TrialOutcome](), 0.0
    while trial := next_trial(rule, outcomes, spent):
        outcomes.append(disk(trial, rule.measuring_s(trial)))
        spent += rule.seconds(trial)
    return bracket_of(rule, outcomes), outcomes, spent


def test_it_is_within_5_percent_in_9_of_10_searches_of_12_trials_and_90_s() -> None:
    right = 0
    for seed in range(20):
        bracket, outcomes, spent = search(RULE, queue(seed))
        assert len(outcomes) <= 12 and spent <= 90
        assert bracket.kept and bracket.missed and bracket.kept.done < bracket.missed.done
        right += abs(bracket.kept.done / TRUTH - 1) <= 0.05
    assert right >= 18


def step(limit: float, most: float = 4000, alone: float = 500) -> Disk:
    """A disk that keeps everything up to a rate, and then nothing."""

    def held(trial: Trial, seconds: float) -> TrialOutcome:
        done = min(trial.rate or (alone if trial.depth == 1 else most), most)
        return TrialOutcome(trial, done, done <= limit, 0.5 if done <= limit else 20.0)

    return held


@pytest.mark.parametrize("limit", [520, 900, 1850, 3100, 3990])
def test_a_sharp_limit_is_between_two_close_loads_both_confirmed(limit: float) -> None:
    bracket, outcomes, _ = search(RULE, step(limit))
    assert bracket.kept and bracket.missed and bracket.confirmed
    assert bracket.kept.done <= limit < bracket.missed.done
    assert bracket.missed.done - bracket.kept.done <= 0.035 * bracket.missed.done
    assert (bracket.kept.times_kept, bracket.missed.times_kept) == (bracket.kept.times, 0)
    assert bracket.kept.full >= 1 and bracket.missed.full >= 1
    assert outcomes[0].trial == Trial(64) and outcomes[1].trial == Trial(1)


def test_a_promise_that_all_loads_keep_is_confirmed_at_the_highest() -> None:
    bracket, outcomes, _ = search(RULE, step(9999))
    assert bracket.missed is None and bracket.kept and bracket.kept.trial == Trial(64)
    assert [each.trial for each in outcomes] == [
        Trial(64),
        Trial(64, kind=TrialKind.FULL),
        Trial(64, kind=TrialKind.FULL),
    ]


def test_one_that_none_keeps_ends_with_one_at_a_time() -> None:
    bracket, outcomes, spent = search(RULE, step(0))
    assert bracket.kept is None and bracket.least and bracket.least.full == 1
    assert len(outcomes) < 12 and spent < 60
    by_depth, outcomes, _ = search(LimitRule((PROMISE,), by=LimitBy.DEPTH), step(0))
    assert by_depth.kept is None and [each.trial for each in outcomes] == [
        Trial(64),
        Trial(1),
        Trial(1, kind=TrialKind.FULL),
    ]


def test_below_one_at_a_time_fewer_a_second_may_keep_it() -> None:
    # A volume whose limit one at a time reaches by itself.
    bracket, _, _ = search(RULE, step(150, most=600, alone=600))
    assert bracket.kept and bracket.missed and bracket.kept.done <= 150 < bracket.missed.done


def test_queue_depths_are_whole_and_end_side_by_side() -> None:
    def deep(trial: Trial, seconds: float) -> TrialOutcome:
        assert trial.rate is None
        strain = trial.depth / 12.5
        return TrialOutcome(trial, min(500.0 * trial.depth, 2000.0), strain <= 1, strain)

    bracket, _, _ = search(LimitRule((PROMISE,), by=LimitBy.DEPTH), deep)
    assert bracket.kept and bracket.missed and bracket.confirmed
    assert (bracket.kept.trial.depth, bracket.missed.trial.depth) == (12, 13)


def tried(rate: int, strain: float, *, kind: TrialKind = TrialKind.SHORT) -> TrialOutcome:
    return TrialOutcome(Trial(64, rate, kind), rate, strain <= 1, strain)


ENDS = (TrialOutcome(Trial(64), 4000, False, 20.0), TrialOutcome(Trial(1), 500, True, 0.1))


def test_trials_that_contradict_are_tried_again_and_the_majority_counts() -> None:
    # A higher load kept it: the lower is tried again at full length.
    lucky = (*ENDS, tried(1800, 1.2), tried(1900, 0.9))
    assert next_trial(RULE, lucky, 20.0) == Trial(64, 1800, kind=TrialKind.FULL)
    bracket = bracket_of(RULE, (*lucky, tried(1800, 1.1, kind=TrialKind.FULL)))
    assert bracket.missed and bracket.kept and (bracket.missed.trial.rate, bracket.kept.trial.rate) == (1800, None)
    close = (*ENDS, tried(1800, 0.9), tried(1850, 1.3, kind=TrialKind.FULL))
    # A full trial weighs more than a short one, and is repeated where it says otherwise.
    doubted = (*close, tried(1800, 1.05, kind=TrialKind.FULL))
    assert not bracket_of(RULE, doubted).confirmed
    assert next_trial(RULE, (*close, tried(1800, 0.95, kind=TrialKind.FULL)), 20.0) == Trial(
        64, 1800, kind=TrialKind.FULL
    )
    confirmed = (*close, tried(1800, 0.95, kind=TrialKind.FULL), tried(1800, 0.96, kind=TrialKind.FULL))
    assert next_trial(RULE, confirmed, 20.0) is None and bracket_of(RULE, confirmed).confirmed
    kept = bracket_of(RULE, confirmed).kept
    assert kept and (kept.times_kept, kept.times) == (3, 3)


def test_what_is_known_so_far_is_a_bracket_too() -> None:
    _, outcomes, _ = search(RULE, step(1850))
    for known in range(1, len(outcomes)):
        bracket = bracket_of(RULE, outcomes[:known])
        if bracket.kept and bracket.missed:
            assert bracket.kept.done <= 1850 < bracket.missed.done


def test_nothing_begins_that_would_end_too_late() -> None:
    first = TrialOutcome(Trial(64), 4000, False, 20.0)
    assert next_trial(RULE, [first], 89.0) is None
    assert next_trial(RULE, [], 0.0) == Trial(64)
