"""Run: what a person makes of a preset before it starts: its targets, variant, own copy; and finding it."""

from pathlib import Path

import pytest
from bench_screens import PRESETS, Bench, make_preset, open_bench
from msgspec.structs import replace
from stored_screens import SIZES, Driver, press, see, settle, text_of, told, until, write
from textual import events
from textual.widgets import Input, Static

from diskprof.model.advice import on_screen
from diskprof.model.errors import UsageError
from diskprof.model.preset import Category, EngineName, Job, Parameter, ParameterKind, TargetSlot, Test, Variant
from diskprof.presets.library import user_directory
from diskprof.presets.own_copies import own_copy, together
from diskprof.runner.session import Session
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.dialogs.form import FormDialog
from diskprof.tui.dialogs.import_dialog import ImportDialog
from diskprof.tui.dialogs.text_page import TextPage
from diskprof.tui.kit.table import Table
from diskprof.tui.live.screen import LiveScreen
from diskprof.tui.run.screen import RunScreen

QUICK = Variant("quick", (("size", "512m"), ("runtime", "3s")))
AZURE = make_preset(
    "azure",
    "Cached and not",
    targets=(TargetSlot("cache", "the volume that is read"), TargetSlot("nocache", "the volume that is written")),
)


@pytest.fixture
def two(bench: Bench) -> Bench:
    """The preset under the cursor asks for two targets."""
    bench.presets = (replace(AZURE, name="quick", variants=(QUICK,)), *PRESETS[1:])
    return bench


def rows(pilot: Driver, pane: str) -> Table:
    return pilot.app.screen.query_one(f"#{pane}", Table)


def plan(pilot: Driver) -> str:
    return " ".join(rows(pilot, "plan").text.split())


def value(pilot: Driver, field: str) -> str:
    return pilot.app.screen.query_one(f"#field-{field}", Input).value


async def open_two(pilot: Driver) -> None:
    await until(pilot, lambda: "Needs 2 targets." in plan(pilot))


@pytest.mark.parametrize("size", SIZES)
async def test_enter_asks_for_each_target_and_then_starts(two: Bench, size: tuple[int, int]) -> None:
    async with open_bench(two, size, wait=False) as pilot:
        await open_two(pilot)
        assert "cache: the volume that is read" in plan(pilot)
        assert "--target" not in plan(pilot)
        assert not rows(pilot, "plan").has_class("-blocked")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FormDialog)
        await see(pilot, "Targets of Cached and not", "cache the volume that is read", "nocache the volume that is")
        assert value(pilot, "cache") == "/mnt/data"
        await write(pilot, "/gone", "#field-nocache")
        await press(pilot, "enter")
        await see(pilot, "✗ /gone does not exist.")
        await write(pilot, "/mnt/slow", "#field-nocache")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
        await see(pilot, "cache /mnt/data", "nocache /mnt/slow")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        (started,) = two.started
        assert (started.slot, started.target.path) == ("cache", "/mnt/data")
        assert [(other.slot, other.target.path) for other in started.others] == [("nocache", "/mnt/slow")]


@pytest.mark.parametrize("size", SIZES)
async def test_o_names_the_targets_and_they_are_remembered(two: Bench, size: tuple[int, int]) -> None:
    async with open_bench(two, size, wait=False) as pilot:
        await open_two(pilot)
        await press(pilot, "o", "escape", "v")
        await until(pilot, lambda: "variant quick: size 512m, runtime 3s" in plan(pilot))
        assert "Needs 2 targets." in plan(pilot)
        await press(pilot, "o")
        await write(pilot, "/mnt/a", "#field-cache")
        await write(pilot, "/mnt/b", "#field-nocache")
        await press(pilot, "enter")
        await until(pilot, lambda: "cache /mnt/a nocache /mnt/b" in plan(pilot))
        assert isinstance(pilot.app.screen, RunScreen)
        await press(pilot, "right", "down")
        await until(pilot, lambda: "Tests /mnt/data with crystal." in plan(pilot))
        await press(pilot, "up")
        await until(pilot, lambda: "cache /mnt/a nocache /mnt/b" in plan(pilot))
        await press(pilot, "o")
        assert (value(pilot, "cache"), value(pilot, "nocache")) == ("/mnt/a", "/mnt/b")


