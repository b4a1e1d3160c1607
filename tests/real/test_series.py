"""Series by the real program with real fio: their order, their end, and what is left of them however they end."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from forked import diskprof, diskprof_json
from program import gone, started, until

from diskprof.model.plan import Plan
from diskprof.model.run import Status
from diskprof.model.run_series import Repetition, RunSeries, SeriesPlan
from diskprof.presets.library import choose, library_for
from diskprof.runner.carry.begin import Begun, begun
from diskprof.runner.carry.execute import StopRequest
from diskprof.runner.carry.repeat import Repeater, Watch
from diskprof.runner.detached.launch import request_stop
from diskprof.runner.plan.repeats import plan_series
from diskprof.runner.session import Place, Session, Wish
from diskprof.store import Store

# So slow that every disk keeps up: what is repeated is the same each time.
JOB = """
[steady]
rw=randread
bs=4k
size=1m
rate_iops=400
ioengine=psync
time_based
runtime={runtime}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "steady.fio").write_text(JOB.format(runtime="300ms"))
    (tmp_path / "long.fio").write_text(JOB.format(runtime="60s"))
    return tmp_path


def store_of(home: Path) -> Store:
    return Store.open(home / ".local/share/diskprof/runs.db")


def series_now(store: Store) -> RunSeries | None:
    return next(iter(store.series_list()), None)


def until_runs(store: Store, wanted: Callable[[list[Status]], bool], what: str) -> RunSeries:
    """The series once its runs are so."""

    def look() -> RunSeries | None:
        store.reap()
        series = series_now(store)
        return series if series and wanted([run.status for run in store.series_runs(series.id)]) else None

    found: RunSeries = until(look, what)
    return found


def over(store: Store, series_id: str) -> RunSeries:
    def look() -> RunSeries | None:
        store.reap()
        series = store.series(series_id)
        return series if series.status.over else None

    found: RunSeries = until(look, "the end of the series")
    return found


def nothing_left(home: Path) -> bool:
    return not list(home.glob("[ab]/.diskprof-*"))


def test_two_targets_alternate_and_are_one_thing(home: Path) -> None:
    shown: Any = diskprof_json("run", "steady.fio", "a", "b", "--repeat", "2", "--tag", "base", "--json", home=home)
    assert (shown["status"], shown["complete_runs"], shown["tags"]) == ("complete", 4, ["base"])
    places = [(run["series"]["repeat"], run["series"]["arm"]) for run in shown["runs"]]
    assert places == [(1, 0), (1, 1), (2, 1), (2, 0)]
    assert [Path(run["target"]).name for run in shown["runs"]] == ["a", "b", "b", "a"]
    assert [len(figure["values"]) for figure in shown["figures"]] == [2, 2]
    assert nothing_left(home)
    again = diskprof_json("show", shown["id"], "--json", home=home)
    assert again == shown
    rows = diskprof("runs", home=home).stdout.splitlines()
    assert len(rows) == 3
    assert rows[2].startswith(shown["id"])
    plan = diskprof_json("rerun", "base", "--dry-run", "--json", home=home)
    assert (plan["wanted"], plan["targets"]) == (shown["wanted"], shown["targets"])
    for text in (
        diskprof("report", shown["id"], home=home).stdout,
        diskprof("report", shown["id"], "--format", "html", home=home).stdout,
        diskprof("report", shown["id"], "--format", "csv", home=home).stdout,
    ):
        assert all(run["id"] in text for run in shown["runs"])


def test_a_killed_runner_leaves_two_of_three_and_says_so(home: Path) -> None:
    with store_of(home) as store:
        done = diskprof("run", "steady.fio", "a", "--repeat", "9", "--detach", home=home)
        assert done.returncode == 0, done.stderr
        third = [Status.COMPLETE, Status.COMPLETE, Status.RUNNING]
        until_runs(store, lambda statuses: statuses == third, "the third run")
        series_id = done.stdout.strip()
        runner = store.series_runner(series_id)
        os.kill(runner.pid, signal.SIGKILL)
        until(lambda: gone(runner.pid), "the end of the runner")
        series = over(store, series_id)
    assert series.status is Status.INTERRUPTED
    assert "in repeat 3" in series.reason
    assert "2 runs are complete." in series.reason
    shown = diskprof("show", series_id, home=home).stdout
    assert series.reason.split()[0] in shown
    assert "2 of 3 runs" in shown
    assert diskprof("clean", "a", "--yes", home=home).returncode == 0
    assert nothing_left(home)


