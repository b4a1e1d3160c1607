"""Where a series of results changes its level: found where it was planted, and seldom where nothing was."""

from random import Random

import pytest

from diskprof.analysis.levels import LEAST, Stretch, levels


def noisy(random: Random, count: int, level: float, noise: float = 0.02) -> list[float]:
    return [level * random.gauss(1, noise) for _ in range(count)]


def starts(values: list[float]) -> list[int]:
    return [level.first for level in levels(values, 0.02)]


def test_a_planted_change_in_sixty_runs_is_named_within_one_run() -> None:
    random, found = Random(1), 0
    for _ in range(100):
        at = random.randrange(6, 55)
        cuts = starts(noisy(random, at, 1000) + noisy(random, 60 - at, 900))[1:]
        found += len(cuts) == 1 and abs(cuts[0] - at) <= 1
    assert found >= 95


def test_what_only_wavers_has_one_level() -> None:
    """One series in a hundred may have a change by chance; wild runs make none, whatever their size."""
    random = Random(2)
    wrong = sum(len(levels(noisy(random, 60, 1000, 0.1))) > 1 for _ in range(300))
    assert wrong <= 9
    wild = noisy(random, 60, 1000)
    wild[20], wild[40] = 10.0, 1_000_000.0
    assert starts(wild) == [0]


def test_there_and_back_are_two_changes() -> None:
    random = Random(5)
    values = noisy(random, 20, 1000) + noisy(random, 20, 850) + noisy(random, 20, 1000)
    found = levels(values, 0.02)
    assert [level.first for level in found] == [0, 20, 40]
    assert found[1].median == pytest.approx(850, rel=0.02)


def test_a_step_too_small_to_matter_is_none() -> None:
    assert levels([100.0] * 20 + [101.0] * 20) == (Stretch(0, 20, 100.0), Stretch(20, 40, 101.0))
    assert levels([100.0] * 20 + [101.0] * 20, 0.02) == (Stretch(0, 40, 100.5),)


def test_short_series() -> None:
    assert levels([]) == ()
    assert levels([5.0]) == (Stretch(0, 1, 5.0),)
    assert levels([0.0] * 50) == (Stretch(0, 50, 0.0),)
    few = [9.0, 9.1, 9.2, 9.3, 5.0, 5.1, 5.2, 5.3, 5.4]
    assert len(levels(few)) == 1
    assert [level.first for level in levels([8.9, *few])] == [0, 5]
    assert len(few) == LEAST - 1


@pytest.mark.parametrize("count", [10, 17, 70, 700, 3000])
def test_a_clear_step_is_found_in_any_number_of_runs(count: int) -> None:
    half = count // 2
    assert starts([1000.0 + at % 7 for at in range(half)] + [500.0 + at % 7 for at in range(half)]) == [0, half]
