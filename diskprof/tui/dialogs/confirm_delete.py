"""Asks before runs are deleted."""

from collections.abc import Sequence

from diskprof.model.cells import shorten_middle
from diskprof.model.run import RunSummary
from diskprof.model.text import clean
from diskprof.tui.dialogs.confirm import Answer, Ask

_SHOWN = 8
DELETE = "delete"


class DeleteModal(Ask):
    """Dismissed with DELETE if the person says yes; Enter keeps the runs."""

    def __init__(self, runs: Sequence[RunSummary]) -> None:
        lines = [f"{run.id}  {shorten_middle(clean(f'{run.preset} on {run.target}'), 58)}" for run in runs[:_SHOWN]]
        if len(runs) > _SHOWN:
            lines.append(f"and {len(runs) - _SHOWN} more")
        one = len(runs) == 1
        lines += ["", f"{'It stays' if one else 'They stay'} in the trash for a week."]
        super().__init__(
            "Delete this run?" if one else f"Delete these {len(runs)} runs?",
            "\n".join(lines),
            (
                Answer("n", "Keep" if one else "Keep them", "keep"),
                Answer("y", "Delete" if one else f"Delete all {len(runs)}", DELETE, danger=True),
            ),
        )
