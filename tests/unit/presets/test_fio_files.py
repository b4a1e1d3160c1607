"""What imported jobs work on: files of their own, named files, several devices; and what their writes find."""

from pathlib import Path

import pytest
from shipped import SHIPPED

from diskprof.model.errors import PresetError
from diskprof.model.preset import OWN_FILES, Layout, Preset, Test
from diskprof.presets.files.fio_text import job_file
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import checked_toml
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.imported import ImportedPreset
from diskprof.presets.foreign.jobfile import import_job_text
from diskprof.presets.resolve import resolve


def imported(text: str, *, several: bool = False) -> ImportedPreset:
    return import_job_text(text.encode(), Path("job.fio"), several=several)


def parsed(text: str) -> tuple[Test, ...]:
    return imported(text).preset.tests


def files(text: str) -> list[tuple[str, ...]]:
    """The files of every job."""
    return [job.files for test in parsed(text) for job in test.jobs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a]\nrw=read\n", [()]),
        ("[a]\nrw=read\ndirectory=/mnt\n", [()]),
        ("[a]\nnumjobs=4\n", [OWN_FILES]),
        ("[a]\nnumjobs=4\nfilename=/mnt/x\n", [()]),
        ("[a]\nnrfiles=3\n", [OWN_FILES]),
        ("[a]\n[b]\n", [OWN_FILES, OWN_FILES]),
        ("[a]\n[b]\nstonewall\n", [(), ()]),
        ("[a]\nfilename=x\n[b]\nfilename=x\n", [(), ()]),
        ("[a]\nfilename=x\n[b]\nfilename=y\n", [("x",), ("y",)]),
        ("[a]\nfilename=x\n[b]\n", [("x",), OWN_FILES]),
        ("[a]\nfilename=x:y\n", [("x", "y")]),
        ("[a]\nfilename=x:x\n", [()]),
        ("[a]\nfilename=x\\:y\n", [()]),
        ("[a]\nfilename=/a/x.dat:/a/y.dat\n", [("x.dat", "y.dat")]),
        # F75: both count, wherever the second stands.
        ("[global]\nfilename=x\n[a]\nfilename=y\n", [("x", "y")]),
        ("[a]\nfilename=x\nfilename=y\n", [("x", "y")]),
        ("[a]\nfilename=/m/data\n[b]\nfilename=/n/data\n", [("data",), ("data-2",)]),
        ("[a]\nfilename_format=$jobname.$jobnum\nnumjobs=2\n", [OWN_FILES]),
        ("[a]\nfilename_format=shared.$filenum\nnumjobs=2\nnrfiles=2\n", [("shared.0", "shared.1")]),
        ("[a]\nfilename_format=shared\nnumjobs=2\n[b]\nfilename_format=shared\n", [(), ()]),
    ],
)
def test_each_job_has_the_files_that_fio_gives_it(text: str, expected: list[tuple[str, ...]]) -> None:
    assert files(text) == expected


def test_a_command_with_two_file_names_works_on_both() -> None:
    (test,) = import_command(
        "fio --name=a --filename=/d/x --filename=/d/y --rw=randread --bs=4k --size=1g"
    ).preset.tests
    assert test.jobs[0].files == ("x", "y")


@pytest.mark.parametrize("text", ["[a]\nfilename=/dev/sda:/dev/sdb\n", "[a]\ndirectory=/sda:/sdb\nnumjobs=2\n"])
def test_a_job_in_several_places_has_a_target_for_each(text: str) -> None:
    found = imported(text)
    assert [slot.name for slot in found.preset.targets] == ["sda", "sdb"]
    assert found.preset.tests[0].jobs[0].targets == ("sda", "sdb")
    assert any("each needs a target, --target sda=PATH --target sdb=PATH" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "size"),
    [("[a]\nfilesize=1m\n", 1), ("[a]\nfilesize=1m\nnrfiles=4\n", 4), ("[a]\nfilesize=1m\nfilename=x:y\n", 2)],
)
def test_the_size_of_each_file_is_a_part_of_the_jobs(text: str, size: int) -> None:
    (test,) = resolve(imported(text).preset, {}).tests
    assert test.load.fio[0].size == size << 20


