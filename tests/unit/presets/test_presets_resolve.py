"""Parameters filled in: every value checked by kind and against the options it stands in."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.model.errors import ExitCode, UsageError
from diskprof.model.preset import Category, EngineName, Job, Options, Parameter, ParameterKind, Preset, Test
from diskprof.presets.resolve import fill_in, references, resolve

SIZE = Parameter("size", ParameterKind.SIZE, "1g")
RUNTIME = Parameter("runtime", ParameterKind.DURATION, "4s")
DEPTH = Parameter("depth", ParameterKind.COUNT, "8")
ENGINE = Parameter("engine", ParameterKind.TEXT, "libaio", "", ("libaio", "io_uring"))
RATE = Parameter("rate", ParameterKind.COUNT, "", optional=True)
OPTIONS = (
    ("rw", "randwrite"),
    ("size", "$size"),
    ("runtime", "$runtime"),
    ("iodepth", "$depth"),
    ("ioengine", "$engine"),
    ("rate_iops", "$rate"),
)


def a_preset(*parameters: Parameter, options: Options = OPTIONS, engine: EngineName = EngineName.FIO) -> Preset:
    test = Test("one", "One", engine, (Job("one", options),))
    return Preset("mine", "Mine", "", Category.OWN, "", parameters, (test,))


EVERYTHING = a_preset(SIZE, RUNTIME, DEPTH, ENGINE, RATE)


def options_with(settings: dict[str, str]) -> dict[str, str]:
    return dict(resolve(EVERYTHING, settings).tests[0].jobs[0].options)


def test_defaults_and_settings() -> None:
    assert options_with({}) == {
        "rw": "randwrite",
        "size": str(1 << 30),
        "runtime": "4",
        "iodepth": "8",
        "ioengine": "libaio",
    }
    resolved = resolve(
        EVERYTHING, {"size": " 256MiB ", "runtime": "0.25", "depth": "032", "engine": "io_uring", "rate": "9"}
    )
    assert dict(resolved.values) == {
        "size": "256m",
        "runtime": "250ms",
        "depth": "32",
        "engine": "io_uring",
        "rate": "9",
    }
    assert dict(resolved.tests[0].jobs[0].options)["runtime"] == "250ms"
    assert resolved.preset is EVERYTHING


def test_an_optional_parameter_that_is_empty_leaves_its_option_out() -> None:
    assert "rate_iops" not in options_with({"rate": ""})
    assert options_with({"rate": "100"})["rate_iops"] == "100"
    with pytest.raises(UsageError, match="size="):
        options_with({"size": ""})


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"sise": "1g"}, "no parameter 'sise'"),
        ({"sise": "1g"}, "Did you mean size?"),
        ({"x" * 1000: "1"}, "It has: size, runtime, depth, engine, rate"),
        ({"size": "0"}, "size=0 is out of range"),
        ({"size": "-1"}, "not a size"),
        ({"size": "lots"}, "size=lots"),
        ({"size": "1000"}, "less than one request of 4k"),
        ({"size": "9" * 30}, "out of range"),
        ({"size": "9" * 300}, "too many"),
        ({"runtime": "0"}, "between 0.1 s and 366 d"),
        ({"runtime": "-5"}, "not a duration"),
        ({"runtime": "1e3"}, "not a duration"),
        ({"runtime": "999999999d"}, "out of range"),
        ({"depth": "0"}, "between 1 and 65536"),
        ({"depth": "1000000"}, "between 1 and 65536"),
        ({"depth": "-1"}, "whole number"),
        ({"depth": "3.5"}, "whole number"),
        ({"depth": "٣"}, "whole number"),
        ({"engine": "exec"}, "Choose from libaio, io_uring"),
        ({"engine": "$size"}, "Choose from"),
        ({"rate": "0"}, "out of range"),
    ],
)
def test_a_bad_parameter_is_told_in_words(settings: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(EVERYTHING, settings)
    assert says in str(caught.value)
    assert caught.value.exit_code == ExitCode.USAGE
    assert len(str(caught.value)) < 400


def test_a_value_is_filled_in_once_and_never_read_again() -> None:
    text = Parameter("text", ParameterKind.TEXT, "zipf:1.2")
    preset = a_preset(text, options=(("random_distribution", "$text"), ("size", "1g")))
    for evil in ("$text", "${HOME}", "$ncpus", "`id`", "a --exec_prerun=id", "zipf:1.2\n[global]"):
        with pytest.raises(UsageError):
            resolve(preset, {"text": evil})


def test_dollars() -> None:
    assert fill_in("$a/$b:$$c", {"a": "4k", "b": "60"}) == "4k/60:$c"
    assert references("$a/$b:$$c$a") == ("a", "b")


def test_a_bare_number_means_what_the_option_takes_but_a_duration_keeps_its_unit() -> None:
    pause = Parameter("pause", ParameterKind.DURATION, "10")
    preset = a_preset(pause, options=(("thinktime", "$pause"), ("startdelay", "$pause"), ("size", "1g")))
    options = dict(resolve(preset, {}).tests[0].jobs[0].options)
    assert (options["thinktime"], options["startdelay"]) == ("10000000", "10")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((("size", "1m"), ("bs", "2m")), "less than one request"),
        ((("size", "1m"), ("bssplit", "4k/50:2m/50")), "less than one request of 2m"),
        ((("size", "1m"), ("bsrange", "4k-2m")), "less than one request of 2m"),
        ((("size", "1m"), ("bs", "1000"), ("direct", "1")), "multiples of 512"),
        ((("size", "1m"), ("bssplit", "4096/50:1000/50"), ("direct", "1")), "requests of 1000 bytes"),
        ((("size", "1m"), ("direct", "1"), ("buffered", "1")), "exclude each other"),
        ((("size", "1m"), ("time_based", "1")), "never ends"),
        ((("size", "1m"), ("rate", "1m"), ("rate_iops", "10")), "rate and rate_iops exclude each other"),
        ((("size", "1m"), ("rate_min", "1m"), ("rate_iops_min", "10")), "rate_min and rate_iops_min exclude"),
        ((("size", "1m"), ("rate", "1m"), ("rate_min", "2m")), "rate_min is more than rate"),
        ((("size", "1m"), ("rate_iops", "100,50"), ("rate_iops_min", "60")), "rate_iops_min is more than rate_iops"),
        ((("size", "1m"), ("rate_iops", ",50"), ("rate_iops_min", "60")), "rate_iops_min is more than rate_iops"),
        ((("size", "1t"), ("bs", "1g"), ("iodepth", "65536"), ("ioengine", "libaio")), "memory"),
        ((("size", "1t"), ("bs", "1g"), ("numjobs", "1024")), "memory"),
    ],
)
def test_options_that_cannot_stand_together(options: Options, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(a_preset(options=options), {})
    assert says in str(caught.value)
    assert "test one" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((("work-size", "1k"),), "work-size=1k is less than one request of 4k"),
        ((("work-size", "100k"), ("linear", "1")), "less than one request of 256k"),
        ((("work-size", "4k"), ("size", "8k")), "less than one request of 8k"),
        ((("work-size", "8191"), ("direct", "1")), "direct with work-size=8191"),
        ((("size", "513"), ("direct", "1")), "direct with size=513"),
        ((("work-offset", "100"), ("direct", "1")), "direct with work-offset=100"),
    ],
)
def test_what_ioping_would_refuse_once_it_runs_is_refused_before(options: Options, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(a_preset(options=options, engine=EngineName.IOPING), {})
    assert says in str(caught.value) and "test one" in str(caught.value)


@pytest.mark.parametrize(
    "options", [(("work-size", "4k"),), (("work-size", "4097"),), (("size", "4k"), ("direct", "1"))]
)
def test_what_ioping_takes_is_let_through(options: Options) -> None:
    assert resolve(a_preset(options=options, engine=EngineName.IOPING), {}).tests


def test_a_deep_queue_of_a_synchronous_engine_takes_no_memory() -> None:
    assert resolve(a_preset(options=(("size", "1g"), ("bs", "1m"), ("iodepth", "65536"), ("ioengine", "psync"))), {})


@given(
    st.sampled_from(["size", "runtime", "depth", "engine", "rate"]),
    st.text(max_size=40) | st.integers().map(str) | st.from_regex(r"\A[0-9.]{1,12} ?[kmgtpKMGTPsdhu]{0,3}(iB)?\Z"),
)
def test_any_setting_gives_options_that_are_plain_or_a_usage_error(name: str, value: str) -> None:
    try:
        options = options_with({name: value})
    except UsageError:
        return
    assert all(text.isascii() and text.replace("_", "").isalnum() for text in options.values())
    assert int(options["size"]) >= 4096


@pytest.mark.fio
def test_jobs_that_run_side_by_side_have_results_of_their_own(tmp_path: Path) -> None:
    shared = (("ioengine", "null"), ("size", "1m"))
    jobs = (
        Job("log", (*shared, ("rw", "write"))),
        Job("readers", (*shared, ("rw", "read"), ("numjobs", "3"), ("group_reporting", "1"))),
    )
    preset = Preset("two", "", "", Category.OWN, "", (), (Test("two", "", EngineName.FIO, jobs),))
    words = ["fio", "--output-format=json"]
    for job in resolve(preset, {}).tests[0].jobs:
        words += [f"--name={job.name}", *(f"--{name}={value}" for name, value in job.options)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["jobs"]
    assert [(job["jobname"], job["read"]["total_ios"], job["write"]["total_ios"]) for job in found] == [
        ("log", 0, 256),
        ("readers", 768, 0),
    ]
