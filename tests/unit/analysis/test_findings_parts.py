"""Arrays and multipath devices that were not the same before and after a test."""

import pytest
from handmade import direction, fio, run

from diskprof.analysis.findings.find import find
from diskprof.model.device import Parts
from diskprof.model.run import Finding, Weight

TESTED = run(fio(read=direction(10_000)))
WHOLE = Parts("md0", paths=False, good=("sdc", "sdd"), wanted=2)
LESS = Parts("md0", paths=False, good=("sdc",), failed=("sdd",), wanted=2, missing=1)
BOTH = Parts("mpatha", paths=True, good=("sdg", "sdh"))
ONE = Parts("mpatha", paths=True, good=("sdg",))


def syncing(share: float | None) -> Parts:
    return Parts("md0", paths=False, good=("sdc", "sdd"), wanted=2, sync="resync", synced=share)


def found(*looks: Parts) -> dict[str, Finding]:
    return {each.name: each for each in find(TESTED, (), (), (), [(look,) for look in looks])}


def test_where_nothing_changed_nothing_is_said() -> None:
    assert not found(WHOLE, WHOLE) and not found(BOTH, BOTH) and not find(TESTED, (), (), (), [(), ()])


def test_a_run_that_ended_before_the_second_look_says_nothing() -> None:
    assert not found(LESS) and not found()


@pytest.mark.parametrize(
    ("before", "after", "evidence"),
    [
        (syncing(0.12), syncing(0.34), "md0: resync, 12% done when the test began, 34% done when it ended"),
        (syncing(0.9), WHOLE, "md0: resync, 90% done when the test began, over when it ended"),
        (WHOLE, syncing(None), "md0: resync, not yet begun when the test began, under way when it ended"),
    ],
)
def test_a_resync_beside_the_test_is_told(before: Parts, after: Parts, evidence: str) -> None:
    finding = found(before, after)["array-sync"]
    assert finding.weight is Weight.DOUBT
    assert finding.evidence == evidence


def test_a_member_that_failed_in_mid_run_is_told() -> None:
    finding = found(WHOLE, LESS)["array-degraded"]
    assert finding.message == "An array lost a member during the test: figures before and after are mixed."
    assert finding.evidence == "md0: 2 of 2 members when the test began, 1 of 2 members when it ended (sdd failed)"


def test_an_array_that_lacked_a_member_before_is_told_in_other_words() -> None:
    finding = found(LESS, LESS)["array-degraded"]
    assert finding.message == "Degraded array: a member was missing during the test."
    assert finding.evidence == "md0: 1 of 2 members (sdd failed)"


def test_a_path_that_vanished_is_told() -> None:
    finding = found(BOTH, ONE)["path-lost"]
    assert finding.weight is Weight.DOUBT
    assert finding.message == "A multipath device lost a path during the test: figures before and after are mixed."
    assert finding.evidence == "mpatha lost sdh"


def test_a_path_that_had_failed_before_is_a_note() -> None:
    down = Parts("mpatha", paths=True, good=("sdg",), failed=("sdh",))
    finding = found(down, down)["path-lost"]
    assert finding.weight is Weight.NOTE
    assert finding.evidence == "mpatha: sdh failed, sdg left"


def test_only_the_test_during_which_it_happened_is_named() -> None:
    tests = [fio(name, read=direction(10_000)) for name in ("first", "second", "third")]
    looks = [(BOTH,), (BOTH,), (ONE,), (ONE,)]
    assert [(each.name, each.test) for each in find(run(*tests), (), (), (), looks)] == [("path-lost", "second")]
