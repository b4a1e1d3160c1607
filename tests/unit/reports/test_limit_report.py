"""What is said of a run that searched for a limit."""

import pytest
from handmade import direction, fio, latency, run
from msgspec.structs import replace

from diskprof.analysis.comparison import compare
from diskprof.analysis.gate import GateOutcome, gate
from diskprof.analysis.headline import headline
from diskprof.analysis.history import run_history
from diskprof.analysis.metrics import Better, Measure
from diskprof.analysis.search_results import search_results
from diskprof.model.fingerprint import fingerprint
from diskprof.model.limit import LimitBy, LimitRule, Trial, TrialKind
from diskprof.model.run import Run, Status
from diskprof.presets.limit_text import parse_promise
from diskprof.reports.blocks import Form, Heading, Paragraph, Table
from diskprof.reports.charts.svg import chart
from diskprof.reports.content.comparison_report import comparison_report
from diskprof.reports.content.curve_report import curve_plots
from diskprof.reports.content.history.gate_report import gate_report
from diskprof.reports.content.history.history_report import sentence
from diskprof.reports.content.limit_compare import compared_curve_plots, limits_beside
from diskprof.reports.content.limit_report import limit_sentence
from diskprof.reports.content.result_sentences import unfinished, verdict
from diskprof.reports.content.run_report import run_report
from diskprof.reports.data.gate_formats import gate_line
from diskprof.reports.data.json_history import history_json
from diskprof.reports.data.json_runs import plan_json, run_json
from diskprof.reports.render.lines import text
from diskprof.reports.render.text import comparison_text, show

RULE = LimitRule((parse_promise("read.p99<=5ms"),))
Tried = tuple[Trial, float, float]
"""A trial, the I/Os a second that it did, and its p99 in ms."""

TOP, ONE = (Trial(64), 2000.0, 40.0), (Trial(1), 480.0, 2.5)
KEPT = (Trial(64, 1850), 1850.0, 4.2)
MISSED = (Trial(64, 1910), 1910.0, 6.1)


def full(tried: Tried) -> Tried:
    return replace(tried[0], kind=TrialKind.FULL), *tried[1:]


FOUND = (TOP, ONE, KEPT, full(MISSED), full(KEPT), full(KEPT), full(MISSED))


def searched(*trials: Tried, rule: LimitRule = RULE, status: Status = Status.COMPLETE, run_id: str = "a2345678") -> Run:
    given = []
    for number, (trial, done, p99) in enumerate(trials):
        read = direction(done, seconds=rule.measuring_s(trial), figures=latency(1e6, p99=p99 * 1e6))
        test = fio(f"trial-{number}" if number else "qd64", read=read, runtime_s=rule.measuring_s(trial))
        given.append(replace(test, planned=replace(test.planned, trial=trial)))
    made = run(*given, status=status, run_id=run_id)
    return replace(made, plan=replace(made.plan, limit=rule))


def test_the_sentence_has_both_loads_and_how_often_each_kept_it() -> None:
    words = "read.p99<=5ms: 1,850 IOPS kept it in 3 of 3 trials, 1,910 did not in 2 of 2."
    made = searched(*FOUND)
    assert limit_sentence(made) == words and words in verdict(made)
    assert headline(made) == "limit 1,850 IOPS at read.p99<=5ms"


def test_all_that_the_disk_does_may_keep_it_or_nothing_does() -> None:
    top = (Trial(64), 3700.0, 1.0)
    assert limit_sentence(searched(top, full(top), full(top))) == (
        "read.p99<=5ms: all that QD64 does, 3,700 IOPS, kept it in 3 of 3 trials."
    )
    slow = (Trial(1), 90.0, 14.0)
    none = searched(TOP, slow, full(slow))
    assert limit_sentence(none) == "read.p99<=5ms: nothing kept it: at QD1 read.p99 was 14.0 ms (90 IOPS, 2 trials)."
    assert headline(none) == "nothing kept read.p99<=5ms"


