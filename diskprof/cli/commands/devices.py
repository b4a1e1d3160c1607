"""`diskprof devices`."""

import sys
import time

import click

from diskprof.cli.saying import say

# Long enough to see that a disk is busy, short enough to answer at once.
_LOOK_S = 0.15


@click.command("devices", short_help="List the block devices that can be tested.")
@click.option(
    "--all",
    "-a",
    "show_empty",
    is_flag=True,
    help="Include empty devices: unused loop, zram and ram devices, empty drives.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def devices_command(show_empty: bool, as_json: bool) -> None:
    """List the block devices as a tree: what each is, what is on it, where it is mounted, how busy it is now.

    Names in the first column can be given to `diskprof run`, as can a directory from the column MOUNTED ON.
    The list is as wide as the terminal, or as COLUMNS says; without either nothing is shortened.
    """
    from diskprof.devices.scan.sysfs import read_counters

    began, before = time.monotonic(), read_counters()
    # What remains to be loaded is loaded while the counters count.
    from diskprof.cli.common import echo_json, width_of_stdout
    from diskprof.cli.encoding import stdout_is_utf8
    from diskprof.devices.scan.udev import scan
    from diskprof.model.device import Activity
    from diskprof.reports.render.device_list import UNCUT, devices_json, devices_text, hidden_count

    tree = scan()
    time.sleep(max(0.0, _LOOK_S - (time.monotonic() - began)))
    after = read_counters()
    activity = {
        name: found
        for name in before.keys() & after.keys()
        if (found := Activity.between(before[name], after[name])) is not None
    }
    if as_json:
        echo_json(devices_json(tree, activity, show_empty=show_empty))
        return
    hidden = 0 if show_empty else hidden_count(tree)
    if len(tree.devices) == hidden:
        say(_nothing(hidden))
        return
    click.echo(
        devices_text(tree, activity, width_of_stdout(UNCUT), show_empty=show_empty, ascii_only=not stdout_is_utf8()),
        nl=False,
    )
    if hidden and sys.stdout.isatty():
        say(f"{hidden} empty {'device is' if hidden == 1 else 'devices are'} not shown; --all shows them.")


def _nothing(hidden: int) -> str:
    if hidden:
        return f"No disk visible, only {hidden} empty devices (`diskprof devices --all` lists them). {_CONTAINER}"
    return f"No block device visible. {_CONTAINER}"


_CONTAINER = "A directory can still be tested: `diskprof run quick DIRECTORY`."
