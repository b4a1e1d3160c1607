"""Other people's jobs against fio itself: what is taken over means to fio what it meant before."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fio_parse import FioJob, can_be_a_command, first_names, parse_job_file, parse_options, showcmd
from msgspec.structs import replace
from shipped import SHIPPED

from diskprof.engines.fio.reader import fio_argv
from diskprof.model.errors import DiskprofError, PresetError
from diskprof.model.job import Opened
from diskprof.model.preset import EngineName, Job, Preset
from diskprof.presets.files.fio_text import job_file
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import preset_toml
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.fio_rules import FIO_RULES, SYNONYMS, WITHOUT_VALUE
from diskprof.presets.foreign.fio_sections import STRUCTURE
from diskprof.presets.foreign.fio_values import DIRECTIONAL, ZERO_IS_OFF, read_value
from diskprof.presets.foreign.imported import ImportedPreset
from diskprof.presets.foreign.jobfile import import_job_file, import_job_text
from diskprof.presets.options.allowed import FIO_OPTIONS, check_option
from diskprof.presets.resolve import ResolvedTest, expand_defaults
from diskprof.presets.tuning import with_tuning

pytestmark = [pytest.mark.fio, pytest.mark.needs("fio")]

OWN = sorted((Path(__file__).parents[1] / "data/jobs").glob("*.fio"))
EXAMPLES = sorted(Path("/usr/share/doc/fio/examples").glob("*.fio"))
OF_FIO = ("--output-format", "--status-interval", "--readonly")
"""What stands before the first job: options of fio itself."""

TEXTS = {"rw", "ioengine", "bsrange", "bssplit", "random_distribution", "sync", "fallocate", "fadvise_hint"}
"""Options that fio does not read as numbers."""


def resolved_tests(preset: Preset) -> tuple[ResolvedTest, ...]:
    return expand_defaults(preset).tests


def words_for(test: ResolvedTest, filename: str = "target.dat") -> list[str]:
    """The command line that diskprof would give fio, without the program."""
    jobs = [replace(job, opened=Opened((filename,))) for job in test.load.fio]
    read_only = all(job.reads_only for job in jobs)
    return list(fio_argv("fio", jobs, interval_ms=250, read_only=read_only))[1:]


def parsed_by_fio(tests: Sequence[ResolvedTest]) -> tuple[FioJob, ...]:
    """The jobs of these tests as fio reads diskprof's options for them, all in one call."""
    words = words_for(tests[0]) if len(tests) == 1 else []
    for test in tests if not words else ():
        words += [word for word in words_for(test) if not word.startswith(OF_FIO)]
    found = parse_options(words)
    assert found.code == 0 and len(found.jobs) == sum(len(test.jobs) for test in tests), found.output
    return found.jobs


def part(name: str, values: tuple[str, ...], job: FioJob) -> tuple[str, ...]:
    """What counts in a job of its pattern, of values for reads, writes and trims."""
    rw = job.values.get("rw", ("read",))[0]
    if name not in DIRECTIONAL or len(values) < 2:
        return values
    return values[:2] if rw in ("rw", "randrw", "readwrite") else (values["write" in rw],)


def assert_same_to_fio(theirs: FioJob, ours: FioJob) -> None:
    """Every option that reaches fio has the value that fio read in the original, and none is lost without a word."""
    added = {"name", "filename", "thread", "allow_file_create", "lat_percentiles", "slat_percentiles"}
    for name in ours.values.keys() - added - TEXTS:
        if name == "new_group" or (name == "size" and name not in theirs.values):
            continue
        wanted = theirs.values.get(name, ())
        if name == "direct" and "buffered" in theirs.values:
            wanted = tuple(str(1 - int(value)) for value in theirs.values["buffered"])
        assert part(name, ours.values[name], theirs) == part(name, wanted, theirs), (theirs.name, name)
    for name in theirs.values.keys() & FIO_OPTIONS.keys() - ours.values.keys():
        value = part(name, theirs.values[name], theirs)
        off = name in ZERO_IS_OFF and set(value) <= {"0"}
        # What is written over was filled before: that is the layout. Of one file there is nothing to choose.
        overridden = name in ("rwmixread", "rwmixwrite", "buffered", "overwrite", "file_service_type", "nrfiles")
        assert off or overridden or name == "time_based" or value == ("18446744073709551515",), (
            theirs.name,
            name,
            value,
        )


