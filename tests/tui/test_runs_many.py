"""A long list of runs: how it is read, and that it scrolls."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from stored_screens import (
    SIZES,
    StillSession,
    StoredApp,
    at,
    open_runs,
    press,
    see,
    settle,
    shown,
    text_of,
    until,
    write,
)

from diskprof.model.run import RunSummary, Status
from diskprof.store import Store
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.kit.table import SheetColumn
from diskprof.tui.runs.run_list import Order, RunList, RunsView
from diskprof.tui.shell.run_signs import when_text


def many(count: int) -> list[RunSummary]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        RunSummary(
            *(f"{number:08d}", Status.COMPLETE, f"preset-{number % 7}", "A preset", "/mnt/data", "A disk", "db-01"),
            started_at=start - timedelta(minutes=number),
            duration_s=34.0,
            tags=("nightly",) if number % 10 == 0 else (),
            headline=f"rand read {number} IOPS",
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("size", SIZES)
async def test_ten_thousand_runs_scroll(tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    summaries = many(10_000)
    monkeypatch.setattr(Store, "summaries", lambda _self, limit=None: summaries[:limit])
    async with open_runs(tmp_path / "runs.db", size) as pilot:
        await see(pilot, "10000 runs")
        await press(pilot, "end")
        assert at(pilot) == "00009999"
        await see(pilot, "00009999")
        await press(pilot, *["pageup"] * 3)
        await see(pilot, at(pilot))
        await press(pilot, "home", "pagedown", "pagedown", "down")
        await see(pilot, at(pilot))
        assert "00000000" not in text_of(pilot)
        await press(pilot, "slash")
        await write(pilot, "nightly 9990")
        assert shown(pilot) == ["00009990"]


def test_only_the_newest_runs_are_read_again() -> None:
    runs = RunList()
    summaries = many(1000)
    runs.load(summaries[1:])
    assert runs.load_newest(summaries[:100])
    assert runs.runs == tuple(summaries)
    changed = [summaries[0]._replace(status=Status.FAILED), *summaries[1:100]]
    assert runs.load_newest(changed)
    assert runs.shown[0].status is Status.FAILED
    assert not runs.load_newest([summaries[0]._replace(id="elsewhere")])
    assert not runs.load_newest([])


def test_when_a_run_was() -> None:
    now = datetime(2026, 3, 4, 15, 30, tzinfo=UTC).astimezone()
    for ago, text in (
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=20), f"{(now - timedelta(days=20)).day} Feb"),
        (timedelta(days=400), "2025-01-28"),
    ):
        assert text in when_text(now - ago, now)
        assert len(when_text(now - ago, now)) <= 12
    assert when_text(now - timedelta(days=2), now)[:3] == "Mon"
    assert when_text(now + timedelta(hours=2), now).strip()


async def test_the_newest_are_shown_before_the_others_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summaries, asked = many(5000), list[int | None]()

    def read(_self: Store, limit: int | None = None) -> list[RunSummary]:
        asked.append(limit)
        return summaries[:limit]

    monkeypatch.setattr(Store, "summaries", read)
    async with open_runs(tmp_path / "runs.db") as pilot:
        await until(pilot, lambda: len(shown(pilot)) == 5000)
        assert asked.index(None) > 0
        assert asked[0] is not None and asked[0] <= 200
        assert " 5000 runs" in text_of(pilot)
        # Back from another screen it is the same again, and the cursor stays where it was.
        await press(pilot, "down", "down")
        await press(pilot, "2")
        asked.clear()
        await press(pilot, "3")
        await until(pilot, lambda: None in asked)
        assert asked[0] is not None
        assert len(shown(pilot)) == 5000
        assert at(pilot) == summaries[2].id


@pytest.mark.parametrize(
    ("headline", "width", "shown_text"),
    [
        ("282k IOPS, mean 112 us", 30, "282k IOPS, mean 112 us"),
        ("282k IOPS, mean 112 us", 16, "282k IOPS"),
        ("one long word only", 8, "one long word only"),
    ],
)
def test_a_result_is_cut_between_its_figures(headline: str, width: int, shown_text: str) -> None:
    run = many(1)[0]._replace(headline=headline)
    ((text, _),) = RunList().row(run, (SheetColumn("result", "result", width),), run.started_at).line
    assert text == shown_text


@pytest.mark.parametrize("width", [16, 21, 40])
def test_where_a_status_stands_before_the_result_no_figure_is_cut(width: int) -> None:
    run = many(1)[0]._replace(status=Status.FAILED, headline="rand R 282k, W 235k IOPS")
    ((text, _),) = RunList().row(run, (SheetColumn("result", "result", width),), run.started_at).line
    assert text == {16: "failed", 21: "failed: rand R 282k", 40: "failed: rand R 282k, W 235k IOPS"}[width]


def test_results_are_in_the_order_of_their_amounts() -> None:
    told = [
        "",
        "fsync 98.0 us mean, 2.10 ms p99",
        "fsync 1.20 ms mean, 2.10 ms p99",
        "latency 850 ns mean",
        "latency 3 us mean",
        "rand R 950, W 12 IOPS",
        "rand R 92.4k, W 3.20k IOPS",
        "rand R 92.4k, W 78.7k IOPS",
        "rand R 282k, W 235k IOPS, seq R/W 6.66/4.85 GB/s",
        "rand R 1.25M, W 12 IOPS",
        "seq R/W 980/612 MB/s",
        "seq R/W 6.66/4.85 GB/s",
    ]
    listed = RunList()
    listed.load([run._replace(headline=told[-at]) for at, run in enumerate(many(len(told)))])
    listed.look(RunsView(order=Order.HEADLINE))
    assert [run.headline for run in listed.shown] == [*told[1:], ""]


async def test_with_ascii_alone_every_sign_is_ascii(path: Path, runs: dict[str, str]) -> None:
    app = StoredApp(StillSession(path), charset=Charset.ASCII)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "space")
        await see(pilot, "v complete", "x failed", "1 marked")
        assert text_of(pilot).isascii()
        await press(pilot, "end", "enter")
        await see(pilot, "Summary", "4K rand read QD1", runs["first"])
        for _ in range(5):
            assert text_of(pilot).isascii()
            await press(pilot, "m")
        await press(pilot, "K")
        assert text_of(pilot).isascii()
