"""Series in the store: their runs, their names, their end, and their way into another store."""

import io
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import FAST, FIRST_START, GONE, make_plan, record_run

from diskprof.model.errors import Refused, RunNotFound
from diskprof.model.metric import Quantity
from diskprof.model.run import SeriesPlace, Status
from diskprof.model.run_series import NewSeries, Repetition, Spread, TargetOrder
from diskprof.model.sample import Direction
from diskprof.runner import session
from diskprof.store import Item, ItemKind, Store
from diskprof.store.exchange.transfer import BadFile, export_runs, import_runs

TWO = NewSeries(("/mnt/a", "/mnt/b"), Repetition(repeats=3, pause_s=1.5))
SPREAD = Spread(1, 0, "rand-r", Direction.READ, Quantity.IOPS, 5000.0, 4900.0, 5050.0, range_only=True)


def begin(
    store: Store, count: int, *, new: NewSeries = TWO, tags: Sequence[str] = (), last: Status = Status.COMPLETE
) -> str:
    """A series of which so many runs are there; returns its id."""
    series_id = ""
    for at, (repeat, arm) in zip(range(count), new.wanted.turns(len(new.targets)), strict=False):
        place = SeriesPlace(series_id, repeat, arm) if series_id else new
        run_id = record_run(
            store,
            series=place,
            runtime_s=0.5,
            seed=at,
            started_at=FIRST_START + timedelta(minutes=at),
            tags=tags if not at else (),
            end=last if at == count - 1 else Status.COMPLETE,
            stop_in=(1, 0.3) if at == count - 1 and last is not Status.COMPLETE else None,
        )
        known = store.run(run_id).series
        assert known
        series_id = known.series_id
    return series_id


def test_targets_alternate_so_that_drift_falls_on_all() -> None:
    alternated = list(Repetition(repeats=3).turns(2))
    assert alternated == [(1, 0), (1, 1), (2, 1), (2, 0), (3, 0), (3, 1)]
    in_order = list(Repetition(repeats=2, order=TargetOrder.IN_ORDER).turns(2))
    assert in_order == [(1, 0), (2, 0), (1, 1), (2, 1)]
    endless = Repetition(until=0.03).turns(1)
    assert [next(endless) for _ in range(100)][-1] == (100, 0)


def test_a_series_comes_out_as_it_went_in(store: Store) -> None:
    series_id = begin(store, 3, tags=("before",))
    store.repeats.add_spread(series_id, SPREAD)
    series = store.series(series_id)
    assert (series.targets, series.wanted, series.spreads) == (TWO.targets, TWO.wanted, (SPREAD,))
    assert (series.status, series.ended_at, series.preset) == (Status.RUNNING, None, "quick")
    store.repeats.finish(series_id, status=Status.COMPLETE, reason="Done.")
    ended = store.series(series_id)
    assert (ended.status, ended.reason, ended.ended_at is not None) == (Status.COMPLETE, "Done.", True)
    runs = store.series_runs(series_id)
    assert [run.series for run in runs] == [SeriesPlace(series_id, *place) for place in ((1, 0), (1, 1), (2, 1))]
    assert {run.tags for run in runs} == {("before",)}
    assert [run for run in store.summaries() if run.series] == runs[::-1]
    assert store.series_list() == [ended]


def test_it_is_one_thing_by_its_id_latest_and_a_tag_of_all_its_runs(store: Store) -> None:
    before = record_run(store, started_at=FIRST_START - timedelta(hours=1), runtime_s=0.5)
    series_id = begin(store, 3, tags=("base",))
    ids = [run.id for run in store.series_runs(series_id)]
    whole = Item(series_id, ItemKind.SERIES)
    for name in (series_id, series_id[:7], series_id.upper(), "latest", "base"):
        assert store.resolve_item(name) == whole
    assert store.resolve_item("latest~1") == Item(before)
    assert store.resolve_item(ids[0]) == Item(ids[0])
    assert (store.resolve("latest"), store.resolve("base"), store.resolve("latest~1")) == (ids[-1], ids[-1], before)
    with pytest.raises(RunNotFound, match="series") as error:
        store.resolve(series_id)
    assert all(run_id in str(error.value.hint) for run_id in ids)
    store.set_tags(ids[2], ("base", "good"))
    assert store.resolve_item("good") == Item(ids[2])


