"""The formats of other programs, read back: by their own parsers, else by strict ones made from their grammars."""

import json
import random
import re
import shlex
import shutil
import string
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from handmade import direction, environment, fio, latency, run
from hostile import HOSTILE, dangers
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, RootModel, TypeAdapter

from diskprof.analysis.arms import Arm
from diskprof.analysis.metrics import Better
from diskprof.model.advice import on_command_line, on_screen
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.expectation import Expectation, Operator
from diskprof.model.histogram import Histogram
from diskprof.model.metric import parse_metric
from diskprof.model.run import Finding, Run, Status, TestResult, Weight
from diskprof.reports.data.benchmark import benchmark_json, bmf_json
from diskprof.reports.data.gobench import gobench
from diskprof.reports.data.hgrm import hgrm, hgrm_files
from diskprof.reports.data.junit import junit
from diskprof.reports.data.openmetrics import openmetrics
from diskprof.reports.formats import FORMATS, Format, format_of, write

DOUBT = Finding("other-io", Weight.DOUBT, "Other I/O.", "e", "a", test="randread")
HISTOGRAM = Histogram.of_latencies([round(50_000 * 1.01**step) for step in range(700) for _ in range(1 + 700 - step)])


def with_doubt(iops: float = 5_000, *, run_id: str = "aaaa2222", **more: Any) -> Run:
    """A run with a doubt, an fsync latency, a test that failed, and expectations of both kinds."""
    given = fio(read=direction(iops, histogram=HISTOGRAM))
    writes = fio("log", rw="write", write=direction(iops / 2))
    assert writes.result
    writes = replace(writes, result=replace(writes.result, sync=latency(2e6)))
    made = run(given, writes, fio("broken", status=Status.FAILED, reason="I/O error"), run_id=run_id, **more)
    expected = (
        Expectation("randread", parse_metric("read.iops"), Operator.AT_LEAST, 4_000.0),
        Expectation("randread", parse_metric("read.latency.p99"), Operator.AT_MOST, 1.0),
        Expectation("broken", parse_metric("read.iops"), Operator.AT_LEAST, 1.0),
    )
    return replace(made, plan=replace(made.plan, expectations=expected), findings=(DOUBT,))


def named(name: str) -> Run:
    """A run with this for every name that is foreign."""
    made = run(
        fio(name or "x", read=direction(100, histogram=HISTOGRAM)), environment=environment(hostname=name, kernel=name)
    )
    target = replace(made.plan.target, path=name)
    finding = Finding(name, Weight.DOUBT, name, name, name, test=name or "x")
    return replace(made, plan=replace(made.plan, preset=name, target=target), findings=(finding,), reason=name)


def hostile_names(count: int) -> Iterator[str]:
    yield from (
        HOSTILE,
        "",
        " ",
        '"',
        "\\",
        'a"b\\',
        "a\nb",
        "\\n",
        "x}",
        "a,b=c d",
        "é ✓ 日本",
        "\ud800",
        "-1",
        "ŉ",
        "#",
        "'",
    )
    letters = string.printable + "\"\\\n'{},=# /é✓\u2028\ud800\ufffe\x00\x1b"
    some = random.Random(7)
    yield from ("".join(some.choices(letters, k=some.randrange(1, 12))) for _ in range(count))


# OpenMetrics


def families(text: str) -> dict[str, Any]:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    return {family.name: family for family in text_string_to_metric_families(text)}


