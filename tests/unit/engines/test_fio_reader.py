import pytest
from fio_streams import (
    INTERVAL_MS,
    MEASURED,
    NAMES,
    Recording,
    as_fio_writes,
    counters,
    document,
    planned_fio,
    recording,
)
from hypothesis import given
from hypothesis import strategies as st

from diskprof.engines.events import Ending, Event, Noted, Outcome, PhaseChanged, Sampled
from diskprof.engines.fio.reader import FioReader, fio_argv
from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.job import Opened, fio_job
from diskprof.model.plan import PlannedTest
from diskprof.model.run import Status
from diskprof.model.sample import Phase

MS = 1_000_000
FIO = "/usr/bin/fio"
READ = counters(total_ios=1000, io_bytes=4_096_000, runtime=2000, iops=500.0, clat_ns={"N": 1000, "mean": 7.0})
TIMED = planned_fio(runtime_s=2, argv=("fio", "--runtime=2"))


def reader(planned: PlannedTest) -> FioReader:
    return FioReader(planned, index=0, started_ns=0, preparing=False)


def run(planned: PlannedTest, out: bytes, *, err: str = "", ending: Ending) -> tuple[list[Event], Outcome]:
    fio = reader(planned)
    events = fio.feed(out, 3000 * MS)
    for line in err.splitlines():
        events += fio.say(line)
    events += fio.close(3001 * MS)
    return events, fio.conclude(ending)


def rerun(recorded: Recording) -> tuple[list[Event], Outcome]:
    planned = planned_fio(ramp_s=recorded.ramp_s)
    return run(planned, recorded.out, err=recorded.err, ending=Ending(recorded.code))


def outcome_of(
    *documents: dict[str, object], planned: PlannedTest = TIMED, code: int | None = 0, err: str = ""
) -> Outcome:
    return run(planned, b"".join(map(as_fio_writes, documents)), err=err, ending=Ending(code))[1]


@pytest.mark.parametrize(("rw", "phases"), [("randread", []), ("randwrite", [Phase.PREPARING])])
def test_a_disk_that_stands_still_at_the_beginning_is_not_laid_out_by_a_reader(rw: str, phases: list[Phase]) -> None:
    fio = reader(planned_fio(argv=("fio", "--name=a", f"--rw={rw}")))
    told = fio.feed(as_fio_writes(document({"read": counters()}, timestamp_ms=1)), 250 * MS)
    assert [event.phase for event in told if isinstance(event, PhaseChanged)] == phases
    told = fio.feed(as_fio_writes(document({"read": READ}, timestamp_ms=2001)), 2250 * MS)
    assert [event.phase for event in told if isinstance(event, PhaseChanged)] == [Phase.MEASURING]


@pytest.mark.parametrize("name", [name for name in MEASURED if not name.endswith("sigint")])
def test_recorded_runs_that_went_well_are_complete(name: str) -> None:
    _, outcome = rerun(recording(name))
    assert (outcome.status, outcome.reason) == (Status.COMPLETE, "")
    assert outcome.result and outcome.result.directions
    assert outcome.document in recording(name).out


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("sigint")])
def test_a_run_that_somebody_else_stopped_failed_and_keeps_what_it_has(name: str) -> None:
    events, outcome = rerun(recording(name))
    assert (outcome.status, outcome.reason) == (Status.FAILED, "fio was stopped by another process.")
    assert outcome.result
    assert not any(isinstance(event, Noted) for event in events)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("sigint")])
def test_a_run_that_we_stopped_is_cancelled_and_keeps_what_it_has(name: str) -> None:
    _, outcome = run(planned_fio(), recording(name).out, ending=Ending(recording(name).code, cancelled=True))
    assert outcome.status is Status.CANCELLED
    assert outcome.result


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("missing-device")])
def test_a_missing_device_fails_with_the_reason(name: str) -> None:
    events, outcome = rerun(recording(name))
    assert outcome.status is Status.FAILED
    assert outcome.reason.startswith("Invalid argument (EINVAL).")
    assert outcome.result is None
    assert Noted("fio: total_file_size failed: Invalid argument (EINVAL)", warning=True) in events


def test_the_note_of_a_capped_queue_is_passed_on() -> None:
    events, _ = rerun(recording("3.33-iodepth-note"))
    (note,) = [event for event in events if isinstance(event, Noted)]
    assert "queue depth will be capped at 1" in note.text


