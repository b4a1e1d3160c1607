"""The one table of what becomes of fio's options, and any bytes at all for the readers that use it."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diskprof.model.errors import DiskprofError, PresetError, UsageError
from diskprof.model.preset import EngineName, Job, Preset
from diskprof.presets.files.fio_text import job_file
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import preset_toml
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.fio_rules import (
    CLIENT_RULES,
    CLIENT_WITH_VALUE,
    FIO_RULES,
    SYNONYMS,
    WITHOUT_VALUE,
    Handling,
)
from diskprof.presets.foreign.fio_sections import STRUCTURE
from diskprof.presets.foreign.fio_values import DIRECTIONAL, ZERO_IS_OFF, read_value
from diskprof.presets.foreign.imported import ImportedPreset
from diskprof.presets.foreign.jobfile import LARGEST_FILE, import_job_text
from diskprof.presets.foreign.pasted import LONGEST_TEXT
from diskprof.presets.options.allowed import FIO_OPTIONS, check_option
from diskprof.presets.options.values import OptionKind
from diskprof.presets.resolve import expand_defaults
from diskprof.presets.tuning import with_tuning

ESCAPES = {
    *("exec_prerun", "exec_postrun", "opendir", "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"),
    *("write_iolog", "read_iolog", "verify_dump", "verify_state_save", "mem", "ioscheduler", "cgroup", "uid", "gid"),
    *("profile", "merge_blktrace_file", "buffer_pattern", "filename", "directory", "filename_format", "unlink"),
    *("fill_device", "file_append", "allow_mounted_write", "create_only", "replay_redirect", "verify_pattern"),
}
"""Options that run code or leave the target (F26)."""


def test_every_option_has_one_fate() -> None:
    tables = [FIO_OPTIONS.keys(), FIO_RULES.keys(), SYNONYMS.keys(), STRUCTURE]
    for number, table in enumerate(tables):
        for other in tables[number + 1 :]:
            assert not table & other
    assert set(SYNONYMS.values()) <= FIO_OPTIONS.keys() | FIO_RULES.keys() | STRUCTURE
    assert CLIENT_RULES.keys() >= CLIENT_WITH_VALUE
    assert FIO_OPTIONS.keys() >= DIRECTIONAL | ZERO_IS_OFF
    assert all(rule.why and rule.why[0].islower() and not rule.why.endswith(".") for rule in FIO_RULES.values())


@pytest.mark.parametrize("name", sorted(ESCAPES))
def test_what_runs_code_or_leaves_the_target_never_reaches_fio(name: str) -> None:
    assert name in FIO_RULES and name not in FIO_OPTIONS
    for value in ("1", "/etc/passwd", "../../x", "mmap:/etc/passwd", "'/etc/passwd'", "a,b"):
        try:
            found = import_job_text(f"[a]\nsize=1m\n{name}={value}\n".encode(), Path("a.fio"))
        except PresetError as refused:
            assert "a.fio" in refused.message
            continue
        (job,) = found.preset.tests[0].jobs
        assert {option for option, _ in job.options} == {"size", "runtime"}
        assert found.notes and name in found.notes[0]


@pytest.mark.parametrize(
    "name", ["exec_prerun", "exec_postrun", "uid", "gid", "cgroup", "ioscheduler", "profile", "read_iolog"]
)
def test_what_runs_a_program_or_changes_the_machine_is_refused_whatever_its_value(name: str) -> None:
    rule = FIO_RULES[name]
    assert rule.handling is Handling.REFUSES and not rule.harmless


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("size", "4k", "4k"),
        ("size", "4KiB", "4000"),
        ("size", "4Ki", "4k"),
        ("size", "1g,", None),
        ("bs", "8k,4k", "8k"),
        ("bs", ",4k", None),
        ("rate", "1m", "1m"),
        ("rate_iops", "100,200", "100"),
        ("iodepth", "1k", "1024"),
        ("iodepth", " 16", "16"),
        ("runtime", "2M", "120s"),
        ("thinktime", "1500", "1500us"),
        ("thinktime", "2ms", "2ms"),
        ("bsrange", "64k:4k", "4k-64k"),
        ("bsrange", "4k-8k,16k-32k", "4k-8k"),
        ("bssplit", "4k/:8k/", "4k/50:8k/50"),
        ("latency_percentile", "99.9", "99.9"),
        ("random_distribution", "zipf", "zipf:1.1"),
        ("percentage_random", "50,100", "50"),
    ],
)
def test_a_value_in_a_job_that_reads(name: str, text: str, expected: str | None) -> None:
    if expected is None and name == "size":
        with pytest.raises(PresetError):
            read_value(name, text, "read")
    else:
        assert read_value(name, text, "randread") == expected


@pytest.mark.parametrize(
    ("name", "text", "rw", "expected"),
    [
        ("bs", "8k,4k", "write", "4k"),
        ("bs", "8k,8k,64k", "randrw", "8k"),
        ("rate", ",2m", "write", "2m"),
        ("rate", ",2m", "read", None),
        ("rate", "1m,2m", "rw", "1m,2m"),
        ("rate", "1m,1m", "rw", "1m"),
        ("rate_iops", "10,0", "write", None),
        # fio leaves what stands behind a last comma as it is.
        ("bs", "8k,", "write", None),
        ("bs", "8k,", "read", "8k"),
        ("bs", "8k,16k,", "write", "16k"),
        ("rate", ",1m", "rw", ",1m"),
        ("rate", "1m,", "randrw", "1m,"),
        ("rate_iops", "10,0", "rw", "10,"),
        ("rate_iops", "0,10", "rw", ",10"),
        ("rate_iops", "10,,30", "rw", "10,"),
    ],
)
def test_a_value_of_its_own_for_reads_and_for_writes(name: str, text: str, rw: str, expected: str | None) -> None:
    assert read_value(name, text, rw) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bs", "1k,2k,3k,4k"),
        ("bssplit", "4k/30:8k/30"),
        ("bssplit", "4k/99:8k/:16k/"),
        ("bssplit", "4k/x"),
        ("bsrange", "4k"),
        ("size", "9" * 19),
        ("size", "9" * 400),
        ("size", "0x10k"),
        ("size", "10q"),
        ("runtime", "9" * 15 + "d"),
    ],
)
def test_a_value_that_a_mixed_job_cannot_have(name: str, text: str) -> None:
    with pytest.raises(PresetError):
        read_value(name, text, "randrw")


NAMES = st.sampled_from(sorted({*FIO_OPTIONS, *FIO_RULES, *SYNONYMS, *STRUCTURE, *CLIENT_RULES, "include", "nonsense"}))
VALUES = st.one_of(
    st.sampled_from([
        *("", "0", "1", "4k", "8k,4k", "1g", "50%", "30s", "250ms", "libaio", "read", "randrw", "4k-64k", "4k/50:8k/50"),
        *("${HOME}", "$ncpus*2", "(1)", "0x10", "none", "a:b", "/dev/sda", "../x", "1000", "99.9", "zipf:1.2"),
    ]),
    st.text(max_size=12),
)  # fmt: skip
LINES = st.one_of(
    st.builds(lambda name, value: f"{name}={value}", NAMES, VALUES),
    NAMES,
    st.sampled_from(["[a]", "[b]", "[global]", "[c", "[]", "", "; x", "stonewall", "[a b]", "numjobs=2"]),
    st.text(max_size=30),
)


def usable(imported: ImportedPreset) -> None:
    """What comes out is a preset that loads, in which every option is an allowed one."""
    preset = imported.preset
    for test in expand_defaults(preset).tests:
        for job in test.jobs:
            for name, value in job.options:
                assert check_option(test.engine, name, value) == value
    loaded = parse(preset_toml(preset).encode(), Path("own.toml"), shipped=False)
    assert isinstance(loaded, Preset), loaded
    expected = with_tuning(preset)
    assert loaded.tests == expected.tests and loaded.parameters == expected.parameters
    assert all(note.isprintable() for note in imported.notes)


@settings(max_examples=150)
@given(st.lists(LINES, max_size=25))
def test_any_lines_give_a_usable_preset_or_an_error(lines: list[str]) -> None:
    data = "\n".join(["[first]", *lines]).encode("utf-8", "surrogatepass")
    try:
        usable(import_job_text(data, Path("a.fio")))
    except PresetError as error:
        assert "a.fio" in error.message


@settings(max_examples=150)
@given(st.binary(max_size=300))
@example(b"[" * 200)
@example(b"[a]\n=\n==\n=a\n")
def test_any_bytes_give_a_usable_preset_or_an_error(data: bytes) -> None:
    with suppress(PresetError):
        usable(import_job_text(data, Path("a.fio")))


SENSIBLE = {
    OptionKind.SIZE: st.sampled_from(["4k", "64kb", "1m", "8192", "0x4000", "4096b"]),
    OptionKind.SIZE_RANGE: st.sampled_from(["4k-64k", "64k:4k"]),
    OptionKind.SIZE_SPLIT: st.sampled_from(["4k/50:8k/50", "4k/:64k/", "1k/10:2k/"]),
    OptionKind.DURATION: st.sampled_from(["1", "30s", "250ms", "2m"]),
    OptionKind.MICROSECONDS: st.sampled_from(["0", "50", "3ms"]),
    OptionKind.COUNT: st.sampled_from(["1", "2", "8", "50"]),
    OptionKind.REAL: st.sampled_from(["99", "99.9"]),
    OptionKind.BOOLEAN: st.sampled_from(["0", "1"]),
    OptionKind.DISTRIBUTION: st.sampled_from(
        ["random", "zipf", "zipf:0.9", "pareto:0.2", "normal:20", "zoned:80/20:20/"]
    ),
    OptionKind.FILE_ORDER: st.sampled_from(
        ["random", "roundrobin:4", "sequential:2", "zipf", "pareto:0.2", "normal:20"]
    ),
}


@st.composite
def sensible_lines(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(sorted(FIO_OPTIONS)))
    spec = FIO_OPTIONS[name]
    return f"{name}={draw(st.sampled_from(spec.choices) if spec.choices else SENSIBLE[spec.kind])}"


STRUCTURED = st.one_of(
    sensible_lines(),
    sensible_lines(),
    sensible_lines(),
    st.sampled_from(["[a]", "[b]", "[global]", "stonewall", "thread"]),
)


@settings(max_examples=150)
@given(st.lists(STRUCTURED, max_size=12))
def test_sensible_lines_give_a_usable_preset_or_a_contradiction(lines: list[str]) -> None:
    text = "\n".join(["[first]", "size=8m", *lines])
    try:
        found = import_job_text(text.encode(), Path("a.fio"))
    except PresetError as error:
        contradictions = (
            "exclude each other",
            "O_DIRECT",
            "out of range",
            "less than one request",
            "lies below the limit",
        )
        assert any(words in str(error) for words in contradictions), error
        return
    usable(found)
    again = import_job_text(job_file(found.preset, {}).encode(), Path("a.fio"))
    assert [[apart(job) for job in test.jobs] for test in expand_defaults(again.preset).tests] == [
        [apart(job) for job in test.jobs] for test in expand_defaults(found.preset).tests
    ]


def apart(job: Job) -> dict[str, str]:
    return {name: value for name, value in job.options if name != "new_group"}


WORDS = st.one_of(
    st.builds(lambda name, value: f"--{name}={value}", NAMES, VALUES),
    st.builds(lambda letter, value: f"-{letter}{value}", st.sampled_from("abBcCdDfFghijlLnoOpPrRsStTvwWxXyzZ"), VALUES),
    st.builds(lambda name: f"--{name}", NAMES),
    st.sampled_from(
        ["--name=a", "-name=b", "–-name=c", "-RD", "-c", "10", "/tmp", "--", "-", "&", "|", "'", '"', "\\"]
    ),
    st.text(max_size=12),
)


@settings(max_examples=200)
@given(st.sampled_from(["fio", "diskspd", "ioping", "sudo fio", ""]), st.lists(WORDS, max_size=15))
def test_any_command_gives_a_usable_preset_or_an_error(program: str, words: list[str]) -> None:
    def no_file(path: Path) -> bytes:
        raise PresetError(f"{path} is not a file.")

    with suppress(UsageError):
        usable(import_command(" ".join([program, *words]), read=no_file))


@settings(max_examples=100)
@given(st.sampled_from(sorted(FIO_OPTIONS)), st.text(max_size=40), st.sampled_from(["read", "write", "randrw"]))
def test_any_value_is_read_into_one_that_is_allowed_or_refused(name: str, text: str, rw: str) -> None:
    try:
        read = read_value(name, text, rw)
    except PresetError:
        return
    if read is not None:
        check_option(EngineName.FIO, name, read)


@pytest.mark.parametrize(
    "text",
    [
        "[a]\n" * (LARGEST_FILE // 4 - 1),
        "[global]\n" + "".join(f"x{n}=1\n" for n in range(15_000)) + "[a]\n" * 900,
        "[a]\n" + "bs=4k\n" * 20_000,
        "[a]\nbssplit=" + ":" * 8000,
        "[a]\nbs=" + "," * 8000,
        "[a]\nsize=" + "9" * 8000,
        "[a]\nfilename=" + "\\:" * 4000,
        "[" + "-" * 8000 + "]\n",
        "[a]\n" + "[b]\nstonewall\nwait_for=b\n" * 4000,
    ],
    ids=range(9),
)
def test_a_file_made_to_take_long_does_not(text: str) -> None:
    try:
        import_job_text(text.encode()[:LARGEST_FILE], Path("a.fio"))
    except DiskprofError as error:
        assert len(str(error)) < 5000


@pytest.mark.parametrize(
    "text",
    [
        "-" * LONGEST_TEXT,
        "–" * LONGEST_TEXT,
        "fio " + "-–" * 8000,
        "fio " + "'" * 8001,
        "\\\n" * 8000,
        "1. " * 5000,
        "$ " * 8000,
        "fio " + "--name=a " * 1500,
        "x" * (LONGEST_TEXT + 1),
    ],
    ids=range(9),
)
def test_a_command_made_to_take_long_does_not(text: str) -> None:
    try:
        import_command(text)
    except DiskprofError as error:
        assert len(str(error)) < 5000


def test_without_value_names_only_what_there_is() -> None:
    assert set(FIO_OPTIONS) | set(FIO_RULES) | STRUCTURE >= WITHOUT_VALUE
