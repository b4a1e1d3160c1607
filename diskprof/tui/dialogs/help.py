"""Help for where one is: what the screen is for, and every key that works there."""

from typing import Any

from textual.content import Content
from textual.screen import Screen

from diskprof.tui.dialogs.text_page import TextPage

_WORDS = {
    "focus_next": "The next pane, the pane before",
    "focus_previous": "The next pane, the pane before",
    "command_palette": "All commands, by name",
    "help": "Help for this screen",
    "quit": "Quit; a run can continue in the background",
}
_MODES = "The four screens"
_HIDDEN = ("copy_text", "help_quit", "page_left", "page_right", "scroll_left", "scroll_right")


def keys_of(screen: Screen[Any]) -> list[tuple[str, str]]:
    """(keys, what they do) of everything that works on a screen now: its own keys, moving about, then what works everywhere.

    Keys that do the same stand together.
    """
    groups: tuple[dict[str, list[str]], ...] = ({}, {}, {})
    for _, binding, enabled, tooltip in screen.active_bindings.values():
        action = binding.action.removeprefix("app.").removeprefix("screen.")
        if not enabled or not binding.description or action in _HIDDEN or binding.key == "ctrl+q":
            continue
        words = _MODES if action.startswith("mode(") else _WORDS.get(action) or tooltip or binding.description
        group = groups[2 if words == _MODES or action in _WORDS else 0 if binding.show else 1]
        keys = group.setdefault(words, [])
        display = screen.app.get_key_display(binding)
        if display not in keys:
            keys.append(display)
    return [(" ".join(keys), words) for group in groups for words, keys in group.items()]


class HelpScreen(TextPage):
    """The help of a screen over that screen."""

    def __init__(self, title: str, text: str, keys: list[tuple[str, str]]) -> None:
        column = max((len(keys) for keys, _ in keys), default=0) + 3
        parts = [
            Content("\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))),
            Content("\nKeys").stylize("$primary bold"),
            *(Content.assemble((f"{keys:<{column}}", "$footer-key-foreground bold"), text) for keys, text in keys),
        ]
        super().__init__(f"Help: {title}", Content("\n").join(parts))
