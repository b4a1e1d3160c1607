"""Q on the Run screen: what should I run?"""

import threading
from pathlib import Path

import pytest
from bench_screens import PRESETS, Bench, BenchSession, make_preset, open_bench
from stored_screens import LONG_S, press, see, text_of, told, until

from diskprof.model.device import DeviceTree
from diskprof.runner import questions
from diskprof.store import Store
from diskprof.tui.app import DiskprofApp
from diskprof.tui.dialogs.confirm import Ask
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.table import Table

ADVISED = ("streaming-write", "postgres-like", "limit", "aws-ebs-ssd")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    with Store.open(tmp_path / "runs.db"):
        pass
    return Bench(tmp_path / "runs.db", presets=(*PRESETS, *(make_preset(name, name.title()) for name in ADVISED)))


def planned(bench: Bench) -> tuple[str, dict[str, str]]:
    name, _, settings = bench.planned[-1]
    return name, settings


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_an_answer_chooses_a_preset_with_values_for_the_disk(bench: Bench, size: tuple[int, int]) -> None:
    async with open_bench(bench, size) as pilot:
        assert "Q: What should I run?" in text_of(pilot)
        await press(pilot, "Q")
        await see(pilot, "Is it slow now?", "How long does its speed last?")
        await press(pilot, "f")
        await until(pilot, lambda: planned(bench) == ("streaming-write", {"size": "49g"}))
        assert pilot.app.screen.query_one("#presets", Table).key == "streaming-write"
        assert "more than a write cache holds" in told(pilot) and "Enter starts it" in told(pilot)
        await press(pilot, "enter")
        await see(pilot, "Start Streaming-Write?")


async def test_asked_before_the_devices_are_there_it_comes_with_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = threading.Event()

    def scan(self: BenchSession) -> DeviceTree:
        assert found.wait(LONG_S)
        return DeviceTree(self.bench.devices)

    monkeypatch.setattr(BenchSession, "scan", scan)
    app = DiskprofApp(bench.session(), charset=Charset.BRAILLE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("Q")
        assert not isinstance(pilot.app.screen, Ask)
        found.set()
        await see(pilot, "Is it slow now?")
        await press(pilot, "escape")
        await until(pilot, lambda: bool(bench.planned))
        assert not isinstance(pilot.app.screen, Ask)


async def test_who_knows_starts_with_two_keys_as_ever(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: bool(bench.started))


async def test_what_is_slow_now_is_watched(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "Q", "s")
        await until(pilot, lambda: bool(bench.started))
        assert bench.started[0].watched


@pytest.mark.parametrize(
    ("cloud", "words", "preset"),
    [("AWS", "Does it keep what AWS promises?", "aws-ebs-ssd"), ("", "within a latency I need?", "limit")],
)
async def test_the_promise_is_that_of_the_cloud(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, cloud: str, words: str, preset: str
) -> None:
    monkeypatch.setattr(questions, "cloud", lambda: cloud)
    async with open_bench(bench) as pilot:
        await press(pilot, "Q")
        await see(pilot, words)
        await press(pilot, "p")
        await until(pilot, lambda: planned(bench) == (preset, {}))


async def test_an_answer_comes_in_place_of_a_filter_a_variant_and_edits(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "slash", *"crystal", "enter", "Q", "b")
        await until(pilot, lambda: planned(bench) == ("postgres-like", {"size": "9g", "runtime": "60s"}))


async def test_escape_leaves_everything_as_it_was(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        before = planned(bench)
        await press(pilot, "Q")
        assert isinstance(pilot.app.screen, Ask)
        await press(pilot, "escape")
        assert planned(bench) == before and not isinstance(pilot.app.screen, Ask)


async def test_a_preset_that_is_not_there_is_said(bench: Bench) -> None:
    bench.presets = PRESETS
    async with open_bench(bench) as pilot:
        await press(pilot, "Q", "l")
        await until(pilot, lambda: "There is no preset etcd-fsync" in told(pilot))
