"""A fio job file -> a preset: sections, what [global] gives, which jobs run together, what is left out, what is refused."""

import re
from pathlib import Path

import pytest

from diskprof.model.errors import PresetError
from diskprof.model.preset import OWN_FILES, Category, Preset
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import preset_toml
from diskprof.presets.foreign.imported import MOST_JOBS, MOST_TESTS, ImportedPreset
from diskprof.presets.foreign.jobfile import LARGEST_FILE, import_job_file, import_job_text, looks_like_job_file
from diskprof.presets.resolve import resolve


def imported(text: str, *, several: bool = False) -> ImportedPreset:
    return import_job_text(text.encode(), Path("some/job.fio"), several=several)


def jobs(text: str) -> list[dict[str, str]]:
    """Every job's options, test by test, in their normal form."""
    return [dict(job.options) for test in resolve(imported(text).preset, {}).tests for job in test.jobs]


def job(options: str) -> dict[str, str]:
    (found,) = jobs(f"[a]\n{options}\n")
    return found


def groups(text: str) -> list[list[str]]:
    """The names of the jobs that run together."""
    return [[job.name for job in test.jobs] for test in imported(text).preset.tests]


def refusal(text: str) -> str:
    with pytest.raises(PresetError) as caught:
        imported(text)
    return f"{caught.value.message}\n{caught.value.hint}"


def test_a_job_file_becomes_a_preset_of_ones_own() -> None:
    preset = imported("[random read]\nrw=randread\nbs=4k\nsize=1g\nruntime=30\niodepth=8\nioengine=libaio\n").preset
    assert (preset.name, preset.category, preset.shipped) == ("job", Category.OWN, False)
    assert preset.source == "fio job file job.fio"
    assert [test.name for test in preset.tests] == ["random-read"]
    assert preset.title == "4K rand read buffered QD8"
    assert {p.name: p.default for p in preset.parameters} == {"size": "1g", "runtime": "30s"}
    assert dict(resolve(preset, {"size": "8m", "runtime": "2"}).tests[0].jobs[0].options) == {
        "rw": "randread", "bs": "4096", "size": str(8 << 20), "runtime": "2", "iodepth": "8", "ioengine": "libaio",
    }  # fmt: skip


def test_global_options_count_for_the_jobs_behind_them() -> None:
    text = "[global]\nbs=4k\nrw=read\n[a]\n[global]\nbs=8k\n[b]\nrw=write\n[globally]\nbs=16k\n[c]\n"
    found = jobs(text)
    assert [(have["bs"], have["rw"]) for have in found] == [("4096", "read"), ("8192", "write"), ("16384", "read")]


@pytest.mark.parametrize(
    "line",
    [
        "bs=8k ; a comment",
        "bs=8k # a comment",
        "bs=8k;# both",
        "   bs=8k   ",
        "\tbs=8k\t\r",
        "bs =8k",
        "blocksize=8k",
        "bs=4k\nbs=8k",
        "bs=4k\nblocksize=8k",
    ],
)
def test_lines_are_read_as_fio_reads_them(line: str) -> None:
    assert job(f"rw=read\n{line}\n; bs=1k\n#bs=2k\n \n")["bs"] == "8192"


def test_synonyms_become_the_first_name() -> None:
    found = job(
        "readwrite=readwrite\nblocksize=8k\ntimeout=5\nio_limit=1m\nfileoffset=4k\nsize=1m\niodepth_batch_submit=2"
    )
    assert found == {
        "rw": "rw", "bs": "8192", "runtime": "5", "io_size": str(1 << 20), "offset": "4096", "size": str(1 << 20),
        "iodepth_batch": "2",
    }  # fmt: skip


