"""Devices as udev knows them, and word of those that come and go. The only importer of pyudev.

Without udevd nothing here fails: sysfs tells what there is, the kernel itself tells of changes (F34, F36).
"""

import select
import socket
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from diskprof.devices.scan.files import SYSTEM, KeptOpen, Roots, list_names
from diskprof.devices.scan.tree import PropertyLookup, build_tree, no_properties
from diskprof.model.device import DeviceTree

_NETLINK_KOBJECT_UEVENT = 15
_KERNEL_EVENTS = 1
_UEVENT_SIZE = 1 << 16
_LOOK_AGAIN_S = 1.0


def udev_runs(roots: Roots = SYSTEM) -> bool:
    """Whether udevd runs, by the sign that libudev itself goes by."""
    return (roots.run / "udev" / "control").exists()


def scan() -> DeviceTree:
    """Every block device at this moment. Never fails: what cannot be read is not known."""
    return build_tree(SYSTEM, _property_lookup())


def topology() -> DeviceTree:
    """As `scan`, but nothing is read of the devices themselves, which may be measured at this moment.

    What lies on them is known as far as udev and the mounts tell it.
    """
    return build_tree(SYSTEM, _property_lookup(), lambda path, size_bytes: None)


def _property_lookup() -> PropertyLookup:
    # Without udevd's data base udev knows no more than sysfs (F34), and pyudev need not be loaded (F44).
    if not (SYSTEM.run / "udev" / "data").is_dir():
        return no_properties
    try:
        import pyudev

        context = pyudev.Context()
    except ImportError:
        return no_properties

    def lookup(name: str) -> Mapping[str, str]:
        try:
            return dict(pyudev.Devices.from_name(context, "block", name).properties)
        except (pyudev.DeviceNotFoundError, OSError, ValueError):
            return {}

    return lookup


class Monitor:
    """Tells when devices or mounts have changed: events wake it, and what can be seen decides.

    `fileno()` becomes readable when there may be something to look at. Events do not cross into every container, so an
    event loop should also call `changed()` about once a second; it reads three small files, however many devices there are.
    """

    def __init__(self, roots: Roots = SYSTEM) -> None:
        self._roots = roots
        self._blocks = roots.blocks
        self._compared = tuple(KeptOpen(roots.proc / name) for name in ("partitions", "self/mountinfo", "swaps"))
        self._epoll = select.epoll()
        self._drain: Callable[[], bool] = _nothing
        self._close: list[Callable[[], None]] = [self._epoll.close, *(file.close for file in self._compared)]
        self.source = self._listen()
        self._watch_mounts()
        self._seen = self._look()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the descriptors back; `changed` then compares the names of devices alone."""
        self._drain = _nothing
        while self._close:
            self._close.pop()()

    def fileno(self) -> int:
        return self._epoll.fileno()

    def changed(self, timeout_s: float | None = 0) -> bool:
        """Whether anything has changed since the last call, waiting for it up to `timeout_s` (None: for ever)."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            # All events first: what is looked at afterwards is then newer than any of them.
            heard = self._drain()
            seen = self._look()
            if heard or seen != self._seen:
                self._seen = seen
                return True
            left = _LOOK_AGAIN_S if end is None else end - time.monotonic()
            if left <= 0:
                return False
            self._wait(min(left, _LOOK_AGAIN_S))

    def _wait(self, seconds: float) -> None:
        if self._epoll.closed:
            raise ValueError("The monitor is closed.")
        self._epoll.poll(seconds)

    def _look(self) -> tuple[object, ...]:
        """What is compared: the devices, their sizes, and what is mounted (F83)."""
        return list_names(self._blocks), *(file.read() for file in self._compared)

    def _listen(self) -> str:
        if udev_runs(self._roots) and self._listen_to_udev():
            return "udev"
        return "kernel" if self._listen_to_kernel() else "comparison"

    def _listen_to_udev(self) -> bool:
        try:
            import pyudev

            monitor = pyudev.Monitor.from_netlink(pyudev.Context(), source="udev")
            monitor.filter_by("block")
            monitor.start()
        except (ImportError, OSError):
            return False

        def drain() -> bool:
            heard = False
            try:
                while monitor.poll(timeout=0) is not None:
                    heard = True
            except OSError:  # more events than the socket holds
                heard = True
            return heard

        self._epoll.register(monitor.fileno(), select.EPOLLIN)
        self._drain = drain
        return True

    def _listen_to_kernel(self) -> bool:
        """The source that pyudev calls `kernel`, which alone speaks without udevd (F34), and needs no libudev."""
        try:
            link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, _NETLINK_KOBJECT_UEVENT)
        except OSError:
            return False
        try:
            link.bind((0, _KERNEL_EVENTS))
        except OSError:
            link.close()
            return False
        self._epoll.register(link, select.EPOLLIN)
        self._close.append(link.close)
        self._drain = lambda: _drain_kernel(link)
        return True

    def _watch_mounts(self) -> None:
        # The kernel flags a change of the mounts on an open mountinfo as urgent data.
        try:
            file = (self._roots.proc / "self" / "mountinfo").open("rb")
        except OSError:
            return
        self._close.append(file.close)
        try:
            self._epoll.register(file, select.EPOLLPRI)
        except OSError:  # an ordinary file, in a test
            return


def _nothing() -> bool:
    return False


def _drain_kernel(link: socket.socket) -> bool:
    heard = False
    while True:
        try:
            event, (sender, _) = link.recvfrom(_UEVENT_SIZE)
        except BlockingIOError:
            return heard
        except OSError:  # more events than the socket holds
            heard = True
            continue
        heard = heard or (sender == 0 and b"SUBSYSTEM=block" in event.split(b"\0"))
