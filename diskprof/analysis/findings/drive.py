"""What the drives counted themselves in the time of a run."""

from collections.abc import Iterator, Sequence

from diskprof.model.drive import DriveCount
from diskprof.model.run import Finding, Run, Weight
from diskprof.model.units import format_size

AMPLIFIED = 2.0
"""Bytes on the flash for each of the host from which that is told: most drives that are not full stay below."""


def drive_errors(run: Run) -> Finding | None:
    """A drive counted errors that were not there before the first test."""
    evidence = list(_counts((drive.device, drive.new_errors) for drive in run.drives))
    if not evidence:
        return None
    return Finding(
        "drive-errors",
        Weight.DOUBT,
        "The drive reported new errors in the time of the run.",
        "; ".join(evidence),
        "Back up the data, check cable and dmesg, start a long self-test (smartctl -t long), and repeat the run.",
    )


def drive_throttled(run: Run) -> Finding | None:
    """A drive counted times in which it slowed down, or was hotter than it should be."""
    evidence = list(_counts((drive.device, drive.new_heat) for drive in run.drives))
    if not evidence:
        return None
    return Finding(
        "drive-throttled",
        Weight.LIMIT,
        "The drive counted thermal events: it was too hot.",
        "; ".join(evidence),
        "Improve cooling and rerun; this result shows the drive as installed.",
    )


def write_amplification(run: Run) -> Finding | None:
    """A drive wrote far more to its flash than the host wrote to it."""
    evidence = []
    for drive in run.drives:
        factor = drive.amplification
        if factor is not None and factor >= AMPLIFIED:
            written = f" for {format_size(drive.host_bytes)} from the host" if drive.host_bytes else ""
            evidence.append(f"{drive.device} wrote {factor:.1f} times as much{written}")
    if not evidence:
        return None
    return Finding(
        "write-amplification",
        Weight.NOTE,
        "The drive wrote much more to its flash than it was sent.",
        "; ".join(evidence),
        "Leave more of the drive unused, or discard free blocks (fstrim), and rerun: such writes cost speed and endurance.",
    )


def _counts(drives: Iterator[tuple[str, Sequence[DriveCount] | None]]) -> Iterator[str]:
    for device, counts in drives:
        if counts:
            yield f"{device}: {', '.join(f'{each.count:,} {each.name}' for each in counts)}"
