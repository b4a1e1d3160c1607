"""`diskprof doctor`: what is there, what is missing, and the command that gets it."""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diskprof import __version__
from diskprof.model.errors import ExitCode

if TYPE_CHECKING:
    from diskprof.cli.checkup import Section


@click.command("doctor", short_help="Check what diskprof needs, and how to get what is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check what diskprof needs: fio and ioping, udev, devices and directories, the terminal, the store, the presets.

    Changes nothing. Exit codes: 0 all it needs is there (notes do not count), 3 fio or ioping is missing, 1 something
    else is wrong.
    """
    from diskprof.cli.checkup import State, system_facts

    sections = _look(ctx.find_root().obj)
    system = system_facts()
    wrong = [check for section in sections.values() for check in section.checks if check.state is State.WRONG]
    if as_json:
        from diskprof.cli.common import echo_json

        echo_json(
            {
                "diskprof": __version__,
                "system": system,
                **{key: section.facts for key, section in sections.items()},
                "problems": [{"name": c.name, "message": c.text, "advice": c.advice} for c in wrong],
            }
        )
    else:
        where = ", ".join(filter(None, (system["os"], f"Linux {system['kernel']}", f"Python {system['python']}")))
        click.echo(f"diskprof {__version__} on {where}")
        for line in _lines(sections.values()):
            click.echo(line)
    if not all(tool["found"] for tool in sections["tools"].facts):
        ctx.exit(int(ExitCode.ENGINE_MISSING))
    ctx.exit(int(ExitCode.FAILED if wrong else ExitCode.OK))


def _look(store: Path | None) -> dict[str, "Section"]:
    from diskprof.cli import checkup
    from diskprof.cli.encoding import encoding_of_stdout
    from diskprof.devices.scan.files import may
    from diskprof.devices.scan.udev import scan, udev_runs
    from diskprof.model.plainness import started_with

    return {
        "tools": checkup.check_tools(),
        "io_engines": checkup.check_io_engines(),
        "reach": checkup.check_reach(
            scan(),
            udevd=udev_runs(),
            root=os.geteuid() == 0,
            readable=lambda device: may(device.node, os.R_OK),
        ),
        "wear": checkup.check_wear(root=os.geteuid() == 0),
        "terminal": checkup.check_terminal(
            started_with(os.environ),
            tty=sys.stdin.isatty() and sys.stdout.isatty(),
            size=checkup.terminal_size(),
            encoding=encoding_of_stdout(),
        ),
        "store": checkup.check_store(store),
        "presets": checkup.check_presets(),
    }


def _lines(sections: Iterable["Section"]) -> Iterator[str]:
    """The findings for a person: a word, never a colour, says how each stands."""
    from diskprof.cli.checkup import State

    words = {State.OK: "ok", State.NOTE: "note", State.WRONG: "WRONG"}
    count = dict.fromkeys(State, 0)
    for section in sections:
        yield ""
        yield section.title
        for check in section.checks:
            count[check.state] += 1
            yield f"  {words[check.state]:6} {check.name:11} {check.text}"
            for line in check.advice.splitlines():
                yield f"  {'':6} {'':11} {line}"
    yield ""
    notes = f" ({count[State.NOTE]} to note)" if count[State.NOTE] else ""
    wrong = count[State.WRONG]
    if wrong:
        yield f"{wrong} {'thing is' if wrong == 1 else 'things are'} wrong{notes}."
    else:
        yield f"diskprof has what it needs{notes}."
