"""What a person has chosen, edited, named and permitted on the Run screen: a value, of which a plan is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from diskprof.model.device import DeviceTree
from diskprof.model.plan import WritePermission
from diskprof.model.preset import Preset
from diskprof.presets.own_copies import edits, next_variant, variant_settings
from diskprof.runner.session import Place, Wish


class Shape(Struct, frozen=True):
    """What was made of one preset: its variant (empty for none), values of parameters, and paths by slot."""

    variant: str = ""
    edited: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)


class Overwritten(Struct, frozen=True):
    """What writing is permitted to: the place, the paths that the preset asks for, and those very disks (F35)."""

    place: Place | None
    named: Mapping[str, str]
    disks: tuple[int | None, ...]


_AS_IT_IS = Shape()


class Draft(Struct, frozen=True):
    """Every method gives another draft. `shapes` are kept by the names of presets, as long as the program runs."""

    tree: DeviceTree | None = None
    place: Place | None = None
    preset: Preset | None = None
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    permitted: Overwritten | None = None

    def shape(self, preset: Preset) -> Shape:
        return self.shapes.get(preset.name, _AS_IT_IS)

    def settings(self, preset: Preset) -> dict[str, str]:
        """The variant's parameters, and over them what the person edited."""
        shape = self.shape(preset)
        # What was remembered may be of a preset that has been changed.
        edited = {name: value for name, value in shape.edited.items() if preset.parameter(name)}
        return {**variant_settings(preset, shape.variant), **edited}

    @property
    def edited(self) -> frozenset[str]:
        """The names of the presets of which parameters were edited."""
        return frozenset(name for name, shape in self.shapes.items() if shape.edited)

    @property
    def wish(self) -> Wish | None:
        """What to make a plan of; None as long as something is not chosen."""
        if self.tree is None or self.place is None or self.preset is None:
            return None
        permission = WritePermission(allowed=self.permitted == self._overwritten)
        return replace(self._wish_for(self.preset, self.place, self.tree), permission=permission)

    def wishes(self, presets: Sequence[Preset]) -> tuple[Wish, ...]:
        """What to make plans of where each of the presets was chosen; none as long as no place is."""
        if self.tree is None or self.place is None:
            return ()
        return tuple(self._wish_for(preset, self.place, self.tree) for preset in presets)

    def _wish_for(self, preset: Preset, place: Place, tree: DeviceTree) -> Wish:
        shape = self.shape(preset)
        return Wish(preset, place, tree, self.settings(preset), shape.named, shape.variant)

    def choose(self, tree: DeviceTree | None, place: Place | None, preset: Preset | None) -> Draft:
        return replace(self, tree=tree, place=place, preset=preset)

    def recall(self, variants: Mapping[str, str], edited: Mapping[str, Mapping[str, str]]) -> Draft:
        """With the variants and edited parameters, by preset, of another time."""
        shapes = {name: Shape(variants.get(name, ""), edited.get(name, {})) for name in {**variants, **edited}}
        return replace(self, shapes=shapes)

    def edit(self, preset: Preset, values: Mapping[str, str]) -> Draft:
        """With `values` for the preset's parameters; those that are not changed are left out."""
        return self._with(preset, edited=edits(preset, self.shape(preset).variant, values))

    def begin_with(self, preset: Preset, values: Mapping[str, str]) -> Draft:
        """As `edit`, without the variant and the edits that there were."""
        return self._with(preset, variant="", edited=edits(preset, "", values))

    def take_next_variant(self, preset: Preset) -> Draft:
        return self._with(preset, variant=next_variant(preset, self.shape(preset).variant))

    def name_targets(self, preset: Preset, paths: Mapping[str, str]) -> Draft:
        """With a path for each slot of the preset."""
        return self._with(preset, named=paths)

    def save_as(self, original: str, name: str) -> Draft:
        """What was made of the preset `original` lives on in the copy `name`, and so do the paths."""
        shapes = dict(self.shapes)
        if (shape := shapes.pop(original, None)) and shape.named:
            shapes[original] = shapes[name] = Shape(named=shape.named)
        return replace(self, shapes=shapes)

    def toggle_writing(self) -> Draft:
        """Permit to overwrite what is chosen, or not. It is not permitted any more where something else is chosen."""
        now = self._overwritten
        return replace(self, permitted=None if self.permitted == now else now)

    def forbid_writing(self) -> Draft:
        return replace(self, permitted=None)

    def _with(self, preset: Preset, **changed: str | Mapping[str, str]) -> Draft:
        return replace(self, shapes={**self.shapes, preset.name: replace(self.shape(preset), **changed)})

    @property
    def _overwritten(self) -> Overwritten:
        place, tree = self.place, self.tree
        named = self.shape(self.preset).named if self.preset else {}
        # A path that was typed is that of the node where it is one of a device.
        chosen = {place.device, place.path, *named.values()} if place else set()
        disks = tuple(device.diskseq for device in tree.devices if chosen & {device.name, device.node}) if tree else ()
        return Overwritten(place, named, disks)
