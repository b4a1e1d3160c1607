"""What goes into the store comes out of it, to the last digit, or is refused."""

import math
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from recorded import FAST, SLOW, RecordedMachine, make_plan, record_run

from diskprof.model.errors import StoreError
from diskprof.model.histogram import Histogram
from diskprof.model.run import (
    Cpu,
    DirectionResult,
    Environment,
    Finding,
    Latency,
    Message,
    Progress,
    Status,
    TestResult,
    Weight,
)
from diskprof.model.sample import Direction, Phase, Sample, SystemSample
from diskprof.store import Store, codec

INT64 = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(0, 2**63 - 1)
NUMBERS = st.floats(allow_nan=False)
TEXTS = st.text(st.characters(codec=None), max_size=40)
HISTOGRAMS = st.dictionaries(st.integers(0, 1855), st.integers(1, 2**40), max_size=40).map(Histogram.of)


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


SAMPLES = st.builds(
    Sample,
    test=st.integers(0, 1000),
    phase=st.sampled_from(Phase),
    direction=st.sampled_from(Direction),
    at_ns=COUNTS,
    duration_ns=COUNTS,
    ios=COUNTS,
    bytes=COUNTS,
    mean_ns=maybe(NUMBERS),
    min_ns=maybe(INT64),
    max_ns=maybe(INT64),
    histogram=maybe(HISTOGRAMS),
)
SYSTEM_SAMPLES = st.builds(
    SystemSample,
    test=st.integers(0, 1000),
    phase=st.sampled_from(Phase),
    at_ns=COUNTS,
    duration_ns=COUNTS,
    reads=maybe(INT64),
    write_ticks_ms=maybe(INT64),
    merges=maybe(INT64),
    write_merges=maybe(INT64),
    cgroup_read_bytes=maybe(INT64),
    cpu_throttled_ns=maybe(INT64),
    dirty_bytes=maybe(INT64),
    own_write_bytes=maybe(INT64),
    discards=maybe(INT64),
    flush_ticks_ms=maybe(INT64),
    cpu_user=maybe(NUMBERS),
    cpu_steal=maybe(NUMBERS),
    temperature_c=maybe(NUMBERS),
)
LATENCIES = st.builds(Latency, mean=maybe(NUMBERS), p50=maybe(NUMBERS), p99_9=maybe(NUMBERS))
DIRECTION_RESULTS = st.builds(
    DirectionResult,
    ios=COUNTS,
    bytes=COUNTS,
    iops=NUMBERS,
    bandwidth_bytes_per_s=NUMBERS,
    runtime_ms=NUMBERS,
    latency=LATENCIES,
    histogram=maybe(HISTOGRAMS),
)
RESULTS = st.builds(
    TestResult,
    read=maybe(DIRECTION_RESULTS),
    write=maybe(DIRECTION_RESULTS),
    cpu=maybe(st.builds(Cpu, NUMBERS, NUMBERS)),
    sync=maybe(LATENCIES),
)
MESSAGES = st.builds(Message, COUNTS, TEXTS, maybe(st.integers(0, 100)), st.booleans())
FINDINGS = st.builds(Finding, TEXTS, st.sampled_from(Weight), TEXTS, TEXTS, TEXTS, TEXTS)

many = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def new_run(store: Store) -> str:
    return store.create_run(make_plan(), FAST.environment)


@many
@given(samples=st.lists(SAMPLES, max_size=5), system=st.lists(SYSTEM_SAMPLES, max_size=5))
def test_samples_come_back_as_they_were(store: Store, samples: list[Sample], system: list[SystemSample]) -> None:
    run_id = new_run(store)
    store.append(run_id, samples=samples, system=system)
    assert store.samples(run_id).samples == tuple(samples)
    assert store.system_samples(run_id).samples == tuple(system)


