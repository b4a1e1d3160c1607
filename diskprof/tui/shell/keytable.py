"""The keys of the screen: each has one meaning on all screens.

Bindings, the help and docs/terminals.md are tested against this table.
"""

from __future__ import annotations

from msgspec import Struct


class Key(Struct, frozen=True):
    """`keys` as they are typed, with blanks between them.

    `names` are ids of bindings, or their ends: `tags` for `runs.tags` and `result.tags`.
    """

    keys: str
    means: str
    names: tuple[str, ...]


KEYS = (
    Key("1 2 3 4", "The four screens: Run, Live, Runs, Compare", ("app.run", "app.live", "app.runs", "app.compare")),
    Key("? f1", "Help for this screen", ("help", "help-f1")),
    Key(": ctrl+p", "Command palette", ("palette", "palette-colon")),
    Key("q", "Quit", ("quit",)),
    Key("y", "Copy", ("copy",)),
    Key("up k", "Up", ("up", "form.previous", "target.previous")),
    Key("down j", "Down", ("down", "form.next", "target.next")),
    Key("pageup", "Page up", ("page-up",)),
    Key("pagedown", "Page down", ("page-down",)),
    Key("home g", "First row", ("first",)),
    Key("end G", "Last row; accept a suggestion", ("last", "take")),
    Key("left h", "Left: column, chart cursor or pane", ("left", "earlier", "devices")),
    Key("right l", "Right: column, chart cursor or pane; accept a suggestion", ("right", "later", "presets", "take")),
    Key("shift+left", "Chart cursor ten steps left", ("much-earlier",)),
    Key("shift+right", "Chart cursor ten steps right", ("much-later",)),
    Key("tab", "Next pane or field; complete a path", ("next-pane", "import.next", "complete")),
    Key("enter", "Open, start or confirm", ("start", "open", "answer")),
    Key("esc", "Back: close, clear the filter", ("back", "leave", "unfilter", "runs.all", "close")),
    Key("backspace", "Back to the list of runs", ("list",)),
    Key("space", "Mark a run or a target; in a result, page down", ("mark", "more")),
    Key("/", "Filter", ("filter",)),
    Key(
        "a",
        "Show all rows, or hide the less important; in Runs, attach to a run in progress",
        ("run.all", "conditions", "attach"),
    ),
    Key("b", "Change the base of a comparison", ("base",)),
    Key("B", "Compare by tag, or each run by itself", ("compare.arms",)),
    Key("c", "Compare", ("runs.compare", "result.compare", "live.compare")),
    Key("C", "Show the commands", ("commands",)),
    Key("d", "Delete", ("delete", "leftovers")),
    Key("e", "Edit", ("edit",)),
    Key("E", "Edit, rename or delete your own preset", ("own",)),
    Key("f", "Follow the current test", ("follow",)),
    Key("*", "Add to or remove from the favourites", ("favourite",)),
    Key("i", "Import a preset", ("import",)),
    Key("I", "Reverse the sort order", ("reverse",)),
    Key("H", "History of like runs", ("history",)),
    Key("K", "Kernel statistics (iostat)", ("kernel",)),
    Key("m", "Next chart", ("metric", "chart")),
    Key("M", "Mimic: a preset of the load that a run watched", ("mimic",)),
    Key("n", "Next test", ("compare.next",)),
    Key("p", "Previous test", ("compare.previous",)),
    Key("N", "Next run in progress", ("live.next",)),
    Key("P", "Previous run in progress", ("live.previous",)),
    Key("o", "Other target", ("other",)),
    Key("Q", "What should I run?", ("question",)),
    Key("r", "Report", ("export", "report")),
    Key("R", "Run again", ("again", "rerun")),
    Key("ctrl+r", "Rescan devices and presets", ("rescan",)),
    Key("s", "Stop the run", ("stop",)),
    Key("S", "Sort by the next column", ("order",)),
    Key("t", "Tags and note", ("tags",)),
    Key("u", "Undo", ("undo",)),
    Key("U", "Unmark all", ("unmark",)),
    Key("v", "Next variant of a preset", ("variant",)),
    Key("V", "Sweep or limit: all tests, or the chart of one", ("sweep",)),
    Key("w", "Save as a preset", ("save",)),
    Key("W", "Watch the device", ("watch",)),
    Key("x", "Allow overwriting the device", ("allow",)),
    Key("X", "Sweep: next value of the other axes; limit: trials or load curve", ("panel",)),
    Key("z", "Zoom the chart", ("zoom",)),
    Key("+", "Refresh more often", ("faster",)),
    Key("-", "Refresh less often", ("slower",)),
    Key("ctrl+l", "Redraw", ("redraw",)),
    Key("ctrl+z", "Suspend", ("suspend",)),
)


def meaning_of(name: str, shown: str) -> str:
    """What the key that is written as `shown` means for the binding called `name`; empty if the table has no such row."""
    end = name.partition(".")[2]
    return next((key.means for key in KEYS if shown in key.keys.split() and {name, end} & {*key.names}), "")


def markdown() -> str:
    """The table for the documents."""
    rows = [f"| {' '.join(f'`{key}`' for key in row.keys.split())} | {row.means} |" for row in KEYS if row.names]
    return "| key | meaning |\n|---|---|\n" + "\n".join(rows) + "\n"