def test_a_test_stopped_in_its_ramp_has_no_result() -> None:
    ramp = document({"read": {**READ, "clat_ns": {"N": 0, "mean": 0.0}}})
    planned = planned_fio(ramp_s=5, runtime_s=2)
    _, outcome = run(planned, as_fio_writes(ramp), ending=Ending(128, cancelled=True))
    assert (outcome.status, outcome.result) == (Status.CANCELLED, None)


def test_a_test_that_ended_by_itself_as_it_was_stopped_is_complete() -> None:
    _, outcome = run(TIMED, as_fio_writes(document({"read": READ})), ending=Ending(0, cancelled=True))
    assert outcome.status is Status.COMPLETE


@pytest.mark.parametrize(
    ("job", "planned", "code", "reason"),
    [
        ({}, TIMED, 0, "without any I/O"),
        ({"read": READ, "error": 5}, TIMED, 1, "Input/output error (EIO). I/O error"),
        ({"read": READ, "error": 28}, TIMED, 1, "No space left on device (ENOSPC). Free some space"),
        ({"read": READ, "error": 4242}, TIMED, 1, "error 4242."),
        ({"read": READ, "total_err": 2}, TIMED, 0, "2 requests failed"),
        ({"read": READ}, TIMED, 1, "exit code 1"),
        ({"read": READ}, TIMED, -9, "ended by SIGKILL. Possibly out of memory"),
        ({"read": READ}, TIMED, -222, "ended by signal 222."),
        ({"read": READ}, TIMED, None, "did not end"),
        ({"read": READ}, planned_fio(runtime_s=9, argv=("fio", "--runtime=9")), 0, "for 2 s instead of 9 s"),
        ({"read": READ}, planned_fio(runtime_s=1, amount_bytes=2**30), 0, "after 3.91 MiB of 1 GiB"),
        ({"read": READ}, planned_fio(runtime_s=9, amount_bytes=2**30, argv=("fio", "--runtime=9")), 0, "of 1 GiB"),
    ],
)
def test_what_speaks_against_a_result_is_said(
    job: dict[str, object], planned: PlannedTest, code: int | None, reason: str
) -> None:
    outcome = outcome_of(document(job), planned=planned, code=code)
    assert outcome.status is Status.FAILED
    assert reason in outcome.reason


@pytest.mark.parametrize(
    "planned",
    [
        TIMED,
        planned_fio(runtime_s=2.4, argv=("fio", "--runtime=2")),
        planned_fio(runtime_s=1, amount_bytes=4_096_000),
        planned_fio(runtime_s=900, amount_bytes=4_096_000),
        planned_fio(runtime_s=2, amount_bytes=2**30, argv=("fio", "--runtime=2")),
    ],
)
def test_time_or_amount_reached_is_complete(planned: PlannedTest) -> None:
    assert outcome_of(document({"read": READ}), planned=planned).status is Status.COMPLETE


def test_bad_options_are_told_in_fios_words() -> None:
    outcome = outcome_of(code=1, err="Bad option <bss=4k>")
    assert (outcome.status, outcome.document) == (Status.FAILED, b"")
    assert outcome.reason == "fio ended with exit code 1: Bad option <bss=4k>"


def test_an_error_line_says_more_than_the_document() -> None:
    line = "fio: pid=9, err=1/file:engines/io_uring.c:1, func=io_queue_init, error=Operation not permitted"
    outcome = outcome_of(document({"error": 1}), code=1, err=line)
    assert outcome.reason == (
        "Operation not permitted (EPERM). "
        "io_uring is disabled (kernel.io_uring_disabled, or a container): use ioengine=libaio."
    )


def io_error(words: str, offset: int) -> str:
    return f"fio: io_u error on file /dev/sdk: {words}: read offset={offset}, buflen=4096"


JOB_ENDS = "fio: pid=0, err=5/file:io_u.c:1876, func=io_u error, error=Input/output error"


def test_many_failed_requests_are_one_message_for_each_error() -> None:
    lines = [*(io_error("Input/output error", 4096 * n) for n in (5, 6)), JOB_ENDS, io_error("No such device", 8192)]
    events, _ = run(TIMED, b"", err="\n".join(lines), ending=Ending(1))
    assert [event.text for event in events if isinstance(event, Noted)] == [
        "fio: io_u error failed: Input/output error (EIO)",
        f"2 times, the first: {io_error('Input/output error', 20480)}",
        io_error("No such device", 8192),
    ]


