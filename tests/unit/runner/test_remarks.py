"""What is said of many tests is said once."""

import pytest

from diskprof.model.plan import Severity
from diskprof.runner.plan.remarks import Remark, hazards_of

TESTS = [f"qd{depth}" for depth in (1, 2, 4, 8, 16, 32)]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["qd1"], "qd1 uses 1 GiB."),
        (["qd1", "qd1"], "qd1 uses 1 GiB."),
        (["qd1", "qd8"], "qd1 and qd8 use 1 GiB."),
        (["qd1", "qd2", "qd4"], "qd1, qd2 and qd4 use 1 GiB."),
        (TESTS, "All 6 tests use 1 GiB."),
        (TESTS[1:5], "4 of the 6 tests (qd2 to qd16) use 1 GiB."),
        (["qd1", "qd2", "qd16", "qd32"], "4 of the 6 tests (such as qd1) use 1 GiB."),
    ],
)
def test_of_many_tests_it_is_one_sentence(names: list[str], words: str) -> None:
    remark = Remark("smaller-target", Severity.NOTES, "use", "1 GiB.", "Look.")
    (hazard,) = hazards_of([(name, remark) for name in names], TESTS)
    assert (hazard.name, hazard.severity, hazard.message, hazard.advice) == (
        "smaller-target",
        Severity.NOTES,
        words,
        "Look.",
    )


def test_what_differs_is_said_apart() -> None:
    one, other = (Remark("depth-capped", Severity.WARNS, "ask", f"for queue depth {depth}.") for depth in (8, 32))
    found = hazards_of([("qd8", one), ("qd32", other)], TESTS)
    assert [hazard.message for hazard in found] == ["qd8 asks for queue depth 8.", "qd32 asks for queue depth 32."]
