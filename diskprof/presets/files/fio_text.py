"""A preset -> the fio job file that does the same with plain fio."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.job import EngineJob, FioJob
from diskprof.model.preset import EngineName, Layout, Preset
from diskprof.model.text import clean
from diskprof.presets.foreign.jobfile import SEVERAL_TARGETS
from diskprof.presets.limit_text import limit_words
from diskprof.presets.map_text import map_words
from diskprof.presets.options.allowed import IOPING_OPTIONS, short_value
from diskprof.presets.options.values import OptionKind, write_duration
from diskprof.presets.resolve import ResolvedPreset, ResolvedTest, resolve
from diskprof.presets.steady_text import rounds_words

_WIDTH = 100


def job_file(preset: Preset, settings: Mapping[str, str]) -> str:
    """The job file of `preset` with `settings` (parameter values by name).

    Raises UsageError for a bad setting, and for a preset that has no test of fio's.
    """
    resolved = resolve(preset, settings)
    fio = [test for test in resolved.tests if test.engine is EngineName.FIO]
    if not fio:
        commands = "\n".join(f"  {ioping_command(test.jobs[0])}" for test in resolved.tests)
        raise UsageError(
            f"{preset.name} is a test of ioping's: there is nothing for fio to do.", f"Run instead:\n{commands}"
        )
    fio = _delayed(fio)
    lines = [*_header(resolved, fio)]
    shared = shared_pairs(fio)
    named = {tuple(_files(job)) for test in fio for job in test.load.fio}
    together = list(named.pop()) if len(named) == 1 else []
    lines += ["", "[global]", *together, *shared]
    before = False
    for test in resolved.tests:
        if test.engine is EngineName.IOPING:
            lines += ["", f"; Here diskprof runs ioping: {ioping_command(test.jobs[0])}"]
            continue
        lines += ["", *_comment(f"{test.name}: {test.title}")]
        for number, job in enumerate(next(timed for timed in fio if timed.name == test.name).load.fio):
            lines.append(f"[{_section(job.name)}]")
            if before and number == 0:
                lines.append("stonewall")
            lines += [line for line in _files(job) if line not in together]
            lines += [pair for pair in pairs_of(job) if pair not in shared]
            lines += _layout(test, job)
        before = True
    return "\n".join(lines) + "\n"


def _delayed(tests: Sequence[ResolvedTest]) -> list[ResolvedTest]:
    """The tests with each startdelay as fio counts it: from the begin of all, and not of its own test.

    Behind a test that ends by its amount of data it is as it was: when that ends is not known.
    """
    found: list[ResolvedTest] = []
    before: float | None = 0.0
    for test in tests:
        jobs = test.load.fio
        delayed = tuple(
            job.changed(startdelay=write_duration(before + job.delay_s)) if before and job.delay_s else job
            for job in jobs
        )
        found.append(replace(test, jobs=delayed))
        timed = all(job.time_based and job.runtime_s for job in jobs)
        last = max(job.delay_s + job.ramp_s + (job.runtime_s or 0.0) for job in jobs)
        before = before + last if before is not None and timed else None
    return found


def _files(job: FioJob) -> list[str]:
    """The line for the files of a job, in a directory for each slot of the preset."""
    directories = [f"{slot}/" for slot in job.targets if slot] or [""]
    if job.files_of_copies:
        return [f"directory={':'.join(directories)}"] if directories[0] else []
    names = job.files or ["diskprof-test"]
    if job.nrfiles > 1:
        names = [f"diskprof-test.{number}" for number in range(job.nrfiles)]
    return [f"filename={':'.join(f'{directory}{name}.dat' for directory in directories for name in names)}"]


def _layout(test: ResolvedTest, job: FioJob) -> list[str]:
    """What makes fio fill a file before it is written over, or leave it without data; by itself it makes a new one."""
    if not job.fills or test.layout is Layout.FRESH:
        return []
    return ["overwrite=1"] if test.layout is Layout.FILLED else ["fallocate=none"]


def ioping_command(job: EngineJob) -> str:
    """A resolved ioping test as one would type it."""
    words = ["ioping"]
    for name, value in job.options:
        spec = IOPING_OPTIONS[name]
        if spec.kind is not OptionKind.BOOLEAN:
            words += [spec.flag, short_value(EngineName.IOPING, name, value)]
        elif value == "1":
            words.append(spec.flag)
    return " ".join([*words, "TARGET"])


def _header(resolved: ResolvedPreset, fio: Sequence[ResolvedTest]) -> list[str]:
    preset = resolved.preset
    given = " ".join(f"--set {name}={value}" for name, value in resolved.values if value)
    places = " and ".join(slot.name for slot in preset.targets)
    where = f"the directories {places}: links to the file systems to test" if places else "the current directory"
    writes = not all(job.reads_only for test in fio for job in test.load.fio)
    sizes = all(job.size is not None for test in fio for job in test.load.fio)
    says = [
        preset.name if preset.title == preset.name else f"{preset.name}: {preset.title}",
        preset.summary,
        f"Source: {preset.source}" if preset.source else "",
        f"A preset of diskprof's{f' with {given}' if given else ''}, as plain fio runs it.",
        f"It works on files in {where}, which fio makes and does not remove.",
        SEVERAL_TARGETS if places else "",
        "" if sizes else "Not every job has a size: add one, or give a filename that already exists.",
        "Put a device in the place of the file only if nothing on it is needed: this job writes." if writes else "",
        "diskprof runs each test in a process of its own, its jobs as threads (thread=1), and takes samples of it by a status "
        "interval; what it fills before, fio fills with overwrite=1.",
        "startdelay counts from the begin of the first job, as fio counts it." if _waits(fio) else "",
        *_left_out(resolved),
    ]
    return [line for text in says if text for line in _comment(text)]


def _waits(fio: Sequence[ResolvedTest]) -> bool:
    return any(job.delay_s for test in fio[1:] for job in test.load.fio)


def _left_out(resolved: ResolvedPreset) -> Iterator[str]:
    """What diskprof does beside the tests, and this job does not."""
    if resolved.precondition:
        yield "Not in this job: the steps that bring the disk into a known state before the first test."
    if resolved.limit:
        yield f"Not in this job: the search for the limit ({limit_words(resolved.limit)}); this is its first trial."
    if resolved.read_write_map:
        yield f"Not in this job: the map ({map_words(resolved.read_write_map)}); these are its first cells."
    if resolved.rounds:
        yield f"Not in this job: the repetition of all tests in rounds ({rounds_words(resolved.rounds)})."
    if any(test.steady for test in resolved.tests):
        yield "Not in this job: the end of a test once it is steady; fio takes the longest time."


def _comment(text: str) -> list[str]:
    return [f"; {line}" for line in textwrap.wrap(clean(text), _WIDTH, break_long_words=False)]


def shared_pairs(fio: Sequence[ResolvedTest]) -> list[str]:
    """The options that all resolved jobs have, if there are several. Their order among the others has no meaning to fio."""
    jobs = [pairs_of(job) for test in fio for job in test.jobs]
    return [pair for pair in jobs[0] if all(pair in pairs for pairs in jobs)] if len(jobs) > 1 else []


def _section(name: str) -> str:
    # fio takes every name that begins so for a [global] section.
    return f"job-{name}" if name.startswith("global") else name


def pairs_of(job: EngineJob) -> list[str]:
    """The options of a resolved job as a job file has them: `bs=4k`."""
    return [f"{name}={short_value(EngineName.FIO, name, value)}" for name, value in job.options]
