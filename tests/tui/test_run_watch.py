"""W on the Run screen: a device is watched at once, and Live shows what others do to it and who they are."""

from pathlib import Path

import pytest
from bench_screens import PRESETS, Bench, open_bench, second_connection
from stored_screens import press, see, text_of, told, until

from diskprof.model.errors import DiskprofError, UsageError
from diskprof.model.preset import EngineName
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import Progress, Run, Status, TestResult
from diskprof.model.sample import Direction, Phase, Sample, SystemSample
from diskprof.store import Store
from diskprof.tui.kit.table import Table

SECOND = 10**9


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    with Store.open(tmp_path / "runs.db"):
        pass
    return Bench(tmp_path / "runs.db", presets=PRESETS)


def watched_for(bench: Bench, seconds: int) -> Run:
    """Writes down so many intervals of the one run that there is, as its runner would."""
    with second_connection(bench.path) as store:
        run_id = store.summaries()[0].id
        store.begin_test(run_id, 0, 0)
        for at in range(1, seconds + 1):
            samples = tuple(
                Sample(0, Phase.MEASURING, way, at * SECOND, SECOND, ios, ios * 4096, mean_ns=mean)
                for way, ios, mean in ((Direction.READ, 1200, 9e5), (Direction.WRITE, 34, None))
            )
            system = SystemSample(
                0, Phase.MEASURING, at * SECOND, SECOND, reads=1200, writes=34, read_bytes=1200 * 4096
            )
            processes = (
                ProcessIo(0, 4242, 1, "mysqld", 3 << 20, 1 << 20, (at - 1) * SECOND, at * SECOND),
                ProcessIo(0, 77, 1, "rsync", 1 << 20, 0, (at - 1) * SECOND, at * SECOND),
            )
            progress = Progress(0, Phase.MEASURING, 0.01, 0.01, 3600.0, at * SECOND)
            store.append(run_id, samples=samples, system=(system,), processes=processes, progress=progress)
        return store.run(run_id)


async def test_a_device_is_watched_with_one_key(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        assert "W Watch" in text_of(pilot).splitlines()[-1]
        await press(pilot, "W")
        await until(pilot, lambda: bool(bench.started))
        await see(pilot, "Watched")
        (plan,) = bench.started
        assert [test.engine for test in plan.tests] == [EngineName.TRACE] and not told(pilot)
        assert plan.watched and plan.target.kind == "device" and bench.beside == [True]
        watched_for(bench, 5)
        await see(pilot, "mysqld (pid 4242) read 15 MiB and wrote 5 MiB")
        shown = text_of(pilot)
        assert "1.20k" in shown and "900 us" in shown and "80%" in shown
        assert "max" not in shown and "10 s" in shown, "as wide as it has lasted"
        assert "rsync" not in shown, "at 24 lines there is room for one"
        await press(pilot, "K")
        await see(pilot, "Kernel (iostat -x)")
        assert "fio last" not in text_of(pilot)


async def test_what_was_watched_becomes_a_preset_with_one_key(
    bench: Bench,
) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "W")
        await see(pilot, "Watched")
        run = watched_for(bench, 5)
        await press(pilot, "M")
        assert "Preset" not in text_of(pilot), "not while it goes"
        with second_connection(bench.path) as store:
            store.finish_test(run.id, 0, status=Status.COMPLETE, at_ns=5 * SECOND, result=TestResult())
            store.finish_run(run.id, status=Status.COMPLETE)
        await see(pilot, "preset of this load")
        await press(pilot, "M")
        await see(pilot, "Working set")
        assert f"mimic-sda2-{run.id}" in text_of(pilot) and "taken to be at random" in text_of(pilot)
        assert [preset.name for preset in bench.saved] == [f"mimic-sda2-{run.id}"]


async def test_why_requests_are_not_traced_is_told_once(bench: Bench) -> None:
    bench.untraced = UsageError("Requests are traced by root alone.", "As root: sudo diskprof")
    async with open_bench(bench) as pilot:
        await press(pilot, "W")
        await until(
            pilot,
            lambda: "Requests are traced by root alone. Mean latencies only. As root: sudo diskprof" in told(pilot),
        )
        await until(pilot, lambda: bool(bench.started))
        assert [test.engine for test in bench.started[0].tests] == [EngineName.KERNEL]
        await press(pilot, "1", "W")
        await see(pilot, "Watched")
        assert "Mean latencies only" not in told(pilot), "once"


async def test_a_device_that_is_watched_already_is_shown(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "W")
        await see(pilot, "Watched")
        await press(pilot, "1", "W")
        await see(pilot, "Watched")
        assert len(bench.started) == 1


async def test_the_device_below_a_directory_is_not_watched_twice(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        await press(pilot, "o", *"/srv", "enter")
        await until(pilot, lambda: pilot.app.screen.query_one("#devices", Table).key == "path:/srv")
        await press(pilot, "W")
        await see(pilot, "Watched")
        await press(pilot, "1", "W")
        await see(pilot, "Watched")
        assert [plan.target.given for plan in bench.started] == ["/srv"]


async def test_what_cannot_be_watched_is_said(bench: Bench) -> None:
    async with open_bench(bench) as pilot:
        bench.start_error = DiskprofError("The kernel counts no I/O of /dev/sda.", "Choose one from the list.")
        await press(pilot, "W")
        await until(pilot, lambda: "The kernel counts no I/O" in told(pilot))
        bench.start_error = None
        await press(pilot, "W")
        await until(pilot, lambda: bool(bench.started))


async def test_on_a_tall_screen_there_is_room_for_more_processes(bench: Bench) -> None:
    async with open_bench(bench, (120, 40)) as pilot:
        await press(pilot, "W")
        await until(pilot, lambda: bool(bench.started))
        watched_for(bench, 5)
        await see(pilot, "rsync (pid 77) read 5 MiB")
