"""Jobs as somebody wrote them for fio, in a file or on a command line, become the tests of a preset."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from diskprof.model.advice import on_screen
from diskprof.model.errors import PresetError
from diskprof.model.job import FioJob, fio_job
from diskprof.model.preset import EngineName, Job, Layout, Test
from diskprof.model.text import clean
from diskprof.model.title import title_of
from diskprof.model.units import format_duration
from diskprof.presets.foreign.fio_files import WorkedOn, file_names, slots_of, worked_on
from diskprof.presets.foreign.fio_rules import FIO_RULES, ORDER, TRIM, WITHOUT_VALUE, ForeignRule, Handling
from diskprof.presets.foreign.fio_sections import STRUCTURE, JobSection, Refusals, Setting
from diskprof.presets.foreign.fio_values import number, read_value
from diskprof.presets.foreign.imported import (
    MOST_JOBS,
    MOST_TESTS,
    ImportedPreset,
    one_line,
    own_preset,
    test_name,
    unique_name,
)
from diskprof.presets.options.allowed import FIO_OPTIONS, check_option
from diskprof.presets.options.values import write_duration
from diskprof.presets.resolve import check_together

_EXPANDED = re.compile(r"[$`]")
_MANY = 8


class Origin(Struct, frozen=True):
    """Where the jobs come from: `what` in words, `name` for the preset, `path` of the file if there is one."""

    what: str
    name: str
    source: str
    path: str = ""


@dataclass(slots=True)
class _Read:
    """A section whose options have been read; `on` is what it worked on where it comes from, `targets` and `files` what becomes of
    that in a preset."""

    section: JobSection
    name: str
    on: WorkedOn
    options: dict[str, str] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def fio(self) -> FioJob:
        """The job as it has been read so far."""
        return fio_job(self.options.items(), self.name)


def preset_of(
    sections: Sequence[JobSection], origin: Origin, refusals: Refusals, notes: list[str], *, several: bool
) -> ImportedPreset:
    """The preset that these jobs make. `several`: jobs that worked in different places get a target each.

    Raises PresetError, with everything that stands in the way.
    """
    if not sections and not refusals:
        raise PresetError(f"{origin.what} has no job", "A job file has a section for each job: [name].")
    importer = _Importer(refusals, notes)
    groups = _groups(sections, refusals)
    tests = [importer.read(group) for group in groups]
    if len(tests) > MOST_TESTS or any(len(test) > MOST_JOBS for test in tests):
        refusals.add(0, f"there are more than {MOST_TESTS} tests, or {MOST_JOBS} number of parallel jobs")
    refusals.stop_if_any()
    slots = importer.places(tests, several=several)
    importer.delays(tests)
    named = _named(tests, importer.layouts(tests))
    return ImportedPreset(
        own_preset(
            origin.name,
            named,
            title=_description(sections) or _title(origin, named),
            summary=_summary(origin.what, tests),
            source=origin.source,
            path=origin.path,
            targets=slots,
        ),
        tuple(dict.fromkeys(importer.notes)),
    )


def _groups(sections: Sequence[JobSection], refusals: Refusals) -> list[list[JobSection]]:
    """The jobs that run together: one with stonewall waits for all before it (F10)."""
    groups: list[list[JobSection]] = []
    chained = False
    for section in sections:
        wall, named = section.settings.get("stonewall"), section.settings.get("wait_for")
        walled = wall is not None and (wall.value or "1").strip() != "0"
        if wall and wall.value and wall.value.strip() not in ("0", "1"):
            refusals.add(wall.line, f"{wall} is neither 0 nor 1")
        # To wait for the one job that runs before is the same as a stonewall.
        waits = named is not None and bool(groups) and [job.name for job in groups[-1]] == [named.value]
        if walled or waits or not groups:
            groups.append([])
        elif chained:
            refusals.add(section.line, "this job would run beside one that another waits for", "Give it a stonewall.")
        if named and not waits and not (walled and any(job.name == named.value for job in sections)):
            refusals.add(
                named.line, f"{named} is refused: it waits for one of several jobs", "stonewall waits for all."
            )
        chained = waits or (chained and not (walled))
        groups[-1].append(section)
    return groups


def _named(tests: Sequence[Sequence[_Read]], layouts: Sequence[Layout]) -> list[Test]:
    names: list[str] = []
    for test in tests:
        names.append(test_name([job.name for job in test], names))
    return [
        Test(
            name,
            _own_words(test),
            EngineName.FIO,
            tuple(Job(job.name, tuple(job.options.items()), job.targets, job.files) for job in test),
            layout=layout,
        )
        for name, test, layout in zip(names, tests, layouts, strict=True)
    ]


def _own_words(test: Sequence[_Read]) -> str:
    """What the author says of a job, where it has its test and its words for itself."""
    given = test[0].section.settings.get("description")
    own = given is not None and given.line > test[0].section.line and len(test) == 1
    return one_line(given.value or "", 80) if given and own else ""


def _description(sections: Sequence[JobSection]) -> str:
    given = {section.value("description") for section in sections}
    return (given.pop() or "").strip() if len(given) == 1 else ""


def _title(origin: Origin, tests: Sequence[Test]) -> str:
    if len(tests) == 1:
        return tests[0].title or title_of([fio_job(job.options, job.name) for job in tests[0].jobs])
    return f"{len(tests)} tests of {origin.name}"


def _summary(what: str, tests: Sequence[Sequence[_Read]]) -> str:
    parts = [" beside ".join(_few([job.name for job in test])) for test in tests]
    if len(parts) == 1:
        return f"{what}: {parts[0]}."
    return f"{what}: {len(parts)} tests, one after the other: {_list(parts)}."


class _Importer:
    def __init__(self, refusals: Refusals, notes: list[str]) -> None:
        self.refusals, self.notes = refusals, notes

    def read(self, group: Sequence[JobSection]) -> list[_Read]:
        """The jobs of one test."""
        jobs: list[_Read] = []
        for section in group:
            given = section.settings.get("name")
            # fio gives every job its section's name first, whatever [global] says.
            own = given.value if given and given.line > section.line else ""
            name = unique_name(own or section.name, [job.name for job in jobs])
            job = _Read(section, name, WorkedOn((), ("",)))
            jobs.append(job)
            self._rw(job)
            kept = {name: setting for name, setting in section.settings.items() if setting.name in FIO_OPTIONS}
            for setting in kept.values():
                self._keep(job, setting)
            # Copies that all end after the same time do not wait for one another either.
            same_end = job.options.get("numjobs", "1") == "1" or job.options.get("time_based") == "1"
            for name, setting in section.settings.items():
                if name not in kept and name not in STRUCTURE:
                    self._leave_out(setting, FIO_RULES[name], alone=len(group) == 1 and same_end)
            job.on = worked_on(section, name, job.fio.nrfiles, self.refusals)
            self._file_options(job)
            self._filesize(job)
            self._endless(job)
            self._check(job)
        return jobs

    def _note(self, setting: Setting, why: str) -> None:
        self.notes.append(f"{self.refusals.where(setting.line)}: {setting} is left out: {why}.")

    def _rw(self, job: _Read) -> None:
        """The pattern first: what other options mean depends on it."""
        setting = job.section.settings.get("rw")
        value = (setting.value or "") if setting else ""
        if not setting:
            return
        if "trim" in value:
            self.refusals.add(setting.line, f"{setting} is refused: {TRIM}")
        elif ":" in value:
            self.refusals.add(setting.line, f"{setting} is refused: {ORDER}")
        else:
            self._keep(job, setting)

    def _keep(self, job: _Read, setting: Setting) -> None:
        name, value = setting.name, setting.value
        if name == "rw" and (job.options.get("rw") or any(mark in (value or "") for mark in (":", "trim"))):
            return
        if value is None and name not in WITHOUT_VALUE:
            self.refusals.add(setting.line, f"{setting} has no value", f"fio needs one: {setting.written}=...")
            return
        value = "1" if value is None else value
        if _EXPANDED.search(value):
            # fio would take it from the environment, or have a shell calculate it (F27).
            self.refusals.add(setting.line, f"{setting} is not filled in or calculated here", "Write the value itself.")
            return
        if name == "size" and value.strip() == "100%":
            self._note(setting, "a test without a size uses the whole target; in a directory it needs --set size=1g")
            return
        try:
            read = read_value(name, value, job.options.get("rw", "read"), setting.base)
        except PresetError as error:
            engine = name == "ioengine"
            self.refusals.add(setting.line, clean(error.message), clean(on_screen(error.hint)), engine=engine)
            return
        if read is None:
            return
        if name == "buffered":
            name, read = "direct", "0" if read == "1" else "1"
        job.options[name] = read

    def _leave_out(self, setting: Setting, rule: ForeignRule, *, alone: bool) -> None:
        value = "1" if setting.value is None else setting.value.strip()
        if value in rule.harmless:
            return
        if rule.handling is Handling.DROPS or (rule.handling is Handling.ALONE and alone):
            why = rule.why if rule.handling is Handling.DROPS else "no other job runs beside this one"
            self._note(setting, why)
            return
        hint = f"{rule.instead} may do instead." if rule.instead else ""
        self.refusals.add(setting.line, f"{setting} is refused: {rule.why}", hint)

    def _file_options(self, job: _Read) -> None:
        """Names say how many files there are; of one file there is nothing to choose."""
        if job.on.paths:
            job.options.pop("nrfiles", None)
        if max(len(job.on.paths), job.fio.nrfiles) == 1:
            for name in ("nrfiles", "openfiles", "file_service_type"):
                job.options.pop(name, None)

    def _filesize(self, job: _Read) -> None:
        """A fixed size of each file is their size together, where nothing else says how much of them is touched."""
        setting = job.section.settings.get("filesize")
        if not setting:
            return
        if "-" in (setting.value or ""):
            self.refusals.add(setting.line, f"{setting} is refused: the files of a job have one size here")
            return
        try:
            each = number("filesize", (setting.value or "").strip(), setting.base)
        except PresetError as error:
            self.refusals.add(setting.line, clean(error.message), clean(on_screen(error.hint)))
            return
        files = max(len(job.on.paths), job.fio.nrfiles)
        size, given = str(each * files), job.options.get("size")
        if "offset" in job.options or (given and check_option(EngineName.FIO, "size", given) != size):
            self.refusals.add(setting.line, f"{setting} beside a size or an offset is refused", "Write size alone.")
        elif not given:
            job.options["size"] = read_value("size", size, "read") or ""
            which = "for one file" if files == 1 else f"for each of {files} files"
            self.notes.append(f"{self.refusals.where(setting.line)}: {setting} is taken as size, which it is {which}.")

    def _endless(self, job: _Read) -> None:
        setting = job.section.settings.get("time_based")
        if setting and job.options.get("time_based") == "1" and "runtime" not in job.options:
            del job.options["time_based"]
            self._note(setting, "fio ignores it without a runtime")

    def _check(self, job: _Read) -> None:
        try:
            checked = {name: check_option(EngineName.FIO, name, value) for name, value in job.options.items()}
            check_together(fio_job(checked.items()))
        except PresetError as error:
            where = f"[{clean(job.section.name[:40])}] " if job.section.line else ""
            self.refusals.add(job.section.line, f"{where}{clean(error.message)}", clean(on_screen(error.hint)))

    def places(self, tests: Sequence[Sequence[_Read]], *, several: bool) -> tuple[str, ...]:
        """Gives each job its targets and files. The slots of jobs that worked in different places, where they are wanted or a job
        works in several at once; otherwise a line about it."""
        jobs = [job for test in tests for job in test]
        places = dict.fromkeys(place for job in jobs for place in job.on.places)
        several = len(places) > 1 and (several or any(len(job.on.places) > 1 for job in jobs))
        for test in tests:
            for job, files in zip(test, file_names([job.on for job in test], several=several), strict=True):
                # A job alone whose only copy has one file has what a preset has anyway.
                plain = len(test) == 1 and job.fio.numjobs * job.fio.nrfiles == 1 and job.on.apart
                job.files = () if plain else files
        if len(places) < 2:
            return ()
        slots = slots_of(places)
        workers = {place: [job.name for job in jobs if place in job.on.places] for place in places}
        where = "; ".join(f"{_list(names)} in {clean(place) or 'none'}" for place, names in workers.items())
        flags = " ".join(f"--target {slot}=PATH" for slot in slots.values())
        if several:
            for job in jobs:
                job.targets = tuple(slots[place] for place in job.on.places)
            self.notes.append(f"The jobs worked in different places ({where}): each needs a target, {flags}.")
            return tuple(slots.values())
        self.notes.append(
            f"The jobs worked in different places ({where}): here they share the one target. To keep them apart: {flags}."
        )
        return ()

    def layouts(self, tests: Sequence[Sequence[_Read]]) -> list[Layout]:
        """What each test writes into: as in fio a new file, unless a job before it wrote that."""
        written: set[str] = set()
        found: list[Layout] = []
        for test in tests:
            if _filled_before(test):
                for job in test:
                    job.options.pop("overwrite", None)
                found.append(Layout.FILLED)
                continue
            fills = [job for job in test if job.fio.fills]
            over = all(job.on.paths and written.issuperset(job.on.paths) for job in fills)
            found.append(Layout.FRESH if fills and not over else Layout.FILLED)
            written.update(path for job in test for path in job.on.paths)
        if Layout.FRESH in found:
            self.notes.append("In a directory, write-only jobs start on a new file: layout=filled fills it first.")
        return found

    def delays(self, tests: Sequence[Sequence[_Read]]) -> None:
        """Makes each startdelay count from the begin of its test: fio counts it from its own."""
        before: float | None = 0.0
        for test in tests:
            for job in test:
                delay = job.fio.delay_s
                if delay and before is None:
                    self.notes.append(
                        f"{job.name} waits its startdelay from the end of the test before: when that ends is not known."
                    )
                elif delay and before:
                    left = max(0.0, delay - before)
                    job.options["startdelay"] = write_duration(left)
                    self.notes.append(
                        f"startdelay={write_duration(delay)} of {job.name} counts from the begin of all: "
                        f"{format_duration(left)} are left when its test begins."
                    )
            jobs = [job.fio for job in test]
            timed = all(job.time_based and job.runtime_s for job in jobs)
            last = max(job.delay_s + job.ramp_s + (job.runtime_s or 0.0) for job in jobs)
            before = before + last if before is not None and timed else None


def _filled_before(test: Sequence[_Read]) -> bool:
    """Whether fio fills what each job that only writes works on, which is what a filled layout does (overwrite=1)."""
    writers = [job for job in test if not job.fio.mixed and not job.fio.reads_only]
    return bool(writers) and not any(job.fio.fills for job in writers)


def _few(names: Iterable[str]) -> list[str]:
    """The first few of many names."""
    names = list(dict.fromkeys(names))
    return names if len(names) <= _MANY else [*names[: _MANY - 2], f"{len(names) - _MANY + 2} more"]


def _list(names: Iterable[str]) -> str:
    first, *others = _few(names)
    return f"{', '.join([first, *others[:-1]])} and {others[-1]}" if others else first
