"""docs/presets.md: its table is that of the presets, its example is a preset, its words are the code's."""

import subprocess
import sys
from pathlib import Path

from diskprof.model.preset import Category, ParameterKind, Preset
from diskprof.presets.files.load import KNOWN_KINDS, parse
from diskprof.presets.files.preset_schema import ExpectEntry, JobEntry, ParameterEntry, PresetFile, TestEntry
from diskprof.presets.options.allowed import FIO_OPTIONS
from diskprof.presets.resolve import resolve

REPOSITORY = Path(__file__).parents[3]
TEXT = (REPOSITORY / "docs/presets.md").read_text()


def example(name: str = "example") -> str:
    return TEXT.partition(f"<!-- {name}: begin -->\n```toml\n")[2].partition(f"```\n<!-- {name}: end -->")[0]


def preset_of(name: str) -> Preset:
    preset = parse(example(name).encode(), Path("mine.toml"), shipped=False)
    assert isinstance(preset, Preset), preset
    return preset


def test_the_table_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, REPOSITORY / "scripts/presets_table.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_example_works() -> None:
    preset = parse(example().encode(), Path("wal.toml"), shipped=False)
    assert isinstance(preset, Preset), preset
    resolved = resolve(preset, {"readers": "2"})
    log, readers = resolved.tests[1].jobs
    assert dict(log.options)["fdatasync"] == "1"
    assert dict(readers.options).items() >= {"numjobs": "2", "new_group": "1", "size": str(2 << 30)}.items()


def test_the_example_of_a_sweep_has_the_cells_that_are_spoken_of() -> None:
    names = [test.name for test in resolve(preset_of("sweep"), {}).tests]
    assert len(names) == 6 and "randread-4k-qd8" in names and "`randread-4k-qd8`" in TEXT


def test_the_example_with_two_targets_uses_both() -> None:
    warm, both = resolve(preset_of("targets"), {}).tests
    assert [job.targets for job in (*warm.jobs, *both.jobs)] == [("data",), ("log",), ("data",)]


def test_the_example_of_promises_promises() -> None:
    promises = preset_of("expect").expectations
    assert [(promise.test, dict(promise.when)["tier"]) for promise in promises] == [
        ("reads", "gold"),
        ("reads", "silver"),
        ("latency", "gold"),
        ("latency", "silver"),
    ]


def test_the_error_shown_is_the_error_given() -> None:
    text = example().replace("time_based = true", "time_base = true")
    found = parse(text.encode(), Path("/home/me/.config/diskprof/presets/wal.toml"), shipped=False)
    assert isinstance(found, tuple)
    assert f"    {found[0]}\n" in TEXT


def test_every_key_kind_and_category_is_explained() -> None:
    for model in (PresetFile, TestEntry, JobEntry, ParameterEntry, ExpectEntry):
        for key in model.model_fields:
            assert (
                f"`{key}`" in TEXT
                or f".{key}`" in TEXT
                or f"[{key}]" in TEXT
                or f"[{key}.NAME]" in TEXT
                or f".{key}]]" in TEXT
                or f"`{key} = " in TEXT
            ), key
    for word in (*Category, *ParameterKind, *KNOWN_KINDS):
        assert f"`{word}`" in TEXT, word


def test_what_is_said_to_be_refused_is_not_allowed() -> None:
    refused = TEXT.partition("Not on it,")[2].partition("Sizes mean")[0]
    names = {word for word in refused.split("`")[1::2] if "=" not in word and "[" not in word}
    assert len(names) > 5 and not names & FIO_OPTIONS.keys()
