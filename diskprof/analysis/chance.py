"""How far two figures may lie apart by chance, told by the spread of the intervals that they are of."""

import math
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from diskprof.analysis.statistics import mean

MOST_ALIKE = 0.5
"""So intervals count as a third at the least: a burst that ends makes all of them alike, and comes again in every run."""

Z = 1.959964
"""What 95 of 100 values of a normal distribution lie within, in standard deviations."""

_FEW_DEGREES = ((1.0, 12.7062), (2.0, 4.3027), (3.0, 3.1824))
"""Student's t of so few degrees of freedom, by the table: the series is too small there."""


class Error(Struct, frozen=True):
    """`squared` is the squared standard error of a figure, 0 where nothing is known of it; `degrees` are those of freedom."""

    squared: float = 0.0
    degrees: float = math.inf


def of_average(values: Sequence[float], deviation: float) -> Error:
    """The error of the mean of values in order (two values or more) by the standard deviation of its values.

    Values that resemble their neighbours count as fewer: n (1 - r) / (1 + r), r being the correlation of neighbours
    (Bayley and Hammersley, The effective number of independent observations in an autocorrelated time series, 1946).
    """
    count = len(values)
    # The correlation about the mean of so few comes out too small by about 1/n.
    alike = min(MOST_ALIKE, max(0.0, _correlation(values) + 1 / count))
    independent = count * (1 - alike) / (1 + alike)
    return Error(deviation**2 / independent, max(1.0, independent - 1))


def of_halves(values: Sequence[float], *, share: bool = False) -> Error:
    """The error of the mean of a series (four values or more) by how far its two halves are apart, as a share of it, of shares in
    their unit.

    One series says it with one degree of freedom, so this is for several runs together. Limits that even out (a token bucket lets
    through in one interval what it held back in the one before) make a series surer than its spread says, which halves show.
    """
    middle = len(values) // 2
    first, second, whole = mean(values[:middle]), mean(values[middle:]), mean(values)
    assert first is not None and second is not None and whole is not None
    if not share and whole <= 0:
        return Error()
    apart = (second - first) / 2 / (1 if share else whole)
    return Error(apart**2, 1.0)


def of_one(values: Sequence[float], deviation: float) -> Error:
    """The error of a figure that is as one of the values (two or more), however many there are."""
    return Error(deviation**2, len(values) - 1)


def of_share(share: float, number_of: int) -> Error:
    """The error of a share of so many: that of a binomial distribution's mean."""
    return Error(share * (1 - share) / number_of)


def by_chance(first: Error, other: Error) -> float:
    """The difference that chance alone stays within in 95 of 100 cases (Welch's test)."""
    both = first.squared + other.squared
    if both <= 0:
        return 0.0
    shares = sum(error.squared**2 / error.degrees for error in (first, other))
    return student(both**2 / shares if shares > 0 else math.inf) * math.sqrt(both)


def student(degrees: float) -> float:
    """What 95 of 100 values of Student's t lie within, of one degree or more (Abramowitz and Stegun, 26.7.5), within 1%.

    Between the first whole degrees its logarithm is taken as linear in 1 / degrees, within 3%.
    """
    for (fewer, larger), (more, smaller) in pairwise(_FEW_DEGREES):
        if fewer <= degrees <= more:
            share = (1 / degrees - 1 / more) / (1 / fewer - 1 / more)
            return math.exp(share * math.log(larger) + (1 - share) * math.log(smaller))
    terms = (
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
    )
    return Z + sum(term / degrees**power for power, term in enumerate(terms, start=1))


def _correlation(values: Sequence[float]) -> float:
    """How much a value resembles the one before it: -1 to 1; 0 where all are the same."""
    average = mean(values)
    assert average is not None
    apart = [value - average for value in values]
    spread = math.fsum(one * one for one in apart)
    return math.fsum(one * after for one, after in pairwise(apart)) / spread if spread > 0 else 0.0
