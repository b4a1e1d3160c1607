"""What a burst is worth, in words: a table of buckets, what jobs take, and that there is none."""

from handmade import direction, fio, run, samples
from msgspec.structs import replace

from diskprof.analysis.bursts import burst_results
from diskprof.model.run import Run
from diskprof.model.sample import Sample
from diskprof.reports.blocks import Form
from diskprof.reports.content.run_report import run_report
from diskprof.reports.data.json_runs import run_json
from diskprof.reports.render.lines import text
from diskprof.reports.render.text import show
from diskprof.tui.live.result_lines import burst_lines

FALLING = [3_000.0] * 45 + [300.0] * 75


def drained(first: list[float], second: list[float], *, block: int = 4096) -> tuple[Run, tuple[Sample, ...]]:
    one, two = (
        fio(name, depth=32, block=block, read=direction(1_000), options=options)
        for name, options in (("drain", ()), ("again", ("--startdelay=60",)))
    )
    two = replace(two, planned=replace(two.planned, delay_s=60.0))
    taken = samples(first, interval_s=0.5, block=block)
    begin = taken[-1].at_ns + 60_000_000_000
    later = samples(second, test=1, interval_s=0.5, block=block)
    return run(one, two), (*taken, *(replace(each, at_ns=each.at_ns + begin) for each in later))


def section(tested: tuple[Run, tuple[Sample, ...]], width: int = 80, form: Form = Form.TERMINAL) -> str:
    whole = text(run_report(*tested, form=form), width)
    return whole.partition("Bursts\n")[2].partition("\n\n")[0]


def test_a_bucket_is_a_row_of_a_table_and_jobs_are_told() -> None:
    told = section(drained(FALLING, [3_000.0] * 13 + [300.0] * 47))
    assert "300 IOPS" in told and "3.00k IOPS" in told and "22 s" in told
    assert "60.8k I/Os" in told and "292/s" in told and "3 min 28 s" in told
    whole = show(*drained(FALLING, [3_000.0] * 13 + [300.0] * 47), 80)
    assert "a job of 10.0k I/Os takes 3.3 s, one of 100k I/Os takes" in " ".join(whole.split())


def test_what_is_a_least_says_so() -> None:
    assert ">= 1.01k/s" in section(drained(FALLING, FALLING))
    told = section(drained([300.0] * 60, [3_000.0] * 13 + [300.0] * 47))
    assert ">= 17.6k I/Os" in told


def test_none_is_told_with_how_long_it_looked() -> None:
    told = " ".join(section(drained([3_000.0] * 120, [3_000.0] * 120)).split())
    assert told.startswith("4K rand read QD32: no burst in 1 min (3.00k IOPS on average).")


def test_bytes_are_told_of_large_blocks() -> None:
    told = section(drained(FALLING, FALLING, block=1 << 20))
    assert "315 MB/s" in told and "GB" in told and "I/Os" not in told


def test_every_form_and_json_have_it() -> None:
    tested = drained(FALLING, FALLING)
    shown = burst_lines(*tested, 80)
    assert "Bursts" in shown[0][0][0], "on the screen above all else"
    for form in set(Form) - {Form.SCREEN}:
        assert any(getattr(block, "text", "") == "Bursts" for block in run_report(*tested, form=form))
    assert not any(getattr(block, "text", "") == "Bursts" for block in run_report(tested[0], tested[1][:120]))
    (found,) = run_json(tested[0], samples=tested[1])["bursts"]
    (one,) = burst_results(*tested)
    assert one.bucket and found["bucket"]["size"] == one.bucket.size and found["bucket"]["refill_at_least"]
    assert run_json(tested[0])["bursts"] == []