@pytest.mark.parametrize("size", SIZES)
async def test_v_takes_the_next_variant_and_what_was_edited_wins(bench: Bench, size: tuple[int, int]) -> None:
    bench.presets = (replace(PRESETS[0], variants=(QUICK, Variant("long", (("runtime", "1h"),)))), *PRESETS[1:])
    async with open_bench(bench, size) as pilot:
        await until(pilot, lambda: "variant default, v for quick, long" in plan(pilot))
        await press(pilot, "v")
        await until(pilot, lambda: bench.planned[-1] == ("quick", "/mnt/data", {"size": "512m", "runtime": "3s"}))
        await until(pilot, lambda: "variant quick: size 512m, runtime 3s" in plan(pilot))
        await press(pilot, "e")
        assert (value(pilot, "size"), value(pilot, "runtime")) == ("512m", "3s")
        await write(pilot, "256m", "#field-size")
        await press(pilot, "enter")
        await until(pilot, lambda: "variant quick: size 256m, runtime 3s; edited: size 256m" in plan(pilot))
        assert "Quick check *" in rows(pilot, "presets").text
        await press(pilot, "v")
        await until(pilot, lambda: bench.planned[-1] == ("quick", "/mnt/data", {"size": "256m", "runtime": "1h"}))
        await until(pilot, lambda: "variant long: runtime 1h; edited: size 256m" in plan(pilot))
        assert "size, which you edited, stays 256m" in told(pilot)
        await press(pilot, "v")
        await until(pilot, lambda: bench.planned[-1] == ("quick", "/mnt/data", {"size": "256m"}))
        await until(pilot, lambda: "variant default, v for quick, long; edited: size 256m" in plan(pilot))
        await press(pilot, "e")
        await write(pilot, "1g", "#field-size")
        await press(pilot, "enter")
        await until(pilot, lambda: "edited" not in plan(pilot))


@pytest.mark.parametrize(
    ("field", "typed", "says", "size"),
    [
        ("depth", "0", "iodepth=0", SIZES[0]),
        ("bs", "3000", "512", SIZES[1]),
        ("runtime", "0", "runtime=0", SIZES[0]),
    ],
)
async def test_a_value_that_means_nothing_is_refused_where_it_was_typed(
    bench: Bench, size: tuple[int, int], field: str, typed: str, says: str
) -> None:
    options = (("rw", "randread"), ("direct", "1"), ("iodepth", "$depth"), ("bs", "$bs"), ("runtime", "$runtime"))
    parameters = (
        Parameter("bs", ParameterKind.SIZE, "4k"),
        Parameter("depth", ParameterKind.COUNT, "4"),
        Parameter("runtime", ParameterKind.DURATION, "5s"),
    )
    test = Test("read", "Random read", EngineName.FIO, (Job("read", (*options, ("size", "1g"))),))
    bench.presets = (replace(PRESETS[0], parameters=parameters, tests=(test,)), *PRESETS[1:])
    async with open_bench(bench, size) as pilot:
        await press(pilot, "e")
        await write(pilot, "300", f"#field-{field}")
        await write(pilot, typed, f"#field-{field}")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FormDialog)
        wrong = pilot.app.screen.query_one(f"#wrong-{field}", Static)
        assert wrong.display
        assert says in str(wrong.render())
        assert "$" not in str(wrong.render())
        assert pilot.app.focused is pilot.app.screen.query_one(f"#field-{field}")
        await press(pilot, "escape")
        assert bench.planned[-1][2] == {}


def test_of_values_that_cannot_stand_together_one_that_was_changed_is_blamed() -> None:
    parameters = (Parameter("size", ParameterKind.SIZE, "1g"), Parameter("bs", ParameterKind.SIZE, "4k"))
    test = Test("read", "Read", EngineName.FIO, (Job("read", (("rw", "read"), ("size", "$size"), ("bs", "$bs"))),))
    preset = replace(PRESETS[0], parameters=parameters, tests=(test,))
    check = together(preset, {})
    assert check({"size": "1g", "bs": "64k"}) is None
    assert check({"size": "8m", "bs": "8m"}) is None
    found = check({"size": "1g", "bs": "2g"})
    assert found is not None
    assert found[0] == "bs"
    found = check({"size": "1k", "bs": "4k"})
    assert found is not None
    assert found[0] == "size"


@pytest.mark.parametrize("size", SIZES)
async def test_the_key_for_variants_is_there_only_where_there_are_any(bench: Bench, size: tuple[int, int]) -> None:
    bench.presets = (replace(PRESETS[0], variants=(QUICK,)), *PRESETS[1:])
    async with open_bench(bench, size) as pilot:
        assert "v Variant" in text_of(pilot)
        await press(pilot, "right", "down")
        await until(pilot, lambda: "Tests /mnt/data with crystal." in plan(pilot))
        assert "v Variant" not in text_of(pilot)
        await press(pilot, "v")
        assert bench.planned[-1] == ("crystal", "/mnt/data", {})


def titles(pilot: Driver) -> list[str]:
    return [line.strip().partition("  ")[0] for line in rows(pilot, "presets").text.splitlines()]