def test_what_was_not_settled_is_said() -> None:
    wide = limit_sentence(searched(TOP, ONE, (Trial(64, 1000), 1000.0, 3.0)))
    assert "1,000 IOPS kept it in 1 of 1 trial, 2,000 (all that QD64 does) did not in 1 of 1." in wide
    assert wide.endswith("The trials were over before the two were within 3.5%.")
    assert limit_sentence(searched(TOP, ONE, KEPT, MISSED)).endswith("the trials were over.")
    odd = limit_sentence(searched(TOP, ONE, (Trial(64, 1950), 1950.0, 4.0), *FOUND[2:]))
    assert "More than that kept it, too (1,950 IOPS)" in odd


def test_a_search_that_was_stopped_tells_what_is_known_so_far() -> None:
    stopped = searched(*FOUND[:4], status=Status.CANCELLED)
    assert limit_sentence(stopped).startswith(
        "Cancelled in trial 5; so far: read.p99<=5ms: 1,850 IOPS kept it in 1 of 1"
    )
    assert "were over" not in limit_sentence(stopped)
    assert unfinished(stopped) == ""
    going = searched(*FOUND[:3], status=Status.RUNNING)
    assert limit_sentence(going).startswith("So far, after 3 trials: read.p99<=5ms:")
    first = searched(status=Status.CANCELLED)
    assert limit_sentence(first) == "" and verdict(first) == "No result: cancelled."


def test_by_depth_the_depths_are_told_with_what_they_did() -> None:
    rule = replace(RULE, by=LimitBy.DEPTH)
    trials = [(Trial(64), 2000.0, 40.0), (Trial(1), 480.0, 2.5), (Trial(8), 1900.0, 4.5), (Trial(9), 1950.0, 5.5)]
    made = searched(*trials, *map(full, trials[2:]), full(trials[2]), rule=rule)
    assert limit_sentence(made) == (
        "read.p99<=5ms: QD8 (1,900 IOPS) kept it in 3 of 3 trials, QD9 (1,950 IOPS) did not in 2 of 2."
    )
    assert headline(made) == "limit QD8, 1,900 IOPS at read.p99<=5ms"


def test_every_form_has_the_bracket_first_and_then_the_trials() -> None:
    made = searched(*FOUND)
    # The screen has its picture in this place.
    for form in (form for form in Form if form is not Form.SCREEN):
        blocks = run_report(made, form=form)
        at = next(at for at, block in enumerate(blocks) if isinstance(block, Heading) and block.text == "Limit")
        table = next(block for block in blocks[at:] if isinstance(block, Table))
        assert [row[1].text for row in table.rows][:3] == ["QD64", "QD1", "1,850/s"]
        assert [row[-1].text for row in table.rows][:3] == ["not kept", "kept", "kept"]
        assert not any(isinstance(block, Heading) and block.text == "Results" for block in blocks)
    assert "1,850/s     4 s" in show(made, (), 100)


def test_json_has_the_search_and_what_it_found() -> None:
    made = searched(*FOUND)
    found = run_json(made)["limit"]
    assert found["kept"] == {"depth": 64, "rate": 1850, "iops": 1850.0, "trials": 3, "trials_kept": 3}
    assert found["close"] and found["confirmed"] and len(found["trials"]) == 7
    assert found["wanted"] == plan_json(made.plan)["limit"]
    assert run_json(run(fio(read=direction(100))))["limit"] is None


def test_runs_are_compared_by_their_limits() -> None:
    faster = searched(*[(trial, done * 1.5, p99) for trial, done, p99 in FOUND], run_id="b2345678")
    blocks = comparison_report(compare([searched(*FOUND), faster]))
    at = next(at for at, block in enumerate(blocks) if isinstance(block, Heading) and block.text == "Limit")
    table = blocks[at + 1]
    assert isinstance(table, Table)
    assert [[cell.text for cell in row][1:6] for row in table.rows] == [
        ["1,850", "3 of 3", "1,910", "2 of 2", ""],
        ["2,775", "3 of 3", "2,865", "2 of 2", "+50%"],
    ]
    told = comparison_text(compare([searched(*FOUND), faster]), 160)
    assert "limit 2,775 IOPS, was 1,850 (+50%). Trials of the same load:" in told and "do not act on one" not in told
    near = [searched(*[(trial, done * factor, p99) for trial, done, p99 in FOUND]) for factor in (1.0, 1.02)]
    assert "limit 1,887 IOPS, was 1,850: within what the searches left open." in comparison_text(compare(near), 160)
    assert [test.name for test in compare([searched(*FOUND), searched(TOP)]).tests] == ["qd64"]
    assert compare([searched(*FOUND), searched(full(TOP))]).tests == ()


