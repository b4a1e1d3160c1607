"""A job of fio's or ioping's by its options: the only place that knows what they mean. Here a text becomes a number, once."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from diskprof.model.preset import OWN_FILES, EngineName, Job, Options
from diskprof.model.sample import Direction
from diskprof.model.units import amount, each_way, parse_duration, parse_size

SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"})
"""The engines that have one I/O in flight, whatever iodepth says (F12)."""

IOPING_SWITCHES = frozenset(
    {"async", "cached", "direct", "dsync", "hipri", "linear", "nowait", "rapid", "sync", "write"}
)
"""The options of ioping's that are on or off."""

BESIDE = frozenset(
    {
        *("group_reporting", "fallocate", "lat_percentiles", "clat_percentiles", "slat_percentiles"),
        *("thread", "name", "filename", "directory"),
    }
)
"""Options that say how a test is reported, where it works and how its file is made, and nothing about what it does."""

_BLOCK = 4096
_LINEAR_BLOCK = 256 << 10
_PAGE = 4096
_RAPID_S = 3.0

_MIXED = ("rw", "randrw")
_MIX = ("rwmixread", "rwmixwrite")

Sizes = tuple[tuple[int, float], ...]
"""Sizes of a request in bytes, each with its weight among them."""

EachWay = tuple[int, int]
"""A limit of reads and one of writes; 0 is none."""


class Opened(Struct, frozen=True):
    """What fio opens: every copy of the job all of `paths`, or each copy files of its own in one of `directories`, in turn, called
    by `pattern` (fio's filename_format)."""

    paths: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    pattern: str = ""


_NOTHING = Opened()


