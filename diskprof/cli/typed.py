"""Options whose value must be something: an empty one is a variable of a script that was never set."""

from typing import Any

import click


class NamedFile(click.Path):
    """The name of a file; click takes an empty one for the directory where one is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


def not_empty(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """The callback of an option that means something else where it is left out: "" then. Raises BadParameter of an empty value."""
    if value == "":
        raise click.BadParameter("it is empty: give a value, or leave the option out.", ctx, parameter)
    return value or ""
