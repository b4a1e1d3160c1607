"""A DiskSpd command line -> a preset that does the same through fio.

What DiskSpd does: each thread keeps -o requests of -b bytes in flight, for -W seconds that do not count and -d that do; -w
percent of them, drawn at random, are writes. Flags have their value right behind the letter, capitals matter, and
what stands behind the first target is not read.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from diskprof.model.errors import PresetError
from diskprof.model.job import fio_job
from diskprof.model.preset import EngineName, Job, Test
from diskprof.model.text import clean
from diskprof.model.title import title_of
from diskprof.model.units import format_fio_size
from diskprof.presets.foreign.imported import ImportedPreset, own_preset
from diskprof.presets.options.allowed import check_option
from diskprof.presets.resolve import check_together

_SIZE = re.compile(r"(\d{1,15})([KMGTB]?)", re.ASCII | re.IGNORECASE)
_COUNT = re.compile(r"\d{1,15}", re.ASCII)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}

_IGNORED: Mapping[str, str] = {
    "L": "diskprof always measures latency",
    "D": "diskprof always takes samples",
    "R": "diskprof has its own reports",
    "v": "diskprof has its own reports",
    "P": "diskprof shows the progress itself",
    "C": "diskprof measures to the end, without cooling down",
    "e": "it traces Windows",
    "a": "the kernel chooses the processors",
    "n": "the kernel chooses the processors",
    "l": "the kernel chooses the pages of memory",
    "x": "it is about how Windows reports what is done",
}
_UNSUPPORTED: Mapping[str, str] = {
    "X": "it takes the test from another file",
    "y": "it waits for other programs",
    "p": "fio cannot send several sequential requests to one place",
    "T": "fio cannot begin each thread at a place of its own",
    "i": "fio has no bursts of requests of this kind",
    "j": "fio has no bursts of requests of this kind",
    "I": "a preset cannot change the priority of requests",
    "N": "it is about memory that keeps its data",
}


@dataclass(slots=True)
class _Flags:
    """What the flags say; what nobody says is as in DiskSpd."""

    block: int = 64 * 1024
    size: int = 0
    limit: int = 0
    base: int = 0
    write_percent: int = 0
    outstanding: int = 2
    per_thread: int = 0
    threads: int = 0
    total_threads: int = 0
    seconds: int = 10
    warm_up: int = 5
    random: bool = False
    align: int = 0
    stride: int = 0
    interlocked: bool = False
    uncached: bool | None = None
    write_through: bool | None = None
    seed: str | None = None
    buffers: str = ""
    rate: int = 0
    rate_iops: int = 0
    hint: str = ""
    targets: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def import_diskspd(words: Sequence[str], *, name: str, source: str) -> ImportedPreset:
    """The preset that the words behind `diskspd` make. Raises PresetError, which names the flag that stands in the way."""
    flags = _read(words)
    options = {option: value for option, value in _options(flags).items() if value}
    checked = {option: check_option(EngineName.FIO, option, value) for option, value in options.items()}
    job = fio_job(checked.items(), "diskspd")
    check_together(job)
    test = Test("diskspd", "", EngineName.FIO, (Job("diskspd", tuple(options.items())),))
    preset = own_preset(
        name or "diskspd",
        [test],
        title=f"DiskSpd: {title_of([job])}",
        summary="What a DiskSpd command does, through fio.",
        source=source,
    )
    return ImportedPreset(preset, tuple(dict.fromkeys(flags.notes)))


def _read(words: Sequence[str]) -> _Flags:
    flags = _Flags()
    switches: list[tuple[str, str, str]] = []
    for word in words:
        if not word.startswith("-"):
            flags.targets.append(word)
        elif flags.targets:
            raise PresetError(
                f"DiskSpd does not read {clean(word[:40])}: it stands behind the target.", "Put it in front."
            )
        elif len(body := word.lstrip("-")) > 0:
            switches.append((body[0], body[1:], clean(f"-{body[:40]}")))
        else:
            raise PresetError(f"{clean(word[:40])!r} is not a DiskSpd flag.")
    # The block size first, since others may be given in blocks; DiskSpd takes the first that is there.
    blocks = [switch for switch in switches if switch[0] == "b"][:1]
    for letter, value, shown in [*blocks, *(switch for switch in switches if switch[0] != "b")]:
        if letter in _IGNORED:
            flags.notes.append(f"{shown} is left out: {_IGNORED[letter]}.")
        elif (letter, value) == ("I", "3"):
            continue
        elif letter in _UNSUPPORTED:
            raise PresetError(f"{shown} is not supported: {_UNSUPPORTED[letter]}.")
        elif letter in _READERS:
            _READERS[letter](flags, value, shown)
        else:
            raise PresetError(
                f"{shown} is not supported.", "Understood are -b -B -c -d -f -F -g -h -o -O -r -s -S -t -w -W -z -Z."
            )
    _check(flags)
    return flags


def _check(flags: _Flags) -> None:
    if len(flags.targets) > 1:
        raise PresetError(
            f"DiskSpd would work on {len(flags.targets)} targets here: {clean(', '.join(flags.targets)[:80])}.",
            "Give one; it gives way to the target that is chosen when the preset is run.",
        )
    if flags.targets:
        flags.notes.append(f"{clean(flags.targets[0][:80])} is left out: the target is chosen at run time.")
    if flags.threads and flags.total_threads:
        raise PresetError("-t and -F exclude each other.", "DiskSpd refuses both together.")
    if flags.base and flags.size and flags.base >= flags.size:
        raise PresetError("-B lies beyond the end of the file.", "Give a smaller one.")
    threads = flags.threads or flags.total_threads or 1
    if flags.random:
        if flags.align and flags.align != flags.block:
            raise PresetError(
                f"-r{format_fio_size(flags.align)} with blocks of {format_fio_size(flags.block)} is not supported: "
                "a preset begins each request at a multiple of its size.",
                "Write -r alone.",
            )
    elif flags.stride and flags.stride != flags.block:
        raise PresetError(f"-s{format_fio_size(flags.stride)} is not supported: fio leaves no gaps.", "Leave it out.")
    elif flags.interlocked and threads > 1:
        raise PresetError(
            "-si is not supported with several threads: fio's jobs do not share a place.", "Leave it out."
        )
    if (flags.rate or flags.rate_iops) and 0 < flags.write_percent < 100:
        raise PresetError(
            "-g is not supported for a mix: fio limits reads and writes each for themselves.", "Leave it out."
        )


def _options(flags: _Flags) -> dict[str, str]:
    """fio's options, empty where there is none."""
    threads = flags.threads or flags.total_threads or 1
    depth = flags.per_thread or flags.outstanding
    writes = flags.write_percent > 0
    mixed = 0 < flags.write_percent < 100
    # With one request at a time and one thread DiskSpd waits for each, as psync does.
    engine = "psync" if depth == 1 and flags.total_threads < 2 else "libaio"
    size = flags.size
    if flags.limit:
        size = min(size or flags.limit, flags.limit)
    if engine == "libaio" and not flags.uncached:
        flags.notes.append(
            "Without -Su or -Sh Windows queues requests to its cache; on Linux libaio waits for each of them."
        )
    if writes and not flags.buffers:
        flags.notes.append("DiskSpd writes a repeating pattern unless told otherwise, fio data that does not compress.")
    if mixed and not flags.random:
        flags.notes.append(
            "DiskSpd reads and writes on from one place; fio keeps a place for reads and one for writes."
        )
    return {
        "rw": ("rand" if flags.random else "") + ("rw" if mixed else "write" if writes else "read"),
        "bs": format_fio_size(flags.block),
        "rwmixwrite": str(flags.write_percent) if mixed else "",
        "ioengine": engine,
        "iodepth": str(depth),
        "numjobs": str(threads),
        "direct": "1" if flags.uncached else "0",
        # What FILE_FLAG_WRITE_THROUGH asks for is the data on the disk, as O_DSYNC does, not the file's times.
        "sync": "dsync" if flags.write_through and writes else "",
        "norandommap": "1" if flags.random else "",
        **({"randrepeat": "0"} if flags.seed == "" else {"randseed": flags.seed or ""}),
        "zero_buffers": "1" if writes and flags.buffers == "0" else "",
        "refill_buffers": "1" if writes and flags.buffers == "r" else "",
        "fadvise_hint": flags.hint,
        "rate": format_fio_size(flags.rate) if flags.rate else "",
        "rate_iops": str(flags.rate_iops or ""),
        "size": format_fio_size(size - flags.base) if size else "",
        "offset": format_fio_size(flags.base) if flags.base else "",
        "ramp_time": f"{flags.warm_up}s" if flags.warm_up else "",
        "runtime": f"{flags.seconds}s",
        "time_based": "1",
        "group_reporting": "1" if threads > 1 else "",
    }


