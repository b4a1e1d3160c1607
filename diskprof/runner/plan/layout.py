"""What fills the files that tests share: a fio process of its own, before the first test."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from diskprof.engines.fio.reader import fio_argv, latency_of
from diskprof.engines.tools import Tool
from diskprof.model.job import FioJob, Opened, fio_job
from diskprof.model.load import Load
from diskprof.model.plan import PlannedTest, TestFile
from diskprof.model.preset import EngineName
from diskprof.model.units import format_size
from diskprof.runner.plan.places import FilePlace
from diskprof.runner.plan.workload import ClassSpeed, interval_ms

_LARGEST_BLOCK = 1 << 20
_DIRTY = 64 << 20
"""Bytes between two fsyncs: a fill can be stopped, and its rate is the disk's rather than the page cache's."""
_LONGEST_LIST = 3500
"""Characters of a list of files, of which fio takes 4,095."""


def plan_layout(
    places: Sequence[FilePlace], tests: Iterable[Load], *, rate: ClassSpeed, tool: Tool, run_s: float
) -> PlannedTest | None:
    """Fills the files of all places once, in order, with data that does not compress; None where there are none.

    As fio fills a file itself: buffered, in blocks of the `tests`. A virtual disk is up to 1.5 times as fast on
    a file that was filled with direct I/O (F94). `run_s` is what the tests take, in seconds.
    """
    block = min(
        _LARGEST_BLOCK,
        max(
            (size for test in tests for job in test.fio for size in (*job.sizes(), *job.sizes(write=True))),
            default=_LARGEST_BLOCK,
        ),
    )
    jobs = tuple(job for place in places for job in _jobs(place, block))
    if not jobs:
        return None
    files = [file for place in places for file in place.files]
    total = sum(file.size_bytes for file in files)
    likely_s = total / rate.bandwidth
    interval = interval_ms(likely_s, run_s)
    latency = latency_of(tool.version)
    return PlannedTest(
        name="layout",
        title=f"Create test file{'s' if len(files) > 1 else ''}, {format_size(total)}",
        engine=EngineName.FIO,
        argv=fio_argv(tool.path, jobs, interval_ms=interval, read_only=False, latency=latency),
        jobs=jobs,
        ramp_s=0.0,
        runtime_s=likely_s,
        amount_bytes=total,
        bytes_written=total,
        writes_exact=True,
        interval_ms=interval,
        latency=latency,
    )


def _jobs(place: FilePlace, block: int) -> Iterator[FioJob]:
    """Files of one size are written one after the other: side by side they would lie on the disk in pieces."""
    for number, files in enumerate(_batches(place)):
        size = files[0].size_bytes
        # fio leaves out what is left over by blocks.
        bs = min(size, _LARGEST_BLOCK) if size % block else block
        options = {
            "rw": "write",
            "bs": str(bs),
            "size": str(size * len(files)),
            "ioengine": "psync",
            "direct": "0",
            "refill_buffers": "1",
            "fsync": str(max(1, _DIRTY // bs)),
            "end_fsync": "1",
            **({"file_service_type": "sequential"} if len(files) > 1 else {}),
            **({"stonewall": "1"} if number else {}),
        }
        name = "-".join(filter(None, ("layout", place.slot, str(number or ""))))
        paths = tuple(f"{place.root}/{Path(file.path).name}" for file in files)
        yield fio_job(options.items(), name, targets=(place.slot,), opened=Opened(paths))


def _batches(place: FilePlace) -> Iterator[list[TestFile]]:
    """Files of one size each, no more than fio takes in an option."""
    batch: list[TestFile] = []
    length = 0
    for file in sorted(place.files, key=lambda file: file.size_bytes):
        longer = len(place.root) + len(Path(file.path).name) + 2
        if batch and (file.size_bytes != batch[0].size_bytes or length + longer > _LONGEST_LIST):
            yield batch
            batch, length = [], 0
        batch.append(file)
        length += longer
    if batch:
        yield batch
