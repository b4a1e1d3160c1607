"""`diskprof presets`, with `show`, `options`, `import`, `export`, `edit`, `rename` and `delete`."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from diskprof.cli import completion_candidates
from diskprof.cli.common import echo_json, not_empty, place_of, refuse_device, width_of_stdout
from diskprof.cli.encoding import echo_data
from diskprof.cli.preset_options import settings_option, variant_option
from diskprof.cli.saying import say
from diskprof.model.errors import UsageError
from diskprof.model.text import clean
from diskprof.runner.session import Session

if TYPE_CHECKING:
    from diskprof.presets.foreign.imported import ImportedPreset


class _Presets(click.Group):
    """Takes words that are no command for words to look for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            return "", _find, args
        return super().resolve_command(ctx, args)


@click.group(
    "presets",
    cls=_Presets,
    invoke_without_command=True,
    short_help="List the presets, or show one.",
    subcommand_metavar="[WORD]... | COMMAND [ARGS]...",
    context_settings={"ignore_unknown_options": True},
)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def presets_command(ctx: click.Context, as_json: bool) -> None:
    """List the presets: the shipped ones and your own, from ~/.config/diskprof/presets.

    With WORDs only those in which each of them stands: in names, titles, sources, keywords, fio options or ioping flags.
    What is wrong with a file goes to stderr; the others stay usable. docs/presets.md says how to write one.

    \b
    Examples:
      diskprof presets
      diskprof presets linode
      diskprof presets randwrite iodepth=128
    """
    if ctx.invoked_subcommand is None:
        _list((), as_json)
    elif as_json and ctx.invoked_subcommand:
        raise click.UsageError(f"Put --json behind {ctx.invoked_subcommand}.", ctx)


@click.command("presets", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="WORD...")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def _find(ctx: click.Context, words: tuple[str, ...], as_json: bool) -> None:
    """List the presets in which every WORD stands."""
    _list(words, as_json or bool(ctx.parent and ctx.parent.params["as_json"]))


def _list(words: Sequence[str], as_json: bool) -> None:
    from diskprof.presets.library import load_library
    from diskprof.presets.search import matching
    from diskprof.reports.data.json_presets import presets_json
    from diskprof.reports.render.text_presets import presets_table

    library = load_library()
    for line in (*library.problems, *library.notices):
        say(str(line))
    presets = matching(library.presets, " ".join(words))
    if words and not presets:
        raise UsageError(
            f"No preset has {'the words' if len(words) > 1 else 'the word'} {clean(' '.join(words))[:80]!r}.",
            "`diskprof presets` lists all of them. Its commands: " + ", ".join(presets_command.commands) + ".",
        )
    if as_json:
        echo_json(presets_json(presets))
    else:
        whole = not sys.stdout.isatty() and "COLUMNS" not in os.environ
        click.echo(presets_table(presets, width_of_stdout(), whole=whole), nl=False)