def _number(value: str, shown: str, *, least: int = 1, most: int = 1 << 40) -> int:
    if not _COUNT.fullmatch(value) or not least <= int(value) <= most:
        raise PresetError(
            f"{shown}: {clean(value[:20])!r} is not a number that DiskSpd takes there.", f"At least {least}."
        )
    return int(value)


def _bytes(flags: _Flags, value: str, shown: str) -> int:
    match = _SIZE.fullmatch(value)
    if not match or not int(match[1]):
        raise PresetError(
            f"{shown}: {clean(value[:20])!r} is not a size.", "DiskSpd takes bytes, or K, M, G or T behind a number."
        )
    unit = match[2].upper()
    size = int(match[1]) * (flags.block if unit == "B" else 1024 ** _POWERS[unit])
    if size >= 1 << 63:
        raise PresetError(f"{shown}: this size is out of range.", "Give a smaller one.")
    return size


def _block(flags: _Flags, value: str, shown: str) -> None:
    flags.block = _bytes(flags, value, shown)


def _file_size(flags: _Flags, value: str, shown: str) -> None:
    flags.size = _bytes(flags, value, shown)


def _offset(flags: _Flags, value: str, shown: str) -> None:
    flags.base = _bytes(flags, value, shown)


def _first_part(flags: _Flags, value: str, shown: str) -> None:
    """-f10G: only the first part of the target; -fr, -fs: a hint how it is read."""
    if value[:1].isdigit():
        flags.limit = _bytes(flags, value, shown)
    elif value in ("r", "s"):
        flags.hint = "random" if value == "r" else "sequential"
    else:
        raise PresetError(f"{shown} is not supported.", "-f takes a size, r or s.")


