"""How many of a private set come from each level of scores, by two ways that have the same law.

Maths (c_v records at level v with the weight w_v each; wanted: m, sum of m_v = k)
    P(m) proportional to the product over v of C(c_v, m_v) w_v^m_v.
    weighed      T_v[j] = sum over m of T_{v-1}[j - m] C(c_v, m) w_v^m in whole numbers; walk back,
                 draw m for each level by a uniform integer below a total. Its numbers have about
                 20 k (v_max - v_min) bits, so its time grows faster than k^3.
    tossed       m_v independent Binomial(c_v, t w_v / (1 + t w_v)), until their sum is k. The
                 product of these laws is t^(sum of m_v) P(m) but for a constant, so what is kept
                 has the law P, whatever t is. t is chosen so that the sum is about k: about one
                 try in 2.5 sqrt(k) is kept, at the least.

Privacy
    Both are exact, so the price is that of the law. The time that tossing takes depends on the
    data, as that of the walk does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from noren.noise import Noise
from noren.noise.reals import decimal, precision

TRIES = 16  # tosses at a time
PLACES = 1 << 20  # of t, so that it is a fraction


def weighed(weights: Sequence[int], sizes: Sequence[int], k: int, noise: Noise) -> list[int]:
    """Draw the counts in whole numbers; `weights` of one record at each level."""
    ways = [[1] + [0] * k]
    terms = []
    for weight, count in zip(weights, sizes, strict=True):
        powers = [1]
        for m in range(1, min(k, count) + 1):
            powers.append(powers[-1] * weight * (count - m + 1) // m)
        terms.append(powers)
        last = ways[-1]
        ways.append(
            [sum(last[j - m] * powers[m] for m in range(min(j, len(powers) - 1) + 1))
             for j in range(k + 1)]
        )  # fmt: skip
    chosen, left = [0] * len(sizes), k
    for place in range(len(sizes) - 1, -1, -1):
        powers, before = terms[place], ways[place]
        most = min(left, len(powers) - 1)
        chosen[place] = noise.choose([before[left - m] * powers[m] for m in range(most + 1)])
        left -= chosen[place]
    return chosen


def tossed(
    base: Fraction, steps: Sequence[int], sizes: Sequence[int], k: int, noise: Noise
) -> list[int]:
    """Draw the counts by independent coins; one record has the weight base**step at its level."""
    if k == sum(sizes):
        return list(sizes)
    factor = middle_factor(math.log(base), steps, sizes, k)
    chances = [chance_of(factor, base, step) for step in steps]
    while True:
        tries = np.stack(
            [noise.binomial(size, p, TRIES) for size, p in zip(sizes, chances, strict=True)]
        )
        kept = np.flatnonzero(tries.sum(axis=0) == k)
        if kept.size:
            found: list[int] = tries[:, kept[0]].tolist()
            return found


def middle_factor(log_base: float, steps: Sequence[int], sizes: Sequence[int], k: int) -> Fraction:
    """Give a t for which about k records are expected; any t is right, this one is fast."""
    logs, counts = log_base * np.array(steps, np.float64), np.array(sizes, np.float64)
    low, high = -logs.max() - 800.0, -logs.min() + 800.0
    for _ in range(80):
        middle = (low + high) / 2
        expected = counts @ (1 / (1 + np.exp(np.clip(-middle - logs, -700, 700))))
        low, high = (middle, high) if expected < k else (low, middle)
    twos = low / math.log(2)
    whole = math.floor(twos)
    power = Fraction(1 << whole) if whole >= 0 else Fraction(1, 1 << -whole)
    return Fraction(round(2.0 ** (twos - whole) * PLACES), PLACES) * power


def chance_of(factor: Fraction, base: Fraction, step: int) -> Callable[[int], Decimal]:
    """Give t w / (1 + t w), w = base**step, to any number of digits."""

    def at(digits: int) -> Decimal:
        with precision(digits + 20 + len(str(step))):
            odds = decimal(factor) * decimal(base) ** step
            return odds / (1 + odds)

    return at
