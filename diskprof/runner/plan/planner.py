"""Preset x target -> plan. Nothing else builds a command."""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from diskprof.devices.guard.target_hazards import NO_PERMISSION, target_hazards
from diskprof.engines.fio.faults import faults_of
from diskprof.engines.fio.reader import fio_argv, latency_of
from diskprof.engines.ioping import ioping_argv
from diskprof.engines.smartctl import wear_of
from diskprof.engines.tools import Tool, find_tool
from diskprof.model.advice import joined
from diskprof.model.device import Device, DeviceTree, Wear
from diskprof.model.errors import DiskprofError, Refused, UnitError, UsageError
from diskprof.model.expectation import Asked, Expectation
from diskprof.model.job import EngineJob, FioJob
from diskprof.model.load import Load
from diskprof.model.plan import FioFault, Hazard, OtherTarget, Plan, PlannedTest, Severity, WritePermission
from diskprof.model.preset import Consent, EngineName, Layout, Preset
from diskprof.model.sample import LatencyKind
from diskprof.model.target import Target, TargetKind
from diskprof.model.units import parse_size
from diskprof.presets.resolve import ResolvedTest, resolve
from diskprof.runner.plan.applicable_promises import promises
from diskprof.runner.plan.files import files_of, opened, own_files, with_shared_files
from diskprof.runner.plan.ioengines import with_usable_engines
from diskprof.runner.plan.layout import plan_layout
from diskprof.runner.plan.places import FilePlace, choose_places, fit, places_of_job, with_directory
from diskprof.runner.plan.remarks import Remark, hazards_of
from diskprof.runner.plan.workload import (
    ClassSpeed,
    Workload,
    assumed_rate,
    fio_workload,
    interval_ms,
    ioping_workload,
    window_interval_ms,
    without_false_mix,
)
from diskprof.runner.plan.write_permission import needed_places, preconditioning, write_budget, written_devices

UNUSABLE = frozenset({"not-writable", "read-only", "file-size-limit", "no-permission"})
"""Hazards that endanger nothing: the target just cannot be used."""


def make_plan(
    preset: Preset,
    target: Target | None,
    settings: Mapping[str, str],
    tree: DeviceTree,
    *,
    named: Mapping[str, Target] | None = None,
    expectations: Sequence[Asked] = (),
    permission: WritePermission = NO_PERMISSION,
    disk_class: str = "",
    waiting: Callable[[str], None] | None = None,
) -> Plan:
    """Everything that a run of `preset` will do, with what speaks against it among its hazards.

    `settings` are parameter values by name; `named` the targets of a preset that has several, by slot, in place of
    `target`; `expectations` what the person asks for beside the preset's own; `permission` what may be done to a raw
    device; `disk_class` the class that the person says the disk is of; `waiting` is handed a line for the person where fio
    or ioping is slow to answer. Raises UsageError for a bad parameter, target or expectation or a test that cannot fit,
    EngineMissing where fio or ioping is not there, EngineBusy where it does not answer.
    """
    places = choose_places(preset, target, named or {})
    resolved = resolve(preset, settings)
    wanted = (*resolved.precondition, *resolved.tests)
    tools = {engine: find_tool(engine, waiting) for engine in sorted({test.engine for test in wanted})}
    rate = _rate(places[0].target, tree)
    version = tools[EngineName.FIO].version if EngineName.FIO in tools else ""
    every, hazards = _adapted(wanted, places, version)
    before, tests = every[: len(resolved.precondition)], every[len(resolved.precondition) :]
    places = tuple(with_directory(place, places, every) for place in places)
    places = tuple(with_shared_files(place, places, every) for place in places)
    promised, asked, untold = promises(preset, dict(resolved.values), tests, expectations, places[0].target, tree)
    hazards += untold
    loads = [_workload(test, places, rate, promised, version) for test in every]
    rounds = resolved.rounds
    once = loads[len(before) :]
    search = resolved.limit or resolved.read_write_map
    seconds = (
        (search.longest_s if search else 0.0)
        + sum(load.likely_s for load in loads)
        + (rounds.windows - 1 if rounds else 0) * sum(load.likely_s for load in once)
    )
    space = {place.slot: _space(place, places, every, loads) for place in places}
    # As many rounds, or trials, as there may be: what is consented to is never less than what is written.
    times = rounds.at_most if rounds else search.most_short if search else 1
    all_rounds = (*before, *tests * times)
    written = {place.slot: _written(place, places, all_rounds, _rate(place.target, tree), version) for place in places}
    needed = needed_places() if permission.allowed else {}
    size = _size_of(resolved.values)
    for place in places:
        hazards += _hazards(place, places, written[place.slot] > 0, space, size, tree, permission, needed)
    raw = written_devices([(place.target, written[place.slot]) for place in places], tree, permission)
    wear = wear_of(_written_disks(places, written, tree))
    hazards += (write_budget(device, _below(device.name, wear, tree)) for device in raw)
    hazards += (
        preconditioning(place.target, _written(place, places, before, _rate(place.target, tree), version), wear)
        for place in places
        if before and resolved.consent is Consent.ASK and place.target.kind is TargetKind.DEVICE
    )
    first = places[0]
    fills = any(place.files for place in places)
    layout = (
        plan_layout(places, [test.load for test in every], rate=rate, tool=tools[EngineName.FIO], run_s=seconds)
        if fills
        else None
    )
    planned = tuple(
        _planned(
            test, load, places, tools[test.engine], seconds, in_rounds=rounds is not None and number >= len(before)
        )
        for number, (test, load) in enumerate(zip(every, loads, strict=True))
    )
    return Plan(
        preset=preset.name,
        preset_title=preset.title,
        category=preset.category,
        target=first.target,
        parameters=resolved.values,
        tests=planned[len(before) :],
        directory=first.directory,
        files=first.files,
        layout=layout,
        hazards=tuple(dict.fromkeys(hazards)),
        space_needed=sum(space.values()),
        assumed_bandwidth=rate.bandwidth,
        expectations=(*promised, *asked),
        slot=first.slot,
        others=tuple(OtherTarget(place.slot, place.target, place.directory, place.files) for place in places[1:]),
        sweep=_axes(tests),
        raw_devices=raw,
        wear=wear,
        precondition=planned[: len(before)],
        rounds=rounds,
        disk_class=disk_class,
        limit=resolved.limit,
        read_write_map=resolved.read_write_map,
    )


