"""The jobs of a command that a test writes out word by word, read back from it."""

from collections.abc import Iterator, Sequence

from diskprof.model.job import EngineJob, FioJob, IopingJob, Opened, fio_job, ioping_job
from diskprof.model.preset import EngineName

_OF_FIO = {"output-format", "status-interval", "readonly", "thread", "allow_file_create", "filename"}
_FLAGS = {"-A": "async", "-C": "cached", "-D": "direct", "-L": "linear", "-R": "rapid", "-W": "write"}
_VALUES = {
    "-b": "burst",
    "-c": "count",
    "-i": "interval",
    "-l": "speed-limit",
    "-r": "rate-limit",
    "-s": "size",
    "-S": "work-size",
    "-w": "work-time",
}


def jobs_of(engine: EngineName, argv: Sequence[str]) -> tuple[EngineJob, ...]:
    """The jobs of a command of either engine."""
    return fio_jobs(argv) if engine is EngineName.FIO else (the_ioping_job(argv),)


def fio_jobs(argv: Sequence[str]) -> tuple[FioJob, ...]:
    """Each job with the options that are before the first; a command without a job is one of these options."""
    (_, shared), *jobs = _sections(argv)
    return tuple(_job(name, [*shared, *options]) for name, options in (jobs or [("", [])]))


def _job(name: str, options: Sequence[tuple[str, str]]) -> FioJob:
    given = [(key, value) for key, value in options if key not in _OF_FIO]
    have = dict(options)
    if "directory" in have:
        return fio_job(given, name, opened=Opened((), (have["directory"],), have["filename_format"]))
    return fio_job(given, name, opened=Opened(tuple(have.get("filename", "").replace("\\:", "\0").split(":"))))


def _sections(argv: Sequence[str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    name, options = "", list[tuple[str, str]]()
    for word in argv[1:]:
        key, _, value = word.removeprefix("--").partition("=")
        if key == "name":
            yield name, options
            name, options = value, []
        else:
            options.append((key, value))
    yield name, options


def the_ioping_job(argv: Sequence[str]) -> IopingJob:
    words, options = list(argv[1:-1]), list[tuple[str, str]]()
    while words:
        word = words.pop(0)
        if word in _VALUES:
            options.append((_VALUES[word], words.pop(0)))
        elif word in _FLAGS:
            options.append((_FLAGS[word], "1"))
    return ioping_job(options, path=argv[-1])
