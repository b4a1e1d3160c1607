"""The command line as a person or a script meets it: streams, exit codes, errors that say what to do."""

import json
import os
import pty
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from asking import Terminal
from forked import diskprof, diskprof_json
from msgspec.structs import replace
from program import DISKPROF, environment
from program import diskprof as from_scratch
from recorded import write_library
from recorded.disk import make_plan

from diskprof.cli.starting import _next_steps, _next_steps_of_series, _show
from diskprof.model.plan import Hazard, Severity
from diskprof.store import Store


@pytest.fixture
def library(tmp_path: Path) -> list[str]:
    """A store with recorded runs, newest first."""
    path = tmp_path / ".local/share/diskprof/runs.db"
    write_library(path)
    with Store.open(path) as store:
        return [summary.id for summary in store.summaries()]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("run", "quikc", "."), 2, "quick"),
        (("run", "quick", "/no/such/place"), 2, "/no/such/place"),
        (("run", "quick", ".", "--set", "sise=1g"), 2, "size"),
        (("run", "quick", ".", "--set", "size=lots"), 2, "lots"),
        (("run", "quick", ".", "--set", "size"), 2, "NAME=VALUE"),
        (("run", "quick", ".", "--set", "runtime=0"), 2, "runtime"),
        (("run", "quick", ".", "--set", "size=900000t"), 4, "879 PiB"),
        (("run", "quick", ".", "--class", "sata"), 2, "no disk class 'sata'.\nClasses: sata-ssd.\n"),
        (("run", "quick", ".", "--expect", "sata"), 2, "invalid expectation 'sata'"),
        (("run", "soak", ".", "--expect", "sata-ssd"), 2, "diskprof presets classes sata-ssd"),
        (("presets", "classes", "gp3"), 2, "aws-gp3"),
        (("run", "quick", "/dev/null"), 2, "/dev/null"),
        (("limit", ".", "--keep", "read.p99<=5ms", "--set", "keep=read.p99<=9ms"), 2, "Omit --set keep.\n"),
        (("limit", ".", "--keep", "read.p99<=5ms", "--depth", "8", "--set", "depth=3"), 2, "Omit --set depth.\n"),
        (("run", "quick", ".", "--set", "size=8e"), 2, "8e"),
        (("run", "/"), 2, "/ is a directory, not a preset.\nThe preset comes first: diskprof run quick /\n"),
        (("run", "/", "soak"), 2, "diskprof run soak /\n"),
        (("run", "soak", ".", "--variant", ""), 2, "'--variant': it is empty"),
        (("presets", "export", "soak", "--variant", ""), 2, "'--variant': it is empty"),
        (("presets", "import", "--command", "fio --name=a --rw=read", "--output", ""), 2, "'--output': it is empty"),
        (("rnu",), 2, "run"),
        (("soak", "."), 2, "soak is a preset: diskprof run soak DIRECTORY"),
        (("show", "nothing"), 2, "nothing"),
        (("show", "latest~x"), 2, "latest~x"),
        (("show", "--plot", "--json"), 2, "exclude each other"),
        (("compare", "latest"), 2, "run"),
        (("delete", "latest"), 2, "run"),
        (("attach",), 2, "No run"),
        (("stop",), 2, "No run"),
        (("report", "latest", "-o", "/no/such/dir/x.md"), 2, ""),
        (("run", "azure-max-throughput", "--target", "cache=.", "--target", "cache=/tmp"), 2, "twice"),
        (("run", "azure-max-throughput", ".", "--target", "cache=.", "--target", "nocache=/tmp"), 2, "2 targets"),
        (("run", "azure-max-throughput", "nope", "--target", "cache=.", "--target", "nocache=/tmp"), 2, "not exist"),
        (("run", "quick", ".", "--expect", "seqread-1m-qd8.write.iops>1"), 2, "never writes"),
        (("run", "quick", ".", "--expect", "read.iops>1"), 2, "Write TEST.read.iops. Tests: randread-4k-qd1, "),
        ((), 2, "ssh -t"),
        (("--store", "/proc/nothing/runs.db", "runs"), 1, "/proc/nothing"),
        (("--store", "", "runs"), 2, "'--store': the name is empty"),
        (("report", "latest", "-o", ""), 2, "the name is empty"),
        (("export", "latest", "-o", ""), 2, "the name is empty"),
    ],
)
def test_a_mistake_is_answered_in_words_with_its_exit_code(
    tmp_path: Path, words: tuple[str, ...], code: int, says: str
) -> None:
    done = diskprof(*words, home=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout
    assert not list(tmp_path.glob(".diskprof-*"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ls",), "diskprof: There is no command 'ls'. `diskprof --help` lists the commands.\n"),
        (("run", "quik", "."), "diskprof: There is no preset 'quik'.\nDid you mean quick?\n"),
        (
            ("run",),
            "diskprof: Missing argument 'PRESET'.\nUsage: diskprof run [OPTIONS] PRESET [TARGET]...\n"
            "More: diskprof run --help\n",
        ),
        (
            ("runs", "-n", "x"),
            "diskprof: Invalid value for '--limit' / '-n': 'x' is not a valid integer range.\nUsage: ",
        ),
    ],
)
def test_all_errors_have_one_form(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    done = diskprof(*words, home=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(says)


def test_messages_break_at_words_on_a_terminal(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "run", "quick", "/no/such/place/" + "x" * 20, columns=50)
    assert terminal.end() == 2
    lines = terminal.seen.splitlines()
    assert len(lines) > 1 and all(len(line) <= 50 for line in lines)
    once = diskprof("run", "quick", "/no/such/place/" + "x" * 20, home=tmp_path).stderr
    assert "".join(terminal.seen.split()) == "".join(once.split())
    assert not {word for line in lines for word in line.split()} - set(once.split())


def test_the_end_of_a_run_says_what_can_be_done_next(library: list[str], tmp_path: Path) -> None:
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        runs = store.summaries()
        newest = next(index for index, run in enumerate(runs) if run.preset == "quick" and run.status == "complete")
        before = next(run for run in runs[newest + 1 :] if run.preset == "quick")
    assert _next_steps(runs[newest:]) == (
        f"Next: diskprof compare {before.id} latest | show latest --plot | report latest -o report.md"
    )
    assert _next_steps(runs[-1:]) == "Next: diskprof rerun latest | show latest --plot | report latest -o report.md"
    assert _next_steps_of_series("s1", several=True) == "Next: diskprof compare s1 | show s1 | report s1 -o report.md"
    assert _next_steps_of_series("s1", several=False) == "Next: diskprof show s1 | report s1 -o report.md"


def test_a_typing_error_that_a_directory_is_called_like_is_still_one(tmp_path: Path) -> None:
    (tmp_path / "quikc").mkdir()
    done = diskprof("run", "quikc", ".", home=tmp_path)
    assert done.returncode == 2 and "Did you mean quick?" in done.stderr


@pytest.mark.parametrize("given", [(), ("--quick",), ("--variant", "quick"), ("--quick", "--variant", "quick")])
def test_quick_is_a_variant_like_another(tmp_path: Path, given: tuple[str, ...]) -> None:
    plan = diskprof_json("run", "soak", tmp_path, *given, "--dry-run", "--json", home=tmp_path)
    assert plan["parameters"]["runtime"] == ("120s" if given else "86400s")


def test_a_line_for_nagios_ends_each_of_its_sentences(tmp_path: Path) -> None:
    done = diskprof("run", "quick", tmp_path, "--nagios", "--expect", "randread-4k-qd1.read.iops>=1e9", home=tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith("DISKPROF UNKNOWN - '1e9' is not a valid iops. Write ")


def test_more_runs_are_asked_for_than_a_store_can_count(tmp_path: Path, library: list[str]) -> None:
    done = diskprof("runs", "-n", "9" * 30, "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [run["id"] for run in json.loads(done.stdout)] == library


def test_a_directory_that_may_not_be_written(tmp_path: Path) -> None:
    done = diskprof("run", "quick", "/sys/kernel", home=tmp_path)
    assert done.returncode in (2, 4)
    assert "/sys/kernel" in done.stderr and "Traceback" not in done.stderr


def test_no_room_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    space = os.statvfs(tmp_path)
    wanted = space.f_bavail * space.f_frsize // 2**20
    done = diskprof("run", "quick", tmp_path, "--set", f"size={wanted}m", home=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "free" in done.stderr
    assert not list(tmp_path.glob(".diskprof-*"))


def test_a_dry_run_prints_the_plan_and_does_nothing(tmp_path: Path) -> None:
    done = diskprof("run", "quick", tmp_path, "--set", "size=64m", "--dry-run", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "--rw=randread" in done.stdout and "64 MiB" in done.stdout
    plan = diskprof_json("run", "quick", tmp_path, "--set", "size=64m", "--dry-run", "--json", home=tmp_path)
    assert plan["space_needed"] == 64 * 2**20
    assert all(test["argv"][0].endswith("fio") for test in plan["tests"])
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".diskprof")] == []
    assert diskprof("runs", home=tmp_path).stdout == ""


def test_a_name_that_is_not_utf8_survives_the_plan_and_its_json(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/odd-\xff"
    os.mkdir(odd)  # noqa: PTH102
    plan = diskprof_json("run", "quick", os.fsdecode(odd), "--dry-run", "--json", home=tmp_path)
    assert "odd-" in plan["target"]["path"]


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    done = diskprof("runs", home=tmp_path)
    assert done.returncode == 0 and not done.stdout
    assert "diskprof run" in done.stderr
    assert diskprof_json("runs", "--json", home=tmp_path) == []


def test_recorded_runs_are_listed_shown_compared_and_reported(tmp_path: Path, library: list[str]) -> None:
    listed = diskprof_json("runs", "--json", home=tmp_path)
    assert [run["id"] for run in listed] == library
    # Nothing is cut where it may be searched.
    rows = diskprof("runs", home=tmp_path).stdout.splitlines()
    for run, row in zip(listed, rows[2:], strict=True):
        assert run["target"] in row and run["headline"] in row and all(tag in row for tag in run["tags"])
    assert not any(mark in row for row in rows for mark in ("..", "…"))
    complete = [run["id"] for run in listed if run["status"] == "complete" and run["preset"] == "quick"]
    shown = diskprof_json("show", complete[0], "--json", home=tmp_path)
    assert {"id", "status", "preset", "target", "environment", "findings", "tests"} <= shown.keys()
    by_beginning = diskprof_json("show", complete[0][:6], "--json", home=tmp_path)
    assert by_beginning == shown
    text = diskprof("show", complete[0], "--plot", home=tmp_path).stdout
    assert "4K rand read QD1" in text
    compared = diskprof_json("compare", *complete[:2], "--format", "json", home=tmp_path)
    assert compared and compared == diskprof_json("compare", *complete[:2], "--json", home=tmp_path)
    report = tmp_path / "report.md"
    assert diskprof("report", *complete[:2], "-o", report, home=tmp_path).returncode == 0
    markdown = report.read_text()
    assert all(run_id in markdown for run_id in complete[:2])
    assert diskprof("compare", *complete[:2], "--format", "markdown", home=tmp_path).stdout == markdown


def test_a_class_of_the_disk_is_chosen_and_told_with_its_documents(tmp_path: Path, library: list[str]) -> None:
    run = next(
        each["id"]
        for each in diskprof_json("runs", "--json", home=tmp_path)
        if each["preset"] == "quick" and each["status"] == "complete" and not each["doubts"]
    )
    shown = diskprof("show", run, "--class", "nvme-pcie3", home=tmp_path).stdout
    assert "Against its class: NVMe SSD, PCIe 3.0 (chosen)" in shown
    found = diskprof_json("show", run, "--class", "nvme-pcie3", "--json", home=tmp_path)["disk_class"]
    assert (found["name"], found["chosen"], found["unknown"]) == ("nvme-pcie3", True, None)
    assert {one["position"] for one in found["standings"]} <= {"below", "within", "above"} and found["standings"]
    assert all(one["sources"][0].startswith("http") for one in found["standings"])
    page = diskprof("report", run, "--class", "nvme-pcie3", home=tmp_path).stdout
    assert "2026-11-25" in page and "digit.in" in page
    refused = diskprof("report", run, "--class", "nvme-pcie3", "--format", "csv", home=tmp_path)
    assert refused.returncode == 2 and "--class is for" in refused.stderr
    told = diskprof_json("presets", "classes", "aws-gp3", "--json", home=tmp_path)
    assert told[0]["figures"][0]["sources"][0]["read"] == "2026-11-25"


def test_a_report_is_what_its_file_name_says(tmp_path: Path, library: list[str]) -> None:
    page, table = tmp_path / "disk.HTML", tmp_path / "disk.csv"
    assert diskprof("report", library[-1], "-o", page, home=tmp_path).returncode == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert diskprof("report", library[-1], "-o", table, home=tmp_path).returncode == 0
    assert b"\r\n" in table.read_bytes()
    assert table.read_text() == diskprof("report", library[-1], "--format", "csv", home=tmp_path).stdout
    short, whole = (
        diskprof("report", library[-1], "--format", form, home=tmp_path).stdout for form in ("md", "markdown")
    )
    assert short == whole and short.startswith("# ")
    both = [diskprof("compare", *library[-2:], "--format", form, home=tmp_path).stdout for form in ("md", "markdown")]
    assert both[0] == both[1] and both[0].startswith("# ")
    assert diskprof("report", library[-1], "-o", page, "--format", "samples", home=tmp_path).returncode == 0
    assert page.read_text().startswith("run,test,phase,")


@pytest.mark.parametrize(
    ("name", "says"), [("disk.pdf", "as .pdf"), ("disk.XLSX", "as .xlsx"), ("d.json", "show RUN --json")]
)
def test_a_report_in_a_form_that_there_is_not(tmp_path: Path, library: list[str], name: str, says: str) -> None:
    done = diskprof("report", library[-1], "-o", tmp_path / name, home=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr and ".md, .html or .csv" in done.stderr
    assert not (tmp_path / name).exists()
    # Who says as what may call the file what they like.
    assert diskprof("report", library[-1], "-o", tmp_path / name, "--format", "markdown", home=tmp_path).returncode == 0
    assert (tmp_path / name).read_text().startswith("# ")


def test_runs_are_tagged_named_by_tag_and_deleted(tmp_path: Path, library: list[str]) -> None:
    run_id = library[-1]
    assert diskprof("tag", run_id, "first vendor-a, prod", "x", "--note", "old host", home=tmp_path).returncode == 0
    shown = diskprof_json("show", "vendor-a", "--json", home=tmp_path)
    assert shown["id"] == run_id and shown["note"] == "old host"
    said = diskprof("tag", run_id, "--remove", "x", home=tmp_path).stdout
    assert said == diskprof("tag", run_id, home=tmp_path).stdout == "baseline first vendor-a prod\n"
    untagged = diskprof("tag", library[1], home=tmp_path)
    assert (untagged.stdout, untagged.stderr) == ("", f"Run {library[1]} has no tags.\n")
    assert diskprof("delete", run_id, home=tmp_path).returncode == 2
    assert diskprof("delete", run_id, "--yes", home=tmp_path).returncode == 0
    assert diskprof("show", run_id, home=tmp_path).returncode == 2


def test_deleted_runs_are_in_the_trash_until_they_are_purged(tmp_path: Path, library: list[str]) -> None:
    first, second, third = library[-3:]
    before = diskprof_json("runs", "--json", home=tmp_path)
    done = diskprof("delete", first, second, "--yes", home=tmp_path)
    assert done.stderr == f"Deleted {first}, {second}. Undo: diskprof undelete\n"
    assert diskprof("delete", third, "--yes", home=tmp_path).returncode == 0
    trashed = diskprof_json("runs", "--trash", "--json", home=tmp_path)
    assert [run["id"] for run in trashed] == [third, first, second]
    assert set(trashed[0]) == set(before[0])
    assert diskprof("undelete", third[:5], home=tmp_path).stderr == f"Restored {third}.\n"
    assert diskprof("undelete", home=tmp_path).returncode == 0
    assert diskprof_json("runs", "--json", home=tmp_path) == before
    assert diskprof("undelete", home=tmp_path).stderr == "The trash is empty.\n"
    diskprof("delete", first, second, "--yes", home=tmp_path)
    purged = diskprof("delete", "--purge", first, third, "--yes", home=tmp_path)
    assert purged.stderr == f"Deleted {first}, {third} for good.\n"
    assert diskprof("delete", "--purge", "--yes", home=tmp_path).stderr == f"Deleted {second} for good.\n"
    for run_id in (first, second, third):
        assert diskprof("undelete", run_id, home=tmp_path).returncode == 2
    assert len(diskprof_json("runs", "--json", home=tmp_path)) == len(before) - 3


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path, library: list[str]) -> None:
    import subprocess

    command = " ".join([*DISKPROF, "presets", "--json"]) + " | true; exit ${PIPESTATUS[0]}"
    done = subprocess.run(["bash", "-c", command], env=environment(tmp_path), capture_output=True, text=True)
    assert not done.stderr


@pytest.mark.parametrize("words", ["--version", "presets", "presets --json", "runs", "export baseline"])
def test_a_result_that_cannot_be_written_is_said(tmp_path: Path, library: list[str], words: str) -> None:
    import subprocess

    command = " ".join([*DISKPROF, words]) + " >/dev/full"
    done = subprocess.run(["bash", "-c", command], env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "diskprof: The result cannot be written: No space left on device.\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_nothing_to_fail_of(tmp_path: Path, library: list[str], closed: str) -> None:
    import subprocess

    for words, code in (("runs", 0), ("run quick nowhere", 2), ("run quick . --set size=0", 2)):
        command = " ".join([*DISKPROF, words, closed])
        done = subprocess.run(["bash", "-c", command], env=environment(tmp_path), capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr


def test_the_store_is_private(tmp_path: Path) -> None:
    store = tmp_path / "kept" / "runs.db"
    assert diskprof("--store", store, "runs", home=tmp_path).returncode == 0
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_show_the_screen_is_told_so_at_once(tmp_path: Path, term: str) -> None:
    import subprocess

    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            DISKPROF,
            env=environment(tmp_path, TERM=term),
            stdin=theirs,
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert "diskprof run" in done.stderr


def test_help_names_every_command_and_the_exit_codes(tmp_path: Path) -> None:
    text = diskprof("--help", home=tmp_path).stdout
    for word in (
        "devices",
        "presets",
        "run",
        "runs",
        "show",
        "attach",
        "stop",
        "compare",
        "report",
        "delete",
        "doctor",
        "130",
    ):
        assert word in text
    assert diskprof("--version", home=tmp_path).stdout.startswith("diskprof ")


def test_ctrl_c_while_the_program_loads_ends_it_without_a_word(tmp_path: Path) -> None:
    """As if it was pressed the moment click is loaded."""
    (tmp_path / "click").mkdir()
    (tmp_path / "click/__init__.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = from_scratch("--version", home=tmp_path, PYTHONPATH=path)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_ctrl_c_that_was_ignored_stays_ignored(tmp_path: Path) -> None:
    """As a shell has it for a job in the background."""
    code = "import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv({0!r}, [{0!r}, *{1!r}])"
    script = "from diskprof.__main__ import start\nimport os, signal\nos.kill(os.getpid(), signal.SIGINT)\nstart()"
    words = ["-c", script, "--version"]
    done = subprocess.run(
        [sys.executable, "-c", code.format(sys.executable, words)],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout.startswith("diskprof"), done.stderr


def test_the_prompt_names_a_hazard_as_the_plan_does(capsys: pytest.CaptureFixture[str]) -> None:
    hazards = tuple(Hazard("any", severity, "Something.", "Do this.") for severity in Severity)
    _show(replace(make_plan(), hazards=hazards))
    lines = capsys.readouterr().err.splitlines()[1:]
    assert lines == [f"{word}: Something. Do this." for word in ("Refused", "Warning", "Note")]


@pytest.mark.parametrize(
    ("name", "begins"),
    [("disk.prom", "# TYPE diskprof_"), ("junit.xml", "<?xml "), ("one.hgrm", " ")],
)
def test_a_report_for_another_program_is_what_its_file_name_says(
    tmp_path: Path, library: list[str], name: str, begins: str
) -> None:
    # The run with one test.
    assert diskprof("report", "s2c8z4gp", "-o", tmp_path / name, home=tmp_path).returncode == 0
    assert (tmp_path / name).read_text().startswith(begins)


def test_a_report_takes_the_place_of_a_file_when_it_is_whole(tmp_path: Path, library: list[str]) -> None:
    old, link = tmp_path / "metrics.txt", tmp_path / "link"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to(old)
    before = old.stat().st_ino
    assert diskprof("report", library[-1], "--format", "openmetrics", "-o", link, home=tmp_path).returncode == 0
    assert old.read_text().endswith("# EOF\n") and link.is_symlink()
    assert old.stat().st_ino != before and old.stat().st_mode & 0o777 == 0o640
    # What cannot be written leaves what was there.
    done = diskprof("report", "w4b7e9nr", "q5t2w7be", "--format", "hgrm", "-o", old, home=tmp_path)
    assert done.returncode == 2 and "-o DIRECTORY/" in done.stderr
    assert old.read_text().endswith("# EOF\n")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".metrics")]
    assert diskprof("report", library[-1], "--format", "bmf", "-o", "/dev/full", home=tmp_path).returncode == 1
    done = diskprof("report", library[-1], "--format", "bmf", "-o", tmp_path, home=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"diskprof: {tmp_path} is a directory.\nAdd a file name.\n")


def test_distributions_go_into_a_directory(tmp_path: Path, library: list[str]) -> None:
    place = tmp_path / "new/percentiles"
    done = diskprof("report", "q5t2w7be", "--format", "hgrm", "-o", f"{place}/", home=tmp_path)
    assert done.returncode == 0 and done.stderr.count("Wrote ") == 6
    assert sorted(path.name for path in place.iterdir())[0] == "randread-4k-qd1-read.hgrm"
    (tmp_path / "file").touch()
    done = diskprof("report", "q5t2w7be", "--format", "hgrm", "-o", f"{tmp_path}/file/x/", home=tmp_path)
    assert done.returncode == 1 and "cannot be written" in done.stderr
