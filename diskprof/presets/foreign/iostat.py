"""What `iostat -x` printed, pasted, -> the load that it tells of.

Of sysstat before 12 (`avgrq-sz` in sectors, `await`) and since (`rareq-sz` in KiB, `aqu-sz`), with -k, -m or without, of as many
intervals as there are. The first report of iostat is of all time since the machine was started: of several it is left out.
"""

import re
from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct

from diskprof.model.errors import UsageError
from diskprof.model.sample import Direction
from diskprof.model.seen_load import LoadSource, SeenLoad, SeenSize, rate_levels
from diskprof.model.text import clean

LONGEST_TEXT = 1 << 20
_SECTOR = 512
_UNITS = {"rkB/s": 1 << 10, "rMB/s": 1 << 20, "rsec/s": _SECTOR, "wkB/s": 1 << 10, "wMB/s": 1 << 20, "wsec/s": _SECTOR}
_HEAD = re.compile(r"^\s*Device:?\s")


class _Report(Struct, frozen=True):
    """A line of iostat's: requests and bytes a second of reads and writes, the mean queue; None where it had no such column."""

    reads: float
    writes: float
    read_bytes: float | None
    write_bytes: float | None
    queue: float | None
    flushes: float | None


def load_of_iostat(text: str, device: str = "") -> tuple[str, SeenLoad]:
    """The device and its load: of `device`, or of the only one, or of the busiest of several.

    Raises UsageError for a text without extended statistics, or without that device.
    """
    reports = _reports(text[:LONGEST_TEXT])
    wanted = device.removeprefix("/dev/")
    if wanted and wanted not in reports:
        raise UsageError(f"iostat told nothing of {clean(wanted[:40])}.", f"It has {clean(', '.join(reports)[:200])}.")
    name = wanted or max(reports, key=lambda each: sum(one.reads + one.writes for one in reports[each]))
    found = reports[name]
    counted = found[1:] if len(found) > 1 else found
    return name, _load(counted)


def _reports(text: str) -> dict[str, list[_Report]]:
    found: dict[str, list[_Report]] = {}
    columns: list[str] = []
    for line in text.splitlines():
        words = line.replace("\xa0", " ").split()
        if _HEAD.match(line):
            columns = [word.rstrip(":") for word in words]
        elif len(words) < 2 or not columns or words[0].endswith(":"):
            columns = columns if words else []
        elif len(words) == len(columns) and "r/s" in columns and "w/s" in columns:
            report = _report(dict(zip(columns[1:], words[1:], strict=True)))
            if report:
                found.setdefault(clean(words[0]), []).append(report)
    if found:
        return found
    raise UsageError(
        "There is no line of extended statistics of iostat: a head with Device, r/s and w/s, and lines below it.",
        "Paste the output of: iostat -x 1 60",
    )


def _report(values: dict[str, str]) -> _Report | None:
    try:
        numbers = {name: float(text.replace(",", ".")) for name, text in values.items()}
    except ValueError:
        return None
    if any(not 0 <= value < 1e15 for value in numbers.values()):
        return None
    reads, writes = numbers["r/s"], numbers["w/s"]

    def amount(letter: str, rate: float) -> float | None:
        for name, unit in _UNITS.items():
            if name.startswith(letter) and name in numbers:
                return numbers[name] * unit
        for name, unit in ((f"{letter}areq-sz", 1 << 10), ("areq-sz", 1 << 10), ("avgrq-sz", _SECTOR)):
            if name in numbers:
                return numbers[name] * unit * rate
        return None

    queue = next((numbers[name] for name in ("aqu-sz", "avgqu-sz") if name in numbers), None)
    return _Report(reads, writes, amount("r", reads), amount("w", writes), queue, numbers.get("f/s"))


def _load(reports: Sequence[_Report]) -> SeenLoad:
    read = _size(Direction.READ, [(each.reads, each.read_bytes) for each in reports])
    write = _size(Direction.WRITE, [(each.writes, each.write_bytes) for each in reports])
    queues = [each.queue for each in reports if each.queue is not None]
    flushes, writes = (
        [each.flushes for each in reports if each.flushes is not None],
        sum(each.writes for each in reports),
    )
    return SeenLoad(
        LoadSource.IOSTAT,
        float(len(reports)),
        (*read, *write),
        fmean(queues) if queues else None,
        highest_per_s=max(each.reads + each.writes for each in reports),
        flushes=sum(flushes) / writes if flushes and writes else None,
        levels=rate_levels([each.reads + each.writes for each in reports]),
    )


def _size(direction: Direction, amounts: Sequence[tuple[float, float | None]]) -> tuple[SeenSize, ...]:
    """The mean size of a direction. Raises UsageError where there is no column to know it from."""
    rate = fmean(one for one, _ in amounts)
    if not rate:
        return ()
    known = [(one, size) for one, size in amounts if size is not None]
    if not known:
        raise UsageError(
            "iostat told no sizes: it has no column such as rkB/s or rareq-sz.", "Paste the output of: iostat -xk 1 60"
        )
    requests = sum(one for one, _ in known)
    size = sum(size for _, size in known) / requests if requests else 0
    return (SeenSize(direction, max(1, round(size)), rate),)
