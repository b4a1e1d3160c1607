"""Doubts about a run that is in progress: about the test that runs, about those that have ended, and their end."""

from collections.abc import Sequence
from dataclasses import replace

from handmade import direction, fio, run, samples, system

from diskprof.analysis.findings.so_far import doubts_so_far
from diskprof.model.run import Finding, Status
from diskprof.runner.carry.doubt_watch import DoubtWatch
from diskprof.store import Store

MB = 1e6
IOPS = 25_000.0
READ = fio(read=direction(IOPS))
"""102 MB/s"""


def names(found: Sequence[Finding] | None) -> list[str] | None:
    return None if found is None else [each.name for each in found]


def test_more_bytes_than_the_running_test_moved_are_somebody_elses() -> None:
    (found,) = doubts_so_far(run(READ), 0, samples([IOPS] * 40), system(read_rate=180 * MB))
    assert found.name == "other-io" and found.test == READ.planned.name
    assert found.evidence == "the device read 180 MB/s, 102 MB/s from the test"
    assert not doubts_so_far(run(READ), 0, samples([IOPS] * 40), system(read_rate=103 * MB))


def test_nothing_is_said_before_it_measures() -> None:
    assert not doubts_so_far(run(READ), 0, (), system(read_rate=180 * MB))


def test_doubts_come_with_what_is_seen_and_go_with_it(store: Store) -> None:
    made = run(READ)
    watch = DoubtWatch(store, store.create_run(made.plan, made.environment))
    watch.begin()
    told = [
        names(found)
        for sample, seen in zip(
            samples([IOPS] * 400),
            (*system(80, read_rate=180 * MB), *system(400, read_rate=103 * MB)[80:]),
            strict=True,
        )
        if (found := watch.hear((sample,), (seen,), ())) is not None
    ]
    # By the last minute alone: the test goes on for 80 s after the 20 s in which somebody else read.
    assert told == [["other-io"], []]


def test_the_doubts_about_a_test_stay_while_the_next_one_runs(store: Store) -> None:
    made = run(READ, replace(READ, planned=replace(READ.planned, name="next")))
    run_id = store.create_run(made.plan, made.environment)
    watch = DoubtWatch(store, run_id)
    store.begin_test(run_id, 0, 0)
    store.append(run_id, samples=samples([IOPS] * 40), system=system(read_rate=180 * MB))
    store.finish_test(run_id, 0, status=Status.COMPLETE, at_ns=10**10, result=READ.result)
    found = watch.finish(0, (), ())
    assert names(found) == ["other-io"] and found and found[0].test == READ.planned.name
    watch.begin()
    heard = [
        watch.hear((sample,), (seen,), ())
        for sample, seen in zip(samples([IOPS] * 40, test=1), system(test=1, read_rate=103 * MB), strict=True)
    ]
    assert heard == [None] * 40


def test_what_a_run_tells_so_far_is_in_the_lists_and_ends_with_its_end(store: Store) -> None:
    made = run(READ)
    run_id = store.create_run(made.plan, made.environment)
    store.tell_doubts(run_id, doubts_so_far(made, 0, samples([IOPS] * 40), system(read_rate=180 * MB)))
    assert [summary.doubts for summary in store.summaries()] == [("other-io",)]
    assert names(store.run(run_id).findings) == ["other-io"]
    store.finish_run(run_id, status=Status.COMPLETE)
    assert [summary.doubts for summary in store.summaries()] == [()]
