"""A plan in words."""

from datetime import datetime

from msgspec.structs import replace
from recorded import make_plan

from diskprof.model.metric import parse_metric
from diskprof.model.plan import OtherTarget, Plan
from diskprof.model.steady import RoundsRule
from diskprof.model.target import TargetKind
from diskprof.reports.content.plan_report import end_words, plan_sentence, time_words


def test_where_how_much_and_what_becomes_of_it() -> None:
    sentence = plan_sentence(make_plan())
    assert sentence.startswith("Tests a temporary 1 GiB file in /mnt/data: 33 s, ")
    assert sentence.endswith(" written, file removed at the end.")


def test_what_is_not_permitted_is_not_said_to_happen() -> None:
    plan = make_plan()
    plan = replace(plan, target=replace(plan.target, kind=TargetKind.DEVICE, path="/dev/sdb"))
    assert plan_sentence(plan).startswith("Would overwrite the device /dev/sdb: 33 s, ")


def test_every_target_is_named() -> None:
    plan = make_plan()
    other = OtherTarget("nocache", replace(plan.target, path="/mnt/other"), plan.directory, plan.files)
    assert "in each of /mnt/data and /mnt/other" in plan_sentence(replace(plan, slot="cache", others=(other,)))


def test_every_device_is_named() -> None:
    plan = make_plan()
    one, two = (replace(plan.target, kind=TargetKind.DEVICE, path=path) for path in ("/dev/sda", "/dev/sdb"))
    tests = tuple(replace(test, bytes_written=0, files=()) for test in plan.tests)
    reading = replace(
        plan, target=one, others=(OtherTarget("b", two),), tests=tests, layout=None, files=(), directory=""
    )
    assert plan_sentence(reading).startswith("Reads /dev/sda and /dev/sdb: ")


def test_short_tests_in_rounds_take_the_starts_of_fio_beside_their_time() -> None:
    plan = make_plan()
    rounds = RoundsRule(plan.tests[0].name, parse_metric("read.iops"), windows=3, at_most=5)
    count = len(plan.tests)
    starts = f", and {3 * count} to {5 * count} starts of fio)"
    assert time_words(replace(plan, rounds=rounds)).endswith(starts)
    assert f"({5} rounds of " in time_words(replace(plan, rounds=replace(rounds, windows=5)))
    assert replace(plan, rounds=rounds).seconds > 5 * plan.round_s(longest=True) + 5 * count * 0.6
    long = tuple(replace(test, runtime_s=60.0) for test in plan.tests)
    assert "starts of fio" not in time_words(replace(plan, rounds=rounds, tests=long))


def test_a_time_is_a_maximum_only_where_an_amount_of_data_may_end_a_test() -> None:
    plan = make_plan()
    assert time_words(plan) == "about 33 s"
    test = plan.tests[0]
    timed = tuple(replace(job, options=(*job.options, ("runtime", "1000")), runtime_s=1000.0) for job in test.load.fio)
    by_amount = replace(test, jobs=timed, ramp_s=0.0, runtime_s=1000.0, amount_bytes=1 << 30, amount_s=5.0)
    assert time_words(replace(plan, layout=None, tests=(by_amount,) * 4)) == "about 20 s, at most 1 h 06 min"
    # Where an amount alone ends it, nothing tells how long it takes at most.
    endless = replace(by_amount, jobs=tuple(replace(job, runtime_s=None) for job in timed), runtime_s=4.0)
    assert time_words(replace(plan, layout=None, tests=(endless, by_amount))) == "about 10 s"


def test_a_long_plan_says_when_it_ends() -> None:
    now = datetime(2026, 3, 4, 13, 30)
    (first, *_) = make_plan().tests

    def lasting(seconds: float) -> Plan:
        return replace(make_plan(), layout=None, tests=(replace(first, ramp_s=0.0, runtime_s=seconds),))

    assert end_words(lasting(60), now) == ""
    assert end_words(lasting(3600), now) == "ends about 14:30"
    assert end_words(lasting(86400), now) == "ends about Thu 05 Mar 13:30"


def test_the_time_of_the_tests_alone_is_that_of_the_list_of_presets() -> None:
    plan = make_plan()
    layout = replace(plan.tests[0], ramp_s=0.0, runtime_s=3.0)
    tests = sum(test.likely_seconds for test in plan.tests)
    assert time_words(replace(plan, layout=layout)) == f"about {tests + 3:.0f} s (tests {tests:.0f} s)"
