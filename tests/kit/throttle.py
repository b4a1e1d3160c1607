"""Volumes of known limits: a loop device, and a control group whose members get no more from it than the test says (F41)."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from program import DISKPROF, environment, until

_FIRST = Path("/sys/fs/cgroup/blkio")
_SECOND = Path("/sys/fs/cgroup")
_JOIN = ("sh", "-c", 'echo $$ >"$0" && exec "$@"')
_SBIN = ":/usr/local/sbin:/usr/sbin:/sbin"


@dataclass(frozen=True)
class Group:
    """A control group of ours."""

    path: Path

    @property
    def version(self) -> int:
        return 1 if self.path.is_relative_to(_FIRST) else 2

    def throttle(self, node: str) -> "Throttle":
        """What sets limits for a device."""
        number = Path(node).stat().st_rdev
        return Throttle(self, f"{os.major(number)}:{os.minor(number)}")

    def words(self, *command: str | Path) -> list[str]:
        """The command that runs `command` in the group."""
        return [*_JOIN, str(self.path / "cgroup.procs"), *map(str, command)]


@dataclass(frozen=True)
class Throttle:
    """`limit` sets what the members of `group` get of the device `number` (major:minor), 0 for all there is."""

    group: Group
    number: str

    def limit(self, way: str, *, iops: int = 0, bytes_per_s: int = 0) -> None:
        """`way` is `read` or `write`."""
        if self.group.version == 2:
            rates = ((f"{way[0]}iops", iops), (f"{way[0]}bps", bytes_per_s))
            text = " ".join(f"{key}={value or 'max'}" for key, value in rates)
            (self.group.path / "io.max").write_text(f"{self.number} {text}")
            return
        for kind, value in (("iops", iops), ("bps", bytes_per_s)):
            (self.group.path / f"blkio.throttle.{way}_{kind}_device").write_text(f"{self.number} {value}")

    def words(self, *command: str | Path) -> list[str]:
        """The command that runs `command` in the group."""
        return self.group.words(*command)


@dataclass(frozen=True)
class Volume:
    """A loop device of ours."""

    node: str
    throttle: Throttle

    @property
    def name(self) -> str:
        return Path(self.node).name


@contextmanager
def throttled_volume(directory: Path, size: int) -> Iterator[Volume]:
    """A loop device over a file in `directory`, and a group without members or limits. Needs root, loop, blkio-throttle."""
    with throttled_group() as group, volume_of(group, directory / "volume.img", size) as volume:
        yield volume


@contextmanager
def volume_of(group: Group, image: Path, size: int) -> Iterator[Volume]:
    """A loop device over a new file `image`, one of several for the members of a group."""
    with _loop(image, size) as node:
        yield Volume(node, group.throttle(node))


@contextmanager
def _loop(image: Path, size: int) -> Iterator[str]:
    image.touch()
    os.truncate(image, size)
    environment = {**os.environ, "PATH": os.environ.get("PATH", "") + _SBIN}

    def losetup(*words: str) -> str:
        done = subprocess.run(["losetup", *words], check=True, capture_output=True, text=True, env=environment)
        return done.stdout.strip()

    node = losetup("--find", "--show", str(image))
    with suppress(subprocess.CalledProcessError):
        # Past the page cache, where the file system below can: else a write ends in memory and is flushed later.
        losetup("--direct-io=on", node)
    try:
        yield node
    finally:
        losetup("--detach", node)


@contextmanager
def throttled_group() -> Iterator[Group]:
    """A group without members or limits. Needs root, blkio-throttle."""
    top = _FIRST if _FIRST.is_dir() else _SECOND
    control = top / "cgroup.subtree_control"
    enable = top == _SECOND and "io" not in control.read_text().split()
    if enable:
        control.write_text("+io")
    group = top / f"diskprof-test-{os.getpid()}"
    group.mkdir()
    try:
        yield Group(group)
    finally:
        # Members that were killed take a moment to end.
        until(lambda: not (group / "cgroup.procs").read_text(), f"the members of {group} to end")
        group.rmdir()
        if enable:
            with suppress(OSError):  # somebody else needs it meanwhile
                control.write_text("-io")


def said(volume: Volume, home: Path, *words: str | Path, timeout: float = 60) -> str:
    """What diskprof prints, run within the limits of the volume and before all else."""
    done = subprocess.run(
        volume.throttle.words("nice", "-n", "-20", *DISKPROF, *words),
        env=environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
