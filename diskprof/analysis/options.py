"""The options of a planned command, read back from its argv: what was really asked of the engine."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskprof.analysis.pace import FULL_SPEED, Pace, amount, pace_of_fio, pace_of_ioping
from diskprof.model.job import SYNCHRONOUS, fio_job, fio_sections
from diskprof.model.plan import PlannedJob, PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.units import parse_duration, parse_size

_IOPING_FLAGS = {
    "A": "async", "C": "cached", "D": "direct", "G": "read-write", "L": "linear", "N": "nowait", "H": "hipri",
    "W": "write", "Y": "sync", "y": "dsync", "R": "rapid", "k": "keep", "B": "batch", "J": "json", "q": "quiet",
}  # fmt: skip
_IOPING_VALUES = {
    "a": "warmup", "b": "burst", "c": "count", "e": "entropy", "i": "interval", "s": "size", "S": "work-size",
    "o": "work-offset", "w": "work-time", "l": "speed-limit", "r": "rate-limit", "t": "min-time", "T": "max-time",
    "p": "print-count", "P": "print-interval", "I": "time",
}  # fmt: skip

_PAGE = 4096

_IOPING_BLOCK = 4096
"""What ioping asks for at a time unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Section:
    """One fio job (or what stands before the first: name empty), or an ioping command. A flag's value is empty."""

    name: str
    options: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str | None:
        """The last value given, as the engine takes it."""
        return next((value for key, value in reversed(self.options) if key == name), None)


def sections(engine: EngineName, argv: Sequence[str]) -> tuple[Section, ...]:
    """The sections of a command, options in the order they stand there."""
    if engine is EngineName.IOPING:
        return (_ioping_section(argv),)
    return tuple(Section(name, options) for name, options in fio_sections(argv) if name or options)


def _ioping_section(argv: Sequence[str]) -> Section:
    """Short options may stand together (-RD) and take their value in the same word or the next."""
    options: list[tuple[str, str]] = []
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        if word == "--" or not word.startswith("-"):
            continue
        long = word[1:]
        if long in _IOPING_VALUES.values():
            options.append((long, words.pop(0) if words else ""))
            continue
        if long in _IOPING_FLAGS.values():
            options.append((long, ""))
            continue
        while long:
            letter, long = long[0], long[1:]
            if letter in _IOPING_VALUES:
                options.append((_IOPING_VALUES[letter], long or (words.pop(0) if words else "")))
                break
            options.append((_IOPING_FLAGS.get(letter, letter), ""))
    return Section("", tuple(options))


