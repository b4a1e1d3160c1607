"""The fields of the forms on the Run screen: paths, parameters, the name of a preset, what has to be typed to overwrite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diskprof.model.errors import Refused, UsageError
from diskprof.model.text import clean, split_tags
from diskprof.tui.dialogs.form import FormField

if TYPE_CHECKING:
    from diskprof.model.device import DeviceTree
    from diskprof.model.expectation import Asked
    from diskprof.model.plan import Plan, RawDevice
    from diskprof.model.preset import Parameter, Preset
    from diskprof.runner.session import Session


def slot_fields(
    session: Session, preset: Preset, given: Mapping[str, str], tree: DeviceTree, suggested: str
) -> list[FormField]:
    """A field for the path of each target of a preset that has several; `suggested` stands in the first where none is given."""

    def check(text: str) -> str:
        return session.resolve_target(text.strip(), tree).path

    first = suggested if not given else ""
    return [
        FormField(slot.name, clean(slot.name), given.get(slot.name, "" if at else first), clean(slot.summary), check)
        for at, slot in enumerate(preset.targets)
    ]


def expanded(path: str) -> str:
    """A path that somebody typed, with their home for `~`."""
    try:
        return str(Path(path.strip()).expanduser())
    except RuntimeError:
        # Nobody has that name, or no home: whoever looks for the path says that it is not there.
        return path.strip()


def parameter_fields(preset: Preset, settings: Mapping[str, str]) -> list[FormField]:
    """A field for each parameter of a preset, with what stands in `settings` in the place of its default."""
    return [
        FormField(
            parameter.name,
            clean(parameter.name),
            settings.get(parameter.name, parameter.default),
            _about(parameter),
            _checker(parameter),
            short=True,
        )
        for parameter in preset.parameters
    ]


def name_field(presets: Sequence[Preset], value: str = "") -> FormField:
    """Asks for the name of a preset beside `presets`."""

    def check(text: str) -> str:
        from diskprof.presets.own_copies import own_title

        return own_title(text, presets)

    return FormField("name", "Name", value, "a word or two", check, short=bool(value))


def label_fields(tags: str, note: str, expect: str, disk_class: str) -> list[FormField]:
    """Tags, note, expectations and the class of the disk of a run, as `diskprof run` takes them."""

    def check_tags(text: str) -> str:
        from diskprof.store.reading import is_reserved

        names = split_tags(clean(text))
        if wrong := next(filter(is_reserved, names), ""):
            raise UsageError(f"{wrong!r} cannot be a tag: it always means the newest run.", "Choose another word.")
        return ", ".join(names)

    def check_expectations(text: str) -> str:
        expectations_of(text)
        return " ".join(text.split())

    def check_class(text: str) -> str:
        from diskprof.presets.disk_classes import disk_class

        return disk_class(text.strip()).name if text.strip() else ""

    return [
        FormField("tags", "Tags", tags, "separated by commas", check_tags),
        FormField("note", "Note", note, "e.g. after firmware update", lambda text: clean(text).strip()),
        FormField("expect", "Expect", expect, "e.g. randread-4k-qd32.read.iops>=5000, or aws-gp3", check_expectations),
        FormField("class", "Class", disk_class, "of the disk, e.g. sata-ssd; empty: detected", check_class),
    ]


def expectations_of(text: str) -> list[Asked]:
    """Expressions of `--expect`, or classes of disks, with blanks between them. Raises UsageError."""
    from diskprof.analysis.expectations import asked_expectation
    from diskprof.model.expectation import ClassExpectation
    from diskprof.presets.disk_classes import expected_class

    found = [asked_expectation(word) for word in text.split()]
    for each in found:
        if isinstance(each, ClassExpectation):
            expected_class(each)
    return found


def overwrite_fields(plans: Sequence[Plan]) -> list[FormField]:
    """One for the name of each device that is written to, one for each kind of signature that is given up. All begin empty."""
    from diskprof.runner.plan.write_permission import what_to_type

    names = [
        FormField(_name(at), f"To overwrite {device.node}, type {what_to_type(device)}", "", "", _name_check(device))
        for at, device in enumerate(raw_devices(plans))
    ]
    kinds = [
        FormField(f"signature-{at}", f"To overwrite its {clean(kind)}, type {clean(kind)}", "", "", _kind_check(kind))
        for at, kind in enumerate(dict.fromkeys(kind for plan in plans for kind in plan.to_give_up))
    ]
    return [*names, *kinds]


def raw_devices(plans: Sequence[Plan]) -> tuple[RawDevice, ...]:
    """Those that plans write to, plan by plan."""
    return tuple(device for plan in plans for device in plan.raw_devices)


def typed_names(plans: Sequence[Plan], typed: Mapping[str, str]) -> list[str]:
    """What was typed as the name of each device, of the values of `overwrite_fields`."""
    return [typed[_name(at)] for at in range(len(raw_devices(plans)))]


def _about(parameter: Parameter) -> str:
    choices = f" ({', '.join(parameter.choices)})" if parameter.choices else ""
    return clean(f"{parameter.summary}{choices}")


def _checker(parameter: Parameter) -> Callable[[str], str]:
    def check(text: str) -> str:
        from diskprof.presets.resolve import parameter_value

        return parameter_value(parameter, text)

    return check


def _name(at: int) -> str:
    return f"device-{at}"


def _name_check(device: RawDevice) -> Callable[[str], str]:
    def check(text: str) -> str:
        from diskprof.runner.plan.write_permission import what_to_type

        word = text.strip()
        if word not in device.names:
            said = f"{clean(word[:40])!r} is not the name of {device.node}." if word else "Nothing is typed yet."
            raise Refused(said, f"Type {what_to_type(device)}.")
        return word

    return check


def _kind_check(kind: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        word = text.strip()
        if word != kind:
            said = f"{clean(word[:40])!r} does not match." if word else "Nothing is typed yet."
            raise Refused(said, f"Type {clean(kind)} to allow overwriting it.")
        return word

    return check
