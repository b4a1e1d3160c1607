"""What a person makes of a preset: a variant of it, other parameters, a copy under a name of their own. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec.structs import replace

from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.preset import Category, Preset
from diskprof.model.text import clean


def variant_settings(preset: Preset, variant: str) -> dict[str, str]:
    """What a variant of the preset sets; nothing for "" or a variant that the preset has no more."""
    return next((dict(each.settings) for each in preset.variants if each.name == variant), {})


def next_variant(preset: Preset, variant: str) -> str:
    """The one after `variant`: the preset as it is (""), then its variants in their order, then as it is again."""
    names = ["", *(each.name for each in preset.variants)]
    return names[(names.index(variant) + 1) % len(names)] if variant in names else ""


def edits(preset: Preset, variant: str, values: Mapping[str, str]) -> dict[str, str]:
    """Of `values` what is not the preset's own, or that of its variant, in the order of the parameters."""
    set_by_variant = variant_settings(preset, variant)
    defaults = {each.name: set_by_variant.get(each.name, each.default) for each in preset.parameters}
    return {name: values[name] for name, default in defaults.items() if values.get(name, default) != default}


CheckTogether = Callable[[Mapping[str, str]], tuple[str, DiskprofError] | None]


def together(preset: Preset, before: Mapping[str, str]) -> CheckTogether:
    """Checks values that may each be good, as what they make of the tests: (parameter to blame, why not), or None.

    `before` are the values that stood there, where they are not the defaults.
    """

    def wrong(values: Mapping[str, str]) -> DiskprofError | None:
        from diskprof.presets.resolve import resolve

        try:
            resolve(preset, values)
        except DiskprofError as error:
            return error
        return None

    def check(values: Mapping[str, str]) -> tuple[str, DiskprofError] | None:
        if (error := wrong(values)) is None:
            return None
        defaults = {parameter.name: parameter.default for parameter in preset.parameters} | dict(before)
        changed = [name for name, value in values.items() if value != defaults.get(name)]
        guilty = (name for name in changed if wrong({**values, name: defaults[name]}) is None)
        # What was so before is shown where the plan stands.
        blamed = next(guilty, changed[0] if changed else "")
        return (blamed, error) if blamed else None

    return check


def own_copy(preset: Preset, name: str, settings: Mapping[str, str], title: str = "") -> Preset:
    """A preset of the person's own, called `name`, that has `settings` for defaults; `title` is its name unless given.

    Where that changes a parameter, variants that set it are left out, and the copy says what it is based on: the summary, the
    source and the promises are those of the original.
    """
    from diskprof.presets.foreign.imported import preset_name

    parameters = tuple(
        replace(parameter, default=settings.get(parameter.name, parameter.default)) for parameter in preset.parameters
    )
    changed = edits(preset, "", settings)
    if changed:
        values = ", ".join(f"{each}={value or 'none'}" for each, value in changed.items())
        variants = tuple(each for each in preset.variants if not changed.keys() & dict(each.settings).keys())
        summary = f"Based on {preset.title}, with {values}."
        if preset.expectations:
            summary += f" The promises are those of {preset.title}."
        source = f"Based on {preset.name}: {preset.source}" if preset.source else f"Based on {preset.name}"
        preset = replace(preset, variants=variants, summary=summary, source=source)
    return replace(
        preset,
        name=preset_name(name),
        title=title or name,
        category=Category.OWN,
        parameters=parameters,
        aliases=(),
        path="",
        shipped=False,
    )


def own_title(text: str, presets: Collection[Preset]) -> str:
    """What was typed as the name of a new preset: any words, as long as none of `presets` has them for its name.

    Raises UsageError.
    """
    from diskprof.presets.foreign.imported import LONGEST_PRESET_NAME, preset_name

    title = " ".join(clean(text).split())
    if not any(char.isascii() and char.isalnum() for char in title):
        raise UsageError("The preset needs a name.", "Write a word or two, with letters of a to z or digits.")
    if len(title) > LONGEST_PRESET_NAME:
        raise UsageError(f"{len(title)} characters are too many.", f"Up to {LONGEST_PRESET_NAME} characters.")
    name = preset_name(title)
    if any(name in (preset.name, *preset.aliases) for preset in presets):
        raise UsageError(f"Preset {name} already exists.", "Choose another name.")
    return title
