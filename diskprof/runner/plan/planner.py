"""Preset x target -> plan. Nothing else builds a command."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from diskprof.devices.guard.target_hazards import NO_PERMISSION, target_hazards
from diskprof.engines.fio.reader import fio_argv, latency_of
from diskprof.engines.ioping import ioping_argv
from diskprof.engines.smartctl import wear_of
from diskprof.engines.tools import Tool, find_tool
from diskprof.model.advice import joined
from diskprof.model.device import Device, DeviceTree, Wear
from diskprof.model.errors import DiskprofError, Refused, UnitError, UsageError
from diskprof.model.expectation import Expectation
from diskprof.model.job import EngineJob, FioJob, Load, fio_job
from diskprof.model.plan import Hazard, OtherTarget, Plan, PlannedTest, WritePermission
from diskprof.model.preset import EngineName, Preset
from diskprof.model.sample import LatencyKind
from diskprof.model.target import Target, TargetKind
from diskprof.model.units import format_size, parse_size
from diskprof.presets.resolve import ResolvedTest, resolve
from diskprof.runner.plan.applicable_promises import promises
from diskprof.runner.plan.ioengines import with_usable_engines
from diskprof.runner.plan.places import FilePlace, choose_places, fit, place_of, with_test_file
from diskprof.runner.plan.remarks import Remark, hazards_of
from diskprof.runner.plan.workload import (
    Rate,
    Workload,
    assumed_rate,
    fio_workload,
    interval_ms,
    ioping_workload,
    without_false_mix,
)
from diskprof.runner.plan.write_permission import needed_places, write_budget, written_devices

_LAYOUT_BLOCK = 1 << 20
UNUSABLE = frozenset({"not-writable", "read-only", "file-size-limit", "no-permission"})
"""Hazards that endanger nothing: the target just cannot be used."""


def make_plan(
    preset: Preset,
    target: Target | None,
    settings: Mapping[str, str],
    tree: DeviceTree,
    *,
    named: Mapping[str, Target] | None = None,
    expectations: Sequence[Expectation] = (),
    permission: WritePermission = NO_PERMISSION,
    waiting: Callable[[str], None] | None = None,
) -> Plan:
    """Everything that a run of `preset` will do, with what speaks against it among its hazards.

    `settings` are parameter values by name; `named` the targets of a preset that has several, by slot, in place of
    `target`; `expectations` what the person asks for beside the preset's own; `permission` what may be done to a raw
    device; `waiting` is handed a line for the person where fio or ioping is slow to answer. Raises UsageError for a bad
    parameter, target or expectation or a test that cannot fit, EngineMissing where fio or ioping is not there, EngineBusy
    where it does not answer.
    """
    places = choose_places(preset, target, named or {})
    resolved = resolve(preset, settings)
    tools = {engine: find_tool(engine, waiting) for engine in sorted({test.engine for test in resolved.tests})}
    rate = _rate(places[0].target, tree)
    tests, hazards = _adapted(resolved.tests, places)
    places = tuple(with_test_file(place, places, tests) for place in places)
    loads = [_workload(test, places, rate) for test in tests]
    seconds = sum(load.likely_s for load in loads)
    space = {place.slot: _space(place, places, tests, loads) for place in places}
    written = {place.slot: _written(place, places, tests, _rate(place.target, tree)) for place in places}
    needed = needed_places() if permission.allowed else {}
    size = _size_of(resolved.values)
    for place in places:
        hazards += _hazards(place, places, written[place.slot] > 0, space, size, tree, permission, needed)
    raw = written_devices([(place.target, written[place.slot]) for place in places], tree, permission)
    wear = wear_of(_written_disks(places, written, tree))
    hazards += (write_budget(device, _below(device.name, wear, tree)) for device in raw)
    expected, untold = promises(preset, dict(resolved.values), tests, expectations, places[0].target, tree)
    hazards += untold
    first = places[0]
    planned = tuple(
        _planned(test, load, places, tools[test.engine], seconds) for test, load in zip(tests, loads, strict=True)
    )
    return Plan(
        preset=preset.name,
        preset_title=preset.title,
        category=preset.category,
        target=first.target,
        parameters=resolved.values,
        tests=planned,
        test_file=first.file,
        layout=None if _grows_like_a_log(planned) else _layout(places, loads, rate, tools, seconds),
        hazards=tuple(dict.fromkeys(hazards)),
        space_needed=sum(space.values()),
        assumed_bandwidth=rate.bandwidth,
        expectations=expected,
        slot=first.slot,
        others=tuple(OtherTarget(place.slot, place.target, place.file) for place in places[1:]),
        sweep=_axes(tests),
        raw_devices=raw,
        wear=wear,
    )


def refuse_if_blocked(plan: Plan) -> None:
    """Raises all that stands in the way: Refused where something could be lost, UsageError where the target is just unusable."""
    if not plan.blocked:
        return
    first = next((hazard for hazard in plan.blocked if hazard.name not in UNUSABLE), None)
    kind: type[DiskprofError] = Refused if first else UsageError
    advice = dict.fromkeys(hazard.advice for hazard in plan.blocked if hazard.advice)
    raise kind("\n".join(hazard.message for hazard in plan.blocked), joined(advice, "\n"))


def _rate(target: Target, tree: DeviceTree) -> Rate:
    disks = tree.disks_below(target.device)
    return assumed_rate(disks[0] if disks else None)


def _adapted(tests: Sequence[ResolvedTest], places: Sequence[FilePlace]) -> tuple[list[ResolvedTest], list[Hazard]]:
    """The tests as they can run here, and notes on what had to change."""
    adapted: list[ResolvedTest] = []
    remarks: list[tuple[str, Remark]] = []
    for test in tests:
        if test.load.fio:
            test = replace(test, jobs=tuple(without_false_mix(job) for job in test.load.fio))
            test, notes = with_usable_engines(test)
            remarks += ((test.name, note) for note in notes)
        fitted, more = fit(test, places)
        adapted.append(fitted)
        remarks += ((test.name, note) for note in more)
    return adapted, hazards_of(remarks, [test.name for test in tests])


def _workload(test: ResolvedTest, places: Sequence[FilePlace], rate: Rate) -> Workload:
    if job := test.load.ioping:
        return ioping_workload(job, on_directory=place_of(job, places).target.kind is TargetKind.DIRECTORY)
    return fio_workload(test.load.fio, rate)


def _space(
    place: FilePlace, places: Sequence[FilePlace], tests: Sequence[ResolvedTest], loads: Sequence[Workload]
) -> int:
    """Bytes that the test file takes in a place, and the largest temporary file of an ioping test (F31)."""
    if place.target.kind is not TargetKind.DIRECTORY:
        return 0
    own = [
        load.span_bytes
        for test, load in zip(tests, loads, strict=True)
        if test.engine is EngineName.IOPING and place_of(test.jobs[0], places) == place
    ]
    return (place.file.size_bytes if place.file else 0) + max(own, default=0)


def _written(place: FilePlace, places: Sequence[FilePlace], tests: Sequence[ResolvedTest], rate: Rate) -> int:
    """Bytes that the tests write to a place, what lays its test file out aside."""
    return sum(
        fio_workload((job,), rate).bytes_written
        for test in tests
        for job in test.load.fio
        if place_of(job, places) == place
    )


def _written_disks(places: Sequence[FilePlace], written: Mapping[str, int], tree: DeviceTree) -> tuple[Device, ...]:
    """The disks that the plan writes to, by its tests or to lay a file out, each once."""
    targets = [place.target for place in places if place.file or written[place.slot]]
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


def _planned(test: ResolvedTest, load: Workload, places: Sequence[FilePlace], tool: Tool, run_s: float) -> PlannedTest:
    interval = interval_ms(load.likely_s, run_s)
    jobs = tuple(_placed(job, place_of(job, places)) for job in test.jobs)
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
    )


def _placed(job: EngineJob, place: FilePlace) -> EngineJob:
    return replace(job, path=place.filename if isinstance(job, FioJob) else place.target.path)


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


def _grows_like_a_log(planned: Sequence[PlannedTest]) -> bool:
    """Whether all that is done is to write a file once from its beginning and to wait after each write.

    In a file that was filled before, a wait would be for the data alone: what a file system notes of a file that grows, the
    larger part of what a log waits for, would not be measured.
    """
    jobs = [job for test in planned for job in test.load.fio]
    if len(planned) != 1 or len(jobs) != 1:
        return False
    (job,) = jobs
    again = job.io_size is not None or job.loops > 1 or job.time_based or job.numjobs != 1
    return not again and job.rw == "write" and job.synced


def _layout(
    places: Sequence[FilePlace], loads: Sequence[Workload], rate: Rate, tools: Mapping[EngineName, Tool], run_s: float
) -> PlannedTest | None:
    """Fills each test file once, in order, with data that does not compress: a phase of its own, before the first test."""
    files = [place for place in places if place.file]
    if not files:
        return None
    direct = any(load.direct for load in loads)
    jobs = tuple(_layout_job(place, place.file.size_bytes, direct=direct) for place in files if place.file)
    load = fio_workload(jobs, rate)
    interval = interval_ms(load.likely_s, run_s)
    total = sum(place.file.size_bytes for place in files if place.file)
    tool = tools[EngineName.FIO]
    return PlannedTest(
        name="layout",
        title=f"Lay out the test file{'s' if len(files) > 1 else ''}, {format_size(total)}",
        engine=EngineName.FIO,
        argv=_argv(tool, jobs, interval_ms=interval, read_only=False),
        jobs=jobs,
        ramp_s=0.0,
        runtime_s=load.runtime_s,
        amount_bytes=total,
        bytes_written=total,
        writes_exact=True,
        interval_ms=interval,
        latency=latency_of(tool.version),
    )


def _layout_job(place: FilePlace, size: int, *, direct: bool) -> FioJob:
    options = {
        "rw": "write",
        "bs": str(min(_LAYOUT_BLOCK, size)),
        "size": str(size),
        "ioengine": "psync",
        "direct": "1" if direct and size % _LAYOUT_BLOCK == 0 else "0",
        "refill_buffers": "1",
        "end_fsync": "1",
        "fallocate": "none",
    }
    name = f"layout-{place.slot}" if place.slot else "layout"
    return fio_job(options.items(), name, target=place.slot, path=place.filename)