def fio_jobs(argv: Sequence[str]) -> tuple[Section, ...]:
    """The jobs of a fio command, each with the options that stand before the first; what stands there alone is one."""
    parts = sections(EngineName.FIO, argv)
    shared = next((part for part in parts if not part.name), Section("", ()))
    return tuple(Section(part.name, (*shared.options, *part.options)) for part in parts if part.name) or (shared,)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a test asked for, as far as judging its result needs it.

    `paced`: some job waits between requests, `pace` says how; `interval_s` is the pause that ioping makes.
    `cached`: the page cache is meant to answer. `size_bytes` is the largest part of the target that one job touches, None
    where the option gives no bytes. `threads` is how many jobs run at once, `reported` how many of them fio reports apart, each
    with its own CPU use (F9). `random`: every job jumps about. `compressible` are the options that make the data written easy
    to compress. `write_share`, of 1, is the part of the I/Os that all jobs were told to write; None where they were not told.
    `synced`: the jobs only write, and wait after each write until it is safe; `syncs`: some job does, now and then at least.
    `reads_to_write`: some job makes the kernel read what it writes a part of. `searches`: fio looks for the deepest queue that
    keeps a latency (`latency_target`), tells of the last one alone, and ends when it has found it.
    """

    direct: bool
    cached: bool
    paced: bool
    depth: int
    capped: tuple[tuple[str, int], ...]
    size_bytes: int | None
    interval_s: float = 0.0
    threads: int = 1
    reported: int = 1
    random: bool = False
    compressible: tuple[str, ...] = ()
    write_share: float | None = None
    synced: bool = False
    syncs: bool = False
    reads_to_write: bool = False
    searches: bool = False
    pace: Pace = FULL_SPEED


def asked(planned: PlannedTest) -> Asked:
    """What a planned test asks for, by its argv."""
    if planned.engine is EngineName.IOPING:
        return _asked_of_ioping(_ioping_section(planned.argv))
    jobs = fio_jobs(planned.argv)
    sizes = [size for job in jobs if (size := _size(job.get("size"))) is not None]
    depths = [(told, _depth(told, job)) for told, job in _paired(planned, jobs)]
    return Asked(
        direct=all(fio_job(job.options).direct for job in jobs),
        cached=False,
        paced=any(_limited(job) for job in jobs),
        depth=sum(depth * told.numjobs for told, depth in depths) or 1,
        capped=tuple(dict.fromkeys((told.ioengine, told.iodepth) for told, depth in depths if depth < told.iodepth)),
        size_bytes=max(sizes) if sizes else None,
        threads=sum(max(1, job.numjobs) for job in planned.jobs) or 1,
        reported=_reported(jobs),
        random=all(fio_job(job.options).random for job in jobs),
        compressible=tuple(dict.fromkeys(option for job in jobs for option in _compressible(job))),
        write_share=_write_share(jobs),
        synced=all(_synced(job) for job in jobs),
        syncs=any(_syncs(job) for job in jobs),
        reads_to_write=any(_reads_to_write(job) for job in jobs),
        searches=any(_on(job, "latency_target") for job in jobs),
        pace=_pace(planned, jobs),
    )


def _paired(planned: PlannedTest, jobs: Sequence[Section]) -> list[tuple[PlannedJob, Section]]:
    """The jobs of the plan, each with its options; with none where the command has other jobs."""
    same = len(planned.jobs) == len(jobs)
    return list(zip(planned.jobs, jobs if same else (Section("", ()),) * len(planned.jobs), strict=True))


def _pace(planned: PlannedTest, jobs: Sequence[Section]) -> Pace:
    return pace_of_fio(
        [(dict(job.options), told.block_size, max(1, told.numjobs)) for told, job in _paired(planned, jobs)]
    )


def _write_share(jobs: Sequence[Section]) -> float | None:
    told = [fio_job(job.options) for job in jobs]
    shares = {job.write_share if job.mixed and job.mix_given else None for job in told}
    return shares.pop() if len(shares) == 1 else None


def _synced(job: Section) -> bool:
    """Whether a job only writes, each time until it is safe; what is mapped into memory is not written, and needs the call."""
    told = fio_job(job.options)
    if told.mixed or told.reads_only:
        return False
    opened = job.get("sync") in ("1", "sync", "dsync") and told.ioengine != "mmap"
    return opened or "1" in (job.get("fsync"), job.get("fdatasync"))


def _syncs(job: Section) -> bool:
    return job.get("sync") not in (None, "0", "none") or any(_on(job, name) for name in ("fsync", "fdatasync"))


def _reads_to_write(job: Section) -> bool:
    """Whether a job writes parts of pages through the page cache, or touches mapped ones, which are read before."""
    told = fio_job(job.options)
    if told.reads_only or told.direct:
        return False
    return told.ioengine == "mmap" or any(size % _PAGE for size in told.sizes(write=True))


def _compressible(job: Section) -> list[str]:
    """fio's own buffers are random; these options make them otherwise."""
    found = ["zero_buffers"] if _on(job, "zero_buffers") else []
    percentages = ("buffer_compress_percentage", "dedupe_percentage")
    return found + [f"{name}={job.get(name)}" for name in percentages if job.get(name) not in (None, "0")]


def _reported(jobs: Sequence[Section]) -> int:
    if any(_on(job, "group_reporting") for job in jobs):
        return 1 + sum(_on(job, "new_group") for job in jobs[1:])
    return sum(fio_job(job.options).numjobs for job in jobs)


def _asked_of_ioping(section: Section) -> Asked:
    interval = _seconds(section.get("interval"), 0.0 if section.get("rapid") is not None else 1.0)
    speed, rate, block = (_size(section.get(name)) for name in ("speed-limit", "rate-limit", "size"))
    limits = [*([rate] if rate else []), *([speed / (block or _IOPING_BLOCK)] if speed else [])]
    return Asked(
        direct=section.get("direct") is not None,
        cached=section.get("cached") is not None,
        paced=interval > 0 or bool(limits),
        depth=1,
        capped=(),
        size_bytes=_size(section.get("work-size")),
        interval_s=interval,
        random=section.get("linear") is None,
        pace=pace_of_ioping(interval, min(limits, default=None)),
    )


def _depth(told: PlannedJob, job: Section) -> int:
    """How many I/Os a job has under way at most: one with a synchronous engine (F12), and with libaio through the page cache."""
    buffered = told.ioengine == "libaio" and bool(job.options) and not fio_job(job.options).direct
    return 1 if told.ioengine in SYNCHRONOUS or buffered else max(1, told.iodepth)


def _on(job: Section, name: str) -> bool:
    value = job.get(name)
    return value is not None and value != "0"


def _limited(job: Section) -> bool:
    return any(job.get(name) not in (None, "0") for name in ("rate", "rate_iops", "thinktime"))


def _size(text: str | None) -> int | None:
    size = amount(parse_size, text)
    return None if size is None else int(size)


def _seconds(text: str | None, otherwise: float) -> float:
    seconds = amount(parse_duration, text)
    return otherwise if seconds is None else seconds
