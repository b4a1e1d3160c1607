"""Run again: from a stored run to a new plan with the same preset, settings, targets and expectations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from diskprof.analysis.map_found import cells_of, found_map
from diskprof.model.advice import Advice
from diskprof.model.errors import PresetError, Refused, UsageError
from diskprof.model.expectation import ASKED, Asked
from diskprof.model.job import EngineJob, FioJob, Opened
from diskprof.model.limit import promise_words
from diskprof.model.plan import Hazard, PlannedTest, Severity, WritePermission
from diskprof.model.preset import Job, Parameter, ParameterKind, Preset, TargetSlot, Test
from diskprof.model.read_write_map import CellOutcome
from diskprof.model.units import format_size
from diskprof.presets.limit_text import keep_text, limit_text_of
from diskprof.presets.limit_trials import searching
from diskprof.presets.map_text import map_text_of
from diskprof.presets.own_copies import edits, variant_settings
from diskprof.presets.resolve import resolve
from diskprof.presets.steady_text import rounds_text_of, text_of
from diskprof.runner.session import Outlook, Place, Wish

if TYPE_CHECKING:
    from diskprof.model.device import Device, DeviceTree
    from diskprof.model.plan import Plan
    from diskprof.model.run import Run
    from diskprof.presets.library import Library
    from diskprof.runner.session import Session

_NO_WRITING = WritePermission()


class PresetNow(Struct, frozen=True):
    """The preset of a run as it is now, or None and why there is none."""

    preset: Preset | None
    why: str = ""


def plan_again(
    session: Session, run: Run, tree: DeviceTree, library: Library, permission: WritePermission = _NO_WRITING
) -> Outlook:
    """The plan of `run` made anew on the devices of `tree`. Looks at the file system.

    A preset that changed or is gone is replaced by the tests that the run recorded, which a hazard of the plan says. Tags and
    note are not taken over. Raises Refused where a disk is another one now, UsageError where the tests cannot be rebuilt, and
    what `Session.plan_of` raises, and for a run that was imported from a result file, which tells a part of its options.
    """
    if run.imported_from:
        raise UsageError(
            f"Run {run.id} was imported from a result file, which does not have all options of its tests.",
            Advice(
                "Run its job file or its fio command: diskprof run JOBFILE TARGET",
                "Import its job file or its fio command on the Run screen.",
            ),
        )
    if run.plan.watched:
        raise UsageError(
            f"Run {run.id} watched what others did, which cannot be repeated.",
            Advice(f"Watch again: diskprof watch {run.plan.target.path} --record", "Watch again, on the Run screen."),
        )
    found = preset_again(run.plan, library)
    wishes = (_wish(run, each, tree, permission) for each in _as_then(run.plan, found.preset))
    outlook = next(filter(None, (_unchanged(session, run, wish) for wish in wishes)), None)
    hazards: tuple[Hazard, ...] = ()
    if outlook is None:
        why = found.why or f"The preset {run.plan.preset} has changed since run {run.id}"
        wish = replace(_wish(run, rebuilt(run.plan, why), tree, permission), expectations=run.plan.expectations)
        outlook = Outlook(wish, session.plan_of(wish))
        hazards = (Hazard("preset-changed", Severity.WARNS, f"{why}: its recorded tests are used."),)
    plan = outlook.plan
    assert plan is not None
    environment = run.environment
    refuse_other_disks(run.id, (environment.disks, *(other.disks for other in environment.others)), plan, tree)
    if known := _known_cells(run, plan):
        outlook = replace(outlook, wish=replace(outlook.wish, known=known))
        plan = session.plan_of(outlook.wish)
        words = f"Continues the map of run {run.id}: {len(known)} cells are known and not measured again."
        hazards += (Hazard("continued-map", Severity.NOTES, words),)
    if (host := session.hostname()) != run.environment.hostname and run.environment.hostname:
        words = f"Run {run.id} was on {run.environment.hostname}, this is {host}."
        hazards += (Hazard("other-host", Severity.WARNS, words),)
    return replace(outlook, plan=replace(plan, hazards=(*plan.hazards, *hazards)))


def _as_then(plan: Plan, preset: Preset | None) -> Iterator[Preset]:
    """What a plan may have been made of: the preset, or for `limit --load PRESET` a search with the load of one of its tests, whose
    name the plan does not tell."""
    if preset is None:
        return
    if plan.limit is None or preset.limit:
        yield preset
        return
    rule = plan.limit
    keep = keep_text(list(map(promise_words, rule.promises)))
    for test in preset.tests:
        try:
            search = searching(preset, test.name, keep, rule.by, rule.depth)
        except UsageError:
            # It sweeps or repeats its tests since.
            return
        yield replace(search, limit=limit_text_of(rule))


def _known_cells(run: Run, plan: Plan) -> tuple[CellOutcome, ...]:
    """The cells that `run` measured of the map of `plan`; none where it is complete, or another one."""
    found = found_map(run)
    return () if found is None or found.complete or _rules(plan) != _rules(run.plan) else cells_of(run)


def preset_again(plan: Plan, library: Library) -> PresetNow:
    """The preset that a plan was made of, as it is now."""
    try:
        return PresetNow(library.get(plan.preset))
    except PresetError as error:
        return PresetNow(None, error.message.rstrip("."))
    except UsageError:
        return PresetNow(None, f"There is no preset {plan.preset} any more")


def edits_again(plan: Plan, preset: Preset) -> tuple[str, dict[str, str], tuple[Asked, ...]]:
    """The variant, the settings beside it, and the expectations of a person that make the plan of `preset` once more."""
    values = dict(plan.parameters)
    same = (each.name for each in preset.variants if not edits(preset, each.name, values))
    variant = "" if not edits(preset, "", values) else next(same, "")
    # A promise of the preset has a tolerance; what a person expects is kept.
    expected = tuple(each for each in plan.expectations if not each.tolerance or each.basis.startswith(ASKED))
    return variant, edits(preset, variant, values), expected


def _wish(run: Run, preset: Preset, tree: DeviceTree, permission: WritePermission) -> Wish:
    plan = run.plan
    variant, changed, expected = edits_again(plan, preset)
    settings = {**variant_settings(preset, variant), **changed}
    named = (
        {plan.slot: plan.target.path, **{other.slot: other.target.path for other in plan.others}} if plan.slot else {}
    )
    place = Place(path=plan.target.path)
    return Wish(preset, place, tree, settings, named, variant, permission, expected, plan.disk_class)


def _unchanged(session: Session, run: Run, wish: Wish) -> Outlook | None:
    """The plan of a wish, if it has the same tests as the run; None where the preset has changed since."""
    if not may_do_the_same(run.plan, wish.preset, wish.settings):
        return None
    plan = session.plan_of(wish)
    return Outlook(wish, plan) if does_the_same(plan, run.plan) else None


def may_do_the_same(before: Plan, preset: Preset, settings: Mapping[str, str]) -> bool:
    """False where a preset with these settings surely has other tests than the plan."""
    if {name for name, _ in before.parameters} != {each.name for each in preset.parameters}:
        return False
    try:
        tests = resolve(preset, settings).tests
    except UsageError:
        # A value that its parameter does not take any more.
        return False
    return [test.name for test in tests] == [test.name for test in before.asked]


def does_the_same(plan: Plan, before: Plan) -> bool:
    """Whether two plans have the same tests, wherever their files are."""
    return _tests_of(plan) == _tests_of(before) and _rules(plan) == _rules(before)


def _tests_of(plan: Plan) -> list[object]:
    """What the tests of a plan do, without the paths of this one's files."""
    return [
        (test.name, test.engine, test.cell, [_anywhere(job) for job in test.jobs])
        for test in (*plan.precondition, *plan.asked)
    ]