def test_a_dead_runner_leaves_the_complete_repeats_and_says_so(store: Store) -> None:
    new = NewSeries(("/mnt/a",), Repetition(repeats=5))
    place: SeriesPlace | NewSeries = new
    for repeat in (1, 2, 3):
        run_id = store.create_run(make_plan(), FAST.environment, runner=GONE, series=place)
        if repeat < 3:
            store.finish_run(run_id, status=Status.COMPLETE)
        known = store.run(run_id).series
        assert known
        place = known._replace(repeat=repeat + 1)
    store.reap()
    series = store.series(place.series_id if isinstance(place, SeriesPlace) else "")
    assert series.status is Status.INTERRUPTED
    assert "in repeat 3" in series.reason
    assert "2 runs are complete." in series.reason
    assert [run.status for run in store.series_runs(series.id)] == [
        Status.COMPLETE,
        Status.COMPLETE,
        Status.INTERRUPTED,
    ]


def test_between_two_runs_a_series_is_still_in_progress(store: Store) -> None:
    series_id = begin(store, 1)
    assert store.reap() == []
    assert store.series(series_id).status is Status.RUNNING
    with pytest.raises(Refused, match="in progress"):
        store.refuse_series_under_way(series_id)
    # Deleted with its only run, nobody would find it to stop it.
    (run,) = store.series_runs(series_id)
    for delete in (session.delete, session.purge):
        gone, (error,) = delete(store, [run.id])
        assert gone == [] and series_id in error.message
    assert [each.id for each in store.series_list()] == [series_id]


def test_deleted_for_good_it_leaves_nothing(store: Store) -> None:
    series_id = begin(store, 2)
    store.repeats.finish(series_id, status=Status.CANCELLED)
    ids = [run.id for run in store.series_runs(series_id)]
    assert session.delete(store, ids) == (ids, [])
    assert store.series_list() == []
    with pytest.raises(RunNotFound, match="trash"):
        store.resolve_item(series_id)
    session.purge(store, ids)
    with pytest.raises(RunNotFound):
        store.series(series_id)


@pytest.fixture
def there(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "there.db")


def packed(store: Store, ids: Sequence[str]) -> bytes:
    file = io.BytesIO()
    export_runs(store, ids, file)
    return file.getvalue()


def test_it_travels_whole_and_in_parts(store: Store, there: Store) -> None:
    series_id = begin(store, 4, tags=("base",))
    store.repeats.add_spread(series_id, SPREAD)
    store.repeats.finish(series_id, status=Status.COMPLETE)
    ids = [run.id for run in store.series_runs(series_id)]
    with there:
        for part in (ids[:1], ids):
            import_runs(there, [("file", io.BytesIO(packed(store, part)))])
        assert there.series_list() == store.series_list()
        assert there.series_runs(series_id) == store.series_runs(series_id)
        assert [there.run(each).series for each in ids] == [store.run(each).series for each in ids]


@pytest.mark.parametrize(
    "harm",
    [
        lambda lines: [line for line in lines if b'"series":{' not in line[:20]],
        lambda lines: [line.replace(b'"series":["', b'"series":["x') for line in lines],
        lambda lines: [line.replace(b",1,0]", b",1,7]").replace(b",1,0]", b",0,0]") for line in lines],
    ],
)
def test_a_run_without_its_series_is_not_imported(
    store: Store, there: Store, harm: Callable[[list[bytes]], list[bytes]]
) -> None:
    import gzip

    series_id = begin(store, 1, new=replace(TWO, targets=("/mnt/a",)))
    data = packed(store, [run.id for run in store.series_runs(series_id)])
    lines = gzip.decompress(data).splitlines(keepends=True)
    harmed = harm(lines)
    assert harmed != lines
    with there, pytest.raises(BadFile):
        import_runs(there, [("file", io.BytesIO(gzip.compress(b"".join(harmed))))])