@many
@given(result=RESULTS, document=st.binary(max_size=300), reason=st.text(max_size=30))
def test_results_and_documents_come_back_as_they_were(
    store: Store, result: TestResult, document: bytes, reason: str
) -> None:
    run_id = new_run(store)
    store.begin_test(run_id, 1, 5)
    store.finish_test(run_id, 1, status=Status.FAILED, reason=reason, at_ns=2**62, result=result, document=document)
    test = store.run(run_id).tests[1]
    assert (test.status, test.reason, test.started_ns, test.ended_ns, test.result) == (
        Status.FAILED,
        reason,
        5,
        2**62,
        result,
    )
    assert store.document(run_id, 1) == document
    assert store.document(run_id, 0) == b""


@many
@given(messages=st.lists(MESSAGES, max_size=4), findings=st.lists(FINDINGS, max_size=4), note=st.text(), path=TEXTS)
def test_words_come_back_as_they_were(
    store: Store, messages: list[Message], findings: list[Finding], note: str, path: str
) -> None:
    """Also file names that are not UTF-8, and controls: what is stored is the truth, and cleaned where it is shown."""
    plan = make_plan()
    plan = replace(plan, target=replace(plan.target, path=path))
    environment = Environment(hostname=path, cgroup_limits=(path, path))
    run_id = store.create_run(plan, environment, note=note)
    store.append(run_id, messages=messages)
    store.finish_run(run_id, status=Status.COMPLETE, findings=findings, headline=note)
    run = store.run(run_id)
    assert (run.plan, run.environment, run.note) == (plan, environment, note)
    assert (run.messages, run.findings) == (tuple(messages), tuple(findings))
    assert store.summaries(limit=1)[0].headline == note


@pytest.mark.parametrize("machine", [FAST, SLOW])
@pytest.mark.parametrize("preset", ["quick", "mixed-70-30", "ioping-latency", "ioping-seek"])
def test_plans_and_environments_come_back_as_they_were(store: Store, preset: str, machine: RecordedMachine) -> None:
    plan = make_plan(preset, machine=machine)
    run = store.run(store.create_run(plan, machine.environment))
    assert run.plan == plan
    assert run.environment == machine.environment
    assert [test.planned for test in run.tests] == list(plan.tests)


def test_progress_comes_back_as_it_was_last(store: Store) -> None:
    run_id = new_run(store)
    assert store.run(run_id).progress is None
    first = Progress(0, Phase.WARMING, 0.25, 0.01, None, 5)
    last = Progress(2, Phase.MEASURING, 1 / 3, 0.7, 12.5, 10**18, 3.25)
    store.append(run_id, progress=first)
    assert store.run(run_id).progress == first
    store.append(run_id, progress=last)
    assert store.run(run_id).progress == last


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 3, 2, 9, 15, 0, 123457, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2026, 7, 1, 12, 0, tzinfo=timezone(timedelta(hours=-9, minutes=-30))),
    ],
)
def test_times_of_day_keep_their_microseconds_and_become_utc(store: Store, moment: datetime) -> None:
    run_id = store.create_run(make_plan(), FAST.environment, started_at=moment)
    store.finish_run(run_id, status=Status.COMPLETE, ended_at=moment + timedelta(seconds=1, microseconds=1))
    run, summary = store.run(run_id), store.summaries()[0]
    assert run.started_at == summary.started_at == moment
    assert run.started_at.tzinfo is UTC
    assert run.ended_at == moment + timedelta(seconds=1, microseconds=1)
    assert summary.duration_s == 1.000001


def test_a_time_without_a_zone_is_a_mistake(store: Store) -> None:
    with pytest.raises(ValueError, match="time zone"):
        store.create_run(make_plan(), FAST.environment, started_at=datetime(2026, 3, 2))
    assert store.summaries() == []