def test_an_option_without_a_value_is_on_where_fio_has_it_so() -> None:
    assert job("norandommap\ngroup_reporting\nrefill_buffers=0\nrw=randread\ntime_based\nruntime=1") == {
        "norandommap": "1", "group_reporting": "1", "refill_buffers": "0", "rw": "randread", "time_based": "1", "runtime": "1",
    }  # fmt: skip
    assert "direct has no value" in refusal("[a]\ndirect\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("rwmixread=70\nrwmixwrite=40", {"rwmixwrite": "40"}),
        ("rwmixwrite=40\nrwmixread=70", {"rwmixread": "70"}),
        ("direct=1\nbuffered=1", {"direct": "0"}),
        ("buffered=0", {"direct": "1"}),
        ("runtime=0\nrate=0\nio_size=0", {}),
        ("rate=1m\nrate=0", {}),
        ("time_based", {}),
        ("filesize=8m", {"size": str(8 << 20)}),
        ("filesize=8m\nsize=8192k", {"size": str(8 << 20)}),
        ("size=100%", {}),
        ("sync=none\nfallocate=1", {"sync": "0", "fallocate": "posix"}),
    ],
)
def test_what_counts_of_options_that_touch_each_other(options: str, expected: dict[str, str]) -> None:
    assert job(options) == expected


def test_a_global_value_can_be_taken_back() -> None:
    assert jobs("[global]\nrate=1m\nsize=1m\n[a]\nrate=0\n[b]\n") == [
        {"size": str(1 << 20)},
        {"rate": str(1 << 20), "size": str(1 << 20), "new_group": "1"},
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a]\n[b]\n", [["a", "b"]]),
        ("[a]\n[b]\nstonewall\n", [["a"], ["b"]]),
        ("[a]\nstonewall\n[b]\n[c]\nwait_for_previous\n[d]\n", [["a", "b"], ["c", "d"]]),
        ("[global]\nstonewall\n[a]\n[b]\n", [["a"], ["b"]]),
        ("[global]\nstonewall\n[a]\n[b]\nstonewall=0\n", [["a", "b"]]),
        ("[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n", [["a"], ["b"], ["c"]]),
        ("[a]\n[b]\nwait_for=a\n[c]\nstonewall\n[d]\n", [["a"], ["b"], ["c", "d"]]),
        ("[a]\n[b]\n[c]\nwait_for=a\nstonewall\n", [["a", "b"], ["c"]]),
        ("[a]\n[a]\n[a]\nstonewall\n", [["a", "a-2"], ["a"]]),
    ],
)
def test_a_stonewall_begins_a_test(text: str, expected: list[list[str]]) -> None:
    assert groups(text) == expected


def test_tests_are_named_after_their_jobs_and_apart() -> None:
    preset = imported("[a]\n[b]\n[a-b]\nstonewall\n[a-b]\nstonewall\n").preset
    assert [test.name for test in preset.tests] == ["a-b", "a-b-2", "a-b-3"]
    many = "".join(f"[job number {n}]\nrw=read\n" for n in range(20))
    (test,) = imported(many).preset.tests
    assert test.name == "job-number-0-and-19-more" and len(test.title) <= 80


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("[4 KiB, random!]", "4-KiB-random"),
        ("[]", "job"),
        ("[--]", "job"),
        ("[\x1b[31mred]", "31mred"),
        ("[größe]", "gr-e"),
        ("[日本]", "job"),
        ("[a] behind it", "a-behind-i"),
        (f"[{'x' * 300}]", "x" * 64),
    ],
)
def test_any_section_gives_a_name_that_a_preset_may_have(section: str, expected: str) -> None:
    assert groups(f"{section}\nrw=read\n") == [[expected]]


def test_a_name_option_names_the_job_but_not_from_global() -> None:
    assert groups("[global]\nname=all\n[a]\nname=reader\n[b]\n") == [["reader", "b"]]
    assert groups("[a]\nname=global-reader\n") == [["job-global-reader"]]


def test_descriptions_become_titles() -> None:
    assert imported("[global]\ndescription=What it is\n[a]\n[b]\nstonewall\n").preset.title == "What it is"
    preset = imported("[a]\ndescription=One\n[b]\nstonewall\ndescription=Two\n[c]\nstonewall\n").preset
    assert [test.title for test in preset.tests] == ["One", "Two", ""]
    assert preset.title == "3 tests of job"


