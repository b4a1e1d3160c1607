"""A command line of fio, as articles print it and as people type it, and of ioping."""

from collections.abc import Callable
from pathlib import Path

import pytest
from shipped import SHIPPED

from diskprof.model.errors import PresetError, UsageError
from diskprof.model.preset import EngineName, Preset
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.imported import ImportedPreset
from diskprof.presets.resolve import expand_defaults, resolve

DIGITALOCEAN = """\
  1. fio --filename=/mnt/volume-nyc3-04/fio.test \\
  2. --direct=1 \\
  3. --rw={rw} \\
  4. --ioengine=libaio \\
  5. --bs={bs} \\
  6. --iodepth={depth} \\
  7. --name={name} \\
  8. --runtime=120s \\
"""
ALIBABA = (
    "fio -direct=1 -iodepth={depth} -rw={rw} -ioengine=libaio -bs={bs} -size=1G -numjobs=1 -runtime=1000 "
    "-group_reporting -filename=iotest -name={name}"
)
AEROSPIKE = (
    "fio --filename=/dev/xvdf --direct=1 --rw={rw} --refill_buffers --norandommap --randrepeat=0 --ioengine=libaio "
    "--bs=128k --rate_iops=1280  --iodepth=16 --numjobs=1 --time_based --runtime=86400 --group_reporting –-name=benchtest"
)
FIOWRITE = (
    "[global]\nsize=30g\ndirect=1\niodepth=256\nioengine=libaio\nbs=4k\nnumjobs=4\n\n"
    "[writer1]\nrw=randwrite\ndirectory=/mnt/nocache\n"
)
FIOREADWRITE = (
    "[global]\nsize=30g\ndirect=1\niodepth=128\nioengine=libaio\nbs=4k\nnumjobs=4\n\n"
    "[reader1]\nrw=randread\ndirectory=/mnt/readcache\n\n[writer1]\nrw=randwrite\ndirectory=/mnt/nocache\nrate_iops=3200\n"
)


def files(**texts: str) -> Callable[[Path], bytes]:
    def read(path: Path) -> bytes:
        return texts[path.stem].encode()

    return read


def options(imported: ImportedPreset, test: int = 0, job: int = 0) -> dict[str, str]:
    return dict(expand_defaults(imported.preset).tests[test].jobs[job].options)


def shipped(name: str) -> dict[str, str]:
    return dict(expand_defaults(SHIPPED.get(name)).tests[-1].jobs[0].options)


def refused(command: str) -> str:
    with pytest.raises(UsageError) as caught:
        import_command(command)
    return f"{caught.value.message}\n{caught.value.hint}"


@pytest.mark.parametrize(
    ("name", "rw", "bs", "depth"),
    [
        ("bw-test", "randwrite", "1024K", "32"),
        ("rand-r", "randread", "4K", "128"),
        ("rand-w", "randwrite", "4K", "128"),
        ("lat-read", "randread", "4K", "1"),
        ("lat-write", "randwrite", "4K", "1"),
    ],
)
def test_the_commands_for_volumes_as_the_page_prints_them(name: str, rw: str, bs: str, depth: str) -> None:
    imported = import_command(DIGITALOCEAN.format(name=name, rw=rw, bs=bs, depth=depth))
    assert imported.preset.name == name and imported.preset.tests[0].name == name
    found = options(imported)
    assert found == {
        "rw": rw, "bs": "1048576" if bs == "1024K" else "4096", "iodepth": depth, "ioengine": "libaio", "direct": "1",
        "runtime": "120",
    }  # fmt: skip
    # The article forgot the size: the preset asks for it.
    assert dict(resolve(imported.preset, {"size": "20g"}).tests[0].jobs[0].options)["size"] == str(20 << 30)
    ours = shipped(f"digitalocean-{name}")
    assert {key: ours[key] for key in found} == found


@pytest.mark.parametrize(
    ("preset", "name", "rw", "bs", "depth"),
    [
        ("alibaba-rand-write", "Rand_Write_Testing", "randwrite", "4k", "128"),
        ("alibaba-rand-read", "Rand_Read_Testing", "randread", "4k", "128"),
        ("alibaba-write", "Write_PPS_Testing", "write", "1024k", "64"),
        ("alibaba-read", "Read_PPS_Testing", "read", "1024k", "64"),
    ],
)
def test_commands_with_one_dash(preset: str, name: str, rw: str, bs: str, depth: str) -> None:
    imported = import_command(ALIBABA.format(name=name, rw=rw, bs=bs, depth=depth))
    assert imported.preset.tests[0].name == name
    assert options(imported) == shipped(preset) | {"group_reporting": "1", "numjobs": "1"}


