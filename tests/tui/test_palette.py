"""One colour, one meaning: in every kind of terminal roles are told apart, and can be read on what they are written on."""

import math
import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from rich.color import ColorSystem
from rich.palette import Palette
from textual.color import Color

import diskprof
from diskprof.model.run import Status
from diskprof.reports.words import STATUSES, Meaning
from diskprof.tui.kit.painted import INKS, _theme_inks
from diskprof.tui.kit.palette import FAINT, GROUNDS, RAMPS, ROLES, STEPS, TEXTS, Depth, hex_of
from diskprof.tui.kit.theme import DARK, LIGHT, SIXTEEN, SIXTEEN_ON_WHITE, theme_name, themes

KINDS = [(depth, dark) for depth in (Depth.TRUE, Depth.PALETTE) for dark in (True, False)]
JUDGEMENT = ("good", "warn", "danger")


def shown(name: str, depth: Depth, *, dark: bool) -> Color:
    """A role as a terminal of `depth` shows it."""
    return seen(ROLES[name].value(depth, dark=dark), depth)


def seen(value: str, depth: Depth) -> Color:
    colour = Color.parse(value)
    if depth is Depth.TRUE:
        return colour
    number = colour.rich_color.downgrade(ColorSystem.EIGHT_BIT).number
    assert number is not None
    return Color(*_palette()[number])


def _palette() -> Palette:
    from rich._palettes import EIGHT_BIT_PALETTE

    return EIGHT_BIT_PALETTE


def linear(part: int) -> float:
    share = part / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def oklab(colour: Color) -> tuple[float, float, float]:
    """Lightness 0 to 1, and two axes of hue: distances in this space are about as large as they look."""
    red, green, blue = map(linear, colour.rgb)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
    )


def contrast(one: Color, other: Color) -> float:
    """That of WCAG, 1 to 21."""

    def luminance(colour: Color) -> float:
        red, green, blue = map(linear, colour.rgb)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("depth", "dark"), KINDS)
def test_no_two_roles_look_alike(depth: Depth, dark: bool) -> None:
    lab = {name: oklab(shown(name, depth, dark=dark)) for name in TEXTS}
    near = {pair: math.dist(lab[pair[0]], lab[pair[1]]) for pair in combinations(TEXTS, 2)}
    assert not {pair for pair, apart in near.items() if apart < 0.05}
    # What judges is further from everything else.
    assert not {pair for pair, apart in near.items() if {*pair} & {*JUDGEMENT} and apart < 0.06}
    assert not {pair for pair, apart in near.items() if {*pair} & {"warn", "danger"} and apart < 0.1}


@pytest.mark.parametrize(("depth", "dark"), KINDS)
def test_what_is_written_can_be_read(depth: Depth, dark: bool) -> None:
    for name in TEXTS:
        ink = shown(name, depth, dark=dark)
        assert contrast(ink, shown("background", depth, dark=dark)) >= 4.5, name
        # What is drawn, bold or a sign beside a word there.
        for ground in GROUNDS:
            assert contrast(ink, shown(ground, depth, dark=dark)) >= 3, (name, ground)
    for ground in ("surface", "panel", "selection-blurred", "selection"):
        foreground = seen("#ffffff" if dark else "#000000", depth) if ground == "selection" else None
        assert contrast(foreground or shown("foreground", depth, dark=dark), shown(ground, depth, dark=dark)) >= 4.5


@pytest.mark.parametrize(("depth", "dark"), KINDS)
def test_ramps_are_even_and_of_one_hue(depth: Depth, dark: bool) -> None:
    for name in ("heat-r", "heat-w"):
        steps = [oklab(shown(f"{name}{step}", depth, dark=dark)) for step in range(1, STEPS + 1)]
        light = [step[0] for step in steps]
        rises = [after - before for before, after in pairwise(light)]
        assert all(rise > 0.08 for rise in rises) if dark else all(rise < -0.08 for rise in rises)
        assert max(map(abs, rises)) < 2.2 * min(map(abs, rises))
        # A grey has no hue.
        hues = [math.degrees(math.atan2(b, a)) % 360 for _, a, b in steps if math.hypot(a, b) > 0.02]
        assert max(hues) - min(hues) < 15


