"""`steady` of a preset's test: read, written, and refused where the test cannot go on."""

from pathlib import Path

import pytest

from diskprof.model.errors import UsageError
from diskprof.model.preset import Preset
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import preset_toml
from diskprof.presets.own_copies import own_copy
from diskprof.presets.resolve import resolve
from diskprof.presets.steady_text import EXAMPLE, parse_steady, text_of
from diskprof.reports.content.preset_words import describe_test, time_needed

PRESET = """
name = "wait"
[fio]
rw = "randread"
bs = "4k"
size = "64m"
runtime = "5s"
time_based = true
[[test]]
name = "one"
steady = { figure = "read.iops", windows = 3, window = "2s", at_most = "1m" }
"""


def read(text: str) -> Preset:
    preset = parse(text.encode(), Path("wait.toml"), shipped=False)
    assert isinstance(preset, Preset), preset
    return preset


def test_a_table_is_the_default_of_a_parameter_and_sets_the_longest_time() -> None:
    preset = read(PRESET)
    parameter = preset.parameter("steady")
    assert parameter and parameter.default == "read.iops windows=3 window=2s at_most=1m"
    resolved = resolve(preset, {})
    (test,) = resolved.tests
    assert test.steady and (test.steady.windows, test.steady.window_s, test.steady.at_most_s) == (3, 2.0, 60.0)
    assert (test.steady.range, test.steady.slope) == (0.20, 0.10)
    assert test.load.fio[0].runtime_s == 60.0
    assert str(time_needed(resolved)) == "<1 min"
    assert describe_test(test).endswith(
        "Until it is steady: read.iops of 3 windows of 2 s within 20%, slope within 10%, at most 1 min."
    )
    assert resolve(preset, {"steady": ""}).tests[0].load.fio[0].runtime_s == 5.0


def test_it_is_written_and_kept_by_an_own_copy() -> None:
    preset = read(PRESET)
    assert read(preset_toml(preset)).tests == preset.tests
    mine = read(preset_toml(own_copy(preset, "mine", {"steady": "total.iops windows=2 window=1s"})))
    (test,) = resolve(mine, {}).tests
    assert test.steady and test.steady.metric.name == "total.iops" and test.steady.windows == 2
    written = PRESET.replace('window = "2s"', 'window = "$w"').replace(
        "[fio]", '[parameters]\nw = { kind = "duration", default = "3s" }\n[fio]'
    )
    again = read(preset_toml(read(written)))
    assert resolve(again, {"w": "4s"}).tests[0].steady == parse_steady("read.iops windows=3 window=4s at_most=1m")


def test_a_rule_reads_back_as_it_is_written() -> None:
    rule = parse_steady(EXAMPLE.replace("20%", "2.5%"))
    assert rule and parse_steady(text_of(rule)) == rule
    assert parse_steady("  ") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("read.iops windows=1", "windows=1 is not possible"),
        ("read.iops windows=x", "windows=x is not possible"),
        ("speed", "unknown metric 'speed'"),
        ("cpu", "cpu is not known window by window"),
        ("sync.latency.p99", "sync.latency.p99 is not known window by window"),
        ("read.iops window=10s at_most=20s", "5 windows of 10 s take longer than at_most (20 s)"),
        ("read.iops windows=2 window=1h", "take longer than at_most"),
        ("read.iops window=long", "'long' is not a duration"),
        ("read.iops window=100ms", "window=100ms is too short"),
        ("read.iops range=20", "range=20 is not possible"),
        ("read.iops slope=0%", "slope=0% is not possible"),
        ("read.iops windows", "'windows' is not a valid part"),
        ("read.iops widows=3", "'widows=3' is not a valid part"),
        ("read.iops windows=3 windows=4", "is given twice"),
    ],
)
def test_what_is_wrong_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=r".") as refused:
        parse_steady(text)
    assert says in refused.value.message and refused.value.hint


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("time_based = true", "", "ends after an amount of data"),
        ("time_based = true", "time_based = true\nnumber_ios = 100", "ends after an amount of data"),
        ('"read.iops"', '"write.iops"', "does not write"),
        (
            "time_based = true",
            'time_based = true\nlatency_target = "5ms"\nlatency_window = "1s"',
            "searches for a queue depth",
        ),
        ("windows = 3", "windows = 3, colour = 3", "there is no key 'colour'"),
        ("windows = 3", "windows = [3]", "windows must be a text or a number"),
        ('figure = "read.iops", ', "", "its figure is missing"),
        ('window = "2s"', 'window = "$w"', "$w is not a parameter"),
        ("windows = 3", "windows = 1", "windows=1 is not possible"),
        ('name = "one"', 'name = "one"\nengine = "ioping"', "one is an ioping test"),
    ],
)
def test_a_test_that_cannot_go_on_is_a_problem_of_its_file(old: str, new: str, says: str) -> None:
    problems = parse(PRESET.replace(old, new).encode(), Path("wait.toml"), shipped=False)
    assert not isinstance(problems, Preset)
    assert says in problems[0].message and problems[0].line


