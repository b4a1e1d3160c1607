"""fsync latency is told wherever a result is."""

import csv
import io

from handmade import Given, direction, fio, latency, run
from msgspec.structs import replace

from diskprof.model.run import Latency, Run
from diskprof.reports.content.run_report import sync_sentences
from diskprof.reports.data.tables import results_csv
from diskprof.reports.render.markdown import report
from diskprof.reports.render.text import show
from diskprof.tui.live.result_lines import report_lines

TOLD = "wal: fdatasync after writes took 1.20 ms mean (p50 1.10 ms, p99 5.00 ms, p99.9 9.00 ms, max 12.0 ms)."
SYNC = latency(1.2e6, p50=1.1e6, p99=5e6, p99_9=9e6, max=12e6)


def synced(sync: Latency | None = SYNC, option: str = "--fdatasync=1") -> Run:
    given: Given = fio("wal", rw="write", write=direction(800), options=(option,))
    tested = run(given)
    (test,) = tested.tests
    assert test.result
    return replace(tested, tests=(replace(test, result=replace(test.result, sync=sync)),))


def test_the_sentence_has_the_figures_and_the_call() -> None:
    assert sync_sentences(synced()) == [TOLD]
    assert sync_sentences(synced(option="--fsync=1"))[0].startswith("wal: fsync after writes")
    assert sync_sentences(synced(Latency(mean=2e6)))[0].endswith("took 2.00 ms mean.")


def test_a_test_that_does_not_sync_has_none() -> None:
    assert sync_sentences(synced(None)) == []
    assert sync_sentences(synced(Latency())) == []


def test_it_stands_in_every_form_of_the_result() -> None:
    tested = synced()
    assert TOLD in " ".join(show(tested).split())
    assert TOLD in " ".join(report([tested]).split())
    shown = " ".join("".join(text for text, _ in line) for line in report_lines(tested, 80))
    assert TOLD in " ".join(shown.split())
    written, sync = csv.DictReader(io.StringIO(results_csv([tested]), newline=""))
    assert (written["direction"], sync["direction"]) == ("write", "sync")
    assert (float(sync["latency_p99_ns"]), sync["ios"], sync["iops"]) == (5e6, "", "")