@pytest.mark.parametrize(
    ("preset", "rw"),
    [
        ("aerospike-write", "randwrite"),
        ("aerospike-50-50", "randrw –rwmixwrite=50"),
        ("aerospike-95-5", "randrw –rwmixwrite=5"),
        ("aerospike-80-20", "randrw --rwmixread=80"),
    ],
)
def test_commands_with_the_dashes_of_a_web_page(preset: str, rw: str) -> None:
    found = options(import_command(AEROSPIKE.format(rw=rw)))
    ours = shipped(preset)
    assert {name: found[name] for name in ours if name in found} == {name: ours[name] for name in ours if name in found}
    assert found["rate_iops"] == "1280" and found["runtime"] == "86400" and found["refill_buffers"] == "1"


def test_a_command_with_a_job_file_takes_its_jobs() -> None:
    imported = import_command("sudo fio --runtime 30 fiowrite.ini", read=files(fiowrite=FIOWRITE))
    assert imported.preset.name == "fiowrite"
    assert options(imported) == {
        "rw": "randwrite", "runtime": "30", "size": str(30 << 30), "direct": "1", "iodepth": "256", "ioengine": "libaio",
        "bs": "4096", "numjobs": "4",
    }  # fmt: skip
    assert any(note.startswith("fiowrite.ini:11: directory=/mnt/nocache is left out") for note in imported.notes)


def test_two_volumes_in_one_test() -> None:
    imported = import_command("fio --runtime 30 fioreadwrite.ini", read=files(fioreadwrite=FIOREADWRITE), several=True)
    (test,) = imported.preset.tests
    assert [(job.name, *job.targets) for job in test.jobs] == [("reader1", "readcache"), ("writer1", "nocache")]
    assert options(imported, job=1)["rate_iops"] == "3200"


def test_a_job_file_that_is_not_there_is_named() -> None:
    assert "fiowrite.ini is not a file" in refused("fio fiowrite.ini")
    assert "several job files" in refused("fio a.fio b.fio")


@pytest.mark.parametrize(
    "command",
    [
        "fio --name=a --rw=read --bs=8k",
        "/usr/bin/fio --name=a --rw=read --bs=8k",
        "$ fio --name=a --rw=read --bs=8k",
        "# sudo fio --name a --rw read --bs 8k",
        "fio -name=a -rw=read -bs=8k",
        "fio ‑‑name=a —rw=read –bs=8k",
        "fio −−name=a ‐‐rw=read ––bs=8k",
        "--name=a --rw=read --bs=8k",
        "fio --name=a --rw=read --blocksize=8k &",
        "fio --rw=write --name=a --bs=4k --rw=read --bs=8k",
        "fio --name='a' \"--rw=read\" --bs=“8k”",
        "fio --name=a \\\n  --rw=read \\\r\n --bs=8k \\\n",
        "`fio --name=a --rw=read --bs=8k`",
        "fio --name=a --rw=read --bs=8k --output=x.json --output-format json+ --eta=never --minimal",
        "time fio --kb_base=1000 --name=a --rw=read --bs=8KiB",
    ],
)
def test_the_same_command_in_many_ways(command: str) -> None:
    imported = import_command(command)
    assert [test.name for test in imported.preset.tests] == ["a"]
    assert options(imported) == {"rw": "read", "bs": "8192"}


def test_options_before_the_first_name_count_for_all_jobs() -> None:
    imported = import_command("fio --bs=8k --direct=1 --name=a --rw=read --name=b --rw=write --stonewall --bs=4k")
    assert [[job.name for job in test.jobs] for test in imported.preset.tests] == [["a"], ["b"]]
    assert options(imported) == {"rw": "read", "bs": "8192", "direct": "1"}
    assert options(imported, test=1) == {"rw": "write", "bs": "4096", "direct": "1"}
    again = import_command("fio --name=global --bs=8k --name=a --name=b")
    assert [have["bs"] for have in (options(again), options(again, job=1))] == ["8192", "8192"]


def test_kb_base_counts_from_its_place_on() -> None:
    found = options(import_command("fio --name=a --size=1m --kb_base=1000 --io_size=1m"))
    assert (found["size"], found["io_size"]) == (str(1 << 20), "1000000")


def test_a_flag_takes_no_word_behind_it_and_another_option_does() -> None:
    found = options(
        import_command("fio --name=a --time_based --runtime 5 --norandommap --rw randread --group_reporting")
    )
    assert found == {"time_based": "1", "runtime": "5", "norandommap": "1", "rw": "randread", "group_reporting": "1"}
    assert "neither 0 nor 1" in refused("fio --name=a --direct --rw=read")


