"""The colours of the words that all parts share, and how a run, its status and its time are written on every screen."""

from datetime import datetime

from diskprof.model.run import Run, Status
from diskprof.reports.words import STATUSES, Meaning, Word
from diskprof.tui.kit.painted import Piece

_INKS = {
    Meaning.PLAIN: "",
    Meaning.STRONG: "strong",
    Meaning.TITLE: "title",
    Meaning.GOOD: "good",
    Meaning.BAD: "danger",
    Meaning.WARNING: "warn",
    Meaning.LIMIT: "strong",
    Meaning.QUIET: "quiet",
    Meaning.RUNNING: "title",
    Meaning.READ: "read",
    Meaning.WRITE: "write",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def ink(meaning: Meaning) -> str:
    return _INKS[meaning]


def ink_of(word: Word) -> str:
    return ink(word.meaning)


def sign_of(word: Word) -> Piece:
    return word.sign, ink_of(word)


def word_of(word: Word) -> Piece:
    """The word in its colour."""
    return word.word, ink_of(word)


def place(run: Run) -> str:
    """What was tested: the path, the device below it and its file system."""
    target = run.plan.target
    about = " ".join(part for part in (target.fs_type, target.device and f"on {target.device_title}") if part)
    path = target.given if target.given.startswith("/") else target.path
    return f"{path} ({about})" if about and target.device_title not in path else path


def status_text(status: Status) -> str:
    """A status with its sign, which says the same without colour: `✓ complete`."""
    return f"{STATUSES[status].sign} {STATUSES[status].word}"


def whole_parts(headline: str, width: int) -> str:
    """As much of a headline as fits, up to one of its commas: a figure without its end says something else."""
    found = headline
    while True:
        # The word IOPS may go before a figure does, which tells by its form.
        for text in (found, found.removesuffix(" IOPS")):
            if len(text) <= width:
                return text
        if ", " not in found:
            return headline
        found = found.rpartition(", ")[0]


def when_text(started: datetime, now: datetime) -> str:
    """When a run began, in at most twelve characters: `12 min ago`, `5 h ago`, `Mon 14:02`, `21 Nov 14:02`, `2023-11-21`."""
    local, here = started.astimezone(), now.astimezone()
    seconds = (here - local).total_seconds()
    if 0 <= seconds < 60:
        return "just now"
    if 60 <= seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if 0 <= seconds < 86400:
        return f"{int(seconds // 3600)} h ago"
    if 0 <= seconds < 6 * 86400:
        return f"{_DAYS[local.weekday()]} {local:%H:%M}"
    if local.year == here.year:
        return f"{local.day:>2} {_MONTHS[local.month - 1]} {local:%H:%M}"
    return f"{local:%Y-%m-%d}"
