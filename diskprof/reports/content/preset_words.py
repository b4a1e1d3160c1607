"""What a preset does, takes, promises and sweeps, in words."""

import re
from collections.abc import Callable, Iterable, Mapping
from math import prod

from msgspec import Struct

from diskprof.model.expectation import PresetExpectation, formula_words
from diskprof.model.job import EachWay, EngineJob, FioJob, IopingJob
from diskprof.model.metric import Metric, Quantity
from diskprof.model.preset import Preset
from diskprof.model.sample import Direction
from diskprof.model.units import format_duration, format_latency, format_size
from diskprof.presets.resolve import ResolvedPreset, ResolvedTest, expand, expand_defaults, parameter_value
from diskprof.presets.steady_text import steady_words
from diskprof.reports import figures

_FIGURES: Mapping[str, str] = {
    "mean": "mean {}",
    "min": "shortest {}",
    "max": "longest {}",
    "p50": "median {}",
    "p90": "90th percentile of {}",
    "p95": "95th percentile of {}",
    "p99": "99th percentile of {}",
    "p99_9": "99.9th percentile of {}",
}
_ZEROS = re.compile(r"\.0+(?=\D|$)")
_VERBS = {"read": "Reads", "write": "Writes", "rw": "Reads and writes"}


class Time(Struct, frozen=True):
    """How long a preset takes with its defaults. `least`: some test is ended by its amount alone; `most`: some may end earlier."""

    seconds: float
    least: bool = False
    most: bool = False

    @property
    def words(self) -> str:
        """`24 s`, `at least 1 min`, `up to 2 min`."""
        return f"{'at least ' if self.least else 'up to ' if self.most else ''}{format_duration(self.seconds)}"

    def __str__(self) -> str:
        if not self.seconds:
            return "?"
        return f"{'>' if self.least else '<' if self.most else ''}{short_duration(self.seconds)}"


def time_needed(resolved: ResolvedPreset) -> Time:
    """The time that the tests take, without creating the test file."""
    seconds, least, most = 0.0, False, False
    for test in resolved.tests:
        longest = 0.0
        for job in test.jobs:
            known, early = _job_time(job)
            least = least or known is None
            most = most or early or test.steady is not None
            longest = max(longest, known or 0.0)
        seconds += longest
    if search := resolved.limit or resolved.read_write_map:
        return Time(search.longest_s, least, most=True)
    if resolved.rounds:
        seconds *= resolved.rounds.at_most
        most = True
    return Time(seconds, least, most and not least)


def _job_time(job: EngineJob) -> tuple[float | None, bool]:
    """Seconds, None if only an amount ends the job, and whether it may end before."""
    if isinstance(job, IopingJob):
        if job.work_s is not None:
            return job.work_s, job.count is not None
        if job.count is not None:
            return job.count * job.interval_s, False
        return (job.seconds, False) if job.rapid else (None, False)
    return (None, False) if job.runtime_s is None else (job.ramp_s + job.runtime_s, not job.time_based)


def short_duration(seconds: float) -> str:
    """Six characters at most: `<1 s`, `4 s`, `2 min`, `24 h`."""
    if seconds < 0.5:
        return "<1 s"
    for unit, scale, least in (("d", 86400, 172800), ("h", 3600, 5970), ("min", 60, 120)):
        if seconds >= least or (seconds == scale and unit != "d"):
            return f"{seconds / scale:.0f} {unit}"
    return f"{seconds:.0f} s"


def writes(resolved: ResolvedPreset) -> bool:
    """Whether any test writes."""
    return not all(job.reads_only for test in resolved.tests for job in test.load.fio)


def describe_test(test: ResolvedTest) -> str:
    """What a resolved test does, in sentences."""
    until = f" Until it is steady: {steady_words(test.steady)}." if test.steady else ""
    if len(test.jobs) == 1:
        return _job_sentence(test.jobs[0], timed=not until) + until
    return "In parallel: " + " ".join(f"{job.name}: {_job_sentence(job, timed=not until)}" for job in test.jobs) + until


def _job_sentence(job: EngineJob, *, timed: bool) -> str:
    """`timed`: with how it ends."""
    does = _ioping_sentence(job) if isinstance(job, IopingJob) else _fio_sentence(job, timed=timed)
    return f"On {' and '.join(job.targets)}: {does[0].lower()}{does[1:]}" if any(job.targets) else does


def file_words(job: FioJob) -> str:
    """In a directory; the one file that jobs share goes without saying."""
    each = f"{job.nrfiles} files" if job.nrfiles > 1 else "a file"
    if job.files_of_copies:
        return f"{each} for each copy" if job.numjobs > 1 else f"{each} of its own"
    return f"in {', '.join(job.files)}" if job.files else f"in {each}" if job.nrfiles > 1 else ""


def _fio_sentence(job: FioJob, *, timed: bool) -> str:
    mix = f" ({job.reads_percent}% reads)" if job.mixed else ""
    parts = [
        f"{_VERBS[job.rw.removeprefix('rand')]}{mix} {_blocks(job)} {'at random' if job.random else 'in order'}",
        _at_once(job.depth, job.numjobs),
        "direct I/O" if job.direct else "buffered",
        *_syncs(job),
        *_limits(job),
        _span(job),
        file_words(job),
        _ending(job) if timed else "",
    ]
    sentence = ", ".join(filter(None, parts)) + "."
    if job.ramp_s:
        sentence += f" The first {format_duration(job.ramp_s)} are warm-up."
    return sentence