def test_a_setting_for_tests_that_cannot_go_on_says_why() -> None:
    preset = read(PRESET.replace("time_based = true", "number_ios = 100").replace(PRESET.splitlines()[-1], ""))
    with pytest.raises(UsageError, match="no test of wait can go on until it is steady"):
        resolve(preset, {"steady": "read.iops"})


BEFORE = """
[[precondition]]
name = "fill"
options = { rw = "write", time_based = false, loops = 2 }
[[precondition]]
name = "random"
options = { rw = "randwrite" }
steady = { figure = "write.iops", windows = 2, window = "1s" }
[sweep]
bs = ["4k", "8k"]
[[test]]"""


def swept() -> Preset:
    return read(PRESET.replace('bs = "4k"\n', "").replace("[[test]]", BEFORE))


def test_preconditioning_is_no_test_is_not_swept_and_can_be_left_out() -> None:
    preset = swept()
    resolved = resolve(preset, {})
    assert [step.name for step in resolved.precondition] == ["fill", "random"]
    assert [test.name for test in resolved.tests] == ["one-4k", "one-8k"]
    fill, random = resolved.precondition
    assert fill.load.fio[0].amount == 2 * (64 << 20) and fill.steady is None
    assert random.steady and random.load.fio[0].runtime_s == 1800.0
    assert resolve(preset, {"precondition": "no"}).precondition == ()
    assert read(preset_toml(preset)) == preset


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        ('name = "random"', 'name = "random"\nengine = "ioping"', "precondition[2].engine", "only fio preconditions"),
        ('name = "random"', 'name = "fill"', "precondition[2].name", "two tests named fill"),
        ('rw = "randwrite"', 'rw = "randwrite", bs = "x"', "precondition[2].options.bs", "'x' is not a size"),
        ("loops = 2", "loops = 2, number_ios = 0", "precondition[1].options.number_ios", ""),
        ("write.iops", "read.iops", "precondition[2]", "random does not read"),
    ],
)
def test_a_wrong_step_is_named(old: str, new: str, key: str, says: str) -> None:
    text = PRESET.replace('bs = "4k"\n', "").replace("[[test]]", BEFORE.replace(old, new))
    problems = parse(text.encode(), Path("wait.toml"), shipped=False)
    assert not isinstance(problems, Preset)
    assert problems[0].key == key and says in problems[0].message


def test_a_test_that_its_size_would_end_begins_again_where_a_steady_state_is_asked_of_it() -> None:
    by_size = read(PRESET.replace("time_based = true", "").replace(PRESET.splitlines()[-1], ""))
    assert by_size.parameter("steady") is None
    (test,) = resolve(by_size, {"steady": "read.iops windows=2 window=1s at_most=7s"}).tests
    (job,) = test.load.fio
    assert test.steady and job.time_based and job.runtime_s == 7.0
    assert not resolve(by_size, {}).tests[0].load.fio[0].time_based
