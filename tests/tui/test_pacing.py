"""When a frame waits for the terminal, and when a line counts as slow."""

from diskprof.tui.kit.terminal.frame_rate import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(pace: Pace, clock: Clock, *, answer_s: float, count: int = 1000) -> None:
    assert pace.sent(count)
    clock.now += answer_s
    pace.answered()


def test_a_quick_terminal_holds_nothing_up() -> None:
    clock = Clock()
    pace = Pace(clock)
    for _ in range(20):
        asked(pace, clock, answer_s=0.03)
        assert not pace.behind
    assert not pace.slow


def test_a_frame_waits_for_a_terminal_that_lags() -> None:
    clock = Clock()
    pace = Pace(clock)
    asked(pace, clock, answer_s=0.02)
    assert pace.sent(1000)
    assert not pace.sent(1000)
    assert not pace.behind
    clock.now += 0.2
    assert pace.behind
    pace.answered()
    assert not pace.behind


def test_a_far_terminal_is_not_a_slow_one() -> None:
    clock = Clock()
    pace = Pace(clock)
    for _ in range(20):
        asked(pace, clock, answer_s=0.4)
    assert not pace.slow
    assert pace.sent(1000)
    clock.now += 0.45
    assert not pace.behind


def test_late_answers_in_a_row_mean_a_slow_line() -> None:
    clock = Clock()
    pace = Pace(clock)
    asked(pace, clock, answer_s=0.02)
    for _ in range(3):
        asked(pace, clock, answer_s=0.5)
    assert not pace.slow
    asked(pace, clock, answer_s=0.5)
    assert pace.slow


def test_one_late_answer_among_others_does_not() -> None:
    clock = Clock()
    pace = Pace(clock)
    for _ in range(10):
        asked(pace, clock, answer_s=0.02)
        asked(pace, clock, answer_s=0.5)
    assert not pace.slow


def test_a_small_frame_is_not_asked_after() -> None:
    clock = Clock()
    pace = Pace(clock)
    asked(pace, clock, answer_s=0.02)
    assert not pace.sent(100)
    assert pace.sent(400)


def test_a_terminal_that_does_not_answer_is_left_alone() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert pace.sent(1000)
    clock.now += 60
    assert (pace.behind, pace.answers, pace.sent(5000)) == (False, False, False)


def test_an_answer_that_is_lost_stops_nothing_for_long() -> None:
    clock = Clock()
    pace = Pace(clock)
    asked(pace, clock, answer_s=0.02)
    assert pace.sent(1000)
    clock.now += 2
    assert pace.behind
    clock.now += 2
    assert not pace.behind
    assert pace.sent(1000)


def test_small_frames_in_time_do_not_hide_a_slow_line() -> None:
    clock = Clock()
    pace = Pace(clock)
    asked(pace, clock, answer_s=0.02)
    for _ in range(4):
        assert not pace.slow
        asked(pace, clock, answer_s=0.5, count=2000)
        asked(pace, clock, answer_s=0.05, count=500)
    assert pace.slow


def test_large_frames_in_time_speak_for_the_line() -> None:
    clock = Clock()
    pace = Pace(clock)
    asked(pace, clock, answer_s=0.02)
    for _ in range(6):
        asked(pace, clock, answer_s=0.5, count=2000)
        asked(pace, clock, answer_s=0.05, count=2000)
    assert not pace.slow


def test_a_large_frame_that_is_late_counts_twice() -> None:
    clock = Clock()
    pace = Pace(clock)
    asked(pace, clock, answer_s=0.02)
    asked(pace, clock, answer_s=0.5, count=4000)
    asked(pace, clock, answer_s=0.5)
    assert not pace.slow
    asked(pace, clock, answer_s=0.5)
    assert pace.slow
