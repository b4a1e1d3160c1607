"""From what is chosen on the Run screen to a plan, or to the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from diskprof.model.device import DeviceTree
from diskprof.model.errors import DiskprofError, Refused, UsageError
from diskprof.model.plan import WritePermission
from diskprof.model.preset import Category
from diskprof.model.text import clean
from diskprof.tui.dialogs.form import Field

if TYPE_CHECKING:
    from diskprof.model.plan import Plan
    from diskprof.model.preset import Parameter, Preset, TargetSlot
    from diskprof.presets.library import Library
    from diskprof.tui.shell.services import Services

_NO_WRITING = WritePermission()


@dataclass(frozen=True, slots=True)
class Place:
    """Something to test: a device of the tree, or a path that the person typed (`device` is empty then)."""

    device: str = ""
    path: str = ""

    @property
    def key(self) -> str:
        return f"device:{self.device}" if self.device else f"path:{self.path}"

    @staticmethod
    def of(key: str | None) -> Place | None:
        kind, _, name = (key or "").partition(":")
        if not name:
            return None
        return Place(device=name) if kind == "device" else Place(path=name)


@dataclass(frozen=True)
class Wish:
    """What a plan is made of; a plan is shown only as long as this is still what is wished for.

    `named` are the paths for the slots of a preset with several targets, in the place of `place`; `variant` is the name of
    the preset's variant that `settings` start from, empty for none; `permission` what may be done to a raw device.
    """

    place: Place
    preset: str
    settings: tuple[tuple[str, str], ...]
    tree: DeviceTree
    named: tuple[tuple[str, str], ...] = ()
    variant: str = ""
    permission: WritePermission = _NO_WRITING

    def same_choice(self, other: Wish | None) -> bool:
        return other is not None and (self.place, self.preset) == (other.place, other.preset)


@dataclass(frozen=True)
class Outlook:
    """A plan and its sentence, or why there is none: `missing` are the slots that still need a path.

    `suggested` is a path for the first of them: where the chosen device is written to.
    """

    wish: Wish
    plan: Plan | None = None
    sentence: str = ""
    error: DiskprofError | None = None
    missing: tuple[TargetSlot, ...] = ()
    suggested: str = ""

    @property
    def blocked(self) -> bool:
        return self.error is not None or (self.plan is not None and bool(self.plan.blocked))

    @property
    def overwrites(self) -> bool:
        """Whether the plan would write to a raw device, permitted or not: there the switch for it matters."""
        plan = self.plan
        return plan is not None and (bool(plan.raw_devices) or any(each.name == "raw-write" for each in plan.blocked))

    @property
    def nameable(self) -> bool:
        """Whether the plan writes to raw devices and may start once they and what they hold were named."""
        plan = self.plan
        return plan is not None and bool(plan.raw_devices) and (not plan.blocked or bool(plan.to_give_up))


def make_outlook(services: Services, wish: Wish, preset: Preset) -> Outlook:
    """Make the plan; looks at the file system, so it belongs in a thread."""
    given = dict(wish.named)
    try:
        if missing := tuple(slot for slot in preset.targets if slot.name not in given):
            return Outlook(wish, missing=missing, suggested=_path_of(services, wish))
        plan = plan_of(services, wish, preset)
        return Outlook(wish, plan, services.plan_sentence(plan))
    except DiskprofError as error:
        return Outlook(wish, error=error)


def plan_of(services: Services, wish: Wish, preset: Preset) -> Plan:
    """The plan of a wish that names all targets; looks at the file system. Raises DiskprofErrors."""
    given = dict(wish.named)
    named = {slot.name: services.resolve_target(given[slot.name], wish.tree) for slot in preset.targets}
    target = None if named else services.resolve_target(_path_of(services, wish), wish.tree)
    return services.make_plan(preset, target, dict(wish.settings), wish.tree, named, wish.permission)


def _path_of(services: Services, wish: Wish) -> str:
    """The directory to make a file in where the device carries one, else the device itself."""
    device = wish.tree.get(wish.place.device) if wish.place.device else None
    if device is None:
        return wish.place.path
    return services.suggest_directory(device) or device.node


def check_there(plan: Plan, before: DeviceTree, now: DeviceTree) -> None:
    """Raises Refused where a device of the plan, which was made when the devices were `before`, is gone or another disk."""
    for name in dict.fromkeys(target.device for target in plan.targets):
        if (old := before.get(name)) is None:
            continue
        new = now.get(name)
        if new is None:
            raise Refused(f"{old.node} is gone: it was there when this was planned.", "Choose what to test again.")
        if old.diskseq != new.diskseq:
            raise Refused(f"{old.node} is another disk now than when this was planned.", "Choose what to test again.")


def job_file_of(preset: Preset, wish: Wish) -> str:
    """The preset, as it is wished for, as fio would read it; empty where it has no test of fio's."""
    from diskprof.presets.files.fio_text import job_file

    try:
        return job_file(preset, dict(wish.settings))
    except UsageError:
        return ""


