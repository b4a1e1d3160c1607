"""The allow-list: every fio and ioping option that a preset may use, with its type, range and choices.

Only an allow-list is safe (F26). An option that is not here never reaches an engine. Values come out in one normal form:
sizes in plain bytes (F51), durations in whole seconds or with `ms` or `us`, booleans as 0 or 1.
"""

from collections.abc import Mapping
from difflib import get_close_matches

from diskprof.model.errors import PresetError, UnitError
from diskprof.model.preset import EngineName
from diskprof.model.units import format_fio_size
from diskprof.presets.options.values import OptionKind, OptionSpec, read_value

_K, _G, _P, _E = 1 << 10, 1 << 30, 1 << 50, 1 << 60
_SIZE, _TIME, _MICRO = OptionKind.SIZE, OptionKind.DURATION, OptionKind.MICROSECONDS
_COUNT, _BOOL, _CHOICE, _REAL = OptionKind.COUNT, OptionKind.BOOLEAN, OptionKind.CHOICE, OptionKind.REAL
_YEAR = 366 * 86400
_RW = ("read", "write", "randread", "randwrite", "rw", "randrw")
_ENGINES = ("libaio", "io_uring", "psync", "sync", "pvsync", "pvsync2", "posixaio", "mmap", "null")

_S = OptionSpec
FIO_OPTIONS: Mapping[str, OptionSpec] = {
    # what is done
    "rw": _S(_CHOICE, "pattern; rw and randrw mix reads and writes", choices=_RW, aliases={"readwrite": "rw"}),
    "bs": _S(_SIZE, "size of one request, of reads and of writes", 1, _G, each_way=True),
    "bsrange": _S(OptionKind.SIZE_RANGE, "requests of a size between two, as 4k-64k", 1, _G, each_way=True),
    "bssplit": _S(OptionKind.SIZE_SPLIT, "mix of request sizes, as 4k/60:64k/40", 1, _G, each_way=True),
    "rwmixread": _S(_COUNT, "percentage of reads in a mix", 0, 100),
    "rwmixwrite": _S(_COUNT, "percentage of writes in a mix", 0, 100),
    "percentage_random": _S(_COUNT, "percentage of a random pattern that is random", 0, 100, each_way=True),
    "random_distribution": _S(OptionKind.DISTRIBUTION, "random, zipf:1.2, pareto:0.2, normal:50 or zoned:80/20:20/80"),
    "random_generator": _S(_CHOICE, "generator of random offsets", choices=("tausworthe", "lfsr", "tausworthe64")),
    "norandommap": _S(_BOOL, "do not keep track of which blocks were touched"),
    "randrepeat": _S(_BOOL, "the same random sequence every time"),
    "allrandrepeat": _S(_BOOL, "the same for every random choice, not offsets alone"),
    "randseed": _S(_COUNT, "seed of the random sequence", 0, (1 << 63) - 1),
    # where and how much
    "size": _S(_SIZE, "part of the target that is touched, and the amount unless time_based", 1, 8 * _E - 1, percent=True),
    "io_size": _S(_SIZE, "amount of data, where it is not size", 1, 8 * _E - 1),
    "offset": _S(_SIZE, "first byte that is touched", 0, 8 * _E - 1),
    "offset_increment": _S(_SIZE, "how much further on each copy of the job begins", 0, 8 * _E - 1),
    "nrfiles": _S(_COUNT, "files of each copy, which share the size", 1, 1024),
    "openfiles": _S(_COUNT, "files that are open at a time", 1, 1024),
    "file_service_type": _S(OptionKind.FILE_ORDER, "which file is next: random, roundrobin:4, sequential or zipf:1.2"),
    "number_ios": _S(_COUNT, "end after so many requests", 1, 1 << 62),
    "loops": _S(_COUNT, "times to go through size", 1, 1_000_000),
    # how long
    "runtime": _S(_TIME, "maximum time to measure", 0.1, _YEAR),
    "time_based": _S(_BOOL, "go on until runtime is over, whatever the amount"),
    "ramp_time": _S(_TIME, "warm-up before measuring", 0, _YEAR),
    "startdelay": _S(_TIME, "wait before starting this job", 0, _YEAR),
    # how
    "ioengine": _S(_CHOICE, "the way into the kernel", choices=_ENGINES,
                   aliases={"aio": "libaio", "linuxaio": "libaio"}),
    "iodepth": _S(_COUNT, "requests in flight per job", 1, 65536),
    "iodepth_low": _S(_COUNT, "refill the queue when it falls to this", 0, 65536),
    "iodepth_batch": _S(_COUNT, "requests submitted at once", 0, 65536),
    "iodepth_batch_complete_min": _S(_COUNT, "least completions fetched at once", 0, 65536),
    "iodepth_batch_complete_max": _S(_COUNT, "most completions fetched at once", 0, 65536),
    "numjobs": _S(_COUNT, "copies of this job, side by side", 1, 1024),
    "direct": _S(_BOOL, "direct I/O (O_DIRECT)"),
    "buffered": _S(_BOOL, "buffered; the opposite of direct"),
    "invalidate": _S(_BOOL, "drop the target from the page cache first"),
    "sync": _S(_CHOICE, "O_SYNC (1) or O_DSYNC (dsync) writes", choices=("0", "1", "dsync"),
               aliases={"none": "0", "sync": "1", "false": "0", "true": "1"}),
    "fsync": _S(_COUNT, "fsync after this many writes", 0, 1 << 31),
    "fdatasync": _S(_COUNT, "fdatasync after this many writes", 0, 1 << 31),
    "end_fsync": _S(_BOOL, "fsync at the end"),
    "overwrite": _S(_BOOL, "write only where data is already"),
    "fallocate": _S(_CHOICE, "how space for a file is set aside", choices=("none", "native", "posix", "keep")),
    "create_on_open": _S(_BOOL, "make a file when it is first opened, with no space set aside"),
    "fadvise_hint": _S(_CHOICE, "tell the kernel the pattern", choices=("0", "1", "random", "sequential")),
    # how fast
    "rate": _S(_SIZE, "limit of bytes a second, of reads and of writes, per job", 1, _P, each_way=True),
    "rate_iops": _S(_COUNT, "limit of requests a second, of reads and of writes, per job", 1, (1 << 32) - 1, each_way=True),
    "rate_min": _S(_SIZE, "give up below these bytes a second", 1, _P, each_way=True),
    "rate_iops_min": _S(_COUNT, "give up below these requests a second", 1, (1 << 32) - 1, each_way=True),
    "rate_cycle": _S(_COUNT, "milliseconds over which rate_min holds", 0, (1 << 32) - 1),
    "rate_process": _S(_CHOICE, "how limited requests are spread", choices=("linear", "poisson")),
    "thinktime": _S(_MICRO, "pause between requests", 0, _G),
    "thinktime_spin": _S(_MICRO, "part of the pause that burns CPU", 0, _G),
    "thinktime_blocks": _S(_COUNT, "requests between pauses", 1, 1 << 31),
    "thinktime_blocks_type": _S(_CHOICE, "when a request counts: issued or complete", choices=("complete", "issue")),
    "thinktime_iotime": _S(_MICRO, "time of I/O between pauses", 0, _G),
    "latency_target": _S(_MICRO, "find the deepest queue that keeps this latency", 0, _G),
    "latency_window": _S(_MICRO, "time to hold latency_target", 0, _G),
    "latency_percentile": _S(_REAL, "percentage of requests that must keep latency_target", 0, 100),
    # what is written
    "refill_buffers": _S(_BOOL, "new data for every write"),
    "scramble_buffers": _S(_BOOL, "slightly changed data for every write"),
    "zero_buffers": _S(_BOOL, "write zeros"),
    "buffer_compress_percentage": _S(_COUNT, "how far the data can be compressed", 0, 100),
    "buffer_compress_chunk": _S(_SIZE, "unit of that compressibility", 1, _G),
    "dedupe_percentage": _S(_COUNT, "percentage of identical buffers", 0, 100),
    # how it is reported
    "group_reporting": _S(_BOOL, "one result for the copies of a job"),
    "new_group": _S(_BOOL, "a result of its own for this job and those after it"),
}  # fmt: skip