def test_a_stop_keeps_the_complete_repeats_also_in_a_pause(home: Path) -> None:
    with store_of(home) as store:
        done = diskprof("run", "steady.fio", "a", "--repeat", "3", "--pause", "1h", "--detach", home=home)
        until_runs(store, lambda statuses: statuses == [Status.COMPLETE], "the first run")
        # The disk is kept also between two runs.
        beside = diskprof("run", "steady.fio", "b", "--yes", home=home)
        assert beside.returncode == 4
        assert done.stdout.strip() in beside.stderr
        stopped = diskprof("stop", home=home)
        assert "1 complete run is kept" in stopped.stderr
        series = store.series(done.stdout.strip())
    assert series.status is Status.CANCELLED
    assert nothing_left(home)


def test_a_terminal_that_goes_away_stops_the_series_in_order(home: Path) -> None:
    with store_of(home) as store, started("run", "long.fio", "a", "b", "--repeat", "2", home=home) as process:
        series = until_runs(store, lambda statuses: statuses == [Status.RUNNING], "the first run")
        until(lambda: store.run(store.series_runs(series.id)[0].id).progress, "its progress")
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 130
        ended = store.series(series.id)
        assert (ended.status, [run.status for run in store.series_runs(series.id)]) == (
            Status.CANCELLED,
            [Status.CANCELLED],
        )
    assert nothing_left(home)


def test_until_ends_when_the_interval_is_narrow_and_attach_follows(home: Path) -> None:
    done = diskprof("run", "steady.fio", "a", "--until", "40%", "--at-most", "10m", "--detach", home=home)
    attached: Any = diskprof_json("attach", done.stdout.strip(), "--json", home=home)
    assert attached["status"] == "complete"
    assert "within 40% after" in attached["reason"]
    assert attached["complete_runs"] >= 6
    assert len(attached["rounds"]) == attached["complete_runs"]
    assert attached["figures"][0]["interval"]


def test_a_cap_ends_a_series_before_its_number(home: Path) -> None:
    shown: Any = diskprof_json("run", "steady.fio", "a", "--repeat", "900", "--at-most", "3s", "--json", home=home)
    assert shown["status"] == "complete"
    assert "the next would end after 3 s" in shown["reason"]
    assert 1 <= shown["complete_runs"] < 10


def test_a_run_that_fails_ends_its_series(home: Path) -> None:
    with store_of(home) as store:
        done = diskprof("run", "steady.fio", "a", "--repeat", "5", "--pause", "1s", "--detach", home=home)
        series_id = done.stdout.strip()
        until_runs(store, lambda statuses: statuses == [Status.COMPLETE], "the first run")
        (home / "a").rmdir()
        series = over(store, series_id)
    assert series.status is Status.FAILED
    assert "Repeat 2 did not start" in series.reason


def test_a_series_is_stopped_by_the_id_of_one_of_its_runs(home: Path) -> None:
    with store_of(home) as store:
        diskprof("run", "long.fio", "a", "--repeat", "2", "--detach", home=home)
        series = until_runs(store, lambda statuses: statuses == [Status.RUNNING], "the first run")
        request_stop(store, store.series_runs(series.id)[0].id)
        assert over(store, series.id).status is Status.CANCELLED


def over_now(path: Path, run_id: str) -> bool:
    with Store.open(path) as store:
        return store.run(run_id).status.over


def plan_on(home: Path, name: str) -> Plan:
    presets, session = library_for(str(home / "steady.fio")), Session()
    preset, _ = choose(presets, str(home / "steady.fio"), several=False)
    return session.plan_of(Wish(preset, Place(path=str(home / name)), session.scan()))


