"""Draw discrete Gaussian variables, at any variance.

Maths
    P(k) is proportional to exp(-k**2 / (2 v)) on the integers. Up to a standard deviation of 5000
    a table serves. Above, draw Y from the discrete Laplace law of scale t = floor(s) + 1, where
    s = sqrt(v), and accept it with probability exp(-(abs(Y) - v/t)**2 / (2 v)): the product of
    both is proportional to exp(-Y**2 / (2 v)) (Canonne, Kamath, Steinke 2020).
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from noren.noise.coins import Floats, exponential, toss_each
from noren.noise.inversion import Integers, table_of
from noren.noise.laplace import draw_laplace
from noren.noise.reals import Real
from noren.noise.sources import BitSource
from noren.noise.tails import GaussianLaw

LARGEST_TABLE_VARIANCE = 5000**2


def draw_gaussian(variance: Fraction, count: int, source: BitSource) -> Integers:
    """Draw from P(k) proportional to exp(-k**2 / (2 variance))."""
    if variance <= LARGEST_TABLE_VARIANCE:
        return table_of(GaussianLaw(variance)).draw(source, count)
    drawn = np.empty(count, np.int64)
    done = 0
    while done < count:
        batch = min(max(64, (count - done) * 3 // 2), 1 << 15)
        kept = accepted(variance, batch, source)[: count - done]
        drawn[done : done + kept.size] = kept
        done += kept.size
    return drawn


def accepted(variance: Fraction, count: int, source: BitSource) -> Integers:
    """Propose that many discrete Laplace draws and keep those that are accepted."""
    scale = isqrt(variance.numerator // variance.denominator) + 1
    proposed = draw_laplace(Fraction(scale), count, source)
    centre = variance / scale

    def exact(i: int) -> Real:
        return exponential((abs(int(proposed[i])) - centre) ** 2 / (2 * variance))

    distance: Floats = np.abs(proposed) - float(centre)
    nearly = np.exp(-(distance**2) / float(2 * variance))
    return proposed[toss_each(nearly, exact, source.words(count), source)]
