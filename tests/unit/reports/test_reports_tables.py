"""CSV for spreadsheets, read back by the csv module."""

import csv
import io

from handmade import direction, environment, fio, run, samples
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from diskprof.model.run import Finding, Run, Status, Weight
from diskprof.model.sample import Direction, Phase
from diskprof.reports.data.tables import RESULT_COLUMNS, SAMPLE_COLUMNS, results_csv, samples_csv


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def mixed() -> Run:
    return run(
        fio("mixed", rw="randrw", read=direction(7_000.123456789), write=direction(3_000)),
        fio("failed", status=Status.FAILED),
    )


def test_each_direction_of_each_test_has_a_row_with_the_figures_whole() -> None:
    tested = mixed()
    found = rows(results_csv([tested]))
    assert list(found[0]) == list(RESULT_COLUMNS)
    assert [(row["test"], row["direction"], row["status"]) for row in found] == [
        ("mixed", "read", "complete"),
        ("mixed", "write", "complete"),
        ("failed", "", "failed"),
    ]
    read = tested.tests[0].result and tested.tests[0].result.read
    assert read
    assert float(found[0]["iops"]) == read.iops
    assert float(found[0]["latency_p99_9_ns"]) == read.latency.p99_9
    assert {found[2][name] for name in RESULT_COLUMNS[12:]} == {""}


def test_every_sample_has_a_row_in_the_order_of_time() -> None:
    tested = mixed()
    taken = [*samples([100, 200], phase=Phase.PREPARING, way=Direction.WRITE), *samples([300], test=1)]
    found = rows(samples_csv([tested], {tested.id: taken}))
    assert list(found[0]) == list(SAMPLE_COLUMNS)
    assert [(row["test"], row["phase"], row["direction"]) for row in found] == [
        *[("mixed", "preparing", "write")] * 2,
        ("failed", "measuring", "read"),
    ]
    assert [int(row["ios"]) for row in found] == [sample.ios for sample in taken]
    assert [float(row["at_s"]) for row in found] == [sample.at_ns / 1e9 for sample in taken]


def test_no_run_is_a_header_alone() -> None:
    assert results_csv([]) == ",".join(RESULT_COLUMNS) + "\r\n"


def test_what_a_spreadsheet_would_calculate_is_text() -> None:
    evil = replace(mixed(), environment=environment(hostname='=HYPERLINK("http://x")'))
    assert {row["host"] for row in rows(results_csv([evil]))} == {'\'=HYPERLINK("http://x")'}


@given(st.text(max_size=30))
def test_any_name_stays_in_its_cell(name: str) -> None:
    found = rows(results_csv([replace(mixed(), environment=environment(hostname=name))]))
    assert len(found) == 3
    assert all(not row["host"].startswith(("=", "+", "-", "@")) for row in found)
    assert all(len(row) == len(RESULT_COLUMNS) and None not in row.values() for row in found)


def test_a_comparison_has_differences_verdicts_tags_notes_doubts_and_conditions() -> None:
    doubt = Finding("other-io", Weight.DOUBT, "m", "e", "a", test="randread")
    base = run(fio(read=direction(100)), run_id="a", tags=("before",))
    other = run(
        fio(read=direction(50)), run_id="b", tags=("after", "x"), note="new disk", environment=environment(kernel="6.9")
    )
    rows = list(csv.DictReader(io.StringIO(results_csv([base, replace(other, findings=(doubt,))]))))
    assert [row["iops_difference"] for row in rows] == ["", "-0.5"]
    assert [row["iops_verdict"] for row in rows] == ["", "worse"]
    assert [row["latency_p99_verdict"] for row in rows] == ["", "worse"]
    assert [row["tags"] for row in rows] == ["before", "after x"]
    assert [row["note"] for row in rows] == ["", "new disk"]
    assert [row["parameters"] for row in rows] == ["size=1g runtime=30s"] * 2
    assert [row["doubts"] for row in rows] == ["", "other I/O on the disk"]
    assert rows[1]["condition_kernel"] == "6.9"
    assert "tags" not in results_csv([base]).splitlines()[0]
