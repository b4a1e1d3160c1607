"""How findings come together: order, what is told once, and none without a result. The rules themselves: test_findings_*."""

import re
from pathlib import Path

import pytest
from handmade import direction, environment, fio, run, samples, system
from recorded import record_run

from diskprof.analysis.findings.find import find
from diskprof.model.run import Run, Status, Weight
from diskprof.store import Store


def quick(**more: object) -> Run:
    return run(
        *(fio(name, read=direction(10_000, seconds=5), runtime_s=5) for name in ("a", "b", "c", "d", "e", "f")), **more
    )


def test_what_several_tests_have_in_common_is_told_once() -> None:
    found = find(quick(), (), [sample for test in range(6) for sample in system(test=test, steal=0.2)])
    steal = [finding for finding in found if finding.name == "cpu-steal"]
    assert len(steal) == 1
    assert steal[0].test == ""
    assert steal[0].evidence == "; ".join(
        [*(f"{name}: steal 20% on average, 20% at most" for name in "abcd"), "and 2 more"]
    )


def test_what_one_test_has_is_told_of_that_test() -> None:
    found = find(quick(), (), system(test=2, steal=0.2))
    assert [(finding.name, finding.test) for finding in found] == [("cpu-steal", "c"), ("too-short", "")]


def test_doubts_come_first_and_notes_last() -> None:
    bound = fio("bound", depth=32, read=direction(90_000), cpu=(30.0, 69.0))
    machine = environment(cgroup_limits=("io.max 259:0 riops=5000",))
    found = find(run(bound, environment=machine), (), system(steal=0.2))
    weights = [finding.weight for finding in found]
    assert weights == sorted(weights, key=[Weight.DOUBT, Weight.LIMIT, Weight.NOTE].index)
    assert set(weights) == {Weight.DOUBT, Weight.LIMIT, Weight.NOTE}


def test_nothing_is_found_where_nothing_was_measured() -> None:
    failed = run(fio(status=Status.FAILED), fio("b", status=Status.SKIPPED), status=Status.FAILED)
    assert find(failed, samples([0] * 40), system(steal=0.5)) == ()


def test_every_finding_says_what_was_seen_and_what_to_do() -> None:
    machine = environment(cgroup_limits=("io.max 259:0 riops=5000",))
    for finding in find(quick(environment=machine), samples([0, 9000] * 20), system(steal=0.2)):
        assert finding.message.endswith(".")
        assert finding.evidence
        assert finding.advice.endswith(".")


@pytest.mark.parametrize(
    ("preset", "runtime_s", "expected"),
    [
        ("quick", 5.0, ["too-short"]),
        ("quick", 20.0, []),
        ("mixed-70-30", 30.0, []),
        ("ioping-latency", 12.0, ["few-ios", "idle-states"]),
        ("ioping-seek", 12.0, []),
    ],
)
def test_a_healthy_disk_raises_no_alarm(preset: str, runtime_s: float, expected: list[str], tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        run_id = record_run(store, preset, runtime_s=runtime_s)
        found = find(store.run(run_id), store.samples(run_id).samples, store.system_samples(run_id).samples)
    assert [finding.name for finding in found] == expected
    assert all(finding.weight is Weight.NOTE for finding in found)


def test_every_rule_is_told_of_where_results_are_explained() -> None:
    root = Path(__file__).parents[3]
    told = re.findall(
        r"^\*\*([a-z-]+)\*\*|\. \*\*([a-z-]+)\*\*|, \*\*([a-z-]+)\*\*",
        (root / "docs/reading-results.md").read_text(),
        re.M,
    )
    sources = "".join(path.read_text() for path in (root / "diskprof/analysis/findings").glob("*.py"))
    known = set(re.findall(r"(?:found|Finding)\(\s*\"([a-z-]+)\"", sources)) | {"iops-ceiling", "bandwidth-ceiling"}
    assert {name for names in told for name in names if name} == known
