"""All at once: one exponential mechanism over sets of K candidates (SET).

Maths
    u(S) = (min over S of s) / 2 + (sum over S of s) / (2 K), and P(S) is proportional to
    e^(epsilon u(S) / 2). No Gumbels, no list of sets: with w(v) = e^(epsilon v / (4 K)) and
        e^(epsilon m / 4) = (1 - e^(-epsilon/4)) * sum over whole t <= m of e^(epsilon t / 4),
    P(S) is the marginal of the law of (t, S) proportional to e^(epsilon t / 4) times the product of
    w over S, where all scores of S are at least t. Which candidates qualify depends on t only
    through the lowest level v_i that does, so level i is drawn with weight
        (e^(epsilon v_i / 4) - e^(epsilon v_{i+1} / 4)) E_i
    (without the subtraction for the lowest level of all), E_i being the K-th elementary symmetric
    sum of w over all candidates of the levels 1..i. Given i, walk from level i up to level 1 and
    draw how many each gives: j with weight C(n, j) w^j E(levels above, K' - j), K' being what is
    still missing; then uniform candidates inside the level.

Privacy (pure epsilon, no factor K)
    One person moves min s by at most 1, and the mean of s over S by at most 1, so u by at most 1.
    The exponential mechanism with e^(epsilon u / 2) is epsilon-private, and has bounded range.

Accuracy
    All sums have positive terms, except the difference above, for which digits are added. Choices
    compare lazily refined uniforms with decimals, so the law is exact.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from math import comb

from noren.association.levels import Levels, powers_at
from noren.association.statistic import Counts
from noren.noise import Noise
from noren.noise.reals import decimal, precision

GUARD = 15  # digits for the roundings of at most some 10^8 additions and products

Polynomial = list[Decimal]


def draw_set(scores: Counts, many: int, epsilon: Fraction, noise: Noise) -> list[int]:
    """Choose a set of `many` candidates, given in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> draw_set(np.array([0, 500, 0, 900]), 2, Fraction(2), Noise())
    [1, 3]
    """
    levels = Levels.of(scores)
    law = SetLaw(levels, many, epsilon)
    missing, chosen = many, list[int]()
    for level in range(noise.choose(law.lowest_level_weights), -1, -1):
        taken = noise.choose(partial(law.share_weights, level, missing))
        chosen += levels.pick(level, taken, noise)
        missing -= taken
        if not missing:
            break
    return sorted(chosen)


class SetLaw:
    """The weights of the draws above, to any number of digits."""

    def __init__(self, levels: Levels, many: int, epsilon: Fraction) -> None:
        self.sizes, self.many, self.epsilon = levels.sizes, many, epsilon
        self.gaps = [a - b for a, b in zip(levels.values, levels.values[1:], strict=False)]
        self.single = powers_at(levels.values, epsilon / (4 * many))
        self.least = powers_at(levels.values, epsilon / 4)
        self.lost = len(str(int(4 / epsilon)))  # digits that the difference may lose
        self.sums_at = lru_cache(maxsize=2)(self._sums_at)

    def lowest_level_weights(self, digits: int) -> list[Decimal]:
        """Weigh, for each level, the thresholds between it and the next one below."""
        spare = digits + GUARD + self.lost
        sums, least = self.sums_at(spare), self.least(spare)
        with precision(spare):
            step = decimal(self.epsilon / 4)
            shares = [1 - (-step * gap).exp() for gap in self.gaps] + [Decimal(1)]
            return [
                share * power * self._coefficient(polynomial, self.many)
                for share, power, polynomial in zip(shares, least, sums, strict=True)
            ]

    def share_weights(self, level: int, missing: int, digits: int) -> list[Decimal]:
        """Weigh how many of the missing candidates a level gives, the rest coming from above."""
        spare = digits + GUARD
        w, size = self.single(spare)[level], self.sizes[level]
        above = self.sums_at(spare)[level - 1] if level else [Decimal(1)]
        with precision(spare):
            return [
                comb(size, j) * w**j * self._coefficient(above, missing - j)
                for j in range(min(size, missing) + 1)
            ]

    def _sums_at(self, digits: int) -> list[Polynomial]:
        """Give the elementary symmetric sums over the levels from the top down to each."""
        sums, held = list[Polynomial](), [Decimal(1)]
        with precision(digits):
            for size, w in zip(self.sizes, self.single(digits), strict=True):
                ways = [comb(size, j) * w**j for j in range(min(size, self.many) + 1)]
                held = product(held, ways, self.many)
                sums.append(held)
        return sums

    @staticmethod
    def _coefficient(polynomial: Polynomial, power: int) -> Decimal:
        """Give a coefficient, nothing beyond the end."""
        return polynomial[power] if 0 <= power < len(polynomial) else Decimal(0)


def product(first: Polynomial, second: Polynomial, degree: int) -> Polynomial:
    """Multiply two polynomials, as far as the degree.

    Examples
    --------
    >>> product([Decimal(1), Decimal(2)], [Decimal(1), Decimal(3)], 1)
    [Decimal('1'), Decimal('5')]
    """
    made = [Decimal(0)] * min(degree + 1, len(first) + len(second) - 1)
    for j, b in enumerate(second):
        for i, a in enumerate(first[: len(made) - j]):
            made[i + j] += a * b
    return made
