"""Loop devices, mounts and other uses of them for one test, undone one by one in the order they were made, by their own names."""

import ctypes
import fcntl
import hashlib
import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from program import until

MIB = 1 << 20
_BLKPG, _ADD_PARTITION = 0x1269, 1
_LOOP_CTL_REMOVE = 0x4C81
_FAR = 200
_SBIN = ":/usr/local/sbin:/usr/sbin:/sbin"


def call(*words: str | Path) -> str:
    """What a program of the system prints; it must succeed."""
    done = tried(*words)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout.strip()


def tried(*words: str | Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": os.environ.get("PATH", "") + _SBIN, "LC_ALL": "C"}
    return subprocess.run([*map(str, words)], capture_output=True, text=True, env=env, timeout=60)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Loops:
    """What a test makes of loop devices. Everything has a name of the test's own directory."""

    def __init__(self, directory: Path, undo: ExitStack) -> None:
        self.directory, self.undo = directory, undo
        self._count = 0

    def image(self, size: int = 32 * MIB, content: bytes = b"") -> Path:
        self._count += 1
        path = self.directory / f"disk{self._count}.img"
        path.write_bytes(content)
        os.truncate(path, size)
        return path

    def attach(self, image: Path, *options: str) -> str:
        """The node of a new loop device on `image`."""
        node = call("losetup", *options, "--find", "--show", image)
        self.undo.callback(self._detach_own, node, image)
        return node

    def disk(self, size: int = 32 * MIB, *options: str) -> str:
        return self.attach(self.image(size), *options)

    def far_disk(self, size: int = 32 * MIB) -> str:
        """A disk whose number `losetup --find` gives nobody else once it is free, since there are lower ones."""
        number = _FAR + os.getpid() % 10_000
        node, image = f"/dev/loop{number}", self.image(size)
        self.undo.callback(_remove_loop, number)
        call("losetup", node, image)
        self.undo.callback(self._detach_own, node, image)
        return node

    def partitioned(self, *partitions: tuple[int, int], size: int = 64 * MIB) -> str:
        """A disk with partitions of (first byte, bytes)."""
        node = self.disk(size, "--partscan")
        self.partition(node, *partitions)
        return node

    @staticmethod
    def partition(node: str, *partitions: tuple[int, int]) -> None:
        """Makes partitions of (first byte, bytes). The kernel is told of them: not every kernel reads tables."""
        descriptor = os.open(node, os.O_RDONLY)
        try:
            for number, (start, length) in enumerate(partitions, 1):
                data = ctypes.create_string_buffer(struct.pack("@qqi64s64s", start, length, number, b"", b""))
                fcntl.ioctl(
                    descriptor, _BLKPG, struct.pack("@iiiP", _ADD_PARTITION, 0, len(data), ctypes.addressof(data))
                )
        finally:
            os.close(descriptor)

    def detach(self, node: str) -> None:
        call("losetup", "--detach", node)

    def mount(self, node: str, *options: str, name: str = "") -> Path:
        path = self.directory / (name or f"mount-of-{Path(node).name}")
        path.mkdir()
        call("mount", *options, node, path)
        self.undo.callback(_unmount, path)
        return path

    def file_system(self, node: str, kind: str = "ext4", *options: str) -> None:
        quiet = {"ext4": ("-q", "-F"), "xfs": ("-q", "-f"), "btrfs": ("-q", "-f"), "vfat": ()}[kind]
        call(f"mkfs.{kind}", *quiet, *options, node)

    def swap(self, node: str) -> None:
        call("mkswap", node)
        call("swapon", node)
        self.undo.callback(tried, "swapoff", node)

    def alias(self, node: str, name: str = "alias") -> Path:
        """Another device node for the same device, as mknod makes it."""
        path = self.directory / name
        os.mknod(path, 0o600 | 0o060000, Path(node).stat().st_rdev)
        return path

    @staticmethod
    def _detach_own(node: str, image: Path) -> None:
        # The test may have detached it already, and somebody else have got it since.
        backing = Path(f"/sys/block/{Path(node).name}/loop/backing_file")
        with suppress(OSError):
            if backing.read_text().strip() == str(image):
                call("losetup", "--detach", node)


def _unmount(path: Path) -> None:
    """Whatever was at work there may take a moment to end; what stays mounted would be met by every later test."""
    until(
        lambda: tried("findmnt", "--mountpoint", path).returncode != 0 or tried("umount", path).returncode == 0,
        f"the unmounting of {path}",
    )


@contextmanager
def loops_in(directory: Path) -> Iterator[Loops]:
    with ExitStack() as undo:
        yield Loops(directory, undo)


def first_bytes(node: str | Path, count: int = MIB) -> bytes:
    """What a device holds now, direct I/O's idea of another of its names."""
    descriptor = os.open(node, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return os.pread(descriptor, count, 0)
    finally:
        os.close(descriptor)


def _remove_loop(number: int) -> None:
    descriptor = os.open("/dev/loop-control", os.O_RDWR)
    try:
        fcntl.ioctl(descriptor, _LOOP_CTL_REMOVE, number)
    finally:
        os.close(descriptor)
