"""`make setup` on machines of all kinds (tests/kit/setup_machine.py): what is installed, how, and what the person is told."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from setup_machine import REPOSITORY, SUDO, SetupMachine, make_machine


@pytest.fixture
def machine(tmp_path: Path) -> SetupMachine:
    """Root on a fresh Debian: Python without its venv, no fio, no ioping."""
    machine = make_machine(tmp_path)
    machine.python("python3", "3.11.2")
    machine.manager("apt-get")
    return machine


APT = "apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120"


def test_a_fresh_debian_gets_everything_in_one_go(machine: SetupMachine) -> None:
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert machine.calls == [
        "apt-get update -q",
        f"{APT} fio ioping python3.11-venv",
        f"venv {machine.bin}/python3",
        "pip -m pip install --quiet --disable-pip-version-check -e .",
    ]
    said = done.stderr
    assert "Missing: fio ioping venv." in said
    assert said.index(f"{APT} fio ioping") < said.index("Making a virtual environment in .venv")


def test_the_second_time_there_is_nothing_to_do_and_nothing_to_say(machine: SetupMachine) -> None:
    machine.setup()
    done = machine.setup()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.calls == []


def test_a_user_goes_through_sudo_and_is_told_before(machine: SetupMachine) -> None:
    machine.user()
    machine.program("sudo", SUDO)
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    # There is no terminal here to type a password at.
    assert machine.installs[0] == "sudo -n true"
    assert machine.installs[1] == "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get update -q"
    assert machine.installs[3] == f"sudo -n env DEBIAN_FRONTEND=noninteractive {APT} fio ioping python3.11-venv"
    assert "as root through sudo" in done.stderr
    assert not any(call.startswith("sudo") and "pip" in call for call in machine.calls)


def test_a_user_without_sudo_is_told_what_root_has_to_do(machine: SetupMachine) -> None:
    machine.user()
    done = machine.setup()
    assert done.returncode == 1
    assert machine.calls == []
    assert "As root:\n  apt-get update; apt-get install fio ioping python3.11-venv\n" in done.stderr


def test_a_sudo_that_says_no_is_asked_once(machine: SetupMachine) -> None:
    machine.user()
    machine.program("sudo", SUDO)
    (machine.state / "wants-password").touch()
    done = machine.setup()
    assert done.returncode == 1
    assert machine.calls == ["sudo -n true"]
    assert (
        "sudo did not let us. As root:\n  apt-get update; apt-get install fio ioping python3.11-venv\n" in done.stderr
    )


@pytest.mark.parametrize(
    ("manager", "expected"),
    [
        ("dnf", ["dnf install -y fio ioping"]),
        ("zypper", ["zypper --non-interactive install --no-recommends fio ioping"]),
        ("pacman", ["pacman -S --needed --noconfirm fio ioping"]),
        ("apk", ["apk add --update-cache fio ioping"]),
    ],
)
def test_every_distribution_is_asked_in_its_own_way(tmp_path: Path, manager: str, expected: list[str]) -> None:
    machine = make_machine(tmp_path)
    machine.python("python3.12", "3.12.4")
    (machine.state / "venv").touch()
    machine.manager(manager)
    assert machine.setup().returncode == 0
    assert machine.installs == expected


def test_doas_serves_where_there_is_no_sudo(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    machine.python("python3.12", "3.12.4")
    (machine.state / "venv").touch()
    machine.manager("apk")
    machine.user()
    machine.program("doas", SUDO)
    assert machine.setup().returncode == 0
    assert machine.installs[1] == "doas apk add --update-cache fio ioping"


def test_a_package_that_the_distribution_lacks_does_not_keep_the_others_out(machine: SetupMachine) -> None:
    machine.lacks("ioping")
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert f"{APT} fio" in machine.calls
    assert "Going on without ioping" in done.stderr


def test_what_could_not_be_installed_is_tried_again_only_when_asked(machine: SetupMachine) -> None:
    machine.lacks("ioping")
    machine.setup()
    done = machine.setup()
    assert machine.calls == []
    assert "Going on without ioping" in done.stderr
    machine.setup("run", "--again")
    assert f"{APT} ioping" in machine.calls
    (machine.state / "no-ioping").unlink()
    assert "without" not in machine.setup("run", "--again").stderr
    assert machine.setup().stderr == ""


def test_with_neither_fio_nor_ioping_it_stops(machine: SetupMachine) -> None:
    machine.lacks("ioping")
    machine.lacks("fio")
    done = machine.setup()
    assert done.returncode == 1
    assert "neither fio nor ioping" in done.stderr
    assert not (machine.checkout / ".venv").exists()


def test_a_source_that_fails_does_not_stop_the_installation(machine: SetupMachine) -> None:
    (machine.state / "broken-source").touch()
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert "going on with the package lists" in done.stderr


def test_another_program_called_fio_is_not_fio(machine: SetupMachine) -> None:
    machine.program("fio", "#!/bin/sh\necho 'fio, version 1.9.5'\n")
    machine.program("ioping")
    assert machine.setup().returncode == 0
    assert f"{APT} fio python3.11-venv" in machine.calls


def test_the_real_fio_may_stand_later_on_the_path(machine: SetupMachine) -> None:
    machine.program("fio", "#!/bin/sh\necho 'fio, version 1.9.5'\n")
    machine.program("ioping")
    (machine.state / "venv").touch()
    machine.env["PATH"] += f":{machine.state}"
    assert machine.setup().returncode == 0
    assert machine.installs == []


def test_without_a_package_manager_it_says_so(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    machine.python("python3", "3.13.1")
    (machine.state / "venv").touch()
    done = machine.setup()
    assert done.returncode == 1
    assert "no apt-get, dnf, zypper, pacman or apk" in done.stderr


# --- Python ---------------------------------------------------------------------------------------------------------


def chosen(machine: SetupMachine) -> str:
    (call,) = (call for call in machine.calls if call.startswith("venv "))
    return Path(call.split()[1]).name


def test_the_newest_python_is_taken(machine: SetupMachine) -> None:
    (machine.state / "venv").touch()
    for name, version in (("python3.11", "3.11.9"), ("python3.13", "3.13.0"), ("python3.12", "3.12.1")):
        machine.python(name, version)
    assert machine.setup().returncode == 0
    assert chosen(machine) == "python3.13"


def test_a_shim_that_starts_nothing_and_a_prerelease_are_passed_over(machine: SetupMachine) -> None:
    (machine.state / "venv").touch()
    machine.program("python3.14", "#!/bin/sh\necho 'pyenv: python3.14: command not found' >&2\nexit 127\n")
    machine.program("python3.15", "#!/bin/sh\n")  # the probe prints nothing for a prerelease
    assert machine.setup().returncode == 0
    assert chosen(machine) == "python3"


def test_a_python_named_by_the_person_is_taken(machine: SetupMachine) -> None:
    (machine.state / "venv").touch()
    machine.python("python3.13", "3.13.0")
    machine.python("python3.12", "3.12.1")
    assert machine.setup(PYTHON="python3.12").returncode == 0
    assert chosen(machine) == "python3.12"
    assert machine.setup().returncode == 0
    assert machine.calls == []
    assert machine.setup(PYTHON="python3.12").returncode == 0
    assert machine.calls == []
    done = machine.setup(PYTHON="python3.13")
    assert done.returncode == 0, done.stderr
    assert chosen(machine) == "python3.13"


def test_no_python_that_is_new_enough_is_said_clearly(machine: SetupMachine) -> None:
    machine.python("python3", "3.10.12")
    done = machine.setup()
    assert done.returncode == 1
    assert "needs Python 3.11 or later; on the PATH there is 3.10.12" in done.stderr
    assert "apt-get install python3.11 python3.11-venv" in done.stderr
    assert machine.calls == []


@pytest.mark.parametrize(("named", "said"), [("python9", "no program 'python9'"), ("python3.10", "but 3.10.1")])
def test_a_python_that_cannot_be_used_is_refused(machine: SetupMachine, named: str, said: str) -> None:
    machine.python("python3.10", "3.10.1")
    done = machine.setup(PYTHON=named)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_python_whose_venv_cannot_be_installed_ends_with_the_package_to_get(machine: SetupMachine) -> None:
    machine.lacks("python3.11-venv")
    done = machine.setup()
    assert done.returncode == 1
    assert "apt-get install python3.11-venv" in done.stderr
    assert f"{APT} fio" in machine.calls


def test_the_environment_that_is_active_is_not_made_from_itself(machine: SetupMachine) -> None:
    machine.setup()
    shutil.copy(machine.checkout / ".venv/bin/python", machine.checkout / ".venv/bin/python3.12")
    (machine.checkout / ".venv/bin/activate").write_text("moved")
    (machine.checkout / ".venv/.ready-run").unlink()
    done = machine.setup(PATH=f"{machine.checkout}/.venv/bin:{machine.bin}", VIRTUAL_ENV=f"{machine.checkout}/.venv")
    assert done.returncode == 0, done.stderr
    assert machine.calls[0] == f"venv {machine.bin}/python3"


# --- .venv ----------------------------------------------------------------------------------------------------------


def test_a_checkout_that_was_moved_gets_its_environment_anew(machine: SetupMachine) -> None:
    machine.setup()
    machine.checkout = machine.checkout.rename(machine.root / "elsewhere")
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert "making it anew" in done.stderr
    assert chosen(machine) == "python3"
    assert machine.setup().stderr == ""


def test_an_environment_whose_python_is_gone_is_made_anew(machine: SetupMachine) -> None:
    machine.setup()
    (machine.checkout / ".venv/bin/python").unlink()
    assert "making it anew" in machine.setup().stderr


def test_new_requirements_are_installed_into_the_environment_that_is_there(machine: SetupMachine) -> None:
    machine.setup()
    (machine.checkout / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert machine.setup().returncode == 0
    assert machine.calls == ["pip -m pip install --quiet --disable-pip-version-check -e ."]


def test_a_set_up_that_was_broken_off_is_taken_up_again(machine: SetupMachine) -> None:
    machine.setup()
    (machine.checkout / ".venv/.ready-run").unlink()
    assert machine.setup().returncode == 0
    assert machine.calls == ["pip -m pip install --quiet --disable-pip-version-check -e ."]


def test_a_directory_called_venv_that_is_none_is_left_alone(machine: SetupMachine) -> None:
    (machine.checkout / ".venv").mkdir()
    (machine.checkout / ".venv/precious").touch()
    done = machine.setup()
    assert done.returncode == 1
    assert "is no virtual environment" in done.stderr
    assert (machine.checkout / ".venv/precious").exists()


def test_a_link_called_venv_is_left_alone(machine: SetupMachine) -> None:
    (machine.root / "mine").mkdir()
    (machine.checkout / ".venv").symlink_to(machine.root / "mine")
    assert machine.setup().returncode == 1
    assert (machine.checkout / ".venv").is_symlink()


def test_a_blank_in_the_name_of_the_checkout_does_no_harm(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, "my programs/disk prof")
    machine.python("python3", "3.11.2")
    machine.manager("apt-get")
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert machine.setup().stderr == ""


# --- For the tests --------------------------------------------------------------------------------------------------


def test_the_tests_get_their_programs_and_the_development_packages(machine: SetupMachine) -> None:
    done = machine.setup("test", CI="true")
    assert done.returncode == 0, done.stderr
    packages = machine.installs[1].split("Timeout=120 ")[1].split()
    expected = {
        "fio",
        "ioping",
        "mount",
        "e2fsprogs",
        "xfsprogs",
        "btrfs-progs",
        "dosfstools",
        "dmsetup",
        "openssh-server",
        "sshfs",
    }
    assert expected.issubset(packages)
    assert machine.calls[-1].endswith("-e .[dev]")
    assert machine.setup("test", CI="true").stderr == ""
    assert machine.setup("run").stderr == ""
    assert machine.calls == []


def test_what_is_ready_to_run_is_not_ready_for_tests(machine: SetupMachine) -> None:
    machine.setup("run")
    machine.setup("test", CI="true")
    assert machine.calls[-1].endswith("-e .[dev]")


def test_an_ssh_server_that_would_start_by_itself_is_left_out_on_a_persons_machine(machine: SetupMachine) -> None:
    systemd = Path("/run/systemd/system").is_dir()
    machine.setup("test")
    assert any("openssh-server" in call for call in machine.calls) is not systemd


def test_a_tool_of_the_tests_that_is_not_to_be_had_is_named(machine: SetupMachine) -> None:
    machine.lacks("dmsetup")
    done = machine.setup("test", CI="true")
    assert done.returncode == 0, done.stderr
    assert "Going on without: dmsetup" in done.stderr


# --- The Makefile ---------------------------------------------------------------------------------------------------


def make(*words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *words], cwd=REPOSITORY, env=kept, capture_output=True, text=True, timeout=60)


@pytest.mark.needs("make")
def test_make_alone_lists_the_targets() -> None:
    done = make()
    assert done.stdout == make("help").stdout
    listed = [line.split()[1] for line in done.stdout.splitlines()]
    wanted = {
        "run",
        "setup",
        "test",
        "check",
        "format",
        "lint",
        "types",
        "imports",
        "screenshots",
        "bench",
        "clean",
        "help",
    }
    assert wanted.issubset(listed)


@pytest.mark.needs("make")
@pytest.mark.parametrize("target", ["run", "setup", "test", "check", "screenshots", "snapshots", "bench", "wheel"])
def test_every_target_knows_what_to_do(target: str) -> None:
    done = make("--dry-run", target)
    assert done.returncode == 0, done.stderr
    assert "scripts/setup.sh" in done.stdout


def test_ci_calls_make_check() -> None:
    script = REPOSITORY / ".ci/run"
    assert script.stat().st_mode & stat.S_IXUSR
    assert "make check" in script.read_text()
