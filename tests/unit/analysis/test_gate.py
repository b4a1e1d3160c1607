"""A gate: what it lets pass, what it confirms first, when it cries, and how seldom it cries wolf."""

import json
from pathlib import Path
from random import Random

import pytest
from like_runs import record_like_runs, recorded_noise
from msgspec.structs import replace

from diskprof.analysis.gate import MOST_NEW, GateOutcome, GateResult, gate, hold
from diskprof.analysis.metrics import Better, Measure
from diskprof.model.errors import NotComparable
from diskprof.model.run import Status
from diskprof.reports.content.history.gate_report import gate_report
from diskprof.reports.data.gate_formats import gate_json, gate_junit, gate_line
from diskprof.reports.data.nagios import PluginStatus
from diskprof.reports.render.lines import text
from diskprof.runner.gate import Against, Baseline, Gated, run_gate
from diskprof.store import Store

NOISE = recorded_noise()
STEADY = [1.0, 1.01, 0.99, 1.0, 1.005, 0.995]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "runs.db")


def gated(store: Store, before: list[float], new: list[float], *, allowed: float = 0.05, most: int = 10) -> Gated:
    """The gate on a store whose like runs did `before` and whose next runs will do `new`, of the usual IOPS."""
    ids = record_like_runs(store, before)
    run = store.run(ids[-1])
    like = store.fingerprint(run.id)
    base = Baseline(Against(), "quick", like, store.like_results("quick", like))
    days = iter(range(len(before), 1000))
    factors = iter(new)

    def once() -> str:
        return record_like_runs(store, [next(factors)], first_day=next(days))[0]

    return run_gate(store, base, once, allowed=allowed, most=most, tell=lambda _: None)


def result_of(store: Store, before: list[float], new: list[float], **more: float) -> GateResult:
    found = gated(store, before, new, **more).result  # type: ignore[arg-type]
    assert found
    return found


def test_a_run_as_good_as_before_passes_at_once(store: Store) -> None:
    found = result_of(store, STEADY, [0.99])
    assert (found.outcome, len(found.before), len(found.after)) == (GateOutcome.KEPT, 6, 1)
    (figure,) = found.figures
    assert figure.measure is Measure.IOPS
    assert figure.held.worse == pytest.approx(0.01, abs=0.001)


def test_a_single_bad_run_is_cleared_by_two_more(store: Store) -> None:
    found = result_of(store, STEADY, [0.5, 1.0, 1.0])
    assert (found.outcome, len(found.after)) == (GateOutcome.KEPT, 3)


def test_it_cries_after_three_more_runs_that_are_as_bad(store: Store) -> None:
    found = result_of(store, STEADY, [0.9, 0.9, 0.89, 0.91])
    assert (found.outcome, len(found.after)) == (GateOutcome.REGRESSED, 4)
    assert found.figures[0].held.worse == pytest.approx(0.1, abs=0.005)


def test_a_slower_disk_within_what_is_allowed_is_kept(store: Store) -> None:
    assert result_of(store, STEADY, [0.9, 0.9, 0.9], allowed=0.15).outcome is GateOutcome.KEPT


def test_what_is_too_noisy_to_tell_is_said_to_be_so(store: Store) -> None:
    wild = [1.0, 0.4, 1.6, 0.7, 1.3, 1.0]
    found = result_of(store, wild, [0.6, 1.3, 0.5, 0.6, 1.5], most=5)
    assert (found.outcome, len(found.after)) == (GateOutcome.UNCLEAR, 5)


def test_noise_that_hides_what_is_allowed_is_told(store: Store) -> None:
    found = gated(store, [1.0, 0.8, 1.2, 0.9, 1.1, 1.0], [1.0])
    assert found.result
    words = " ".join(text(gate_report(found.result, found.run, found.run), 200).split())
    assert "4K rand read QD1 varies by 15% from run to run: it takes 19% to fail" in words


def test_a_run_that_is_better_is_kept(store: Store) -> None:
    assert result_of(store, STEADY, [1.6]).outcome is GateOutcome.KEPT


