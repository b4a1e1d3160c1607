"""When the processor, and not the disk, made the result: the article's 99%, and its 80%."""

import pytest
from handmade import direction, environment, fio, ioping, run, system
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.analysis.kernel import kernel_view
from diskprof.model.run import Cpu, Finding, Run, Weight
from diskprof.model.sample import SystemSample


def named(name: str, tested: Run, seen: tuple[SystemSample, ...] = ()) -> Finding | None:
    return next((finding for finding in find(tested, (), seen) if finding.name == name), None)


def test_a_job_at_99_percent_is_bound_by_the_processor() -> None:
    found = named("processor-bound", run(fio(depth=32, read=direction(60_000), cpu=(30.0, 69.0))))
    assert found is not None
    assert found.weight is Weight.LIMIT
    assert found.evidence == "the job used 99% of a CPU (30% user, 69% system)"


@pytest.mark.parametrize("cpu", [(23.47, 56.39), (10.0, 84.9), None])
def test_a_job_at_80_percent_is_not(cpu: tuple[float, float] | None) -> None:
    assert named("processor-bound", run(fio(depth=8, read=direction(45_000), cpu=cpu))) is None


def test_four_jobs_reported_apart_are_judged_each() -> None:
    four = fio(numjobs=4, read=direction(45_000), cpu=(50.0, 150.0))
    assert named("processor-bound", run(four)) is None
    busy = fio(numjobs=4, read=direction(45_000), cpu=(100.0, 288.0))
    found = named("processor-bound", run(busy))
    assert found is not None
    assert found.evidence == "the jobs used 97% of a CPU each (25% user, 72% system)"


def test_the_mean_of_a_group_is_one_report() -> None:
    """Of five jobs fio reports four as a group, with their mean: what stands there is two reports and not five."""
    five = fio(numjobs=5, read=direction(45_000), cpu=(92.0, 100.0))
    assert five.result
    told = replace(five, result=replace(five.result, cpu=Cpu(92.0, 100.0, reports=2)))
    assert named("processor-bound", run(five)) is None
    found = named("processor-bound", run(told))
    assert found is not None
    assert found.evidence == "the jobs used 96% of a CPU each (46% user, 50% system)"


def test_jobs_that_share_too_few_cpus_are_bound_by_them() -> None:
    two = environment(cpus=2)
    four = fio(numjobs=4, read=direction(45_000), cpu=(60.0, 130.0))
    found = named("processor-bound", run(four, environment=two), system(user=0.3, kernel=0.68))
    assert found is not None
    assert found.evidence == "4 jobs used 48% of a CPU each (15% user, 32% system), and no CPU was idle"
    assert named("processor-bound", run(four, environment=two), system(user=0.3, kernel=0.6)) is None


def test_what_others_use_is_no_limit_of_the_test_but_casts_doubt() -> None:
    tested = run(fio(depth=32, read=direction(2_000), cpu=(0.3, 0.4)), environment=environment(cpus=2))
    taken = system(user=0.6, kernel=0.4)
    assert named("processor-bound", tested, taken) is None
    found = named("busy-machine", tested, taken)
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence == "CPUs 100% busy, 0% of it by the test"
    assert named("busy-machine", tested, system(user=0.5, kernel=0.4)) is None
    own = run(fio(numjobs=2, read=direction(90_000), cpu=(60.0, 120.0)), environment=environment(cpus=2))
    assert named("busy-machine", own, taken) is None


def test_ioping_may_be_what_keeps_a_cpu_busy() -> None:
    rapid = ioping("cached", "-R", "-C", read=direction(300_000))
    taken = system(user=0.6, kernel=0.4)
    assert named("busy-machine", run(rapid, environment=environment(cpus=2)), taken) is None
    found = named("busy-machine", run(rapid, environment=environment(cpus=4)), taken)
    assert found is not None
    assert found.evidence == "CPUs 100% busy, at most 25% of it by the test"
    slow = ioping("latency", read=direction(1))
    waiting = named("busy-machine", run(slow, environment=environment(cpus=2)), taken)
    assert waiting is not None
    assert waiting.evidence == "CPUs 100% busy, at most 0% of it by the test"


def test_steal_of_a_twentieth_casts_doubt() -> None:
    tested = run(fio(read=direction(10_000)))
    assert named("cpu-steal", tested, system(steal=0.04)) is None
    assert named("cpu-steal", tested, system()) is None
    found = named("cpu-steal", tested, (*system(20, steal=0.02), *system(20, steal=0.12)))
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence == "steal 7% on average, 12% at most"


def test_steal_counts_by_time_as_it_does_in_the_kernels_table() -> None:
    tested = run(fio(read=direction(10_000)))
    short = system(20, steal=0.14, interval_s=0.125)
    assert named("cpu-steal", tested, (*short, *system(20, steal=0.0))) is None
    taken = (*short, *system(20, steal=0.02))
    found, table = named("cpu-steal", tested, taken), kernel_view(taken)
    assert found is not None and table is not None and table.cpu_steal is not None
    assert table.cpu_steal == pytest.approx(0.06)
    assert found.evidence == "steal 6% on average, 14% at most"


def test_the_most_steal_is_not_that_of_a_stub() -> None:
    tested = run(fio(read=direction(10_000)))
    whole = (*system(20, steal=0.05), *system(20, steal=0.07))
    found = named("cpu-steal", tested, (*whole, *system(1, steal=1.0, interval_s=0.01)))
    assert found is not None and found.evidence == "steal 6% on average, 7% at most"
    found = named("cpu-steal", tested, (*whole, *system(1, steal=0.4, interval_s=0.125)))
    assert found is not None and found.evidence == "steal 6% on average, 40% at most"


def test_how_busy_the_cpus_were_counts_by_time() -> None:
    tested = run(fio(depth=32, read=direction(2_000), cpu=(0.3, 0.4)), environment=environment(cpus=2))
    full = system(39, user=0.6, kernel=0.4)
    idle = system(4, user=0.0, kernel=0.0, interval_s=0.01)
    found = named("busy-machine", tested, (*full, *idle))
    assert found is not None and found.evidence.startswith("CPUs 100% busy")
    assert named("busy-machine", tested, (*full, *system(4, user=0.0, kernel=0.0))) is None
