"""The order of runs: what was begun last is the newest, whatever the clock said."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from recorded import FAST, make_plan

from diskprof.model.run import Status
from diskprof.store import Store
from diskprof.tui.dialogs.run_actions import oldest_first, partner
from diskprof.tui.shell.store_watch import StoreWatcher


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as store:
        yield store


def ids(store: Store) -> list[str]:
    return [summary.id for summary in store.summaries()]


def test_what_was_begun_last_is_the_newest_also_where_the_clock_was_set_back(store: Store) -> None:
    """The clock was a year ahead, then it was set right."""
    ahead = datetime.now(UTC) + timedelta(days=365)
    store.create_run(make_plan(), FAST.environment, run_id="ahead", started_at=ahead, tags=["disk"])
    for name in ("second", "third"):
        store.create_run(make_plan(), FAST.environment, run_id=name, tags=["disk"])
    assert ids(store) == ["third", "second", "ahead"]
    assert [store.resolve(name) for name in ("latest", "latest~1", "latest~2", "disk")] == [
        *("third", "second", "ahead", "third")
    ]
    assert store.summaries(limit=1)[0].id == "third"
    assert store.summaries()[0].started_at < ahead
    assert store.run("third").started_at < ahead


def test_a_run_of_another_time_stands_where_that_puts_it(store: Store) -> None:
    """What is imported was begun at some time; it is not the newest because it came last."""
    first, last = datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 5, 3, tzinfo=UTC)
    store.create_run(make_plan(), FAST.environment, run_id="first", started_at=first)
    store.create_run(make_plan(), FAST.environment, run_id="last", started_at=last)
    store.create_run(make_plan(), FAST.environment, run_id="now")
    store.create_run(make_plan(), FAST.environment, run_id="between", started_at=first + timedelta(days=1))
    assert ids(store) == ["now", "last", "between", "first"]


def test_a_run_that_goes_is_found_among_many_that_a_clock_put_later(store: Store) -> None:
    ahead = datetime.now(UTC) + timedelta(days=365)
    for number in range(30):
        run_id = store.create_run(make_plan(), FAST.environment, started_at=ahead + timedelta(hours=number))
        store.finish_run(run_id, status=Status.COMPLETE)
    going = store.create_run(make_plan(), FAST.environment)
    state = StoreWatcher(store).read()
    assert [run.id for run in state.running] == [going]
    assert state.newest and state.newest.id == going


def test_the_older_of_two_that_are_compared_is_the_one_that_was_begun_first(store: Store) -> None:
    ahead = datetime.now(UTC) + timedelta(days=365)
    first = store.create_run(make_plan(), FAST.environment, started_at=ahead)
    store.finish_run(first, status=Status.COMPLETE)
    second = store.create_run(make_plan(), FAST.environment)
    runs = store.summaries()
    other = partner(runs, runs[0].id, runs[0].preset)
    assert other
    assert [run.id for run in oldest_first(runs, runs[0], other)] == [first, second]