@pytest.mark.needs("prometheus_client")
def test_openmetrics_are_what_their_own_parser_reads() -> None:
    made = with_doubt()
    found = families(openmetrics([made]))
    assert all(family.type == "gauge" and family.documentation for family in found.values())
    values = {(s.name, *sorted(s.labels.items())): s.value for family in found.values() for s in family.samples}
    where = (("direction", "read"), ("preset", "own"), ("target", "/mnt/data"), ("test", "randread"))
    read = made.tests[0].result and made.tests[0].result.read
    assert read and read.latency.p99
    assert values["diskprof_test_iops", *where] == read.iops
    assert values["diskprof_test_bandwidth_bytes_per_second", *where] == read.bandwidth_bytes_per_s
    quantile = (*where[:2], ("quantile", "0.99"), *where[2:])
    assert values["diskprof_test_latency_seconds", *quantile] == read.latency.p99 / 1e9
    sync = (("direction", "sync"), *where[1:3], ("test", "log"))
    assert values["diskprof_test_latency_mean_seconds", *sync] == 2e-3
    # A doubt, a failure, a promise kept and one broken can be seen; what could not be judged is not there.
    assert values["diskprof_run_doubts", *where[1:3]] == 1
    doubted = [s.labels for s in found["diskprof_finding"].samples]
    assert [(each["finding"], each["weight"], each["test"]) for each in doubted] == [("other-io", "doubt", "randread")]
    assert [s.value for s in found["diskprof_test_complete"].samples] == [1, 1, 0]
    assert [s.value for s in found["diskprof_expectation_met"].samples] == [1, 0]
    assert found["diskprof_test_latency_seconds"].unit == "seconds"


@pytest.mark.needs("prometheus_client")
def test_openmetrics_of_several_runs_have_the_runs_apart() -> None:
    found = families(openmetrics([with_doubt(), with_doubt(6_000, run_id="bbbb3333")]))
    read = [s for s in found["diskprof_test_iops"].samples if s.labels["test"] == "randread"]
    assert [(s.labels["run"], s.value) for s in read] == [("aaaa2222", 5_000), ("bbbb3333", 6_000)]


@pytest.mark.needs("prometheus_client")
def test_openmetrics_can_be_read_as_the_form_of_the_textfile_collector() -> None:
    """It takes no times, no type that Prometheus' older form lacks, and no metric twice."""
    from prometheus_client.parser import text_string_to_metric_families

    text = openmetrics([with_doubt(), with_doubt(run_id="bbbb3333")])
    found = list(text_string_to_metric_families(text))
    assert {family.type for family in found} == {"gauge"}
    samples = [(s.name, tuple(s.labels.items())) for family in found for s in family.samples]
    assert len(samples) == len(set(samples)) == sum(not line.startswith("#") for line in text.splitlines())
    assert all(s.timestamp is None for family in found for s in family.samples)


def test_openmetrics_are_a_metrics_report_of_gitlab() -> None:
    """As GitLab reads one: what stands before the last blank outside of quotes, and the figure after it."""
    lines = [re.sub(r"#.*$", "", line) for line in openmetrics([with_doubt()]).splitlines()]
    found = [shlex.split(line) for line in lines if line.strip()]
    assert all(len(words) == 2 and float(words[1]) >= 0 for words in found)
    assert len({name for name, _ in found}) == len(found)


# github-action-benchmark, Bencher


class Entry(BaseModel):
    """A benchmark as github-action-benchmark takes it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: str = Field(min_length=1)
    unit: str
    value: float
    range: str | None = None
    extra: str | None = None


class Metric(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    value: float
    lower_value: float | None = None
    upper_value: float | None = None


class Measures(RootModel[dict[str, Metric]]):
    """Bencher's measures of a benchmark by their slugs, 64 characters at most."""


def entries(runs: list[Run], better: Better = Better.HIGHER) -> dict[str, Entry]:
    found = TypeAdapter(list[Entry]).validate_json(benchmark_json(runs, better))
    by_name = {entry.name: entry for entry in found}
    assert len(by_name) == len(found)
    return by_name


def bencher(runs: list[Run]) -> dict[str, dict[str, Metric]]:
    found = TypeAdapter(dict[str, Measures]).validate_json(bmf_json(runs))
    slugs = {slug for measures in found.values() for slug in measures.root}
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) and len(slug) <= 64 for slug in slugs)
    return {name: measures.root for name, measures in found.items()}