@pytest.mark.parametrize("number", [1, 59])
def test_a_device_that_was_removed_is_the_reason_though_the_first_requests_failed_otherwise(number: int) -> None:
    lines = [io_error("Input/output error", 0), *[io_error("No such device", 4096)] * number, JOB_ENDS]
    outcome = outcome_of(document({"error": 5}), code=1, err="\n".join(lines))
    assert outcome.reason == "No such device (ENODEV). The device was removed."


def test_a_failure_of_ours_goes_before_everything() -> None:
    _, outcome = run(TIMED, as_fio_writes(document({"read": READ})), ending=Ending(128, failure="It hung."))
    assert (outcome.status, outcome.reason) == (Status.FAILED, "It hung.")
    assert outcome.result


def test_a_flood_of_lines_is_cut_off() -> None:
    flood = b"".join(b"fio: line %d\n" % (number % 500) for number in range(5000))
    events, _ = run(TIMED, flood + as_fio_writes(document({"read": READ})), ending=Ending(0))
    notes = [event.text for event in events if isinstance(event, Noted)]
    assert len(notes) < 50
    assert notes[-1].startswith("fio said ")


def test_a_broken_document_does_not_spoil_the_others() -> None:
    out = b'{\n  "jobs" : [\n' + as_fio_writes(document({"read": READ}))
    events, outcome = run(TIMED, out, ending=Ending(0))
    assert outcome.status is Status.COMPLETE
    assert [event.text for event in events if isinstance(event, Noted)] == ["Truncated fio output after 15 B."]


def test_arguments_come_in_the_order_that_fio_needs() -> None:
    a = fio_job((("rw", "randread"), ("bs", "4k")), "a", opened=Opened(("/mnt/x/test.dat",)))
    b = fio_job((("rw", "read"), ("group_reporting", "1")), "b", opened=Opened(("/mnt/x/test.dat",)))
    argv = fio_argv(FIO, (a, b), interval_ms=250, read_only=True)
    assert argv == (
        "/usr/bin/fio",
        "--output-format=json+",
        "--status-interval=250ms",
        "--readonly",
        *(
            "--name=a",
            "--filename=/mnt/x/test.dat",
            "--thread=1",
            "--lat_percentiles=1",
            "--slat_percentiles=1",
            "--allow_file_create=0",
            "--rw=randread",
            "--bs=4k",
        ),
        *(
            "--name=b",
            "--filename=/mnt/x/test.dat",
            "--thread=1",
            "--lat_percentiles=1",
            "--slat_percentiles=1",
            "--allow_file_create=0",
            "--rw=read",
        ),
        "--group_reporting=1",
    )


def test_a_test_that_writes_is_not_held_to_reading() -> None:
    argv = fio_argv(FIO, (fio_job((("rw", "write"),), "w", opened=Opened(("/x",))),), interval_ms=1000, read_only=False)
    assert not {"--readonly", "--allow_file_create=0"} & set(argv)
    assert "--status-interval=1000ms" in argv


def test_a_colon_in_a_path_is_escaped() -> None:
    argv = fio_argv(FIO, (fio_job((), "r", opened=Opened(("/mnt/a:b",))),), interval_ms=250, read_only=True)
    assert "--filename=/mnt/a\\:b" in argv


@pytest.mark.parametrize("path", ["/mnt/a#b", "/mnt/a;b", "/mnt/a ", " /mnt/a", "/mnt/a\nb", "/mnt/a\\:b", "/mnt/a\0"])
def test_a_path_that_fio_would_misread_is_refused(path: str) -> None:
    with pytest.raises(UsageError):
        fio_argv(FIO, (fio_job((), "r", opened=Opened((path,))),), interval_ms=250, read_only=True)


@pytest.mark.parametrize("name", ["global", "globals", "global-reader", "a\nb"])
def test_a_name_that_fio_would_not_take_for_a_job_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        fio_argv(
            FIO,
            (fio_job((), "r", opened=Opened(("/x",))), fio_job((), name, opened=Opened(("/x",)))),
            interval_ms=250,
            read_only=True,
        )


@pytest.mark.parametrize(
    ("name", "value"), [("filename", "/dev/sda"), ("Rw", "x"), ("rw=x --y", "1"), ("", ""), ("bs", "4k\nexec_prerun=x")]
)
def test_an_option_that_is_none_is_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError):
        fio_argv(FIO, (fio_job(((name, value),), "r", opened=Opened(("/x",))),), interval_ms=250, read_only=True)