IOPING_OPTIONS: Mapping[str, OptionSpec] = {
    "count": _S(_COUNT, "stop after this many requests", 1, 1 << 31, flag="-c"),
    "work-time": _S(_TIME, "stop after this time", 0.1, _YEAR, flag="-w"),
    "interval": _S(_TIME, "time between requests", 0, 3600, flag="-i"),
    "size": _S(_SIZE, "size of one request", 512, _G, flag="-s"),
    "work-size": _S(_SIZE, "part of the target that is touched", 512, 8 * _E - 1, flag="-S"),
    "work-offset": _S(_SIZE, "first byte that is touched", 0, 8 * _E - 1, flag="-o"),
    "rapid": _S(_BOOL, "no pause between requests, for 3 s unless told", flag="-R"),
    "linear": _S(_BOOL, "in order, 256 KiB a request unless told", flag="-L"),
    "direct": _S(_BOOL, "direct I/O (O_DIRECT)", flag="-D"),
    "cached": _S(_BOOL, "from the page cache", flag="-C"),
    "async": _S(_BOOL, "asynchronous requests (libaio)", flag="-A"),
    "nowait": _S(_BOOL, "requests that must not wait (RWF_NOWAIT)", flag="-N"),
    "sync": _S(_BOOL, "O_SYNC", flag="-Y"),
    "dsync": _S(_BOOL, "O_DSYNC", flag="-y"),
    "warmup": _S(_COUNT, "first requests that do not count", 0, 1 << 31, flag="-a"),
    "burst": _S(_COUNT, "requests without a pause", 0, 1 << 31, flag="-b"),
    "entropy": _S(_COUNT, "seed of the random sequence", 0, (1 << 63) - 1, flag="-e"),
    "speed-limit": _S(_SIZE, "limit in bytes per second", 1, _P, flag="-l"),
    "rate-limit": _S(_COUNT, "limit in requests per second", 1, (1 << 31) - 1, flag="-r"),
}