@pytest.mark.parametrize(("depth", "dark"), KINDS)
def test_figures_can_be_read_on_every_cell_of_a_sweep(depth: Depth, dark: bool) -> None:
    theme = next(theme for theme in themes(depth) if theme.name == (DARK if dark else LIGHT))
    styles = _theme_inks(theme)
    for step in range(1, STEPS + 1):
        style = styles[f"cell-{step}"]
        assert style.color and style.bgcolor
        front, back = (seen(colour.get_truecolor().hex, depth) for colour in (style.color, style.bgcolor))
        assert contrast(front, back) >= 4.5


def test_every_role_is_one_of_the_256_as_it_was_chosen() -> None:
    for role in ROLES.values():
        for number in (role.dark, role.light):
            assert Color.parse(hex_of(number)).rich_color.downgrade(ColorSystem.EIGHT_BIT).number == number


@pytest.mark.parametrize("depth", list(Depth))
def test_a_theme_has_all_roles(depth: Depth) -> None:
    for theme in themes(depth):
        assert {*TEXTS, *FAINT, *RAMPS} <= {*theme.variables}
        assert {*INKS} <= {*_theme_inks(theme)}


def test_nothing_is_coloured_outside_the_palette() -> None:
    root = Path(diskprof.__file__).parent
    ours = {
        root / "tui" / "kit" / "palette.py",
        root / "reports" / "colours.py",
        root / "reports" / "render" / "html.py",
    }
    for path in (*root.rglob("*.py"), *root.rglob("*.tcss")):
        literals = set(re.findall(r"#[0-9a-fA-F]{6}\b", path.read_text(encoding="utf-8")))
        assert path in ours or literals <= {"#ffffff", "#000000"}, path


def test_to_cancel_a_run_says_nothing_of_the_disk() -> None:
    meanings = {status: word.meaning for status, word in STATUSES.items()}
    assert meanings[Status.CANCELLED] is Meaning.QUIET
    assert (meanings[Status.INTERRUPTED], meanings[Status.FAILED]) == (Meaning.WARNING, Meaning.BAD)


XTERM = (
    *("000000", "cd0000", "00cd00", "cdcd00", "0000ee", "cd00cd", "00cdcd", "e5e5e5"),
    *("7f7f7f", "ff0000", "00ff00", "ffff00", "5c5cff", "ff00ff", "00ffff", "ffffff"),
)
"""The sixteen as xterm has them."""


def test_sixteen_colours_can_be_read_on_white() -> None:
    """But green, of which the sixteen have no dark one; a sign or a word beside it says the same."""
    white = Color.parse("#ffffff")
    for name in (*TEXTS, *(f"heat-r{step}" for step in range(1, STEPS + 1))):
        value = ROLES[name].value(Depth.SIXTEEN, dark=False)
        number = Color.parse(value).ansi
        assert number is not None
        if number < 0 or name in ("good", "curve-b"):
            continue
        assert contrast(Color.parse(f"#{XTERM[number]}"), white) >= 3, name


def test_the_theme_of_sixteen_colours_is_for_the_ground_that_was_set() -> None:
    assert theme_name("light", Depth.SIXTEEN) == SIXTEEN_ON_WHITE
    assert {theme_name(setting, Depth.SIXTEEN) for setting in ("auto", "dark", "16", "nord")} == {SIXTEEN}
    light = next(theme for theme in themes(Depth.TRUE) if theme.name == SIXTEEN_ON_WHITE)
    assert light.variables["warn"] == light.warning == "ansi_red" and not light.dark
