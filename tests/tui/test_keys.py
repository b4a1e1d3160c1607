"""Every key: it has an id, stands in the footer or the help, can be changed, and does something that can be seen."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from bench_screens import PRESETS, Bench, make_preset
from recorded import record_run, write_library
from stored_screens import Driver, press, see, settle, text_of, told, until
from textual.binding import Binding
from textual.keys import format_key

from diskprof.config.described import example
from diskprof.config.file import parse_config
from diskprof.config.settings import Settings
from diskprof.model.preset import TargetSlot
from diskprof.model.run import Status
from diskprof.store import Store, this_process
from diskprof.tui.app import DiskprofApp
from diskprof.tui.dialogs.chooser import Chooser
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.table import Table
from diskprof.tui.shell import keys
from diskprof.tui.shell.keynames import with_keys
from diskprof.tui.shell.keys import choose_keys, key_rows
from diskprof.tui.shell.keytable import KEYS, meaning_of

# Answers have their own letters, which stand beside them.
ANSWERS = "Ask"
# A text closes with any key that may have opened it, and with those that end other programs' texts.
CLOSES = {"reading.close"}
# Textual calls these keys by longer names.
WRITTEN = {"?", "/", ":", "*", "+", "-"}
REPOSITORY = Path(__file__).parents[2]


def test_every_binding_has_an_id_by_which_it_can_be_changed() -> None:
    for owner in keys._classes():
        if owner.__name__ != ANSWERS:
            assert [binding.key for binding in keys.own_bindings(owner) if not binding.id] == [], owner
    for row in key_rows():
        assert row.text, row.id


def test_the_keys_of_the_example_can_be_had() -> None:
    lines = example().partition("[keys]")[2].splitlines()
    found = parse_config(
        "\n".join(["[keys]", *(line.removeprefix("# ") for line in lines)]).encode(), Path("config.toml")
    )
    assert len(found.settings.keys) == 2
    assert choose_keys(found.settings.keys)[1] == {}


def test_no_two_defaults_clash() -> None:
    for row in key_rows():
        assert choose_keys({row.id: row.defaults}) == ({}, {}), row


def test_each_key_has_one_meaning_on_all_screens() -> None:
    written = [key for row in KEYS for key in row.keys.split()]
    assert len(written) == len(set(written))
    for owner in keys._classes():
        for binding in keys.own_bindings(owner):
            if binding.id and binding.id not in CLOSES:
                for key in map(str.strip, binding.key.split(",")):
                    sign = format_key(key)
                    shown = sign if sign in WRITTEN else key.replace("escape", "esc")
                    assert meaning_of(binding.id, shown), (binding.id, key)


def test_the_table_of_keys_in_the_documents_is_up_to_date() -> None:
    script = REPOSITORY / "scripts/keys_table.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["presets", "devices"])
async def test_the_lists_of_the_first_screen_move_by_the_keys_of_all_lists(bench: Bench, name: str) -> None:
    async with opened(bench) as pilot:
        table = pilot.app.screen.query_one(f"#{name}", Table)
        table.focus()
        await press(pilot, "g")
        first = table.key
        await press(pilot, "G")
        last = table.key
        assert first != last
        await press(pilot, "k", "j")
        assert table.key == last
        await press(pilot, "g")
        assert table.key == first


async def test_a_colon_opens_the_palette_on_every_screen(bench: Bench) -> None:
    async with opened(bench) as pilot:
        for mode in "1234":
            await press(pilot, mode, "colon")
            assert isinstance(pilot.app.screen, Chooser)
            await press(pilot, "escape")


@pytest.mark.parametrize(
    ("wanted", "accepted", "words"),
    [
        ({"live.stop": ("Q",)}, {"live.stop": "Q"}, ""),
        ({"live.stop": ("f5", "ctrl+x")}, {"live.stop": "f5,ctrl+x"}, ""),
        ({"live.zoom": ("!",)}, {"live.zoom": "exclamation_mark"}, ""),
        ({"live.zoom": ("f",), "live.follow": ("z",)}, {"live.zoom": "f", "live.follow": "z"}, ""),
        ({"live.stop": ("m",)}, {}, "m is the key of live.metric already"),
        ({"live.stop": ("?",)}, {}, "? is the key of app.help already"),
        ({"app.quit": ("c",)}, {}, "is the key of"),
        ({"live.stpo": ("x",)}, {}, "did you mean live.stop?"),
        ({"nothing": ("x",)}, {}, "`diskprof config keys` lists them"),
        ({"live.stop": ("strg+x",)}, {}, "is no key"),
        ({"live.stop": ("ctrl+q",)}, {}, "cannot be given"),
    ],
)
def test_changes_hold_unless_they_clash(
    wanted: Mapping[str, tuple[str, ...]], accepted: Mapping[str, str], words: str
) -> None:
    keymap, faults = choose_keys(wanted)
    assert keymap == accepted
    assert words in "".join(faults.values())
    assert bool(words) == bool(faults)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("keys") / "runs.db"
    write_library(path)
    with Store.open(path) as store:
        for _ in range(2):
            record_run(store, end=Status.RUNNING, stop_in=(1, 0.5), runner=this_process())
    return path.read_bytes()


@pytest.fixture
def bench(tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.db").write_bytes(library)
    return Bench(tmp_path / "runs.db", presets=PRESETS)


@asynccontextmanager
async def opened(bench: Bench, changed: Mapping[str, tuple[str, ...]] | None = None) -> AsyncIterator[Driver]:
    settings = Settings(keys=MappingProxyType(dict(changed or {})))
    app = DiskprofApp(bench.session(), charset=Charset.BRAILLE, settings=settings)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await until(pilot, lambda: bool(bench.planned))
        await settle(pilot)
        yield pilot


async def test_the_footer_the_help_and_the_tabs_show_the_changed_keys(bench: Bench) -> None:
    changed = {"app.quit": ("f10",), "app.help": ("f9",), "app.compare": ("f4",), "run.edit": ("f5",)}
    async with opened(bench, changed) as pilot:
        first, *_, last = text_of(pilot).splitlines()
        assert "f4 Compare" in first
        assert "f5 Edit" in last
        assert last.rstrip().endswith("f9 Help  f10 Quit")
        await press(pilot, "f9", "pagedown")
        shown = text_of(pilot)
        assert "f5" in shown
        assert "Change size, runtime and other parameters" in shown
        await press(pilot, "escape", "f4")
        assert "Compare" in type(pilot.app.screen).__name__
        await press(pilot, "q", "question_mark", "4")
        assert pilot.app.is_running
        await press(pilot, "f10")
        assert "Quit diskprof?" in text_of(pilot)


async def test_a_preset_of_several_targets_names_the_key_that_asks_for_them(bench: Bench) -> None:
    slots = TargetSlot("cache", "the volume that is read"), TargetSlot("log", "the volume that is written")
    bench.presets = (make_preset("quick", "Two volumes", targets=slots), *PRESETS[1:])
    app = DiskprofApp(
        bench.session(), charset=Charset.BRAILLE, settings=Settings(keys=MappingProxyType({"run.start": ("f6",)}))
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await see(pilot, "Press f6 to enter")


async def test_every_key_that_the_words_name_is_the_one_that_holds(bench: Bench) -> None:
    """Helps, empty screens, sentences: the key of each binding that they name is one that is nobody's by default."""
    classes = {owner.__name__: owner for owner in keys._classes()}
    texts = {name: classes[name].HELP for name in PLACES}  # type: ignore[attr-defined]
    named = {match for text in texts.values() for match in re.findall(r"\{([a-z.-]+)\}", text)}
    assert {"run.allow", "live.metric", "runs.mark", "compare.chart", "list.left"} <= named
    free = (*(f"f{number}" for number in range(3, 25)), *"äöüßñçéèêïôåæøã")
    changed = {name: (key,) for name, key in zip(sorted(named), free, strict=False)}
    assert len(changed) == len(named)
    async with opened(bench, changed) as pilot:
        assert set(changed) == set(pilot.app.changed_keys)  # type: ignore[attr-defined]
        for name, text in texts.items():
            await back_to(pilot, PLACES[name])
            said = with_keys(pilot.app.screen, text)
            assert "{" not in said
            for binding in re.findall(r"\{([a-z.-]+)\}", text):
                assert re.search(rf"\b{changed[binding][0]}\b", said), (name, binding)


