"""What is said of a run that drew a read/write map."""

import json
import re

from drawn_map import drawn, rectangle, triangle
from handmade import direction, fio, run
from msgspec.structs import replace

from diskprof.analysis.arms import Arm
from diskprof.analysis.comparison import compare
from diskprof.analysis.gate import GateOutcome, gate
from diskprof.analysis.headline import headline
from diskprof.analysis.history import run_history
from diskprof.analysis.map_found import cells_of
from diskprof.analysis.search_results import search_results
from diskprof.model.fingerprint import fingerprint
from diskprof.model.read_write_map import MapRule
from diskprof.model.run import Run, Status
from diskprof.reports.blocks import Form, Heading
from diskprof.reports.content.map_report import compared_maps, map_blocks, map_sentence, maps_beside
from diskprof.reports.content.result_sentences import unfinished, verdict
from diskprof.reports.content.run_report import run_report
from diskprof.reports.data.json_runs import plan_json, run_json
from diskprof.reports.render.html import report_html
from diskprof.reports.render.markdown import markdown
from diskprof.reports.render.text import show


def test_the_sentence_says_what_the_disk_does_together() -> None:
    both = map_sentence(drawn(rectangle))
    assert both.startswith("Alone 2,000 read IOPS and 20.0 MB/s written. Both together were reached")
    assert "p99 at 1,000 reads/s: 3.00 ms without writes, 11.0 ms beside 20.0 MB/s." in both
    one = drawn(triangle)
    assert "1,000 reads/s beside up to 10.0 MB/s" in map_sentence(one) and map_sentence(one) in verdict(one)
    assert headline(one) == "map: 2.00k read IOPS, 20.0 MB/s written"
    assert map_sentence(run(fio(read=direction(100)))) == ""
    small = drawn(
        lambda reads, written: (min(reads, 2000.0), min(written, 20e6 if reads <= 1000 else 10e6)), MapRule(2, 2)
    )
    assert "all writes beside up to 1,000 reads/s. " in map_sentence(small), "and not once more"


def test_a_map_that_was_stopped_tells_what_is_known_so_far() -> None:
    stopped = drawn(triangle, most=9, status=Status.CANCELLED)
    assert (
        map_sentence(stopped).startswith("Cancelled after 5 cells; so far: Alone 2,000") and unfinished(stopped) == ""
    )
    going = drawn(triangle, most=9, status=Status.RUNNING)
    assert map_sentence(going).startswith("So far, after 5 cells:")
    assert verdict(drawn(triangle, most=1, status=Status.FAILED)) == "No result: failed."
    short = drawn(rectangle, MapRule(4, 4, most_s=30.0))
    assert f"`diskprof rerun {short.id}` measures the rest." in map_sentence(short)


def test_a_table_has_each_cell_and_what_was_not_reached() -> None:
    told = markdown(run_report(drawn(triangle), form=Form.MARKDOWN))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in told.splitlines() if line.startswith("| 10.0")]
    assert rows[0] == ["10.0 MB/s", "6.00 ms", "7.00 ms", "x", "x"]
    assert told.count("Read/write map") == 1 and "## Results" not in told
    assert "10.0 MB/s  6.00ms  7.00ms       x" in show(drawn(triangle), (), 100)


def test_a_page_has_a_picture_of_each_latency_with_the_edge_of_what_is_reached() -> None:
    page = report_html([Arm((drawn(triangle),))], {})
    first, second = re.findall(r'<svg class="mosaic".*?</svg>', page, re.DOTALL)
    assert "Read latency p99" in first and "Read latency p50" in second
    assert first.count("<rect") == sum(1 for _ in re.finditer(r">[\d.]+ ms<", first)) and 'class="edge"' in first


def test_json_has_axes_and_cells() -> None:
    made = drawn(triangle)
    found = run_json(made)["map"]
    assert found["reads"] == [500, 1000, 1500, 2000] and found["writes"][:2] == [0, 5_000_000] and found["complete"]
    states = {(each["reads"], each["written"]): each["state"] for each in found["cells"]}
    assert states[500, 0] == "reached" and states[2000, 15_000_000] == "skipped" and len(states) == 20
    assert found["wanted"] == plan_json(made.plan)["map"] and json.dumps(found)
    assert run_json(run(fio(read=direction(100))))["map"] is None


def other(made: Run, name: str) -> Run:
    return replace(made, id=name)


def test_maps_are_compared_and_have_a_history() -> None:
    one, two = drawn(triangle), other(drawn(rectangle), "b2345678")
    heading, table = compared_maps(compare([one, two]))
    assert isinstance(heading, Heading)
    assert [[cell.text for cell in row][1:] for row in table.rows] == [  # type: ignore[union-attr]
        ["2,000/s", "20.0 MB/s", "none", "none"],
        ["2,000/s", "20.0 MB/s", "20.0 MB/s", "2,000/s"],
    ]
    assert compared_maps(compare([one, run(fio(read=direction(100)))])) == []
    rows = maps_beside(compare([one, two]))
    assert [cell.text for cell in rows[2]] == ["all reads beside", "none", "20.0 MB/s"]
    assert maps_beside(compare([one, run(fio(read=direction(100)))])) == ()
    slow = other(drawn(lambda reads, written: (min(reads, 1000.0), min(written, 20e6))), "c2345678")
    history = run_history(slow, search_results([one, two, slow]))
    assert [(figure.title, [each.value for each in figure.runs]) for figure in history.figures] == [
        ("Map: all reads", [2000, 2000, 1000]),
        ("Map: all writes", [20e6, 20e6, 20e6]),
    ]
    assert gate(slow, search_results([one] * 6), search_results([slow] * 4)).outcome is GateOutcome.REGRESSED


def test_like_maps_have_one_fingerprint_whatever_they_measured() -> None:
    one, begun = drawn(triangle), drawn(triangle, most=8)
    assert fingerprint(one.plan, one.environment) == fingerprint(begun.plan, begun.environment)
    finer = drawn(triangle, MapRule(8, 8))
    assert fingerprint(one.plan, one.environment) != fingerprint(finer.plan, finer.environment)
    assert map_blocks(drawn(triangle, most=1)) == []


def test_a_cell_is_one_test_and_not_its_reads_and_its_writes_once_more() -> None:
    made = drawn(triangle)
    assert any(test.result and len(test.result.jobs) == 2 for test in made.tests)
    assert made.records == made.apart == made.tests


def test_a_map_that_another_one_continued_is_one_point_of_a_history() -> None:
    """Its ends were measured once."""
    first = replace(drawn(triangle, MapRule(4, 4, most_s=30)), id="a1")
    known = cells_of(first)
    second = replace(drawn(triangle, MapRule(4, 4, known=known)), id="a2")
    third = replace(drawn(triangle), id="a3")
    for runs, counted in (((first, second, third), ["a1", "a3"]), ((second, third), ["a2", "a3"])):
        history = run_history(third, search_results(runs))
        assert [one.run_id for one in history.figures[0].runs] == counted and history.runs == 2