def test_what_is_left_out_of_a_command_is_said() -> None:
    imported = import_command(
        "fio --name=a --filename=/dev/sdb --output=result.json --eta=never --thread --rw=randread"
    )
    assert imported.notes == (
        "--output=result.json is left out: diskprof keeps every sample itself, and writes no other file.",
        "--eta=never is left out: it is about what fio prints; diskprof shows its own figures.",
        "the command: filename=/dev/sdb is left out: the target is chosen at run time.",
        "the command: thread is left out: diskprof runs the jobs of a test as threads of one process.",
    )
    assert imported.preset.source.startswith("fio --name=a --filename=/dev/sdb")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "There is no command"),
        ("   \n", "There is no command"),
        ("sudo", "There is no command"),
        ("dd if=/dev/zero of=/dev/xvdb bs=1M &", "aerospike-prewarm"),
        ("rm -rf /", "is not fio"),
        ("FOO=1 rm -rf /", "is not fio"),
        ("for i in 1 2; do fio --name=a --bs=$i; done", "has a shell make the commands"),
        ("fio --rw=read", "The command has no job"),
        ("fio", "The command has no job"),
        ("fio --name=a 'unfinished", "a quote that does not end"),
        ("fio --name=a --numjobs=$(nproc)", "not filled in"),
        ("fio --name=a --size=$SIZE", "not filled in"),
        ("fio --name=a --bs=`id`", "not filled in"),
        ("fio --name=a --exec_prerun=/bin/sh", "it runs a program"),
        ("fio --name=a --trigger='reboot'", "it runs a program"),
        ("fio --profile=act --name=a", "it runs a program"),
        ("fio --client=host --name=a", "another machine"),
        ("fio --server", "another machine"),
        ("fio --version", "it is no test"),
        ("fio --name=a --section=b", "it picks some jobs"),
        ("fio --name=a --nosuch=1", "not a known fio option"),
        ("fio --name=a --rw=", "Choose from"),
        ("fio --name=a --rw", "has no value"),
        ("fio --name=a --ioengine=exec", "it runs a program"),
        ("x" * 70_000, "too long"),
    ],
)
def test_what_is_no_command_of_a_test_is_refused(command: str, reason: str) -> None:
    assert reason in refused(command)


@pytest.mark.parametrize(
    ("command", "preset"),
    [
        ("ioping /tmp -c 10", "ioping-latency"),
        ("ioping /tmp -RD", "ioping-seek"),
        ("ioping /tmp -RC", "ioping-cached"),
        ("# ioping /tmp -RL", "ioping-sequential"),
    ],
)
def test_the_four_commands_of_ioping_as_the_page_prints_them(command: str, preset: str) -> None:
    imported = import_command(command)
    (test,) = expand_defaults(imported.preset).tests
    assert test.engine is EngineName.IOPING
    (ours,) = expand_defaults(SHIPPED.get(preset)).tests
    # The shipped ones say in words what ioping does by itself.
    defaults = {"work-time": "3", "interval": "1"}
    assert {**defaults, **dict(test.jobs[0].options)} == {**defaults, **dict(ours.jobs[0].options)}
    assert imported.notes == ("/tmp is left out: the target is chosen at run time.",)


@pytest.mark.parametrize(
    "command",
    ["ioping -RDc5 x", "ioping -R -D -c 5 x", "ioping -rapid -direct -count 5", "ioping --rapid --direct --count=5"],
)
def test_ioping_takes_long_and_short_options(command: str) -> None:
    assert options(import_command(command)) == {"rapid": "1", "direct": "1", "count": "5"}


def test_iopings_settings_become_parameters() -> None:
    preset: Preset = import_command("ioping -c 10 -i 200ms -s 16k -S 1g -w 5 -q -P 1s .", name="mine").preset
    assert preset.name == "mine" and preset.title == "16K rand read ioping 5/s"
    assert {p.name: p.default for p in preset.parameters} == {
        "count": "10", "interval": "200ms", "runtime": "5", "size": "1g",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("ioping -W -c 5 x", "it writes"),
        ("ioping -WWW -c 5 /dev/sda", "it writes"),
        ("ioping -S 1k -c 5 x", "less than one request of 4k"),
        ("ioping -D -s 513 -c 5 x", "multiples of 512"),
        ("ioping -Gc5 x", "it writes"),
        ("ioping -kc5 x", "leaves a file behind"),
        ("ioping -t 1ms -c 5 x", "missing in the result"),
        ("ioping -H -c 5 x", "high priority"),
        ("ioping x", "would never end"),
        ("ioping -c '\x1c10' x", "control character"),
        ("ioping -z x", "not an ioping option"),
        ("ioping --nosuch x", "not an ioping option"),
        ("ioping -c", "needs a value"),
        ("ioping -c ten x", "not a whole number"),
        ("ioping -s 4kb -c 1 x", "ambiguous"),
        ("ioping -v", "it is no test"),
    ],
)
def test_what_ioping_would_do_and_a_preset_does_not_is_refused(command: str, reason: str) -> None:
    with pytest.raises(PresetError) as caught:
        import_command(command)
    assert reason in str(caught.value)


def test_the_time_over_which_a_least_rate_holds_is_kept() -> None:
    imported = import_command("fio --name=a --rw=randread --bs=4k --rate=5m --ratemin=1m --ratecycle=500")
    assert imported.notes == ()
    assert options(imported)["rate_cycle"] == "500"


def test_readonly_beside_a_job_that_writes_is_refused_as_fio_does() -> None:
    assert "--readonly is refused: a job writes" in refused("fio --readonly --name=a --rw=randrw --size=1g")
    assert options(import_command("fio --readonly --name=a --rw=randread --size=1g"))["rw"] == "randread"