async def test_words_that_name_keys_outside_the_help(bench: Bench) -> None:
    changed = {
        "app.runs": ("f3",),
        "runs.mark": ("f4",),
        "runs.compare": ("f6",),
        "form.back": ("f8",),
        "run.filter": ("f9",),
        "run.unfilter": ("f10",),
    }
    async with opened(bench, changed) as pilot:
        await press(pilot, "4")
        await see(pilot, "Press f3 for the list of runs, mark two or more with f4, and press f6.")
        await press(pilot, "f3", "t")
        await see(pilot, "f8: cancel")
        await press(pilot, "f8", "1", "f9", *"nothing")
        presets = pilot.app.screen.query_one("#presets", Table)
        await until(pilot, lambda: "f10 clears the filter." in " ".join(presets.text.split()))


async def test_without_changes_the_words_are_plain(bench: Bench) -> None:
    async with opened(bench) as pilot:
        screen = pilot.app.screen
        assert (
            with_keys(screen, "{run.start} {run.allow} {run.filter} {app.help} {list.page-down}") == "Enter x / ? PgDn"
        )
        assert with_keys(screen, "{live.earlier} {live.stop} {runs.mark} {result.back}") == "left s space Esc"
        with pytest.raises(KeyError):
            with_keys(screen, "{run.nothing}")


