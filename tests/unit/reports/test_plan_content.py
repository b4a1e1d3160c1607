"""A plan in words."""

from dataclasses import replace

from recorded import make_plan

from diskprof.model.plan import OtherTarget
from diskprof.reports.content.plan_report import plan_sentence, time_words


def test_where_how_much_and_what_becomes_of_it() -> None:
    sentence = plan_sentence(make_plan())
    assert sentence.startswith("Tests a temporary 1 GiB file in /mnt/data: 33 s, ")
    assert sentence.endswith(" written, file removed at the end.")


def test_every_target_is_named() -> None:
    plan = make_plan()
    other = OtherTarget("nocache", replace(plan.target, path="/mnt/other"), plan.directory, plan.files)
    assert "in each of /mnt/data and /mnt/other" in plan_sentence(replace(plan, slot="cache", others=(other,)))


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
