"""How long `diskprof ssh HOST` takes to the first picture: the first time, later, and within a minute of the last call, beside
starts here and by ssh alone.

The host is an sshd of this machine whose user has Python and fio, and no diskprof; the zipapp is sent to it the first time.

    python benchmarks/ssh_start.py [--quick] [--rounds N] [--json FILE]
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from measuring.figures import Report, parser, say
from measuring.processes import REPOSITORY, Home, diskprof, generators, new_home
from measuring.terminal import reads, terminal

generators()

from sshd import HOST, Server, sshd  # noqa: E402

_SIZE = (120, 40)
_SEEN = "nothing running"


@dataclass(frozen=True)
class Reached:
    """A home on this machine whose `ssh` knows the host."""

    path: Path
    search: str

    @property
    def environment(self) -> dict[str, str]:
        return {**Home(self.path).environment, "PATH": self.search}


def _first_picture(argv: tuple[str, ...], home: Home) -> float:
    """Seconds."""
    with terminal(argv, _SIZE, home) as screen:
        return screen.shows(reads(_SEEN))


def _measure(server: Server, home: Home, zipapp: Path, rounds: int, report: Report) -> None:
    words = (*diskprof(), "ssh", "--program", str(zipapp))
    over_ssh, logging_in = (*words, HOST), (*words, "--log-out", HOST)
    first, later, soon, local, bare = list[float](), list[float](), list[float](), list[float](), list[float]()
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        shutil.rmtree(server.home / ".cache", ignore_errors=True)
        first.append(_first_picture(logging_in, home))
        later.append(_first_picture(logging_in, home))
        subprocess.run((*over_ssh, "config", "path"), env=home.environment, stdout=subprocess.DEVNULL, check=True)
        soon.append(_first_picture(over_ssh, home))
        local.append(_first_picture(diskprof(), home))
        (there,) = (server.home / ".cache/diskprof/sent").glob("*/diskprof")
        bare.append(_first_picture(("ssh", "-tt", HOST, str(there)), home))
    report.add("diskprof ssh, the first time", first, "s", most=10)
    report.add("diskprof ssh, later", later, "s")
    report.add("diskprof here", local, "s")
    report.add("ssh and that program", bare, "s")
    report.add("within a minute of the last call", soon, "s")
    report.add("later", [far / here for far, here in zip(later, local, strict=True)], "x here")
    report.add("within a minute", [far / here for far, here in zip(soon, local, strict=True)], "x here", most=1.5)
    report.add("later, beside ssh alone", [far / by for far, by in zip(later, bare, strict=True)], "x ssh")


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--rounds", type=int, metavar="N", help="how often each is started (7; quick: 1)")
    chosen = options.parse_args()
    rounds = chosen.rounds or (1 if chosen.quick else 7)
    report = Report(
        "Starting over ssh", f"{rounds} turns to the first picture at {_SIZE[0]}x{_SIZE[1]}; sshd on this machine."
    )
    with new_home() as home:
        zipapp = home.path / f"diskprof-{os.uname().machine}.pyz"
        subprocess.run([sys.executable, REPOSITORY / "scripts/pyz.py", "--installed", "--output", zipapp], check=True)
        far = home.path / "far"
        far.mkdir()
        with sshd(home.path / "sshd", far) as server:
            tools = server.directory / "bin"
            (tools / "diskprof").unlink()
            (tools / "python3").symlink_to(sys.executable)
            reached = Reached(home.path, f"{server.client(home.path / 'client')}:{os.environ['PATH']}")
            _measure(server, reached, zipapp, rounds, report)
            server.cut()
    report.publish(chosen.json)


if __name__ == "__main__":
    main()