@pytest.mark.parametrize(("mode", "offered"), [("1", True), ("2", True), ("3", True), ("4", False)])
async def test_copy_is_offered_where_there_is_something_to_copy(bench: Bench, mode: str, offered: bool) -> None:
    async with opened(bench) as pilot:
        await press(pilot, mode)
        assert ("y Copy" in text_of(pilot).splitlines()[-1]) is offered
        await press(pilot, "y")
        assert ("copied" in told(pilot)) is offered


async def test_copy_is_not_offered_in_a_store_without_runs(tmp_path: Path) -> None:
    with Store.open(tmp_path / "empty.db"):
        pass
    async with opened(Bench(tmp_path / "empty.db", presets=PRESETS)) as pilot:
        for mode in ("2", "3", "4"):
            await press(pilot, mode)
            assert "Copy" not in text_of(pilot).splitlines()[-1]


@dataclass(frozen=True)
class Place:
    """A screen: the keys that lead there from the start, and those of its bindings that need something done before."""

    way: tuple[str, ...]
    before: Mapping[str, tuple[str, ...]]
    lists: bool = True
    """Whether the keys of lists are pressed too, which are the same on several screens."""


FAR = ("end",)
PLACES = {
    "RunScreen": Place(
        ("1",),
        {
            "run.unfilter": ("slash", "q", "u", "i", "enter"),
            "run.devices": ("right",),
            "list.up": ("right", "down"),
            "list.down": ("right",),
            "list.first": ("right", "down", "down"),
            "list.last": ("right", "down"),
            "list.page-up": ("right", "down", "down"),
            "list.page-down": ("right",),
        },
    ),
    "LiveScreen": Place(
        ("2", "f"),
        {
            "live.leave": ("left",),
            "live.follow": ("up",),
            "live.later": ("left",) * 3,
            "live.much-later": ("left",) * 3,
        },
    ),
    "RunsScreen": Place(
        ("3",),
        {
            "runs.unmark": ("U", "space"),
            "runs.all": ("slash", "m", "i", "x", "enter"),
            "list.up": FAR,
            "list.first": FAR,
            "list.page-up": FAR,
        },
    ),
    "ResultScreen": Place(
        ("3", "escape", "end", "enter"), {"list.up": FAR, "list.first": FAR, "list.page-up": ("pagedown",)}
    ),
    "HistoryScreen": Place(("3", "escape", "end", "H"), {"list.up": FAR, "list.first": FAR, "list.page-up": FAR}),
    "CompareScreen": Place(
        ("3", "escape", "U", "end", "space", "up", "space", "c"),
        {
            "compare.previous": ("n", "n"),
            "list.up": FAR,
            "list.first": FAR,
            "list.page-up": FAR,
            "list.left": ("right",),
        },
    ),
}
# Without a shell to go to, something to draw again (test_terminal_states.py), files that were left behind, runs with the same
# tag (test_compare_screen.py), a run that watched (test_run_watch.py).
UNSEEN = {"app.suspend", "app.redraw", "run.leftovers", "compare.arms", "result.mimic"}
# Of the view of a run: those of one in progress are pressed in Live, those of one that has ended in the result.
OF_THE_OTHER = {
    "LiveScreen": {"result.again", "result.export", "result.compare", "result.delete", "result.more"},
    "ResultScreen": {"live.stop", "live.follow"},
}


def seen(pilot: Driver) -> tuple[object, ...]:
    """All that a person could see of the app, and whether it runs."""
    screen = pilot.app.screen
    focused = pilot.app.focused
    return (id(screen), text_of(pilot), told(pilot), id(focused), pilot.app.is_running)


def ids_of(pilot: Driver) -> dict[str, Binding]:
    """The bindings of the screen, of what has the focus and of the app, by their ids."""
    found: dict[str, Binding] = {}
    focused = pilot.app.focused
    for owner in (type(focused), type(pilot.app.screen), type(pilot.app)):
        for part in owner.__mro__:
            for binding in keys.own_bindings(part):
                if binding.id:
                    found.setdefault(binding.id, binding)
    return found


