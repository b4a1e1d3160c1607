"""What goes wrong with a real engine, and what becomes of it."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from engine_runs import RANDOM_READ, SIZE, children, filling, fio, ioping, planned, run
from loops import Loops, call

from diskprof.engines import engine
from diskprof.engines.engine import Event, Noted, Sampled
from diskprof.engines.fio.reader import fio_argv
from diskprof.engines.tools import find_tool
from diskprof.model.job import Opened, fio_job
from diskprof.model.plan import PlannedTest
from diskprof.model.preset import EngineName
from diskprof.model.run import Status
from diskprof.model.sample import Direction

TESTS = Path(__file__).parents[1] / "kit"


def mounted(loops: Loops, size: int) -> Path:
    """A small file system of our own."""
    node = loops.disk(size)
    loops.file_system(node, "ext4", "-m", "0")
    return loops.mount(node)


def hanging(place: Path) -> Callable[[Event], None]:
    """Freezes a file system at the first sample, and thaws it when the silence is told of."""
    frozen: list[int] = []

    def stop() -> None:
        call("fsfreeze", "--freeze", place)
        frozen.append(1)

    freeze, thaw = once(Sampled, stop), once(Noted, lambda: thawed(place))

    def on_event(event: Event) -> None:
        freeze(event)
        # A slow start is told of, too.
        if frozen:
            thaw(event)

    return on_event


def thawed(place: Path) -> None:
    """Ends a freeze, if there is one."""
    subprocess.run(["fsfreeze", "--unfreeze", place], check=False, capture_output=True, timeout=30)


def reaped(pids: list[int]) -> None:
    """Waits for children that were given up."""
    for pid in pids:
        os.waitpid(pid, 0)


def signalled(number: signal.Signals) -> None:
    for pid in children():
        os.kill(pid, number)


def once(kind: type[Event], act: Callable[[], object]) -> Callable[[Event], None]:
    """Does something at the first event of a kind."""
    done = False

    def on_event(event: Event) -> None:
        nonlocal done
        if isinstance(event, kind) and not done:
            done = True
            act()

    return on_event


@pytest.mark.needs("fio", "sys-admin", "loop", "mount", "mkfs.ext4")
async def test_a_full_file_system_is_told_and_what_to_do(loops: Loops, workdir: Path) -> None:
    place = mounted(loops, 16 << 20)
    ran = await run(filling(place / "test.dat", 64 << 20, fallocate="none"), workdir)
    assert ran.outcome.status is Status.FAILED
    assert ran.outcome.reason.startswith("No space left on device (ENOSPC). Free some space")
    assert children() == []


@pytest.mark.needs("fio", "sys-admin", "loop")
async def test_a_device_that_fails_in_mid_run_is_told(loops: Loops, workdir: Path) -> None:
    backing = loops.image(16 << 20)
    test = fio(loops.attach(backing), runtime_s=20.0, **{**RANDOM_READ, "direct": "1", "size": str(16 << 20)})
    ran = await run(test, workdir, on_event=once(Sampled, lambda: os.truncate(backing, 0)))
    assert ran.outcome.status is Status.FAILED
    assert ran.outcome.reason.startswith("Input/output error (EIO). I/O error")
    assert ran.samples
    assert ran.outcome.result


@pytest.mark.needs("fio")
async def test_fio_may_take_its_time_to_end_once_it_has_measured_enough(workdir: Path) -> None:
    """A slow disk works off what is in flight before fio can write its last document."""
    file = workdir / "test.dat"
    file.write_bytes(bytes(SIZE))
    enough = asyncio.Event()
    test = fio(file, runtime_s=30.0, **RANDOM_READ, exec_postrun="sleep 1.6")
    ran = await run(test, workdir, enough=enough, on_event=once(Sampled, enough.set))
    assert (ran.outcome.status, ran.outcome.reason) == (Status.COMPLETE, "")
    assert ran.outcome.result
    assert children() == []


def async_reads(path: Path, **more: str) -> PlannedTest:
    options = {
        "rw": "randread",
        "bs": "4k",
        "iodepth": "8",
        "direct": "1",
        "ioengine": "libaio",
        "size": str(SIZE),
        **more,
    }
    return fio(path, runtime_s=600.0, **options)


@pytest.mark.needs("fio")
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"ioengine": "io_uring"},
        {"rw": "read", "bs": "64k"},
        {"bssplit": "4096/60:65536/40"},
        {"bsrange": "4096-131072"},
        {"rate_iops": "500"},
    ],
)
async def test_reads_that_bring_nothing_end_the_test_and_count_nowhere(
    file: Path, workdir: Path, more: dict[str, str]
) -> None:
    """As a disk that was pulled answers: with no data, and no error, which fio counts as I/Os (F87)."""
    test = async_reads(file, **more)
    ran = await run(test, workdir, on_event=once(Sampled, lambda: os.truncate(file, 0)))
    if "io_queue_init" in " ".join(ran.notes):
        pytest.skip("needs io_uring: the kernel does not permit it here")
    assert ran.outcome.status is Status.FAILED and ran.outcome.result is None
    assert ran.outcome.reason.startswith("fio counted requests that moved no data: the target shrank")
    assert ran.samples and children() == []
    # fio reads the two one after the other (F88); what brings nothing is done many times as often as what does.
    assert sum(sample.bytes for sample in ran.samples) > 0.8 * 4096 * sum(sample.ios for sample in ran.samples)


@pytest.mark.needs("ioping")
@pytest.mark.parametrize("pace", [{"interval": "100ms"}, {"rapid": "1"}])
async def test_a_request_of_iopings_that_brings_nothing_ends_the_test(
    file: Path, workdir: Path, pace: dict[str, str]
) -> None:
    test = ioping(file, runtime_s=600.0, work_time="600", **pace)
    ran = await run(test, workdir, on_event=once(Sampled, lambda: os.truncate(file, 0)))
    assert ran.outcome.status is Status.FAILED and ran.outcome.result is None
    assert ran.outcome.reason.startswith("An ioping request returned less than requested")
    assert ran.samples and children() == []


@pytest.mark.needs("fio", "sys-admin", "loop", "mount", "mkfs.ext4", "fsfreeze")
async def test_a_device_that_hangs_and_thaws_is_measured_in_the_time_that_passed(
    loops: Loops, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SILENT_AFTER_S", 0.5)
    place = mounted(loops, 64 << 20)
    test = fio(place / "test.dat", runtime_s=3.0, rw="randwrite", bs="4k", size=str(SIZE), direct="1")
    try:
        ran = await run(test, workdir, on_event=hanging(place))
    finally:
        thawed(place)
    assert ran.outcome.status is Status.COMPLETE
    assert ran.notes[0].startswith("No status from fio for ")
    assert ran.notes[-1].startswith("fio responds again after ")
    # Without our own clock the interval after the hang would count as one of fio's, 250 ms (F7).
    assert max(sample.duration_ns for sample in ran.measured(Direction.WRITE)) >= 500_000_000
    assert ran.outcome.result and ran.outcome.result.write
    assert sum(sample.ios for sample in ran.measured(Direction.WRITE)) == ran.outcome.result.write.ios


@pytest.mark.needs("fio", "sys-admin", "loop", "mount", "mkfs.ext4", "fsfreeze")
async def test_a_job_beside_one_that_hangs_is_not_taken_for_one_that_moves_nothing(
    tmp_path: Path, loops: Loops, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fio reads its bytes, waits for the other, and then reads its I/Os, which are millions more by then (F88)."""
    monkeypatch.setattr(engine, "_SILENT_AFTER_S", 0.5)
    place = mounted(loops, 64 << 20)
    tool = find_tool(EngineName.FIO)
    common = {"bs": "4096", "size": str(SIZE), "runtime": "3", "time_based": "1"}
    reads, writes = {**common, "rw": "randread", "ioengine": "null"}, {**common, "rw": "randwrite", "direct": "1"}
    quick = fio_job(reads.items(), "quick", opened=Opened((str(tmp_path / "none"),)))
    slow = fio_job(writes.items(), "slow", opened=Opened((str(place / "test.dat"),)))
    argv = fio_argv(tool.path, (quick, slow), interval_ms=250, read_only=False)
    try:
        ran = await run(planned(EngineName.FIO, argv, quick, slow, runtime_s=3.0), workdir, on_event=hanging(place))
    finally:
        thawed(place)
    assert ran.outcome.status is Status.COMPLETE, ran.outcome.reason
    assert ran.outcome.result and ran.outcome.result.read
    assert sum(sample.ios for sample in ran.measured(Direction.READ)) == ran.outcome.result.read.ios


