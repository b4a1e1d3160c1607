"""Machines for the set-up script: programs that stand in for Python and package managers, and write down how they were called."""

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PLAIN_TOOLS = (
    *("sh", "env", "id", "dirname", "basename", "cat", "cksum", "grep", "sed", "tr", "ls", "printf"),
    *("rm", "mv", "mkdir", "cp", "chmod", "touch", "make", "git", "tmux", "ssh"),
)

PYTHON = r"""#!/bin/sh
me=$0
case "$*" in
*find_spec*)
    able=no; if [ -e "$STATE/venv" ]; then able=yes; fi
    version=@VERSION@
    minor=${version#3.}
    echo "${minor%%.*} $version $able $me" ;;
*version_info*) echo @VERSION@ ;;
"-m venv "*)
    echo "venv $me" >>"$LOG"
    minor=@VERSION@; minor=${minor#3.}
    mkdir -p "$3/bin" "$3/lib/python3.${minor%%.*}"
    cp "$me" "$3/bin/python"
    echo "VIRTUAL_ENV=$3" >"$3/bin/activate"
    touch "$3/pyvenv.cfg" ;;
"-m pip install"*)
    echo "pip $*" >>"$LOG"
    cp "$STATE/anything" "$(dirname "$me")/diskprof" ;;
esac
"""

MANAGER = r"""#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
case "$*" in
*update*) [ "$*" = "${*#add}" ] && { [ ! -e "$STATE/broken-source" ]; exit; } ;;
esac
for word; do
    [ -e "$STATE/no-$word" ] && { echo "no package $word" >&2; exit 100; }
done
for word; do
    case $word in
    fio) cp "$STATE/fio" "$HERE/fio" ;;
    python3*-venv) touch "$STATE/venv" ;;
    openssh-server) cp "$STATE/anything" "$HERE/sshd" ;;
    mount | util-linux) cp "$STATE/anything" "$HERE/losetup" ;;
    xfsprogs) cp "$STATE/anything" "$HERE/mkfs.xfs" ;;
    btrfs-progs | btrfsprogs) cp "$STATE/anything" "$HERE/mkfs.btrfs" ;;
    dosfstools) cp "$STATE/anything" "$HERE/mkfs.vfat" ;;
    sshfs | fuse-sshfs) cp "$STATE/anything" "$HERE/sshfs" ;;
    e2fsprogs) cp "$STATE/anything" "$HERE/mkfs.ext4" ;;
    ioping | dmsetup | zsh | fish) cp "$STATE/anything" "$HERE/$word" ;;
    device-mapper) cp "$STATE/anything" "$HERE/dmsetup" ;;
    esac
done
exit 0
"""

SUDO = """#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
[ "$1" = -n ] && shift
[ -e "$STATE/wants-password" ] && { echo "sudo: a password is required" >&2; exit 1; }
"$@"
"""


@dataclass
class SetupMachine:
    """A machine with a checkout of diskprof on it, as far as the script can see."""

    root: Path
    checkout: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def state(self) -> Path:
        return self.root / "state"

    def program(self, name: str, text: str = "#!/bin/sh\n") -> Path:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def python(self, name: str, version: str) -> None:
        self.program(name, PYTHON.replace("@VERSION@", version))

    def manager(self, name: str) -> None:
        self.program(name, MANAGER)

    def user(self) -> None:
        self.program("id", "#!/bin/sh\necho 1000\n")

    def lacks(self, package: str) -> None:
        (self.state / f"no-{package}").touch()

    def setup(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        (self.root / "log").write_text("")
        return subprocess.run(
            [self.checkout / "scripts/setup.sh", *(words or ("run",))],
            env={**self.env, **env},
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,
        )

    @property
    def calls(self) -> list[str]:
        return (self.root / "log").read_text().splitlines()

    @property
    def installs(self) -> list[str]:
        return [call for call in self.calls if not call.startswith(("venv ", "pip "))]


def make_machine(root: Path, checkout: str = "checkout") -> SetupMachine:
    machine = SetupMachine(root, root / checkout)
    for directory in (machine.bin, machine.state, machine.checkout / "scripts"):
        directory.mkdir(parents=True)
    for name in PLAIN_TOOLS:
        (machine.bin / name).symlink_to(shutil.which(name) or pytest.skip(f"needs {name}"))
    for name, text in (("anything", "#!/bin/sh\n"), ("fio", "#!/bin/sh\necho fio-3.33\n")):
        (machine.state / name).write_text(text)
        (machine.state / name).chmod(0o755)
    machine.program("id", "#!/bin/sh\necho 0\n")
    shutil.copy(REPOSITORY / "scripts/setup.sh", machine.checkout / "scripts")
    (machine.checkout / "pyproject.toml").write_text("[project]\n")
    machine.env = {
        "PATH": str(machine.bin),
        "DISKPROF_SBIN": "",
        "HOME": str(root),
        "LOG": str(root / "log"),
        "STATE": str(machine.state),
        "HERE": str(machine.bin),
    }
    return machine
