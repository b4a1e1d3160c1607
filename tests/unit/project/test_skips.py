"""No skip goes unnoticed: the plugin that lets CI fail when a test was skipped that this machine could have run."""

import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
import skips

REPOSITORY = Path(__file__).parents[3]


def run_tests(directory: Path, source: str, *options: str, ci: bool) -> subprocess.CompletedProcess[str]:
    """A run of pytest of its own on one test file, with the plugin."""
    (directory / "test_it.py").write_text("import pytest\n" + source)
    # In the settings, as in the repository: xdist's workers do not see the plugins of the command line.
    (directory / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {REPOSITORY / 'tests' / 'kit'}\naddopts = -p skips -p lanes\n"
    )
    kept = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST_")}
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *(("-p", "xdist") if "-n" in options else ()),
            *options,
        ],
        cwd=directory,
        # Most of the time of so small a run is the loading of other plugins.
        env={**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **({"CI": "true"} if ci else {})},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_skip_that_this_machine_did_not_need_fails_a_run_in_ci(tmp_path: Path) -> None:
    done = run_tests(tmp_path, "def test_a():\n    pytest.skip('needs make')\n", ci=True)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "this machine has what it needs" in done.stdout


def test_the_same_skip_is_only_mentioned_elsewhere(tmp_path: Path) -> None:
    done = run_tests(tmp_path, "def test_a():\n    pytest.skip('needs make')\n", ci=False)
    assert done.returncode == pytest.ExitCode.OK
    assert "would fail the run" in done.stdout


def test_a_skip_for_any_other_reason_fails_a_run_in_ci(tmp_path: Path) -> None:
    done = run_tests(tmp_path, "def test_a():\n    pytest.skip('flaky')\n", ci=True)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


def test_a_module_that_skips_itself_is_seen(tmp_path: Path) -> None:
    source = "pytest.skip('no time', allow_module_level=True)\n"
    done = run_tests(tmp_path, source + "def test_a(): pass\n", ci=True)
    (tmp_path / "test_b.py").write_text("def test_b(): pass\n")
    assert done.returncode != pytest.ExitCode.OK
    assert "no time" in done.stdout
    assert run_tests(tmp_path, source, ci=True).returncode == pytest.ExitCode.TESTS_FAILED


def test_a_need_that_is_not_met_skips_and_passes(tmp_path: Path) -> None:
    need = "no-root" if skips.met("root") else "root"
    source = f"@pytest.mark.needs({need!r})\ndef test_a():\n    assert False\ndef test_b(): pass\n"
    done = run_tests(tmp_path, source, ci=True)
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert f"needs {need}" in done.stdout


def test_a_need_that_is_met_runs_the_test(tmp_path: Path) -> None:
    done = run_tests(tmp_path, "@pytest.mark.needs('make')\ndef test_a():\n    assert False\n", ci=True)
    assert "1 failed" in done.stdout


def test_skips_are_seen_through_xdist_too(tmp_path: Path) -> None:
    source = "def test_a():\n    pytest.skip('flaky')\ndef test_b(): pass\n"
    done = run_tests(tmp_path, source, "-n", "1", ci=True)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert done.stdout.count("test_it.py: flaky") == 1


def test_a_program_that_make_test_installs_may_not_be_missing_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert "should have installed tmux" in skips.objection("needs tmux")


def test_every_program_that_the_set_up_installs_is_on_the_list() -> None:
    script = (REPOSITORY / "scripts/setup.sh").read_text()
    lines = [line.strip() for line in script.splitlines() if "programs=" in line]
    words = " ".join(lines).replace("'", " ").replace('"', " ").split()
    assert skips.INSTALLED.issubset(words)


def test_tests_on_disks_run_one_after_the_other_and_before_what_needs_none(tmp_path: Path) -> None:
    groups = (
        ("real/test_known.py", "real/test_guard.py"),
        ("real/test_engine_a.py", "real/test_runner.py"),
        ("real/test_a.py", "real/test_b.py"),
    )
    for name in (*chain(*groups), "unit/test_c.py", "unit/test_d.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            "import os\n"
            + "".join(f"def test_{n}(worker_id): print('ran', __file__, worker_id, os.nice(0))\n" for n in range(3))
        )
    (tmp_path / "unit/test_n.py").write_text(
        "import os, pytest\n@pytest.mark.needs('bash')\ndef test_f(worker_id): print('ran', 'bash', worker_id, os.nice(0))\n"
    )
    done = run_tests(tmp_path, "def test_e(): pass\n", "-n", "3", "--dist", "loadfile", "-rP", ci=False)
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    ran = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("ran ")]
    assert len(ran) == 25
    for group in groups:
        assert len({worker for file, worker, _ in ran if file.endswith(group)}) == 1
    told = {line.rpartition("s  ")[2] for line in done.stdout.splitlines() if re.match(r" +\d+ s  ", line)}
    assert told == {"disks: 6 tests", "engines: 6 tests", "programs: 6 tests", "the rest: 8 tests"}
    first = os.nice(0)
    assert {int(niceness) for file, _, niceness in ran if "/real/" in file or file == "bash"} == {first}
    assert {int(niceness) for file, _, niceness in ran if "/unit/" in file} == {min(first + 5, 19)}
