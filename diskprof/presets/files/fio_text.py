"""A preset -> the fio job file that does the same with plain fio."""

import textwrap
from collections.abc import Mapping, Sequence

from diskprof.model.errors import UsageError
from diskprof.model.job import EngineJob
from diskprof.model.preset import EngineName, Preset
from diskprof.model.text import clean
from diskprof.presets.options.allowed import IOPING_OPTIONS, short_value
from diskprof.presets.options.values import OptionKind
from diskprof.presets.resolve import ResolvedTest, resolve

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
    given = " ".join(f"--set {name}={value}" for name, value in resolved.values if value)
    lines = [*_header(preset, fio, given)]
    slots = {slot.name: f"diskprof-{slot.name}.dat" for slot in preset.targets}
    shared = shared_pairs(fio)
    lines += ["", "[global]", *([] if slots else ["filename=diskprof-test.dat"]), *shared]
    before = False
    for test in resolved.tests:
        if test.engine is EngineName.IOPING:
            lines += ["", f"; Here diskprof runs ioping: {ioping_command(test.jobs[0])}"]
            continue
        lines += ["", *_comment(f"{test.name}: {test.title}")]
        for number, job in enumerate(test.jobs):
            lines.append(f"[{_section(job.name)}]")
            if before and number == 0:
                lines.append("stonewall")
            if slots:
                lines.append(f"filename={slots.get(job.target) or next(iter(slots.values()))}")
            lines += [pair for pair in pairs_of(job) if pair not in shared]
        before = True
    return "\n".join(lines) + "\n"


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


def _header(preset: Preset, fio: Sequence[ResolvedTest], given: str) -> list[str]:
    files = "files diskprof-*.dat" if preset.targets else "file diskprof-test.dat"
    writes = not all(job.reads_only for test in fio for job in test.load.fio)
    sizes = all(job.size is not None for test in fio for job in test.load.fio)
    says = [
        preset.name if preset.title == preset.name else f"{preset.name}: {preset.title}",
        preset.summary,
        f"Source: {preset.source}" if preset.source else "",
        f"A preset of diskprof's{f' with {given}' if given else ''}, as plain fio runs it.",
        f"It works on the {files} in the current directory, which fio makes and does not remove.",
        "" if sizes else "Not every job has a size: add one, or give a filename that is there already.",
        "Put a device in the place of the file only if nothing on it is needed: this job writes." if writes else "",
        "diskprof runs each test in a process of its own, its jobs as threads (thread=1), after it has filled the test file "
        "with data that does not compress, and takes samples of it by a status interval.",
    ]
    return [line for text in says if text for line in _comment(text)]


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
