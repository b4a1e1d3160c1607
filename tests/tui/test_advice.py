"""Advice on the screen: no words that only a command line takes."""

from bench_screens import Bench, open_bench
from recorded import record_run
from stored_screens import press, see, settle, told, until

from diskprof.store import Store
from diskprof.tui.live.screen import LiveScreen


async def test_a_run_that_was_asked_for_and_deleted_is_told_of_in_the_words_of_the_screen(
    bench: Bench, store: Store
) -> None:
    run_id, other = record_run(store), record_run(store)
    async with open_bench(bench) as pilot:
        pilot.app.show_run(run_id)  # type: ignore[attr-defined]
        await see(pilot, run_id)
        store.delete(run_id)
        await until(pilot, lambda: "It was deleted" in told(pilot))
        assert f"There is no run '{run_id}'. It was deleted." in told(pilot)
        assert "diskprof " not in told(pilot)
        await press(pilot, "1", "2")
        await settle(pilot)
        assert isinstance(pilot.app.screen, LiveScreen)
        await see(pilot, other)