def refuse_if_blocked(plan: Plan) -> None:
    """Raises all that stands in the way: Refused where something could be lost, UsageError where the target is just unusable."""
    if not plan.blocked:
        return
    first = next((hazard for hazard in plan.blocked if hazard.name not in UNUSABLE), None)
    kind: type[DiskprofError] = Refused if first else UsageError
    advice = dict.fromkeys(hazard.advice for hazard in plan.blocked if hazard.advice)
    raise kind("\n".join(hazard.message for hazard in plan.blocked), joined(advice, "\n"))


def _rate(target: Target, tree: DeviceTree) -> ClassSpeed:
    disks = tree.disks_below(target.device)
    return assumed_rate(disks[0] if disks else None)


def _adapted(
    tests: Sequence[ResolvedTest], places: Sequence[FilePlace], version: str
) -> tuple[list[ResolvedTest], list[Hazard]]:
    """The tests as they can run here, and notes on what had to change."""
    adapted: list[ResolvedTest] = []
    remarks: list[tuple[str, Remark]] = []
    for test in tests:
        if test.load.fio:
            test = replace(test, jobs=tuple(without_false_mix(job) for job in test.load.fio))
            test, notes = with_usable_engines(test)
            remarks += ((test.name, note) for note in notes)
            remarks += ((test.name, _of_fault(fault)) for fault in _faults(test, version))
        fitted, more = fit(test, places)
        adapted.append(fitted)
        remarks += ((test.name, note) for note in more)
    return adapted, hazards_of(remarks, [test.name for test in tests])


def _faults(test: ResolvedTest, version: str) -> tuple[FioFault, ...]:
    return tuple(dict.fromkeys(fault for job in test.load.fio for fault in faults_of(job, version)))


def _of_fault(fault: FioFault) -> Remark:
    return Remark("fio-fault", Severity.WARNS, "ask", fault.effect, fault.advice)


def _workload(
    test: ResolvedTest, places: Sequence[FilePlace], rate: ClassSpeed, promised: Sequence[Expectation], version: str
) -> Workload:
    """What a test amounts to. How long it likely takes goes by what is `promised` of it, where that is less than `rate`."""
    if job := test.load.ioping:
        return ioping_workload(job, on_directory=places_of_job(job, places)[0].target.kind is TargetKind.DIRECTORY)
    kept = rate.promised(each for each in promised if each.test == test.name)
    return replace(
        fio_workload(test.load.fio, rate, version), likely_s=fio_workload(test.load.fio, kept, version).likely_s
    )


def _space(
    place: FilePlace, places: Sequence[FilePlace], tests: Sequence[ResolvedTest], loads: Sequence[Workload]
) -> int:
    """Bytes that the files which tests share take in a place, and the most that one test has of its own there beside them."""
    if place.target.kind is not TargetKind.DIRECTORY:
        return 0
    own = [0]
    for test, load in zip(tests, loads, strict=True):
        if test.load.ioping and place in places_of_job(test.jobs[0], places):
            own.append(load.span_bytes)  # F31
        else:
            files = files_of(test, place, places)
            own.append(sum(file.size_bytes for file in files if file.layout is not Layout.FILLED))
    return sum(file.size_bytes for file in place.files) + max(own)


