"""The look: three themes of our own, and the colours that carry a meaning in every theme.

`$read`, `$write`, `$good`, `$warn`, `$danger` and `$quiet` may be used in any .tcss. They never stand alone: a letter,
a sign or a word beside them says the same.
"""

from textual.theme import Theme

DARK = Theme(
    name="diskprof-dark",
    primary="#6ea8fe",
    secondary="#8aa0b8",
    accent="#6ea8fe",
    warning="#e3b341",
    error="#f0716b",
    success="#7ac77a",
    foreground="#d5dbe3",
    background="#121417",
    surface="#181b1f",
    panel="#22262b",
    dark=True,
    variables={
        "read": "#4fc3d9",
        "write": "#f0a25f",
        "quiet": "#8290a0",
        "rule": "#3a4048",
        "block-cursor-background": "#1f4878",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#2b3036",
        "block-cursor-blurred-foreground": "#d5dbe3",
        "footer-key-foreground": "#6ea8fe",
        "border": "#6ea8fe",
        "border-blurred": "#3a4048",
        "input-selection-background": "#6ea8fe 35%",
        "scrollbar": "#4a525c",
        "scrollbar-background": "#181b1f",
    },
)

LIGHT = Theme(
    name="diskprof-light",
    primary="#1f5fbf",
    secondary="#52657a",
    accent="#1f5fbf",
    warning="#8a5a00",
    error="#b3261e",
    success="#1d7a33",
    foreground="#1c2530",
    background="#f6f7f9",
    surface="#ffffff",
    panel="#e8ecf1",
    dark=False,
    variables={
        "read": "#00728a",
        "write": "#a85208",
        "quiet": "#5c6b7a",
        "rule": "#c9d1da",
        "block-cursor-background": "#cfe0fb",
        "block-cursor-foreground": "#10202f",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#e3e8ef",
        "block-cursor-blurred-foreground": "#1c2530",
        "footer-key-foreground": "#1f5fbf",
        "border": "#1f5fbf",
        "border-blurred": "#c9d1da",
        "scrollbar": "#b4bfcc",
        "scrollbar-background": "#eef1f4",
    },
)

# In sixteen colours the terminal's own are taken as they are, for a mixture of them would become white or black.
SIXTEEN = Theme(
    name="diskprof-16",
    ansi=True,
    primary="ansi_bright_blue",
    secondary="ansi_cyan",
    accent="ansi_bright_blue",
    warning="ansi_yellow",
    error="ansi_bright_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    dark=True,
    variables={
        "ansi-background": "ansi_black",
        "ansi-foreground": "ansi_white",
        "border": "ansi_bright_blue",
        "border-blurred": "ansi_bright_black",
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "block-cursor-text-style": "reverse",
        "footer-key-foreground": "ansi_bright_blue",
        "input-cursor-text-style": "reverse",
        "scrollbar": "ansi_bright_black",
        "scrollbar-background": "ansi_default",
    },
)
THEMES = (DARK, LIGHT, SIXTEEN)


def theme_name(setting: str, *, few: bool) -> str:
    """The theme for a setting of the configuration; `few` where the terminal has sixteen colours, or shall have."""
    if few:
        return SIXTEEN.name
    return {"auto": DARK.name, "dark": DARK.name, "light": LIGHT.name, "16": SIXTEEN.name}.get(setting, setting)


def few_colours() -> bool:
    """Whether the terminal has sixteen colours or fewer, or the person wants none (NO_COLOR)."""
    import io
    import os

    from rich.console import Console
    from textual.constants import COLOR_SYSTEM

    if "NO_COLOR" in os.environ:
        return True
    system = Console(color_system=COLOR_SYSTEM, force_terminal=True, file=io.StringIO()).color_system  # type: ignore[arg-type]
    return system not in ("256", "truecolor")


def meanings(theme: Theme) -> dict[str, str]:
    """The colours with a meaning, for a theme that does not name them itself."""
    if theme.ansi:
        read, write, quiet, rule = "ansi_cyan", "ansi_yellow", "ansi_bright_black", "ansi_bright_black"
    else:
        own = (DARK if theme.dark else LIGHT).variables
        read, write, quiet, rule = own["read"], own["write"], own["quiet"], own["rule"]
    return {
        "read": read,
        "write": write,
        "quiet": quiet,
        "rule": rule,
        "good": theme.success or "green",
        "warn": theme.warning or "yellow",
        "danger": theme.error or "red",
    }
