"""The files that a plan's fio jobs need in directories: what each is called, how large it is, what is in it beforehand."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from diskprof.model.advice import Advice
from diskprof.model.errors import UsageError
from diskprof.model.job import FioJob, Opened
from diskprof.model.plan import TestFile
from diskprof.model.preset import Layout
from diskprof.model.target import TargetKind
from diskprof.presets.resolve import ResolvedTest
from diskprof.runner.plan.places import FilePlace, places_of_job

MOST_FILES = 1024
"""Files of one run: each is filled and removed by its name."""
_SHARED, _COPIES, _NEW = "test", "copy", "new-"


def opened(test: ResolvedTest, job: FioJob, places: Sequence[FilePlace]) -> Opened:
    """What fio is given of the places of a job."""
    mine = places_of_job(job, places)
    if _apart(job, mine):
        # fio's $jobnum begins with 0 in every section.
        prefix = _prefix(test.layout if job.fills else Layout.FILLED)
        directories = tuple(place.root for place in mine)
        return Opened(directories=directories, pattern=f"{prefix}{_stem(test, job)}.$jobnum.$filenum.dat")
    return Opened(tuple(path for place in mine for path in _paths(test, job, place, places)))


def _paths(test: ResolvedTest, job: FioJob, place: FilePlace, places: Sequence[FilePlace]) -> list[str]:
    if not place.directory:
        return [place.root]
    users = _users(test, place, places)
    return [
        f"{place.root}/{_prefix(_layout(test, users[name]))}{name}.dat" for name in _names(test, job, place, places)
    ]


def with_shared_files(place: FilePlace, places: Sequence[FilePlace], tests: Sequence[ResolvedTest]) -> FilePlace:
    """The place with those of its files that are filled before the first test, each as large as the largest test needs it.

    Raises UsageError where a job has no size, or there are too many files.
    """
    largest: dict[str, TestFile] = {}
    for test in tests:
        for file in files_of(test, place, places):
            if file.layout is Layout.FILLED:
                before = largest.get(file.path)
                largest[file.path] = before if before and before.size_bytes >= file.size_bytes else file
    if len(largest) > MOST_FILES:
        raise UsageError(f"{len(largest)} test files are too many: at most {MOST_FILES}.", _FEWER)
    return place.with_files(tuple(largest.values()))


def own_files(test: ResolvedTest, places: Sequence[FilePlace]) -> tuple[TestFile, ...]:
    """The files that are made for this test alone, on all its places."""
    found = (file for place in places for file in files_of(test, place, places))
    return tuple(file for file in found if file.layout is not Layout.FILLED)


def files_of(test: ResolvedTest, place: FilePlace, places: Sequence[FilePlace]) -> tuple[TestFile, ...]:
    """Every file that a test's fio jobs work on in a place. Raises UsageError where a job has no size, or too many files."""
    if not place.directory:
        return ()
    found = []
    for name, jobs in _users(test, place, places).items():
        layout = _layout(test, jobs)
        path = str(Path(place.directory) / f"{_prefix(layout)}{name}.dat")
        found.append(TestFile(place.directory, path, max(map(_span, jobs)), layout))
    return tuple(found)


def _users(test: ResolvedTest, place: FilePlace, places: Sequence[FilePlace]) -> Mapping[str, Sequence[FioJob]]:
    """The jobs that work on each file of a place, by its name."""
    users: dict[str, list[FioJob]] = {}
    for job in test.load.fio:
        if place in places_of_job(job, places):
            for name in _names(test, job, place, places):
                users.setdefault(name, []).append(job)
    return users


def _names(test: ResolvedTest, job: FioJob, place: FilePlace, places: Sequence[FilePlace]) -> Iterable[str]:
    mine = places_of_job(job, places)
    if not _apart(job, mine):
        named = () if job.files_of_copies else job.files
        return named or ([_SHARED] if job.nrfiles == 1 else [f"{_SHARED}.{number}" for number in range(job.nrfiles)])
    if job.numjobs * job.nrfiles > MOST_FILES:
        raise UsageError(
            f"{test.name} has {job.numjobs} x {job.nrfiles} files, too many: at most {MOST_FILES}.", _FEWER
        )
    # fio deals the copies out to the directories in turn.
    copies = range(mine.index(place), job.numjobs, len(mine))
    return [f"{_stem(test, job)}.{copy}.{number}" for copy in copies for number in range(job.nrfiles)]


def _apart(job: FioJob, places: Sequence[FilePlace]) -> bool:
    """Whether each copy has files of its own: a device, or a file that is there, is one."""
    return job.files_of_copies and all(place.target.kind is TargetKind.DIRECTORY for place in places)


def _layout(test: ResolvedTest, jobs: Sequence[FioJob]) -> Layout:
    """A file that is read, or written over, has data in it in any case: fio itself would fill it."""
    return test.layout if all(job.fills for job in jobs) else Layout.FILLED


def _stem(test: ResolvedTest, job: FioJob) -> str:
    """The same in each test of one job, so that they share files; jobs that run together are told apart by their names."""
    alike = [other for other in test.load.fio if other.files_of_copies and other.targets == job.targets]
    return _COPIES if alike[0] == job else job.name


def _prefix(layout: Layout) -> str:
    return "" if layout is Layout.FILLED else _NEW


def _span(job: FioJob) -> int:
    if job.size_percent:
        raise UsageError(f"size={job.size_percent}% needs an existing device or file.", _SIZE)
    if not job.size:
        raise UsageError("A fio test of this preset has no size.", _SIZE)
    return job.span


_SIZE = Advice("For a directory, set a size: --set size=1g, or size in the preset.", "For a directory, edit the size.")
_FEWER = Advice("Choose a smaller numjobs or nrfiles.", "Choose a smaller numjobs or nrfiles.")
