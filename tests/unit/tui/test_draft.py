"""What was chosen on the Run screen, as a value: what is wished for, and for how long writing is permitted."""

import pytest
from bench_screens import DISKS, PRESETS, make_device
from msgspec.structs import replace

from diskprof.model.device import DeviceTree
from diskprof.model.plan import WritePermission
from diskprof.model.preset import Variant
from diskprof.runner.session import Place
from diskprof.tui.run.draft import Draft

BARE = make_device("sdb", diskseq=7)
OTHER = make_device("sdc", diskseq=8)
TREE = DeviceTree((*DISKS, BARE, OTHER))
QUICK = replace(PRESETS[0], variants=(Variant("small", (("size", "512m"),)), Variant("long", (("runtime", "1h"),))))
CRYSTAL = PRESETS[1]
CHOSEN = Draft().choose(TREE, Place("sdb"), QUICK)


def settings(draft: Draft) -> dict[str, str]:
    assert draft.wish is not None
    return dict(draft.wish.settings)


def may_write(draft: Draft) -> bool:
    assert draft.wish is not None
    return draft.wish.permission == WritePermission(allowed=True)


@pytest.mark.parametrize("missing", [(None, Place("sdb"), QUICK), (TREE, None, QUICK), (TREE, Place("sdb"), None)])
def test_nothing_is_wished_for_until_everything_is_chosen(missing: tuple[object, object, object]) -> None:
    assert Draft().choose(*missing).wish is None  # type: ignore[arg-type]


def test_what_was_made_of_a_preset_is_remembered_while_another_is_chosen() -> None:
    draft = CHOSEN.edit(QUICK, {"size": "256m", "runtime": "5s"}).name_targets(CRYSTAL, {"cache": "/mnt/a"})
    assert settings(draft) == {"size": "256m"}
    other = draft.choose(TREE, Place("sdb"), CRYSTAL)
    assert settings(other) == {} and other.wish and other.wish.named == {"cache": "/mnt/a"}
    assert settings(other.choose(TREE, Place("sdc"), QUICK)) == {"size": "256m"}
    assert draft.edited == {"quick"} and CHOSEN.edited == frozenset()


def test_what_was_edited_wins_over_each_variant() -> None:
    draft = CHOSEN.take_next_variant(QUICK)
    assert settings(draft) == {"size": "512m"} and not draft.edited
    draft = draft.edit(QUICK, {"size": "256m", "runtime": "5s"})
    assert settings(draft) == {"size": "256m"}
    draft = draft.take_next_variant(QUICK)
    assert settings(draft) == {"size": "256m", "runtime": "1h"}
    assert settings(draft.take_next_variant(QUICK)) == {"size": "256m"}
    assert not draft.edit(QUICK, {"size": "1g", "runtime": "1h"}).edited


def test_the_copy_has_what_was_made_of_the_original() -> None:
    draft = CHOSEN.take_next_variant(QUICK).edit(QUICK, {"size": "1m"}).name_targets(QUICK, {"cache": "/mnt/a"})
    saved = draft.save_as("quick", "mine")
    mine = replace(QUICK, name="mine")
    for preset in (QUICK, mine):
        assert saved.settings(preset) == {} and saved.shape(preset).named == {"cache": "/mnt/a"}
    assert draft.settings(QUICK) == {"size": "1m"}


def test_writing_is_permitted_to_what_is_chosen_alone() -> None:
    draft = CHOSEN.toggle_writing()
    assert not may_write(CHOSEN) and may_write(draft) and not may_write(draft.toggle_writing())
    assert not may_write(draft.forbid_writing())
    assert may_write(draft.choose(TREE, Place("sdb"), CRYSTAL)), "the device is the same"
    other = draft.choose(TREE, Place("sdc"), QUICK)
    assert not may_write(other) and may_write(other.toggle_writing())
    assert not may_write(draft.name_targets(QUICK, {"cache": "/mnt/a"}))


@pytest.mark.parametrize("place", [Place("sdb"), Place(path="/dev/sdb")])
def test_writing_is_not_permitted_to_another_disk_under_the_same_name(place: Place) -> None:
    """F35: a device that was pulled and one that was plugged in since have one name."""
    draft = CHOSEN.choose(TREE, place, QUICK).toggle_writing()
    assert may_write(draft)
    assert may_write(draft.choose(DeviceTree((*DISKS, BARE)), place, QUICK)), "others may come and go"
    assert not may_write(draft.choose(DeviceTree((*DISKS, replace(BARE, diskseq=9))), place, QUICK))


def test_nor_to_another_disk_below_a_path_of_a_preset_with_several() -> None:
    draft = CHOSEN.name_targets(QUICK, {"cache": "/dev/sdb", "nocache": "/dev/sdc"}).toggle_writing()
    assert may_write(draft)
    assert not may_write(draft.choose(DeviceTree((*DISKS, BARE, replace(OTHER, diskseq=9))), Place("sdb"), QUICK))
