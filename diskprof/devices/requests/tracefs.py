"""A trace of its own in tracefs, of the requests of one device; nobody else's tracing is touched.

An instance is removed when the watch ends. What a killed watch left is removed by the next: one whose process lives is left
alone, and one that is in use cannot be removed, for its owner holds files of it open.
"""

import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from diskprof.devices.requests.pages import EventFormat, PageReader, RequestEvent, complete_format, issue_format
from diskprof.devices.scan.files import SYSTEM, Roots, read_bytes, read_text
from diskprof.model.device import Device, DeviceKind
from diskprof.model.errors import UsageError

_NAME = "diskprof-"
_MOUNT = "mount -t tracefs tracefs /sys/kernel/tracing"
_ALL_BYTES, _MOST_BYTES, _LEAST_BYTES = 64 << 20, 8 << 20, 512 << 10
"""Of the buffers of all processors together, and of each."""
_PAGE = 1 << 16
_ISSUE, _COMPLETE = "block_rq_issue", "block_rq_complete"


def tracefs(roots: Roots = SYSTEM) -> Path | None:
    """Where tracefs is mounted; None where it is not."""
    for line in os.fsdecode(read_bytes(roots.proc / "self" / "mounts")).splitlines():
        words = line.split(" ")
        if len(words) > 2 and words[2] == "tracefs":
            return Path(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), words[1]))
    return None


def why_untraced(device: Device, roots: Roots = SYSTEM) -> UsageError | None:
    """Why the requests of a device cannot be traced here, and what to do about it; None where they can."""
    disk = device.parents[0] if device.kind is DeviceKind.PARTITION and device.parents else device.name
    if not (roots.blocks / disk / "mq").exists():
        instead = f"its disk: {device.parents[0]}" if device.parents else "a whole disk or a partition"
        return UsageError(f"The kernel traces no requests of {device.title}.", f"Watch {instead}.")
    if os.geteuid():
        from diskprof.devices.targets import sudo_command

        return UsageError("Requests are traced by root alone.", f"As root: {sudo_command()}")
    place = tracefs(roots)
    if place is None:
        return UsageError("Requests cannot be traced: tracefs is not mounted.", f"As root: {_MOUNT}")
    if not os.access(place / "instances", os.W_OK) or not (place / "events" / "block" / _ISSUE).exists():
        return UsageError(
            f"Requests cannot be traced: {place} has no events of block devices for this process.",
            "In a container: give it the host's tracefs, writable.",
        )
    return None


class TraceInstance:
    """Traces from `began_ns` (CLOCK_MONOTONIC), in its construction, to `close`. Raises UsageError where that cannot be."""

    def __init__(self, device: Device, roots: Roots = SYSTEM) -> None:
        if refusal := why_untraced(device, roots):
            raise refusal
        place = tracefs(roots)
        assert place is not None
        remove_leftovers(place, roots)
        self._place = place / "instances" / f"{_NAME}{os.getpid()}-{secrets.token_hex(3)}"
        self._files: list[int] = []
        try:
            self._place.mkdir()
            self._reader = self._begin(_filter(device, roots))
        except OSError as error:
            self.close()
            raise UsageError(
                f"Requests cannot be traced: {error.strerror} ({error.filename}).", "Check dmesg."
            ) from None
        except BaseException:
            # Interrupted too, no instance may stay behind, tracing for nobody.
            self.close()
            raise

    def _begin(self, condition: str) -> PageReader:
        cpus = sorted(self._place.glob("per_cpu/cpu*"))
        kilobytes = max(_LEAST_BYTES, min(_MOST_BYTES, _ALL_BYTES // max(1, len(cpus)))) >> 10
        self._write("trace_clock", "mono")
        self._write("buffer_size_kb", str(kilobytes))
        # Of what is lost the newest: what was issued before is then known to have been.
        self._write("options/overwrite", "0")
        formats = [self._format(name) for name in (_ISSUE, _COMPLETE)]
        reader = PageReader(*formats)
        self._files = [os.open(cpu / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC) for cpu in cpus]
        self._counts = [cpu / "stats" for cpu in cpus]
        self._lost = 0
        for name in (_COMPLETE, _ISSUE):
            self._write(f"events/block/{name}/filter", condition)
        # To make the buffers takes a while, in which nothing is traced.
        self.began_ns = time.monotonic_ns()
        for name in (_COMPLETE, _ISSUE):
            self._write(f"events/block/{name}/enable", "1")
        return reader

    def _format(self, event: str) -> EventFormat:
        text = read_text(self._place / "events" / "block" / event / "format")
        return issue_format(text) if event == _ISSUE else complete_format(text)

    def _write(self, name: str, text: str) -> None:
        path = self._place / name
        file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)

    def read(self) -> list[RequestEvent]:
        """What happened since the last call, processor by processor."""
        events: list[RequestEvent] = []
        for page in self._pages():
            self._reader.read(page, events)
        return events

    def _pages(self) -> Iterator[bytes]:
        for file in self._files:
            with suppress(BlockingIOError):
                while page := os.read(file, _PAGE):
                    yield page

    def lost(self) -> int:
        """How many events had no room since the last call."""
        found = "\n".join(map(read_text, self._counts))
        whole = sum(map(int, re.findall(r"^(?:overrun|dropped events): (\d+)$", found, re.MULTILINE)))
        lost, self._lost = max(0, whole - self._lost), whole
        return lost

    def close(self) -> None:
        """Ends the trace, and removes all of it."""
        for file in self._files:
            os.close(file)
        self._files = []
        with suppress(OSError):
            self._place.rmdir()


def remove_leftovers(place: Path, roots: Roots = SYSTEM) -> None:
    """Removes instances of watches that were killed."""
    with suppress(OSError):
        for left in (place / "instances").iterdir():
            pid = left.name.removeprefix(_NAME).partition("-")[0]
            # A watch that is just beginning has none of its files open yet.
            if left.name.startswith(_NAME) and not (roots.proc / pid).exists():
                with suppress(OSError):
                    left.rmdir()


def _filter(device: Device, roots: Roots) -> str:
    if device.kind is not DeviceKind.PARTITION:
        return f"dev == {device.major << 20 | device.minor}"
    # Requests are the disk's.
    major, _, minor = read_text(roots.blocks / device.parents[0] / "dev").partition(":")
    first, size = (device.start_bytes or 0) // 512, device.size_bytes // 512
    # Who empties the cache of a partition empties that of its disk.
    inside = f"(sector >= {first} && sector < {first + size}) || nr_sector == 0"
    return f"dev == {int(major or 0) << 20 | int(minor or 0)} && ({inside})"