def test_like_runs_before_a_change_are_no_measure_any_more(store: Store) -> None:
    """The history has accepted the new level; a tag would not."""
    before = [1.0] * 12 + [0.8, 0.81, 0.79, 0.8, 0.805, 0.8]
    assert result_of(store, before, [0.8]).outcome is GateOutcome.KEPT


def test_a_run_that_did_not_complete_ends_the_gate(store: Store) -> None:
    ids = record_like_runs(store, STEADY)
    run, like = store.run(ids[0]), store.fingerprint(ids[0])
    stopped = store.create_run(run.plan, run.environment)
    store.finish_run(stopped, status=Status.CANCELLED, reason="cancelled by user")
    base = Baseline(Against(), "quick", like, store.like_results("quick", like))
    found = run_gate(store, base, lambda: stopped, allowed=0.05, most=10, tell=print)
    assert (found.run.status, found.result) == (Status.CANCELLED, None)


def test_a_condition_that_changes_while_it_runs_is_named(store: Store) -> None:
    ids = record_like_runs(store, STEADY)
    run, like = store.run(ids[0]), store.fingerprint(ids[0])
    (other,) = record_like_runs(store, [1.0], environment=replace(run.environment, kernel="6.9"), first_day=9)
    base = Baseline(Against(), "quick", like, store.like_results("quick", like))
    with pytest.raises(NotComparable, match="The kernel changed"):
        run_gate(store, base, lambda: other, allowed=0.05, most=10, tell=print)


def drawn(random: Random, kind: str, count: int) -> list[float]:
    return [random.choice(NOISE[kind]) for _ in range(count)]


def outcome_of(random: Random, kind: str, factor: float) -> GateOutcome:
    """A gate on recorded results: twelve like runs, then new ones `factor` times as fast."""
    before, after = drawn(random, kind, 12), list[float]()
    while True:
        after += [factor * value for value in drawn(random, kind, 1)]
        found = hold(before, after, Better.HIGHER).outcome
        if found is not GateOutcome.UNCLEAR or len(after) == MOST_NEW:
            return found


@pytest.mark.parametrize("kind", list(NOISE))
def test_of_200_gates_on_recorded_runs_without_a_change_at_most_two_cry(kind: str) -> None:
    random = Random(7)
    assert sum(outcome_of(random, kind, 1.0) is GateOutcome.REGRESSED for _ in range(200)) <= 2


def test_a_tenth_less_is_caught_in_95_of_100() -> None:
    random = Random(8)
    assert sum(outcome_of(random, "throttled", 0.9) is GateOutcome.REGRESSED for _ in range(100)) >= 95


def test_what_is_said(store: Store) -> None:
    found = gated(store, STEADY, [0.9, 0.9, 0.89, 0.91])
    assert found.result
    words = " ".join(text(gate_report(found.result, found.run, store.run(found.result.before[-1])), 200).split())
    assert words.startswith("Regressed: 1 of 1 figure is worse by 5% or more.")
    assert "-10%" in words and f"6 like runs, the newest {found.result.before[-1]}" in words
    assert f"4 runs: {found.result.after[0]}, which raised the question" in words
    told = json.loads(json.dumps(gate_json(found.result, found.run)))
    assert (told["outcome"], told["after"]) == ("regressed", list(found.result.after))
    assert told["figures"][0]["ratio_low"] < told["figures"][0]["ratio"] < told["figures"][0]["ratio_high"]
    assert '<testsuite name="gate quick on' in (page := gate_junit(found.result, found.run))
    assert 'failures="1"' in page and "regressed: 17.9k before, 16.1k now, -10% (" in page
    status, line = gate_line(found.result, found.run)
    assert status is PluginStatus.CRITICAL
    assert line.startswith("DISKPROF CRITICAL - quick on /mnt/data: Regressed") and "'=90%" in line


def test_figures_that_are_not_in_both_are_no_gate(store: Store) -> None:
    ids = record_like_runs(store, [1.0])
    with pytest.raises(ValueError, match="no figure"):
        gate(store.run(ids[0]), [], [])
