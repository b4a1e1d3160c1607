"""The allow-list: what it takes, what it refuses and why, and that the real engines know every option on it."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.engines.fio.reader import fio_argv
from diskprof.engines.ioping import ioping_argv
from diskprof.model.errors import PresetError
from diskprof.model.job import Opened, fio_job, ioping_job
from diskprof.model.preset import PROGRAMS, EngineName
from diskprof.presets.options.allowed import FIO_OPTIONS, IOPING_OPTIONS, check_name, check_option, options_of
from diskprof.presets.options.values import OptionKind, OptionSpec, describe_range
from diskprof.runner.plan.workload import ClassSpeed, fio_workload

FIO, IOPING = EngineName.FIO, EngineName.IOPING
EVERY_OPTION = [(engine, name) for engine in PROGRAMS for name in options_of(engine)]


@pytest.mark.parametrize(
    ("name", "value", "normal"),
    [
        ("bs", "4k", "4096"),
        ("bs", "1m", "1048576"),
        ("bs", "2300", "2300"),
        ("size", "1.5GiB", str(3 << 29)),
        ("bsrange", "4k-64k", "4096-65536"),
        ("bssplit", "4k/60:64k/40", "4096/60:65536/40"),
        ("runtime", "4", "4"),
        ("runtime", "2m", "120"),
        ("runtime", "24h", "86400"),
        ("runtime", "0.25", "250ms"),
        ("ramp_time", "1.5s", "1500ms"),
        ("ramp_time", "0", "0"),
        ("thinktime", "10", "10"),
        ("thinktime", "10ms", "10000"),
        ("thinktime", "1s", "1000000"),
        ("latency_target", "500us", "500"),
        ("latency_percentile", "99.9", "99.9"),
        ("direct", "true", "1"),
        ("direct", "Off", "0"),
        ("rw", "readwrite", "rw"),
        ("sync", "none", "0"),
        ("sync", "dsync", "dsync"),
        ("iodepth", "032", "32"),
        ("random_distribution", "zipf:1.2", "zipf:1.2"),
        ("random_distribution", "random", "random"),
        ("file_service_type", "roundrobin", "roundrobin"),
        ("file_service_type", "random:8", "random:8"),
        ("file_service_type", "zipf:1.2", "zipf:1.2"),
        ("random_distribution", "zoned:50/5:30/15:20/", "zoned:50/5:30/15:20/80"),
        ("rate", "100m", str(100 << 20)),
        ("rate", "1m, 512k", "1048576,524288"),
        ("rate_iops", "700,300", "700,300"),
        ("rate_iops", ", 300", ",300"),
        ("rate", "1m,", "1048576,"),
        ("rate", " , ", ""),
    ],
)
def test_fio_values_come_out_in_one_form(name: str, value: str, normal: str) -> None:
    assert check_option(FIO, name, value) == normal


@pytest.mark.parametrize(
    ("name", "value", "normal"),
    [("work-size", "64m", str(64 << 20)), ("interval", "10ms", "10ms"), ("interval", "0", "0"), ("rapid", "1", "1")],
)
def test_ioping_values_come_out_in_one_form(name: str, value: str, normal: str) -> None:
    assert check_option(IOPING, name, value) == normal


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("bs", "0", "1 B and 1 GiB"),
        ("bs", "2g", "1 B and 1 GiB"),
        ("bs", "-4k", "not a size"),
        ("bs", "4kB", "1000 or 1024"),
        ("bs", "4k,8k,16k", "not a size"),
        ("rate_iops", ",,300", "whole number"),
        ("bs", "", "not a size"),
        ("size", "9e", "not a size"),
        ("size", "9000p", "out of range"),
        ("io_size", "50%", "not a size"),
        ("size", "0%", "not a size"),
        ("size", "101%", "not a size"),
        ("runtime", "0", "0.1 s and 366 d"),
        ("runtime", "-1", "not a duration"),
        ("runtime", "400d", "out of range"),
        ("runtime", "1e9", "not a duration"),
        ("iodepth", "0", "1 and 65536"),
        ("iodepth", "1.5", "whole number"),
        ("iodepth", "nan", "whole number"),
        ("iodepth", "٣", "whole number"),
        ("rwmixread", "101", "0 and 100"),
        ("rw", "trim", "randread"),
        ("rw", "randread:8", "randread"),
        ("direct", "2", "true or false"),
        ("bssplit", "4k/60:64k/60", "add up to 100"),
        ("bssplit", "4k", "percent"),
        ("bsrange", "64k-4k", "smaller size first"),
        ("bsrange", "64k", "4k-64k"),
        ("random_distribution", "zipf:1", "between 0.01 and 10.0, but not 1"),
        ("random_distribution", "normal:50:2", "at most 1"),
        ("random_distribution", "zoned_abs:60/20G:40/1G", "zipf:1.2"),
        ("random_distribution", "zoned:50/5:30/15", "must add up to 100"),
        ("random_distribution", "zoned:50/5:50/95:0/0", "must add up to 100"),
        ("file_service_type", "newest", "random:8"),
        ("file_service_type", "pareto:3", "pareto takes"),
        ("random_distribution", "zoned:all", "zoned:80/20:20/80"),
        ("random_distribution", "pareto:2", "pareto takes"),
        ("latency_percentile", "inf", "not a number"),
        ("ioengine", "exec", "runs a program"),
        ("ioengine", "external:/tmp/x.so", "runs a program"),
        ("ioengine", "/tmp/x.so", "Choose from"),
        ("ioengine", "rbd", "leaves the target"),
        ("ioengine", "filedelete", "destroy"),
        ("randseed", "9" * 300, "300 characters"),
        ("rate_iops", "700,x", "whole number"),
        ("rate_iops", "0,300", "out of range"),
        ("rate_iops", "1,2,3", "whole number"),
        ("iodepth", "1,2", "whole number"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_words(name: str, value: str, says: str) -> None:
    with pytest.raises(PresetError) as caught:
        check_option(FIO, name, value)
    assert says in str(caught.value)
    assert name in caught.value.message


@pytest.mark.parametrize(
    ("engine", "name", "says"),
    [
        (FIO, "exec_prerun", "it runs a program"),
        (FIO, "filename", "the target is chosen"),
        (FIO, "write_bw_log", "files beside the target"),
        (FIO, "unlink", "destroy data"),
        (FIO, "thread", "sets it itself"),
        (FIO, "gtod_reduce", "hides"),
        (FIO, "continue_on_error", "hides"),
        (FIO, "stonewall", "[[test]] of its own"),
        (FIO, "blocksize", "called bs"),
        (FIO, "iodpeth", "iodepth"),
        (FIO, "zonemode", "diskprof presets options"),
        (FIO, "\x1b[31m", "not an allowed option"),
        (FIO, "x" * 10_000, "not an allowed option"),
        (FIO, "work-size", "not an allowed option"),
        (IOPING, "write", "destroy data"),
        (IOPING, "keep", "destroy data"),
        (IOPING, "json", "sets it itself"),
        (IOPING, "wsize", "called work-size"),
        (IOPING, "deadline", "called work-time"),
        (IOPING, "iodepth", "not an allowed option"),
    ],
)
def test_an_option_off_the_list_is_refused_with_the_reason(engine: EngineName, name: str, says: str) -> None:
    with pytest.raises(PresetError) as caught:
        check_name(engine, name)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


def test_nothing_that_escapes_the_target_is_on_the_list() -> None:
    escapes = {
        "exec_prerun", "exec_postrun", "include", "filename", "directory", "opendir", "filename_format", "mem", "output",
        "write_iolog", "read_iolog", "verify_dump", "verify_state_save", "ioscheduler", "cgroup", "uid", "gid", "profile",
        "merge_blktrace_file", "buffer_pattern", "unlink", "fill_device", "thread", "name", "allow_mounted_write",
    }  # fmt: skip
    assert not escapes & FIO_OPTIONS.keys()
    assert not {"write", "read-write", "keep"} & IOPING_OPTIONS.keys()


@given(st.sampled_from(EVERY_OPTION), st.text(max_size=60) | st.integers().map(str) | st.floats().map(str))
def test_any_value_is_normal_or_refused(option: tuple[EngineName, str], value: str) -> None:
    engine, name = option
    try:
        normal = check_option(engine, name, value)
    except PresetError:
        return
    assert normal and normal.isascii() and not set(normal) & set(" $;#\n")
    # What is normal stays as it is, unless it has lost a unit that it began with.
    if options_of(engine)[name].kind is not OptionKind.MICROSECONDS:
        assert check_option(engine, name, normal) == normal


def samples(spec: OptionSpec) -> list[str]:
    """Values at the ends of what an option may be."""
    if spec.choices:
        return list(spec.choices)
    match spec.kind:
        case OptionKind.BOOLEAN:
            return ["0", "1"]
        case OptionKind.SIZE_RANGE:
            return ["512-4096"]
        case OptionKind.SIZE_SPLIT:
            return ["4k/60:64k/40"]
        case OptionKind.DISTRIBUTION:
            return ["random", "zipf:1.2", "pareto:0.2", "normal:50", "zoned:80/20:20/80"]
        case OptionKind.FILE_ORDER:
            return ["random", "roundrobin:4", "sequential", "zipf:1.2", "pareto:0.2", "normal:50"]
        case _:
            assert spec.minimum is not None and spec.maximum is not None
            return [f"{spec.minimum:f}".rstrip("0").rstrip("."), str(int(spec.maximum))]


@pytest.mark.fio
def test_fio_takes_every_option_at_the_ends_of_its_range(tmp_path: Path) -> None:
    words = ["fio", "--parse-only"]
    for name, spec in FIO_OPTIONS.items():
        for number, value in enumerate(samples(spec)):
            words += [
                f"--name={name}-{number}",
                "--rw=randrw",
                "--size=1g",
                f"--{name}={check_option(FIO, name, value)}",
            ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr


@pytest.mark.ioping
@pytest.mark.parametrize("name", IOPING_OPTIONS)
def test_ioping_takes_every_option(name: str, tmp_path: Path) -> None:
    spec = IOPING_OPTIONS[name]
    file = tmp_path / "file"
    file.write_bytes(b"x" * (1 << 20))
    value = {"work-offset": "4k", "size": "4k", "speed-limit": "1g", "rate-limit": "1000", "interval": "1ms"}.get(
        name, "1"
    )
    words = ["ioping", "-q", "-c", "2", "-i", "0", spec.flag]
    if spec.kind is not OptionKind.BOOLEAN:
        words.append(check_option(IOPING, name, "64k" if name == "work-size" else value))
    by_name = [*words[:6], f"-{name}", *words[7:]]
    for command in (words, by_name):
        done = subprocess.run([*command, str(file)], capture_output=True, text=True, timeout=30)
        refused = "Operation not supported" in done.stderr or "Resource temporarily unavailable" in done.stderr
        assert done.returncode == 0 or refused, (command, done.stderr)
        assert "unrecognized" not in done.stderr and "invalid option" not in done.stderr


def test_every_option_says_what_it_is_and_how_far_it_goes() -> None:
    for engine, name in EVERY_OPTION:
        spec = options_of(engine)[name]
        assert spec.summary, name
        if spec.kind not in (OptionKind.BOOLEAN, OptionKind.DISTRIBUTION, OptionKind.FILE_ORDER):
            assert describe_range(spec), name


@pytest.mark.parametrize("name", IOPING_OPTIONS)
def test_the_engine_knows_every_ioping_option(name: str) -> None:
    value = "1" if IOPING_OPTIONS[name].kind is OptionKind.BOOLEAN else samples(IOPING_OPTIONS[name])[1]
    job = ioping_job(((name, check_option(IOPING, name, value)),), path="/mnt")
    words = ioping_argv("ioping", job, interval_ms=250)
    assert IOPING_OPTIONS[name].flag in words


@pytest.mark.parametrize("name", FIO_OPTIONS)
def test_the_engine_and_the_plan_know_every_fio_option(name: str) -> None:
    options = (("size", str(1 << 30)), (name, check_option(FIO, name, samples(FIO_OPTIONS[name])[-1])))
    job = fio_job(dict(options).items(), "x", opened=Opened(("/x",)))
    assert fio_workload((job,), ClassSpeed(1e9, 1e5)).span_bytes >= 1
    words = fio_argv("fio", (job,), interval_ms=250, read_only=False)
    assert any(word.startswith(f"--{name}=") for word in words)
