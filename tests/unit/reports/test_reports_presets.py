"""Promises, sweeps and presets of one's own in words."""

from pathlib import Path

import pytest

from diskprof.model.expectation import Formula, Operator, PresetExpectation
from diskprof.model.metric import parse_metric
from diskprof.model.preset import Preset
from diskprof.presets.files.load import parse
from diskprof.presets.resolve import expand_defaults
from diskprof.reports.content.preset_words import promise_words, writes
from diskprof.reports.data.json_presets import preset_json, resolved_json
from diskprof.reports.render.text_presets import preset_text, presets_table

MIB = 1 << 20


@pytest.mark.parametrize(
    ("metric", "operator", "formula", "words"),
    [
        ("read.iops", ">=", Formula(5000), "reads >= 5,000 IOPS"),
        ("total.iops", ">", Formula(90000), "reads and writes together > 90,000 IOPS"),
        ("write.bandwidth", ">=", Formula(200e6), "writes >= 200 MB/s"),
        ("write.bandwidth", ">=", Formula(1.25e9), "writes >= 1.25 GB/s"),
        ("read.latency.mean", "<", Formula(5e6), "mean read latency < 5 ms"),
        ("read.latency.max", "<=", Formula(1.5e6), "longest read latency <= 1.50 ms"),
        ("write.latency.p99.9", "<", Formula(250e3), "99.9th percentile of write latency < 250 us"),
        ("sync.latency.p50", "<", Formula(1e9), "median fsync latency < 1 s"),
        ("read.within.250us", ">=", Formula(0.95), "reads within 250 us >= 95%"),
        ("cpu", "<=", Formula(90), "CPU use <= 90%"),
        ("read.iops", ">=", Formula(1200, 30, 20000), "reads >= min(1,200 + 30 x GiB, 20,000) IOPS"),
        ("read.iops", ">=", Formula(0, 0.5), "reads >= (0 + 0.5 x GiB) IOPS"),
        ("read.bandwidth", ">=", Formula(50e6, 0.15e6, 160e6), "reads >= min(50 + 0.15 x GiB, 160) MB/s"),
        (
            "read.bandwidth",
            ">=",
            Formula(80 * MIB, MIB / 2, 300 * MIB),
            "reads >= min(80 + 0.5 x GiB, 300) MiB/s",
        ),
        ("read.bandwidth", ">=", Formula(30 * MIB), "reads >= 30 MiB/s"),
        (
            *("read.iops", ">=", Formula(1200, 30, 9600, ((2560, 16),))),
            "reads >= min(1,200 + 30 x GiB, 2,560 + 16 x GiB, 9,600) IOPS",
        ),
        ("read.latency.p99", ">=", Formula(1e6, 1e3), "99th percentile of read latency >= (1 + 0.001 x GiB) ms"),
    ],
)
def test_a_promise_in_words(metric: str, operator: str, formula: Formula, words: str) -> None:
    assert promise_words(PresetExpectation("t", parse_metric(metric), Operator(operator), formula)) == words


def mine(text: str) -> Preset:
    preset = parse(text.encode(), Path("/home/me/mine.toml"), shipped=False)
    assert isinstance(preset, Preset), preset
    return preset


def test_promises_stand_under_their_conditions_in_the_order_of_the_choices() -> None:
    preset = mine(
        '[parameters]\ntier = { default = "b", choices = ["a", "b"] }\nsize = "1m"\n'
        '[[test]]\nname = "t"\noptions = { size = "$size" }\n'
        '[[expect]]\ntest = "t"\nmetric = "read.iops"\nwhen = { tier = "b" }\nmin = 2\n'
        '[[expect]]\ntest = "t"\nmetric = "read.iops"\nwhen = { tier = "a" }\nmin = 1\n'
        '[[expect]]\ntest = "t"\nmetric = "read.latency.p99"\nmax = "5ms"\nseconds = 5\n'
    )
    text = preset_text(preset)
    expected = text.partition("Expected\n")[2].partition("\n\nTests")[0].splitlines()
    assert expected == [
        "  t: 99th percentile of read latency <= 5 ms, measured for at least 5 s",
        "",
        "With tier a",
        "  t: reads >= 1 IOPS, measured for at least 1 min",
        "",
        "With tier b (the default)",
        "  t: reads >= 2 IOPS, measured for at least 1 min",
    ]


def test_a_preset_too_large_for_this_machine_is_still_shown() -> None:
    preset = mine(
        "[variants.larger]\ndepth = 65536\n[parameters]\ndepth = 32768\n"
        '[[test]]\nname = "t"\noptions = { size = "1t", bs = "1g", ioengine = "libaio", iodepth = "$depth" }\n'
    )
    assert "QD32768" in " ".join(preset_text(preset).split()) and "mine" in presets_table([preset])
    assert resolved_json(preset)["variants"][0]["settings"] == {"depth": "65536"}
    assert preset_json(preset)["expectations"] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ('rw = "randrw", rate_iops = "700,300"', "at most 700 reads and 300 writes a second"),
        ('rw = "rw", rate_iops = "50"', "at most 50 reads and 50 writes a second"),
        ('rw = "randrw", rate_iops = "700,"', "at most 700 reads a second"),
        ('rw = "randrw", rate = ",1m"', "at most 1 MiB written a second"),
        ('rw = "randrw", rate = "2m,1m"', "at most 2 MiB read and 1 MiB written a second"),
        ('rw = "read", rate_iops = "700,300"', "at most 700 requests a second"),
        ('rw = "write", rate_iops = "700,300"', "at most 300 requests a second"),
        ('rw = "write", rate = "2m"', "at most 2 MiB a second"),
        ('rw = "randread", rate_iops = ",300"', ""),
        ('rw = "randread", rate_iops = ","', ""),
    ],
)
def test_a_limit_in_words(options: str, words: str) -> None:
    text = preset_text(mine(f'[[test]]\nname = "t"\noptions = {{ size = "1m", {options} }}\n'))
    sentence = " ".join(text.split())
    assert words in sentence and ("a second" in sentence) == bool(words)


def test_a_sweep_of_the_pattern_writes_if_any_cell_does() -> None:
    text = '[sweep]\nrw = ["randread", "randwrite"]\n[[test]]\nname = "t"\noptions = { size = "1m" }\n'
    either, neither = mine(text), mine(text.replace(', "randwrite"', ""))
    assert writes(expand_defaults(either)) and not writes(expand_defaults(neither))
    assert "Sweep     1 cell: rw randread" in preset_text(mine(text.replace(', "randwrite"', "")))


def test_a_long_default_and_a_long_summary_fit_the_screen() -> None:
    mix = "512/5:1k/5:2k/5:4k/5:8k/5:16k/5:32k/5:64k/5:128k/60"
    preset = mine(
        f'[parameters]\nmix = {{ kind = "text", default = "{mix}", summary = "{"a word " * 40}" }}\n'
        '[[test]]\nname = "t"\noptions = { size = "1m", bssplit = "$mix" }\n'
    )
    parameters = preset_text(preset, 80).partition("Parameters")[2].partition("Tests")[0]
    assert max(map(len, parameters.splitlines())) <= 80
