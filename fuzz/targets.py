"""What is fuzzed: each target takes any bytes at all and may raise a DiskprofError, and nothing else.

A target does with what it read what diskprof goes on to do with it, so that a value that nobody can use is found as well.
"""

import gzip
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from diskprof.analysis.expectations import parse_expectation
from diskprof.config.described import example
from diskprof.config.file import parse_config
from diskprof.devices.requests.pages import PageReader, RequestEvent, complete_format, issue_format
from diskprof.devices.requests.sums import Names, RequestSums
from diskprof.devices.scan.mounts import as_mount, may_hang, parse_mountinfo
from diskprof.devices.scan.signatures import identify
from diskprof.engines.events import Ending, Event, LineReader, Noted, Sampled
from diskprof.engines.fio.reader import FioReader
from diskprof.engines.ioping import IopingReader
from diskprof.engines.jsonstream import ArrayStream, DocumentStream, Noise
from diskprof.engines.results.recognise import results_of
from diskprof.model.errors import DiskprofError
from diskprof.model.job import EngineJob, FioJob, fio_job, ioping_job
from diskprof.model.metric import Quantity, format_value, parse_metric, parse_value
from diskprof.model.plan import PlannedTest
from diskprof.model.preset import PROGRAMS, EngineName, Preset
from diskprof.model.text import clean
from diskprof.model.units import format_duration, format_size, parse_duration, parse_size
from diskprof.presets.files.fio_text import job_file
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import preset_toml
from diskprof.presets.foreign.iostat import load_of_iostat
from diskprof.presets.foreign.jobfile import import_job_text
from diskprof.presets.foreign.text import import_text
from diskprof.presets.mimic import mimic
from diskprof.presets.options.allowed import check_option
from diskprof.presets.resolve import expand_defaults
from diskprof.reports.blocks import Form
from diskprof.reports.content.run_report import run_report
from diskprof.reports.data.json_runs import run_json
from diskprof.reports.render.lines import lines
from diskprof.reports.render.text import show
from diskprof.runner.carry.marks import Mark, mark_bytes, read_mark
from diskprof.runner.result_runs import ResultRun, records_of, run_of
from diskprof.store import ProcessIdentity, codec, is_alive, is_elsewhere, this_process
from diskprof.store.exchange import runfile

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
TRACES = DATA / "traces"
_SECOND = 1_000_000_000
_LARGEST = 1 << 63
_WRITTEN = datetime(2026, 3, 2, tzinfo=UTC)


@dataclass(frozen=True)
class Target:
    """`seeds` gives inputs that are well formed, for mutations to start from."""

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]


def check(target: Target, data: bytes) -> None:
    """Runs the target once. Raises what it must not raise."""
    try:
        target.run(data)
    except DiskprofError as error:
        # It will be shown on a terminal, and must be no surprise there.
        str(error).encode("utf-8", "backslashreplace")


# --- What engines say -----------------------------------------------------------------------------------------------


def _pieces(data: bytes) -> Iterator[bytes]:
    """The bytes in pieces as a pipe might give them, of a size that the first byte chooses."""
    size = 1 + (data[0] if data else 0) * 16
    for start in range(1, len(data), size):
        yield data[start : start + size]


def _stream(data: bytes) -> None:
    for stream in (DocumentStream(1 << 16), ArrayStream(1 << 16)):
        pieces = [piece for chunk in _pieces(data) for piece in stream.feed(chunk)] + stream.close()
        for piece in pieces:
            if isinstance(piece, Noise):
                assert piece.text == clean(piece.text)


def _planned(job: EngineJob, amount: int | None) -> PlannedTest:
    engine = EngineName.FIO if isinstance(job, FioJob) else EngineName.IOPING
    return PlannedTest("test", "Test", engine, (engine.value,), (job,), 1.0, 2.0, amount, 0, True, 250)