def test_what_a_tracker_reads_has_every_figure_of_a_complete_test_one_way_each() -> None:
    higher, lower = entries([with_doubt()]), entries([with_doubt()], Better.LOWER)
    assert {name.rpartition(" ")[2] for name in higher} == {"IOPS", "bandwidth"}
    assert all(" latency " in name and entry.unit == "ns" for name, entry in lower.items())
    read = higher["own/randread read IOPS"]
    assert (read.value, read.unit, read.range) == (5_000, "IOPS", None)
    assert read.extra == "run aaaa2222\nin doubt: other I/O on the disk"
    assert lower["own/log sync latency mean"].value == 2e6
    assert not any("broken" in name for name in (*higher, *lower))
    found = bencher([with_doubt()])
    assert list(found) == ["own/randread read", "own/log write", "own/log sync"]
    assert found["own/randread read"]["throughput"] == Metric(value=5_000)
    assert found["own/log sync"]["latency"] == Metric(value=2e6)


def test_several_runs_are_their_median_and_range() -> None:
    runs = [with_doubt(iops, run_id=f"aaaa222{n}") for n, iops in enumerate((5_000, 5_300, 5_100))]
    read = entries(runs)["own/randread read IOPS"]
    assert (read.value, read.range) == (5_100, "5000 to 5300")
    assert read.extra and "median of 3 runs: aaaa2220 aaaa2221 aaaa2222" in read.extra
    metric = bencher(runs)["own/randread read"]["throughput"]
    assert metric == Metric(value=5_100, lower_value=5_000, upper_value=5_300)


def test_each_tag_has_entries_of_its_own() -> None:
    runs = [with_doubt(iops, run_id=f"aaaa222{n}") for n, iops in enumerate((5_000, 5_200, 6_000))]
    found = TypeAdapter(dict[str, Measures]).validate_json(
        bmf_json([Arm(tuple(runs[:2]), "before"), Arm(tuple(runs[2:]), "after")])
    )
    assert found["own/randread read (before)"].root["throughput"].value == 5_100
    assert found["own/randread read (after)"].root["throughput"] == Metric(value=6_000)
    assert "own/randread read" not in found


def test_runs_on_two_targets_are_not_taken_together() -> None:
    first = with_doubt()
    other = replace(first.plan.target, path="/mnt/other")
    second = replace(first, id="bbbb3333", plan=replace(first.plan, target=other))
    names = [name for name in entries([first, second]) if "randread read" in name and name.endswith("IOPS")]
    assert names == ["own/randread read on /mnt/data IOPS", "own/randread read on /mnt/other IOPS"]
    assert [line for line in gobench([first, second]).splitlines() if line.startswith("target: ")] == [
        "target: /mnt/data",
        "target: /mnt/other",
    ]
    assert "target: " not in gobench([first])


# Go


def parse_go(text: str) -> list[tuple[dict[str, str], str, int, dict[str, float]]]:
    """Configuration, name, iterations and values of each result, by the grammar of Go's proposal 14313. Raises AssertionError."""
    config: dict[str, str] = {}
    found = []
    for line in text.splitlines():
        if re.match(r"Benchmark(?![a-z])", line) and " " in line:
            name, count, *rest = line.split()
            assert len(rest) % 2 == 0 and rest, line
            values = {unit: float(value) for value, unit in zip(rest[::2], rest[1::2], strict=True)}
            assert len(values) == len(rest) // 2
            found.append((dict(config), name, int(count), values))
        elif match := re.fullmatch(r"([^\sA-Z:][^\sA-Z:]*):(?:[ \t]+(.*))?", line):
            config[match[1]] = match[2] or ""
        else:
            assert not line or re.match(r"# |Unit \S+ better=(higher|lower)$", line), line
    return found


def test_go_text_has_a_line_for_each_run_test_and_direction() -> None:
    runs = [with_doubt(iops, run_id=f"aaaa222{n}") for n, iops in enumerate((5_000, 5_300, 5_100))]
    found = parse_go(gobench(runs))
    assert {tuple(config) for config, *_ in found} == {("preset", "parameters")}
    assert len({tuple(config.items()) for config, *_ in found}) == 1
    reads = [(count, values) for _, name, count, values in found if name == "BenchmarkRandread/direction=read"]
    assert [values["IOPS"] for _, values in reads] == [5_000, 5_300, 5_100]
    assert [count for count, _ in reads] == [150_000, 159_000, 153_000]
    assert [values["ns/op"] for _, name, _, values in found if "sync" in name] == [2e6] * 3
    assert len(found) == 9
    assert gobench(runs).count("# In doubt: other I/O on the disk") == 3