class FioJob(Struct, frozen=True, tag_field="engine", tag="fio"):
    """A section of a fio test, with fio's defaults for what it leaves open.

    `targets` are the slots of the targets that it works on, `files` the names of its files in a directory (see `Job`), `opened`
    what fio is given there; each is empty where none was chosen. `options` are the options as fio is given them, to be shown,
    compared and run; all else is read from them. `rw` is fio's word for the pattern. `write_share`, of 1, is the part of the I/Os
    that write; `mix_given`: the options say so. `read_sizes` and `write_sizes` are the block sizes, of a range its ends. `size`
    and `io_size` are in bytes, None where they are not given, or as no plain amount; `size_percent` is a size as a part of the
    target. `nrfiles` is how many files each copy has where `files` does not name them; `offset_increment` how much further on
    each copy begins. `delay_s` is how much later than the others the job begins. `iodepth` is what was asked for, `depth` what
    the engine does. `direct`: the page cache is left out. `sync`: the file is opened with O_SYNC or O_DSYNC. `fsync` and
    `fdatasync` are after how many writes, 0 for never. Rates are in bytes or I/Os a second of each copy of the job. `searches`:
    fio looks for the deepest queue that keeps a latency, tells of the last one alone and ends when it has found it.
    `compressible` are the options that make the data written easy to compress.
    """

    name: str
    targets: tuple[str, ...]
    files: tuple[str, ...]
    opened: Opened
    options: Options
    rw: str
    write_share: float
    mix_given: bool
    read_sizes: Sizes
    write_sizes: Sizes
    size: int | None
    size_percent: int | None
    io_size: int | None
    offset: int
    offset_increment: int
    nrfiles: int
    overwrites: bool
    loops: int
    runtime_s: float | None
    time_based: bool
    ramp_s: float
    delay_s: float
    ioengine: str
    iodepth: int
    numjobs: int
    direct: bool
    sync: bool
    fsync: int
    fdatasync: int
    rate: EachWay
    rate_iops: EachWay
    rate_min: EachWay
    rate_iops_min: EachWay
    thinktime_s: float
    thinktime_blocks: int
    thinktime_iotime_s: float
    number_ios: int | None
    searches: bool
    group_reporting: bool
    new_group: bool
    compressible: tuple[str, ...]

    @property
    def random(self) -> bool:
        return self.rw.startswith("rand")

    @property
    def mixed(self) -> bool:
        return self.rw in _MIXED

    @property
    def reads_only(self) -> bool:
        """By its pattern: fio takes a mix for a writer, however small the part of the writes (F61)."""
        return self.rw in ("read", "randread")

    @property
    def fills(self) -> bool:
        """Whether it only writes, and not over what is there: fio makes a new file for such a job, and fills one for others."""
        return not self.mixed and not self.reads_only and not self.overwrites

    @property
    def files_of_copies(self) -> bool:
        """Whether each copy has files of its own."""
        return self.files == OWN_FILES

    @property
    def file_count(self) -> int:
        """The files of a target that each copy works on; its size is divided among them."""
        named = 0 if self.files_of_copies else len(self.files)
        return named or self.nrfiles

    @property
    def span(self) -> int:
        """The part of one file that its copies touch, from the beginning, in bytes; 0 where no size is given."""
        if not self.size:
            return 0
        # fio makes the first files larger by a block where the size does not divide.
        blocks = -(-self.size // self.block_size)
        files = self.file_count * (1 if self.files_of_copies else max(1, len(self.targets)))
        size = self.size if files == 1 else -(-blocks // files) * self.block_size
        return self.offset + self.offset_increment * (self.numjobs - 1) + size

    @property
    def amount(self) -> int:
        """The bytes after which each copy ends, 0 where only time ends it."""
        limit = self.number_ios * self.block_size if self.number_ios else 0
        size = 0 if self.time_based else (self.size or 0) if self.io_size is None else self.io_size
        return min(filter(None, (limit, size * self.loops)), default=0)

    @property
    def footprint(self) -> int | None:
        """The bytes that all its copies touch, None where the options give none."""
        if not self.size:
            return None
        step = self.size if self.files_of_copies else min(self.size, self.offset_increment)
        return self.size + step * (self.numjobs - 1)

    @property
    def reads_percent(self) -> int:
        return round(100 * (1 - self.write_share))

    @property
    def directions(self) -> tuple[Direction, ...]:
        reads, writes = self.write_share < 1, self.write_share > 0
        return (*((Direction.READ,) if reads else ()), *((Direction.WRITE,) if writes else ()))

    @property
    def synchronous(self) -> bool:
        return self.ioengine in SYNCHRONOUS

    @property
    def depth(self) -> int:
        return 1 if self.synchronous else self.iodepth

    @property
    def in_flight(self) -> int:
        """The most I/Os that each copy has under way: with libaio one buffered."""
        return 1 if self.ioengine == "libaio" and not self.direct else self.depth

    @property
    def block_size(self) -> int:
        """The mean block size of its reads, in bytes."""
        return self.mean_size()

    def sizes(self, *, write: bool = False) -> tuple[int, ...]:
        """Every block size of a direction, in bytes."""
        return tuple(size for size, _ in (self.write_sizes if write else self.read_sizes))

    def mean_size(self, *, write: bool = False) -> int:
        """The mean block size of a direction, in bytes."""
        sizes = self.write_sizes if write else self.read_sizes
        return round(sum(weight * size for size, weight in sizes) / (sum(weight for _, weight in sizes) or 1))

    @property
    def syncs(self) -> bool:
        """Whether it waits until what it wrote is safe, now and then at least."""
        return self.sync or self.fsync > 0 or self.fdatasync > 0

    @property
    def synced(self) -> bool:
        """Whether it only writes, each time until it is safe; what is mapped into memory is not written, and needs the call."""
        if self.mixed or self.reads_only:
            return False
        return (self.sync and self.ioengine != "mmap") or 1 in (self.fsync, self.fdatasync)

    @property
    def reads_to_write(self) -> bool:
        """Whether it writes parts of pages buffered, or touches mapped ones, which are read before."""
        if self.reads_only or self.direct:
            return False
        return self.ioengine == "mmap" or any(size % _PAGE for size in self.sizes(write=True))

    @property
    def paced(self) -> bool:
        """Whether it waits between requests, by a rate or a pause."""
        return any((*self.rate, *self.rate_iops)) or self.thinktime_s > 0

    @property
    def poisson(self) -> bool:
        """Whether its rate is spread by chance, each request by itself."""
        return dict(self.options).get("rate_process") == "poisson"

    @property
    def spins(self) -> bool:
        """Whether it keeps a CPU busy while it waits: it asks for completions without a pause, or spins in its own."""
        have = dict(self.options)
        return have.get("iodepth_batch_complete_min") == "0" or _on(have, "thinktime_spin")

    @property
    def rest_s(self) -> float:
        """How long it rests after it has worked for a while."""
        return self.thinktime_s if self.thinktime_blocks != 1 or self.thinktime_iotime_s else 0.0

    @property
    def pause_s(self) -> float:
        """The longest time from one request to the next that it was told to keep."""
        gaps = [self.thinktime_s - self.rest_s]
        for direction in self.directions:
            write = direction is Direction.WRITE
            gaps += [1 / self.rate_iops[write]] if self.rate_iops[write] else []
            gaps += [self.block_size / self.rate[write]] if self.rate[write] else []
        return max(gaps)

    @property
    def given(self) -> Options:
        """The options as they are on the command line."""
        return self.options

    def changed(self, **options: str) -> "FioJob":
        """The job with these options in place of its own, or behind them."""
        changed = {**dict(self.options), **options}
        return fio_job(changed.items(), self.name, targets=self.targets, files=self.files, opened=self.opened)


class IopingJob(Struct, frozen=True, tag_field="engine", tag="ioping"):
    """What an ioping test asks for, with ioping's defaults for what it leaves open. `targets` and `options` as of `FioJob`, `path`
    is what ioping is given.

    `linear`: in order. `rapid`: one request after the other, for 3 s unless told. `cached`: the page cache is meant to answer.
    `write`: it writes. `block_size` and `work_size` (the part of the target that it touches, None where ioping chooses) are in
    bytes. `interval_s` is the time from one request to the next. `count` and `work_s` end it, None where they are not given.
    `rate_limit` is in requests a second, `speed_limit` in bytes, 0 for none. `burst`: requests without a pause.
    """

    name: str
    targets: tuple[str, ...]
    path: str
    options: Options
    linear: bool
    rapid: bool
    direct: bool
    cached: bool
    write: bool
    block_size: int
    work_size: int | None
    work_offset: int
    interval_s: float
    count: int | None
    work_s: float | None
    rate_limit: int
    speed_limit: int
    burst: int

    @property
    def rw(self) -> str:
        """The pattern by fio's word."""
        return f"{'' if self.linear else 'rand'}{'write' if self.write else 'read'}"

    @property
    def random(self) -> bool:
        return not self.linear

    @property
    def given(self) -> Options:
        """The options as they are on the command line: a switch has no value, and is not there where it is off."""
        switches = ((name, value) for name, value in self.options if name in IOPING_SWITCHES)
        off = {name for name, value in switches if value == "0"}
        return tuple(
            (name, "" if name in IOPING_SWITCHES else value) for name, value in self.options if name not in off
        )

    @property
    def ioengine(self) -> str:
        """The engine of fio's that would do the same."""
        return "sync"

    @property
    def seconds(self) -> float:
        """How long it measures, where the target does not keep it waiting."""
        return self.work_s or (_RAPID_S if self.rapid else self.interval_s * (self.count or 1))

    @property
    def paced(self) -> bool:
        return self.pause_s > 0

    @property
    def pause_s(self) -> float:
        """The longest time from one request to the next that it was told to keep."""
        gaps = [self.interval_s]
        gaps += [1 / self.rate_limit] if self.rate_limit else []
        gaps += [self.block_size / self.speed_limit] if self.speed_limit else []
        return max(gaps)


EngineJob = FioJob | IopingJob


def fio_job(
    options: Iterable[tuple[str, str]],
    name: str = "",
    *,
    targets: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    opened: Opened = _NOTHING,
) -> FioJob:
    """Reads the options of a job, of which fio takes the last of each. One that is no plain value counts as not given."""
    options = tuple(options)
    have: dict[str, str] = {}
    for option, value in options:
        # In the order in which fio meets them: of rwmixread and rwmixwrite it takes the last.
        have.pop(option, None)
        have[option] = value
    rw = have.get("rw") or "read"
    rw = "rw" if rw == "readwrite" else rw
    ioengine = have.get("ioengine") or "psync"
    given = next((each for each in reversed(have) if each in _MIX and have[each].isdecimal()), "")
    percent = int(have[given]) if given else 50
    return FioJob(
        name=name,
        targets=targets,
        files=files,
        opened=opened,
        options=options,
        rw=rw,
        write_share=(percent if given == "rwmixwrite" else 100 - percent) / 100
        if rw in _MIXED
        else float("write" in rw),
        mix_given=bool(given),
        read_sizes=_sizes(have, write=False),
        write_sizes=_sizes(have, write=True),
        size=amount(parse_size, have.get("size")),
        size_percent=_percent(have.get("size")),
        io_size=amount(parse_size, have.get("io_size")),
        offset=amount(parse_size, have.get("offset")) or 0,
        offset_increment=amount(parse_size, have.get("offset_increment")) or 0,
        nrfiles=_number(have.get("nrfiles"), 1),
        overwrites=_on(have, "overwrite"),
        loops=_number(have.get("loops"), 1),
        runtime_s=amount(parse_duration, have.get("runtime")),
        time_based=_on(have, "time_based"),
        ramp_s=amount(parse_duration, have.get("ramp_time")) or 0.0,
        delay_s=amount(parse_duration, have.get("startdelay")) or 0.0,
        ioengine=ioengine,
        iodepth=_number(have.get("iodepth"), 1),
        numjobs=_number(have.get("numjobs"), 1),
        direct=(_on(have, "direct") or have.get("buffered") == "0") and ioengine != "mmap",
        sync=have.get("sync", "0") not in ("0", "none"),
        fsync=_number(have.get("fsync")),
        fdatasync=_number(have.get("fdatasync")),
        rate=_each_way(have.get("rate")),
        rate_iops=_each_way(have.get("rate_iops")),
        rate_min=_each_way(have.get("rate_min")),
        rate_iops_min=_each_way(have.get("rate_iops_min")),
        thinktime_s=_microseconds(have.get("thinktime")),
        thinktime_blocks=_number(have.get("thinktime_blocks"), 1),
        thinktime_iotime_s=_microseconds(have.get("thinktime_iotime")),
        number_ios=_number(have.get("number_ios")) or None,
        searches=_on(have, "latency_target"),
        group_reporting=_on(have, "group_reporting"),
        new_group=_on(have, "new_group"),
        compressible=_compressible(have),
    )


def read_job(engine: EngineName, job: Job, options: Options, name: str) -> EngineJob:
    """Reads the options of a job of either engine, in their normal form, in place of those that `job` has."""
    if engine is EngineName.FIO:
        return fio_job(options, name, targets=job.targets, files=job.files)
    return ioping_job(options, name, targets=job.targets)


def ioping_job(
    options: Iterable[tuple[str, str]], name: str = "", *, targets: tuple[str, ...] = (), path: str = ""
) -> IopingJob:
    """Reads the options of a test, under their long names; a switch is `1`."""
    options = tuple(options)
    have = dict(options)
    linear, rapid = _on(have, "linear"), _on(have, "rapid")
    interval = amount(parse_duration, have.get("interval"))
    return IopingJob(
        name=name,
        targets=targets,
        path=path,
        options=options,
        linear=linear,
        rapid=rapid,
        direct=_on(have, "direct"),
        cached=_on(have, "cached"),
        write=_on(have, "write"),
        block_size=amount(parse_size, have.get("size")) or (_LINEAR_BLOCK if linear else _BLOCK),
        work_size=amount(parse_size, have.get("work-size")),
        work_offset=amount(parse_size, have.get("work-offset")) or 0,
        interval_s=(0.0 if rapid else 1.0) if interval is None else interval,
        count=_number(have.get("count")) or None,
        work_s=amount(parse_duration, have.get("work-time")),
        rate_limit=_number(have.get("rate-limit")),
        speed_limit=amount(parse_size, have.get("speed-limit")) or 0,
        burst=_number(have.get("burst")),
    )


def _percent(text: str | None) -> int | None:
    return int(text[:-1]) if text and text.endswith("%") and text[:-1].isdecimal() else None


def _on(have: Mapping[str, str], name: str) -> bool:
    return have.get(name, "0") != "0"


def _number(text: str | None, least: int = 0) -> int:
    return max(least, int(text)) if text and text.isdecimal() else least


def _microseconds(text: str | None) -> float:
    """Seconds of an option that is in microseconds where it has no unit."""
    return int(text) / 1e6 if text and text.isdecimal() else amount(parse_duration, text) or 0.0


def _each_way(text: str | None) -> EachWay:
    """What "500", "700,300" or ",300" allows to reads and to writes."""
    reads, writes = (amount(parse_size, part) or 0 for part in each_way(text or ""))
    return reads, writes


def _compressible(have: Mapping[str, str]) -> tuple[str, ...]:
    # fio's own buffers are random; these options make them otherwise.
    percentages = ("buffer_compress_percentage", "dedupe_percentage")
    zeros = ("zero_buffers",) if _on(have, "zero_buffers") else ()
    return (*zeros, *(f"{name}={have[name]}" for name in percentages if _on(have, name)))


def _sizes(have: Mapping[str, str], *, write: bool) -> Sizes:
    found: list[tuple[int | None, float]]
    if "bssplit" in have:
        parts = [part.partition("/") for part in each_way(have["bssplit"])[write].split(":")]
        found = [(amount(parse_size, size), _weight(percent, 100 / len(parts))) for size, _, percent in parts]
    elif "bsrange" in have:
        found = [(amount(parse_size, end), 1.0) for end in each_way(have["bsrange"])[write].split("-")]
    else:
        found = [(amount(parse_size, each_way(have.get("bs", ""))[write]), 1.0)]
    return tuple((size, weight) for size, weight in found if size and weight) or ((_BLOCK, 1.0),)


def _weight(percent: str, otherwise: float) -> float:
    try:
        return float(percent) if percent else otherwise
    except ValueError:
        return otherwise
