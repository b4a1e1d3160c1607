"""A disk whose power can be cut: a loop device, of whose backing file a copy is what had reached the disk at that moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loops import Loops, call, tried
from program import until


class Mains:
    """A file system of ours at `here`. By itself the kernel writes nothing of it back while a test lasts: what is on the disk
    is what somebody brought there."""

    def __init__(self, loops: Loops, size: int = 2 << 30) -> None:
        self.loops = loops
        self.image = loops.image(size)
        self.node = loops.attach(self.image)
        loops.file_system(self.node, "ext4", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0")
        self.here = loops.mount(self.node, "-o", "commit=600")

    def copy(self) -> Path:
        """What is on the disk now."""
        copy = self.loops.image(0)
        call("cp", "--sparse=always", self.image, copy)
        return copy

    @contextmanager
    def cut(self) -> Iterator[Path]:
        """Where what is left is mounted, as after a restart."""
        copy = self.copy()
        node = self.loops.attach(copy)
        left = self.loops.directory / f"left-on-{copy.stem}"
        left.mkdir()
        call("mount", node, left)
        try:
            yield left
        finally:
            call("umount", left)
            self.loops.detach(node)
            copy.unlink()

    def restart(self, copy: Path) -> None:
        """What is left takes the place of what was there. Nobody may use it any more."""
        until(lambda: tried("umount", self.here).returncode == 0, "the end of those who use it")
        self.loops.detach(self.node)
        self.image, self.node = copy, self.loops.attach(copy)
        call("mount", self.node, self.here)