def _blocks(job: FioJob) -> str:
    options, sizes = dict(job.options), job.sizes()
    if "bssplit" in options:
        return f"blocks of mixed sizes ({options['bssplit']})"
    return f"blocks of {format_size(sizes[0])}" + (f" to {format_size(sizes[-1])}" if "bsrange" in options else "")


def _at_once(depth: int, jobs: int) -> str:
    return f"QD{depth}" if jobs == 1 else f"QD{depth} x{jobs}"


def _syncs(job: FioJob) -> Iterable[str]:
    if job.sync:
        yield "O_SYNC"
    for name, every in (("fsync", job.fsync), ("fdatasync", job.fdatasync)):
        if every:
            yield f"with {name} after {'each write' if every == 1 else f'every {every} writes'}"


def _limits(job: FioJob) -> Iterable[str]:
    kinds: tuple[tuple[EachWay, tuple[str, str], str, Callable[[int], str]], ...] = (
        (job.rate_iops, (" reads", " writes"), " requests", str),
        (job.rate, (" read", " written"), "", format_size),
    )
    for limits, nouns, one, write in kinds:
        if job.mixed:
            words = " and ".join(f"{write(limit)}{noun}" for limit, noun in zip(limits, nouns, strict=True) if limit)
        else:
            limit = limits[not job.reads_only]
            words = f"{write(limit)}{one}" if limit else ""
        if words:
            yield f"at most {words} a second"


def _span(job: FioJob) -> str:
    if job.size is None:
        return "over the whole target"
    return f"over {format_size(job.size)}" if job.time_based else ""


def _ending(job: FioJob) -> str:
    runtime = "" if job.runtime_s is None else format_duration(job.runtime_s)
    if job.time_based:
        return f"for {runtime}"
    amount = job.size if job.io_size is None else job.io_size
    times = f"{job.loops} times" if job.loops > 1 else ""
    until = f"{format_size(amount)} {times or 'in total'}" if amount else f"{times or 'once'} through"
    return f"{until}, at most {runtime}" if runtime else until


def _ioping_sentence(job: IopingJob) -> str:
    parts = [
        f"Reads blocks of {format_size(job.block_size)} {'in order' if job.linear else 'at random'}",
        f"one every {format_duration(job.interval_s)}" if job.interval_s else "one after the other",
        "direct I/O" if job.direct else "",
        "from the page cache" if job.cached else "",
        f"{job.count} times" if job.count else "",
        "" if job.work_size is None else f"over {format_size(job.work_size)}",
    ]
    if job.work_s is not None or (job.rapid and not job.count):
        longest = format_duration(job.seconds)
        parts.append(f"at most {longest}" if job.count else f"for {longest}")
    return ", ".join(filter(None, parts)) + "."


def promise_words(promise: PresetExpectation) -> str:
    """A promise without its conditions: `reads >= min(1,200 + 30 x GiB, 20,000) IOPS`."""
    value = formula_words(promise.metric.quantity, promise.promise)
    return f"{metric_words(promise.metric)} {figures.OPERATORS[promise.operator]} {value}"


def metric_words(metric: Metric) -> str:
    """What is measured: `reads`, `mean write latency`."""
    what = {None: "reads and writes together", Direction.READ: "reads", Direction.WRITE: "writes"}[metric.direction]
    match metric.quantity:
        case Quantity.CPU:
            return "CPU use"
        case Quantity.LATENCY:
            return _FIGURES[metric.figure].format(f"{metric.direction or 'fsync'} latency")
        case Quantity.SHARE:
            return f"{what} within {_ZEROS.sub('', format_latency(metric.within_ns))}"
        case _:
            return what


def conditions(preset: Preset, when: tuple[tuple[str, str], ...]) -> str:
    """`tier standard (the default)`."""
    return " and ".join(
        f"{name} {value}{' (the default)' if _is_default(preset, name, value) else ''}" for name, value in when
    )


def _is_default(preset: Preset, name: str, value: str) -> bool:
    parameter = preset.parameter(name)
    return parameter is not None and parameter_value(parameter, parameter.default) == value


def cells_of(resolved: ResolvedPreset) -> int:
    """The cells that each test of a sweep has, 1 where nothing is swept."""
    return prod(len(axis.values) for axis in resolved.sweep)


def sweep_words(resolved: ResolvedPreset) -> str:
    """`35 cells: bs 4k, 16k by iodepth 1, 2`; empty where nothing is swept."""
    if not resolved.sweep:
        return ""
    axes = " by ".join(f"{axis.option} {', '.join(axis.values)}" for axis in resolved.sweep)
    count = len(resolved.tests)
    return f"{count} cell{'s' if count != 1 else ''}: {axes}"


def expand_variant(preset: Preset, name: str) -> ResolvedPreset:
    """The preset with the parameters of one of its variants."""
    settings = next(dict(variant.settings) for variant in preset.variants if variant.name == name)
    values = dict(expand_defaults(preset).values)
    for parameter in preset.parameters:
        if parameter.name in settings:
            values[parameter.name] = parameter_value(parameter, settings[parameter.name])
    return expand(preset, values)
