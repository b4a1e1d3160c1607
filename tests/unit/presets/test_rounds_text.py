"""`[rounds]` of a preset: read, written, and refused where the tests cannot be repeated."""

from pathlib import Path

import pytest

from diskprof.model.errors import UsageError
from diskprof.model.preset import Preset
from diskprof.presets.files.fio_text import job_file
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import preset_toml
from diskprof.presets.own_copies import own_copy
from diskprof.presets.resolve import resolve
from diskprof.presets.steady_text import parse_rounds, rounds_text_of
from diskprof.reports.content.preset_words import time_needed

PRESET = """
name = "table"
[parameters]
rounds = { kind = "count", default = 3 }
[sweep]
rwmixread = [100, 0]
bs = ["8k", "4k"]
[rounds]
test = "mix-rwmixread0-4k"
figure = "write.iops"
windows = "$rounds"
at_most = 6
[fio]
rw = "randrw"
size = "64m"
runtime = "5s"
time_based = true
[[test]]
name = "mix"
"""


def read(text: str) -> Preset:
    preset = parse(text.encode(), Path("table.toml"), shipped=False)
    assert isinstance(preset, Preset), preset
    return preset


def test_the_tests_are_repeated_until_one_of_them_is_steady() -> None:
    resolved = resolve(read(PRESET), {})
    rule = resolved.rounds
    assert rule and (rule.test, rule.metric.name) == ("mix-rwmixread0-4k", "write.iops")
    assert (rule.windows, rule.range, rule.slope, rule.at_most) == (3, 0.20, 0.10, 6)
    assert parse_rounds(rounds_text_of(rule)) == rule
    # Four cells of 5 s, six times at the most.
    assert str(time_needed(resolved)) == "<2 min"


def test_rounds_are_written_and_kept_by_an_own_copy() -> None:
    preset = read(PRESET)
    assert read(preset_toml(preset)).rounds == preset.rounds
    mine = resolve(read(preset_toml(own_copy(preset, "mine", {"rounds": "4"}))), {})
    assert mine.rounds and mine.rounds.windows == 4


def test_a_job_file_says_that_plain_fio_does_not_repeat_them() -> None:
    said = " ".join(line.removeprefix("; ") for line in job_file(read(PRESET), {}).splitlines() if line.startswith(";"))
    assert "Not in this job: the repetition of all tests in rounds (write.iops of 3 rounds within 20%" in said
    assert "Not in this job: the steps that bring the disk into a known state" not in said


def test_a_steady_state_of_each_test_is_refused_and_told_what_can_be_set() -> None:
    with pytest.raises(
        UsageError, match="table repeats all of its tests in rounds until one of them is steady"
    ) as refused:
        resolve(read(PRESET), {"steady": "total.iops"})
    fixed = PRESET.replace('"$rounds"', "3").replace('[parameters]\nrounds = { kind = "count", default = 3 }\n', "")
    with pytest.raises(UsageError) as without:
        resolve(read(fixed), {"steady": "total.iops"})
    assert str(without.value.hint) == "Change [rounds] in the preset."
    assert str(refused.value.hint) == "Set: rounds."


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('test = "mix-rwmixread0-4k"', 'test = "mix"', "there is no test 'mix'"),
        ('test = "mix-rwmixread0-4k"\n', "", "its test is missing"),
        ('figure = "write.iops"\n', "", "its figure is missing"),
        ("write.iops", "read.iops", "mix-rwmixread0-4k does not read"),
        ("write.iops", "cpu", "cpu is not known window by window"),
        ("at_most = 6", "at_most = 2", "3 rounds in a row cannot be steady within 2 rounds"),
        ("at_most = 6", 'at_most = "10m"', "at_most=10m is not possible"),
        ("at_most = 6", 'window = "10s"', "there is no key 'window'"),
        (
            'name = "mix"',
            'name = "mix"\nsteady = { figure = "total.iops" }',
            "mix-rwmixread100-8k goes on until it is steady by itself",
        ),
    ],
)
def test_what_is_wrong_is_a_problem_of_its_file(old: str, new: str, says: str) -> None:
    problems = parse(PRESET.replace(old, new).encode(), Path("table.toml"), shipped=False)
    assert not isinstance(problems, Preset)
    assert any(says in problem.message for problem in problems), problems
    assert problems[0].line


def test_a_setting_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="7 rounds in a row cannot be steady within 6 rounds"):
        resolve(read(PRESET), {"rounds": "7"})
