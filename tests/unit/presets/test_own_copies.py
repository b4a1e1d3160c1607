"""Copies of presets under a name of one's own."""

import pytest
from shipped import SHIPPED

from diskprof.presets.files.write import checked_toml
from diskprof.presets.own_copies import own_copy


def test_a_copy_with_other_values_has_no_variant_that_contradicts_them_and_says_what_it_is_based_on() -> None:
    volume = SHIPPED.get("digitalocean-volume")
    copy = own_copy(volume, "small", {"size": "32m"})
    assert "size" in dict(volume.variants[0].settings) and copy.variants == ()
    assert copy.summary.startswith(f"Based on {volume.title}, with size=32m.")
    assert copy.source.startswith("Based on digitalocean-volume: ")


def test_a_copy_as_it_is_keeps_all() -> None:
    volume = SHIPPED.get("digitalocean-volume")
    copy = own_copy(volume, "same", {})
    assert (copy.variants, copy.summary, copy.source) == (volume.variants, volume.summary, volume.source)


@pytest.mark.parametrize("preset", SHIPPED.presets, ids=lambda preset: preset.name)
def test_a_copy_of_every_shipped_preset_can_be_written(preset: object) -> None:
    checked_toml(own_copy(preset, "mine", {"runtime": "7s"}))  # type: ignore[arg-type]