def test_what_is_left_out_is_said_with_line_and_reason() -> None:
    notes = imported(
        "[global]\nfilename=/dev/sdb\nwrite_bw_log=log\n[a]\nthread\nsize=1m\n[b]\nstonewall\ncpus_allowed=0-1\n"
    ).notes
    assert notes == (
        "some/job.fio:2: filename=/dev/sdb is left out: the target is chosen at run time.",
        "some/job.fio:3: write_bw_log=log is left out: diskprof keeps every sample itself, and writes no other file.",
        "some/job.fio:5: thread is left out: diskprof runs the jobs of a test as threads of one process.",
        "some/job.fio:9: cpus_allowed=0-1 is left out: "
        "the kernel chooses the processors and the memory; the disk I/O stays the same.",
    )


def test_what_changes_nothing_is_left_out_without_a_word() -> None:
    text = "[a]\nzonemode=none\nnrfiles=1\nverify=0\nverify_only=0\nunlink=0\ncreate_only=0\ngtod_reduce=0\nexitall=0\n"
    assert imported(text).notes == ()


def test_options_that_tie_jobs_together_go_where_a_job_is_alone() -> None:
    assert "prioclass=2 is left out: no other job runs beside this one" in imported("[a]\nprioclass=2\n").notes[0]
    assert "prioclass=2 is refused: it ties the jobs" in refusal("[a]\nprioclass=2\n[b]\n")
    assert groups("[a]\nexitall\n[b]\nstonewall\nflow=8\n") == [["a"], ["b"]]
    assert "exitall is refused" in refusal("[a]\nexitall\nnumjobs=2\n")
    assert groups("[a]\nexitall\nnumjobs=2\ntime_based\nruntime=1\n") == [["a"]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("exec_prerun=rm -rf /", "it runs a program"),
        ("exec_postrun=/bin/true", "it runs a program"),
        ("ioengine=exec", "it runs a program"),
        ("ioengine=external:/tmp/x.so", "it runs a program"),
        ("ioengine=/tmp/x.so", "is not an allowed value"),
        ("ioengine=splice", "the requests take another way"),
        ("ioengine=windowsaio", "Linux has no such engine"),
        ("ioengine=net", "it leaves the target"),
        ("ioengine=sg", "could destroy data"),
        ("include /etc/passwd", "it reads another file"),
        ("include=x", "it reads another file"),
        ("uid=0", "who fio runs as"),
        ("gid=0", "who fio runs as"),
        ("cgroup=a", "changes the machine"),
        ("ioscheduler=none", "changes the machine"),
        ("read_iolog=trace", "it replays a log"),
        ("merge_blktrace_file=x", "it replays a log"),
        ("profile=tiobench", "it runs a program"),
        ("opendir=/etc", "whatever files a directory has"),
        ("directory=/a:/b\nfilename=x", "the copies share files by name"),
        ("filename=/a/x:/a/y:/b/z", "more files in one place"),
        ("filename=x:y\nnrfiles=3", "beside 2 file names"),
        ("filesize=1m-2m", "the files of a job have one size here"),
        ("filesize=1m\nsize=2m", "beside a size"),
        ("rw=trim", "it discards data"),
        ("rw=randtrimwrite", "it discards data"),
        ("trim_percentage=10", "it discards data"),
        ("rw=read:8k", "chooses offsets"),
        ("rw=randread:4", "chooses offsets"),
        ("zonemode=zbd", "zone"),
        ("verify=crc32c", "a check of data"),
        ("fill_device=1", "it fills the disk"),
        ("unlink_each_loop=1", "a new file for every loop"),
        ("create_only=1", "measures nothing"),
        ("io_submit_mode=offload", "another way to the disk"),
        ("hipri", "another way to the disk"),
        ("latency_run=1", "keeps the job going"),
        ("buffer_pattern='/etc/passwd'", "what is written matters"),
        ("lockmem=1g", "changes the machine"),
        ("wait_for=b", "stonewall waits for all"),
        ("size=150%", "is not a size"),
        ("io_size=50%", "depends on the target"),
        ("rw=randrw\nrwmixread=70%", "Leave the percent sign out"),
        ("bs=", "has no value"),
        ("rate=,", "has no value"),
        ("bs=${BLOCK}", "not filled in"),
        ("numjobs=$ncpus", "not filled in"),
        ("size=$mb_memory*2", "not filled in"),
        ("iodepth=`id`", "not filled in"),
        ("size=(1+1)", "arithmetic"),
        ("stonewall=2", "neither 0 nor 1"),
        ("kb_base=1000000", "neither 1000 nor 1024"),
        ("output=x", "of a command line"),
        ("trigger=reboot", "of a command line"),
        ("--bs=4k", "In a job file options have none"),
        ("blok=4k", "Did you mean"),
        ("rate=1m\nrate_iops=10", "exclude each other"),
        ("size=1k\nbs=4k", "less than one request"),
        ("direct=1\nbs=1000", "O_DIRECT"),
        ("iodepth=100000", "out of range"),
    ],
)
def test_what_a_preset_cannot_say_is_refused_with_file_and_line(line: str, reason: str) -> None:
    found = refusal(f"[a]\n{line}\n")
    assert reason in found
    assert re.match(r"some/job\.fio:[1-3]: ", found) or "\n  line " in found


