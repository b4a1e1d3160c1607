"""The words and the figures."""

from enum import StrEnum

import pytest
from handmade import direction, fio, ioping, latency, run
from msgspec.structs import replace

from diskprof.analysis.between_runs import Interval
from diskprof.analysis.comparison import ComparedMetric, ComparedValue, compare
from diskprof.analysis.metrics import Better, Measure, direction_metrics
from diskprof.model.expectation import Operator, Verdict
from diskprof.model.metric import Change
from diskprof.model.plan import Severity
from diskprof.model.run import Run, Status, Weight
from diskprof.model.sample import Direction
from diskprof.model.target import TargetKind
from diskprof.reports import figures, words
from diskprof.reports.content import comparison_report
from diskprof.reports.content.result_sentences import verdict
from diskprof.reports.render.text import comparison_text


def test_everything_has_a_word() -> None:
    assert set(figures.METRICS) == set(Measure)
    assert (set(figures.OPERATORS), set(figures.TARGETS)) == (set(Operator), set(TargetKind))


@pytest.mark.parametrize(
    ("values", "table"),
    [
        (Status, words.STATUSES),
        (Severity, words.SEVERITIES),
        (Weight, words.WEIGHTS),
        (Verdict, words.VERDICTS),
        (Change, words.CHANGES),
        (Direction, words.DIRECTIONS),
    ],
)
def test_each_value_has_one_row_of_its_own(values: type[StrEnum], table: dict[StrEnum, words.Word]) -> None:
    assert list(table) == list(values)
    assert len({row.word.lower() for row in table.values()}) == len({row.sign for row in table.values()}) == len(table)
    assert all(len(row.sign) == 1 for row in table.values())


def test_the_legend_names_the_signs_of_changes() -> None:
    for row in words.CHANGES.values():
        assert f"{row.sign}: " in words.CHANGES_LEGEND and row.word in words.CHANGES_LEGEND


def test_words_and_comparison_agree_which_way_is_better() -> None:
    for source in direction_metrics():
        assert figures.METRICS[source.metric].better is source.better


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0%"),
        (0.00001, "0.01%"),
        (0.0526, "5.3%"),
        (0.1526, "15.3%"),
        (0.925, "92.5%"),
        (0.9997, "99.97%"),
        (0.99999, "99.99%"),
        (1.0, "100%"),
        (1.8, "180%"),
        (1.234, "123%"),
    ],
)
def test_shares(value: float, words: str) -> None:
    assert figures.share(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (0.004, "0.004"),
        (0.123, "0.12"),
        (7.25, "7.25"),
        (61.0, "61.0"),
        (476.5, "476"),
        (15_596.0, "15,596"),
    ],
)
def test_numbers(value: float, words: str) -> None:
    assert figures.number(value) == words


def row(metric: Measure, base: float, value: float, *, share: bool = False) -> ComparedMetric:
    ratio = (value - base) / base if base else None
    return ComparedMetric(
        metric,
        Direction.READ,
        Better.LOWER,
        share,
        (
            ComparedValue(base),
            ComparedValue(value, value - base, ratio, None),
        ),
    )


@pytest.mark.parametrize(
    ("base", "value", "words"),
    [
        (100, 291, "+191%"),
        (100, 34, "-66%"),
        (100, 100.2, "+0.2%"),
        (100, 100.01, "0%"),
        (100, 109.94, "+9.9%"),
        (100, 1210, "x12.1"),
        (100, 100_000, "x1000"),
        (0, 5, ""),
    ],
)
def test_differences(base: float, value: float, words: str) -> None:
    one = row(Measure.IOPS, base, value)
    assert figures.difference(one, one.cells[1]) == words


def test_shares_differ_by_points() -> None:
    one = row(Measure.WITHIN, 0.1526, 0.925, share=True)
    assert figures.difference(one, one.cells[1]) == "+77 pp"
    assert figures.row_value(one, one.cells[0]) == "15.3%"
    assert figures.row_label(one) == "I/Os within 250 us"


