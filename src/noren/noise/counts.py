"""Draw binomial and hypergeometric counts, exactly, without drawing every coin.

Maths
    Both laws have one peak, and neighbouring probabilities a simple ratio P(k+1) / P(k):
        binomial          (n - k) p / ((k + 1) (1 - p))
        hypergeometric    (good - k) (taken - k) / ((k + 1) (bad - taken + k + 1))
    So weights are multiplied outwards from the peak, where the weight is 1, and one word is
    compared with their running sums in floating point, each step of which costs at most six
    roundings. Both laws are those of a sum of independent coins of the same variance s**2, so by
    Bernstein's inequality less than 2**-50 lies further from the mean than
    a / 3 + sqrt(a**2 / 9 + 2 a s**2), a = 51 ln 2. Where the word lies within the margin of a
    boundary, the draw is decided on the same word with decimals, as many and as far out as it
    takes (`noren.noise.choice`). The law is exact, both ends included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from noren.noise.choice import choose_in_window
from noren.noise.coins import Floats, unit_floats
from noren.noise.inversion import BLOCK, Integers
from noren.noise.reals import Rational, Real, precision
from noren.noise.sources import BitSource, Words

LARGEST_COUNT = 1 << 32
REACH = 51 * math.log(2)
STEP_ERROR, LEFT_OUT = 2.0**-49, 2.0**-45  # of the total: for each weight, and for the ends


@dataclass(frozen=True, slots=True)
class CountLaw:
    """A law on low..high by its ratios: P(k+1) / P(k) = odds * more(k) / fewer(k)."""

    low: int
    high: int
    peak: int
    variance: float
    more: Callable[[Any], Any]
    fewer: Callable[[Any], Any]
    odds: Callable[[int], Decimal]

    def window(self) -> tuple[int, Floats]:
        """Give the weights in floating point, all but 2**-50 of them, and the first k."""
        reach = math.ceil(REACH / 3 + math.sqrt(REACH**2 / 9 + 2 * REACH * self.variance)) + 2
        odds = float(self.odds(40))
        up = np.arange(self.peak, min(self.high, self.peak + reach), dtype=np.float64)
        down = np.arange(self.peak, max(self.low, self.peak - reach), -1.0) - 1
        above = np.cumprod(self.more(up) / self.fewer(up) * odds)
        below = np.cumprod(self.fewer(down) / self.more(down) / odds)
        return self.peak - below.size, np.concatenate([below[::-1], [1.0], above])

    def exact_window(self, digits: int) -> tuple[int, list[Decimal]]:
        """Give the weights as decimals, until they are below what the digits can show."""
        with precision(digits + 20):
            odds, least = self.odds(digits + 10), Decimal(10) ** -(digits + 12)
            above, k = [Decimal(1)], self.peak
            while k < self.high and above[-1] > least:
                above.append(above[-1] * odds * self.more(k) / self.fewer(k))
                k += 1
            below, k = [Decimal(1)], self.peak
            while k > self.low and below[-1] > least:
                k -= 1
                below.append(below[-1] * self.fewer(k) / self.more(k) / odds)
        return k, below[:0:-1] + above


def draw_counts(law: CountLaw, count: int, source: BitSource) -> Integers:
    """Draw independently from the law."""
    if law.low == law.high:
        return np.full(count, law.low, np.int64)
    first, weights = law.window()
    sums = np.cumsum(weights)
    margin = float(sums[-1]) * (STEP_ERROR * sums.size + LEFT_OUT)
    drawn = np.empty(count, np.int64)
    for start in range(0, count, BLOCK):
        part = drawn[start : start + BLOCK]
        words = source.words(part.size)
        found, near = held_by(sums, words, margin)
        part[:] = first + found
        for i in np.flatnonzero(near):
            part[i] = choose_in_window(law.exact_window, source, int(words[i]))
    return drawn


def held_by(sums: Floats, words: Words, margin: float) -> tuple[Integers, Any]:
    """Find which weight holds each word's point, and whether a boundary is too near to say."""
    points = unit_floats(words) * sums[-1]
    found = np.searchsorted(sums, points, side="right")
    to_next = sums[np.minimum(found, sums.size - 1)] - points
    since_last = points - np.where(found, sums[np.maximum(found, 1) - 1], 0.0)
    return found, np.minimum(to_next, since_last) <= margin


def draw_binomial(n: int, p: Real, count: int, source: BitSource) -> Integers:
    """Draw how many of n coins of probability p come up."""
    if isinstance(p, Rational) and p.value in (0, 1):
        return np.full(count, n * int(p.value), np.int64)
    if p.at(20) > Decimal("0.5"):
        return n - draw_counts(binomial_law(n, lambda digits: 1 - p.at(digits)), count, source)
    return draw_counts(binomial_law(n, p.at), count, source)


def binomial_law(n: int, chance: Callable[[int], Decimal]) -> CountLaw:
    """Describe the binomial law of a chance of at most about one half."""
    spare = 10 + 2 * len(str(n))

    def odds(digits: int) -> Decimal:
        with precision(digits + spare + 10):
            p = max(chance(digits + spare), Decimal(0))
            return p / (1 - p)

    p = max(0.0, float(chance(40)))
    return CountLaw(
        low=0,
        high=n,
        peak=min(n, int((n + 1) * p)),
        variance=n * p * (1 - p),
        more=lambda k: n - k,
        fewer=lambda k: k + 1,
        odds=odds,
    )


def draw_hypergeometric(good: int, bad: int, taken: int, count: int, source: BitSource) -> Integers:
    """Draw how many good ones are among those taken, without putting back."""
    total = good + bad
    share = Fraction(taken * good, max(total, 1))
    law = CountLaw(
        low=max(0, taken - bad),
        high=min(good, taken),
        peak=(taken + 1) * (good + 1) // (total + 2),
        variance=float(share * bad * (total - taken) / max(total * (total - 1), 1)),
        more=lambda k: (good - k) * (taken - k),
        fewer=lambda k: (k + 1) * (bad - taken + k + 1),
        odds=lambda digits: Decimal(1),
    )
    return draw_counts(law, count, source)
