"""`--class` of commands that compare a result with what disks of a class do."""

import click

from diskprof.cli import completion_candidates

class_option = click.option(
    "--class",
    "disk_class",
    default="",
    metavar="CLASS",
    help="Class of the disk: sata-ssd, aws-gp3, ... (`diskprof presets classes` lists them).  [default: detected]",
    shell_complete=completion_candidates.disk_classes,
)