_TARGET = "the target is chosen at run time"
_CODE = "it runs a program"
_FILES = "it reads or writes files beside the target"
_OURS = "diskprof sets it itself"
_HIDES = "it hides errors or figures that diskprof needs"
_SYSTEM = "it changes the machine around the measurement"
_LOSES = "it could destroy data outside the test file"
_OWN_TEST = "write it as a [[test]] of its own"
_FORBIDDEN: Mapping[EngineName, Mapping[str, tuple[str, ...]]] = {
    EngineName.FIO: {
        _TARGET: ("filename", "directory", "filename_format", "opendir", "unique_filename", "filesize"),
        _CODE: ("exec_prerun", "exec_postrun", "trigger", "trigger-file", "trigger-timeout", "trigger-remote", "profile"),
        _FILES: (
            "include", "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "write_iolog", "read_iolog",
            "verify_dump", "verify_state_save", "verify_state_load", "merge_blktrace_file", "replay_redirect", "output",
            "aux-path", "mem", "iomem", "buffer_pattern", "verify_pattern", "error_dump",
        ),
        _OURS: (
            "name", "thread", "output-format", "status-interval", "readonly", "allow_file_create", "kb_base", "unit_base",
            "percentile_list", "clat_percentiles", "lat_percentiles", "slat_percentiles", "description",
        ),
        _HIDES: (
            "continue_on_error", "ignore_error", "gtod_reduce", "gtod_cpu", "disable_lat", "disable_clat", "disable_slat",
            "disable_bw_measurement", "unified_rw_reporting", "stats",
        ),
        _SYSTEM: ("ioscheduler", "cgroup", "cgroup_weight", "uid", "gid", "lockmem", "create_only"),
        _LOSES: ("unlink", "unlink_each_loop", "fill_device", "file_append", "allow_mounted_write"),
        _OWN_TEST: ("stonewall", "wait_for", "wait_for_previous"),
    },
    EngineName.IOPING: {
        _LOSES: ("write", "read-write", "keep"),
        _OURS: ("json", "batch", "quiet", "time", "print-count", "print-interval"),
        _HIDES: ("min-time", "max-time"),
    },
}  # fmt: skip
_OTHER_NAMES: Mapping[EngineName, Mapping[str, str]] = {
    EngineName.FIO: {
        "readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange", "timeout": "runtime", "io_limit": "io_size",
        "fileoffset": "offset", "iodepth_batch_submit": "iodepth_batch", "ratemin": "rate_min", "ratecycle": "rate_cycle",
        "iodepth_batch_complete": "iodepth_batch_complete_min", "depth": "iodepth", "rw_mix_read": "rwmixread",
    },
    EngineName.IOPING: {
        "deadline": "work-time", "wsize": "work-size", "work_size": "work-size", "work_time": "work-time",
        "offset": "work-offset", "work_offset": "work-offset", "runtime": "work-time", "period": "print-count",
        "speed": "speed-limit", "rate": "rate-limit",
    },
}  # fmt: skip
_FORBIDDEN_ENGINES: Mapping[str, str] = {
    **dict.fromkeys(("exec", "external"), _CODE),
    **dict.fromkeys(
        (
            "net",
            "netsplice",
            "rdma",
            "rbd",
            "rados",
            "nbd",
            "http",
            "gfapi",
            "gfapi_async",
            "libhdfs",
            "libiscsi",
            "nfs",
            "dfs",
            "ime_psync",
            "ime_psyncv",
            "ime_aio",
            "librpma_apm_client",
            "librpma_apm_server",
            "librpma_gpspm_client",
            "librpma_gpspm_server",
        ),
        "it leaves the target",
    ),
    **dict.fromkeys(
        ("sg", "io_uring_cmd", "mtd", "e4defrag", "filecreate", "filedelete", "falloc", "ftruncate"),
        _LOSES,
    ),
    **dict.fromkeys(("windowsaio", "solarisaio"), "Linux has no such engine"),
    **dict.fromkeys(("cpuio", "cpp_null", "filestat", "fileoperations", "dircreate"), "it reads and writes nothing"),
    **dict.fromkeys(("dev-dax", "libpmem", "pmemblk"), "it is for persistent memory"),
    **dict.fromkeys(
        ("libcufile", "splice", "vsync", "libzbc", "xnvme", "libblkio"),
        "the requests take another way to the disk with it",
    ),
}


