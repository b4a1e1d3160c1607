"""A machine that sleeps, and a runner that is stopped: noticed by clocks that a test sets, and told of in the right words."""

import asyncio

import pytest
from handmade import direction, fio, run, samples
from msgspec.structs import replace
from recorded import make_plan

from diskprof.analysis.findings.find import find
from diskprof.engines.engine import _Follower
from diskprof.engines.fio.reader import FioReader
from diskprof.model.run import Finding, Lapse, LapseKind, Weight
from diskprof.model.sample import Phase, Sample
from diskprof.runner.carry import in_child as apart_module
from diskprof.runner.carry.watches import LapseWatch, boottime_ns

SECOND = 1_000_000_000
SLEPT, STOOD = LapseKind


class Clocks:
    """CLOCK_MONOTONIC and CLOCK_BOOTTIME, which go on as a test says."""

    def __init__(self) -> None:
        self.monotonic, self.boottime = 5_000 * SECOND, 9_000 * SECOND
        self.watch = LapseWatch(0.25, lambda: self.monotonic, lambda: self.boottime)

    def passes(self, seconds: float, *, asleep: float = 0.0) -> "Clocks":
        self.monotonic += round(seconds * SECOND)
        self.boottime += round((seconds + asleep) * SECOND)
        return self


def test_a_loop_that_comes_round_in_time_has_noticed_nothing() -> None:
    clocks = Clocks()
    for late in (0.25, 0.3, 0.25, 1.9, 0.25):
        assert clocks.passes(late).watch.turn() == ()


def test_what_boottime_gains_was_sleep() -> None:
    clocks = Clocks()
    clocks.passes(0.25).watch.turn()
    assert clocks.passes(0.25, asleep=3 * 3600 + 12 * 60).watch.turn() == ((SLEPT, 11_520.0),)
    assert clocks.passes(0.25).watch.turn() == (), "once"
    # Reading the one after the other, they never differ by the same to the nanosecond.
    assert clocks.passes(0.25, asleep=0.002).watch.turn() == ()


def test_a_turn_that_comes_late_was_a_standstill() -> None:
    clocks = Clocks()
    assert clocks.passes(5.25).watch.turn() == ((STOOD, 5.0),)
    assert clocks.passes(0.25).watch.turn() == ()


def test_both_can_happen_in_one_turn() -> None:
    assert Clocks().passes(8.25, asleep=60).watch.turn() == ((SLEPT, 60.0), (STOOD, 8.0))


def test_work_that_takes_its_time_is_no_standstill() -> None:
    """A store on a disk that does not answer for a while: that may be the disk under test."""
    clocks = Clocks()
    with clocks.watch.at_work():
        clocks.passes(30)
    assert clocks.passes(0.25).watch.turn() == ()
    with clocks.watch.at_work():
        clocks.passes(30)
    assert clocks.passes(7.25).watch.turn() == ((STOOD, 7.0),)


def test_who_was_continued_had_been_stopped_whatever_it_was_at() -> None:
    clocks = Clocks()
    with clocks.watch.at_work():
        clocks.passes(30)
    clocks.watch.continued()
    assert clocks.passes(0.25).watch.turn() == ((STOOD, 30.0),)


def test_the_real_clocks_do_what_is_taken_for_granted() -> None:
    before = boottime_ns()
    watch = LapseWatch(0.25)
    assert watch.turn() == ()
    assert boottime_ns() >= before > 0


# --- The watch for silence -------------------------------------------------------------------------------------------