def carried_out(store: Store, series: SeriesPlan, stop: StopRequest, beside: Watch, *, concurrent: bool) -> RunSeries:
    """The series, carried out by this process."""
    with ExitStack() as holds:
        first = holds.enter_context(begun(series.plans[0], store, concurrent=concurrent, series=series.new))
        repeater = Repeater(series, store, stop, concurrent=concurrent)
        return store.series(asyncio.run(repeater.carry_out(first, holds.close, beside)))


def test_a_cap_ends_a_series_that_waits_for_another_run(home: Path) -> None:
    plans = plan_on(home, "a"), plan_on(home, "b")
    series = SeriesPlan(plans, Repetition(repeats=2, at_most_s=0.1))
    with store_of(home) as store:

        async def begin_another(run: Begun) -> None:
            """Of this process, so it goes on as long as the series waits."""
            other.append(store.create_run(plans[1], run.environment))

        other: list[str] = []
        ended = carried_out(store, series, StopRequest(), begin_another, concurrent=False)
        runs = store.series_runs(ended.id)
    assert (ended.status, [run.status for run in runs]) == (Status.COMPLETE, [Status.COMPLETE])
    assert (
        f"Ended after 1 run: the next would end after 0.1 s (at most). It waited for run {other[0]} on" in ended.reason
    )


def test_a_stop_is_heard_while_the_store_is_locked_between_two_runs(home: Path) -> None:
    plan, path, stop = plan_on(home, "a"), home / "runs.db", StopRequest()
    locks = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    def end() -> None:
        stop.ask("Stopped by SIGINT.")
        locks.rollback()

    async def lock(run: Begun) -> None:
        await asyncio.to_thread(until, lambda: over_now(path, run.run_id), "the end of the run")
        locks.execute("BEGIN IMMEDIATE")
        asyncio.get_running_loop().call_later(0.3, end)

    with Store.open(path) as store:
        ended = carried_out(store, plan_series([plan], Repetition(repeats=2)), stop, lock, concurrent=True)
        runs = store.series_runs(ended.id)
    assert (ended.status, ended.reason) == (Status.CANCELLED, "Stopped by SIGINT.")
    assert [run.status for run in runs] == [Status.COMPLETE]
    locks.close()


def test_a_store_that_is_locked_between_two_runs_is_waited_for(home: Path) -> None:
    path, series = home / "runs.db", plan_series([plan_on(home, "a")], Repetition(repeats=2))
    locks = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    async def lock(run: Begun) -> None:
        """Once the first run is over, for longer than this store waits for a lock by itself."""
        with Store.open(path) as other:
            await asyncio.to_thread(until, lambda: over_now(path, run.run_id), "the end of the run")
            if len(other.summaries()) == 1:
                locks.execute("BEGIN IMMEDIATE")
                Timer(0.5, locks.rollback).start()

    with Store.open(path, timeout_s=0.05) as store:
        ended = carried_out(store, series, StopRequest(), lock, concurrent=True)
        assert ended.status is Status.COMPLETE
        assert [run.status for run in store.series_runs(ended.id)] == [Status.COMPLETE] * 2
    locks.close()


@pytest.mark.parametrize(
    "words",
    [
        ("a", "--until", "0%"),
        ("a", "--until", "3"),
        ("a", "--repeat", "0"),
        ("a", "--repeat", "2", "--in-order"),
        ("a", "b", "--until", "3%", "--in-order"),
        ("a", "--repeat", "2", "--until", "3%"),
        ("a", "--repeat", "2", "--at-most", "1ms"),
        ("a", "--until", "3%", "--at-most", "1s"),
        ("a", "--repeat", "2", "--at-most", "0"),
        ("a", "--repeat", "2", "--pause", "soon"),
        ("a", "--pause", "3s"),
        ("a", "b"),
        ("a", "a", "--repeat", "2"),
        ("a", "--repeat", "2", "--nagios"),
    ],
)
def test_what_cannot_be_repeated_so_starts_nothing(home: Path, words: tuple[str, ...]) -> None:
    done = diskprof("run", "steady.fio", *words, "--dry-run", home=home)
    assert done.returncode == (3 if "--nagios" in words else 2)
    assert "--" in done.stderr + done.stdout or "twice" in done.stderr
    with store_of(home) as store:
        assert store.series_list() == []