def options_of(engine: EngineName) -> Mapping[str, OptionSpec]:
    """The allow-list of an engine."""
    return FIO_OPTIONS if engine is EngineName.FIO else IOPING_OPTIONS


def short_value(engine: EngineName, name: str, value: str) -> str:
    """An option's value, in its normal form, as a person writes it: `4k`."""
    if options_of(engine)[name].kind is not OptionKind.SIZE:
        return value
    parts = value.split(",")
    return ",".join(format_fio_size(int(part)) if part.isdecimal() else part for part in parts)


def check_name(engine: EngineName, name: str) -> OptionSpec:
    """What is known of an option. Raises PresetError for one that is not allowed, with the reason or the names that come close."""
    known = options_of(engine)
    if spec := known.get(name):
        return spec
    shown = name[:40]
    if other := _OTHER_NAMES[engine].get(name):
        raise PresetError(f"{shown} is called {other} here", f"Write {other}.")
    for reason, names in _FORBIDDEN[engine].items():
        if name in names:
            raise PresetError(f"{engine}'s {shown} is not allowed: {reason}", "See `diskprof presets options`.")
    close = get_close_matches(name[:64], known, n=3)
    hint = f"Did you mean {' or '.join(close)}?" if close else "See `diskprof presets options`."
    raise PresetError(f"{engine}'s {shown!r} is not an allowed option", hint)


def check_option(engine: EngineName, name: str, value: str) -> str:
    """`value` in its normal form. Raises PresetError for an option that is not allowed or a value that it cannot have."""
    spec = check_name(engine, name)
    if name == "ioengine" and (reason := _FORBIDDEN_ENGINES.get(value.partition(":")[0])):
        raise PresetError(f"ioengine={value[:40]} is not allowed: {reason}", f"Choose from {', '.join(_ENGINES)}.")
    try:
        return read_value(spec, name, value)
    except UnitError as error:
        raise PresetError(f"{name}: {error.message}", error.hint) from None