class Following:
    """A follower of a fio that says nothing, with a clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0
        planned = make_plan().tests[0]
        reader = FioReader(planned, index=0, started_ns=0, preparing=False)
        self.follower = _Follower(planned, reader, lambda: self.now, asyncio.Event(), 60.0, asyncio.Event())

    def look_after(self, seconds: float) -> str:
        self.now += round(seconds * SECOND)
        self.follower._look()
        return self.follower._failure


def test_a_standstill_of_our_own_is_no_silence_of_the_engine() -> None:
    following = Following()
    assert following.look_after(0.2) == ""
    assert following.look_after(7200) == "", "both stood still for two hours"
    assert not following.follower._events, "nor is anybody told that the device may hang"


def test_an_engine_that_stays_silent_after_it_is_ended_all_the_same() -> None:
    following = Following()
    following.look_after(7200)
    for _ in range(200):
        if following.look_after(0.5):
            break
    assert following.follower._failure.startswith("fio did not respond for 1 min")
    assert following.now < (7200 + 70) * SECOND


# --- What is found ---------------------------------------------------------------------------------------------------

TESTED = run(fio(read=direction(10_000)))


def paused(at: int, seconds: float) -> tuple[Sample, ...]:
    """Ten seconds of 10,000 IOPS; the interval `at` holds a pause in which nothing was done."""
    extra = round(seconds * SECOND)
    return tuple(
        replace(
            sample,
            at_ns=sample.at_ns + (extra if index >= at else 0),
            duration_ns=sample.duration_ns + (extra if index == at else 0),
        )
        for index, sample in enumerate(samples([10_000.0] * 40))
    )


def lapse(kind: LapseKind, at_s: float, seconds: float, *, test: int = 0, phase: Phase = Phase.MEASURING) -> Lapse:
    return Lapse(kind, test, phase, round(at_s * SECOND), seconds)


def found(taken: tuple[Sample, ...], *lapses: Lapse) -> dict[str, Finding]:
    return {finding.name: finding for finding in find(TESTED, taken, (), lapses)}


def test_a_test_that_stood_still_is_told_and_the_device_is_not_blamed() -> None:
    taken = paused(20, 6.0)
    assert "stall" in found(taken)
    told = found(taken, lapse(STOOD, 11.2, 6.0))
    assert not {"stall", "not-steady", "burst", "late-start"} & set(told)
    finding = told["stood-still"]
    assert finding.weight is Weight.DOUBT
    assert finding.evidence == "for 6 s, 5.2 s into the test, 20% of the test, 12.5k IOPS without it"


def test_a_stall_beside_a_standstill_is_still_told() -> None:
    taken = samples([10_000.0] * 20 + [0.0] * 8 + [10_000.0] * 12)
    told = found(taken, lapse(STOOD, 1.0, 3.0))
    assert "stall" in told and "stood-still" not in told


def test_where_the_runner_alone_was_stopped_the_test_is_fine() -> None:
    """fio worked on: its intervals are as full, and as short, as ever."""
    assert found(samples([10_000.0] * 80), lapse(STOOD, 8.0, 5.0)) == {}
    # It could not tell anybody for a while, but it worked.
    full = tuple(replace(each, ios=each.ios * 25) if at == 20 else each for at, each in enumerate(paused(20, 6.0)))
    assert "stood-still" not in found(full, lapse(STOOD, 11.2, 6.0))


def test_a_machine_that_slept_is_told() -> None:
    told = found(samples([10_000.0] * 80), lapse(SLEPT, 8.0, 11_520.0))
    assert told["slept"].weight is Weight.DOUBT
    assert told["slept"].evidence.startswith("for 3 h 12 min, 8 s into the test; ")
    twice = found(samples([10_000.0] * 80), lapse(SLEPT, 8.0, 60.0), lapse(SLEPT, 12.0, 120.0))
    assert twice["slept"].evidence.startswith("2 times, 3 min in total, the first 8 s into the test; ")


@pytest.mark.parametrize("kind", LapseKind)
def test_outside_of_the_measuring_no_figure_is_touched(kind: LapseKind) -> None:
    taken = samples([10_000.0] * 80)
    others = (lapse(kind, 8.0, 60.0, phase=phase) for phase in (Phase.PREPARING, Phase.WARMING))
    assert found(taken, *others, lapse(kind, 8.0, 60.0, test=1)) == {}


def test_a_run_without_figures_has_no_finding() -> None:
    assert find(run(replace(fio(), result=None)), (), (), [lapse(SLEPT, 8.0, 60.0)]) == ()


# --- Waiting for somebody else ---------------------------------------------------------------------------------------


def test_a_child_is_waited_for_anew_where_we_were_stopped_ourselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waking up late, we ask once more, and only then say that there was no answer."""
    asked: list[float] = []
    now = 100.0

    class Poll:
        def poll(self, timeout: float) -> list[int]:
            nonlocal now
            asked.append(timeout)
            now += 3600.0 if len(asked) == 1 else 0.0
            return [] if len(asked) == 1 else [1]

    monkeypatch.setattr(apart_module.time, "monotonic", lambda: now)
    assert apart_module._answers(Poll())  # type: ignore[arg-type]
    assert len(asked) == 2
