"""The published scheme, as it was published: dummies, m*, its bound, and what is wrong with it.

Maths
    Person n draws m of the T slots once. In those a device sends the bit, flipped with chance
    1 / (1 + e**(epsilon / m)); in the others a dummy, 1 with chance r. The collector says "up" if
    (sum y - N q) / (N (p - q)) >= theta. Published choices: r = 0, and m* = the m with the largest
    g(m / epsilon).

Privacy (pure; LOCAL: one person's whole trajectory within one epoch)
    epsilon, exactly and tightly, for r = 0 and for r > 0. For a change of one slot, epsilon / m.

What does not hold as published (each has a test)
    r = 0 is optimal: only for an upper bound; r = 1 is better where the share is above 1/2.
    Dummies are needed: an explicit "no report" is as private, because the slots ignore the data.
    m* minimizes the error: it minimizes a bound at a share of 1.
    epsilon = T gives m* = T: it takes epsilon > T / 0.574.
    The condition on alpha of the error bound: Bernstein's inequality needs none, and is never
    weaker for alpha up to 1.5.
"""

from __future__ import annotations

from math import exp, expm1

from noren.errors import ParameterError
from noren.monitoring.accuracy import best_m, published_chances, published_variance
from noren.privacy.numbers import Number, exact, probability, read_epsilon, whole

__all__ = ["best_m", "published_chances", "published_variance"]


def bound_constant(horizon: int, m: int, epsilon: Number, r: Number = 0) -> float:
    """Give f of the published error bound."""
    a, price = _share(m, epsilon), float(read_epsilon(epsilon))
    slots, dummy = whole("horizon", horizon, 1), float(probability("r", r))
    top = m / price * expm1(-a) ** 2  # numerator and denominator over e**(2 a)
    return top / (1 + exp(-a) + (1 + exp(-a)) ** 2 * (slots / m - 1) * dummy)


def bound_condition(horizon: int, m: int, epsilon: Number, r: Number = 0) -> float:
    """Give the alpha below which the published error bound is proved."""
    a = _share(m, epsilon)
    more = (1 + exp(-a)) * (horizon / m - 1) * float(probability("r", r))
    return (exp(-a) + more) / -expm1(-a)


def published_bound(
    n_people: int, horizon: int, m: int, epsilon: Number, alpha: Number, r: Number = 0
) -> float:
    """Bound P(some slot is off by alpha or more) as published; refused beyond its condition."""
    margin, limit = float(exact("alpha", alpha)), bound_condition(horizon, m, epsilon, r)
    if not 0 < margin < limit:
        raise ParameterError(
            "alpha", alpha, f"between 0 and {limit:.6g} for the published bound",
            "bernstein_bound needs no condition and is never weaker.",
        )  # fmt: skip
    f, price = bound_constant(horizon, m, epsilon, r), float(read_epsilon(epsilon))
    return 2 * horizon * exp(-f * price * n_people * margin**2 / (3 * horizon))


def bernstein_bound(
    n_people: int, horizon: int, m: int, epsilon: Number, alpha: Number, r: Number = 0
) -> float:
    """Bound the same chance by Bernstein's inequality, without a condition."""
    p, _, gap = published_chances(horizon, m, epsilon, r)
    margin = float(exact("alpha", alpha))
    return 2 * horizon * exp(-n_people * (gap * margin) ** 2 / (2 * (p + gap * margin / 3)))


def _share(m: int, epsilon: Number) -> float:
    """Give the price of one report."""
    return float(read_epsilon(epsilon) / whole("m", m, 1))
