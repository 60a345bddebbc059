"""A lower bound on the true epsilon of anything that can be run, from samples alone.

Maths
    Run the mechanism n times on each of two neighbours and split the outputs. On half A choose an
    event (cells whose estimated ratio is largest). On half B count it: k1 under D, k0 under D'.
    With the Clopper-Pearson bounds p1_lo and p0_hi, each at level alpha / 2,
        epsilon_lo = ln((p1_lo - delta) / p0_hi)
    is at most the true epsilon (at that delta) with probability 1 - alpha, whatever the mechanism:
    (epsilon, delta)-DP says p1 <= e**epsilon p0 + delta. Both directions are tried at alpha / 2.

Validity
    The event must not see half B. Choosing it on the half that is counted voids the bound.

Power
    For a true epsilon of (1 + x) times the claim, about
        n = ((z_(1-alpha/2) (a + b) + z_power sqrt(a**2 + b**2)) / (x epsilon))**2
    with a**2 = (1 - p1) / p1 and b**2 = (1 - p0) / p0 sees it. Power is best for epsilon between
    0.5 and 3: a passed audit at other values says less, and every result says what it could see.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import beta

Event = Callable[[NDArray[Any]], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the held-out half says: the bound, and the counts it rests on."""

    epsilon_lower: float
    detects: float
    draws: int
    counts: tuple[int, int]


def lower_bound(count: int, draws: int, alpha: float) -> float:
    """Give the one-sided Clopper-Pearson lower bound on a probability.

    Examples
    --------
    >>> round(lower_bound(60, 100, 0.025), 12)
    0.497209150422
    """
    return 0.0 if count == 0 else float(beta.ppf(alpha, count, draws - count + 1))


def upper_bound(count: int, draws: int, alpha: float) -> float:
    """Give the one-sided Clopper-Pearson upper bound on a probability."""
    return 1.0 if count == draws else float(beta.ppf(1 - alpha, count + 1, draws - count))


def epsilon_lower(
    first: int, second: int, draws: int, *, alpha: float, delta: float = 0.0
) -> float:
    """Bound the true epsilon from below, from the counts of one event chosen beforehand.

    Examples
    --------
    >>> round(epsilon_lower(60, 10, 100, alpha=0.05), 12)
    1.037262807584
    """
    surely = lower_bound(first, draws, alpha / 2) - delta
    if surely <= 0:
        return -math.inf
    return math.log(surely / upper_bound(second, draws, alpha / 2))


def draws_needed(
    p1: float, p0: float, *, epsilon: float, excess: float, alpha: float = 0.05, power: float = 0.9
) -> float:
    """Say how many draws on the held-out half see a true epsilon of (1 + excess) times the claim.

    `p1` and `p0` are the event's probabilities under the two neighbours at that true epsilon.
    """
    return (spread(p1, p0, alpha, power) / (excess * epsilon)) ** 2


def detectable(
    p1: float, p0: float, *, epsilon: float, draws: int, alpha: float = 0.05, power: float = 0.9
) -> float:
    """Give the smallest true epsilon that this many draws see with the given power."""
    if not (0 < p1 < 1 and 0 < p0 < 1):
        return math.inf
    return epsilon + spread(p1, p0, alpha, power) / math.sqrt(draws)


def spread(p1: float, p0: float, alpha: float, power: float) -> float:
    """Give the numerator of the power formula."""
    a, b = math.sqrt((1 - p1) / p1), math.sqrt((1 - p0) / p0)
    return float(ndtri(1 - alpha / 2) * (a + b) + ndtri(power) * math.hypot(a, b))