def _followed(reader: FioReader | IopingReader, data: bytes) -> None:
    """An engine that says this on its output, and the end of it once more on its stderr."""
    lines, now, events = LineReader(), 0, list[Event]()
    for chunk in _pieces(data):
        now += _SECOND // 4
        events += reader.feed(chunk, now)
        events += reader.idle() if reader.hold_s is not None else []
    for line in (*lines.feed(data[-2000:]), *lines.close()):
        events += reader.say(line)
    events += reader.close(now)
    for ending in (Ending(0), Ending(128, cancelled=True), Ending(None), Ending(-9), Ending(3, failure="stuck")):
        outcome = reader.conclude(ending)
        assert outcome.reason == clean(outcome.reason)
        if outcome.result:
            assert codec.result_from(codec.to_json(outcome.result)) == outcome.result
    for event in events:
        if isinstance(event, Noted):
            assert event.text == clean(event.text)
        if isinstance(event, Sampled):
            for sample in event.samples:
                row = codec.sample_row(1, 1, sample)
                assert all(not isinstance(cell, int) or -_LARGEST <= cell < _LARGEST for cell in row), row


def _fio(data: bytes) -> None:
    for preparing, amount in ((False, None), (True, 1 << 20)):
        planned = _planned(fio_job((("runtime", "2"),)), amount)
        _followed(FioReader(planned, index=0, started_ns=0, preparing=preparing), data)


def _ioping(data: bytes) -> None:
    for options in ((("count", "6"),), (("rapid", "1"),)):
        _followed(IopingReader(_planned(ioping_job(options), None), index=0, started_ns=0), data)


