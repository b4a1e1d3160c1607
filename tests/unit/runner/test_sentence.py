"""A plan in a sentence."""

from dataclasses import replace

from recorded import make_plan

from diskprof.model.plan import OtherTarget
from diskprof.runner.plan.sentence import plan_sentence


def test_where_how_much_and_what_becomes_of_it() -> None:
    sentence = plan_sentence(make_plan())
    assert sentence.startswith("Reads and writes a 1 GiB test file in /mnt/data, takes about ")
    assert sentence.endswith(", removes it afterwards.")


def test_every_target_is_named() -> None:
    plan = make_plan()
    other = OtherTarget("nocache", replace(plan.target, path="/mnt/other"), plan.test_file)
    assert "in each of /mnt/data and /mnt/other" in plan_sentence(replace(plan, slot="cache", others=(other,)))