async def test_the_cursor_goes_to_what_has_the_words_in_its_title(bench: Bench) -> None:
    bench.presets = tuple(replace(preset, keywords=("ioping",)) for preset in bench.presets)
    async with open_bench(bench) as pilot:
        await press(pilot, "slash", *"ioping")
        assert len(titles(pilot)) == 5 and rows(pilot, "presets").key == "ioping-latency"
        await press(pilot, *["backspace"] * 6, *"article")
        assert rows(pilot, "presets").key == "quick"


@pytest.mark.parametrize("size", SIZES)
async def test_the_filter_leaves_what_has_its_words(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await see(pilot, "/ Filter")
        await press(pilot, "slash", *"IOPING")
        assert titles(pilot) == ["Latency", "Latency with ioping"]
        await until(pilot, lambda: "Tests /mnt/data with ioping-latency." in plan(pilot))
        await write(pilot, "article QUICK crystal")
        assert titles(pilot) == ["Quick", "As CrystalDiskMark"]
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, RunScreen)
        assert pilot.app.focused is rows(pilot, "presets")
        await see(pilot, "article QUICK crystal")
        await press(pilot, "escape")
        assert len(titles(pilot)) == 5
        assert rows(pilot, "presets").key == "crystal"
        assert not pilot.app.screen.query_one("#preset-filter").display


async def test_the_cursor_goes_to_the_first_that_is_found(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "tab", "end", "slash")
        assert rows(pilot, "presets").key == "ioping-latency"
        await write(pilot, "article")
        assert len(titles(pilot)) == 5
        assert rows(pilot, "presets").key == "quick"
        await press(pilot, "enter", "down")
        assert rows(pilot, "presets").key == "crystal"
        await press(pilot, "escape")
        assert rows(pilot, "presets").key == "crystal"


async def test_words_that_came_with_the_key_of_the_filter_are_its_text(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        screen = pilot.app.screen
        for letter in "/ioping":
            key = "slash" if letter == "/" else letter
            pilot.app.post_message(events.Key(key, letter))
        field = screen.query_one("#preset-filter", Input)
        await until(pilot, lambda: field.value == "ioping" or pilot.app.screen is not screen)
        assert field.value == "ioping"


@pytest.mark.parametrize("size", SIZES)
async def test_a_filter_that_finds_nothing_starts_nothing(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "slash")
        await write(pilot, "[/]nonsense")
        await until(pilot, lambda: plan(pilot) == "No preset selected. Esc clears the filter.")
        assert "No matching preset." in rows(pilot, "presets").text
        await press(pilot, "enter", "enter", "e", "v", "C")
        assert isinstance(pilot.app.screen, RunScreen)
        assert "No preset matches the filter. Esc clears it." in told(pilot)
        await press(pilot, "escape")
        await until(pilot, lambda: "Tests /mnt/data with quick." in plan(pilot))
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, Ask)


@pytest.mark.parametrize("size", SIZES)
async def test_w_saves_what_was_edited_as_ones_own(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "e")
        await write(pilot, "256m", "#field-size")
        await press(pilot, "enter", "w")
        assert isinstance(pilot.app.screen, FormDialog)
        await see(pilot, "Save Quick check as your own", "Name a word or two")
        for text, wrong in (("", "The preset needs a name."), ("Crystal", "Preset crystal already exists.")):
            await write(pilot, text)
            await press(pilot, "enter")
            await see(pilot, f"✗ {wrong}")
        await write(pilot, "My NVMe check")
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot, "presets").key == "my-nvme-check")
        (saved,) = bench.saved
        assert (saved.name, saved.title, saved.category) == ("my-nvme-check", "My NVMe check", Category.OWN)
        assert [parameter.default for parameter in saved.parameters] == ["256m", "5s"]
        assert not saved.shipped
        assert "/home/me/my-nvme-check.toml" in told(pilot)
        await until(pilot, lambda: bench.planned[-1] == ("my-nvme-check", "/mnt/data", {}))
        assert titles(pilot)[:2] == ["Your own", "My NVMe check"]
        assert "*" not in rows(pilot, "presets").text


async def test_a_preset_that_cannot_be_written_is_still_edited(bench: Bench) -> None:
    bench.save_error = UsageError("/home/me/x.toml cannot be written: No space left on device.")
    async with open_bench(bench) as pilot:
        await press(pilot, "e")
        await write(pilot, "256m", "#field-size")
        await press(pilot, "enter", "w")
        await write(pilot, "x")
        await press(pilot, "enter")
        await until(pilot, lambda: "No space left on device." in told(pilot))
        assert rows(pilot, "presets").key == "quick"
        assert "Quick check *" in rows(pilot, "presets").text


