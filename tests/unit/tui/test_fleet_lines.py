"""The table of a fleet run, on runs that grow in a store."""

from pathlib import Path

from fleets import begun, begun_alone, step
from msgspec.structs import replace

from diskprof.model.fleet import MemberState
from diskprof.model.histogram import Histogram, merge
from diskprof.model.run import FleetStage, Status
from diskprof.model.run_series import Repetition
from diskprof.model.sample import Phase
from diskprof.model.units import format_clock
from diskprof.store import Store
from diskprof.tui.kit.charts.glyphs import Charset
from diskprof.tui.live.fleet.fleet_lines import (
    columns_for,
    fleet_line,
    fleet_progress_line,
    member_row,
    said_lines,
    sum_row,
)
from diskprof.tui.live.fleet.fleet_reader import FleetNow, FleetReader, MemberNow


def text(now: FleetNow, width: int = 80) -> list[str]:
    columns = columns_for(width, now, "host")
    rows = [*(member_row(member, columns, ascii_only=False) for member in now.members), sum_row(now, columns)]
    lines = []
    for row in [[(column.title, "") for column in columns], *(row.line for row in rows)]:
        cells = zip(row, columns, strict=True)
        parts = [
            words.rjust(column.width) if column.right else words.ljust(column.width) for (words, _), column in cells
        ]
        assert all(len(part) == column.width for part, column in zip(parts, columns, strict=True)), parts
        lines.append(" ".join(parts).rstrip())
    assert max(map(len, lines)) <= width
    return lines


def progress(now: FleetNow) -> str:
    return "".join(words for words, _ in fleet_progress_line(now, 80, Charset.BLOCKS))


def test_the_time_left_counts_what_has_not_begun(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        fleet_id, runs = begun_alone(store, 1.0, 1.0)
        step(runs[:1], 60)
        now = FleetReader(store).read(fleet_id)
        first = now.members[0]
        second = MemberNow("/mnt/1", MemberState.WAITING, None, Status.PENDING, "", "", 0, None, None, (), 0, None)
        now = replace(now, members=(first, second))
        assert (now.stage, second.place) == (FleetStage.ALONE, None) and first.progress
        assert first.progress.remaining_s is not None and first.likely_s > 0
        # It, the other one alone, and both together.
        alone = first.progress.remaining_s + 2 * first.likely_s
        assert now.remaining_s == alone
        assert f"{format_clock(alone)} left" in progress(now)
        again = replace(now, fleet=replace(now.fleet, wanted=Repetition(repeats=3)))
        assert again.remaining_s == alone + 2 * 3 * first.likely_s
        assert again.overall == now.overall / 3
        assert "2 hosts, each alone, repeat 1 of 3" in "".join(words for words, _ in fleet_line(again, "host", 80))


def test_the_sum_has_the_percentiles_of_all_ios_of_the_last_second(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        fleet_id, runs = begun(store, 1.0, 1.0, 0.5)
        ids = [run.id for run in store.runs_of_fleet(fleet_id)]
        reader = FleetReader(store)
        started = reader.read(fleet_id)
        assert (started.total, started.ended, [one.tests for one in started.members]) == (None, 0, [6, 6, 6])
        step(runs, 60)
        now = reader.read(fleet_id)
        spreads: list[Histogram] = []
        for run_id in ids:
            samples = store.samples(run_id).samples
            measured = [sample for sample in samples if sample.phase is not Phase.PREPARING]
            last = measured[-1]
            spreads += [
                sample.histogram
                for sample in measured
                if sample.test == last.test and sample.at_ns > last.at_ns - 10**9 and sample.histogram
            ]
        assert now.total
        assert now.total.quantile(0.99) == merge(spreads).quantile(0.99)
        assert now.total.iops == sum(one.rates.iops for one in now.members if one.rates)
        assert len(now.measuring) == 3
        # Opened in the middle, it shows the same.
        assert [one.rates for one in FleetReader(store).read(fleet_id).members] == [one.rates for one in now.members]
        for width in (80, 120):
            lines = text(now, width)
            assert lines[-1].startswith("sum of 3")
        assert "all 3 hosts" in "".join(words for words, _ in said_lines(now, "host", 80, 4)[0])
        assert "left" in "".join(words for words, _ in fleet_progress_line(now, 80, Charset.BLOCKS))
        list(runs[0])
        over = reader.read(fleet_id)
        assert (over.members[0].status, over.members[0].rates, len(over.measuring)) == (Status.COMPLETE, None, 2)