def slot_fields(
    services: Services, preset: Preset, given: Mapping[str, str], tree: DeviceTree, suggested: str
) -> list[Field]:
    """A field for the path of each target of a preset that has several; `suggested` stands in the first where none is given."""

    def check(text: str) -> str:
        return services.resolve_target(text.strip(), tree).path

    first = suggested if not given else ""
    return [
        Field(slot.name, clean(slot.name), given.get(slot.name, "" if at else first), clean(slot.summary), check)
        for at, slot in enumerate(preset.targets)
    ]


def variant_settings(preset: Preset, variant: str) -> dict[str, str]:
    """What a variant of the preset sets; nothing for "" or a variant that the preset has no more."""
    return next((dict(each.settings) for each in preset.variants if each.name == variant), {})


def next_variant(preset: Preset, variant: str) -> str:
    """The one after `variant`: the preset as it is (""), then its variants in their order, then as it is again."""
    names = ["", *(each.name for each in preset.variants)]
    return names[(names.index(variant) + 1) % len(names)] if variant in names else ""


def parameter_fields(preset: Preset, settings: Mapping[str, str]) -> list[Field]:
    """A field for each parameter of a preset, with what stands in `settings` in the place of its default."""
    return [
        Field(
            parameter.name,
            clean(parameter.name),
            settings.get(parameter.name, parameter.default),
            _about(parameter),
            _checker(parameter),
            short=True,
        )
        for parameter in preset.parameters
    ]


def changed_from_defaults(preset: Preset, variant: str, values: Mapping[str, str]) -> dict[str, str]:
    """Of `values` what is not the preset's own, or that of its variant."""
    defaults = {parameter.name: parameter.default for parameter in preset.parameters}
    defaults |= variant_settings(preset, variant)
    return {name: value for name, value in values.items() if value != defaults.get(name)}


def edits(preset: Preset, variant: str, settings: Mapping[str, str]) -> list[tuple[str, str]]:
    """Of `settings` what is not the preset's own, or that of its variant, in the order of the parameters."""
    changed = changed_from_defaults(preset, variant, settings)
    return [(parameter.name, changed[parameter.name]) for parameter in preset.parameters if parameter.name in changed]


Together = Callable[[Mapping[str, str]], tuple[str, DiskprofError] | None]


def together(preset: Preset, before: Mapping[str, str]) -> Together:
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


def own_copy(preset: Preset, name: str, settings: Mapping[str, str]) -> Preset:
    """A preset of the person's own, called `name`, that has `settings` for defaults."""
    from diskprof.presets.foreign.imported import preset_name

    parameters = tuple(
        replace(parameter, default=settings.get(parameter.name, parameter.default)) for parameter in preset.parameters
    )
    return replace(
        preset,
        name=preset_name(name),
        title=name,
        category=Category.OWN,
        parameters=parameters,
        aliases=(),
        path="",
        shipped=False,
    )


def name_field(library: Library) -> Field:
    """Asks for the name of a new preset: any words, as long as no preset has them for its name."""

    def check(text: str) -> str:
        from diskprof.presets.foreign.imported import LONGEST_PRESET_NAME, preset_name

        title = " ".join(clean(text).split())
        if not any(char.isascii() and char.isalnum() for char in title):
            raise UsageError("A preset needs a name.", "Write a word or two, with letters of a to z or digits.")
        if len(title) > LONGEST_PRESET_NAME:
            raise UsageError(f"{len(title)} characters are too many.", f"Up to {LONGEST_PRESET_NAME} are possible.")
        name = preset_name(title)
        if any(name in (preset.name, *preset.aliases) for preset in library.presets):
            raise UsageError(f"There is a preset {name} already.", "Choose another name.")
        return title

    return Field("name", "Name", "", "a word or two", check)


def _about(parameter: Parameter) -> str:
    choices = f" ({', '.join(parameter.choices)})" if parameter.choices else ""
    return clean(f"{parameter.summary}{choices}")


def _checker(parameter: Parameter) -> Callable[[str], str]:
    def check(text: str) -> str:
        from diskprof.presets.resolve import parameter_value

        return parameter_value(parameter, text)

    return check