@pytest.mark.needs("fio", "sys-admin", "loop", "mount", "mkfs.ext4", "fsfreeze")
async def test_an_engine_stuck_in_the_kernel_is_told_and_not_waited_for(loops: Loops, workdir: Path) -> None:
    stop, stuck = asyncio.Event(), []
    place = mounted(loops, 64 << 20)

    def freeze(event: Event) -> None:
        # On a busy machine nothing may be done yet in the first interval.
        if not stop.is_set() and isinstance(event, Sampled) and any(sample.ios for sample in event.samples):
            call("fsfreeze", "--freeze", place)
            stuck.extend(children())
            stop.set()

    test = fio(place / "test.dat", runtime_s=60.0, rw="randwrite", bs="4k", size=str(SIZE), direct="1")
    try:
        ran = await run(test, workdir, stop=stop, on_event=freeze)
    finally:
        thawed(place)
        reaped(stuck)
    assert stuck
    assert ran.outcome.status is Status.CANCELLED
    assert f"fio (process {stuck[0]}) is stuck in the kernel" in ran.outcome.reason
    assert ran.outcome.result


@pytest.mark.needs("fio")
async def test_an_engine_that_says_nothing_is_ended(file: Path, workdir: Path) -> None:
    ran = await run(
        fio(file, runtime_s=60.0, **RANDOM_READ),
        workdir,
        on_event=once(Sampled, lambda: signalled(signal.SIGSTOP)),
        stall_limit_s=3.0,
    )
    assert children() == []
    assert ran.outcome.status is Status.FAILED
    assert "did not respond" in ran.outcome.reason
    assert ran.samples
    assert ran.outcome.result