def test_like_searches_have_one_fingerprint_whatever_they_tried() -> None:
    one, other = searched(*FOUND), searched(*FOUND[:3])
    assert fingerprint(one.plan, one.environment) == fingerprint(other.plan, other.environment)
    stricter = searched(*FOUND, rule=replace(RULE, promises=(parse_promise("read.p99<=4ms"),)))
    assert fingerprint(one.plan, one.environment) != fingerprint(stricter.plan, stricter.environment)


def with_curve(*loads: tuple[int, float, float]) -> Run:
    """The search, and the loads of a curve behind it: asked, done, p99 in ms."""
    made = searched(TOP, ONE, *[(Trial(64, rate, kind=TrialKind.CURVE), done, p99) for rate, done, p99 in loads])
    return replace(made, plan=replace(made.plan, limit=replace(RULE, curve=len(loads))))


CURVE = ((200, 199.0, 3.0), (600, 603.0, 3.1), (1000, 998.0, 3.4), (1400, 1398.0, 5.2), (1800, 1790.0, 9.0))


def test_a_load_curve_names_its_knee_and_holds_littles_law() -> None:
    made = with_curve(*CURVE)
    told = " ".join(show(made, (), 140).split())
    assert "p99 doubles between 1,398 IOPS (5.20 ms) and 1,790 IOPS (9.00 ms); with little load it is 3.10 ms." in told
    # The trials at a set depth were made without waiting.
    assert "Little's law: IOPS times mean latency is 0.48 at QD1, 2 at QD64. It should be the depth" in told
    assert "Knee" not in show(searched(*FOUND), (), 100)
    assert "No knee: p99 is nowhere 2 times" in show(with_curve(*CURVE[:4]), (), 100)
    (page,) = curve_plots(made)
    assert page.across.end == 4 and [curve.label for curve in page.curves] == ["p50", "p99"]
    # The knee is marked between the two loads.
    assert page.cursor and page.cursor.at == 3.5 and ">knee</text>" in chart(page)
    assert curve_plots(searched(*FOUND)) == curve_plots(with_curve(CURVE[0])) == []


def test_what_lies_between_knee_and_limit_is_said_to_whoever_runs_a_database() -> None:
    limited = searched(*FOUND, *[(Trial(64, rate, kind=TrialKind.CURVE), done, p99) for rate, done, p99 in CURVE])
    limited = replace(limited, plan=replace(limited.plan, limit=replace(RULE, curve=5)))
    told = " ".join(show(limited, (), 140).split())
    assert (
        "For a database: up to 1,398 IOPS an I/O waits hardly longer than on an idle disk. The 452 IOPS from there"
        in told
    )
    assert "to the limit (24% of it) are for peaks" in told
    assert "For a database" not in show(with_curve(*CURVE[:4]), (), 140), "there is no knee"


def test_json_has_the_curve() -> None:
    found = run_json(with_curve(*CURVE))["limit"]["curve"]
    assert [(point["rate"], point["iops"]) for point in found["points"]] == [(rate, done) for rate, done, _ in CURVE]
    assert found["knee"] == {"above": 1398.0, "at_most": 1790.0, "p99": 3.1e6, "tests": ["trial-5", "trial-6"]}
    assert found["littles_law"][1] == {"depth": 1, "in_flight": 0.48}
    assert run_json(searched(*FOUND))["limit"]["curve"] is None


def test_a_rate_that_fio_cannot_send_is_said_where_the_latency_was_kept() -> None:
    short = searched((Trial(64), 90_000.0, 40.0), (Trial(64, 60_000), 45_000.0, 1.0))
    assert "At a rate of 60,000 IOPS fio did 45,000: it cannot send more" in limit_sentence(short)


