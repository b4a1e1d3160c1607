"""What the lane needs of this machine, where its guest lies, and diskprof in it.

The guest lies in $DISKPROF_VM, or in .vm of the checkout. tests/vm/recipe.sh builds it, and again only after a change of the recipe
or of what diskprof depends on. diskprof itself is installed at each boot, as it is in the checkout.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from vm.machine import say

CHECKOUT = Path(__file__).parents[2]
RECIPE = Path(__file__).parent / "recipe.sh"
_ROOM = 4 << 30
_PACKAGES = {
    "qemu-system-x86_64": ("qemu-system-x86", "seabios"),
    "qemu-img": ("qemu-utils",),
    "debootstrap": ("debootstrap",),
    "mke2fs": ("e2fsprogs",),
    "ssh-keygen": ("openssh-client",),
    "setpriv": ("util-linux",),
}
"""The programs, and what Debian and Ubuntu call their packages."""
_SOURCES = ("diskprof", "presets", "share", "pyproject.toml", "README.md", "LICENSE")
"""What a wheel is built from."""


class Unfit(Exception):
    """This machine lacks something; the text says what and how to get it."""


def state_directory() -> Path:
    return Path(os.environ.get("DISKPROF_VM") or CHECKOUT / ".vm").absolute()


@contextmanager
def reserved(state: Path) -> Iterator[None]:
    """Nobody else builds or boots the guest in `state` meanwhile. Raises Unfit if somebody does."""
    state.mkdir(parents=True, exist_ok=True)
    with (state / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unfit(f"another process uses the guest in {state}. Set DISKPROF_VM to another directory.") from None
        yield


def prepare(state: Path) -> None:
    """Builds the guest, unless this very guest is there. Raises Unfit."""
    _check(state)
    fingerprint = hashlib.sha256(RECIPE.read_bytes() + "\n".join(_requirements()).encode()).hexdigest()
    built = state / "recipe"
    if built.exists() and built.read_text() == fingerprint:
        return
    built.unlink(missing_ok=True)
    if (room := shutil.disk_usage(state).free) < _ROOM:
        raise Unfit(
            f"it needs 4 GB of room in {state}, where {room / 1e9:.1f} GB are free. Set DISKPROF_VM to another directory."
        )
    say(f"builds its guest in {state}: 1 to 5 minutes; log in {state / 'build.log'}")
    (state / "requirements.txt").write_text("".join(f"{line}\n" for line in _requirements()))
    with (state / "build.log").open("w") as log:
        words = ["bash", str(RECIPE), str(state), sys.executable]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if done.returncode:
        tail = "\n  ".join((state / "build.log").read_text(errors="replace").splitlines()[-15:])
        raise Unfit(f"the guest could not be built:\n  {tail}")
    built.write_text(fingerprint)


def _check(state: Path) -> None:
    if platform.machine() != "x86_64":
        raise Unfit(f"the guest is for x86-64, this machine is {platform.machine()}.")
    if os.geteuid() != 0:
        raise Unfit("it needs root, for debootstrap and chroot: sudo make vm-test.")
    if not shutil.which("apt-get"):
        raise Unfit("it needs Debian or Ubuntu: the guest is built with apt and debootstrap.")
    if missing := [name for name in _PACKAGES if not shutil.which(name)]:
        packages = [package for name in missing for package in _PACKAGES[name]]
        say(f"installs {' '.join(packages)} (apt-get), for {', '.join(missing)}")
        for words in (("update", "-q"), ("install", "-y", "-q", "--no-install-recommends", *packages)):
            if subprocess.run(["apt-get", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode:
                raise Unfit(f"apt-get {words[0]} failed. Install {' '.join(packages)} by hand.")
    state.mkdir(parents=True, exist_ok=True)


def _requirements() -> list[str]:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    return sorted([*project["project"]["dependencies"], *project["build-system"]["requires"]])


def packed_diskprof(state: Path) -> bytes:
    """A tar archive of diskprof as it is in the checkout, installed, to be unpacked in /opt/diskprof of the guest.

    Its wheel is built from a copy, by the guest's Python, but by this machine's processor: pip takes an emulated one a minute.
    """
    root = state / "root"
    source = root / "opt/source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    for name in _SOURCES:
        of = CHECKOUT / name
        if of.is_dir():
            shutil.copytree(of, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(of, source / name)
    pip = [
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--root-user-action=ignore",
        "--no-index",
        "--no-deps",
    ]
    pip += ["--no-build-isolation", "--force-reinstall", "/opt/source"]
    inside = ["chroot", str(root), "env", "-i", "PATH=/opt/diskprof/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/root"]
    subprocess.run([*inside, *pip], check=True)
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for pattern in ("bin/diskprof", "lib/python3.*/site-packages/diskprof*", "share"):
            for path in (root / "opt/diskprof").glob(pattern):
                archive.add(path, path.relative_to(root / "opt/diskprof"))
    return packed.getvalue()
