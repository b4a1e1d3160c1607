"""What a preset promises, on which targets it works, and its variants: read, and what is wrong with them named."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from preset_files import good, problems, read

from diskprof.model.errors import UsageError
from diskprof.model.expectation import Formula, Operator
from diskprof.model.preset import Preset
from diskprof.presets.resolve import resolve, settings_of

GOOD = """\
name = "mine"

[targets]
log = "the log"
data = "the data"

[parameters]
size = "64m"
tier = { default = "Gold", choices = ["Gold", "silver"] }
depth = { default = 8, choices = [8, 32] }
capacity_gib = ""
pattern = { kind = "text", default = "randread" }

[variants.quick]
size = "8m"
depth = 32

[fio]
size = "$size"

[[test]]
name = "reads"
target = "data"
options = { rw = "randread", iodepth = "$depth" }

[[test]]
name = "both"
[[test.job]]
name = "wal"
options = { rw = "write", fdatasync = 1 }
[[test.job]]
name = "pages"
target = "data"
options = { rw = "$pattern" }

[[test]]
name = "mixed"
options = { rw = "randrw", rwmixread = 100 }

[[test]]
name = "ping"
engine = "ioping"
options = { rapid = true }

[[expect]]
test = "reads"
metric = "read.iops"
when = { tier = "Gold", depth = "08" }
base = 1200
per_gib = 30
cap = "20k"

[[expect]]
test = "both"
metric = "sync.latency.p99"
when.tier = ["Gold", "silver"]
below = "10ms"
seconds = "2m"