def _written(
    place: FilePlace, places: Sequence[FilePlace], tests: Sequence[ResolvedTest], rate: ClassSpeed, version: str
) -> int:
    """Bytes that the tests write to a place, what fills its test files aside."""
    return sum(
        fio_workload((job,), rate, version).bytes_written // len(places_of_job(job, places))
        for test in tests
        for job in test.load.fio
        if place in places_of_job(job, places)
    )


def _written_disks(places: Sequence[FilePlace], written: Mapping[str, int], tree: DeviceTree) -> tuple[Device, ...]:
    """The disks that the plan writes to, by its tests or to lay a file out, each once."""
    targets = [place.target for place in places if place.files or written[place.slot]]
    disks = {disk.name: disk for target in targets for disk in tree.disks_below(target.device)}
    return tuple(disks.values())


def _below(device: str, wear: Sequence[Wear], tree: DeviceTree) -> tuple[Wear, ...]:
    names = {disk.name for disk in tree.disks_below(device)}
    return tuple(each for each in wear if each.device in names)


def _size_of(parameters: Sequence[tuple[str, str]]) -> int:
    """The parameter by which all presets of diskprof say how large a test file is, in bytes; 0 if there is none."""
    try:
        return parse_size(dict(parameters).get("size", ""))
    except UnitError:
        return 0


def _hazards(
    place: FilePlace,
    places: Sequence[FilePlace],
    writes: bool,
    space: Mapping[str, int],
    size: int,
    tree: DeviceTree,
    permission: WritePermission,
    needed: Mapping[str, str],
) -> tuple[Hazard, ...]:
    target = place.target
    # Two targets may lie on one file system: it must hold both files.
    together = sum(
        space[other.slot]
        for other in places
        if other is place or (target.mount_point and other.target.mount_point == target.mount_point)
    )
    return target_hazards(
        target,
        tree,
        writes_file=target.kind is TargetKind.DIRECTORY or (target.kind is TargetKind.FILE and writes),
        writes_device=target.kind is TargetKind.DEVICE and writes,
        space_needed=together,
        size=size,
        permission=permission,
        places=needed,
    )


def _planned(
    test: ResolvedTest, load: Workload, places: Sequence[FilePlace], tool: Tool, run_s: float, *, in_rounds: bool
) -> PlannedTest:
    window_s = test.steady.window_s if test.steady else load.runtime_s if in_rounds else None
    interval = window_interval_ms(interval_ms(load.likely_s, run_s), window_s)
    jobs = tuple(_placed(test, job, places) for job in test.jobs)
    return PlannedTest(
        name=test.name,
        title=test.title,
        engine=test.engine,
        argv=_argv(tool, jobs, interval_ms=interval, read_only=not load.bytes_written),
        jobs=jobs,
        ramp_s=load.ramp_s,
        runtime_s=load.runtime_s,
        amount_bytes=load.amount_bytes,
        bytes_written=load.bytes_written,
        writes_exact=load.writes_exact,
        interval_ms=interval,
        cell=test.cell,
        delay_s=load.delay_s,
        latency=latency_of(tool.version) if test.engine is EngineName.FIO else LatencyKind.LAT,
        files=own_files(test, places),
        amount_s=load.likely_s - load.ramp_s if load.amount_bytes else None,
        faults=_faults(test, tool.version),
        steady=test.steady,
        trial=test.trial,
    )


def _placed(test: ResolvedTest, job: EngineJob, places: Sequence[FilePlace]) -> EngineJob:
    if isinstance(job, FioJob):
        return replace(job, opened=opened(test, job, places))
    return replace(job, path=places_of_job(job, places)[0].target.path)


def _argv(tool: Tool, jobs: Sequence[EngineJob], *, interval_ms: int, read_only: bool) -> tuple[str, ...]:
    load = Load(tuple(jobs))
    if load.ioping:
        return ioping_argv(tool.path, load.ioping, interval_ms=interval_ms)
    return fio_argv(tool.path, load.fio, interval_ms=interval_ms, read_only=read_only, latency=latency_of(tool.version))


def _axes(tests: Sequence[ResolvedTest]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The axes of a sweep, read off its cells: each option with its values in the order of the tests."""
    axes: dict[str, dict[str, None]] = {}
    for test in tests:
        for option, value in test.cell:
            axes.setdefault(option, {})[value] = None
    return tuple((option, tuple(values)) for option, values in axes.items())
