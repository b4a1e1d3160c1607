"""`diskprof presets import` and `diskprof presets export`."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diskprof.cli import completing
from diskprof.cli.common import place_of, refuse_device
from diskprof.cli.encoding import echo_data
from diskprof.cli.typed import not_empty
from diskprof.model.errors import UsageError
from diskprof.model.preset import Preset
from diskprof.model.text import clean

if TYPE_CHECKING:
    from diskprof.presets.foreign.imported import Imported


@click.command("import", short_help="Make a preset of a fio job file or a command line.")
@click.argument("file", required=False)
@click.option(
    "--command", "line", metavar="COMMAND", help="A command line of fio, DiskSpd or ioping instead of a file."
)
@click.option("--name", default="", help="The name of the preset instead of the file's.")
@click.option(
    "--several-targets", "several", is_flag=True, help="Give jobs that worked in different places a target each."
)
@click.option(
    "--output", metavar="FILE", callback=not_empty, help="Write to FILE instead of your presets; - is stdout."
)
@click.option("--force", is_flag=True, help="Replace a preset that has the name.")
def import_preset(file: str | None, line: str | None, name: str, several: bool, output: str, force: bool) -> None:
    """Make a preset of your own of the fio job file FILE (- for stdin), or of a command line as articles print it.

    What is left out of it goes to stderr, a line each. A job that would mean something else without an option is refused.

    \b
    Examples:
      diskprof presets import job.fio
      diskprof presets import --command 'fio --name=a --rw=randread --bs=4k --size=1g'
      diskprof presets import --command 'diskspd -c200G -w100 -b8K -F4 -r -o128 -W30 -d30 -Sh testfile.dat' --output -
    """
    if (file is None) == (line is None):
        raise UsageError("Give either a job file or --command.", "For example: diskprof presets import job.fio")
    imported = _imported(file, line, name, several)
    preset = imported.preset
    from diskprof.presets.files.write import checked_toml

    written, place = "", place_of(output)
    if not output:
        written = str(_save(preset, force))
    elif place:
        _write(place, checked_toml(preset), force)
    for note in imported.notes:
        click.echo(note, err=True)
    if place is None:
        echo_data(checked_toml(preset))
    elif written:
        click.echo(written)
        target = " ".join(f"--target {slot.name}=PATH" for slot in preset.targets) or "TARGET"
        click.echo(f"Run it: diskprof run {preset.name} {target}", err=True)


def _imported(file: str | None, line: str | None, name: str, several: bool) -> "Imported":
    if line is not None:
        from diskprof.presets.foreign.commandline import import_command

        imported = import_command(line, name=name, several=several)
    else:
        from diskprof.presets.foreign.jobfile import LARGEST_FILE, import_job_file, import_job_text

        if (place := place_of(file)) is None:
            data = sys.stdin.buffer.read(LARGEST_FILE + 1)
            imported = import_job_text(data, Path("stdin"), name=name, several=several)
        else:
            imported = import_job_file(place, name=name, several=several)
    if name and imported.preset.name != name:
        raise UsageError(
            f"{name[:40]!r} is no name for a preset.", f"Small letters, digits, - and _: {imported.preset.name}"
        )
    return replace(imported, preset=replace(imported.preset, path=""))


def _save(preset: Preset, force: bool) -> Path:
    from diskprof.presets.files.write import save_preset
    from diskprof.presets.library import load_library, user_directory

    for other in load_library().presets:
        if other.shipped and not force and preset.name in (other.name, *other.aliases):
            raise UsageError(
                f"{preset.name} is the name of a preset that comes with diskprof.",
                "Choose another with --name, or put yours in its place with --force.",
            )
    return save_preset(preset, user_directory(), replace=force)


def _write(path: Path, text: str, force: bool) -> None:
    refuse_device(path)
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(
            f"{clean(str(path))} is there already.", "Choose another file, or replace it with --force."
        ) from None
    except OSError as error:
        raise UsageError(f"{clean(str(path))} cannot be written: {error.strerror}.") from None


@click.command("export", short_help="Write a preset as a fio job file.")
@click.argument("name", shell_complete=completing.presets)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a parameter of the preset.",
    shell_complete=completing.settings,
)
@click.option(
    "--variant",
    callback=not_empty,
    help="Use a named set of parameters of the preset.",
    shell_complete=completing.variants,
)
def export(name: str, settings: tuple[str, ...], variant: str) -> None:
    """Write the preset NAME on stdout as a job file that plain fio runs: `diskprof presets export quick > quick.fio`."""
    from diskprof.cli.planning import pairs
    from diskprof.presets.files.fio_text import job_file
    from diskprof.presets.library import library_for
    from diskprof.presets.resolve import settings_of

    preset = library_for(name).get(name)
    given = settings_of(preset, variant, pairs(settings, "--set", "--set size=256m --set runtime=5"))
    echo_data(job_file(preset, given))