[[expect]]
test = "ping"
metric = "read.latency.mean"
max = "5ms"
"""
AGAIN = '[[expect]]\ntest = "ping"\nmetric = "read.latency.mean"\nmax = "5000us"\n'


def test_what_is_promised() -> None:
    first, *syncs, last = good(GOOD).expectations
    assert (first.test, first.metric.name, first.operator) == ("reads", "read.iops", Operator.AT_LEAST)
    assert first.promise == Formula(1200, 30, 20000)
    # Conditions are kept as the parameters' values will be: in their normal form.
    assert first.when == (("tier", "Gold"), ("depth", "8"))
    assert first.seconds == 60
    assert [(each.when, each.operator, each.promise.base, each.seconds) for each in syncs] == [
        ((("tier", "Gold"),), Operator.LESS_THAN, 10e6, 120),
        ((("tier", "silver"),), Operator.LESS_THAN, 10e6, 120),
    ]
    assert (last.operator, last.promise, last.when) == (Operator.AT_MOST, Formula(5e6), ())


@pytest.mark.parametrize(
    ("promise", "operator", "base"),
    [
        ("min = 5000", Operator.AT_LEAST, 5000),
        ("min = 0.5", Operator.AT_LEAST, 0.5),
        ('min = "5.5k"', Operator.AT_LEAST, 5500),
        ("above = 6000", Operator.MORE_THAN, 6000),
        ("max = 7", Operator.AT_MOST, 7),
        ("below = 7", Operator.LESS_THAN, 7),
        ("base = 0\nper_gib = 0.5", Operator.AT_LEAST, 0),
    ],
)
def test_every_way_to_promise(promise: str, operator: Operator, base: float) -> None:
    text = GOOD.replace('base = 1200\nper_gib = 30\ncap = "20k"', promise).replace('capacity_gib = ""\n', "")
    first = good(text).expectations[0]
    assert (first.operator, first.promise.base, first.promise.cap) == (operator, base, None)


def test_the_least_of_several_lines_is_promised() -> None:
    text = GOOD.replace("base = 1200\nper_gib = 30", 'base = [1200, "2560"]\nper_gib = [30, 16]')
    promise = good(text).expectations[0].promise
    assert promise == Formula(1200, 30, 20000, ((2560, 16),))
    assert [promise.value(gib) for gib in (20, 97, 98, 5000)] == [1800, 4110, 4128, 20000] and promise.lines[1] == (
        2560,
        16,
    )


def test_jobs_know_their_targets() -> None:
    preset = good(GOOD)
    assert [(slot.name, slot.summary) for slot in preset.targets] == [("log", "the log"), ("data", "the data")]
    reads, both, mixed, ping = resolve(preset, {}).tests
    assert [job.targets for job in (*reads.jobs, *both.jobs)] == [("data",), ("log",), ("data",)]
    # Who names none works on the first.
    assert [job.targets for job in (*mixed.jobs, *ping.jobs)] == [("log",), ("log",)]


def test_a_preset_without_targets_has_jobs_without() -> None:
    preset = good('[[test]]\nname = "one"\noptions = { size = "1m" }\n')
    assert not preset.targets and resolve(preset, {}).tests[0].jobs[0].targets == ()


def test_a_variant_is_settings_and_what_the_person_sets_goes_before() -> None:
    preset = good(GOOD)
    assert settings_of(preset, "quick", {}) == {"size": "8m", "depth": "32"}
    assert settings_of(preset, "quick", {"size": "1g"}) == {"size": "1g", "depth": "32"}
    assert settings_of(preset, "", {"size": "1g"}) == {"size": "1g"}
    with pytest.raises(UsageError) as caught:
        settings_of(preset, "slow", {})
    assert "slow" in caught.value.message and "quick" in caught.value.hint
    with pytest.raises(UsageError, match="none"):
        settings_of(good('[[test]]\nname = "one"\noptions = { size = "1m" }\n'), "quick", {})


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        # promises: the schema
        ('test = "reads"\nmetric', "metric", "expect[1].test", "there are several tests: name one of reads, both,"),
        (
            *('test = "reads"\nmetric', 'test = "both"\njob = "wa"\nmetric'),
            *("expect[1].job", "there is no job 'both.wa'; did you mean both.wal?"),
        ),
        ('metric = "read.iops"', "", "expect[1].metric", "missing"),
        ('metric = "read.iops"', "metric = 5", "expect[1].metric", "must be a text"),
        ('metric = "read.iops"', 'metrics = "read.iops"', "expect[1].metrics", "did you mean metric?"),
        ("per_gib = 30", "per_gb = 30", "expect[1].per_gb", "did you mean per_gib?"),
        ("base = 1200", "base = [[1200]]", "expect[1].base[1]", "must be a text, a number"),
        ("base = 1200", "base = []", "expect[1].base", "at least one"),
        ("base = 1200", "base = [1200, 5000]", "expect[1].per_gib", "as many values as each other"),
        ("base = 1200\nper_gib = 30", "base = [1200, 20000]\nper_gib = [30, 1]", "expect[1].cap", "not more than base"),
        ("when = {", "when = 5 #", "expect[1].when", "must be a table"),
        ('"Gold", depth', "[[1]], depth", "expect[1].when.tier[1]", "must be a text, a number"),
        ('when.tier = ["Gold", "silver"]', "when.tier = []", "expect[2].when.tier", "at least one"),
        # promises: the test and the metric
        ('test = "reads"\nmetric', 'test = "raeds"\nmetric', "expect[1].test", "did you mean reads?"),
        ('test = "reads"\nmetric', 'test = "x"\nmetric', "expect[1].test", "there are reads, both, mixed, ping"),
        ("read.iops", "read.iop", "expect[1].metric", "read.latency.mean"),
        ("read.iops", "write.iops", "expect[1].metric", "reads never writes"),
        ("read.iops", "sync.latency.p99", "expect[1].metric", "never calls fsync"),
        ('"read.latency.mean"', '"write.latency.mean"', "expect[3].metric", "ioping reads"),
        ('"read.latency.mean"', '"sync.latency.mean"', "expect[3].metric", "ioping reads"),
        ('"read.latency.mean"\nmax = "5ms"', '"cpu"\nmax = 5', "expect[3].metric", "CPU"),
        ('"read.latency.mean"', '"read.latency.p99"', "expect[3].metric", "no distribution"),
        ('"read.latency.mean"\nmax = "5ms"', '"read.within.1ms"\nmin = 0.5', "expect[3].metric", "no distribution"),
        ('"ping"\nmetric = "read.', '"mixed"\nmetric = "write.', "expect[3].metric", "mixed never writes"),
        # promises: the value
        ("base = 1200", "", "expect[1].per_gib", "goes with base"),
        ("base = 1200\nper_gib = 30\n", "", "expect[1].cap", "goes with base"),
        ('base = 1200\nper_gib = 30\ncap = "20k"', "", "expect[1]", "nothing is promised: give one of min, max"),
        ("per_gib = 30", "per_gib = 30\nmin = 5", "expect[1]", "min and base exclude each other"),
        ("per_gib = 30\n", "", "expect[1].base", "min promises the same"),
        ("per_gib = 30", "per_gib = 0", "expect[1].per_gib", "more than 0"),
        ("base = 1200", "base = -1200", "expect[1].base", "not a valid iops"),
        ("base = 1200", "base = nan", "expect[1].base", "not a valid iops"),
        ("base = 1200", "base = inf", "expect[1].base", "not a valid iops"),
        ('cap = "20k"', "cap = 1200", "expect[1].cap", "not more than base"),
        ('cap = "20k"', 'cap = "20kB"', "expect[1].cap", "not a valid iops"),
        ('below = "10ms"', "below = 10", "expect[2].below", "ns, us, ms, s"),
        ('below = "10ms"', 'below = "0ms"', "expect[2].below", "more than 0"),
        ('below = "10ms"', 'below = "10MB/s"', "expect[2].below", "not a valid latency"),
        ('base = 1200\nper_gib = 30\ncap = "20k"', "min = 95", "expect[1].min", "write 95%"),
        # promises: when and how long
        ("when = { tier", "when = { teir", "expect[1].when.teir", "did you mean tier?"),
        ("when = { tier", "when = { size", "expect[1].when.size", "give it choices"),
        ('tier = "Gold", depth', 'tier = "gold", depth', "expect[1].when.tier", "Choose from Gold, silver"),
        ('tier = "Gold", depth', 'tier = "", depth', "expect[1].when.tier", "Choose from Gold, silver"),
        ('depth = "08"', "depth = 9", "expect[1].when.depth", "8, 32"),
        ('tier = ["Gold", "silver"]', 'tier = ["Gold", "tin"]', "expect[2].when.tier", "tier=tin"),
        ('seconds = "2m"', 'seconds = "long"', "expect[2].seconds", "not a duration"),
        ('seconds = "2m"', "seconds = -1", "expect[2].seconds", "not a duration"),
        ('max = "5ms"\n', f'max = "5ms"\n{AGAIN}', "expect[4]", "promised before"),
        # targets
        ('target = "data"\noptions', 'target = "dat"\noptions', "test[1].target", "did you mean data?"),
        ('name = "pages"\ntarget = "data"', 'name = "pages"\ntarget = "x"', "test[2].job[2].target", "there are log, data"),
        ('data = "the data"', 'data = "the data"\nmore = "more"', "targets.more", "no test works on this target"),
        ('data = "the data"', 'Data = "the data"', "targets.Data", "is not a valid name"),
        ('data = "the data"', "data = 5", "targets.data", "must be a text"),
        ('[targets]\nlog = "the log"\ndata = "the data"', "", "test[1].target", "names no targets"),
        # variants
        ('size = "8m"\ndepth = 32', "", "variants.quick", "sets no parameter"),
        ('size = "8m"', 'sise = "8m"', "variants.quick.sise", "Did you mean size?"),
        ('size = "8m"', 'size = "lots"', "variants.quick.size", "not a size"),
        ('size = "8m"', 'size = "1k"', "variants.quick", "less than one request"),
        ("depth = 32", "depth = 7", "variants.quick.depth", "8, 32"),
        ("depth = 32", 'pattern = "sideways"', "variants.quick", "Choose from read, write"),
        ("[variants.quick]", '[variants."so quick"]', "variants.so quick", "is not a valid name"),
        ("[variants.quick]", "[variants]\nquick = 5\n[variants.other]", "variants.quick", "must be a table"),
        # parameters
        ('capacity_gib = ""', 'capacity_gb = { kind = "count", default = "" }', "parameters.capacity_gb", "no option uses this"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_key(old: str, new: str, key: str, says: str) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if says == "write 95%":
        text = text.replace("read.iops", "read.within.1ms")
    problem = problems(text)[0]
    assert (problem.key, says in problem.message) == (key, True), problem
    assert problem.line is not None and "\n" not in str(problem) and len(str(problem)) < 600


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("read.iops", "write.iops", 'metric = "write.iops"'),
        ("per_gib = 30", "per_gib = 0", "per_gib = 0"),
        ("depth = 32", "depth = 7", "depth = 7"),
        ('name = "pages"\ntarget = "data"', 'name = "pages"\ntarget = "x"', 'target = "x"'),
        ('data = "the data"', 'data = "the data"\nmore = "more"', 'more = "more"'),
        ('seconds = "2m"', 'seconds = "long"', 'seconds = "long"'),
    ],
)
def test_the_line_is_that_of_the_key(old: str, new: str, key: str) -> None:
    text = GOOD.replace(old, new, 1)
    (problem,) = problems(text)
    assert problem.line is not None and text.split("\n")[problem.line - 1].strip() == key


def test_a_value_that_is_said_twice_promises_once() -> None:
    text = GOOD.replace('when.tier = ["Gold", "silver"]', 'when.tier = ["Gold", "Gold"]')
    assert len(good(text).expectations) == 3


def test_every_wrong_promise_is_named() -> None:
    text = GOOD.replace("read.iops", "write.iops").replace('"ping"\nmetric', '"pong"\nmetric').replace('"8m"', '"x"')
    assert [problem.key for problem in problems(text)] == ["expect[1].metric", "expect[3].test", "variants.quick.size"]


def test_a_pattern_that_is_a_parameter_may_be_anything_later() -> None:
    text = GOOD.replace('metric = "sync.latency.p99"\n', 'metric = "read.latency.p99"\n')
    assert good(text)
    text = GOOD.replace('default = "randread" }', 'default = "randwrite" }').replace("sync.latency", "read.latency")
    assert good(text)


def test_promises_may_be_a_list_before_the_first_table() -> None:
    preset = good(
        'expect = [\n  { test = "one", metric = "total.iops", min = 5 },\n'
        '  { test = "one", metric = "total.bandwidth", min = "1MB/s" },\n]\n'
        '[[test]]\nname = "one"\noptions = { rw = "randrw", size = "1m" }\n'
    )
    assert [promise.metric.name for promise in preset.expectations] == ["total.iops", "total.bandwidth"]


def test_a_capacity_that_nothing_counts_with_is_no_parameter() -> None:
    text = GOOD.replace('base = 1200\nper_gib = 30\ncap = "20k"', "min = 5")
    assert [problem.key for problem in problems(text)] == ["parameters.capacity_gib"]


PIECES = [
    *("[targets]\n", "[sweep]\n", "[variants]\n", "[variants.a]\n", "[[expect]]\n", "expect = [", "when = {", "target = "),
    *(f"{key} = " for key in ("min", "max", "base", "per_gib", "cap", "when", "seconds", "metric", "bs", "iodepth", "size")),
    *("'5ms'\n", "'95%'\n", "5\n", "0\n", "-1\n", "nan\n", "inf\n", "1e400\n", "[1, 2]\n", "[[]]\n", "{}\n", "true\n", "''\n"),
    *("'$size'\n", "'$'\n", "0x" + "f" * 5000, "9" * 4000, "\x1b", "\u202e", "]", "}", "\n", "=", "."),
]  # fmt: skip


@settings(max_examples=300)
@given(st.data())
def test_a_good_file_with_anything_changed_is_a_preset_or_problems(data: Any) -> None:
    text = GOOD
    for _ in range(data.draw(st.integers(1, 4))):
        words = list(re.finditer(r"[\w$]+|[^\w\s]|\n", text))
        if not words:
            break
        word = data.draw(st.sampled_from(words))
        piece = data.draw(st.sampled_from(PIECES) | st.text(max_size=6))
        text = text[: word.start()] + piece + text[word.end() :]
    found = read(text.encode("utf-8", "surrogatepass"))
    if isinstance(found, Preset):
        resolve(found, {})
        for variant in found.variants:
            resolve(found, settings_of(found, variant.name, {}))
    else:
        assert all(problem.message and "\x1b" not in str(problem) and "\n" not in str(problem) for problem in found)


@given(
    st.dictionaries(
        st.sampled_from(["min", "max", "above", "below", "base", "per_gib", "cap", "seconds"]),
        st.integers() | st.floats() | st.sampled_from(["5ms", "95%", "1GB/s", "5k", "", "x", "$size", "1e9"]),
    ),
    st.sampled_from(["read.iops", "read.bandwidth", "read.latency.p99", "read.within.1ms", "cpu", "total.iops"]),
)
def test_any_promise_is_finite_or_a_problem(values: dict[str, Any], metric: str) -> None:
    def written(value: Any) -> str:
        return f'"{value}"' if isinstance(value, str) else repr(value)

    text = '[[test]]\nname = "one"\noptions = { size = "1m" }\n[[expect]]\ntest = "one"\n' + f'metric = "{metric}"\n'
    found = read(text + "".join(f"{key} = {written(value)}\n" for key, value in values.items()))
    if isinstance(found, Preset):
        (promise,) = found.expectations
        assert 0 <= promise.promise.value(1000) < float("inf")
        assert promise.promise.value(1000) > 0 and promise.seconds >= 0
    else:
        assert all(problem.key.startswith("expect[1]") for problem in found)
