"""A run that watched: what a report says of it, and which rules are silent."""

import pytest
from handmade import DISK, direction, run, watched
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import Latency
from diskprof.model.sample import Phase, SystemSample
from diskprof.reports.blocks import Form
from diskprof.reports.content.run_report import run_report
from diskprof.reports.render.lines import text
from diskprof.runner.plan.watch_plan import LONGEST_S, watch_plan

WATCHED = run(
    watched(direction(705, figures=Latency(mean=1.05e6)), direction(301, figures=Latency(mean=1.07e6))),
    processes=(ProcessIo(0, 4242, 1, "mysqld", 1 << 20, 0, 0, 10**9),),
)


def test_its_plan_is_one_test_that_writes_nothing_and_ends_within_a_day() -> None:
    plan = watch_plan(DISK, "sda")
    assert plan.watched and not run().plan.watched
    assert (plan.bytes_written, plan.directories, plan.raw_devices, plan.seconds) == (0, (), (), LONGEST_S)
    assert plan.target.device == DISK.name


@pytest.mark.parametrize("form", [Form.TERMINAL, Form.MARKDOWN])
def test_a_report_says_what_others_did(form: Form) -> None:
    shown = text(run_report(WATCHED, form=form), 100)
    assert "r_await and w_await of the kernel" in shown
    assert "Processes on the disk" in shown and "Other processes" not in shown and "mysqld" in shown
    assert "Commands" not in shown and "fio's" not in shown and "no rule matched" not in shown
    if form is Form.MARKDOWN:
        assert "Others read 705 IOPS, 2.89 MB/s (await 1.05 ms) and wrote 301 IOPS" in shown


def test_no_rule_judges_it() -> None:
    busy = SystemSample(0, Phase.MEASURING, 10**9, 10**9, reads=5, writes=5, cpu_steal=0.9, io_ticks_ms=1000)
    assert find(WATCHED, (), (busy,)) == ()
    assert not replace(WATCHED, plan=run().plan).plan.watched
