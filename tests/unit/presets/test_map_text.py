"""`[map]` of a preset: read, written, refused; and the jobs of cells."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from diskprof.model.errors import UsageError
from diskprof.model.limit import Trial, TrialKind
from diskprof.model.preset import Preset
from diskprof.model.read_write_map import MapRule
from diskprof.presets.files.fio_text import job_file
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import preset_toml
from diskprof.presets.library import load_library
from diskprof.presets.map_cells import cell_jobs, map_cell_name, map_cell_title
from diskprof.presets.map_text import map_text_of, map_words, parse_map
from diskprof.presets.resolve import resolve

PRESET = """
name = "mine"
[map]
reads = 4
writes = 3
[fio]
size = "64m"
ioengine = "libaio"
direct = true
[[test]]
name = "writes"
options = { rw = "write", bs = "64k", iodepth = 8 }
[[test]]
name = "reads"
options = { rw = "randread", bs = "8k" }
"""


def read(text: str) -> Preset:
    preset = parse(text.encode(), Path("mine.toml"), shipped=False)
    assert isinstance(preset, Preset), preset
    return preset


def test_its_two_tests_are_the_first_cells() -> None:
    found = resolve(read(PRESET), {})
    rule = found.read_write_map
    assert rule == MapRule(4, 3) and [test.trial for test in found.tests] == [rule.all_writes, rule.all_reads]
    assert [test.title for test in found.tests] == ["64K seq write QD8", "8K rand read QD64"]
    writes, reads = (dict(test.load.fio[0].options) for test in found.tests)
    assert (writes["iodepth"], writes["ioengine"], writes["time_based"]) == ("8", "libaio", "1")
    assert (reads["numjobs"], reads["ioengine"]) == ("64", "psync") and "rate" not in writes


def test_it_is_written_as_it_is_read() -> None:
    preset = read(PRESET)
    assert read(preset_toml(preset)).read_write_map == preset.read_write_map == "reads=4 writes=3"
    rule = MapRule(4, 3, 32, 2.0, 0.25, 60.0)
    assert parse_map(map_text_of(rule)) == rule and parse_map(" ") is None
    assert "at 4 read rates beside 4 write rates" in map_words(rule)
    assert "first cells" in job_file(preset, {})


def test_a_cell_reads_at_a_rate_and_writes_beside_it() -> None:
    found = resolve(read(PRESET), {})
    writer, reader = (test.load.fio[0] for test in found.tests)
    rule = found.read_write_map or MapRule()
    trial = Trial(64, 250, TrialKind.CELL, 2_500_000)
    reads, writes = cell_jobs(writer, reader, rule, trial)
    assert dict(reads.options)["rate_process"] == "poisson" and reads.numjobs * reads.rate_iops[0] == 250
    assert (writes.rate[1], writes.new_group, writes.iodepth) == (2_500_000, True, 8)
    (alone,) = cell_jobs(writer, reader, rule, replace(trial, written=0))
    assert alone.reads_only and (map_cell_name(trial), map_cell_title(trial)) == ("r250-w2500000", "250/s + 2.50 MB/s")
    assert map_cell_title(replace(trial, written=0)) == "250/s, no writes"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("reads = 4", "reads = 1"), "reads=1 is not possible"),
        (("reads = 4", "reeds = 4"), "there is no key 'reeds'"),
        (("writes = 3", 'at_most = "5s"'), "at_most=5 s is too short for three cells"),
        (("writes = 3", 'length = "10ms"'), "length=10ms is not possible"),
        (('rw = "randread"', 'rw = "read"'), "the second reads at random"),
        (('rw = "write"', 'rw = "randrw"'), "the first writes"),
        (('bs = "8k"', 'bs = "8k", latency_target = "5ms"'), "does not search by itself"),
        (("64m", "256k"), "is less than 64 reads of 8k in flight"),
        (("[fio]", "[sweep]\nnumjobs = [1, 2]\n[fio]"), "a map has no sweep"),
    ],
)
def test_what_is_no_map_is_refused_with_what_is_wrong(change: tuple[str, str], said: str) -> None:
    problems = parse(PRESET.replace(*change).encode(), Path("mine.toml"), shipped=False)
    assert not isinstance(problems, Preset) and said in " ".join(map(str, problems))


def test_a_map_waits_for_no_steady_state() -> None:
    with pytest.raises(UsageError, match="draws a map"):
        resolve(load_library().get("read-write-map"), {"steady": "read.iops"})
    with pytest.raises(UsageError, match=r"size=128k is less than 64 reads of 4k"):
        resolve(load_library().get("read-write-map"), {"size": "128k"})
