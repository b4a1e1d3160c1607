"""Doubts about a run that is in progress: about the test that runs, about those that have ended, and their end."""

from collections.abc import Sequence

from handmade import direction, environment, fio, ioping, run, samples, system
from msgspec.structs import replace

from diskprof.analysis.findings.so_far import doubts_so_far
from diskprof.engines.process import CpuTime
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import Cpu, Finding, Status
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


def test_cpus_that_others_keep_busy_are_told_by_what_the_process_of_fio_used() -> None:
    made, taken = run(READ, environment=environment(cpus=2)), samples([IOPS] * 40)
    (found,) = doubts_so_far(made, 0, taken, system(user=0.6, kernel=0.4), cpu=Cpu(40.0, 20.0))
    assert (found.name, found.test) == ("busy-machine", READ.planned.name)
    assert found.evidence == "CPUs 100% busy, 30% of it by the test"
    # More than half of two CPUs is the test's own: all its threads, and not each of them.
    assert not doubts_so_far(made, 0, taken, system(user=0.6, kernel=0.4), cpu=Cpu(60.0, 50.0))
    assert not doubts_so_far(made, 0, taken, system(user=0.5, kernel=0.4), cpu=Cpu(40.0, 20.0))
    # What fio used is not known, and may be all of it.
    assert not doubts_so_far(made, 0, taken, system(user=0.6, kernel=0.4))


def test_ioping_that_pauses_uses_no_cpu() -> None:
    made = run(ioping(read=direction(10.0)), environment=environment(cpus=2))
    (found,) = doubts_so_far(made, 0, samples([10.0] * 40), system(user=0.6, kernel=0.4))
    assert found.name == "busy-machine"


def test_what_fio_used_counts_from_when_it_measures(store: Store) -> None:
    """The ten seconds of CPU before, for the test file say, are not of this time."""
    made = run(READ, environment=environment(cpus=2))
    watch = DoubtWatch(store, store.create_run(made.plan, made.environment))
    watch.begin()
    told = [
        names(found)
        for number, (sample, seen) in enumerate(
            zip(samples([IOPS] * 40), system(40, user=0.6, kernel=0.4), strict=True)
        )
        if (found := watch.hear((sample,), (seen,), (), CpuTime(8.0 + number * 0.05, 2.0 + number * 0.05))) is not None
    ]
    assert told == [["busy-machine"]]


def test_the_doubts_about_tests_of_a_round_stay_until_they_are_judged_anew(store: Store) -> None:
    made = run(READ, replace(READ, planned=replace(READ.planned, name="next")))
    watch = DoubtWatch(store, store.create_run(made.plan, made.environment))

    def turn(test: int, read_rate: float) -> list[list[tuple[str, str]]]:
        """A test of two seconds, which is over before it would be judged."""
        watch.begin()
        seen = zip(samples([IOPS] * 8, test=test), system(8, test=test, read_rate=read_rate), strict=True)
        heard = [watch.hear((sample,), (each,), ()) for sample, each in seen]
        told = [found for found in (*heard, watch.finish_turn(())) if found is not None]
        return [[(each.name, each.test) for each in found] for found in told]

    first, following = (("other-io", name) for name in (READ.planned.name, "next"))
    assert turn(0, 180 * MB) == [[first]]
    assert turn(1, 103 * MB) == []
    assert turn(0, 180 * MB) == []
    assert turn(1, 180 * MB) == [[first, following]]
    assert turn(0, 103 * MB) == [[following]]


def test_another_process_is_told_again(store: Store) -> None:
    made = run(READ)
    watch = DoubtWatch(store, store.create_run(made.plan, made.environment))
    watch.begin()
    told = []
    for sample, seen in zip(samples([IOPS] * 480), system(480, read_rate=180 * MB), strict=True):
        pid = 7 if sample.at_ns <= 40e9 else 8
        did = ProcessIo(0, pid, 1, "dd", 20_000_000, 0, sample.at_ns - 250_000_000, sample.at_ns)
        if found := watch.hear((sample,), (seen,), (), None, (did,)):
            told.append([each.pid for each in found[0].processes])
    assert told == [[7], [7, 8], [8, 7], [8]], "by the last minute alone"


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
