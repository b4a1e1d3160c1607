"""What may be tuned in a preset of one job beside the parameters that it names."""

from pathlib import Path

import pytest

from diskprof.model.errors import UsageError
from diskprof.model.preset import Preset
from diskprof.presets.files.load import parse
from diskprof.presets.resolve import resolve

ONE = """
[parameters]
size = "1g"
runtime = "30s"
[[test]]
name = "a"
options = { rw = "randread", size = "$size", runtime = "$runtime", bs = "4k", iodepth = 32, ioengine = "libaio" }
"""


def loaded(text: str) -> Preset:
    preset = parse(text.encode(), Path("own.toml"), shipped=False)
    assert isinstance(preset, Preset), preset
    return preset


def options(preset: Preset, **settings: str) -> dict[str, str]:
    return dict(resolve(preset, settings).tests[0].jobs[0].options)


def test_left_alone_the_job_is_as_it_was_written() -> None:
    assert options(loaded(ONE)) == {
        "rw": "randread",
        "size": str(2**30),
        "runtime": "30",
        "bs": "4096",
        "iodepth": "32",
        "ioengine": "libaio",
    }


def test_block_size_depth_jobs_and_engine_can_be_changed() -> None:
    tuned = options(loaded(ONE), bs="64k", iodepth="1", numjobs="4", ioengine="io_uring")
    assert (tuned["bs"], tuned["iodepth"], tuned["numjobs"], tuned["ioengine"]) == ("65536", "1", "4", "io_uring")


def test_what_the_preset_ties_to_a_parameter_of_its_own_stays_with_it() -> None:
    preset = loaded(
        ONE.replace('runtime = "30s"', 'runtime = "30s"\ndepth = 8').replace("iodepth = 32", 'iodepth = "$depth"')
    )
    assert [parameter.name for parameter in preset.parameters if "depth" in parameter.name] == ["depth"]


def test_of_several_jobs_and_sweeps_only_what_all_have_alike_can_be_changed() -> None:
    several = loaded(ONE + '[[test]]\nname = "b"\noptions = { rw = "read", size = "$size" }\n')
    swept = loaded(ONE.replace(", iodepth = 32", "") + "[sweep]\niodepth = [1, 2]\n")
    assert [parameter.name for parameter in several.parameters] == ["size", "runtime", "direct"]
    assert [parameter.name for parameter in swept.parameters] == ["size", "runtime", "ioengine", "direct"]


def test_any_option_that_all_jobs_have_alike_can_be_set_but_the_pattern() -> None:
    preset = loaded(ONE.replace('rw = "randread"', 'rw = "randrw", rwmixwrite = 50, norandommap = true'))
    assert "norandommap" not in [parameter.name for parameter in preset.parameters]
    tuned = options(preset, rwmixread="70", norandommap="0")
    assert (tuned["rwmixread"], tuned["norandommap"]) == ("70", "0") and "rwmixwrite" not in tuned
    assert dict(resolve(preset, {"rwmixread": "70"}).values)["rwmixread"] == "70"
    with pytest.raises(UsageError, match="whole number"):
        options(preset, rwmixread="x")
    with pytest.raises(UsageError, match="no parameter 'rw'") as caught:
        options(preset, rw="read")
    assert "Of its jobs can be set: norandommap, rwmixwrite." in str(caught.value.hint)


def test_jobs_of_several_tests_take_an_option_that_they_have_alike() -> None:
    several = loaded(ONE + '[[test]]\nname = "b"\noptions = { rw = "read", size = "$size", bs = "1m", iodepth = 32 }\n')
    tests = resolve(several, {"iodepth": "4"}).tests
    assert [job.iodepth for test in tests for job in test.load.fio] == [4, 4]
    with pytest.raises(UsageError, match="no parameter 'bs'"):
        resolve(several, {"bs": "8k"})
