"""What like runs may differ in where a person says so: the option `--across`."""

import click

from diskprof.model.fingerprint import Aspect

_ACROSS = {"kernel": Aspect.KERNEL, "file-system": Aspect.FILE_SYSTEM, "disk": Aspect.DISK}


def _aspects(_ctx: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> tuple[Aspect, ...]:
    return tuple(_ACROSS[name] for name in names)


across_option = click.option(
    "--across",
    multiple=True,
    type=click.Choice(list(_ACROSS)),
    callback=_aspects,
    help="Also count runs with another kernel, file system or disk (repeatable).",
)
