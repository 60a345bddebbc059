"""A total shared out over many equal questions: the largest price that each of them may have.

Maths
    `count` copies of a pure e cost at most (epsilon, delta) if e <= epsilon / count, or if
        delta(e) = sum over (2 i - count) e > epsilon of p_i (1 - e^(epsilon - (2 i - count) e)),
        p_i = C(count, i) e^(i e) / (1 + e^e)^count,
    is at most delta (Kairouz, Oh, Viswanath 2015; exact for all pure mechanisms together, if every
    e is fixed before the first draw). delta(e) grows with e, so the largest e is bisected.
    Copies that choose (exponential mechanisms, adaptive) are cheaper: see `bounded_range`.

Accuracy
    The sum has positive terms only; in doubles it is wrong by less than 1e-9 of itself (compared
    with decimals up to 100,000 copies), after each loss was raised by more than its own rounding.
    The bisection asks for 1e-8 of room, and what is given is rounded down to 12 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from noren.privacy.numbers import Number, read_delta, read_epsilon, whole

ROOM = 1 + 1e-8
ROUNDING = 1e-15  # of a loss and of epsilon, whose difference may be far smaller than both
DIGITS = 12
REACH = 13  # standard deviations beyond which the mass is below e^-84 of its largest term


def share_epsilon(epsilon: Number, count: int, delta: Number = 0) -> Fraction:
    """Give the largest epsilon of each of `count` questions that together cost (epsilon, delta).

    Parameters
    ----------
    epsilon, delta
        The total.
    count
        How many questions, all fixed before the first draw.

    Examples
    --------
    >>> share_epsilon("1.5", 300)
    Fraction(1, 200)
    >>> round(float(share_epsilon(1, 311, "1e-6")), 5)
    0.01348
    """
    return _shared(read_epsilon(epsilon), whole("count", count, 1), read_delta(delta))


@lru_cache(maxsize=256)
def _shared(total: Fraction, count: int, delta: Fraction) -> Fraction:
    """Share a total out, and keep what was found."""
    least = digits_down(total / count)
    if not delta or count == 1:
        return least
    affordable = float(delta) / ROOM
    found = bisected(
        lambda e: composed_delta(e, count, float(total)) <= affordable, float(least), float(total)
    )
    return max(least, digits_down(Fraction(found)))


def composed_delta(each: float, count: int, epsilon: float) -> float:
    """Give the delta at epsilon of `count` copies of a pure `each`, in doubles.

    Examples
    --------
    >>> round(composed_delta(0.1, 100, 2.0), 10)
    0.0201401784
    """
    import numpy as np
    from scipy.stats import binom

    truth = 1 / (1 + math.exp(-each))
    first = math.floor((epsilon / each + count) / 2) + 1
    middle = max(first, count * truth)
    spread = math.sqrt(count * truth * (1 - truth))
    last = min(count, math.ceil(middle + REACH * spread) + REACH)
    i = np.arange(max(0, first - 1), last + 1)
    losses = (2 * i - count) * each
    above = np.maximum(losses - epsilon + ROUNDING * (np.abs(losses) + epsilon), 0)
    return float(np.sum(binom.pmf(i, count, truth) * -np.expm1(-above)))


def bisected(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Give the end at which a condition that ends once still holds; it is assumed to at `low`."""
    if holds(high):
        return high
    while high - low > low * 1e-13:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def digits_down(value: Fraction) -> Fraction:
    """Round down to 12 significant digits, so that people can type what was used."""
    down = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    return Fraction(down.divide(Decimal(value.numerator), Decimal(value.denominator)))
