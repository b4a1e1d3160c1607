"""`[limit]` of a preset: read, written, refused; and the jobs of trials."""

from pathlib import Path

import pytest

from diskprof.model.errors import UsageError
from diskprof.model.job import FioJob
from diskprof.model.limit import LimitBy, Trial, TrialKind, promises_words
from diskprof.model.preset import Preset
from diskprof.presets.files.fio_text import job_file
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import preset_toml
from diskprof.presets.library import load_library
from diskprof.presets.limit_text import keep_text, limit_text_of, limit_words, parse_limit
from diskprof.presets.limit_trials import searching, spread, trial_job, trial_name, trial_title
from diskprof.presets.resolve import resolve
from diskprof.reports.content.preset_words import time_needed

PRESET = """
name = "slo"
[parameters]
keep = { default = "read.p99<=5ms" }
[limit]
keep = "$keep"
depth = 32
[fio]
rw = "randread"
bs = "4k"
size = "64m"
iodepth = 8
ioengine = "libaio"
direct = true
[[test]]
name = "load"
"""


def read(text: str) -> Preset:
    preset = parse(text.encode(), Path("slo.toml"), shipped=False)
    assert isinstance(preset, Preset), preset
    return preset


def test_the_one_test_is_the_first_trial() -> None:
    resolved = resolve(read(PRESET), {"keep": "read.p99 <= 5ms, read.p99.9<20ms"})
    rule, (test,) = resolved.limit, resolved.tests
    assert rule and promises_words(rule) == "read.p99<=5ms and read.p99.9<20ms"
    assert (rule.by, rule.depth, rule.most_trials, rule.most_s) == (LimitBy.RATE, 32, 12, 90.0)
    assert (test.name, test.title, test.trial) == ("qd32", "4K rand read QD32", Trial(32))
    job = dict(test.load.fio[0].options)
    assert (job["ioengine"], job["numjobs"], job["runtime"], job["ramp_time"]) == ("psync", "32", "4", "250ms")
    assert "iodepth" not in job and "rate_iops" not in job
    assert time_needed(resolved).words == "up to 1 min 30 s"


def test_it_is_written_and_read_back() -> None:
    preset = read(PRESET)
    assert read(preset_toml(preset)).limit == preset.limit == "$keep depth=32"
    rule = parse_limit("read.p99<=5ms write.mean<250us by=depth depth=9 short=2s full=4s trials=5 at_most=1m")
    assert rule and parse_limit(limit_text_of(rule)) == rule
    curved = parse_limit("read.p99<=5ms curve=10")
    assert curved and parse_limit(limit_text_of(curved)) == curved and "at 10 loads" in limit_words(curved)
    assert (curved.longest_s - curved.most_s) == pytest.approx(10 * curved.seconds(Trial(64, 100)))
    several = read(PRESET.replace('"$keep"', '["read.p99<=5ms", "read.max<=1s"]').replace("[parameters]\nkeep =", "#"))
    assert several.limit == "read.p99<=5ms read.max<=1s depth=32"
    assert parse_limit("  ") is None
    assert any("search for the limit" in line for line in job_file(read(PRESET), {}).splitlines())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("by=rate", "no promise"),
        ("read.p99", "'read.p99' is not a promise"),
        ("read.p99<=5", "is not a valid latency"),
        ("read.p99>=5ms", "cannot be broken by more load"),
        ("read.p99<=0ms", "nothing can keep it"),
        ("read.p99<=10ns", "nothing can keep it"),
        ("read.p99<=4s", "no load can break it"),
        ("read.iops<=5000", "does not say which load is too much"),
        ("read.min<=5ms", "does not say which load is too much"),
        ("sync.latency.p99<=5ms", "does not say which load is too much"),
        ("speed<=5ms", "unknown metric"),
        ("p99<=5ms", "p99 of reads or of writes?"),
        ("read.p99<=5ms read.p99<=9ms", "is promised twice"),
        ("read.p99<=5ms by=size", "by=size is not possible"),
        ("read.p99<=5ms depth=1", "depth=1 is not possible"),
        ("read.p99<=5ms depth=1000", "depth=1000 is not possible"),
        ("read.p99<=5ms trials=2", "trials=2 is not possible"),
        ("read.p99<=5ms short=10ms", "short=10ms is not possible"),
        ("read.p99<=5ms short=10s", "full trials are shorter"),
        ("read.p99<=5ms at_most=5s", "too short for three trials"),
        ("read.p99<=5ms short=x", "'x' is not a duration"),
        ("read.p99<=5ms curve=3", "curve=3 is not possible"),
        ("read.p99<=5ms curve=10 by=depth", "a load curve is one of rates"),
        ("read.p99<=5ms colour=red", "is not a valid part"),
        ("read.p99<=5ms depth=8 depth=9", "is given twice"),
    ],
)
def test_what_is_wrong_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=r".") as refused:
        parse_limit(text)
    assert says in refused.value.message and refused.value.hint


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('rw = "randread"', 'rw = "randwrite"', "load does not read"),
        ('rw = "randread"', 'rw = "read"', "is sequential"),
        ("iodepth = 8", 'latency_target = "5ms"\nlatency_window = "1s"\niodepth = 8', "searches by itself"),
        ('libaio"\ndirect', 'psync"\ndirect', ""),
        ('name = "load"', 'name = "load"\n[[test]]\nname = "more"', "is of one test"),
        (
            'name = "load"',
            'name = "load"\n[[test.job]]\nname = "a"\n[[test.job]]\nname = "b"',
            "not a fio test of one job",
        ),
        ("depth = 32", "depth = 32\ncolour = 3", "there is no key 'colour'"),
        ('keep = "$keep"', "", "its promise is missing"),
        ("[limit]", "[sweep]\niodepth = [1, 2]\n[limit]", "is of one test"),
        ("depth = 32", "depth = 32\nby = 'depth'", ""),
        ("depth = 32", "depth = 32\ncurve = 10", ""),
        ('size = "64m"', 'size = "64k"', "size=64k is less than 32 requests of 4k in flight"),
    ],
)
def test_a_test_that_cannot_be_tried_is_a_problem_of_its_file(old: str, new: str, says: str) -> None:
    text = PRESET.replace(old, new)
    if new.startswith("[sweep]"):
        text = text.replace("iodepth = 8\n", "")
    found = parse(text.encode(), Path("slo.toml"), shipped=False)
    if not says:
        assert isinstance(found, Preset), found
        return
    assert not isinstance(found, Preset)
    assert says in found[0].message and found[0].line


