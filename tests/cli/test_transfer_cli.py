"""`diskprof export` and `diskprof import`, as a person and a pipe use them."""

import os
import pty
import stat
import subprocess
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from program import DISKPROF, environment
from recorded import record_run

from diskprof.store import Store

STORE = ".local/share/diskprof/runs.db"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "here"
    with Store.open(home / STORE) as store:
        record_run(store, run_id="abc", tags=("mine",), runtime_s=1.0)
    return home


@pytest.fixture
def other(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


def test_a_run_goes_by_file_and_shows_the_same(home: Path, other: Path) -> None:
    done = diskprof("export", "mine", "-o", other / "run.jsonl.gz", home=home)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "Wrote" in done.stderr
    done = diskprof("import", "run.jsonl.gz", home=other)
    assert (done.returncode, done.stdout, done.stderr) == (0, "abc\n", "")
    assert diskprof_json("show", "mine", "--json", home=other) == diskprof_json("show", "mine", "--json", home=home)
    again = diskprof("import", "run.jsonl.gz", home=other)
    assert (again.returncode, again.stdout) == (0, "abc\n")
    assert "already" in again.stderr


@pytest.mark.parametrize("words", [(), ("-o", "-"), ("--output=-",)])
def test_a_run_goes_through_a_pipe(home: Path, other: Path, words: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [*DISKPROF, "export", "abc", *words], env=environment(home), stdout=subprocess.PIPE, cwd=home
    ) as sending:
        done = subprocess.run(
            [*DISKPROF, "import", "-"], env=environment(other), stdin=sending.stdout, capture_output=True, text=True
        )
    assert (done.returncode, done.stdout) == (0, "abc\n"), done.stderr
    assert sending.returncode == 0
    assert not (home / "-").exists()


def test_a_file_may_be_called_by_the_name_of_stdin(home: Path, other: Path) -> None:
    assert diskprof("export", "abc", "-o", "./-", home=home).returncode == 0
    (home / "-").rename(other / "-")
    done = diskprof("import", "./-", home=other)
    assert (done.returncode, done.stdout) == (0, "abc\n"), done.stderr


def test_another_run_of_that_id_keeps_it(home: Path, other: Path) -> None:
    with Store.open(other / STORE) as store:
        record_run(store, "mixed-70-30", run_id="abc", runtime_s=1.0)
    diskprof("export", "abc", "--out", other / "f", home=home)
    done = diskprof("import", "f", home=other)
    assert done.returncode == 0
    assert "abc is already the id of another run" in done.stderr
    assert diskprof_json("show", "abc", "--json", home=other)["preset"] == "mixed-70-30"
    assert diskprof_json("show", done.stdout.strip(), "--json", home=other)["preset"] == "quick"


def test_an_export_takes_its_place_whole_or_not_at_all(home: Path) -> None:
    place = home / "out"
    place.mkdir()
    (place / "f").write_bytes(b"before")
    assert diskprof("export", "abc", "nothing", "-o", place / "f", home=home).returncode == 2
    assert (place / "f").read_bytes() == b"before"
    assert diskprof("export", "abc", "-o", place / "f", home=home).returncode == 0
    assert (place / "f").read_bytes()[:2] == b"\x1f\x8b"
    assert [path.name for path in place.iterdir()] == ["f"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("export", "nothing"), 2, "nothing"),
        (("export", "abc", "-o", "/no/such/place/f"), 1, "/no/such/place/f"),
        (("export", "abc", "-o", "/dev/null"), 2, "/dev/null"),
        (("import", "/no/such/file"), 2, "/no/such/file"),
        (("import", "/dev/zero"), 2, "/dev/zero"),
        (("import", "/"), 2, "/"),
        (("import", ".local/share/diskprof/runs.db"), 1, "it is no run of diskprof's"),
        (("import", "-"), 1, "stdin"),
    ],
)
def test_a_mistake_is_answered_in_words(home: Path, words: tuple[str, ...], code: int, says: str) -> None:
    done = diskprof(*words, home=home)
    assert done.returncode == code, done.stderr
    assert says in done.stderr and "Traceback" not in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("words", [(), ("-o", "-")])
def test_nothing_binary_is_sent_to_a_terminal(home: Path, words: tuple[str, ...]) -> None:
    main, side = pty.openpty()
    command = [*DISKPROF, "export", "abc", *words]
    try:
        done = subprocess.run(command, env=environment(home), stdout=side, stderr=subprocess.PIPE, cwd=home)
    finally:
        os.close(main)
        os.close(side)
    assert done.returncode == 2
    assert b"-o FILE" in done.stderr
    assert not (home / "-").exists()


def test_a_reader_that_goes_away_ends_the_export_in_words(home: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([*DISKPROF, "export", "abc"], env=environment(home), stdout=write, stderr=subprocess.PIPE)
    finally:
        os.close(write)
    assert done.returncode == 1
    assert b"exited" in done.stderr and b"Traceback" not in done.stderr and b"Broken" not in done.stderr


def test_an_export_is_nobody_elses_to_write(home: Path) -> None:
    assert diskprof("export", "abc", "-o", home / "f", home=home).returncode == 0
    assert not (home / "f").stat().st_mode & stat.S_IWOTH


@pytest.mark.parametrize("form", ["markdown", "csv", "samples"])
def test_a_dash_is_stdout_for_a_report(home: Path, form: str) -> None:
    plain = diskprof("report", "abc", "--format", form, home=home)
    done = diskprof("report", "abc", "--format", form, "-o", "-", home=home)
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "") and done.stdout
    assert not (home / "-").exists()