def test_of_one_file_there_is_nothing_to_choose() -> None:
    (test,) = parsed("[a]\nrw=read\nnrfiles=1\nopenfiles=1\nfile_service_type=sequential\nsize=1m\n")
    assert not {"nrfiles", "openfiles", "file_service_type"} & dict(test.jobs[0].options).keys()
    (test,) = parsed("[a]\nrw=read\nnrfiles=2\nfile_service_type=sequential\nsize=1m\n")
    assert dict(test.jobs[0].options)["file_service_type"] == "sequential"


# --- What writes find ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "layouts"),
    [
        ("[a]\nrw=write\n", [Layout.FRESH]),
        ("[a]\nrw=randwrite\noverwrite=1\n", [Layout.FILLED]),
        ("[a]\nrw=randrw\n", [Layout.FILLED]),
        ("[a]\nrw=write\nfilename=x\n[b]\nrw=randwrite\nfilename=x\nstonewall\n", [Layout.FRESH, Layout.FILLED]),
        ("[a]\nrw=write\n[b]\nrw=randwrite\nstonewall\n", [Layout.FRESH, Layout.FRESH]),
    ],
)
def test_a_job_that_only_writes_begins_with_a_new_file_unless_one_before_wrote_it(
    text: str, layouts: list[Layout]
) -> None:
    found = imported(text)
    assert [test.layout for test in found.preset.tests] == layouts
    assert any("start on a new file" in note for note in found.notes) == (Layout.FRESH in layouts)


def test_the_layout_of_an_imported_preset_is_a_parameter() -> None:
    preset = imported("[a]\nrw=write\nsize=1m\n").preset
    loaded = parse(checked_toml(preset).encode(), Path("own.toml"), shipped=False)
    assert isinstance(loaded, Preset)
    assert resolve(loaded, {}).tests[0].layout is Layout.FRESH
    assert resolve(loaded, {"layout": "filled"}).tests[0].layout is Layout.FILLED


# --- The time that startdelay counts from ----------------------------------------------------------------------------


def test_a_delay_counts_from_the_begin_of_all_jobs() -> None:
    """As in fio: of a job behind a wall a part of it, or all, is over when its turn comes."""
    timed = "[global]\ntime_based=1\nruntime=10\nstonewall\n[a]\n[b]\nstartdelay=12\n[c]\nstartdelay=15\n"
    found = imported(timed)
    delays = [test.load.fio[0].delay_s for test in resolve(found.preset, {}).tests]
    assert delays == [0, 2, 0]
    assert any("2 s are left when its test begins" in note for note in found.notes)


def test_behind_a_job_that_ends_by_its_amount_the_delay_is_as_it_stands_and_told() -> None:
    found = imported("[a]\nsize=1m\n[b]\nstonewall\nstartdelay=12\nsize=1m\n")
    assert [test.load.fio[0].delay_s for test in resolve(found.preset, {}).tests] == [0, 12]
    assert any("from the end of the test before" in note for note in found.notes)


# --- There and back --------------------------------------------------------------------------------------------------

WITH_FIO = [preset for preset in SHIPPED.presets if any(test.load.fio for test in resolve(preset, {}).tests)]


@pytest.mark.parametrize("preset", WITH_FIO, ids=lambda preset: preset.name)
def test_a_shipped_preset_that_is_exported_and_imported_is_the_same(preset: Preset) -> None:
    found = import_job_text(job_file(preset, {}).encode(), Path("job.fio"), several=True).preset
    assert [slot.name for slot in found.targets] == [slot.name for slot in preset.targets]
    before = [test for test in resolve(preset, {}).tests if test.load.fio]
    after = resolve(found, {}).tests
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        jobs = [(job.targets, job.files, sorted(job.options)) for job in old.load.fio]
        assert [(job.targets, job.files, sorted(job.options)) for job in new.load.fio] == jobs
        if any(job.fills for job in old.load.fio):
            assert new.layout is old.layout


def test_what_no_preset_can_say_of_files_is_refused() -> None:
    for text in ("opendir=/etc", "filename=/a/x:/a/y:/b/z", "filename=x:y\nnrfiles=3"):
        with pytest.raises(PresetError, match="is refused"):
            imported(f"[a]\n{text}\n")