@pytest.mark.parametrize(
    "text", ["include x", "; a comment\n\ninclude x\n[a]\nsize=1m\n", "include x\n[a]\nfilename=/b\n"]
)
def test_a_file_that_begins_with_an_include_is_refused_as_one_further_down_is(text: str) -> None:
    found = refusal(text)
    assert "'include x' is refused: it reads another file. Put the lines here." in found
    assert found.startswith(f"some/job.fio:{3 if text.startswith(';') else 1}: ")


def test_an_environment_variable_in_what_is_left_out_does_not_matter() -> None:
    notes = imported("[a]\nfilename=${TARGET}\ndirectory=$HOME\nrw=read\n").notes
    assert "filename=${TARGET} is left out" in notes[0] and len(notes) == 2


def test_all_that_stands_in_the_way_is_said_at_once() -> None:
    found = refusal("[a]\nverify=md5\nuid=0\n[b]\nstonewall\nzonesize=1m\n")
    assert found.startswith("some/job.fio cannot be imported:\n  line 2: verify=md5 is refused")
    assert "line 3: uid=0" in found and "line 6: zonesize=1m" in found
    found = refusal("[a]\nuid=0\nioengine=rbd\nverify=md5\n")
    assert [line.split(":")[0] for line in found.splitlines()[1:]] == ["  line 2", "  line 3", "  line 4"]
    assert "and 12 more" in refusal("[a]\n" + "".join(f"option{n}=1\n" for n in range(20)))


def test_options_of_an_engine_that_cannot_be_used_are_not_told_apart() -> None:
    found = refusal("[a]\nioengine=rbd\npool=rbd\nclientname=admin\n")
    assert found.startswith("some/job.fio:2: ioengine=rbd is not allowed") and "pool" not in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no job"),
        ("; nothing\n", "has no job"),
        ("[global]\nrw=read\n", "has no job"),
        ("rw=read\n[a]\n", ":1: 'rw=read' stands before the first section"),
        ("[a]\n[\n", ":2: a section has a name"),
        ("[a]\nrw=read\0\n", ":2: this is not a line"),
        (f"[a]\nfilename={'x' * 9000}\n", ":2: this is not a line"),
        ("[a]\n" + "[b]\n" * MOST_JOBS, "number of parallel jobs"),
        ("[a]\n" + "[b]\nstonewall\n" * MOST_TESTS, "more than 200 tests"),
        ("[a]\n" * 1001, "more than 1000 jobs"),
        ("[a]\n" + "# \n" * LARGEST_FILE, "larger than 128 KiB"),
    ],
)
def test_what_is_no_job_file_is_refused(text: str, message: str) -> None:
    assert message in refusal(text)


