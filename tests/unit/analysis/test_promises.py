"""What a run is expected to show, where the preset's promise depends on a capacity."""

import pytest
from bench_screens import GIB, make_device

from diskprof.model.advice import on_command_line
from diskprof.model.device import DeviceTree
from diskprof.model.errors import UsageError
from diskprof.model.expectation import ClassExpectation
from diskprof.model.plan import Severity
from diskprof.model.preset import Preset
from diskprof.model.target import Target, TargetKind
from diskprof.presets.library import load_library
from diskprof.presets.resolve import expand_defaults
from diskprof.runner.plan.applicable_promises import promises

TREE = DeviceTree((make_device("sda", size=100 * GIB), make_device("sdb", size=100 * GIB)))
ON_DISK = Target(TargetKind.DIRECTORY, "/mnt/data", "/mnt/data", device="sda", mount_point="/mnt/data")
NOWHERE = Target(TargetKind.DIRECTORY, "/mnt/share", "/mnt/share", mount_point="/mnt/share", fs_type="nfs4")


@pytest.fixture(scope="module")
def preset() -> Preset:
    return next(preset for preset in load_library().presets if preset.name == "alibaba-rand-read")


def values(preset: Preset, **more: str) -> dict[str, str]:
    return {parameter.name: parameter.default for parameter in preset.parameters} | more


def test_the_capacity_of_the_disk_counts(preset: Preset) -> None:
    found, _, notes = promises(preset, values(preset), expand_defaults(preset).tests, (), ON_DISK, TREE)
    assert [each.promised for each in found if each.metric.name == "read.iops"] == [1200 + 30 * 100]
    assert notes == ()


def test_a_capacity_that_cannot_be_seen_is_a_note_and_no_refusal(preset: Preset) -> None:
    found, _, (note,) = promises(preset, values(preset), expand_defaults(preset).tests, (), NOWHERE, TREE)
    assert not any(each.metric.name == "read.iops" for each in found)
    assert note.severity is Severity.NOTES
    assert "is unknown here" in note.message and "capacity_gib" in on_command_line(note.advice)


def test_a_capacity_that_is_given_counts_everywhere(preset: Preset) -> None:
    found, _, notes = promises(
        preset, values(preset, capacity_gib="200"), expand_defaults(preset).tests, (), NOWHERE, TREE
    )
    assert [each.promised for each in found if each.metric.name == "read.iops"] == [1200 + 30 * 200]
    assert notes == ()


def test_what_a_person_asks_for_needs_a_test(preset: Preset) -> None:
    from diskprof.analysis.expectations import parse_expectation

    asked = parse_expectation("nothing.read.iops>=5")
    with pytest.raises(UsageError, match="has no test 'nothing'"):
        promises(preset, values(preset), expand_defaults(preset).tests, (asked,), ON_DISK, TREE)


@pytest.mark.parametrize("text", ["write.iops>=5", "write.latency.p99<5ms", "sync.latency.p99<5ms"])
def test_what_a_test_can_never_show_is_an_error_and_no_promise(preset: Preset, text: str) -> None:
    from diskprof.analysis.expectations import parse_expectation

    asked = parse_expectation(f"Rand_Read_Testing.{text}")
    with pytest.raises(UsageError, match="is not measured: Rand_Read_Testing never"):
        promises(preset, values(preset), expand_defaults(preset).tests, (asked,), ON_DISK, TREE)


def test_a_class_of_disks_is_expected_test_by_test(preset: Preset) -> None:
    tests = expand_defaults(preset).tests
    own, asked, notes = promises(preset, values(preset), tests, (ClassExpectation("google-pd-ssd"),), ON_DISK, TREE)
    assert own and notes == ()
    assert [(each.test, each.metric.name, each.promised, each.basis) for each in asked] == [
        ("Rand_Read_Testing", "read.iops", 30 * 100, "from --expect google-pd-ssd")
    ]
    (fixed,) = promises(preset, values(preset), tests, (ClassExpectation("aws-gp3"),), NOWHERE, TREE)[1]
    assert fixed.promised == 3000 and fixed.tolerance and fixed.seconds == 60


@pytest.mark.parametrize(
    ("name", "says"), [("sd-a9", "invalid expectation 'sd-a9'"), ("aws-gp2", "say nothing of what these tests do")]
)
def test_a_class_that_there_is_not_or_that_promises_nothing(preset: Preset, name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        promises(preset, values(preset), expand_defaults(preset).tests, (ClassExpectation(name),), ON_DISK, TREE)
