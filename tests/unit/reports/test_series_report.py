"""A series as a document: which of its runs are in doubt, and how its targets are compared."""

from handmade import START

from diskprof.analysis.metrics import Measure
from diskprof.analysis.series_figures import SeriesFigure, SeriesResult
from diskprof.model.metric import Quantity
from diskprof.model.run import RunSummary, SeriesPlace, Status
from diskprof.model.run_series import Repetition, RunSeries, Spread
from diskprof.model.sample import Direction
from diskprof.reports.content.series_report import series_report
from diskprof.reports.content.series_rows import row_words
from diskprof.reports.render.lines import text


def shown(targets: tuple[str, ...], doubted: str = "") -> list[str]:
    """A series of one run of each target, of which the one with that id is in doubt; its lines."""
    series = RunSeries("s1", Status.COMPLETE, "", "own", "Own", targets, Repetition(1), START, START)
    runs, found = [], []
    for arm, target in enumerate(targets):
        doubts = ("background-io",) if f"r{arm}" == doubted else ()
        run = RunSummary(f"r{arm}", Status.COMPLETE, "own", "Own", target, "", "vm", START, 1.0, doubts=doubts)
        runs.append(run._replace(headline="1k IOPS", series=SeriesPlace("s1", 1, arm)))
        found.append(SeriesFigure(arm, "a", "a", Direction.READ, Measure.IOPS, (1000.0,)))
    return text(series_report(SeriesResult(series, tuple(runs), tuple(found))), 80).splitlines()


def test_a_series_of_several_targets_names_the_command_that_compares_them() -> None:
    assert ["Compare", "diskprof", "compare", "s1"] in [line.split() for line in shown(("/a", "/b"))]
    assert not any("Compare" in line for line in shown(("/a",)))


def test_runs_in_doubt_are_marked_where_they_count() -> None:
    lines = shown(("/a", "/b"), doubted="r1")
    assert any(line.startswith("In doubt  1 of 2 runs (!): ") for line in lines)
    assert [line.split()[2:5] for line in lines if line.startswith("  a ")] == [["A", "1", "1.00k"], ["B", "!", "1"]]
    assert [line.split("  ")[-1] for line in lines if line.startswith("  r")] == ["1k IOPS", "! in doubt: 1k IOPS"]
    assert not any("!" in line for line in shown(("/a", "/b")))


def test_one_run_has_its_figure_in_the_list_and_nothing_in_parentheses() -> None:
    spread = Spread(1, 0, "a", Direction.READ, Quantity.IOPS, 1000.0, 1000.0, 1000.0, range_only=True)
    series = RunSeries("s1", Status.COMPLETE, "", "own", "Own", ("/a",), Repetition(1), START, START, (spread,))
    run = RunSummary("r0", Status.COMPLETE, "own", "Own", "/a", "", "vm", START, 1.0, series=SeriesPlace("s1", 1, 0))
    assert row_words(series, [run]) == "1 run: read 1.00k IOPS"
    assert row_words(series, [run._replace(status=Status.CANCELLED)]) == "0 of 1 runs"
    legend = next(line for line in shown(("/a",)) if line.startswith("95% interval"))
    assert legend == "95% interval: of the median, from run to run; it needs 6 runs."
