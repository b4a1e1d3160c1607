"""The pace of what takes long to draw."""

import pytest

from diskprof.tui.kit import redraw_pace


def test_a_turn_comes_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(redraw_pace.time, "monotonic", lambda: now)
    mine = redraw_pace.Turns()
    assert mine.left_s("chart", 0.5) == 0
    assert mine.left_s("chart", 0.5) == 0.5
    assert mine.left_s("other", 0.5) == 0
    now = 100.25
    assert mine.left_s("chart", 0.5) == 0.25
    assert mine.left_s("chart", 0.0) == 0
    now = 100.6
    assert mine.left_s("chart", 0.5) == pytest.approx(0.15)
    now = 100.66
    assert mine.left_s("chart", 0.5) == 0, "with what is drawn now"
    now = 101.2
    assert mine.left_s("chart", 0.5) == 0
    assert mine.left_s("chart", 0.5) == 0.5
    mine.forget("chart")
    assert mine.left_s("chart", 0.5) == 0
    mine.clear()
    assert mine.left_s("chart", 0.5) == 0
    assert mine.left_s("other", 0.5) == 0
