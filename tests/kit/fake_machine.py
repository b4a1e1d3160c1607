"""A machine made of files: a copy of /sys, /proc, /dev and /run in a temporary directory, with the disks a test wants."""

import os
from pathlib import Path

from diskprof.devices.scan.files import Roots

SECTOR = 512


class Machine:
    """Lays out sysfs as the kernel does; numbers are given out in turn."""

    def __init__(self, root: Path) -> None:
        self.roots = Roots(root / "sys", root / "proc", root / "dev", root / "run")
        for directory in (self.roots.blocks, self.roots.proc / "self", self.roots.dev, self.roots.run):
            directory.mkdir(parents=True)
        self._next_minor = 0
        self._partitions: dict[str, str] = {}
        self._mounts: list[str] = []

    def disk(
        self,
        name: str,
        where: str = "virtual",
        *,
        size: int = 1 << 30,
        major: int = 8,
        queue: dict[str, str] | None = None,
        **attributes: str,
    ) -> Path:
        """A whole device below sys/devices/`where`; attributes such as `device__model` become files such as device/model."""
        return self._add(self.roots.sys / "devices" / where / "block" / name, size, major, queue, attributes)

    def partition(self, disk: str, name: str, *, start: int = 1 << 20, size: int = 1 << 29) -> Path:
        node = (self.roots.blocks / disk).resolve() / name
        return self._add(node, size, 259, None, {"partition": "1", "start": str(start // SECTOR)})

    def stack(self, upper: str, *lower: str) -> None:
        """`upper` rests on `lower`: what LVM, md and crypt make of it."""
        for name in lower:
            above, below = ((self.roots.blocks / each).resolve() for each in (upper, name))
            (above / "slaves").mkdir(exist_ok=True)
            (below / "holders").mkdir(exist_ok=True)
            (above / "slaves" / name).symlink_to(below)
            (below / "holders" / upper).symlink_to(above)

    def remove(self, name: str) -> None:
        """The device goes, its name in class/block still stands: as seen between listing and look-up."""
        path = (self.roots.blocks / name).resolve()
        path.rename(path.with_name(f".gone-{name}"))
        self._list(name, 0)

    def resize(self, name: str, size: int) -> None:
        ((self.roots.blocks / name).resolve() / "size").write_text(f"{size // SECTOR}\n")
        self._list(name, size)

    def mount(
        self, device: str, path: str, fs_type: str, options: str = "rw,relatime", *, number: str = "", root: str = "/"
    ) -> None:
        number = number or (self.roots.blocks / device / "dev").read_text().strip()
        identity = 1000 + len(self._mounts)
        escaped = path.replace(" ", r"\040")
        self._mounts.append(f"{identity} 1 {number} {root} {escaped} {options} shared:1 - {fs_type} /dev/{device} rw\n")
        (self.roots.proc / "self" / "mountinfo").write_text("".join(self._mounts))

    def swap(self, *paths: str) -> None:
        lines = "".join(f"{path}\tpartition\t1048572\t0\t-2\n" for path in paths)
        (self.roots.proc / "swaps").write_text("Filename\tType\tSize\tUsed\tPriority\n" + lines)

    def by_id(self, link: str, node: str) -> None:
        directory = self.roots.dev / "disk" / "by-id"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / link).symlink_to(f"../../{node}")

    def mapper(self, link: str, node: str) -> None:
        """The device mapper's own name for a node, as udev makes it."""
        (self.roots.dev / "mapper").mkdir(exist_ok=True)
        (self.roots.dev / "mapper" / link).symlink_to(f"../{node}")

    def content(self, node: str, offset: int, data: bytes) -> None:
        """What the device node reads as."""
        path = self.roots.dev / node
        path.touch()
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(data)

    def _list(self, name: str, size: int) -> None:
        """In /proc/partitions, which leaves out what is empty."""
        self._partitions[name] = f"   8        0 {size >> 10:10} {name}\n" if size else ""
        text = "major minor  #blocks  name\n\n" + "".join(self._partitions.values())
        (self.roots.proc / "partitions").write_text(text)

    def _add(self, node: Path, size: int, major: int, queue: dict[str, str] | None, attributes: dict[str, str]) -> Path:
        node.mkdir(parents=True)
        files = {
            "dev": f"{major}:{self._next_minor}",
            "size": str(size // SECTOR),
            "ro": "0",
            "uevent": f"MAJOR={major}\nMINOR={self._next_minor}\nDEVNAME={node.name.replace('!', '/')}",
            **{f"queue/{key}": value for key, value in (queue or {}).items()},
            **{key.replace("__", "/"): value for key, value in attributes.items()},
        }
        self._next_minor += 1
        for name, text in files.items():
            path = node / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + "\n")
        (self.roots.blocks / node.name).symlink_to(os.path.relpath(node, self.roots.blocks))
        self._list(node.name, size)
        return node
