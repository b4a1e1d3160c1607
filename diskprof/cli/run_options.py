"""The options of commands that start a run, the same for each that has them."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from diskprof.cli import completion_candidates

Command = TypeVar("Command", bound=Callable[..., Any])

tag_option = click.option(
    "--tag", "tags", multiple=True, help="Tag the run (repeatable).", shell_complete=completion_candidates.tags
)
note_option = click.option("--note", default="", help="Note for the run.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Print the plan and exit.")
detach_option = click.option("--detach", is_flag=True, help="Start the run in the background and print its id.")
yes_option = click.option("--yes", is_flag=True, help="Skip the prompt. Raw writes still need --confirm-device.")
allow_write_option = click.option(
    "--allow-write", is_flag=True, help="Allow raw writes to a device: destroys its data. Needs the device's name."
)
confirm_device_option = click.option(
    "--confirm-device",
    "confirm",
    multiple=True,
    metavar="NAME",
    help="Name or serial number of the device to overwrite, instead of typing it.",
)
overwrite_option = click.option(
    "--overwrite-signature",
    "overwrite",
    multiple=True,
    metavar="TYPE",
    help="Allow overwriting an existing signature (ext4, gpt, ...).",
)
wait_option = click.option("--wait", is_flag=True, help="Wait for other runs on the same disk.")
concurrent_option = click.option("--concurrent", is_flag=True, help="Start even if another run uses the same disk.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result (or, with --dry-run, the plan) as JSON."
)


def start_options(command: Command) -> Command:
    """All options of a command whose run is searched or mapped, from `--tag` to `--concurrent`, in the order of its help."""
    options = (
        *(tag_option, note_option, dry_run_option, json_option, detach_option, yes_option, allow_write_option),
        *(confirm_device_option, overwrite_option, wait_option, concurrent_option),
    )
    for option in reversed(options):
        command = option(command)
    return command