def _streams(where: str, suffix: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for path in sorted((DATA / where).glob(f"*{suffix}")):
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            # The beginning and the end of a long one, so that a mutation has a chance to hit something.
            for part in {data[:20_000], data[-20_000:]}:
                yield b"\xff" + part
                yield b"\x05" + part[:4_000]

    return seeds


# --- What a person gives --------------------------------------------------------------------------------------------


def _used(preset: Preset) -> None:
    """A preset is written to a file, read back, resolved, and written as a job file."""
    assert isinstance(parse(preset_toml(preset).encode(), Path("again.toml"), shipped=False), Preset)
    expand_defaults(preset)
    job_file(preset, {})


def _preset(data: bytes) -> None:
    preset = parse(data, Path("mine.toml"), shipped=False)
    if isinstance(preset, Preset):
        _used(preset)
    else:
        assert preset and all(str(problem) == clean(str(problem)) for problem in preset)


def _job(data: bytes) -> None:
    several = bool(data[:1] and data[0] & 1)
    _used(import_job_text(data[1:], Path("mine.fio"), several=several).preset)


def _command(data: bytes) -> None:
    several = bool(data[:1] and data[0] & 1)
    text = data[1:].decode("utf-8", "surrogateescape")
    imported = import_text(text, several=several, read=lambda path: b"[a]\nrw=randread\nsize=1g\n")
    assert all(note == clean(note) for note in imported.notes)
    _used(imported.preset)


def _words(data: bytes) -> None:
    """Sizes, durations, metrics, promises and values of options: what stands behind --set and --expect."""
    text = data.decode("utf-8", "surrogateescape")
    name, _, value = text.partition("=")

    def tried(read: Callable[[], object]) -> None:
        try:
            read()
        except DiskprofError as error:
            str(error)

    tried(lambda: format_size(parse_size(text)))
    tried(lambda: format_duration(parse_duration(text)))
    tried(lambda: parse_metric(text))
    tried(lambda: str(parse_expectation(text).promised))
    for quantity in Quantity:
        tried(lambda quantity=quantity: format_value(quantity, parse_value(quantity, text)))  # type: ignore[misc]
    for engine in PROGRAMS:
        tried(lambda engine=engine: check_option(engine, name, value))  # type: ignore[misc]


def _config(data: bytes) -> None:
    configuration = parse_config(data, Path("config.toml"))
    assert all(str(problem) == clean(str(problem)) for problem in configuration.problems)
    assert 0 < configuration.settings.refresh <= 4


def _config_seeds() -> Iterator[bytes]:
    text = example().encode()
    yield text
    yield text.replace(b"# ", b"")
    yield b'theme = "nord"\nmouse = false\nrefresh = 0.5\nslow_link = true\n[keys]\n"app.quit" = ["x", "ctrl+q"]\n'


def _preset_seeds() -> Iterator[bytes]:
    for path in sorted((ROOT / "presets").glob("*.toml")):
        yield path.read_bytes()


def _job_seeds() -> Iterator[bytes]:
    for path in sorted((DATA / "jobs").glob("*.fio")):
        yield b"\x00" + path.read_bytes()
        yield b"\x01" + path.read_bytes()


def _command_seeds() -> Iterator[bytes]:
    for line in (
        "fio --name=a --rw=randread --bs=4k --size=1g --iodepth=32 --direct=1 --runtime=60 --time_based",
        "sudo fio --randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=test --filename=test --bs=4k \\\n"
        " --iodepth=64 --size=4G --readwrite=randrw --rwmixread=75",
        "fio --name global --bs 4k --name=a --rw=write --name=b --rw=read --stonewall --filename=/dev/sda:/dev/sdb",
        "diskspd -c200G -w100 -b8K -F4 -r -o128 -W30 -d30 -Sh testfile.dat",
        "diskspd.exe -b64K -d60 -L -o2 -t4 -r -w30 -c50M c:\\io.dat",
        "ioping -c 10 -s 4k -i 0.5 .",
        "ioping -RD -w 10 -S 64m /tmp",
        "$ fio job.fio --output=x > y",
        "[root@db ~]# fio --name=a --rw=read\na: (g=0): rw=read",
        "```\n$ cat > x.fio <<'EOF'\n[a]\nrw=read\nEOF\n[me ~]$ fio x.fio\n```",
        "~me/job.fio",
    ):
        yield b"\x00" + line.encode()


def _word_seeds() -> Iterator[bytes]:
    for word in (
        *("4k", "1.5g", "256m", "1TiB", "30s", "5m", "1h30m", "250ms", "0x10", "99.9%", "50MB/s", "10us", "1e3"),
        *("randread-qd32.read.iops>=1000", "a.read.latency.p99<=50ms", "x.write.bandwidth>1.5GB/s", "t.cpu<80%"),
        *("bs=4k", "bssplit=4k/60:64k/40", "random_distribution=zipf:1.2", "rwmixread=70", "interval=0.2"),
        *("size=64m", "bsrange=4k-64k", "zonemode=zbd", "iodepth=32", "count=10"),
    ):
        yield word.encode()


# --- What another machine, or a disk, holds -------------------------------------------------------------------------


def _runs(data: bytes) -> None:
    """The lines of an imported file; the first byte says whether it is packed already."""
    packed = data[1:] if data[:1] == b"\x00" else gzip.compress(data[1:], 1)
    for record in runfile.read(io.BytesIO(packed), "fuzzed"):
        out = runfile.RunWriter(io.BytesIO())
        out.add(record)


def _run_seeds() -> Iterator[bytes]:
    lines = gzip.decompress((DATA / "exported" / "version-1.jsonl.gz").read_bytes())
    yield b"\x01" + lines
    yield b"\x00" + gzip.compress(lines, 1)
    header, *rest = lines.splitlines(keepends=True)
    for line in rest:
        yield b"\x01" + header + line[:6_000]


def _results(data: bytes) -> None:
    """A result file: its runs are exported and shown."""
    for found in results_of(data, "fuzzed"):
        result = ResultRun("fuzzed.json", "fuzzed.json", found, tuple(test.document for test in found.tests))
        records, run = list(records_of(result, _WRITTEN)), run_of(result, _WRITTEN)
        out = runfile.RunWriter(io.BytesIO())
        for record in records:
            out.add(record)
        samples = [sample for test in found.tests for sample in test.samples]
        for sample in samples:
            codec.sample_row(1, 1, sample)
        assert codec.plan_from(codec.to_json(run.plan)) == run.plan
        for test in run.tests:
            if test.result:
                assert codec.result_from(codec.to_json(test.result)) == test.result
        show(run, samples)
        lines(run_report(run, samples, form=Form.SCREEN), 80, wrap_code=True)
        run_json(run)


def _result_seeds() -> Iterator[bytes]:
    for where, pattern in (("fio-streams", "*.out.gz"), ("results", "*"), ("ioping-streams", "*.json")):
        for path in sorted((DATA / where).glob(pattern)):
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            # The last document of a stream, too: what is cut off first is its end.
            last = data.rfind(b"\n{\n") + 1
            yield data[last:]
            yield from {data[: last + 4_000]} if last else ()
    yield b"15294 972570170 15725 64411007 31941 63592 6159149 165137 15295 1000002919\n"


def _disk(data: bytes) -> None:
    """What lies on a disk is anybody's."""
    found = identify(lambda offset, length: data[offset : offset + length], len(data))
    assert found is None or found.fs_type == clean(found.fs_type)


def _disk_seeds() -> Iterator[bytes]:
    yield bytes(1024) + bytes(56) + b"\x53\xef" + bytes(3000)
    yield b"LUKS\xba\xbe\x00\x02" + bytes(4096)
    yield bytes(512) + b"LABELONE" + bytes(16) + b"LVM2 001" + bytes(2000)
    yield b"\xeb\x58\x90mkfs.fat" + bytes(499) + b"\x55\xaa" + b"EFI PART" + bytes(1000)
    yield b"XFSB" + bytes(4096) + b"hsqs"


def _mounts(data: bytes) -> None:
    for entry in parse_mountinfo(data):
        as_mount(entry, None)
        may_hang(entry)


def _mount_seeds() -> Iterator[bytes]:
    yield b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
    yield b"22 1 0:20 / /a\\040b\\134 ro shared:7 - fuse.x y\\011z rw\n" * 3


def _trace(data: bytes) -> None:
    """A page of the kernel's trace, and what becomes of its requests."""
    issue, complete = ((TRACES / f"block_rq_{name}.format").read_text() for name in ("issue", "complete"))
    events: list[RequestEvent] = []
    PageReader(issue_format(issue), complete_format(complete)).read(data, events)
    events.sort()
    sums = RequestSums(1 << 24, 0, 0)
    sums.add(events)
    if seen := sums.take((events[-1][0] if events else 0) + 1, 0, Names(Path("/nowhere"))):
        assert seen.requests.plus(seen.requests).ios == 2 * seen.requests.ios


def _trace_seeds() -> Iterator[bytes]:
    data = (TRACES / "fio-mix.pages").read_bytes()
    yield from (data[at : at + 4096] for at in range(0, len(data), 4096))


def _iostat(data: bytes) -> None:
    name, load = load_of_iostat(data.decode(errors="replace"))
    parse(preset_toml(mimic(load, name, name, name).preset).encode(), Path("mimic.toml"), shipped=False)


def _iostat_seeds() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted((DATA / "iostat").iterdir()))