@pytest.mark.needs("fio")
async def test_an_engine_that_is_killed_is_told(file: Path, workdir: Path) -> None:
    ran = await run(
        fio(file, runtime_s=60.0, **RANDOM_READ), workdir, on_event=once(Sampled, lambda: signalled(signal.SIGKILL))
    )
    assert ran.outcome.status is Status.FAILED
    assert ran.outcome.reason.startswith("fio was ended by SIGKILL.")
    assert ran.outcome.result


@pytest.mark.needs("fio")
async def test_an_engine_that_somebody_else_stops_is_told(file: Path, workdir: Path) -> None:
    ran = await run(
        fio(file, runtime_s=60.0, **RANDOM_READ), workdir, on_event=once(Sampled, lambda: signalled(signal.SIGTERM))
    )
    assert (ran.outcome.status, ran.outcome.reason) == (Status.FAILED, "fio was stopped by another process.")


@pytest.mark.needs("fio")
async def test_a_test_that_ends_within_its_ramp_is_no_success(file: Path, workdir: Path) -> None:
    ran = await run(
        fio(file, ramp_s=1.0, runtime_s=0.5, rate_iops="1000", **{**RANDOM_READ, "ioengine": "null"}), workdir
    )
    assert ran.outcome.status is Status.FAILED
    assert ran.outcome.reason.startswith("fio ended during ramp_time") and "ramp_time" in ran.outcome.reason
    assert ran.outcome.result is None and ran.outcome.document


PARENT = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from engine_runs import RANDOM_READ, SIZE, children, fio, run
from diskprof.engines.engine import Sampled

def on_event(event):
    if isinstance(event, Sampled):
        print(*children(), flush=True)

asyncio.run(run(fio(sys.argv[2], runtime_s=600.0, rw="randwrite", bs="4k", size="8m"), Path(sys.argv[3]), on_event=on_event))
"""


@pytest.mark.needs("fio")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_no_engine_outlives_its_runner(file: Path, workdir: Path, number: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, TESTS, file, workdir], stdout=subprocess.PIPE, start_new_session=True
    )
    with parent:
        try:
            assert parent.stdout
            engines = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
            assert engines
        finally:
            parent.send_signal(number)
        parent.wait()
    for pidfd in engines:
        gone, _, _ = select.select([pidfd], [], [], 10.0)
        os.close(pidfd)
        assert gone


def acting(code: str) -> PlannedTest:
    """A program that stands in for fio."""
    return planned(EngineName.FIO, (sys.executable, "-c", code), runtime_s=1.0)


async def test_an_engine_that_will_not_listen_is_killed(workdir: Path) -> None:
    stop = asyncio.Event()
    deaf = acting(
        "import signal, sys\n"
        "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "print('deaf', flush=True)\n"
        "while True: signal.pause()"
    )
    ran = await run(deaf, workdir, stop=stop, on_event=lambda _: stop.set())
    assert children() == []
    assert ran.outcome.status is Status.CANCELLED


async def test_a_flood_on_stderr_holds_nothing_up(workdir: Path) -> None:
    ran = await run(acting("import sys\nfor n in range(200_000): print('line', n, file=sys.stderr)"), workdir)
    assert ran.outcome.status is Status.FAILED
    assert len(ran.notes) < 50


async def test_a_line_without_end_is_refused(workdir: Path) -> None:
    ran = await run(acting("import sys\nwhile True: sys.stdout.write('x' * 1_000_000)"), workdir)
    assert children() == []
    assert ran.outcome.status is Status.FAILED
    assert "more than 64 MiB" in ran.outcome.reason


async def test_a_program_that_is_not_there_is_told(workdir: Path) -> None:
    ran = await run(planned(EngineName.FIO, ("/no/such/fio",)), workdir)
    assert ran.outcome.status is Status.FAILED
    assert ran.outcome.reason == "/no/such/fio cannot be started: No such file or directory."


async def test_an_engine_sees_a_private_place_and_no_secrets(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    ran = await run(
        acting("import os\nfor item in os.environ.items(): print(*item)\nprint('cwd', os.getcwd())"), workdir
    )
    seen = dict(note.split(" ", 1) for note in ran.notes)
    assert seen["TMPDIR"] == seen["cwd"] == str(workdir)
    assert seen["LC_ALL"] == "C"
    assert "SECRET" not in seen


async def test_an_engine_has_nothing_to_read_and_a_session_of_its_own(workdir: Path) -> None:
    code = "import os, sys\nprint('stdin', sys.stdin.read() == '')\nprint('leader', os.getsid(0) == os.getpid())"
    ran = await run(acting(code), workdir)
    assert ran.notes == ["stdin True", "leader True"]


async def test_an_engine_is_started_from_the_main_thread_only(workdir: Path) -> None:
    def elsewhere() -> None:
        asyncio.run(run(acting(""), workdir))

    with pytest.raises(RuntimeError, match="main thread"):
        await asyncio.to_thread(elsewhere)
