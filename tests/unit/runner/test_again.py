"""Run again: the same preset, settings, targets and expectations, planned anew."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from drawn_map import drawn, triangle
from msgspec.structs import replace
from shipped import SHIPPED

from diskprof.analysis.expectations import parse_expectation
from diskprof.analysis.map_found import cells_of
from diskprof.model.device import Device, DeviceKind, DeviceTree
from diskprof.model.errors import Refused, UsageError
from diskprof.model.plan import Plan
from diskprof.model.preset import Preset
from diskprof.model.run import Environment, FurtherTarget, Run, Status
from diskprof.model.target import Target
from diskprof.presets.library import Library
from diskprof.presets.limit_trials import searching
from diskprof.presets.resolve import settings_of
from diskprof.runner.session import Place, Session, Wish

DISK = Device("sda", "/dev/sda", DeviceKind.DISK, 8, 0, 1 << 40, model="Model", serial="S1")
EXPECTED = parse_expectation("randread-4k-qd1.read.iops>=10")


class Here(Session):
    """This machine with the presets that a test gives it, and with `disk` below every directory."""

    def __init__(self, *presets: Preset, disk: Device = DISK) -> None:
        super().__init__()
        self.presets = presets
        self.disk = disk

    def load_library(self) -> Library:
        return Library(self.presets)

    def hostname(self) -> str:
        return "db-01"

    def scan(self) -> DeviceTree:
        return DeviceTree((self.disk,))

    def resolve_target(self, text: str, tree: DeviceTree) -> Target:
        return replace(super().resolve_target(text, tree), device=self.disk.name)


def carried_out(session: Session, wish: Wish) -> Run:
    """The run of a wish, as the store has it."""
    return run_of(session.plan_of(wish))


def run_of(plan: Plan) -> Run:
    others = tuple(FurtherTarget(other.slot, disks=(DISK,)) for other in plan.others)
    environment = Environment(hostname="db-01", disks=(DISK,), others=others)
    return Run("k3f7p2qa", Status.COMPLETE, "", plan, environment, datetime.now(UTC), None, (), tags=("prod",))


@pytest.fixture
def quick(tmp_path: Path) -> Callable[..., Wish]:
    def wish(variant: str = "", **settings: str) -> Wish:
        preset = SHIPPED.get("quick")
        chosen = settings_of(preset, variant, {"size": "16m", **settings})
        return Wish(preset, Place(path=str(tmp_path)), DeviceTree((DISK,)), chosen, expectations=(EXPECTED,))

    return wish


def commands(plan: Plan) -> list[tuple[str, ...]]:
    return [tuple(word.replace(plan.directory, "DIR") for word in test.argv) for test in plan.tests]


def test_the_same_settings_and_expectations_give_the_same_commands(quick: Callable[..., Wish]) -> None:
    session = Here(*SHIPPED.presets)
    run = carried_out(session, quick(runtime="2s", layout="fresh"))
    outlook = session.again(run)
    plan = outlook.plan
    assert plan is not None
    assert commands(plan) == commands(run.plan) and plan.directory != run.plan.directory
    assert (plan.parameters, plan.expectations) == (run.plan.parameters, run.plan.expectations)
    assert plan.target.path == run.plan.target.path
    assert [hazard.name for hazard in plan.hazards] == [hazard.name for hazard in run.plan.hazards]
    assert dict(outlook.wish.settings) == {"size": "16m", "runtime": "2s", "layout": "fresh"}


def test_a_preset_that_changed_is_replaced_by_the_recorded_tests(quick: Callable[..., Wish]) -> None:
    run = carried_out(Here(*SHIPPED.presets), quick())
    preset = SHIPPED.get("quick")
    for session, says in (
        (Here(replace(preset, tests=preset.tests[:2])), "The preset quick has changed since run k3f7p2qa"),
        (Here(replace(preset, parameters=())), "The preset quick has changed"),
        (Here(), "There is no preset quick any more"),
    ):
        plan = session.again(run).plan
        assert plan is not None
        assert commands(plan) == commands(run.plan)
        assert (plan.parameters, plan.expectations) == (run.plan.parameters, run.plan.expectations)
        (changed,) = [hazard for hazard in plan.hazards if hazard.name == "preset-changed"]
        assert changed.message.startswith(says) and changed.message.endswith("its recorded tests are used.")


def test_an_option_that_changed_is_seen(quick: Callable[..., Wish]) -> None:
    run = carried_out(Here(*SHIPPED.presets), quick())
    preset = SHIPPED.get("quick")
    job = preset.tests[0].jobs[0]
    options = tuple((name, "8k" if name == "bs" else value) for name, value in job.options)
    first = replace(preset.tests[0], jobs=(replace(job, options=options),))
    plan = Here(replace(preset, tests=(first, *preset.tests[1:]))).again(run).plan
    assert plan is not None and commands(plan) == commands(run.plan)
    assert "preset-changed" in [hazard.name for hazard in plan.hazards]


@pytest.mark.parametrize("name", [preset.name for preset in SHIPPED.presets if not preset.sweep])
def test_every_preset_can_be_rebuilt_from_its_record(name: str, tmp_path: Path) -> None:
    preset = SHIPPED.get(name)
    named = {slot.name: str(tmp_path) for slot in preset.targets}
    place = None if named else Place(path=str(tmp_path))
    settings = {"size": "1g"} if preset.parameter("size") else {}
    run = carried_out(Here(preset), Wish(preset, place, DeviceTree((DISK,)), settings, named))
    for session in (Here(preset), Here()):
        plan = session.again(run).plan
        assert plan is not None and plan.slot == run.plan.slot
        assert [(test.name, [job.options for job in test.jobs]) for test in plan.tests] == [
            (test.name, [job.options for job in test.jobs]) for test in run.plan.tests
        ]


def test_a_sweep_whose_preset_is_gone_cannot_be_rebuilt(tmp_path: Path) -> None:
    preset = next(preset for preset in SHIPPED.presets if preset.sweep)
    run = carried_out(Here(preset), Wish(preset, Place(path=str(tmp_path)), DeviceTree((DISK,)), {"size": "64m"}))
    plan = Here(preset).again(run).plan
    assert plan is not None and plan.sweep == run.plan.sweep
    with pytest.raises(UsageError, match="a sweep cannot be rebuilt from its record"):
        Here().again(run)


def test_a_target_on_another_disk_is_refused(quick: Callable[..., Wish]) -> None:
    run = carried_out(Here(*SHIPPED.presets), quick())
    other = replace(DISK, serial="S2")
    with pytest.raises(Refused, match=r"is on another disk than in run k3f7p2qa: /dev/sda Model S2 .*; then .* S1"):
        Here(*SHIPPED.presets, disk=other).again(run)
    for same in (replace(DISK, name="sdb", node="/dev/sdb"), replace(DISK, serial="")):
        assert Here(*SHIPPED.presets, disk=same).again(run).plan is not None
    with pytest.raises(Refused):
        Here(*SHIPPED.presets, disk=replace(DISK, serial="", size_bytes=1 << 30)).again(run)


def test_a_target_that_is_gone_is_told_of(quick: Callable[..., Wish], tmp_path: Path) -> None:
    run = carried_out(Here(*SHIPPED.presets), quick())
    gone = run_of(replace(run.plan, target=replace(run.plan.target, path=str(tmp_path / "gone"))))
    with pytest.raises(UsageError, match="gone"):
        Here(*SHIPPED.presets).again(gone)


def test_a_run_of_another_host_warns(quick: Callable[..., Wish]) -> None:
    run = carried_out(Here(*SHIPPED.presets), quick())
    there = replace(run, environment=replace(run.environment, hostname="db-02"))
    plan = Here(*SHIPPED.presets).again(there).plan
    assert plan is not None and [hazard.message for hazard in plan.hazards if hazard.name == "other-host"] == [
        "Run k3f7p2qa was on db-02, this is db-01."
    ]


@pytest.mark.parametrize(("preset", "test"), [("oltp-70-30", ""), ("quick", "randread-4k-qd32"), ("limit", "")])
def test_the_load_of_a_search_is_that_of_its_preset_as_long_as_that_has_not_changed(
    preset: str, test: str, tmp_path: Path
) -> None:
    session, load = Here(*SHIPPED.presets), SHIPPED.get(preset)
    settings = {"size": "64m"}
    search = searching(load, test, "read.p99<=5ms", "rate", 32, None if load.limit else 8)
    run = carried_out(session, Wish(search, Place(path=str(tmp_path)), DeviceTree((DISK,)), settings))
    outlook = session.again(run)
    assert outlook.plan
    assert [hazard.name for hazard in outlook.plan.hazards] == [hazard.name for hazard in run.plan.hazards]
    assert outlook.plan.limit == run.plan.limit and outlook.plan.preset_title == run.plan.preset_title
    assert commands(outlook.plan) == commands(run.plan)
    assert outlook.wish.settings["size"] == "64m"
    if not load.limit:
        slower = replace(load, tests=load.tests[-1:], title="Other")
        job = slower.tests[0].jobs[0]
        options = tuple((name, "8k" if name == "bs" else value) for name, value in job.options)
        slower = replace(slower, tests=(replace(slower.tests[0], jobs=(replace(job, options=options),)),))
        changed = Here(slower).again(run).plan
        assert changed and "preset-changed" in [hazard.name for hazard in changed.hazards]


def test_a_map_that_is_not_complete_goes_on_with_the_cells_it_has(tmp_path: Path) -> None:
    session, preset = Here(*SHIPPED.presets), SHIPPED.get("read-write-map")
    wish = Wish(preset, Place(path=str(tmp_path)), DeviceTree((DISK,)), {"size": "64m", "reads": "4", "writes": "4"})
    begun = carried_out(session, wish)
    begun = replace(begun, status=Status.INTERRUPTED, tests=drawn(triangle, most=7, status=Status.INTERRUPTED).tests)
    outlook = session.again(begun)
    plan, cells = outlook.plan, cells_of(begun)
    assert plan and plan.read_write_map and plan.read_write_map.known == cells and len(cells) == 6
    assert "6 cells are known" in next(hazard.message for hazard in plan.hazards if hazard.name == "continued-map")
    # Made once more, as for a device that is named, it goes on all the same.
    assert session.plan_of(outlook.wish).read_write_map == plan.read_write_map
    assert plan.seconds < begun.plan.seconds
    whole = session.again(replace(begun, tests=drawn(triangle).tests, status=Status.COMPLETE)).plan
    assert whole and whole.read_write_map and whole.read_write_map.known == ()