def test_by_depth_a_synchronous_engine_has_one_depth() -> None:
    problems = parse(
        PRESET.replace("libaio", "psync").replace("depth = 32\n", "by = 'depth'\n").encode(),
        Path("x.toml"),
        shipped=False,
    )
    assert not isinstance(problems, Preset) and "whose queue depth is always 1" in problems[0].message


def test_no_steady_state_beside_it() -> None:
    with pytest.raises(UsageError, match="searches for a limit"):
        resolve(read(PRESET), {"steady": "read.iops"})


def test_a_rate_is_spread_over_copies_in_whole_numbers() -> None:
    for rate in (3, 50, 100, 500, 1850, 1960, 20_000):
        copies, reads, writes = spread(rate, 64, 0.0)
        assert copies <= 64 and writes == 0 and abs(copies * reads - rate) <= max(1, 0.01 * rate)
        copies, reads, writes = spread(rate, 64, 1.0)
        assert reads == 0 and abs(copies * writes - rate) <= max(1, 0.01 * rate)
    copies, reads, writes = spread(1000, 64, 0.3)
    assert abs(copies * (reads + writes) - 1000) <= 30 and abs(writes / (reads + writes) - 0.3) <= 0.03


def test_the_jobs_of_trials() -> None:
    resolved = resolve(read(PRESET), {})
    rule, (job,) = resolved.limit, resolved.tests[0].load.fio
    assert rule and isinstance(job, FioJob)
    options = dict(trial_job(job, rule, Trial(32, 1000, kind=TrialKind.FULL)).options)
    assert (options["rate_process"], options["runtime"]) == ("poisson", "9")
    assert int(options["numjobs"]) * int(options["rate_iops"]) == pytest.approx(1000, rel=0.01)
    assert dict(trial_job(job, rule, Trial(1)).options)["numjobs"] == "1"
    assert (trial_name(Trial(32, 1000), 1), trial_name(Trial(32, 1000), 2)) == ("rate-1000", "rate-1000-2")
    assert trial_title(trial_job(job, rule, Trial(32, 1000)), Trial(32, 1000), 2) == "4K rand read 1,000/s (2)"
    deep = resolve(read(PRESET.replace("depth = 32", "depth = 32\nby = 'depth'")), {})
    assert deep.limit
    options = dict(trial_job(deep.tests[0].load.fio[0], deep.limit, Trial(7)).options)
    assert (options["ioengine"], options["iodepth"]) == ("libaio", "7") and "numjobs" not in options


def test_any_single_test_can_be_the_load() -> None:
    plain = read(PRESET.replace('[limit]\nkeep = "$keep"\ndepth = 32\n', "").replace("[parameters]\nkeep =", "#"))
    found = resolve(searching(plain, "", "read.p99<=5ms", "depth", 16), {})
    assert found.limit and (found.limit.by, found.limit.depth) == (LimitBy.DEPTH, 16)
    with pytest.raises(UsageError, match="has no test 'other'"):
        searching(plain, "other", "read.p99<=5ms", None, None)
    with pytest.raises(UsageError, match="searches for a limit of its own"):
        searching(read(PRESET), "", "read.p99<=5ms", "rate", None)


def test_no_depth_is_taken_for_another() -> None:
    with pytest.raises(UsageError, match="depth=0 is not possible"):
        resolve(
            searching(
                read(PRESET.replace("depth = 32", "depth = '$depth'").replace("[limit]", "depth = 64\n[limit]")),
                "",
                "read.p99<=5ms",
                None,
                0,
            ),
            {},
        )


def test_a_promise_without_a_value_takes_no_other_word_for_it() -> None:
    for text in ("read.p99<= by=rate", "read.p99 <= write.p99<=5ms", "by=rate read.p99<="):
        with pytest.raises(UsageError, match=r"'read\.p99(<=)?' is not a promise"):
            parse_limit(text)


def test_promises_may_be_typed_together() -> None:
    rule = parse_limit(keep_text(["read.p99 <= 5ms read.p99.9<=9ms", "write.p99<1ms"]))
    assert rule and promises_words(rule) == "read.p99<=5ms and read.p99.9<=9ms and write.p99<1ms"


def test_parameters_of_a_load_that_its_trials_set_are_none_of_the_search() -> None:
    load = load_library().get("oltp-70-30")
    found = resolve(searching(load, "", "read.p99<=5ms", None, None), {"bs": "16k"})
    names = {name for name, _ in found.values}
    assert {"size", "bs"} <= names and not names & {"runtime", "depth", "jobs", "ioengine"}
    deep = searching(load_library().get("vps-randread-qd32"), "", "read.p99<=5ms", "depth", None)
    assert deep.parameter("ioengine") and not deep.parameter("iodepth")