@presets_command.command("show", short_help="Show one preset.")
@click.argument("name", shell_complete=completion_candidates.presets)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Show what the preset NAME does, its parameters, and its tests as fio or ioping would read them."""
    from diskprof.presets.library import library_for
    from diskprof.reports.data.json_presets import resolved_json
    from diskprof.reports.render.text_presets import preset_text

    preset = library_for(name).get(name)
    if as_json:
        echo_json(resolved_json(preset))
    else:
        click.echo(preset_text(preset, width_of_stdout()), nl=False)


@presets_command.command("options", short_help="List the options that a preset may use.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def options(as_json: bool) -> None:
    """List every fio and ioping option that a preset may use, with its type and range."""
    from diskprof.reports.data.json_presets import options_json
    from diskprof.reports.render.text_presets import options_table

    if as_json:
        echo_json(options_json())
    else:
        click.echo(options_table(width_of_stdout()), nl=False)


@presets_command.command("classes", short_help="List the classes of disks, and what documents say of them.")
@click.argument("name", required=False, shell_complete=completion_candidates.disk_classes)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def classes(name: str | None, as_json: bool) -> None:
    """List the classes of disks that results are compared with, or of the class NAME the figures and the documents."""
    from diskprof.presets.disk_classes import disk_class, disk_classes
    from diskprof.reports.data.json_presets import classes_json
    from diskprof.reports.render.text_presets import class_text, classes_table

    wanted = (disk_class(name),) if name else disk_classes()
    if as_json:
        echo_json(classes_json(wanted))
    else:
        click.echo((class_text if name else classes_table)(wanted, width_of_stdout()), nl=False)


@presets_command.command("import", short_help="Create a preset from a fio job file or a command line.")
@click.argument("file", required=False)
@click.option("--command", "line", metavar="COMMAND", help="fio, DiskSpd or ioping commands; - is stdin.")
@click.option("--name", default="", help="Preset name (default: from the file).")
@click.option(
    "--several-targets", "several", is_flag=True, help="One target for each directory or device the jobs used."
)
@click.option(
    "--output", metavar="FILE", callback=not_empty, help="Write to FILE instead of your preset directory; - is stdout."
)
@click.option("--force", is_flag=True, help="Overwrite an existing preset.")
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
        written = str(Session().save_preset(preset, force=force))
    elif place:
        _write(place, checked_toml(preset), force)
    for note in imported.notes:
        say(note)
    if place is None:
        echo_data(checked_toml(preset))
    elif written:
        click.echo(written)
        target = " ".join(f"--target {slot.name}=PATH" for slot in preset.targets) or "TARGET"
        say(f"Run it: diskprof run {preset.name} {target}")


def _imported(file: str | None, line: str | None, name: str, several: bool) -> "ImportedPreset":
    if line is not None:
        from diskprof.presets.foreign.pasted import LONGEST_TEXT
        from diskprof.presets.foreign.text import import_text

        text = sys.stdin.read(LONGEST_TEXT + 1) if line == "-" else line
        imported = import_text(text, name=name, several=several)
    else:
        from diskprof.presets.foreign.jobfile import LARGEST_FILE, import_job_file, import_job_text

        if (place := place_of(file)) is None:
            data = sys.stdin.buffer.read(LARGEST_FILE + 1)
            imported = import_job_text(data, Path("stdin"), name=name, several=several)
        else:
            imported = import_job_file(place, name=name, several=several)
    if name and imported.preset.name != name:
        raise UsageError(
            f"{name[:40]!r} is not a valid preset name.", f"Small letters, digits, - and _: {imported.preset.name}"
        )
    return replace(imported, preset=replace(imported.preset, path=""))


def _write(path: Path, text: str, force: bool) -> None:
    refuse_device(path)
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(
            f"{clean(str(path))} already exists.", "Choose another file, or replace it with --force."
        ) from None
    except OSError as error:
        raise UsageError(f"{clean(str(path))} cannot be written: {error.strerror}.") from None


@presets_command.command("export", short_help="Write a preset as a fio job file.")
@click.argument("name", shell_complete=completion_candidates.presets)
@settings_option
@variant_option
def export(name: str, settings: tuple[str, ...], variant: str) -> None:
    """Write the preset NAME on stdout as a job file that plain fio runs: `diskprof presets export quick > quick.fio`."""
    from diskprof.cli.planning import pairs
    from diskprof.presets.files.fio_text import job_file
    from diskprof.presets.library import library_for
    from diskprof.presets.resolve import settings_of

    preset = library_for(name).get(name)
    given = settings_of(preset, variant, pairs(settings, "--set", "--set size=256m --set runtime=5"))
    echo_data(job_file(preset, given))


@presets_command.command("edit", short_help="Edit a preset of your own in $EDITOR.")
@click.argument("name", shell_complete=completion_candidates.presets)
def edit(name: str) -> None:
    """Open the file of your own preset NAME in $VISUAL or $EDITOR, then check it: errors name file, line and key.

    A shipped preset cannot be edited: save it as your own first (w on the Run screen).
    """
    from diskprof.engines.process import edit_file
    from diskprof.presets.library import load_library, preset_of_file
    from diskprof.presets.own_files import own_file

    path = own_file(load_library(), name)
    edit_file(path)
    click.echo(f"{preset_of_file(path).name}: OK", err=True)


@presets_command.command("rename", short_help="Rename a preset of your own.")
@click.argument("name", shell_complete=completion_candidates.presets)
@click.argument("new")
def rename(name: str, new: str) -> None:
    """Give your own preset NAME the name NEW. Its file is written anew, without comments."""
    from diskprof.presets.library import load_library
    from diskprof.presets.own_files import rename as rename_file

    click.echo(clean(str(rename_file(load_library(), name, new))))


@presets_command.command("delete", short_help="Delete a preset of your own.")
@click.argument("name", shell_complete=completion_candidates.presets)
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(name: str, yes: bool) -> None:
    """Delete your own preset NAME after asking. Its runs are kept."""
    from diskprof.presets.library import load_library
    from diskprof.presets.own_files import delete as delete_file
    from diskprof.presets.own_files import own_file

    library = load_library()
    path = own_file(library, name)
    if not yes:
        click.confirm(f"Delete {clean(str(path))}?", abort=True, err=True)
    delete_file(library, name)
    click.echo(f"Deleted {clean(str(path))}", err=True)
