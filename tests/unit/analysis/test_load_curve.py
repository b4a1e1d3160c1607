"""The load curve: which loads, and where the latency doubles, on a queue of four servers whose latency is known by theory."""

import pytest
from handmade import direction, fio, latency, run
from model_disk import Queue
from msgspec.structs import replace

from diskprof.analysis.limit_search import Bracket, TrialOutcome, bracket_of
from diskprof.analysis.load_curve import curve_loads, found_curve
from diskprof.model.limit import LimitRule, Trial, TrialKind
from diskprof.model.run import Run, Status
from diskprof.presets.limit_text import parse_promise

RULE = LimitRule((parse_promise("read.p99<=5ms"),), curve=11)
QUEUE = Queue()


def quantile_ns(rate: float, share: float) -> float:
    return QUEUE.quantile_s(rate, share) * 1e9


def measured(*rates: int, last: Status = Status.COMPLETE, start: tuple[Trial, ...] = ()) -> Run:
    tests = []
    for trial in (*start, *(Trial(64, rate, kind=TrialKind.CURVE) for rate in rates)):
        rate = trial.rate or 1_990
        figures = latency(
            mean_ns=2e6 if trial.rate else trial.depth / rate * 1e9,
            p50=quantile_ns(rate, 0.5),
            p99=quantile_ns(rate, 0.99),
            p99_9=quantile_ns(rate, 0.999),
            max=10e9,
        )
        test = fio(f"curve-{trial.rate}-{trial.depth}", read=direction(rate, seconds=4, figures=figures), runtime_s=4)
        tests.append(replace(test, planned=replace(test.planned, trial=trial)))
    tests[-1] = replace(tests[-1], status=last)
    made = run(*tests)
    return replace(made, plan=replace(made.plan, limit=RULE))


def bracket(*tried: tuple[Trial, float, bool]) -> Bracket:
    return bracket_of(RULE, [TrialOutcome(trial, done, kept, 0.5 if kept else 2.0) for trial, done, kept in tried])


def test_loads_go_from_a_tenth_of_the_limit_to_a_tenth_beyond_it() -> None:
    found = bracket((Trial(64), 2000, False), (Trial(1), 480, True), (Trial(64, 1000), 1000, True))
    assert [trial.rate for trial in curve_loads(RULE, found)] == [100 * at for at in range(1, 12)]
    assert all(trial.kind is TrialKind.CURVE and trial.depth == 64 for trial in curve_loads(RULE, found))
    # Where nothing kept the promise the most that was done is all that is known.
    none = bracket((Trial(64), 500, False), (Trial(1), 100, False))
    assert curve_loads(RULE, none)[-1].rate == 550
    assert curve_loads(replace(RULE, curve=0), found) == curve_loads(RULE, bracket((Trial(64), 0, False))) == ()
    assert [trial.rate for trial in curve_loads(RULE, bracket((Trial(64), 2, True)))] == [1, 2]


def test_the_knee_is_where_p99_doubles_for_good() -> None:
    rates = (200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 1900)
    curve = found_curve(measured(*rates))
    assert curve and curve.knee
    truth = next(rate for rate in range(200, 2000, 5) if quantile_ns(rate, 0.99) >= 2 * quantile_ns(400, 0.99))
    assert curve.knee.below.done < truth <= curve.knee.above.done
    assert curve.knee.little_ns == pytest.approx(quantile_ns(400, 0.99), rel=0.001)
    assert [point.asked for point in curve.points] == sorted(rates)
    assert curve.points[0].in_flight == pytest.approx(200 * 2e-3)


def test_without_one_there_is_none() -> None:
    flat = found_curve(measured(200, 300, 400, 500))
    assert flat and flat.knee is None
    few = found_curve(measured(200, 1900))
    assert few and few.knee is None
    assert found_curve(run(fio(read=direction(100)))) is None


def test_trials_of_a_set_depth_hold_littles_law_and_what_is_not_complete_does_not_count() -> None:
    curve = found_curve(measured(200, 400, 600, last=Status.CANCELLED, start=(Trial(64), Trial(1))))
    assert curve and [point.asked for point in curve.points] == [200, 400]
    assert [(queue.depth, round(queue.in_flight, 6)) for queue in curve.queues] == [(64, 64.0), (1, 1.0)]