def test_a_row_has_one_unit() -> None:
    micro = row(Measure.LATENCY_P99, 476_550, 15_000_000)
    assert figures.row_label(micro) == "Latency, p99 (us)"
    assert [figures.row_value(micro, cell) for cell in micro.cells] == ["477", "15,000"]
    milli = row(Measure.LATENCY_MEAN, 12e6, 250e6)
    assert figures.row_label(milli, short=True) == "Latency mean (ms)"
    assert [figures.row_value(milli, cell) for cell in milli.cells] == ["12.0", "250"]
    assert figures.row_label(row(Measure.BANDWIDTH, 1e6, 2e6)) == "Bandwidth (MB/s)"
    missing = ComparedMetric(Measure.IOPS, Direction.READ, Better.HIGHER, False, (ComparedValue(), ComparedValue(3.0)))
    assert figures.row_value(missing, missing.cells[0]) == "-"


def test_the_upshot_of_a_comparison() -> None:
    base = run(fio("a", read=direction(100)), fio("b", read=direction(100)), fio("c", read=direction(100)), run_id="x")
    other = run(
        fio("a", read=direction(150)), fio("b", read=direction(100.5)), fio("c", read=direction(50)), run_id="y"
    )
    assert comparison_report.tally_sentence(compare((base, other)), 1) == (
        "y against x: better in 1 of 3 tests, the same in 1, worse in 1 (IOPS from -50% to +50%)."
    )
    nothing = run(fio("d", read=direction(1)), run_id="z")
    assert comparison_report.tally_sentence(compare((base, nothing)), 1) == "z against x: no test has results in both."
    few = (run(fio("a", read=direction(iops, seconds=0.01)), run_id=name) for iops, name in ((200, "x"), (400, "y")))
    assert comparison_report.tally_sentence(compare(tuple(few)), 1) == "y against x: no verdict in any test."


@pytest.mark.parametrize(
    ("read", "write", "words"),
    [
        (150, 60, "better in 1 of 2 tests, the same in 1 (IOPS from 0% to +50%)."),
        (150, 40.2, "better in 1 of 2 tests, the same in 1 (IOPS from 0% to +50%)."),
        (50, 40, "the same in 1 of 2 tests, worse in 1 (IOPS from -50% to 0%)."),
        (150, 20, "the same in 1 of 2 tests, mixed in 1 (IOPS from -50% to +50%)."),
    ],
)  # fmt: skip
def test_the_upshot_counts_a_mixed_test_once(read: float, write: float, words: str) -> None:
    def mixed(run_id: str, read: float, write: float) -> Run:
        return run(
            fio("mix", rw="randrw", read=direction(read), write=direction(write)),
            fio("seq", read=direction(100)),
            run_id=run_id,
        )

    comparison = compare((mixed("x", 100, 40), mixed("y", read, write)))
    assert comparison_report.tally(comparison, 1).judged == 2
    assert comparison_report.tally_sentence(comparison, 1) == f"y against x: {words}"


def test_the_upshot_of_a_log_is_the_latency_of_its_syncs() -> None:
    def log(run_id: str, iops: float, sync_ns: float) -> Run:
        told = run(fio("wal", rw="write", write=direction(iops), options=("--fdatasync=1",)), run_id=run_id)
        (test,) = told.tests
        assert test.result
        return replace(told, tests=(replace(test, result=replace(test.result, sync=latency(sync_ns))),))

    comparison = compare((log("x", 800, 1.2e6), log("y", 810, 1.5e6)))
    assert (
        comparison_report.tally_sentence(comparison, 1)
        == "y against x: worse in 1 of 1 test (mean fsync latency +25%)."
    )
    (row,) = (row for row in comparison.tests[0].rows if row.metric is Measure.SYNC_P99)
    assert figures.row_label(row) == "fsync latency, p99 (us)"
    assert figures.row_label(row, short=True) == "fsync p99 (us)"
    assert "  fsync mean (us)" in comparison_text(comparison)


@pytest.mark.parametrize(
    ("cell", "word", "mark"),
    [
        (ComparedValue(1.0, 0.016, 0.016, Change.SAME), "same", "="),
        (ComparedValue(1.0, -0.16, -0.16, Change.UNCLEAR, more_runs=4), "cannot tell", "~"),
        (ComparedValue(1.0, 0.16, 0.16, Change.BETTER), "better", "b"),
        (ComparedValue(1.0, 0.16, 0.16, None), "", ""),
    ],
)
def test_a_verdict_has_a_word_and_a_mark(cell: ComparedValue, word: str, mark: str) -> None:
    assert figures.verdict(cell) == word
    assert figures.mark(cell) == mark


