"""Which runs are alike, and what their history says."""

from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from like_runs import record_like_runs, short_plan
from msgspec.structs import replace
from recorded import FAST, FIRST_START, SLOW, make_plan, record_limit, record_run

from diskprof.analysis.limit_found import found_limit
from diskprof.analysis.metrics import Measure
from diskprof.model.errors import UsageError
from diskprof.model.fingerprint import Aspect, fingerprint
from diskprof.model.metric import Change
from diskprof.model.plan import Plan
from diskprof.model.run import Environment, SeriesPlace, Status
from diskprof.model.run_series import NewSeries, Repetition
from diskprof.runner.like_runs import history_of, newest_complete
from diskprof.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "runs.db")


def test_a_planted_change_is_named_with_its_run_and_percent(store: Store) -> None:
    random = Random(4)
    factors = [(1.0 if at < 41 else 0.88) * random.gauss(1, 0.01) for at in range(60)]
    ids = record_like_runs(store, factors)
    history = history_of(store, store.run(ids[-1]))
    assert history.runs == 60
    (figure,) = history.figures
    assert (figure.measure, [run.run_id for run in figure.runs]) == (Measure.IOPS, ids)
    (change,) = figure.changes
    assert (change.run.run_id, change.verdict) == (ids[41], Change.WORSE)
    assert change.ratio == pytest.approx(-0.12, abs=0.01)


def test_a_latency_that_falls_is_better(store: Store) -> None:
    plan = make_plan("ioping-latency")
    ids = [record_run(store, "ioping-latency", factor=1.0, plan=plan, runtime_s=1.0) for _ in range(2)]
    (figure,) = history_of(store, store.run(ids[0])).figures
    assert figure.measure is Measure.LATENCY_MEAN
    figure = replace(figure, levels=tuple(replace(figure.levels[0], median=median) for median in (200.0, 100.0)))
    assert [change.verdict for change in figure.changes] == [Change.BETTER]


PLAN, MACHINE = short_plan(), FAST.environment
assert MACHINE.mount
OTHERS: dict[Aspect, tuple[Plan, Environment]] = {
    Aspect.TESTS: (make_plan(runtime_s=9.0), MACHINE),
    Aspect.DISK: (PLAN, replace(MACHINE, disks=SLOW.environment.disks)),
    Aspect.FILE_SYSTEM: (PLAN, replace(MACHINE, mount=replace(MACHINE.mount, fs_type="xfs"))),
    Aspect.KERNEL: (PLAN, replace(MACHINE, kernel="6.8.0")),
}


@pytest.mark.parametrize("aspect", list(Aspect))
def test_each_aspect_parts_runs_unless_it_is_left_out_of_account(store: Store, aspect: Aspect) -> None:
    plan, environment = OTHERS[aspect]
    alike, other = (
        record_like_runs(store, [1.0, 1.0]),
        record_like_runs(store, [1.0], plan=plan, environment=environment),
    )
    first, second = fingerprint(PLAN, MACHINE), fingerprint(plan, environment)
    assert (store.fingerprint(alike[0]), store.fingerprint(other[0])) == (first, second)
    assert first.differs(second) == (aspect,)
    assert {result.run_id for result in store.like_results("quick", first)} == {*alike}
    assert {result.run_id for result in store.like_results("quick", first, across=[aspect])} == {*alike, *other}
    assert {(kind.runs, kind.newest) for kind in store.kinds_of_runs("quick")} == {(2, alike[1]), (1, other[0])}


def test_where_the_files_lie_and_how_they_are_reported_is_no_difference(store: Store) -> None:
    elsewhere = replace(PLAN, target=replace(PLAN.target, path="/mnt/data/other"), directory="/mnt/data/other/.x")
    assert fingerprint(elsewhere, MACHINE) == fingerprint(PLAN, MACHINE)


def test_a_disk_without_a_number_is_known_by_its_host_and_name() -> None:
    bare = replace(MACHINE, disks=(replace(MACHINE.disks[0], serial="", wwid=""),))
    assert fingerprint(PLAN, bare).disk == "nvme0n1 in db-01 (932 GiB)"
    assert fingerprint(PLAN, bare) != fingerprint(PLAN, replace(bare, hostname="db-02"))
    loop = replace(bare, disks=(replace(bare.disks[0], name="loop3", backing_file="/var/disk.img"),))
    assert fingerprint(PLAN, loop).disk == "/var/disk.img in db-01 (932 GiB)"


def test_only_complete_runs_that_were_not_deleted_count(store: Store) -> None:
    kept, gone = record_like_runs(store, [1.0, 1.0])
    store.delete(gone)
    stopped = store.create_run(PLAN, MACHINE)
    store.finish_run(stopped, status=Status.CANCELLED)
    assert {result.run_id for result in store.like_results("quick", fingerprint(PLAN, MACHINE))} == {kept}


def test_only_those_with_a_tag(store: Store) -> None:
    record_like_runs(store, [1.0])
    tagged = record_like_runs(store, [1.0, 1.0], tags=["base"], first_day=1)
    results = store.like_results("quick", fingerprint(PLAN, MACHINE), tag="base")
    assert [result.run_id for result in results] == tagged


def test_the_history_of_a_series_is_that_of_its_newest_complete_run(store: Store) -> None:
    first = store.create_run(PLAN, MACHINE, series=NewSeries(("/mnt/data",), Repetition(repeats=2)))
    store.finish_run(first, status=Status.COMPLETE)
    place = store.run(first).series
    assert place
    second = store.create_run(PLAN, MACHINE, series=SeriesPlace(place.series_id, 2, 0))
    store.finish_run(second, status=Status.CANCELLED)
    assert newest_complete(store, place.series_id).id == first
    with pytest.raises(UsageError, match="is not complete"):
        newest_complete(store, second)


def test_a_search_is_judged_by_what_it_found_and_not_by_its_trials(store: Store) -> None:
    ids = [record_limit(store, run_id=f"c4t8h3w{at}", started_at=FIRST_START + timedelta(days=at)) for at in range(2)]
    (figure,) = history_of(store, store.run(ids[0])).figures
    assert (figure.title, figure.measure) == ("Limit (read.p99<=2ms)", Measure.IOPS)
    found = found_limit(store.run(ids[0]))
    assert found and found.bracket.kept and figure.runs[0].value == pytest.approx(found.bracket.kept.done)
    assert [run.run_id for run in figure.runs] == ids