JOBS = [
    document({"read": READ}),
    document({"error": 5}),
    document({"read": counters(total_ios=3, runtime=1)}),
    {"jobs": [1]},
]
PIECES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([as_fio_writes(each) for each in JOBS]),
    st.sampled_from([b"{\n", b"\n}\n", b"fio: pid=1, err=99999/file:x:1, func=, error=\xff\n"]),
)


@given(st.lists(PIECES, max_size=12), st.sampled_from([0, 1, 128, -9, -200, None]), st.booleans(), st.booleans())
def test_any_bytes_give_an_outcome(pieces: list[bytes], code: int | None, cancelled: bool, ramp: bool) -> None:
    fio = reader(planned_fio(ramp_s=ramp, runtime_s=2))
    total = 0
    try:
        for number, piece in enumerate(pieces):
            total += sum(isinstance(event, Sampled) for event in fio.feed(piece, number * INTERVAL_MS * MS))
            fio.idle()
        fio.close(len(pieces) * INTERVAL_MS * MS)
    except DiskprofError:
        return
    assert fio.conclude(Ending(code, cancelled)).status.over


WARMING = document({"read": {**READ, "clat_ns": {"N": 0, "mean": 0.0}}}, timestamp_ms=500)


def test_what_the_ramp_did_counts_towards_the_amount() -> None:
    """fio ends when both together have done it."""
    done = 2 * 4_096_000
    measured = document({"read": {**READ, "runtime": 900}}, timestamp_ms=1500)
    after = document(
        {"read": counters(total_ios=9, io_bytes=36_864, runtime=9, clat_ns={"N": 9, "mean": 7.0})}, timestamp_ms=600
    )
    ramp = planned_fio(ramp_s=0.5, runtime_s=9, amount_bytes=done)
    assert outcome_of(WARMING, after, measured, planned=ramp).status is Status.COMPLETE
    more = planned_fio(ramp_s=0.5, runtime_s=9, amount_bytes=2 * done)
    assert outcome_of(WARMING, after, measured, planned=more).reason == "fio ended after 3.91 MiB of 15.6 MiB."
    without = planned_fio(runtime_s=9, amount_bytes=done)
    assert outcome_of(measured, planned=without).reason == "fio ended after 3.91 MiB of 7.81 MiB."


def test_a_ramp_that_took_all_of_it_is_told_by_what_ended_it() -> None:
    amount = planned_fio(ramp_s=2, runtime_s=9, amount_bytes=4_096_000)
    assert outcome_of(WARMING, planned=amount).reason == (
        "fio ended during ramp_time, nothing was measured: give it more to do than it does in its ramp_time."
    )
    timed = planned_fio(ramp_s=2, runtime_s=1, argv=("fio", "--runtime=1"))
    assert outcome_of(WARMING, planned=timed).reason.endswith("make runtime longer than ramp_time.")


SEARCH = planned_fio(runtime_s=9, argv=("fio", "--runtime=9", "--latency_target=1000"))
SEARCHED = {"latency_depth": 9, "latency_target": 1_000_000, "latency_percentile": 95.0, "latency_window": 200_000}


def test_a_search_for_a_queue_depth_ends_when_it_has_found_it() -> None:
    outcome = outcome_of(document({"read": READ, **SEARCHED}), planned=SEARCH)
    assert (outcome.status, outcome.reason) == (Status.COMPLETE, "")
    assert outcome.told == "9 is the deepest queue (QD) that keeps 95% of the I/Os within 1.00 ms."
    two = document(
        {"jobname": "a", "read": READ, **SEARCHED}, {"jobname": "b", "read": READ, **SEARCHED, "latency_depth": 4}
    )
    told = outcome_of(two, planned=SEARCH).told
    assert told.startswith("a: 9 is the deepest") and " b: 4 is the deepest" in told


def test_a_search_that_found_nothing_says_so() -> None:
    outcome = outcome_of(document({"read": {**READ, "runtime": 9000}, **SEARCHED}), planned=SEARCH)
    assert outcome.status is Status.COMPLETE
    assert outcome.told == "fio found no queue depth that keeps 95% of the I/Os within 1.00 ms."


def test_no_search_is_told_of_where_there_was_none_or_it_was_stopped() -> None:
    none = {**SEARCHED, "latency_target": 0}
    assert outcome_of(document({"read": READ, **none}), planned=TIMED).told == ""
    final = as_fio_writes(document({"read": READ, **SEARCHED}))
    assert run(SEARCH, final, ending=Ending(128, cancelled=True))[1].told == ""
