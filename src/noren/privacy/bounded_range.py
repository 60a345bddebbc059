"""Several choices, each made after seeing the ones before: what exponential mechanisms add up to.

Maths
    An exponential mechanism at e has bounded range: between two neighbors all log ratios lie in
    one interval [t - e, t], 0 <= t <= e (Dong, Durfee, Rogers 2020). Its worst loss is then t with
    probability p(t) = (1 - e^(t - e)) / (1 - e^-e), and t - e otherwise. Which t an adversary meets
    in a round may depend on the rounds before, so with D_0(x) = max(0, 1 - e^x)
        D_k(x) = max over t of p(t) D_{k-1}(x - t) + (1 - p(t)) D_{k-1}(x - t + e)
    bounds the delta at epsilon = x of k adaptive rounds. It is computed from above: with
    t_i = i e / n, n = 100, every t between t_i and t_{i+1} is given the loss of the upper end and
    the probability of the lower one, on the grid x = epsilon + j e / n, of which epsilon is a
    point. Left of what is kept D is 1, right of it its last value: both are bounds.

Accuracy
    The grid costs at most count * e / n of epsilon (2 % for 20 rounds that share epsilon 1);
    doubles lose less than 1e-10, and 1e-8 of room is asked for. Pure epsilon / count is always
    allowed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from noren.privacy.numbers import Number, not_negative, positive, read_delta, read_epsilon, whole

ROOM = 1 + 1e-8
DIGITS = 12  # of a derived price
POINTS = 100  # n of the module's text
ROUGH = 25  # another n, to begin with
CLOSE, TIGHT = 0.25, 1e-6  # how far a price may be from the largest one, relative: rough, fine
REACH = 9  # standard deviations of the summed loss that are kept on both sides


def bounded_range_delta(each: Number, count: int, epsilon: Number) -> float:
    """Give a delta at epsilon that `count` adaptive exponential mechanisms at `each` keep.

    Examples
    --------
    >>> round(bounded_range_delta("0.1", 20, 1), 9)
    3.47e-07
    """
    rounds = whole("count", count, 1)
    return _delta(
        float(positive("each", each)), rounds, float(not_negative("epsilon", epsilon)), POINTS
    )


def share_bounded_range(epsilon: Number, count: int, delta: Number = 0) -> Fraction:
    """Give the largest epsilon of each of `count` adaptive exponential mechanisms.

    Parameters
    ----------
    epsilon, delta
        The total.
    count
        How many rounds, a number fixed before the first draw.

    Examples
    --------
    >>> round(float(share_bounded_range(1, 5, "1e-6")), 4)
    0.2303
    """
    return _shared(read_epsilon(epsilon), whole("count", count, 1), read_delta(delta))


@lru_cache(maxsize=64)
def _shared(total: Fraction, count: int, delta: Fraction) -> Fraction:
    """Share a total out, and keep what was found."""
    least = digits_down(total / count)
    if not delta or count == 1:
        return least
    found = _largest(float(total), count, float(delta) / ROOM)
    return max(least, digits_down(Fraction(found)))


def _largest(total: float, count: int, delta: float) -> float:
    """Find where D_count(total) reaches delta, and give a point just before it.

    A rough grid, which costs a sixteenth, says where to look on the fine one.
    """

    def excess(points: int, log_each: float) -> float:
        found = _delta(math.exp(log_each), count, total, points)
        return math.log(max(found, 1e-300) / delta)

    low, high = math.log(total / count), math.log(total)
    near = _last_below(partial(excess, ROUGH), low, high)
    if near is not None and excess(POINTS, near) <= 0:
        low, high = near, min(high, near + CLOSE)
    found = _last_below(partial(excess, POINTS), low, high)
    return total / count if found is None else math.exp(found)


def _last_below(excess: Callable[[float], float], low: float, high: float) -> float | None:
    """Find where a rising function crosses 0, from below (None: it begins above).

    False position, halving the value of an end that stays (Illinois). SciPy has finer root finders,
    but loading them takes as long as counting a billion genotypes for the scan that asks this.
    """
    below, above = excess(low), excess(high)
    if below > 0 or above <= 0:
        return None if below > 0 else high
    moved = 0  # which end moved last
    while high - low > TIGHT:
        between = (low * above - high * below) / (above - below)
        middle = min(max(between, low + TIGHT / 4), high - TIGHT / 4)
        value = excess(middle)
        if value <= 0:
            low, below, above = middle, value, above / 2 if moved == -1 else above
            moved = -1
        else:
            high, above, below = middle, value, below / 2 if moved == 1 else below
            moved = 1
    return low


def _delta(each: float, count: int, epsilon: float, points: int) -> float:
    """Compute D_count(epsilon) on a grid of 1/points of each round's range."""
    import numpy as np

    kept = min(count * points, math.ceil(REACH * points * math.sqrt(count)) + points)
    step = each / points
    x = epsilon + np.arange(-kept, kept + 1) * step
    lower = np.arange(points) * step
    chances = np.expm1(lower - each) / math.expm1(-each)
    delta = np.maximum(0.0, -np.expm1(x))
    for _ in range(count):
        delta = _round(delta, chances, points)
    return float(delta[kept]) + 0.0


def _round(delta: Any, chances: Any, points: int) -> Any:
    """Give D_k from D_{k-1}: the worst t for each x."""
    import numpy as np

    size = len(delta)
    wide = np.concatenate([np.ones(points), delta, np.full(points, delta[-1])])
    worst = np.zeros(size)
    for i, chance in enumerate(chances.tolist(), 1):
        high = wide[points - i : points - i + size]  # x - t
        low = wide[2 * points - i : 2 * points - i + size]  # x - t + e
        np.maximum(worst, low + chance * (high - low), out=worst)
    return worst


def digits_down(value: Fraction) -> Fraction:
    """Round down to 12 significant digits, so that people can type what was used."""
    down = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    return Fraction(down.divide(Decimal(value.numerator), Decimal(value.denominator)))
