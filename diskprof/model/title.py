"""The title of a test, made from its options: `4K rand read QD32`. It is what every screen and report calls the test.

The name in the preset file (`randread-4k-qd32`) is the test's identifier: JSON, CSV, `--expect` and `--set` use it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from diskprof.model.job import EngineJob, FioJob, IopingJob
from diskprof.model.preset import Options
from diskprof.model.sample import Direction
from diskprof.model.units import format_bandwidth, format_duration, format_fio_size

_LONGEST = 40
"""Characters of a title of several jobs that do different things."""

_SAID = frozenset(
    {
        "bs",
        "rw",
        "iodepth",
        "numjobs",
        "rate",
        "rate_iops",
        "sync",
        "fsync",
        "fdatasync",
        "direct",
        "bsrange",
        "rwmixread",
    }
)
"""Options that the title of a job says."""


def title_of(jobs: Sequence[EngineJob], cell: Options = (), own: str = "") -> str:
    """`8K rand 70/30 QD16 x4`; in a sweep with the options of the cell that this does not say; `own` in parentheses."""
    more = (value if option == "ioengine" else f"{option} {value}" for option, value in cell if option not in _SAID)
    title = " ".join((_of_jobs(jobs, ()), *more))
    return f"{title} ({own})" if own and own.casefold() != title.casefold() else title


def sweep_title(jobs: Sequence[EngineJob], cell: Options) -> str:
    """The title of all cells of a test: `rand read` where `bs` and `iodepth` are swept. Empty where it says nothing."""
    return _of_jobs(jobs, frozenset(option for option, _ in cell))


def job_title(name: str, job: EngineJob) -> str:
    """`wal: 8K seq write fdatasync QD1`: of one of several jobs of a test."""
    return f"{name}: {_of_jobs((job,), ())}"


def distinct(tests: Sequence[tuple[str, str]]) -> list[str]:
    """The titles of the tests of a preset, of (name, title): those that several have carry the name in parentheses."""
    times = Counter(title for _, title in tests)
    return [title if times[title] == 1 else f"{title} ({name})" for name, title in tests]


def brief(titles: Sequence[str]) -> list[str]:
    """Titles where room is scarce: without what is in parentheses, unless two would be the same."""
    heads = [title.partition(" (")[0] for title in titles]
    times = Counter(heads)
    return [head if times[head] == 1 else title for head, title in zip(heads, titles, strict=True)]


def _of_jobs(jobs: Sequence[EngineJob], without: Collection[str]) -> str:
    first, *others = jobs
    if not others:
        return " ".join(chain(_head(first, without), _tail(first, without)))
    if len(alike := {(tuple(_head(job, without)), tuple(_load(job, without))) for job in jobs}) == 1:
        ((head, load),) = alike
        return " ".join((*head, *load, *_copies(sum(job.numjobs for job in jobs if isinstance(job, FioJob)), without)))
    tails = {tuple(_tail(job, without, rate=False)) for job in jobs}
    wheres = {tuple(_where(job, without)) for job in jobs}
    ways = [job.rw.removeprefix("rand") for job in jobs]
    if len(tails) == len(wheres) == 1 and sorted(ways) == ["read", "write"]:
        return " ".join((*wheres.pop(), " + ".join(ways), *tails.pop()))
    heads = " + ".join(dict.fromkeys(" ".join(_head(job, without)) for job in jobs))
    return heads if len(heads) <= _LONGEST else f"{len(jobs)} jobs: {jobs[0].name} + {len(others)} more"


def _where(job: EngineJob, without: Collection[str]) -> Iterator[str]:
    """`4K rand`."""
    if not {"bs", "bsrange", "bssplit"} & set(without):
        yield _sizes(job)
    if "rw" not in without:
        yield "rand" if job.random else "seq"


def _head(job: EngineJob, without: Collection[str]) -> Iterator[str]:
    """`4K rand read fsync`: what each I/O is."""
    yield from _where(job, without)
    if "rw" not in without:
        if {"rwmixread", "rwmixwrite"} & set(without):
            yield "mix"
        elif isinstance(job, FioJob) and job.mixed:
            yield f"{job.reads_percent}/{100 - job.reads_percent}"
        else:
            yield job.rw.removeprefix("rand")
    if isinstance(job, IopingJob):
        yield "ioping"
        yield from (word for word, on in (("direct", job.direct), ("cached", job.cached)) if on)
        return
    if job.sync:
        yield "dsync" if dict(job.options).get("sync") == "dsync" else "sync"
    for call, every in (("fsync", job.fsync), ("fdatasync", job.fdatasync)):
        if every:
            yield call if every == 1 else f"{call}/{every}"
    if not job.direct and not job.syncs:
        yield "buffered"


def _tail(job: EngineJob, without: Collection[str], *, rate: bool = True) -> Iterator[str]:
    """`QD16 @500/s x4`: how many I/Os at a time."""
    yield from _load(job, without, rate=rate)
    yield from _copies(job.numjobs if isinstance(job, FioJob) else 1, without)


def _load(job: EngineJob, without: Collection[str], *, rate: bool = True) -> Iterator[str]:
    if isinstance(job, IopingJob):
        if job.interval_s:
            often = 1 / job.interval_s
            yield f"{often:.0f}/s" if often >= 1 and often.is_integer() else f"every {format_duration(job.interval_s)}"
        return
    if "iodepth" not in without:
        yield f"QD{job.depth}"
    if rate:
        ways = [way is Direction.WRITE for way in job.directions]
        if ios := sum(job.rate_iops[way] for way in ways):
            yield f"@{ios}/s"
        if amount := sum(job.rate[way] for way in ways):
            yield f"@{format_bandwidth(amount).replace(' ', '')}"


def _copies(numjobs: int, without: Collection[str]) -> Iterator[str]:
    if numjobs > 1 and "numjobs" not in without:
        yield f"x{numjobs}"


def _sizes(job: EngineJob) -> str:
    """`4K`; of several sizes the smallest and the largest."""
    if isinstance(job, IopingJob):
        return _size(job.block_size)
    found = {size for way in job.directions for size in job.sizes(write=way is Direction.WRITE)}
    return _size(min(found)) if len(found) == 1 else f"{_size(min(found))}-{_size(max(found))}"


def _size(size: int) -> str:
    text = format_fio_size(size).upper()
    return text if text[-1].isalpha() else f"{text}B"
