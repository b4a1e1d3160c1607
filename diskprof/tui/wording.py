"""The same words, signs and colours for the same thing on every screen."""

from diskprof.model.plan import Severity
from diskprof.model.run import Run, Status
from diskprof.model.sample import Direction
from diskprof.tui.widgets.painted import Piece

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
    Status.INTERRUPTED: "danger",
    Status.SKIPPED: "quiet",
}
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