def assert_taken_over(path: Path, imported: ImportedPreset) -> None:
    parsed = parse_job_file(path)
    assert parsed.code == 0, parsed.output
    for theirs, mine in zip(parsed.jobs, parsed_by_fio(resolved_tests(imported.preset)), strict=True):
        assert_same_to_fio(theirs, mine)


def assert_writable(preset: Preset) -> None:
    """The preset's file is one that the loader takes, and says the same."""
    loaded = parse(preset_toml(preset).encode(), Path("own.toml"), shipped=False)
    assert isinstance(loaded, Preset), loaded
    tuned = with_tuning(preset)
    assert (loaded.tests, loaded.parameters, loaded.targets) == (tuned.tests, tuned.parameters, tuned.targets)


def plain(imported: ImportedPreset) -> list[list[dict[str, str]]]:
    return [[dict(job.options) for job in test.jobs] for test in resolved_tests(imported.preset)]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_own_job_files_mean_the_same_to_fio(path: Path) -> None:
    imported = import_job_file(path)
    assert_taken_over(path, imported)
    assert_writable(imported.preset)


@pytest.mark.parametrize("path", [path for path in OWN if can_be_a_command(path)], ids=lambda path: path.stem)
def test_the_command_that_fio_names_for_a_job_file_gives_the_same_tests(path: Path) -> None:
    assert plain(import_command(showcmd(path))) == plain(import_job_file(path))


def run_fio(*words: str, cwd: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        ["fio", "--output-format=json", *words], cwd=cwd, capture_output=True, text=True, timeout=120, check=True
    )
    jobs: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return jobs


def work(jobs: list[dict[str, Any]]) -> list[tuple[int, ...]]:
    """Requests and bytes of each job."""
    return [
        tuple(job[way][figure] for way in ("read", "write") for figure in ("total_ios", "io_bytes")) for job in jobs
    ]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_a_job_does_the_same_work_as_before(path: Path, tmp_path: Path) -> None:
    """One job at a time, where it can be alone: with randrepeat, fio's random choices depend on a job's place in the file."""
    tests = [test for test in resolved_tests(import_job_file(path).preset) if not ramps(test)]
    chained = "wait_for=" in path.read_text()
    theirs = work(run_fio(str(path), cwd=tmp_path)) if chained else []
    ours = []
    for test in tests:
        for job in test.jobs:
            words = words_for(ResolvedTest(test.name, "", EngineName.FIO, (job,)))
            words = [word for word in words if not word.startswith((*OF_FIO, "--allow_file_create"))]
            ours += work(run_fio(*words, cwd=tmp_path))
            if not chained:
                theirs += work(run_fio(f"--section={job.name}", str(path), cwd=tmp_path))
    assert ours == theirs and ours


@pytest.mark.parametrize(
    ("told", "read", "write"), [("400,200", 400, 200), ("400,", 400, None), (",200", None, 200), ("200,0", 200, None)]
)
def test_a_limit_of_one_direction_leaves_the_other_free(
    tmp_path: Path, told: str, read: float | None, write: float | None
) -> None:
    job = f"[mix]\nrw=randrw\nioengine=null\nsize=64m\ntime_based\nruntime=1\nrate_iops={told}\n"
    (test,) = resolved_tests(import_job_text(job.encode(), Path("mix.fio")).preset)
    words = [word for word in words_for(test) if not word.startswith((*OF_FIO, "--allow_file_create"))]
    (done,) = run_fio(*words, cwd=tmp_path)
    for way, limit in (("read", read), ("write", write)):
        if limit is None:
            assert done[way]["iops"] > 4 * 400
        else:
            # Its own and not the other's; how near fio comes to it is the machine's matter.
            assert 0.55 * limit < done[way]["iops"] < 1.05 * limit


