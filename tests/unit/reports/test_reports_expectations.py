"""Promises in words: every outcome, in text, Markdown, JSON, in a plan and side by side."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from handmade import Given, direction, environment, fio, latency, run
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from recorded import write_volumes

from diskprof.analysis.comparison import compare
from diskprof.analysis.expectations import parse_expectation
from diskprof.model.cells import width_of
from diskprof.model.expectation import Verdict
from diskprof.model.metric import Quantity, parse_metric
from diskprof.model.run import Run, Status
from diskprof.reports import figures
from diskprof.reports.content.expectation_table import kept_sentence, missed_sentence, planned, rows
from diskprof.reports.content.result_sentences import verdict
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_runs import comparison_json, plan_json, run_json
from diskprof.reports.render.markdown import report
from diskprof.reports.render.text import comparison_text, plan_text, show
from diskprof.store import Store
from diskprof.tui.compare.overview_rows import found_overview, overview_form, overview_lines

PROMISED = ("rand-r.read.iops>=5000", "rand-r.read.latency.p99<5ms", "rand-r.write.iops>=1")
EVIL = "\x1b]52;c;x\x07磁盘\n|`<b>*\u202e"


def promising(*texts: str, seconds: float = 0.0, basis: str = "", tests: tuple[Given, ...] = (), **more: Any) -> Run:
    """A run of one test, 4,210 IOPS for 30 s, of which these are expected."""
    tested = run(*(tests or (fio("rand-r", read=direction(4_210, figures=latency(1e6, p99=2e6))),)), **more)
    expected = tuple(
        replace(one, seconds=seconds, basis=basis or one.basis) for one in map(parse_expectation, texts or PROMISED)
    )
    return replace(tested, plan=replace(tested.plan, expectations=expected))


@pytest.fixture(scope="module")
def promises(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    path = tmp_path_factory.mktemp("promises") / "runs.db"
    run_id = write_volumes(path)["promises"]
    with Store.open(path) as store:
        yield store.run(run_id)


def test_a_row_tells_promise_measurement_ratio_and_verdict() -> None:
    first, second, third = rows(promising())
    assert (first.test, first.metric, first.promised, first.basis) == (
        *("rand-r", "read IOPS", ">= 5,000"),
        "from --expect",
    )
    assert (first.measured, first.ratio, first.word, first.verdict) == ("4,210", "84%", "MISSED", Verdict.MISSED)
    assert (second.promised, second.measured, second.ratio, second.word) == ("< 5 ms", "2.00 ms", "40%", "met")
    assert (third.measured, third.ratio, third.word) == ("-", "-", "not measured")


def test_too_short_tells_how_short() -> None:
    (row,) = rows(promising("rand-r.read.iops>=4000", seconds=60))
    assert (row.word, row.note) == ("inconclusive", "30 s: inconclusive, needs 1 min")
    (missed,) = rows(promising("rand-r.read.iops>=5000", seconds=60))
    assert (missed.word, missed.note) == ("MISSED", "")


@pytest.mark.parametrize(
    ("seconds", "status", "promise", "word", "note"),
    [
        (0.0, Status.COMPLETE, 5000, "inconclusive", "measured for less than 1 ms: inconclusive"),
        (0.02, Status.COMPLETE, 4000, "met", "measured for 20 ms only"),
        (0.02, Status.COMPLETE, 5000, "MISSED", "measured for 20 ms only"),
        (1.0, Status.COMPLETE, 4000, "met", ""),
        (12.0, Status.CANCELLED, 4000, "inconclusive", "cancelled after 12 s: inconclusive"),
        (12.0, Status.FAILED, 5000, "MISSED", ""),
    ],
)
def test_a_row_tells_of_a_test_that_hardly_measured(
    seconds: float, status: Status, promise: int, word: str, note: str
) -> None:
    test = fio("rand-r", read=direction(4_210, seconds=seconds), status=status)
    (row,) = rows(promising(f"rand-r.read.iops>={promise}", tests=(test,), status=status))
    assert (row.word, row.note) == (word, note)


def test_too_short_tells_milliseconds() -> None:
    test = fio("rand-r", read=direction(4_210, seconds=0.02))
    (row,) = rows(promising("rand-r.read.iops>=4000", seconds=60, tests=(test,)))
    assert row.note == "20 ms: inconclusive, needs 1 min"


def test_while_a_run_goes_on_nothing_is_missing_yet() -> None:
    going = promising("b.read.iops>=1", tests=(fio("b", status=Status.PENDING),), status=Status.RUNNING)
    assert [row.word for row in rows(going)] == ["not yet"]
    assert [row.word for row in rows(replace(going, status=Status.FAILED))] == ["not measured"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("read.iops", "read IOPS"),
        ("write.bandwidth", "write bandwidth"),
        ("total.iops", "total IOPS"),
        ("total.bandwidth", "total bandwidth"),
        ("read.latency.mean", "read latency mean"),
        ("write.latency.p99.9", "write latency p99.9"),
        ("sync.latency.p99", "fsync latency p99"),
        ("read.within.250us", "reads within 250 us"),
        ("cpu", "CPU use"),
    ],
)
def test_metrics_in_words(name: str, words: str) -> None:
    assert figures.promised_metric(parse_metric(name)) == words


@pytest.mark.parametrize(
    ("quantity", "promised", "measured", "words"),
    [
        (Quantity.IOPS, 5000, 5126.4, ("5,000", "5,126")),
        (Quantity.IOPS, 5000, 4999.6, ("5,000", "4,999.6")),
        (Quantity.IOPS, 5000, 5000, ("5,000", "5,000")),
        (Quantity.IOPS, 0.5, 0.25, ("0.5", "0.25")),
        (Quantity.BANDWIDTH, 200e6, 199.96e6, ("200 MB/s", "199.96 MB/s")),
        (Quantity.BANDWIDTH, 1.5e9, 820e3, ("1.5 GB/s", "820 kB/s")),
        (Quantity.LATENCY, 5e6, 476_000, ("5 ms", "476 us")),
        (Quantity.LATENCY, 5e6, 5_000_100, ("5 ms", "5.0001 ms")),
        (Quantity.SHARE, 0.95, 0.925, ("95%", "92.5%")),
        (Quantity.SHARE, 0.99, 0.99997, ("99%", "99.99%")),
        (Quantity.CPU, 90, 63.2, ("90%", "63.2%")),
        (Quantity.IOPS, 5000, None, ("5,000", "-")),
        (Quantity.LATENCY, 0, 0.0, ("0 ns", "0.00 ns")),
    ],
)
def test_a_promise_and_its_measurement_are_told_apart(
    quantity: Quantity, promised: float, measured: float | None, words: tuple[str, str]
) -> None:
    assert figures.amounts(quantity, promised, measured) == words


@given(st.sampled_from(Quantity), st.floats(1e-3, 1e12), st.floats(1e-3, 1e12))
def test_what_differs_by_more_than_a_millionth_looks_different(quantity: Quantity, promised: float, got: float) -> None:
    shown = figures.amounts(quantity, promised, got)
    if abs(promised - got) > 2e-6 * max(promised, got) and min(promised, got) > 1:
        assert shown[0] != shown[1]


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        *((0.0, "0%"), (0.004, "0.4%"), (0.84, "84%"), (0.9996, "99.96%"), (0.999999, "99.99%"), (1.0, "100%")),
        *((1.000001, "100.01%"), (1.02, "102%"), (12.5, "x12.5"), (1234.0, "x1234"), (None, "-")),
    ],
)
def test_a_ratio_is_never_rounded_to_all(ratio: float | None, words: str) -> None:
    assert figures.promised_ratio(ratio) == words


def test_the_verdict_mentions_a_missed_promise_first() -> None:
    words = verdict(promising())
    assert words.startswith(
        "Missed 1 of 3 expectations: rand-r read IOPS 4,210 (>= 5,000; 84%). Random 4 KiB reads: 4.21k IOPS"
    )
    assert words.endswith("1 of 3 expectations met, 1 not measured.")
    assert report([promising()]).split("\n\n")[2].startswith("**Missed 1 of 3")


def test_sentences_about_many_and_about_few() -> None:
    many = rows(promising(*(f"rand-r.read.iops>={limit}" for limit in range(5000, 5005))))
    assert missed_sentence(many).count("rand-r") == 3 and missed_sentence(many).endswith(", and 2 more.")
    assert kept_sentence(many) == ""
    assert kept_sentence(rows(promising("rand-r.read.iops>=1"))) == "1 expectation met."
    assert kept_sentence(rows(promising("rand-r.read.iops>=1", "rand-r.cpu>=1"))) == "All 2 expectations met."
    assert missed_sentence(()) == kept_sentence(()) == ""


def test_text_tells_every_outcome_and_its_basis(promises: Run) -> None:
    text = show(promises).split("Expectations\n")[1].split("\n\n")[0]
    lines = text.splitlines()
    assert lines[0].split() == ["Test", "Metric", "Promised", "Measured", "Ratio", "Verdict"]
    ends = [line.rsplit("  ", 1)[1] for line in lines[1:] if not line.startswith("      ")]
    assert ends == ["MISSED", "met", "too short", "met", "MISSED", "not measured"]
    assert "      tier high-cpu: min(1,200 + 30 x 100 GiB, 20,000) IOPS\n" in text
    assert "8 s: inconclusive, needs 1 min" in " ".join(text.split())


def test_a_basis_that_all_share_is_told_once() -> None:
    text = show(promising(basis="tier standard"))
    assert text.count("tier standard") == 1


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_it_fits(promises: Run, width: int) -> None:
    text = show(promises, (), width).split("Expectations\n")[1].split("\n\n")[0]
    assert max(map(width_of, text.splitlines())) <= width
    assert text.count("MISSED") == 2


def test_without_promises_nothing_is_said() -> None:
    silent = run(fio("a", read=direction(1)))
    assert "xpect" not in show(silent) + report([silent]) + plan_text(silent.plan)
    assert run_json(silent)["expectations"] == []


def test_markdown_has_a_row_for_each(promises: Run) -> None:
    table = report([promises]).split("## Expectations\n\n")[1].split("\n\n")[0].splitlines()
    assert [line.split("|")[-3].strip() for line in table[2:]] == [
        *("**MISSED**", "met", "inconclusive", "met", "**MISSED**", "not measured")
    ]
    assert "min(1,200 + 30 x 100 GiB, 20,000) IOPS" in table[3]
    assert [cell.strip() for cell in table[0].split("|")[-3:-1]] == ["Verdict", "Note"]


def test_foreign_words_of_promises_are_harmless() -> None:
    evil = promising("rand-r.read.iops>=5000", basis=EVIL, tests=(fio("rand-r", read=direction(1)),))
    evil = replace(evil, plan=replace(evil.plan, expectations=(replace(evil.plan.expectations[0], test=EVIL),)))
    other = replace(evil, id="y", environment=environment(hostname="other"))
    for text in (show(evil), plan_text(evil.plan), comparison_text(compare((evil, other))), report([evil, other])):
        assert "磁盘" in text
        assert not {char for char in text if not char.isprintable()} - {"\n", "\u200b"}
    assert "<b>" not in report([evil]).replace("\\<b\\>", "")


def test_json_has_every_figure(promises: Run) -> None:
    found = json.loads(dumps(run_json(promises)))["expectations"]
    assert [one["verdict"] for one in found] == [
        *("missed", "met", "inconclusive", "met", "missed", "not measured"),
    ]
    first = found[0]
    assert set(first) == {
        *("test", "metric", "operator", "promised", "measured", "ratio", "verdict", "basis", "unit", "seconds"),
    }
    assert (first["test"], first["metric"], first["operator"]) == ("bw-test", "write.bandwidth", ">=")
    assert (first["promised"], first["unit"], first["basis"], first["seconds"]) == (
        *(300e6, "bytes/s", "tier high-cpu"),
        60,
    )
    assert first["ratio"] == first["measured"] / 300e6
    assert (found[-1]["measured"], found[-1]["ratio"]) == (None, None)
    assert {one["unit"] for one in found} == {"bytes/s", "IOPS", "ns"}


def test_a_plan_tells_what_is_expected(promises: Run) -> None:
    told = dict(planned(promises.plan))
    assert told["4K rand read QD1"] == "read latency mean < 5 ms (tier high-cpu)"
    assert told["1M rand write QD32"] == ("write bandwidth >= 300 MB/s (tier high-cpu; 8 s: inconclusive, needs 1 min)")
    assert "  4K rand read QD1: read latency mean < 5 ms (tier high-cpu)\n" in plan_text(promises.plan)
    found = json.loads(dumps(plan_json(promises.plan)))["expectations"]
    assert [one["test"] for one in found] == [one.test for one in promises.plan.expectations]
    assert "measured" not in found[0]


def test_what_several_runs_promise_stands_side_by_side() -> None:
    base = promising(run_id="x")
    better = promising(
        *("rand-r.read.iops>=5000", "rand-r.read.latency.p99<1ms", "rand-r.cpu<50%"),
        tests=(fio("rand-r", read=direction(5_126, figures=latency(1e6, p99=2e6))),),
        run_id="y",
    )
    compared = compare((base, better))
    text = comparison_text(compared).split("Expectations\n")[1].split("\n\n")[0].splitlines()
    assert text == [
        "                              x                     y",
        "  rand-r: read IOPS >= 5,000  4,210 MISSED          5,126 met",
        "  rand-r: read latency p99    2.00 ms met (< 5 ms)  2.00 ms MISSED (< 1 ms)",
    ]
    overview = found_overview(compared)
    lines = overview_lines(compared, overview, base.started_at, overview_form(80, compared, overview), 80)
    shown = [[words for words, _ in line.row.line] for line in lines]
    assert shown[shown.index(["Expectations"]) + 1] == [
        *("rand-r: read IOPS >= 5,000", "4,210 MISSED", "5,126 met"),
    ]
    markdown = report([base, better]).split("## Expectations\n\n")[1]
    assert "| rand-r: read IOPS >= 5,000 | 4,210 MISSED" in markdown
    found = json.loads(dumps(comparison_json(compared)))["expectations"]
    assert [[one["verdict"] for one in each["judgements"]] for each in found] == [["missed", "met"], ["met", "missed"]]


def test_the_same_promised_twice_is_two_rows() -> None:
    pair = [promising("rand-r.read.iops>=4000", "rand-r.read.iops>=5000", run_id=run_id) for run_id in "xy"]
    assert len(compare(pair).expectations) == 2
    assert compare([promising(run_id="x"), run(run_id="y")]).expectations == ()
