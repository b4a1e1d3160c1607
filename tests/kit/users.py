"""The program run by another user than the one that runs the tests, and by root in somebody's name (sudo)."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from program import PATIENCE_S, diskprof, environment

NOBODY = 65534
# Python itself may lie where only root may look: everything is loaded before the rights are given up.
_AS_USER = """
import encodings, encodings.utf_8_sig, encodings.idna, encodings.unicode_escape, importlib, os, pkgutil, sys
package = importlib.import_module("diskprof")
for found in pkgutil.walk_packages(package.__path__, "diskprof."):
    if not found.name.endswith("__main__") and ".tui" not in found.name:
        importlib.import_module(found.name)
from diskprof.cli.entry import run
from diskprof.cli.main import main
from diskprof.devices.scan.udev import scan
from diskprof.presets.library import load_library
load_library(), scan()
sys.stdout.flush()
uid, sys.argv = int(sys.argv[1]), ["/opt/bin/diskprof", *sys.argv[2:]]
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
os.chdir(os.environ["HOME"])
run()
"""


@contextmanager
def home_of(uid: int) -> Iterator[Path]:
    """A home directory that the user can reach: pytest's own may not be searched by others."""
    path = Path(tempfile.mkdtemp(prefix="diskprof-test-home-"))
    try:
        os.chown(path, uid, uid)
        yield path
    finally:
        shutil.rmtree(path)


def diskprof_as(uid: int, *words: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """The program with a user's rights alone."""
    return subprocess.run(
        [sys.executable, "-c", _AS_USER, str(uid), *map(str, words)],
        env=environment(home, PYTHONDONTWRITEBYTECODE="1"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def diskprof_by_sudo(uid: int, *words: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """The program run by root as sudo runs it for a user whose home directory is kept in HOME."""
    return diskprof(*words, home=home, SUDO_UID=str(uid), SUDO_GID=str(uid), SUDO_USER="somebody")
