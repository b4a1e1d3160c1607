"""Sweeps: which cells there are, how they are called, and what cannot be swept."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preset_files import good, problems

from diskprof.model.errors import UsageError
from diskprof.model.preset import Axis
from diskprof.presets.files.preset_schema import TEST_NAME
from diskprof.presets.options.allowed import FIO_OPTIONS
from diskprof.presets.options.values import OptionKind
from diskprof.presets.resolve import resolve
from diskprof.presets.sweep import LONGEST_NAME, cell_name, cells, short

GOOD = """\
name = "mine"

[parameters]
size = "64m"
deepest = { kind = "count", default = 64 }
block = { kind = "size", default = "" }

[sweep]
bs = ["4096", "64k", "$block"]
iodepth = [1, "0x8", "$deepest"]

[fio]
ioengine = "libaio"
size = "$size"

[[test]]
name = "reads"
title = "Random read"
options = { rw = "randread" }

[[test]]
name = "both"
[[test.job]]
name = "a"
options = { rw = "read" }
[[test.job]]
name = "b"
options = { rw = "write" }

[[expect]]
test = "reads-64k-qd64"
metric = "read.iops"
min = 100
""".replace('"0x8"', "8")


def test_each_test_once_for_each_combination_in_rows() -> None:
    resolved = resolve(good(GOOD), {})
    rows = [f"{bs}-qd{depth}" for bs in ("4k", "64k") for depth in (1, 8, 64)]
    assert [test.name for test in resolved.tests] == [f"{name}-{cell}" for name in ("reads", "both") for cell in rows]
    # The value of an empty parameter is left out.
    assert resolved.sweep == (Axis("bs", ("4k", "64k")), Axis("iodepth", ("1", "8", "64")))
    reads = resolved.tests[1]
    assert reads.cell == (("bs", "4k"), ("iodepth", "8"))
    assert reads.title == "4K rand read buffered QD8 (Random read)"
    (job,) = reads.jobs
    assert job.name == reads.name
    assert dict(job.options).items() >= {"rw": "randread", "bs": "4096", "iodepth": "8", "size": str(64 << 20)}.items()


def test_every_job_of_a_test_gets_the_values_and_keeps_its_name() -> None:
    last = resolve(good(GOOD), {}).tests[-1]
    assert last.name == "both-64k-qd64"
    assert [job.name for job in last.jobs] == ["a", "b"]
    assert all(dict(job.options)["iodepth"] == "64" for job in last.jobs)
    assert dict(last.jobs[1].options)["new_group"] == "1"


def test_parameters_among_the_values() -> None:
    resolved = resolve(good(GOOD), {"deepest": "16", "block": "1m"})
    assert resolved.sweep == (Axis("bs", ("4k", "64k", "1m")), Axis("iodepth", ("1", "8", "16")))
    assert len(resolved.tests) == 18
    for settings, says in (
        ({"deepest": "8"}, "deepest=8: the sweep has iodepth=8 twice"),
        ({"deepest": "0"}, "deepest=0: iodepth=0 is out of range"),
        ({"block": "65536"}, "the sweep has bs=64k twice"),
        ({"block": "128m"}, "reads-128m-qd1"),
    ):
        with pytest.raises(UsageError) as caught:
            resolve(good(GOOD), settings)
        assert says in caught.value.message


def test_a_preset_that_is_no_sweep_has_no_cells() -> None:
    preset = good('[[test]]\nname = "one"\noptions = { size = "1m" }\n')
    resolved = resolve(preset, {})
    assert not resolved.sweep and [(test.name, test.cell) for test in resolved.tests] == [("one", ())]


def test_names_of_cells() -> None:
    cell = (
        ("bs", "4096"),
        ("rw", "randwrite"),
        ("ioengine", "io_uring"),
        ("iodepth", "16"),
        ("numjobs", "1"),
        ("rate_iops", "700,300"),
        ("random_distribution", "zipf:1.2"),
        ("size", str(1 << 30)),
        ("fdatasync", "1"),
    )
    name = cell_name("t", cell)
    assert name == "t-4k-randwrite-io_uring-qd16-jobs1-rate_iops700_300-random_distributionzipf_1_2-size1g-fdatasync1"
    assert short(cell)[0] == ("bs", "4k")


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        ('bs = ["4096"', 'bs = "4k"\nfsync = ["1"', "sweep.bs", "must be a list"),
        ('bs = ["4096", "64k", "$block"]', "bs = []", "sweep.bs", "at least one"),
        ('"64k"', "[4096]", "sweep.bs[2]", "must be a text, a number"),
        ('"64k"', '"4k"', "sweep.bs[2]", "4k is there before"),
        ('"64k"', '"64 apples"', "sweep.bs[2]", "not a size"),
        ('"64k"', '"$blok"', "sweep.bs[2]", "Did you mean $block?"),
        ('"64k"', '"$"', "sweep.bs[2]", "is not a parameter"),
        ('"64k"', '"$block"', "sweep.bs[3]", "nothing is there before"),
        ('"64k"', '"128m"', "test[1]", "less than one request"),
        ("iodepth = [1", "iodepth = [0", "sweep.iodepth[1]", "between 1 and 65536"),
        ("iodepth = [1", "iodept = [1", "sweep.iodept", "Did you mean iodepth"),
        ("iodepth = [1", "filename = ['/etc/passwd']\niodepth = [1", "sweep.filename", "the target is chosen"),
        ("iodepth = [1", "exec_prerun = ['id']\niodepth = [1", "sweep.exec_prerun", "runs a program"),
        ("iodepth = [1", "ioengine = ['exec']\niodepth = [1", "fio.ioengine", "the sweep sets ioengine"),
        ('size = "$size"', 'size = "$size"\nbs = "8k"', "fio.bs", "the sweep sets bs: leave it out here"),
        ('rw = "write"', 'rw = "write", iodepth = 4', "test[2].job[2].options.iodepth", "the sweep sets iodepth"),
        ("iodepth = [1", "fsync = [1]\nrwmixread = [1]\nloops = [1]\niodepth = [1", "sweep", "5 options are too many: at most 4"),
        ("iodepth = [1", f"randseed = {list(range(84))}\niodepth = [1", "sweep", "2268 cells are too many: at most 1000"),
        ('name = "both"', 'name = "both"\nengine = "ioping"\n[[test]]\nname = "x"', "test[2]", "ioping test cannot be swept"),
        ('name = "reads"', f'name = "{"r" * 60}"', "test[1]", "more than 64 characters"),
        ('test = "reads-64k-qd64"', 'test = "reads"', "expect[1].test", "name one of its cells, such as reads-4k-qd1"),
        ('test = "reads-64k-qd64"', 'test = "reads-64k-qd6"', "expect[1].test", "did you mean reads-64k-qd64?"),
        ('metric = "read.iops"', 'metric = "write.iops"', "expect[1].metric", "never writes"),
    ],
)  # fmt: skip
def test_what_cannot_be_swept_is_named_with_its_key(old: str, new: str, key: str, says: str) -> None:
    assert old in GOOD
    problem = problems(GOOD.replace(old, new, 1))[0]
    assert (problem.key, says in problem.message) == (key, True), problem
    assert problem.line is not None and len(str(problem)) < 600


def test_cells_that_would_have_one_name() -> None:
    # A test may be called as another one's cell is.
    text = '[sweep]\nbs = ["4k", "8k"]\n[fio]\nsize = "1m"\n[[test]]\nname = "a"\n[[test]]\nname = "a-4k"\n'
    assert good(text)
    text = text.replace('bs = ["4k", "8k"]', 'random_distribution = ["zipf:2.1", "zipf:2:1"]')
    assert [(problem.key, problem.line) for problem in problems(text)] == [("test[1]", 5), ("test[2]", 7)]
    assert "two cells of the sweep would be named a-random_distributionzipf_2_1" in problems(text)[0].message


def test_a_sweep_of_the_pattern_reads_and_writes() -> None:
    text = (
        '[sweep]\nrw = ["randread", "randwrite"]\n[fio]\nsize = "1m"\n[[test]]\nname = "t"\n'
        '[[expect]]\ntest = "t-randwrite"\nmetric = "write.iops"\nmin = 1\n'
    )
    assert good(text)
    assert "never reads" in problems(text.replace("write.iops", "read.iops"))[0].message


VALUES = {
    "bs": st.integers(1, 64).map(lambda number: f"{number * 512}"),
    "iodepth": st.integers(1, 200).map(str),
    "numjobs": st.integers(1, 16).map(str),
    "rw": st.sampled_from(FIO_OPTIONS["rw"].choices),
    "rwmixread": st.integers(0, 100).map(str),
    "rate_iops": st.integers(1, 9999).map(str) | st.just("700,300"),
    "thinktime": st.integers(0, 10**6).map(str),
    "sync": st.sampled_from(("0", "1", "dsync")),
    "random_distribution": st.sampled_from(("random", "zipf:1.2", "pareto:0.2", "normal:50")),
}


@given(st.data())
def test_any_sweep_has_every_combination_once_under_a_name_of_its_own(data: st.DataObject) -> None:
    options = data.draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3, unique=True))
    axes = {name: data.draw(st.lists(VALUES[name], min_size=1, max_size=5, unique=True)) for name in options}
    text = "[sweep]\n" + "".join(f"{name} = {values}\n" for name, values in axes.items())
    text += '[fio]\nsize = "64m"\n[[test]]\nname = "a"\n[[test]]\nname = "b"\n'
    tests = resolve(good(text), {}).tests
    assert len({test.name for test in tests}) == len(tests) == 2 * len(list(product(*axes.values())))
    assert all(re.fullmatch(TEST_NAME, test.name) and len(test.name) <= LONGEST_NAME for test in tests)
    assert [tuple(name for name, _ in test.cell) for test in tests] == [tuple(options)] * len(tests)
    found = [tuple(dict(test.jobs[0].options)[name] for name in options) for test in tests[: len(tests) // 2]]
    assert found == list(product(*axes.values()))


def test_every_allowed_option_can_be_swept() -> None:
    samples = {
        OptionKind.SIZE: "8192",
        OptionKind.SIZE_RANGE: "4k-64k",
        OptionKind.SIZE_SPLIT: "4k/60:64k/40",
        OptionKind.DURATION: "2",
        OptionKind.MICROSECONDS: "2",
        OptionKind.COUNT: "2",
        OptionKind.REAL: "99.5",
        OptionKind.BOOLEAN: "false",
        OptionKind.DISTRIBUTION: "zipf:1.2",
        OptionKind.FILE_ORDER: "random:8",
    }
    for name, spec in FIO_OPTIONS.items():
        value = spec.choices[0] if spec.kind is OptionKind.CHOICE else samples[spec.kind]
        (test,) = resolve(good(f'[sweep]\n{name} = ["{value}"]\n[[test]]\nname = "a"\n'), {}).tests
        assert test.cell[0][0] == name and re.fullmatch(TEST_NAME, test.name), test


def test_no_axis_is_one_cell() -> None:
    assert cells(()) == ((),)
