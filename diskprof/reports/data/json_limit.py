"""A search for a limit as JSON: what is wanted, the loads that it ended between, and its trials."""

from diskprof.analysis.limit_found import FoundLimit, TriedLoad, found_limit
from diskprof.analysis.limit_search import Level
from diskprof.analysis.load_curve import LoadCurve, found_curve
from diskprof.model.limit import LimitRule, promise_words
from diskprof.model.run import Run
from diskprof.reports.data.json import Json


def limit_json(rule: LimitRule | None) -> Json | None:
    """What a plan searches for; null where it searches for nothing. Promises are in ns, times in seconds."""
    if rule is None:
        return None
    return {
        "keep": [
            {
                "promise": promise_words(promise),
                "metric": promise.metric.name,
                "operator": str(promise.operator),
                "promised": promise.promised,
            }
            for promise in rule.promises
        ],
        "by": str(rule.by),
        "depth": rule.depth,
        "short_s": rule.short_s,
        "full_s": rule.full_s,
        "most_trials": rule.most_trials,
        "most_s": rule.most_s,
        "curve": rule.curve,
    }


def found_limit_json(run: Run) -> Json | None:
    """What a run has found so far; null of a run that searches for nothing.

    `kept` is the highest load that kept what was promised, `missed` the lowest that did not, `least` one I/O at a time: null where
    there is none. Figures of trials are those of `keep`, in ns and in its order.
    """
    found = found_limit(run)
    if found is None:
        return None
    bracket = found.bracket
    return {
        "wanted": limit_json(found.rule),
        "kept": _level(bracket.kept),
        "missed": _level(bracket.missed),
        "least": _level(bracket.least),
        "close": found.close,
        "confirmed": bracket.confirmed,
        "trials": [_trial(found, each) for each in found.trials],
        "curve": _curve(found_curve(run)),
    }


def _curve(curve: LoadCurve | None) -> Json | None:
    """Latencies in ns; the knee is between two of the points, by their tests."""
    if curve is None:
        return None
    return {
        "points": [
            {
                "test": point.test.name,
                "rate": point.asked,
                "iops": point.done,
                "in_flight": point.in_flight,
                "latency": {
                    "mean": point.latency.mean,
                    "p50": point.latency.p50,
                    "p90": point.latency.p90,
                    "p99": point.latency.p99,
                    "p99.9": point.latency.p99_9,
                },
            }
            for point in curve.points
        ],
        "knee": curve.knee
        and {
            "above": curve.knee.below.done,
            "at_most": curve.knee.above.done,
            "p99": curve.knee.little_ns,
            "tests": [curve.knee.below.test.name, curve.knee.above.test.name],
        },
        "littles_law": [{"depth": queue.depth, "in_flight": queue.in_flight} for queue in curve.queues],
    }


def _level(level: Level | None) -> Json | None:
    if level is None:
        return None
    return {
        "depth": level.trial.depth,
        "rate": level.trial.rate,
        "iops": level.done,
        "trials": level.times,
        "trials_kept": level.times_kept,
    }


def _trial(found: FoundLimit, tried: TriedLoad) -> Json:
    trial = tried.outcome.trial
    return {
        "test": tried.test.name,
        "depth": trial.depth,
        "rate": trial.rate,
        "seconds": found.rule.measuring_s(trial),
        "iops": tried.outcome.done,
        "kept": tried.outcome.kept,
        "figures": list(tried.figures),
    }