@pytest.mark.parametrize(
    ("ratio", "low", "high", "words"),
    [
        (-0.079, -0.094, -0.061, "(-9.4 to -6.1)"),
        (0.004, -0.0001, 0.012, "(0 to +1.2)"),
        (8.8, 7.61, 9.2, "(+761 to +920)"),
        (0.59, -0.998, 63.96, "(-100 to x65)"),
        (-0.89, -0.999, 42.74, "(-100 to x44)"),
        (14.0, 11.0, 17.0, "(x12 to x18)"),
        (15.2, -0.959, 2000.0, "(-96 to x999+)"),
        (-0.22, -0.998, 308.61, "(-100 to x310)"),
        (3.31, -0.99, 1717.07, "(-99 to x999+)"),
    ],
)
def test_an_interval_is_in_the_unit_of_its_difference(ratio: float, low: float, high: float, words: str) -> None:
    assert figures.interval(ComparedValue(1.0, ratio, ratio, Change.WORSE, Interval(low, high))) == words
    assert figures.interval(ComparedValue(1.0, ratio, ratio)) == ""


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "about 1 more run a side needed"),
        (4, "about 4 more runs a side needed"),
        (2000, "more than 100 more runs a side needed"),
    ],
)
def test_how_many_more_runs_would_tell(number: int, words: str) -> None:
    assert figures.more_runs(ComparedValue(verdict=Change.UNCLEAR, more_runs=number)) == words


def test_the_upshot_tells_what_is_unclear_from_the_same() -> None:
    cells = {"a": (0.16, Change.UNCLEAR), "b": (0.01, Change.SAME), "c": (0.3, Change.BETTER)}
    base = run(*(fio(name, read=direction(100)) for name in cells), run_id="x")
    compared = compare((base, run(*(fio(name, read=direction(100)) for name in cells), run_id="y")))
    tests = tuple(
        replace(
            test,
            rows=tuple(
                replace(row, cells=(row.cells[0], ComparedValue(1.0, cells[test.name][0], *cells[test.name])))
                for row in test.rows
            ),
        )
        for test in compared.tests
    )
    assert comparison_report.tally_sentence(replace(compared, tests=tests), 1) == (
        "y against x: better in 1 of 3 tests, the same in 1, cannot tell in 1 (IOPS from +1.0% to +30%)."
    )


def test_ioping_is_judged_by_its_latency() -> None:
    base, other = (
        run(ioping("latency", read=direction(1, seconds=60, mean_ns=mean)), run_id=str(mean)) for mean in (2e5, 1e5)
    )
    assert comparison_report.tally_sentence(compare((base, other)), 1) == (
        "100000.0 against 200000.0: better in 1 of 1 test (mean latency -50%)."
    )


def test_the_verdict_tells_each_kind_of_test_at_its_depths() -> None:
    quick = run(
        fio("a", read=direction(17_900, figures=latency(54_000, p99=101_000))),
        fio("b", depth=8, read=direction(90_000)),
        fio("c", depth=32, read=direction(284_000)),
        fio("d", rw="write", block=1 << 20, depth=8, write=direction(4_000, block=1 << 20)),
        ioping("seek", "-R", "-D", read=direction(9_000, figures=latency(110_000))),
    )
    assert verdict(quick) == (
        "Random 4 KiB reads: 17.9k IOPS at QD1 (mean 54.0 us, p99 101 us), 284k IOPS at QD32. "
        "Sequential 1 MiB writes: 4.19 GB/s at QD8. "
        "4 KiB reads 9.00k IOPS at QD1 (110 us on average)."
    )


def test_the_verdict_of_a_few_requests() -> None:
    one = run(ioping("latency", read=direction(1, seconds=10, figures=latency(210_000, max=812_000))))
    assert verdict(one) == "One 4 KiB read took 210 us on average, 812 us at the slowest (10 requests)."


def test_the_verdict_of_nothing_says_why() -> None:
    assert verdict(run(fio(status=Status.FAILED), status=Status.FAILED)) == "No result: failed."