@pytest.mark.needs("benchstat")
def test_benchstat_finds_the_medians(tmp_path: Path) -> None:
    given = [4_900 + 10.0 * step for step in range(8)]
    (tmp_path / "runs.txt").write_text(
        gobench([with_doubt(iops, run_id=f"aaaa222{n}") for n, iops in enumerate(given)])
    )
    program = shutil.which("benchstat")
    assert program
    done = subprocess.run(
        [program, "-format", "csv", "runs.txt"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    tables = done.stdout.split("\n\n")
    (iops,) = (table for table in tables if ",IOPS,CI" in table)
    assert f"\nRandread/direction=read,{median(given):g}," in iops
    assert any(",p99-sec/op,CI" in table for table in tables)


# JUnit


@pytest.mark.needs("junitparser")
def test_junit_has_a_case_for_each_test_and_expectation() -> None:
    from junitparser import Error, Failure, JUnitXml, Skipped

    stopped = replace(
        run(fio(status=Status.CANCELLED), fio("next", status=Status.SKIPPED), run_id="cccc4444"),
        status=Status.CANCELLED,
    )
    found = JUnitXml.fromstring(junit([with_doubt(), stopped]).encode())
    first, second = found
    cases = {case.name: case for case in first}
    assert list(cases)[:3] == ["randread", "log", "broken"]
    outcomes = {name: [type(result) for result in case.result] for name, case in cases.items()}
    assert outcomes["randread"] == [] and outcomes["broken"] == [Failure]
    assert cases["broken"].result[0].message == "failed: I/O error"
    assert [outcome for name, outcome in outcomes.items() if " " in name] == [[], [Failure], [Skipped]]
    assert "5,000 IOPS" in cases["randread"].system_out
    assert (first.tests, first.failures, first.errors, first.skipped) == (6, 2, 0, 1)
    assert (found.tests, found.failures, found.errors, found.skipped) == (8, 2, 1, 2)
    assert [[type(result) for result in case.result] for case in second] == [[Error], [Skipped]]
    assert {each.name: each.value for each in first.properties()}["doubts"].startswith("other I/O on the disk")


# HdrHistogram


def parse_hgrm(text: str) -> tuple[list[tuple[float, float, int]], dict[str, float]]:
    """Rows (ms, percentile, count) and what stands at the end, by HdrHistogram's outputPercentileDistribution."""
    head, blank, *lines = text.splitlines()
    assert head.split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"] and not blank
    tail = [line for line in lines if line.startswith("#")]
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert lines[-3:] == tail and [len(row) for row in rows] == [4] * (len(rows) - 1) + [3]
    for _, share, _, inverse in rows[:-1]:
        assert float(inverse) == pytest.approx(1 / (1 - float(share)), rel=1e-2)
    end = {name: float(value) for line in tail for name, value in re.findall(r"(\w[\w ]*?) *= +([\d.]+)", line)}
    return [(float(value), float(share), int(count)) for value, share, count, *_ in rows], end


def test_a_distribution_has_the_percentiles_of_the_histogram() -> None:
    made = run(fio(read=direction(100, histogram=HISTOGRAM, figures=latency(2e5, max=HISTOGRAM.maximum or 0))))
    rows, end = parse_hgrm(hgrm([made]))
    for share in (0.0001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0):
        assert next(value for value, at, _ in rows if at >= share) * 1e6 == pytest.approx(HISTOGRAM.quantile(share))
    assert [each[1] for each in rows] == sorted(each[1] for each in rows)
    assert rows[0][1] == 0 and rows[-1][1:] == (1, HISTOGRAM.total)
    assert end["Total count"] == HISTOGRAM.total and end["Mean"] == pytest.approx(0.2)
    assert end["Max"] == pytest.approx((HISTOGRAM.maximum or 0) / 1e6)


def test_no_percentile_lies_above_the_maximum() -> None:
    most = (HISTOGRAM.maximum or 0) - 100
    made = run(fio(read=direction(100, histogram=HISTOGRAM, figures=latency(2e5, max=most))))
    rows, _ = parse_hgrm(hgrm([made]))
    assert rows[-1][0] == most / 1e6 and max(value for value, *_ in rows) == rows[-1][0]


def test_each_test_and_direction_has_a_file() -> None:
    both = run(
        fio("mixed", rw="randrw", read=direction(10, histogram=HISTOGRAM), write=direction(10, histogram=HISTOGRAM)),
        fio("a b", read=direction(10, histogram=HISTOGRAM)),
        fio("a/b", read=direction(10, histogram=HISTOGRAM)),
        fio("without", read=direction(10)),
    )
    assert list(hgrm_files([both])) == ["mixed-read.hgrm", "mixed-write.hgrm", "a_b-read.hgrm", "a_b-read-2.hgrm"]
    assert list(hgrm_files([both, replace(both, id="b2")]))[4] == "b2-mixed-read.hgrm"
    with pytest.raises(UsageError, match="4 latency distributions") as error:
        hgrm([both])
    assert "-o DIRECTORY/" in on_command_line(error.value.hint) and "-o" not in on_screen(error.value.hint)


# All of them


def test_every_format_is_told_and_can_be_written() -> None:
    assert list(FORMATS) == list(Format)
    for wanted in Format:
        assert write(wanted, [with_doubt()], {}, {}).endswith("\n")
        for suffix in FORMATS[wanted].suffixes:
            assert format_of(Path(f"x{suffix}")) is wanted
    assert format_of(Path("report")) is Format.MARKDOWN
    for name in ("x.xyz", "x.pdf", "x.json"):
        with pytest.raises(UsageError, match=rf"cannot be written as \{Path(name).suffix}"):
            format_of(Path(name))


@pytest.mark.parametrize(
    "wanted", [Format.BENCHMARK, Format.BENCHMARK_LATENCY, Format.BMF, Format.GOBENCH, Format.HGRM]
)
def test_runs_without_results_are_refused_by_name(wanted: Format) -> None:
    with pytest.raises(DiskprofError, match="in k3f7p2qa") as error:
        write(wanted, [run(fio(status=Status.FAILED))], {}, {})
    assert error.value.exit_code == 1 and error.value.hint


@pytest.mark.needs("prometheus_client", "junitparser")
def test_no_name_breaks_a_format() -> None:
    from junitparser import JUnitXml

    for name in hostile_names(120):
        made = named(name)
        metrics = openmetrics([made])
        (sample,) = families(metrics)["diskprof_test_iops"].samples
        assert sample.value == 100 and not dangers(sample.labels["test"])
        if name.isascii() and name.isprintable():
            assert sample.labels["test"] == (name or "x")
        assert len(entries([made])) == 2 and len(bencher([made])) == 1
        assert len(parse_go(gobench([made]))) == 1
        (suite,) = JUnitXml.fromstring(junit([made]).encode())
        assert len(list(suite)) == 1
        (file,) = hgrm_files([made])
        assert re.fullmatch(r"[\w.-]+\.hgrm", file, re.ASCII) and not file.startswith(".")
        for text in (metrics, gobench([made]), junit([made]), json.dumps(json.loads(bmf_json([made])))):
            assert not dangers(text)


def test_a_figure_that_is_no_number_is_left_out() -> None:
    result = direction(100, figures=latency(float("nan"), p99=float("inf")))
    made = run(fio(read=replace(result, iops=float("inf"))))
    assert made.tests[0].result == TestResult(made.tests[0].result.read, None, made.tests[0].result.cpu)  # type: ignore[union-attr]
    for wanted in (Format.OPENMETRICS, Format.BENCHMARK, Format.BENCHMARK_LATENCY, Format.BMF, Format.GOBENCH):
        text = write(wanted, [made], {}, {})
        assert not re.search(r"\b(nan|inf|NaN|Infinity|null)\b", text)
