"""What a person wants to know of a disk, and the preset with the values that answer it on this one."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

_GIB = 1 << 30


class Question(StrEnum):
    """What a run is to tell."""

    GENERAL = "general"
    COMPARE = "compare"
    PROMISE = "promise"
    DATABASE = "database"
    LOG = "log"
    BACKUP = "backup"
    LASTING = "lasting"


class DiskFacts(Struct, frozen=True):
    """What is known of the disk. `room_bytes`: free on the file system; None: no file system. `cloud`: whose machine it is."""

    size_bytes: int = 0
    room_bytes: int | None = None
    virtual: bool = False
    cloud: str = ""


class Suggestion(Struct, frozen=True):
    """A preset by its name, values for its parameters, and why."""

    preset: str
    settings: Mapping[str, str]
    why: str


_OF_CLOUD = {
    "AWS": ("aws-ebs-ssd", 16),
    "Google Cloud": ("google-persistent-disk", 16),
    "Azure": ("azure-max-read-iops", 4),
    "Oracle Cloud": ("oracle-block-volume", 1),
    "DigitalOcean": ("digitalocean-volume", 1),
    "Alibaba Cloud": ("alibaba-cloud-disk", 1),
}
"""By the name of the cloud: the preset of its own page, and of how many files one after the other it makes."""

_DEFAULTS = {
    "aws-ebs-ssd": _GIB,
    "google-persistent-disk": 10 * _GIB,
    "azure-max-read-iops": 30 * _GIB,
    "oracle-block-volume": 500 * _GIB,
    "digitalocean-volume": 20 * _GIB,
    "alibaba-cloud-disk": _GIB,
}
"""Their own sizes of a file, which are taken where there is room for them."""

SHARE_OF_ROOM = 0.5
"""A suggestion takes at most half of the free room."""

SHARE_OF_DISK = 0.1
"""Flash that works as a fast cache (SLC) is, with the drives that have it, mostly below a tenth of the capacity."""

LEAST_STREAM, MOST_STREAM = 16 * _GIB, 128 * _GIB
LEAST_PAGES, MOST_PAGES = 4 * _GIB, 32 * _GIB
"""Of pages at random: more than the memory of a drive or controller, and a fiftieth of the disk, beyond its table of blocks."""

SHARE_OF_PAGES = 0.02
BURST = "35m"
"""A full bucket of credits of AWS gp2 lasts 30 minutes, the longest of those that are written down."""


def suggestion(question: Question, facts: DiskFacts) -> Suggestion:
    """What answers a question on a disk of which that is known."""
    match question:
        case Question.GENERAL:
            return Suggestion("quick", {}, "Six short tests: what the disk can do, in half a minute.")
        case Question.COMPARE:
            return Suggestion("quick", {"runtime": "10s"}, "The same tests on both disks, in turn.")
        case Question.PROMISE:
            return _promise(facts)
        case Question.DATABASE:
            size = _size(facts, SHARE_OF_PAGES, LEAST_PAGES, MOST_PAGES)
            long = "5m" if facts.cloud or facts.virtual else "60s"
            why = "Pages and a log of a database"
            if facts.room_bytes is not None and size and facts.room_bytes * SHARE_OF_ROOM >= LEAST_PAGES:
                why += ", on more data than a disk keeps in its memory"
            return Suggestion("postgres-like", {**size, "runtime": long}, f"{why}.")
        case Question.LOG:
            return Suggestion(
                "etcd-fsync", {}, "Small appends, each with an fdatasync: what counts is how long that takes."
            )
        case Question.BACKUP:
            size = _size(facts, SHARE_OF_DISK, LEAST_STREAM, MOST_STREAM)
            return Suggestion("streaming-write", size, "Large writes for 5 minutes: more than a write cache holds.")
        case Question.LASTING:
            return _lasting(facts)


def vendor_of(facts: DiskFacts) -> str:
    """The cloud whose own benchmark there is a preset of; empty: none."""
    return facts.cloud if facts.cloud in _OF_CLOUD else ""


def _promise(facts: DiskFacts) -> Suggestion:
    if not vendor_of(facts):
        return Suggestion("limit", {}, "The highest load that keeps a latency: edit the latency to keep.")
    preset, files = _OF_CLOUD[facts.cloud]
    own, why = _DEFAULTS[preset], f"The benchmark of {facts.cloud}'s own page."
    room = None if facts.room_bytes is None else int(facts.room_bytes * SHARE_OF_ROOM) // files
    if room is None or (room >= own and preset != "oracle-block-volume"):
        return Suggestion(preset, {}, why)
    if room < own:
        why += " Its files are smaller here: there is no room for more."
    return Suggestion(preset, {"size": _words(min(own, room))}, why)


def _lasting(facts: DiskFacts) -> Suggestion:
    if facts.cloud or facts.virtual:
        settings = {"runtime": BURST if facts.cloud == "AWS" else "10m"}
        return Suggestion("burst-model", settings, "Full load until the burst is over, a rest, full load again.")
    size = _size(facts, SHARE_OF_DISK, LEAST_STREAM, MOST_STREAM)
    why = "Writes for 15 minutes: shows where a fast cache is full, and whether the drive gets too hot."
    return Suggestion("streaming-write", {**size, "runtime": "15m"}, why)


def _size(facts: DiskFacts, share: float, least: int, most: int) -> dict[str, str]:
    """For the size of a test file; the preset's own where nothing is known."""
    if facts.room_bytes is None or not facts.size_bytes:
        return {}
    wanted = min(most, max(least, int(facts.size_bytes * share)))
    return {"size": _words(min(wanted, int(facts.room_bytes * SHARE_OF_ROOM)))}


def _words(size: int) -> str:
    """As fio writes it, in whole GiB or MiB, one at the least."""
    return f"{size // _GIB}g" if size >= _GIB else f"{max(1, size >> 20)}m"
