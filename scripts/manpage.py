"""Writes the man page, share/man/man1/diskprof.1, from the commands. With --check it only tells whether it is up to date.

A generator of our own, because click-man makes a page for each command, leaves out examples and arguments, and lets a line that
begins with a quote or a dot vanish.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from diskprof import __version__
from diskprof.cli.main import main as program
from diskprof.model.errors import ExitCode

PAGE = Path(__file__).parents[1] / "share/man/man1/diskprof.1"

DESCRIPTION = """
Without a command, diskprof opens its screen. Keys: 1 selects a test and starts it, 2 shows the run in progress, 3 lists the
runs, 4 compares them; ? is help, q quits. A run continues if the screen is closed or the connection drops; diskprof shows it
again.

The screen needs a terminal; over ssh, ask for one: ssh -t HOST diskprof.

TARGET is a directory (for a temporary test file), an existing file, or a block device (/dev/sda, or sda): both are
only read, unless --allow-write is given for a device. RUN is the id of a run, the beginning of one, a tag, latest, or latest~1
for the one before.
"""

EXIT_CODES = {
    ExitCode.OK: "Fine.",
    ExitCode.FAILED: "Failed: the run or the store; the message says what.",
    ExitCode.USAGE: "Wrong usage: no such preset, target, parameter or run.",
    ExitCode.ENGINE_MISSING: "fio or ioping is missing, broken, too old, or another program of that name.",
    ExitCode.REFUSED: "Refused for safety: somebody could lose data.",
    ExitCode.EXPECTATION_MISSED: "An expectation was not met.",
    ExitCode.REGRESSED: "A gate found a regression.",
    ExitCode.NOT_COMPARABLE: "A gate could not compare: other conditions, too little history, or too much noise.",
    ExitCode.INTERRUPTED: "Interrupted.",
}

ENVIRONMENT = {
    "DISKPROF_STORE": "The run database, as --store.",
    "DISKPROF_HOME": "The directory that has this file, runs.db.",
    "DISKPROF_FIO, DISKPROF_IOPING": "The fio and ioping to use, instead of the first on the PATH.",
    "DISKPROF_SMARTCTL": "The smartctl to ask how far a disk is worn; if it is empty, none is asked.",
    "DISKPROF_CHARTS": "What charts are made of: braille, blocks or ascii. By default what the terminal can be trusted to show.",
    "DISKPROF_ASCII, DISKPROF_NO_MOUSE, DISKPROF_SLOW_LINK": "If one is 1, as --ascii, --no-mouse or --slow-link.",
    "NO_COLOR": "If it is set, the screen keeps to the terminal's own colours.",
    "XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME": "In place of ~/.local/share, ~/.config and ~/.cache.",
}

FILES = {
    "~/.local/share/diskprof/runs.db": "The runs, an SQLite database.",
    "~/.config/diskprof/config.toml": "Settings and keys; `diskprof config init` writes one to begin with.",
    "~/.config/diskprof/presets/*.toml": "Presets of your own.",
    "~/.cache/diskprof/copied.txt": "What was copied last with the key y.",
}


# What roff takes for something else, or prints as a sign that cannot be copied into a shell.
SIGNS = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "~": "\\(ti", "^": "\\(ha", "`": "\\(ga"})


def escaped(text: str) -> str:
    """Text as roff takes it, with no line that is taken for a request."""
    return re.sub(r"^(?=\.)", r"\\&", text.translate(SIGNS), flags=re.MULTILINE)


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help text; what follows click's mark \\b keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.startswith("\b"):
            lines = paragraph.removeprefix("\b").strip("\n")
            yield f".PP\n.nf\n{escaped(lines)}\n.fi"
        else:
            yield ".PP\n" + escaped(" ".join(paragraph.split()))


def items(pairs: dict[str, str]) -> Iterator[str]:
    for name, text in pairs.items():
        yield f".TP\n\\fB{escaped(name)}\\fP\n{escaped(text)}"


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.params:
        # Later versions of click have a record of arguments too, with nothing in it.
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record:
            yield f".TP\n\\fB{escaped(record[0])}\\fP\n{escaped(' '.join(record[1].split()))}"


def commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """Every command of the group, and those of the groups in it."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        usage = " ".join([below.command_path, *command.collect_usage_pieces(below)])
        # Versions of click disagree about a group that does something by itself.
        usage = re.sub(r"\[?COMMAND\]? \[ARGS\]\.\.\.$", "[COMMAND]", usage)
        yield f".SS {escaped(usage)}"
        yield from paragraphs(command.help or "")
        yield from options(command, below)
        if isinstance(command, click.Group):
            yield from commands(command, below)


def page() -> str:
    """The whole page."""
    context = click.Context(program, info_name="diskprof")
    assert isinstance(program, click.Group)
    # The rest of its help is told by other sections.
    head = inspect.cleandoc(program.help or "").partition("\n\n")[0]
    parts = [
        '.\\" Made by scripts/manpage.py: change the commands, not this file.',
        f'.TH DISKPROF 1 "" "diskprof {__version__}" "User Commands"',
        ".nh\n.ad l",
        ".SH NAME",
        escaped("diskprof - what a disk can do: fio and ioping in presets, watched live, kept and compared"),
        ".SH SYNOPSIS",
        "\\fBdiskprof\\fP [OPTION ...] [COMMAND ...]",
        ".SH DESCRIPTION",
        *paragraphs(head),
        *paragraphs(DESCRIPTION),
        ".SH OPTIONS",
        *options(program, context),
        ".SH COMMANDS",
        *commands(program, context),
        ".SH EXIT STATUS",
        *items({str(int(code)): text for code, text in EXIT_CODES.items()}),
        ".PP\nWith \\-\\-nagios the exit codes are those of its plugins: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
        ".SH ENVIRONMENT",
        *items(ENVIRONMENT),
        ".SH FILES",
        *items(FILES),
        ".SH SEE ALSO",
        ".BR fio (1),\n.BR ioping (1)",
    ]
    return "\n".join(parts) + "\n"


def main() -> int:
    wanted = page()
    if "--check" in sys.argv[1:]:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current != wanted:
            print("share/man/man1/diskprof.1 is out of date: python scripts/manpage.py", file=sys.stderr)
        return int(current != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
