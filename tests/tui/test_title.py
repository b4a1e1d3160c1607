"""The terminal's title: the progress of a run, and the title of before at the end."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from recorded import record_run

from diskprof.model.run import RunSummary, Status
from diskprof.store import Store, this_process
from diskprof.tui.app import title_words
from diskprof.tui.kit.terminal.title import TerminalTitle

RUN = RunSummary("a2", Status.RUNNING, "quick", "Quick check", "/mnt/\x1bdata", "", "vm", datetime.now(UTC), None)


def test_it_says_how_far_the_run_is_and_how_it_ended() -> None:
    assert title_words((RUN,), RUN, 0.344) == "diskprof: 34% quick on /mnt/�data"
    assert title_words((RUN, RUN), RUN, None) == "diskprof: 2 runs in progress"
    over = RUN._replace(status=Status.FAILED)
    assert title_words((), over, None) == "diskprof: quick failed on /mnt/�data"
    assert title_words((), None, None) == "diskprof"


@pytest.mark.parametrize("term", ["linux", "vt100", "dumb", ""])
def test_a_terminal_without_a_title_is_sent_none(term: str) -> None:
    title = TerminalTitle({"TERM": term})
    assert title.set("diskprof: 34%") == title.clear() == ""


@pytest.mark.parametrize("term", ["xterm-256color", "tmux-256color", "screen"])
def test_it_is_sent_when_it_changes_and_put_back_at_the_end(term: str) -> None:
    title = TerminalTitle({"TERM": term})
    assert title.clear() == ""
    assert title.set("one") == "\x1b[22;2t\x1b]2;one\x07"
    assert title.set("one") == ""
    assert title.set("two") == "\x1b]2;two\x07"
    assert title.clear() == "\x1b]2;\x07\x1b[23;2t"
    assert title.set("two") == "\x1b[22;2t\x1b]2;two\x07"


def test_the_progress_of_a_run_is_one_figure_of_the_store(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        run_id = record_run(store, end=Status.RUNNING, stop_in=(2, 0.5), runner=this_process())
        progress = store.run(run_id).progress
        assert progress and store.overall(run_id) == progress.overall
