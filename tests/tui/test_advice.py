"""Advice on the screen: no words that only a command line takes."""

import pytest
from bench_screens import Bench, open_bench
from recorded import record_run
from stored_screens import press, see, settle, told, until

from diskprof.model.errors import DiskprofError, RunNotFound
from diskprof.store import Store
from diskprof.tui.advice import for_screen, on_screen
from diskprof.tui.screens.live import LiveScreen


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Make the test file smaller, such as --set size=1g.", "Make the test file smaller, such as size=1g."),
        (
            "Leave one out; a parameter is switched off by giving it nothing: --set rate=",
            "Leave one out; a parameter is switched off by giving it nothing: rate",
        ),
        (
            "Choose a smaller size (--set size=...) or another directory.",
            "Choose a smaller size or another directory.",
        ),
        ("`diskprof runs` lists what is.", "The list of runs shows what is."),
        (
            "Choose a directory on the disk in question; `diskprof devices` shows where each is mounted.",
            "Choose a directory on the disk in question; the list of devices shows where each is mounted.",
        ),
        ("Stop it first: diskprof stop k3f7p2qa", "Stop it first."),
        ("Name another file with --store, or leave it out.", "Name another file with --store, or leave it out."),
        ("", ""),
    ],
)
def test_what_a_command_line_takes_is_said_as_the_screen_has_it(said: str, shown: str) -> None:
    assert on_screen(said) == shown


def test_errors_say_what_the_screen_can_do() -> None:
    error = for_screen(
        RunNotFound("There is no run 'k3f7p2qa'.", "There are no runs yet. Start one with `diskprof run`.")
    )
    assert (error.message, error.hint) == ("There is no run k3f7p2qa any more.", "It was deleted.")
    assert str(for_screen(DiskprofError("No.", "Wait."))) == "No.\nWait."


async def test_a_run_that_was_asked_for_and_deleted_is_told_of_in_the_words_of_the_screen(
    bench: Bench, store: Store
) -> None:
    run_id, other = record_run(store), record_run(store)
    async with open_bench(bench) as pilot:
        pilot.app.show_run(run_id)  # type: ignore[attr-defined]
        await see(pilot, f"run {run_id}")
        store.delete(run_id)
        await until(pilot, lambda: "any more" in told(pilot))
        assert f"There is no run {run_id} any more. It was deleted." in told(pilot)
        assert "diskprof " not in told(pilot)
        await press(pilot, "1", "2")
        await settle(pilot)
        assert isinstance(pilot.app.screen, LiveScreen)
        await see(pilot, f"run {other}")
