"""The machine of the pictures: two loop disks with ext4, /mnt/vps-a and /mnt/vps-b, the second one limited. Needs root.

It has mounts, a host name and processes of its own (namespaces). When its first process ends, the kernel ends the others, unmounts
the file systems and frees the loop devices.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kit"))

from loops import call, tried  # noqa: E402
from skips import unmet  # noqa: E402
from throttle import Group, throttled_group  # noqa: E402

from diskprof.model.device import DeviceKind, DeviceTree  # noqa: E402
from diskprof.runner.session import Session  # noqa: E402

HOST = "vm-1"
FREE, LIMITED = "vps-a", "vps-b"
IOPS, MB_PER_S = 20_000, 500
"""What `LIMITED` gets, of reads and of writes."""
SLOW_IOPS, SLOW_MB_PER_S = 2_000, 20
"""What it gets while it is asked for its limits: a machine of two cores can send that, and more."""
VOLUME_IOPS, VOLUME_MB_PER_S = 5_000, 200
"""What it gets while it is asked what limits it: as a volume of a cloud."""
PLACE = Path("/mnt")
HOME = PLACE / "home"

_GROUPS: list[Group] = []
"""The control group of the machine that this process is in."""
_MADE = "_DISKPROF_DEMO"
"""In the environment of a process in the machine: the directory of the images, and the control group."""
_SIZE = 8 << 30
_NEEDS = ("root", "sys-admin", "loop", "blkio-throttle", "setpriv", "unshare", "mount", "mkfs.ext4", "fio", "ioping")
_APART = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"),
)
_ENVIRONMENT = {"LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor", "TZ": "UTC"}


def inside(script: str, words: Sequence[str]) -> None:
    """Returns once the Python script runs in the machine, which is made here and ends with it; never returns elsewhere."""
    if _MADE in os.environ:
        directory, group = os.environ.pop(_MADE).split(":")
        _enter(Path(directory), Group(Path(group)))
        return
    if lack := unmet(*_NEEDS):
        sys.exit(f"Screenshots are made from real runs on loop devices: {lack}. Run `make screenshots` as root.")
    if any(Path(each).is_relative_to(PLACE) for each in (ROOT, sys.prefix)):
        sys.exit(f"The disks are mounted in {PLACE}, where this checkout is. Use a checkout elsewhere.")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    # Not in /tmp, which is memory on some systems.
    with tempfile.TemporaryDirectory(prefix="diskprof-demo-", dir="/var/tmp") as directory, throttled_group() as group:
        path = os.environ.get("PATH", os.defpath)
        env = {**_ENVIRONMENT, "HOME": str(HOME), "PATH": path, _MADE: f"{directory}:{group.path}"}
        command = group.words(*_APART, sys.executable, script, *words)
        sys.exit(subprocess.run(command, env=env, cwd="/").returncode)


def _enter(directory: Path, group: Group) -> None:
    socket.sethostname(HOST)
    call("mount", "-t", "tmpfs", "tmpfs", PLACE)
    # The names of the images are those in this place: `loop0 is the file /vps-a.img`.
    images = PLACE / "images"
    for path in (HOME, images, PLACE / FREE, PLACE / LIMITED):
        path.mkdir()
    call("mount", "--bind", directory, images)
    for name in (FREE, LIMITED):
        image = images / f"{name}.img"
        image.touch()
        os.truncate(image, _SIZE)
        call("mkfs.ext4", "-q", "-F", image)
        call("mount", "-o", "loop,noatime", image, PLACE / name)
        # Not every file system can: then the page cache answers, as the findings say.
        tried("losetup", "--direct-io=on", node_of(name))
    call("umount", "--lazy", images)
    _GROUPS.append(group)
    limit(IOPS, MB_PER_S)
    os.chdir(HOME)


def limit(iops: int, mb_per_s: int) -> None:
    """What `LIMITED` gets from now on."""
    for way in ("read", "write"):
        _GROUPS[-1].throttle(node_of(LIMITED)).limit(way, iops=iops, bytes_per_s=mb_per_s * 10**6)


@cache
def node_of(name: str) -> str:
    return call("findmnt", "--noheadings", "--output", "SOURCE", PLACE / name)


def diskprof(*words: str) -> str:
    """What the program prints; exits where it fails."""
    done = subprocess.run([sys.executable, "-m", "diskprof", *words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"diskprof {' '.join(words)} ended with {done.returncode}")
    return done.stdout.strip()


class DemoSession(Session):
    """This machine without the loop devices of others."""

    def scan(self) -> DeviceTree:
        return self._without_others(super().scan())

    def topology(self) -> DeviceTree:
        return self._without_others(super().topology())

    @staticmethod
    def _without_others(tree: DeviceTree) -> DeviceTree:
        ours = {Path(node_of(name)).name for name in (FREE, LIMITED)}
        return DeviceTree(tuple(each for each in tree.devices if each.kind is not DeviceKind.LOOP or each.name in ours))

    def row_of(self, name: str) -> int:
        """The row of the disk in the list of devices, from 0."""
        return [device.node for _, device in self.scan().walk()].index(node_of(name))
