"""What to do next, which a command line and a screen say in different words."""

from collections.abc import Iterable

from msgspec import Struct


class Advice(Struct, frozen=True):
    """`screen` says the same as `command_line`, where keys, lists and fields do it. Where both use one wording, that is a str."""

    command_line: str
    screen: str


def on_command_line(advice: str | Advice) -> str:
    """`advice` as the command line says it."""
    return advice.command_line if isinstance(advice, Advice) else advice


def on_screen(advice: str | Advice) -> str:
    """`advice` as a screen says it."""
    return advice.screen if isinstance(advice, Advice) else advice


def joined(parts: Iterable[str | Advice], between: str = " ") -> str | Advice:
    """One advice of several."""
    known = tuple(parts)
    command_line, screen = between.join(map(on_command_line, known)), between.join(map(on_screen, known))
    return command_line if command_line == screen else Advice(command_line, screen)