@pytest.mark.parametrize("bs", ["8k,", ",8k", "8k,16k", "8k,16k,"])
@pytest.mark.parametrize("rw", ["randread", "randwrite"])
def test_a_block_size_of_the_other_direction_is_none_of_this(tmp_path: Path, bs: str, rw: str) -> None:
    path = tmp_path / "job.fio"
    path.write_text(f"[job]\nrw={rw}\nioengine=null\nsize=64k\nnorandommap\nbs={bs}\n")
    (test,) = resolved_tests(import_job_file(path).preset)
    words = [word for word in words_for(test) if not word.startswith((*OF_FIO, "--allow_file_create"))]
    assert work(run_fio(*words, cwd=tmp_path)) == work(run_fio(str(path), cwd=tmp_path))


def ramps(test: ResolvedTest) -> bool:
    """Whether what counts begins after a warm-up, at no exact place."""
    return any("ramp_time" in dict(job.options) for job in test.jobs)


@pytest.mark.needs("fio-examples")
@pytest.mark.parametrize("path", EXAMPLES or [Path("none.fio")], ids=lambda path: path.name)
def test_fios_own_examples_are_taken_over_as_they_are_or_refused_by_line(path: Path) -> None:
    try:
        imported = import_job_file(path)
    except PresetError as refused:
        assert re.search(rf"{re.escape(path.name)}(:\d+: | cannot be imported:\n  line \d+: )", refused.message), (
            refused
        )
        return
    assert_taken_over(path, imported)
    assert_writable(imported.preset)
    if can_be_a_command(path):
        assert plain(import_command(showcmd(path))) == plain(imported)


@pytest.mark.needs("fio-examples")
def test_examples_that_a_preset_can_say_are_taken_over() -> None:
    taken = set()
    for path in EXAMPLES:
        try:
            import_job_file(path)
        except PresetError:
            continue
        taken.add(path.name.removesuffix(".fio"))
    assert taken >= {
        *("1mbs_clients", "aio-read", "fio-rand-RW", "fio-rand-read", "fio-rand-write", "fio-seq-RW", "fio-seq-read"),
        *("fio-seq-write", "iometer-file-access-server", "ssd-test", "tiobench-example", "waitfor", "zipf"),
    }
    assert not taken & {
        *(
            "exec",
            "e4defrag",
            "filecreate-ioengine",
            "filedelete-ioengine",
            "falloc",
            "netio",
            "rbd",
            "mtd",
            "basic-verify",
        ),
        *(
            "zbd-rand-write",
            "flow",
            "exitwhat",
            "surface-scan",
            "enospc-pressure",
            "sg_verify",
            "cpuio",
            "steadystate-none",
        ),
    }


def test_every_option_of_fios_has_a_verdict() -> None:
    done = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, timeout=60)
    named = {match[1] for match in re.finditer(r"^\s*([a-z][a-z0-9_-]+)\s*:", done.stdout, re.MULTILINE)}
    assert len(named) > 150
    assert not named - FIO_OPTIONS.keys() - FIO_RULES.keys() - SYNONYMS.keys() - STRUCTURE


def test_the_other_names_are_fios_own() -> None:
    together = {"clat_percentiles", "lat_percentiles", "slat_percentiles", "percentile_list", "job_max_open_zones"}
    names = first_names([name for name in SYNONYMS if name not in together])
    assert len(names) > 15
    assert {name: first for name, first in names.items() if first != SYNONYMS[name] and name != first} == {}


def test_options_without_a_value_are_those_that_fio_takes_so(tmp_path: Path) -> None:
    logs = {"write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"}
    engines = {"hipri", "fixedbufs", "registerfiles", "sqthread_poll", "userspace_reap"}
    tried = {*FIO_OPTIONS, *WITHOUT_VALUE} - logs - engines
    path = tmp_path / "bare.fio"
    path.write_text("[a]\n" + "\n".join(sorted(tried)) + "\n")
    refused = set(re.findall(r"fio: failed parsing (\S+)", parse_job_file(path).output))
    assert tried - refused == tried & WITHOUT_VALUE


NUMBERS = [
    *("1", "512", "0x200", "0X1f", "4k", "4K", "4kb", "4KB", "4kib", "4KiB", "1m", "2Mb", "3MiB", "1g", "1GiB", "512b"),
    *("00012", "1t", "1TiB", "8192", "1kB"),
]
TIMES = ["1", "30", "30s", "250ms", "500us", "700usec", "90msec", "2m", "3h", "1d", "2M", "30S", "0010"]


