"""A lost terminal must not keep the process."""

import threading

import pytest
from textual.app import App

from diskprof.tui.kit.terminal.driver import LettingGoDriver


async def test_the_thread_that_reads_keys_ends_although_the_terminal_takes_no_last_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(*_words: object) -> None:
        raise OSError("Input/output error")

    driver = LettingGoDriver(App[None]())
    reading = threading.Thread(target=driver.exit_event.wait, daemon=True)
    reading.start()
    monkeypatch.setattr(driver, "_key_thread", reading)
    monkeypatch.setattr(driver, "write", gone)
    with pytest.raises(OSError, match="Input/output"):
        driver.stop_application_mode()
    reading.join(timeout=20)
    assert not reading.is_alive()
