"""`diskprof presets import` and `export`, and `diskprof run job.fio`, as a person or a script meets them."""

import subprocess
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from program import DISKPROF, environment

JOB = "[global]\nsize=2m\nfilename=/dev/sdz\n[first]\nrw=randread\nbs=4k\n[second]\nstonewall\nrw=write\nbs=64k\n"
DISKSPD = "diskspd -c200G -w100 -b8K -F4 -r -o128 -W30 -d30 -Sh testfile.dat"
LEFT_OUT = "job.fio:3: filename=/dev/sdz is left out: the target is chosen at run time."


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.fio"
    path.write_text(JOB)
    return path


def presets_of(home: Path) -> Path:
    return home / ".config/diskprof/presets"


def test_a_job_file_becomes_a_preset_that_can_be_shown(tmp_path: Path, job: Path) -> None:
    done = diskprof("presets", "import", "job.fio", home=tmp_path)
    assert done.returncode == 0 and done.stdout == f"{presets_of(tmp_path) / 'job.toml'}\n"
    assert done.stderr.splitlines() == [LEFT_OUT, "Run it: diskprof run job TARGET"]
    shown = diskprof_json("presets", "show", "job", "--json", home=tmp_path)
    assert [test["name"] for test in shown["tests"]] == ["first", "second"]


def test_an_import_replaces_nothing_unasked(tmp_path: Path, job: Path) -> None:
    assert diskprof("presets", "import", "job.fio", home=tmp_path).returncode == 0
    again = diskprof("presets", "import", "job.fio", home=tmp_path)
    assert again.returncode == 2 and "already exists" in again.stderr and not again.stdout
    assert diskprof("presets", "import", "job.fio", "--force", home=tmp_path).returncode == 0
    assert diskprof("presets", "import", "job.fio", "--name", "other", home=tmp_path).returncode == 0
    shipped = diskprof("presets", "import", "job.fio", "--name", "quick", home=tmp_path)
    assert shipped.returncode == 2 and "is a preset of diskprof" in shipped.stderr
    assert sorted(path.name for path in presets_of(tmp_path).iterdir()) == ["job.toml", "other.toml"]


def test_a_preset_on_stdout_or_in_a_file(tmp_path: Path, job: Path) -> None:
    done = diskprof("presets", "import", "job.fio", "--output", "-", home=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith('name = "job"\n') and done.stderr == f"{LEFT_OUT}\n"
    assert diskprof("presets", "import", "job.fio", "--output", "mine.toml", home=tmp_path).returncode == 0
    assert (tmp_path / "mine.toml").read_text() == done.stdout
    assert diskprof("presets", "import", "job.fio", "--output", "mine.toml", home=tmp_path).returncode == 2
    assert diskprof("presets", "import", "job.fio", "--output", "no/such.toml", home=tmp_path).returncode == 2
    assert not presets_of(tmp_path).exists()


def test_a_job_file_from_stdin(tmp_path: Path) -> None:
    done = subprocess.run(
        [*DISKPROF, "presets", "import", "-", "--name", "piped", "--output", "-"],
        input=JOB,
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and 'name = "piped"' in done.stdout and "stdin:3: " in done.stderr


def test_a_command_line_becomes_a_preset(tmp_path: Path) -> None:
    done = diskprof("presets", "import", "--command", DISKSPD, home=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = diskprof_json("presets", "show", "diskspd", "--json", home=tmp_path)
    assert shown["resolved"][0]["jobs"][0]["options"]["iodepth"] == "128"
    assert shown["source"] == DISKSPD


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "either a job file or --command"),
        (("job.fio", "--command", "fio --name=a"), "either a job file or --command"),
        (("none.fio",), "none.fio is not a file"),
        (("job.fio", "--name", "No Good"), "is not a valid preset name"),
        (("--command", "fio --name=a --exec_prerun=reboot"), "it runs a program"),
        (("--command", "rm -rf /"), "is not fio, diskspd or ioping"),
    ],
)
def test_what_cannot_be_imported_is_wrong_usage(
    tmp_path: Path, job: Path, words: tuple[str, ...], message: str
) -> None:
    done = diskprof("presets", "import", *words, home=tmp_path)
    assert done.returncode == 2 and message in done.stderr and not done.stdout
    assert not presets_of(tmp_path).exists()


def test_a_preset_is_exported_for_plain_fio(tmp_path: Path) -> None:
    done = diskprof("presets", "export", "quick", "--set", "size=64m", home=tmp_path)
    assert done.returncode == 0 and not done.stderr
    assert done.stdout.startswith("; quick: Quick check\n") and "\nsize=64m\n" in done.stdout
    assert diskprof("presets", "export", "none", home=tmp_path).returncode == 2
    ioping = diskprof("presets", "export", "ioping-seek", home=tmp_path)
    assert ioping.returncode == 2 and "ioping -R -D" in ioping.stderr


def test_presets_help_names_import_and_export(tmp_path: Path) -> None:
    helped = diskprof("presets", "--help", home=tmp_path).stdout
    assert "import" in helped and "export" in helped


@pytest.mark.fio
def test_a_job_file_is_planned_as_it_is(tmp_path: Path, job: Path) -> None:
    plan = diskprof_json("run", "job.fio", ".", "--dry-run", "--json", "--set", "size=1m", home=tmp_path)
    assert [test["name"] for test in plan["tests"]] == ["first", "second"]
    done = diskprof("run", "./job.fio", ".", "--dry-run", home=tmp_path)
    assert LEFT_OUT in done.stderr and "--size=2097152" in done.stdout


@pytest.mark.fio
def test_a_job_file_is_run_as_it_is(tmp_path: Path, job: Path) -> None:
    run = diskprof_json("run", "job.fio", ".", "--json", home=tmp_path)
    assert run["status"] == "complete"
    assert [test["name"] for test in run["tests"]] == ["first", "second"]
    assert (run["tests"][0]["read"]["ios"], run["tests"][1]["write"]["ios"]) == (512, 32)


@pytest.mark.fio
def test_jobs_of_a_file_work_on_a_target_each(tmp_path: Path) -> None:
    (tmp_path / "two.fio").write_text("[global]\nsize=1m\n[a]\ndirectory=/x\n[b]\nrw=write\ndirectory=/y\n")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    done = diskprof("run", "two.fio", "--target", "x=one", "--target", "y=two", "--dry-run", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path}/one/.diskprof" in done.stdout and f"{tmp_path}/two/.diskprof" in done.stdout


def test_a_job_that_would_be_another_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "bad.fio").write_text("[a]\nsize=1m\nrw=write\nexec_prerun=touch executed\nverify=md5\n")
    done = diskprof("run", "bad.fio", ".", home=tmp_path)
    assert done.returncode == 2
    assert "line 4: exec_prerun=touch executed is refused: it runs a program" in done.stderr
    assert not (tmp_path / "executed").exists()