def _rules(plan: Plan) -> object:
    """What says which tests follow; the cells of a map that are known do not."""
    drawn = replace(plan.read_write_map, known=()) if plan.read_write_map else None
    return plan.rounds, plan.limit, drawn


def _anywhere(job: EngineJob) -> EngineJob:
    return replace(job, opened=Opened()) if isinstance(job, FioJob) else replace(job, path="")


def rebuilt(plan: Plan, why: str) -> Preset:
    """A preset of the tests that a plan recorded. Raises UsageError where they do not tell all of it; `why` it is needed."""
    if plan.sweep:
        raise UsageError(
            f"{why}, and a sweep cannot be rebuilt from its record.",
            Advice(
                f"Start it with: diskprof run {plan.preset} {plan.target.path}", "Choose the preset on the Run screen."
            ),
        )
    slots = tuple(TargetSlot(name) for name in (plan.slot, *(other.slot for other in plan.others)) if name)
    return Preset(
        name=plan.preset,
        title=plan.preset_title,
        summary="",
        category=plan.category,
        source="",
        # They fill in nothing here, and say in the new run what they did in the old one.
        parameters=tuple(Parameter(name, ParameterKind.TEXT, value, optional=True) for name, value in plan.parameters),
        tests=tuple(map(_recorded, plan.asked)),
        precondition=tuple(map(_recorded, plan.precondition)),
        rounds=rounds_text_of(plan.rounds) if plan.rounds else "",
        limit=limit_text_of(plan.limit) if plan.limit else "",
        read_write_map=map_text_of(plan.read_write_map) if plan.read_write_map else "",
        shipped=False,
        targets=slots,
    )


def _recorded(test: PlannedTest) -> Test:
    return Test(
        *(test.name, test.title, test.engine, tuple(map(_literal, test.jobs))),
        layout=test.layout,
        steady=text_of(test.steady) if test.steady else "",
    )


def _literal(job: EngineJob) -> Job:
    options = tuple((name, value.replace("$", "$$")) for name, value in job.options)
    return Job(job.name, options, job.targets, job.files if isinstance(job, FioJob) else ())


def refuse_other_disks(run_id: str, before: Sequence[Sequence[Device]], plan: Plan, tree: DeviceTree) -> None:
    """Raises Refused where a target lies on another disk than in the run; `before` are its disks, of each target."""
    for old, target in zip(before, plan.targets, strict=False):
        new = tree.disks_below(target.device)
        if other := next((disk for disk in new if old and not any(_same(disk, each) for each in old)), None):
            raise Refused(
                f"{target.path} is on another disk than in run {run_id}: {_words(other)}; then {_words(old[0])}."
                f"{_moved(old, tree)}",
                Advice(
                    f"To test the disk that is there now: diskprof run {plan.preset} {target.path}",
                    "To test the disk that is there now, choose it on the Run screen.",
                ),
            )


def _same(one: Device, other: Device) -> bool:
    """Whether two devices can be the same disk: by what both tell, serial number and world-wide name first."""
    for known, there in ((one.serial, other.serial), (one.wwid, other.wwid)):
        if known and there:
            return known == there
    return (one.model, one.size_bytes, one.backing_file) == (other.model, other.size_bytes, other.backing_file)


def _moved(old: Sequence[Device], tree: DeviceTree) -> str:
    """Where the disk of the run is now, if its serial number or world-wide name tells."""
    told = (each for disk in old if disk.serial or disk.wwid for each in tree.devices if _same(each, disk))
    there = next((each for each in told if each.serial or each.wwid), None)
    return f" That disk is {there.node} now." if there else ""


def _words(disk: Device) -> str:
    return " ".join(filter(None, (disk.node, disk.model, disk.serial, format_size(disk.size_bytes))))