def _write_percent(flags: _Flags, value: str, shown: str) -> None:
    flags.write_percent = _number(value, shown, least=0, most=100) if value else 0


def _outstanding(flags: _Flags, value: str, shown: str) -> None:
    flags.outstanding = _number(value, shown)


def _outstanding_per_thread(flags: _Flags, value: str, shown: str) -> None:
    flags.per_thread = _number(value, shown)


def _threads(flags: _Flags, value: str, shown: str) -> None:
    flags.threads = _number(value, shown)


def _total_threads(flags: _Flags, value: str, shown: str) -> None:
    flags.total_threads = _number(value, shown)


def _seconds(flags: _Flags, value: str, shown: str) -> None:
    flags.seconds = _number(value, shown)


def _warm_up(flags: _Flags, value: str, shown: str) -> None:
    flags.warm_up = _number(value, shown, least=0)


def _random(flags: _Flags, value: str, shown: str) -> None:
    if value[:1] in ("d", "s"):
        raise PresetError(f"{shown} is not supported: a preset cannot mix places in this way.", "Write -r alone.")
    flags.random, flags.align = True, _bytes(flags, value, shown) if value else 0


def _sequential(flags: _Flags, value: str, shown: str) -> None:
    flags.interlocked = value.startswith("i")
    stride = value.removeprefix("i")
    flags.stride = _bytes(flags, stride, shown) if stride else 0


def _caching(flags: _Flags, value: str, shown: str) -> None:
    """-S alone and u: past the system's cache; w: written through the disk's; h: both; b: through the cache."""
    for letter in value or "u":
        if letter in "rm":
            what = "it is about remote files" if letter == "r" else "it maps the file into memory"
            raise PresetError(f"{shown} is not supported: {what}.")
        if letter not in "buhw":
            raise PresetError(f"{shown}: DiskSpd knows b, h, u and w here.")
        cache, through = letter in "buh", letter in "wh"
        if (cache and flags.uncached is not None) or (through and flags.write_through is not None):
            raise PresetError(f"{shown} contradicts what is said before.", "DiskSpd refuses it.")
        if cache:
            flags.uncached = letter != "b"
        if through:
            flags.write_through = True


def _old_caching(flags: _Flags, value: str, shown: str) -> None:
    _caching(flags, "h", shown)


def _seed(flags: _Flags, value: str, shown: str) -> None:
    flags.seed = str(_number(value, shown, least=0)) if value else ""


def _buffers(flags: _Flags, value: str, shown: str) -> None:
    """-Z: zeros; -Zr: random for each request; -Z1M: random, from a buffer of this size."""
    if "," in value:
        raise PresetError(f"{shown} is not supported: it reads another file.", "Write -Zr.")
    if value not in ("", "r"):
        _bytes(flags, value, shown)
    flags.buffers = {"": "0", "r": "r"}.get(value, "random")


def _rate(flags: _Flags, value: str, shown: str) -> None:
    """-g100: bytes a millisecond for each thread; -g100i: requests a second."""
    if value.endswith("i"):
        flags.rate_iops = _number(value[:-1], shown)
    else:
        flags.rate = _number(value, shown) * 1000


_READERS: Mapping[str, Callable[[_Flags, str, str], None]] = {
    "b": _block, "B": _offset, "c": _file_size, "d": _seconds, "f": _first_part, "F": _total_threads, "g": _rate,
    "h": _old_caching, "o": _outstanding, "O": _outstanding_per_thread, "r": _random, "s": _sequential, "S": _caching,
    "t": _threads, "w": _write_percent, "W": _warm_up, "z": _seed, "Z": _buffers,
}  # fmt: skip