async def back_to(pilot: Driver, place: Place) -> None:
    """Without a dialog, on the screen of `place`, as fresh as it can be had."""
    while pilot.app.screen.is_modal:
        await press(pilot, "escape")
    await press(pilot, "escape", "1", "escape", *place.way)


# Pressed where there is what they act on.
ELSEWHERE = {
    "fleet.open": "test_fleet_screen.py",
    "run.own": "test_run_own_presets.py",
    "live.sweep": "test_live_sweep.py",
    "live.panel": "test_live_sweep.py",
    "run.variant": "test_run_shaping.py",
    "run.rescan": "test_run_screen.py",
    "run.allow": "test_run_starting.py",
    "runs.undo": "test_runs_actions.py",
    "runs.attach": "test_runs_screen.py",
    "compare.conditions": "test_compare_screen.py",
    "list.left": "test_compare_screen.py",
    "list.right": "test_compare_screen.py",
}


async def dead_keys(pilot: Driver, place: Place) -> list[str]:
    """The bindings whose key, pressed where it should work, changes nothing that can be seen."""
    dead = []
    of_the_other = OF_THE_OTHER.get(type(pilot.app.screen).__name__, ())
    for name, binding in ids_of(pilot).items():
        # What works everywhere is pressed on one screen, whose own key leads nowhere.
        everywhere = name.startswith("app.") and (place.way != ("1",) or name in ("app.run", "app.quit"))
        everywhere = everywhere or (name.startswith("list.") and not place.lists)
        if name in UNSEEN or name in ELSEWHERE or everywhere or name in of_the_other:
            continue
        key = binding.key.partition(",")[0]
        await back_to(pilot, place)
        await press(pilot, *place.before.get(name, ()))
        before = seen(pilot)
        await press(pilot, key)
        if seen(pilot) == before:
            dead.append(name)
    return dead


@pytest.mark.parametrize("name", list(PLACES))
async def test_every_key_of_a_screen_does_something(bench: Bench, name: str) -> None:
    place = PLACES[name]
    async with opened(bench) as pilot:
        await press(pilot, *place.way)
        assert type(pilot.app.screen).__name__ == name
        dead = await dead_keys(pilot, place)
        assert not dead, " ".join(dead)
        await back_to(pilot, place)
        await press(pilot, "q")
        assert "Quit diskprof?" in text_of(pilot)


def test_keys_that_are_pressed_elsewhere_are() -> None:
    rows = {row.id: row for row in key_rows()}
    for name, file in ELSEWHERE.items():
        text = Path(__file__).with_name(file).read_text()
        assert f'"{rows[name].keys[0]}"' in text, name


DIALOGS = {
    "ask": (("enter",), {"ask.back", "ask.answer"}),
    "form": (("e",), {"form.back", "form.next", "form.previous"}),
    "tags": (("3", "t"), {"form.back"}),
    "export": (("3", "r"), {"form.back"}),
    "palette": (("colon",), {"choose.back", "choose.answer", "choose.down", "choose.page-down"}),
    "reading": (("question_mark",), {"reading.close", "reading.down", "reading.up"}),
}


@pytest.mark.parametrize("name", list(DIALOGS))
async def test_every_key_of_a_dialog_does_something(bench: Bench, name: str) -> None:
    way, wanted = DIALOGS[name]
    rows = {row.id: row for row in key_rows()}
    async with opened(bench) as pilot:
        for binding in sorted(wanted):
            for key in rows[binding].keys:
                while pilot.app.screen.is_modal:
                    await press(pilot, "escape")
                await press(pilot, "1", *way)
                assert pilot.app.screen.is_modal
                if binding == "reading.up":
                    await press(pilot, "down")
                before = seen(pilot)
                await press(pilot, key)
                assert seen(pilot) != before, (binding, key)


async def test_the_palette_knows_every_key_that_acts(bench: Bench) -> None:
    async with opened(bench) as pilot:
        for place in PLACES.values():
            await back_to(pilot, place)
            screen = pilot.app.screen
            offered = {command.choice.title for command in pilot.app.commands(screen)}
            for _, binding, enabled, _tooltip in screen.active_bindings.values():
                if enabled and binding.id and not binding.id.startswith(("list.", "app.")):
                    assert binding.description in offered, binding.id
            assert {"Copy", "Help", "Theme", "Quit", "Suspend", "Redraw"} <= offered
