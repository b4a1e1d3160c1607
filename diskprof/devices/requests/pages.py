"""Pages of the kernel's trace buffer (`trace_pipe_raw`) to the requests in them.

The page has no text to be formatted, which takes more than all that is done with it here. Its form is the kernel's
Documentation/trace/ring-buffer-design.rst, where fields lie in an event its `format` says (F98).
"""

import re
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from diskprof.model.errors import DiskprofError

RequestEvent = tuple[int, bool, tuple[Any, ...]]
"""Time in ns (CLOCK_MONOTONIC), whether the request completes, and of it: when it completes (sector, sectors), when it is issued
(thread in whose time, sector, sectors, kind (rwbs), name of the thread)."""

_FIELD = re.compile(r"\sfield:[^;]*?\b(\w+)(?:\[\d*\])?;\s*offset:(\d+);\s*size:(\d+);")
_HEADER = struct.Struct("=QQ")
_HALF, _WORD = struct.Struct("=H"), struct.Struct("=I")
KIND_BYTES = 8
_DATA = 16
_SIZE = (1 << 27) - 1
_PADDING, _EXTEND, _STAMP = 29, 30, 31
_SHIFT = 27
_STAMP_BITS = (1 << 59) - 1


class EventFormat(NamedTuple):
    """The number of a kind of event, and what reads its fields."""

    number: int
    fields: Callable[[bytes, int], tuple[Any, ...]]


def issue_format(text: str) -> EventFormat:
    """What `events/block/block_rq_issue/format` says. Raises DiskprofError where a field is missing or of another size."""
    sizes = (("common_pid", "i"), ("sector", "Q"), ("nr_sector", "I"), ("rwbs", f"{KIND_BYTES}s"), ("comm", "16s"))
    return _format(text, sizes)


def complete_format(text: str) -> EventFormat:
    """As `issue_format`, of `block_rq_complete`."""
    return _format(text, (("sector", "Q"), ("nr_sector", "I")))


def _format(text: str, wanted: tuple[tuple[str, str], ...]) -> EventFormat:
    found = {name: (int(offset), int(size)) for name, offset, size in _FIELD.findall(text)}
    number = re.search(r"^ID: (\d+)$", text, re.MULTILINE)
    form, at = "=", 0
    for name, code in wanted:
        offset, size = found.get(name, (-1, 0))
        own = struct.calcsize(f"={code}")
        # The kind is as long as there are letters for it: 8 bytes, or 10 since 6.16.
        if number is None or offset < at or (size < own if name == "rwbs" else size != own):
            raise DiskprofError(
                "This kernel traces requests in a form that is not known.", "Watch it without --requests."
            )
        form += f"{offset - at}x{code}"
        at = offset + own
    assert number
    return EventFormat(int(number[1]), struct.Struct(form).unpack_from)


class PageReader:
    """Reads pages whose events are `issue` and `complete`; others are passed over."""

    def __init__(self, issue: EventFormat, complete: EventFormat) -> None:
        if sys.byteorder != "little" or struct.calcsize("@l") != 8:
            raise DiskprofError(
                "Requests are traced on 64-bit little-endian machines alone.", "Watch it without --requests."
            )
        self._fields = {each.number: (each is complete, each.fields) for each in (issue, complete)}

    def read(self, page: bytes, events: list[RequestEvent]) -> None:
        """Adds the events of a page, in the order of their time. That some before it were lost the kernel counts elsewhere.

        Raises DiskprofError for what is no page.
        """
        if len(page) < _DATA:
            raise _broken()
        at_ns, commit = _HEADER.unpack_from(page)
        end, at = _DATA + (commit & _SIZE), _DATA
        if end > len(page):
            raise _broken()
        word, half, fields, add = _WORD.unpack_from, _HALF.unpack_from, self._fields, events.append
        try:
            while at < end:
                (head,) = word(page, at)
                kind = head & 31
                at_ns += head >> 5
                if 0 < kind < _PADDING:
                    data, at = at + 4, at + 4 + 4 * kind
                elif kind == 0:
                    data, at = at + 8, at + 4 + word(page, at + 4)[0]
                    if at <= data:
                        raise _broken()
                elif kind == _PADDING:
                    if not head >> 5:
                        break
                    at += 4 + word(page, at + 4)[0]
                    continue
                else:
                    (high,) = word(page, at + 4)
                    if kind == _EXTEND:
                        at_ns += high << _SHIFT
                    else:
                        at_ns = at_ns & ~_STAMP_BITS | high << _SHIFT | head >> 5
                    at += 8
                    continue
                if found := fields.get(half(page, data)[0]):
                    add((at_ns, found[0], found[1](page, data)))
        except struct.error:
            raise _broken() from None


def _broken() -> DiskprofError:
    return DiskprofError("The kernel's trace of requests cannot be read.", "Watch it without --requests.")
