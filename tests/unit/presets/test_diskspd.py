"""A DiskSpd command line -> a preset: every flag with the meaning that it has there, the others by name."""

from pathlib import Path

import pytest

from diskprof.model.errors import PresetError
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.imported import ImportedPreset
from diskprof.presets.library import load_library
from diskprof.presets.resolve import expand_defaults, resolve

MAX_WRITE = "diskspd -c200G -w100 -b8K -F4 -r -o128 -W30 -d30 -Sh testfile.dat"
MAX_READ = "diskspd -c200G -b4K -F4 -r -o128 -W7200 -d30 -Sh testfile.dat"


def imported(flags: str) -> ImportedPreset:
    return import_command(f"diskspd {flags}")


def job(flags: str) -> dict[str, str]:
    (test,) = expand_defaults(imported(flags).preset).tests
    (found,) = test.jobs
    return dict(found.options)


def refused(flags: str) -> str:
    with pytest.raises(PresetError) as caught:
        imported(flags)
    return f"{caught.value.message}\n{caught.value.hint}"


@pytest.mark.parametrize(
    ("command", "preset"),
    [(MAX_WRITE, "azure-diskspd-max-write-iops"), (MAX_READ, "azure-diskspd-max-read-iops")],
)
def test_the_commands_of_the_article_are_the_presets_made_of_them(command: str, preset: str) -> None:
    found = import_command(command).preset
    (ours,) = expand_defaults(load_library(Path("/nonexistent")).get(preset)).tests
    (test,) = expand_defaults(found).tests
    assert dict(test.jobs[0].options) == dict(ours.jobs[0].options)
    assert {p.name: p.default for p in found.parameters} == {
        "size": "200g", "runtime": "30s", "ramp": "30s" if "-W30" in command else "7200s",
    }  # fmt: skip
    assert found.source == command


def test_throughput_with_larger_blocks() -> None:
    assert job(MAX_WRITE.removeprefix("diskspd ").replace("-b8K", "-b64K"))["bs"] == "65536"


def test_what_nobody_says_is_as_in_diskspd() -> None:
    assert job("x.dat") == {
        "rw": "read", "bs": "65536", "ioengine": "libaio", "iodepth": "2", "numjobs": "1", "direct": "0", "ramp_time": "5",
        "runtime": "10", "time_based": "1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-b4096", {"bs": "4096"}),
        ("-b4k", {"bs": "4096"}),
        ("-b1M -b4K", {"bs": "1048576"}),
        ("-b8K -c1000b", {"size": str(8192 * 1000)}),
        ("-c1000b -b8K", {"size": str(8192 * 1000)}),
        ("-c1T", {"size": str(1 << 40)}),
        ("-w", {"rw": "read"}),
        ("-w0", {"rw": "read"}),
        ("-w100", {"rw": "write"}),
        ("-w25", {"rw": "rw", "rwmixwrite": "25"}),
        ("-w100 -r", {"rw": "randwrite", "norandommap": "1"}),
        ("-w25 -r", {"rw": "randrw", "rwmixwrite": "25"}),
        ("-r -s4K", {"rw": "randread"}),
        ("-r64K", {"rw": "randread", "bs": "65536"}),
        ("-s64K", {"rw": "read"}),
        ("-s", {"rw": "read"}),
        ("-si", {"rw": "read"}),
        ("-t4", {"numjobs": "4", "iodepth": "2", "group_reporting": "1"}),
        ("-F4", {"numjobs": "4", "iodepth": "2", "group_reporting": "1"}),
        ("-F4 -o32", {"numjobs": "4", "iodepth": "32"}),
        ("-F4 -O32", {"numjobs": "4", "iodepth": "32"}),
        ("-o1", {"ioengine": "psync", "iodepth": "1"}),
        ("-t4 -o1", {"ioengine": "psync", "iodepth": "1", "numjobs": "4"}),
        ("-F4 -o1", {"ioengine": "libaio", "iodepth": "1"}),
        ("-W0 -d60", {"runtime": "60", "time_based": "1"}),
        ("-S", {"direct": "1"}),
        ("-Su", {"direct": "1"}),
        ("-Sb", {"direct": "0"}),
        ("-Sh", {"direct": "1"}),
        ("-Sh -w100", {"direct": "1", "sync": "dsync"}),
        ("-h -w100", {"direct": "1", "sync": "dsync"}),
        ("-Suw -w100", {"direct": "1", "sync": "dsync"}),
        ("-Swu -w10 -r", {"direct": "1", "sync": "dsync"}),
        ("-Sw -w100", {"direct": "0", "sync": "dsync"}),
        ("-Sbw -w100", {"direct": "0", "sync": "dsync"}),
        ("-Su -Sw -w100", {"direct": "1", "sync": "dsync"}),
        ("-z", {"randrepeat": "0"}),
        ("-z42", {"randseed": "42"}),
        ("-Z -w100", {"zero_buffers": "1"}),
        ("-Zr -w100", {"refill_buffers": "1"}),
        ("-Z1M -w100", {"rw": "write"}),
        ("-B1M -c8M", {"offset": "1048576", "size": str(7 << 20)}),
        ("-f1M -c8M", {"size": "1048576"}),
        ("-f1M", {"size": "1048576"}),
        ("-fr", {"fadvise_hint": "random"}),
        ("-g100", {"rate": "100000"}),
        ("-g500i -w100", {"rate_iops": "500"}),
        ("-I3 -L -D -D500 -Rxml -Rtext -v -P -C5 -a0,1 -n -x -l", {"rw": "read"}),
        ("–b4K –r", {"bs": "4096", "rw": "randread"}),
    ],
)
def test_a_flag_has_its_meaning(flags: str, expected: dict[str, str]) -> None:
    found = job(f"{flags} x.dat")
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("flags", "absent"),
    [
        ("-Sh", "sync"),
        ("-w100", "sync"),
        ("-W0", "ramp_time"),
        ("-Z", "zero_buffers"),
        ("-t1", "group_reporting"),
        ("-w100", "rwmixwrite"),
        ("-b4K", "norandommap"),
    ],
)
def test_a_flag_means_no_more_than_it_says(flags: str, absent: str) -> None:
    assert absent not in job(f"{flags} x.dat")