@pytest.mark.parametrize("base", [1000, 1024])
def test_numbers_are_read_as_fio_reads_them(base: int) -> None:
    words = [f"--kb_base={base}"]
    for text in NUMBERS:
        words += ["--name=a", f"--kb_base={base}", f"--io_size={text}", f"--thinktime_blocks={text}"]
    done = parse_options(words)
    assert len(done.jobs) == len(NUMBERS)
    for text, job in zip(NUMBERS, done.jobs, strict=True):
        read = read_value("io_size", text, "read", base)
        assert read and check_option(EngineName.FIO, "io_size", read) == job.values["io_size"][0], text


def test_times_are_read_as_fio_reads_them() -> None:
    given, ours, compared = [], [], []
    for text in TIMES:
        for name in ("runtime", "latency_target"):
            try:
                read = read_value(name, text, "read")
            except PresetError as error:
                assert "out of range" in error.message, (name, text)
                continue
            given += ["--name=a", f"--{name}={text}"]
            ours += ["--name=a", f"--{name}={check_option(EngineName.FIO, name, read or '')}"]
            compared.append((name, text))
    assert len(compared) > 20
    for case, theirs, mine in zip(compared, parse_options(given).jobs, parse_options(ours).jobs, strict=True):
        assert theirs.values[case[0]] == mine.values[case[0]], case


@pytest.mark.parametrize(
    "text",
    [
        *("size=1.5g", "size= 1g", "bs = 8k", "rw = randread", "runtime=10min", "runtime=1.5", "direct=true", "direct"),
        *("iodepth=4-8", "numjobs=0", "size=(1024*1024)", "bs=4kk", "runtime=30 s", "iodepth", "size=-1", "direct=yes"),
    ],
)
def test_what_fio_refuses_or_takes_for_something_else_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.fio"
    path.write_text(f"[a]\nrw=read\n{text}\n")
    with pytest.raises(PresetError, match=r"a\.fio:3: "):
        import_job_file(path)


@pytest.mark.parametrize("preset", SHIPPED.presets, ids=lambda preset: preset.name)
def test_an_exported_preset_is_read_back_and_means_the_same_to_fio(preset: Preset, tmp_path: Path) -> None:
    resolved = [test for test in resolved_tests(preset) if test.engine is EngineName.FIO]
    if not resolved:
        with pytest.raises(DiskprofError, match="ioping"):
            job_file(preset, {})
        return
    text = job_file(preset, {})
    path = tmp_path / "exported.fio"
    path.write_text(text)
    parsed = parse_job_file(path)
    assert parsed.code == 0, parsed.output
    for theirs, mine, wait in zip(parsed.jobs, parsed_by_fio(resolved), waits(resolved), strict=True):
        if wait is not None:
            mine.values["startdelay"] = (str(round(wait * 1e6)),)
        assert_same_to_fio(theirs, mine)
    again = import_job_text(text.encode(), path)
    assert [slot.name for slot in again.preset.targets] == [slot.name for slot in preset.targets]
    assert as_planned(resolved_tests(again.preset)) == as_planned(resolved)


def waits(tests: Sequence[ResolvedTest]) -> list[float | None]:
    """The seconds from fio's start to the begin of each job that has a startdelay; tests run one after the other."""
    found: list[float | None] = []
    before = 0.0
    for test in tests:
        jobs = test.load.fio
        found += [before + job.delay_s if job.delay_s else None for job in jobs]
        before += max(job.delay_s + job.ramp_s + (job.runtime_s or 0.0) for job in jobs)
    return found


def as_planned(tests: Sequence[ResolvedTest]) -> list[object]:
    """What counts of each job: its options, targets and files, and what it writes into."""
    return [
        (options_of(job), job.targets, job.files, job.fills and test.layout) for test in tests for job in test.load.fio
    ]


def options_of(job: Job) -> dict[str, str]:
    """A job's options but for those with which diskprof keeps the results of jobs apart."""
    return {name: value for name, value in job.options if name != "new_group"}