def test_a_preset_at_the_limits_can_be_written_and_read() -> None:
    for text in ("[b]\nsize=1m\n" * MOST_JOBS, "[b]\nsize=1m\nstonewall\n" * MOST_TESTS):
        preset = imported(text).preset
        assert isinstance(parse(preset_toml(preset).encode(), Path("job.toml"), shipped=False), Preset)


SEVERAL = "[global]\nsize=1m\n[reader1]\nrw=randread\ndirectory=/mnt/readcache\n[writer1]\nrw=randwrite\ndirectory=/mnt/no cache\n"


def test_jobs_in_different_places_share_the_target_with_a_note() -> None:
    found = imported(SEVERAL)
    assert found.preset.targets == () and {job.targets for job in found.preset.tests[0].jobs} == {()}
    assert any(
        "reader1 in /mnt/readcache; writer1 in /mnt/no cache" in note
        and "--target readcache=PATH --target no-cache=PATH" in note
        for note in found.notes
    )
    assert {job.files for job in found.preset.tests[0].jobs} == {OWN_FILES}


def test_jobs_in_different_places_get_a_target_each_where_that_is_asked_for() -> None:
    found = imported(SEVERAL, several=True)
    assert [slot.name for slot in found.preset.targets] == ["readcache", "no-cache"]
    assert [job.targets for job in found.preset.tests[0].jobs] == [("readcache",), ("no-cache",)]
    assert not any("share" in note for note in found.notes)


@pytest.mark.parametrize(
    ("places", "slots"),
    [
        (("filename=/dev/sdb", "filename=/dev/sdc"), ["sdb", "sdc"]),
        (("filename=/mnt/a/x", "filename=/mnt/a/y"), []),
        (("filename=/mnt/a/x", "directory=/mnt/a"), []),
        (("directory=/mnt/a\nfilename=x", "directory=/mnt/b\nfilename=x"), ["a", "b"]),
        (("directory=/a/data", "directory=/b/data"), ["data", "data-2"]),
        (("directory=/", "directory=/mnt"), ["target", "mnt"]),
        (("filename=${A}", "filename=${B}"), []),
    ],
)
def test_places_are_told_apart_by_directory_and_device(places: tuple[str, str], slots: list[str]) -> None:
    first, second = places
    preset = imported(f"[a]\n{first}\n[b]\n{second}\n", several=True).preset
    assert [slot.name for slot in preset.targets] == slots


def test_a_file_that_cannot_be_read_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(PresetError, match=r"none\.fio is not a file"):
        import_job_file(tmp_path / "none.fio")
    with pytest.raises(PresetError, match="is not a file"):
        import_job_file(tmp_path)
    large = tmp_path / "large.fio"
    large.write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(PresetError, match="larger than 128 KiB"):
        import_job_file(large)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"[a]\nrw=read\n", True),
        (b"; comment\n\n  [a b]\n", True),
        (b"rw=read\n", False),
        (b"x = [1]\n", False),
        (b"\x7fELF\0[a]\n", False),
        (b"", False),
    ],
)
def test_a_job_file_has_a_section(data: bytes, expected: bool) -> None:
    assert looks_like_job_file(data) is expected


def test_a_byte_order_mark_and_foreign_bytes_do_no_harm() -> None:
    found = import_job_text(b"\xef\xbb\xbf[a\xff]\r\nrw=read\r\nfilename=\xfe\x1b[31m\r\n", Path("a.fio"))
    assert [job.name for job in found.preset.tests[0].jobs] == ["a"]
    assert "\x1b" not in found.notes[0] and found.notes[0].isprintable()
