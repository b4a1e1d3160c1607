"""What a report says of tests that went on until they were steady."""

from handmade import cell, direction, fio, run
from msgspec.structs import replace

from diskprof.model.metric import parse_metric
from diskprof.model.run import TestRecord
from diskprof.model.steady import SteadyRule, SteadyWindows
from diskprof.reports.content.steady_words import steady_sentences

RULE = SteadyRule(parse_metric("read.iops"), windows=2)


def waited(record: TestRecord, steady: SteadyWindows) -> TestRecord:
    assert record.result
    result = replace(record.result, steady=steady)
    return replace(record, planned=replace(record.planned, steady=RULE), result=result)


def windows(*values: float, reached: bool = True) -> SteadyWindows:
    return SteadyWindows(reached, values, 2, 0, 1, 10.0 * (len(values) - 2), 0.05, -0.012)


def test_a_test_says_when_it_was_steady_and_how_it_came_there() -> None:
    made = run(fio(read=direction(5000)))
    (record,) = made.tests
    told = replace(made, tests=(waited(record, windows(20_000.0, 9_000.0, 5_050.0, 5_000.0)),))
    (sentence,) = steady_sentences(told)
    assert sentence == (
        f"{record.title}: steady after 20 s. The result is the last 2 windows of 10 s alone "
        "(read.iops, range 5.0%, slope -1.2%). From the first window to the last: 20,000 IOPS to 5,000 IOPS."
    )


def test_cells_are_told_of_together() -> None:
    made = run(*(cell(1000.0, {"bs": bs}) for bs in ("4k", "8k", "16k")))
    one, two, three = made.tests
    told = replace(
        made,
        tests=(
            waited(one, windows(1.0, 1.0)),
            waited(two, windows(2.0, 1.0, 1.0)),
            waited(three, windows(1.0, 2.0, reached=False)),
        ),
    )
    (sentence,) = steady_sentences(told)
    assert sentence == (
        "2 of 3 cells steady, after at most 10 s (read.iops of 2 windows of 10 s within 20%, slope within 10%, at most 30 min). "
        f"Not steady: {three.name}."
    )
