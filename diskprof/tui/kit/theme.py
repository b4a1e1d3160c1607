"""The look: four themes of our own, whose colours are those of the palette.

Each role of the palette may be used in any .tcss, as `$read`. None stands alone: a letter, a sign or a word beside it says
the same.
"""

from functools import cache

from textual.theme import Theme

from diskprof.tui.kit.palette import FAINT, RAMPS, TEXTS, Depth, values

DARK, LIGHT, SIXTEEN, SIXTEEN_ON_WHITE = "diskprof-dark", "diskprof-light", "diskprof-16", "diskprof-16-light"
_OWN = (*TEXTS, *FAINT, *RAMPS)


@cache
def themes(depth: Depth) -> tuple[Theme, ...]:
    """DARK and LIGHT, with colours chosen for a terminal of `depth`, and both in sixteen colours."""
    shown = Depth.PALETTE if depth is Depth.PALETTE else Depth.TRUE
    return _theme(DARK, shown, dark=True), _theme(LIGHT, shown, dark=False), _sixteen(dark=True), _sixteen(dark=False)


def _theme(name: str, depth: Depth, *, dark: bool) -> Theme:
    inks = values(_OWN, depth, dark=dark)
    ground = values(("background", "surface", "panel", "selection", "selection-blurred"), depth, dark=dark)
    return Theme(
        name=name,
        primary=inks["accent"],
        secondary=inks["quiet"],
        accent=inks["accent"],
        warning=inks["warn"],
        error=inks["danger"],
        success=inks["good"],
        foreground=inks["foreground"],
        background=ground["background"],
        surface=ground["surface"],
        panel=ground["panel"],
        dark=dark,
        variables={
            **inks,
            "block-cursor-background": ground["selection"],
            "block-cursor-foreground": "#ffffff" if dark else "#000000",
            "block-cursor-text-style": "none",
            "block-cursor-blurred-background": ground["selection-blurred"],
            "block-cursor-blurred-foreground": inks["foreground"],
            "footer-key-foreground": inks["accent"],
            "border": inks["accent"],
            "border-blurred": inks["rule"],
            "input-selection-background": ground["selection"],
            "input-cursor-background": inks["foreground"],
            "input-cursor-foreground": ground["background"],
            "scrollbar": inks["scrollbar"],
            "scrollbar-hover": inks["quiet"],
            "scrollbar-active": inks["accent"],
            "scrollbar-background": ground["surface"],
            "scrollbar-background-hover": ground["surface"],
            "scrollbar-background-active": ground["surface"],
            "scrollbar-corner-color": ground["surface"],
        },
    )


def _sixteen(*, dark: bool) -> Theme:
    """In sixteen colours the terminal's own are taken as they are, for a mixture of them would become white or black."""
    inks = values(_OWN, Depth.SIXTEEN, dark=dark)
    return Theme(
        name=sixteen(dark=dark),
        ansi=True,
        primary=inks["accent"],
        secondary=inks["read"],
        accent=inks["accent"],
        warning=inks["warn"],
        error=inks["danger"],
        success=inks["good"],
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        dark=dark,
        variables={
            **inks,
            "ansi-background": "ansi_black" if dark else "ansi_white",
            "ansi-foreground": "ansi_white" if dark else "ansi_black",
            "border": inks["accent"],
            "border-blurred": inks["rule"],
            "block-cursor-foreground": "ansi_default",
            "block-cursor-background": "ansi_default",
            "block-cursor-text-style": "reverse",
            "footer-key-foreground": inks["accent"],
            "input-cursor-text-style": "reverse",
            "scrollbar": inks["scrollbar"],
            "scrollbar-background": "ansi_default",
        },
    )


def sixteen(*, dark: bool) -> str:
    """The theme of the terminal's own colours for a ground: some of them cannot be read on a white one."""
    return SIXTEEN if dark else SIXTEEN_ON_WHITE


def theme_name(setting: str, depth: Depth) -> str:
    """The theme for a setting of the configuration on a terminal of `depth`."""
    if depth is Depth.SIXTEEN:
        return sixteen(dark=setting != "light")
    return {"auto": DARK, "dark": DARK, "light": LIGHT, "16": SIXTEEN}.get(setting, setting)


def terminal_depth() -> Depth:
    """How many colours the terminal has. Few, too, where the person wants none (NO_COLOR)."""
    import io
    import os

    from rich.console import Console
    from textual.constants import COLOR_SYSTEM

    if "NO_COLOR" in os.environ:
        return Depth.SIXTEEN
    system = Console(color_system=COLOR_SYSTEM, force_terminal=True, file=io.StringIO()).color_system  # type: ignore[arg-type]
    return {"256": Depth.PALETTE, "truecolor": Depth.TRUE}.get(system or "", Depth.SIXTEEN)


def meanings(theme: Theme) -> dict[str, str]:
    """The colours of all roles, for a theme that does not name them itself."""
    own = values(_OWN, Depth.SIXTEEN if theme.ansi else Depth.TRUE, dark=theme.dark)
    del own["foreground"], own["accent"], own["scrollbar"]
    return {
        **own,
        "good": theme.success or own["good"],
        "warn": theme.warning or own["warn"],
        "danger": theme.error or own["danger"],
    }