def test_every_shipped_preset_can_be_saved_as_ones_own_and_none_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    session = Session()
    for preset in session.load_library().presets:
        path = session.save_preset(own_copy(preset, f"My {preset.name}"[:40], {}))
        assert path.parent == user_directory()
    library = session.load_library()
    own = [preset for preset in library.presets if preset.category is Category.OWN]
    assert not library.problems
    assert 2 * len(own) == len(library.presets)
    with pytest.raises(UsageError) as caught:
        session.save_preset(own[0])
    assert on_screen(caught.value.hint) == "Choose another name."


@pytest.mark.parametrize("size", SIZES)
async def test_the_commands_show_the_job_as_fio_would_read_it(bench: Bench, size: tuple[int, int]) -> None:
    sized = Job("read", (("rw", "randread"), ("size", "$size")))
    test = Test("read", "Random read", EngineName.FIO, (sized,))
    bench.presets = (replace(PRESETS[0], tests=(test,), variants=(QUICK,)), *PRESETS[1:])
    async with open_bench(bench, size) as pilot:
        await press(pilot, "v")
        await until(pilot, lambda: "variant quick" in plan(pilot))
        await press(pilot, "C")
        assert isinstance(pilot.app.screen, TextPage)
        pilot.app.screen.query_one(".dialog").scroll_end(animate=False)
        await see(pilot, "; read: ", "[read]", "rw=randread", "size=512m")


async def test_ioping_has_no_job_file(bench: Bench) -> None:
    test = Test("ioping", "Latency", EngineName.IOPING, (Job("ioping", (("count", "5"),)),))
    bench.presets = (replace(PRESETS[0], tests=(test,)),)
    async with open_bench(bench) as pilot:
        await press(pilot, "C")
        assert isinstance(pilot.app.screen, TextPage)
        pilot.app.screen.query_one(".dialog").scroll_end(animate=False)
        await settle(pilot)
        assert "job file" not in text_of(pilot)


PASTED = """$ sudo fio --name=reads --rw=randread --bs=4k --size=64m --filename=/dev/sdz
$ fio --name=writes --rw=randwrite --bs=8k --size=64m
"""


@pytest.mark.parametrize("size", [*SIZES, (60, 16)])
async def test_i_makes_a_preset_of_what_is_pasted(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        await press(pilot, "i")
        await until(pilot, lambda: isinstance(pilot.app.screen, ImportDialog))
        assert "become a preset" in str(pilot.app.screen.query_one("#import-words", Static).content)
        pilot.app.screen.post_message(events.Paste(PASTED))
        await until(pilot, lambda: "reads: 4K rand read" in text_of(pilot))
        seen = str(pilot.app.screen.query_one("#import-words", Static).content)
        assert seen.startswith("2 tests:\n  reads: 4K rand read buffered QD1\n  writes: 8K rand write")
        assert "filename=/dev/sdz is left out" in seen and "Can be set: size 64m, runtime none" in seen
        await press(pilot, "tab")
        assert pilot.app.screen.query_one("#import-name", Input).value == "reads"
        await press(pilot, "enter")
        await until(pilot, lambda: bool(bench.saved))
        (saved,) = bench.saved
        assert (saved.name, saved.category, [test.name for test in saved.tests]) == (
            *("reads", Category.OWN),
            ["reads", "writes"],
        )
        await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))


async def test_what_cannot_be_imported_says_why_and_stays(bench: Bench) -> None:
    async with open_bench(bench, (80, 24)) as pilot:
        await press(pilot, "i")
        await until(pilot, lambda: isinstance(pilot.app.screen, ImportDialog))
        pilot.app.screen.post_message(events.Paste("fio --name=a --rw=read --exec_prerun=/bin/sh"))
        words = pilot.app.screen.query_one("#import-words", Static)
        await until(pilot, lambda: "it runs a program" in str(words.content))
        await press(pilot, "tab", "x", "enter")
        await until(pilot, lambda: "There is no test to save yet." in text_of(pilot))
        await press(pilot, "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))
        assert not bench.saved


async def test_a_name_that_is_taken_is_not_replaced(bench: Bench) -> None:
    async with open_bench(bench, (80, 24)) as pilot:
        await press(pilot, "i")
        await until(pilot, lambda: isinstance(pilot.app.screen, ImportDialog))
        pilot.app.screen.post_message(events.Paste("fio --name=quick --rw=read --size=1m"))
        await until(pilot, lambda: pilot.app.screen.query_one("#import-name", Input).value == "quick")
        await press(pilot, "tab", "enter")
        await until(pilot, lambda: "Preset quick already exists. Choose another name." in told(pilot) + text_of(pilot))
        assert not bench.saved
