"""Several hosts: an sshd each on 127.0.0.1, with homes of their own, that `ssh NAME` reaches."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sshd import Server, sshd

from diskprof.store import Store


@dataclass(frozen=True)
class Hosts:
    """`path` is a PATH where `ssh` knows the hosts by their names; `home` is that of whoever sits before them."""

    servers: tuple[Server, ...]
    path: str
    home: Path

    def target(self, at: int, name: str = "t") -> str:
        """HOST:DIRECTORY, the directory made."""
        directory = self.servers[at].home / name
        directory.mkdir(exist_ok=True)
        return f"{self.servers[at].host}:{directory}"

    def store(self, at: int) -> Store:
        """The runs of a host."""
        return Store.open(self.servers[at].home / ".local/share/diskprof/runs.db", create=False)

    def here(self) -> Store:
        """The runs of whoever sits before them."""
        return Store.open(self.home / ".local/share/diskprof/runs.db")


@contextmanager
def hosts(directory: Path, names: Sequence[str]) -> Iterator[Hosts]:
    """Servers of these names, which keep all they have in `directory`."""
    program = directory / "bin/ssh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {directory / "config"} "$@"\n')
    program.chmod(0o755)
    (directory / "me").mkdir()
    with ExitStack() as stack:
        servers = []
        for name in names:
            (directory / f"home-{name}").mkdir()
            servers.append(stack.enter_context(sshd(directory / name, directory / f"home-{name}", name)))
        (directory / "config").write_text("".join((server.directory / "client").read_text() for server in servers))
        yield Hosts(tuple(servers), f"{program.parent}:{os.environ['PATH']}", directory / "me")