def _mark(data: bytes) -> None:
    mark = read_mark(data)
    if mark is not None:
        assert read_mark(mark_bytes(mark)) == mark
        assert not is_alive(mark.runner) or mark.runner == this_process()
        is_elsewhere(mark.runner)


def _mark_seeds() -> Iterator[bytes]:
    yield mark_bytes(Mark("abcdefgh", "/home/me/.local/share/diskprof/runs.db", this_process()))
    yield mark_bytes(Mark("x", "/", ProcessIdentity(1, 0, "boot", "machine pid:[4026531836]")))


TARGETS = {
    target.name: target
    for target in (
        Target("stream", _stream, _streams("fio-streams", ".out.gz")),
        Target("fio", _fio, _streams("fio-streams", ".out.gz")),
        Target("ioping", _ioping, _streams("ioping-streams", ".json")),
        Target("preset", _preset, _preset_seeds),
        Target("config", _config, _config_seeds),
        Target("job", _job, _job_seeds),
        Target("command", _command, _command_seeds),
        Target("words", _words, _word_seeds),
        Target("runs", _runs, _run_seeds),
        Target("results", _results, _result_seeds),
        Target("disk", _disk, _disk_seeds),
        Target("mounts", _mounts, _mount_seeds),
        Target("trace", _trace, _trace_seeds),
        Target("iostat", _iostat, _iostat_seeds),
        Target("mark", _mark, _mark_seeds),
    )
}
