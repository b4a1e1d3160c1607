"""What the tile of latencies says of the whole of a test, and where the cursor of a chart is."""

from pathlib import Path

from handmade import samples
from msgspec.structs import replace

from diskprof.model.sample import Direction, Phase, Sample
from diskprof.store import Store
from diskprof.tui.live.depths import Depths
from diskprof.tui.live.latency_plots import moment, whole_of
from diskprof.tui.live.run_reader import Track

READ = Direction.READ


def with_most(most_ns: int, phase: Phase = Phase.MEASURING) -> Sample:
    (sample,) = samples([1000.0], phase=phase)
    return replace(sample, max_ns=most_ns)


def test_the_longest_of_the_whole_is_no_shorter_than_that_of_the_last_interval(tmp_path: Path) -> None:
    track = Track(preparing=False)
    track.add(with_most(10_000_000))
    with Store.open(tmp_path / "runs.db") as store:
        # As it is for up to a second: the interval that just came is not in yet.
        depths = Depths(store, "none", 0, preparing=False)
        depths.complete = True
        assert whole_of(track, depths, READ, "most") == 10_000_000
        assert whole_of(track, depths, Direction.WRITE, "most") is None


def test_what_a_warm_up_took_is_no_longest_of_the_test() -> None:
    track = Track(preparing=False)
    track.add(with_most(90_000_000, Phase.WARMING))
    assert track.most_of(READ) is None
    track.add(with_most(5_000_000))
    track.add(with_most(4_000_000))
    assert track.most_of(READ) == 5_000_000


def test_a_cursor_left_late_in_one_test_is_in_the_last_interval_of_a_shorter_one() -> None:
    track = Track(preparing=False)
    for sample in samples([1000.0, 2000.0]):
        track.add(sample)
    cursor = moment(track, 60.0, 80)
    assert cursor and cursor.at == track.seconds
    assert "2.00k IOPS" in "".join(words for words, _ in cursor.lines[0])