def test_a_page_says_the_sentence_once() -> None:
    pages = run_report(searched(*FOUND), form=Form.MARKDOWN)
    said = [block for block in pages if isinstance(block, Paragraph) and "kept it in 3 of 3" in block.text]
    assert len(said) == 1


def test_load_curves_are_compared_load_by_load_and_on_one_axis() -> None:
    one = with_curve(*CURVE)
    other = replace(with_curve(*[(2 * rate, 2 * done, p99) for rate, done, p99 in CURVE]), id="b2345678")
    comparison = compare([one, other])
    told = comparison_text(comparison, 120)
    at = told.index("Latency by load")
    rows = [line.split() for line in told[at:].splitlines()]
    assert ["1,398", "950", "us", "5.20", "ms"] in rows and ["1,206", "950", "us", "3.10", "ms"] in rows
    assert "p99 doubles between 2,796 IOPS" in " ".join(told.split())
    ((plot,),) = compared_curve_plots(comparison)
    first, second = (curve.values.columns(5, plot.across.end) for curve in plot.curves)
    # At 900 of 3,600 IOPS the first run has 3.3 ms; beyond 1,790 it has nothing.
    assert first[1] == pytest.approx(3.3e6, abs=2e5) and first[3] is None and second[3] is not None
    assert compared_curve_plots(compare([one, searched(*FOUND)])) == ()
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in limits_beside(comparison)}
    assert cells["p99 doubles from"] == ["1,790", "3,580"]
    assert limits_beside(compare([one, run(fio(read=direction(100)))])) == ()


def test_the_history_of_searches_is_that_of_their_limits() -> None:
    """Not of the trials, whose loads no two searches share, nor of their mean latency."""
    runs = [
        searched(*[(trial, done * factor, p99) for trial, done, p99 in FOUND], run_id=f"a{at}")
        for at, factor in enumerate((1.0, 1.1))
    ]
    none = searched(TOP, (Trial(1), 90.0, 14.0), run_id="a2")
    history = run_history(none, search_results([*runs, none]))
    (figure,) = history.figures
    assert (figure.title, figure.measure, figure.better) == ("Limit (read.p99<=5ms)", Measure.IOPS, Better.HIGHER)
    assert [one.value for one in figure.runs] == pytest.approx([1850, 2035])
    (plain,) = run_history(run(fio(read=direction(100))), ()).figures or [None]
    assert plain is None and search_results([run(fio(read=direction(100)))]) == ()


def test_a_search_in_which_nothing_kept_it_is_no_point_of_a_history_but_a_regression() -> None:
    """1 IOPS, as it once was, nobody measured."""
    found = [searched(*FOUND, run_id=f"a{at}") for at in range(6)]
    vain = [searched(TOP, (Trial(1), 90.0, 14.0), run_id=f"b{at}") for at in range(6)]
    history = run_history(vain[1], search_results([*found, *vain[:2]]))
    assert [one.run_id for one in history.figures[0].runs] == [each.id for each in found]
    assert "8 like runs" in (told := sentence(history)) and "; in 2 nothing kept read.p99<=5ms (the last: b1)" in told
    assert history_json(history)["none_kept"] == ["b0", "b1"]
    alone = run_history(vain[1], search_results(vain))
    assert alone.figures == () and alone.runs == 6

    before = search_results(found)
    for count, outcome in ((1, GateOutcome.UNCLEAR), (3, GateOutcome.UNCLEAR), (4, GateOutcome.REGRESSED)):
        judged = gate(vain[0], before, search_results(vain[:count]))
        assert judged.outcome is outcome and judged.figures[0].held.after == (0.0,) * count
    told = text(gate_report(judged, vain[3], found[-1]), 120)
    assert "none   -100%" in told and "none: no load kept what is promised." in told
    assert "1.85k before, none now" in gate_line(judged, vain[3])[1]
    # One that was odd, and three after it that are as before.
    assert gate(found[0], before, search_results([vain[0], *found[:3]])).outcome is GateOutcome.KEPT
    with pytest.raises(ValueError, match="no figure"):
        gate(vain[0], search_results([found[0], *vain[:5]]), search_results(vain[5:]))