def test_the_size_of_a_file_that_is_there_is_left_open() -> None:
    preset = imported("-b4K x.dat").preset
    first = preset.parameters[0]
    assert (first.name, first.default, first.optional) == ("size", "", True)
    assert dict(resolve(preset, {"size": "1g"}).tests[0].jobs[0].options)["size"] == str(1 << 30)


def test_what_is_left_out_is_said() -> None:
    notes = imported("-Sh -L -Rxml -D c:\\data\\x.dat").notes
    assert notes == (
        "-L is left out: diskprof always measures latency.",
        "-Rxml is left out: diskprof has its own reports.",
        "-D is left out: diskprof always takes samples.",
        "c:\\data\\x.dat is left out: the target is chosen at run time.",
    )


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("-o8 x", "libaio waits for each"),
        ("-w100 -Sh x", "a repeating pattern"),
        ("-w50 -Sh x", "a place for reads and one for writes"),
    ],
)
def test_what_is_not_quite_the_same_is_said(flags: str, words: str) -> None:
    assert any(words in note for note in imported(flags).notes)


def test_notes_stay_away_where_there_is_nothing_to_say() -> None:
    assert len(imported("-Sh -w100 -Z -r x").notes) == len(imported("-Sh -w100 -Zr -r x").notes) == 1


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("-Xprofile.xml", "takes the test from another file"),
        ("-ysready x", "waits for other programs"),
        ("-p x", "several sequential requests to one place"),
        ("-T1M x", "begin each thread at a place of its own"),
        ("-i8 -j10 x", "no bursts"),
        ("-I1 x", "priority of requests"),
        ("-Nv x", "memory that keeps its data"),
        ("-r4K -b8K x", "begins each request at a multiple of its size"),
        ("-rs50 x", "cannot mix places"),
        ("-rdpct90/10 x", "cannot mix places"),
        ("-s128K -b64K x", "leaves no gaps"),
        ("-si -t4 x", "do not share a place"),
        ("-Sr x", "remote files"),
        ("-Sm x", "maps the file into memory"),
        ("-Sbu x", "contradicts"),
        ("-Sh -Sw x", "contradicts"),
        ("-h -Sb x", "contradicts"),
        ("-Sx x", "knows b, h, u and w"),
        ("-Z1M,c:\\secret.bin x", "reads another file"),
        ("-ft x", "takes a size, r or s"),
        ("-g100 -w50 x", "limits reads and writes each"),
        ("-t2 -F4 x", "exclude each other"),
        ("-Q x", "-Q is not supported"),
        ("-c x", "is not a size"),
        ("-b8KB x", "is not a size"),
        ("-b0 x", "is not a size"),
        ("-c99999999999999T x", "out of range"),
        ("-w101 x", "is not a number"),
        ("-o0 x", "is not a number"),
        ("-d0 x", "is not a number"),
        ("-d30s x", "is not a number"),
        ("-o x", "is not a number"),
        ("-o100000 x", "out of range"),
        ("-b1000 -Su x", "O_DIRECT"),
        ("-b64K -c4K x", "less than one request"),
        ("-B8M -c1M x", "beyond the end"),
        ("x -b4K", "stands behind the target"),
        ("x y", "2 targets"),
        ("#1 #2", "2 targets"),
        ("- x", "not a DiskSpd flag"),
    ],
)
def test_the_others_are_refused_by_name(flags: str, reason: str) -> None:
    assert reason in refused(flags)
