"""The same words, signs and colours for the same thing on every screen."""

from datetime import datetime

from diskprof.model.plan import Severity
from diskprof.model.run import Run, Status
from diskprof.model.sample import Direction
from diskprof.tui.kit.painted import Piece
from diskprof.tui.kit.sheet import Tone

SIGNS = {
    Status.PENDING: "·",
    Status.RUNNING: "▶",
    Status.COMPLETE: "✓",
    Status.CANCELLED: "■",
    Status.FAILED: "✗",
    Status.INTERRUPTED: "!",
    Status.SKIPPED: "-",
}
_INKS: dict[Status, str] = {
    Status.PENDING: "quiet",
    Status.RUNNING: "title",
    Status.COMPLETE: "good",
    Status.CANCELLED: "warn",
    Status.FAILED: "danger",
    Status.INTERRUPTED: "warn",
    Status.SKIPPED: "quiet",
}
TONES = {
    Status.PENDING: Tone.DIM,
    Status.RUNNING: Tone.LIVE,
    Status.COMPLETE: Tone.GOOD,
    Status.CANCELLED: Tone.WARN,
    Status.FAILED: Tone.BAD,
    Status.INTERRUPTED: Tone.WARN,
    Status.SKIPPED: Tone.DIM,
}
"""The colours of a list."""
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SEVERITY: dict[Severity, tuple[str, str]] = {
    Severity.BLOCKS: ("✗", "danger"),
    Severity.WARNS: ("!", "warn"),
    Severity.NOTES: ("·", "quiet"),
}


def status_sign(status: Status) -> Piece:
    return SIGNS[status], _INKS[status]


def status_words(status: Status) -> Piece:
    """The status as a word in its colour."""
    return status.value, _INKS[status]


def severity_sign(severity: Severity) -> Piece:
    return _SEVERITY[severity]


def letter(direction: Direction) -> str:
    """R or W, beside the colour of a direction."""
    return "R" if direction is Direction.READ else "W"


def ink_of(direction: Direction) -> str:
    return direction.value


def place(run: Run) -> str:
    """What was tested: the path, the device below it and its file system."""
    target = run.plan.target
    about = " ".join(part for part in (target.fs_type, target.device and f"on {target.device_title}") if part)
    path = target.given if target.given.startswith("/") else target.path
    return f"{path} ({about})" if about and target.device_title not in path else path


def status_text(status: Status) -> str:
    """A status with its sign, which says the same without colour: `✓ complete`."""
    return f"{SIGNS[status]} {status}"


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