def test_infinities_and_nan_survive_in_a_result(store: Store) -> None:
    run_id = new_run(store)
    result = TestResult(read=DirectionResult(1, 2, math.nan, math.inf, -math.inf, Latency(mean=math.nan)))
    store.finish_test(run_id, 0, status=Status.COMPLETE, at_ns=1, result=result)
    kept = store.run(run_id).tests[0].result
    assert kept and kept.read
    assert math.isnan(kept.read.iops) and kept.read.latency.mean is not None and math.isnan(kept.read.latency.mean)
    assert (kept.read.bandwidth_bytes_per_s, kept.read.runtime_ms) == (math.inf, -math.inf)


SAMPLE = Sample(0, Phase.MEASURING, Direction.READ, 1, 1, 1, 1)


@pytest.mark.parametrize(
    "bad",
    [
        {"samples": [SAMPLE, replace(SAMPLE, mean_ns=math.nan)]},
        {"samples": [SAMPLE], "system": [SystemSample(0, Phase.MEASURING, 1, 1, cpu_steal=math.nan)]},
        {"samples": [SAMPLE], "progress": Progress(0, Phase.MEASURING, math.nan, 0, 0, 0)},
        {"samples": [SAMPLE, replace(SAMPLE, bytes=2**63)]},
    ],
)
def test_what_a_column_cannot_hold_is_refused_and_nothing_of_it_kept(store: Store, bad: dict[str, object]) -> None:
    run_id = new_run(store)
    with pytest.raises(StoreError):
        store.append(run_id, **bad)  # type: ignore[arg-type]
    assert store.samples(run_id).samples == ()
    store.append(run_id, samples=[SAMPLE])
    assert store.samples(run_id).samples == (SAMPLE,)


def test_a_histogram_is_packed_and_not_thousands_of_numbers() -> None:
    histogram = Histogram.of_latencies(range(50_000, 900_000, 37))
    part = DirectionResult(histogram.total, 0, 0.0, 0.0, 0.0, Latency(), histogram)
    assert len(histogram.counts) > 250
    assert len(codec.to_json(TestResult(read=part))) < 1_500


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "7",
        "{",
        '{"read": 1}',
        '{"read": {"ios": "many"}}',
        '{"read": {"histogram": "not base64!"}}',
        '{"read": {"histogram": "AAAA"}}',
        '{"cpu": {"user_percent": 1}}',
    ],
)
def test_a_result_that_is_none_is_an_error_that_a_person_can_read(text: str) -> None:
    with pytest.raises(StoreError, match="stored result cannot be read") as caught:
        codec.result_from(text)
    assert caught.value.hint


def test_what_later_versions_add_to_a_value_is_passed_over() -> None:
    assert codec.result_from('{"read": null, "write": null, "cpu": null, "trim": {"ios": 1}}') == TestResult()


def test_lists_and_samples_do_without_pydantic(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as store:
        record_run(store, run_id="abc", tags=("mine",))
    script = (
        "import sys; from pathlib import Path; from diskprof.store import Store\n"
        "with Store.open(Path(sys.argv[1])) as store:\n"
        "    assert store.summaries() and store.resolve('mine') == store.resolve('a') == 'abc'\n"
        "    assert store.samples('abc').samples and store.system_samples('abc').samples and store.reap() == []\n"
        "    assert store.document('abc', 0) and store.change_counter()\n"
        "    store.set_note('abc', 'x')\n"
        "assert 'pydantic' not in sys.modules and 'pydantic_core' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=60)


AT_ONCE = """
import sys, threading
from diskprof.store import codec
sys.setswitchinterval(1e-6)
text, found = sys.stdin.read(), []
together = threading.Barrier(4)
def read():
    together.wait()
    found.append(codec.plan_from.__wrapped__(text))
threads = [threading.Thread(target=read) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 4 and all(plan == found[0] for plan in found)
"""


def test_threads_that_read_the_first_plan_at_once_all_have_it() -> None:
    text = codec.to_json(make_plan("quick"))
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", AT_ONCE], input=text, capture_output=True, text=True)
        assert done.returncode == 0, (done.returncode, done.stderr)
