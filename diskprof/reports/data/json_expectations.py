"""Promises for programs."""

from typing import Any

from diskprof.analysis.expectations import CommonExpectation
from diskprof.model.expectation import Expectation, Judgement
from diskprof.model.metric import Quantity

Json = dict[str, Any]

UNITS = {
    Quantity.IOPS: "IOPS",
    Quantity.BANDWIDTH: "bytes/s",
    Quantity.LATENCY: "ns",
    Quantity.SHARE: "share",
    Quantity.CPU: "percent",
}
"""The unit of what is promised and measured; a share is from 0 to 1."""


def expectation_json(expected: Expectation) -> Json:
    """What is promised."""
    return {
        "test": expected.test,
        "metric": expected.metric.name,
        "operator": str(expected.operator),
        "promised": expected.promised,
        "unit": UNITS[expected.metric.quantity],
        "basis": expected.basis,
        "seconds": expected.seconds,
    }


def judgement_json(judgement: Judgement) -> Json:
    """What is promised, what was measured, and the verdict."""
    return {
        **expectation_json(judgement.expectation),
        "measured": judgement.measured,
        "ratio": judgement.ratio,
        "verdict": str(judgement.verdict),
    }


def common_json(expectation: CommonExpectation) -> Json:
    """A judgement a run, null where the run expects no such thing."""
    return {
        "test": expectation.test,
        "metric": expectation.metric.name,
        "judgements": [judgement_json(judgement) if judgement else None for judgement in expectation.judgements],
    }
