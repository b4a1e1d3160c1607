"""The options that shape a preset, the same for each command that takes one."""

import click

from diskprof.cli import completion_candidates
from diskprof.cli.common import not_empty

settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a preset parameter.",
    shell_complete=completion_candidates.settings,
)
variant_option = click.option(
    "--variant",
    callback=not_empty,
    help="Use a variant: a named set of parameters.",
    shell_complete=completion_candidates.variants,
)
quick_option = click.option(
    "--quick", "variant", flag_value="quick", callback=not_empty, help="The same as --variant quick."
)
