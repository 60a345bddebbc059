"""One after the other: rounds of the exponential mechanism without replacement (PEEL).

Maths
    Round j chooses candidate i among those left with probability proportional to e^(e0 s_i / 2).
    By level: a level of score v with n candidates left has weight n e^(e0 v / 2); within it the
    choice is uniform.

Privacy
    A round is e0-private, because one person moves every score by at most 1, and it has bounded
    range e0. Rounds are adaptive: what is left depends on what was chosen. So K rounds cost K e0 as
    pure epsilon, K (z - 1 - ln z) as rho, z = e0 / (1 - e^-e0), and with delta the bound of
    `noren.privacy.bounded_range`.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from noren.association.levels import Levels, powers_at
from noren.association.statistic import Counts
from noren.noise import Noise


def peel(scores: Counts, many: int, each: Fraction, noise: Noise) -> list[int]:
    """Choose `many` candidates in the order of choosing, each round at epsilon `each`.

    Examples
    --------
    >>> import numpy as np
    >>> peel(np.array([0, 500, 0, 900]), 2, Fraction(1), Noise())
    [3, 1]
    """
    levels = Levels.of(scores)
    powers = powers_at(levels.values, each / 2)
    left = [list(member) for member in levels.members]

    def weights_at(digits: int) -> list[Decimal]:
        return [len(own) * p for own, p in zip(left, powers(digits + 5), strict=True)]

    chosen = []
    for _ in range(many):
        level = left[noise.choose(weights_at)]
        chosen.append(int(level.pop(noise.integers_below(len(level)))))
    return chosen
