"""What a mechanism costs in rho: tight values, exact, rounded up.

Maths
    rho-zCDP bounds the Renyi divergence of every order a > 1 by a * rho. For the mechanisms
    here the supremum of D_a / a lies at a -> 1, where it is the Kullback-Leibler divergence of
    the worst pair (proof: docs/proofs/privacy/charges.md). With x = exp(-epsilon):

    any epsilon-DP mechanism             epsilon (1 - x) / (1 + x) = epsilon tanh(epsilon / 2)
    Laplace noise, continuous            epsilon + x - 1
    discrete Laplace, sensitivity D      epsilon - epsilon (1 - x) / (D sinh(epsilon / D))
    randomized response among k          epsilon (1 - x) / (1 + (k - 1) x)
    exponential mechanism                z - 1 - ln z, z = epsilon / (1 - x)
    discrete Gaussian, L2 sensitivity D  D^2 / (2 variance)

    For randomized response this holds where k - 2 <= 4 exp(epsilon / 2), so always for k <= 6;
    elsewhere the supremum may lie at another order, and is searched for.
    An (epsilon, delta) mechanism is delta-approximately epsilon tanh(epsilon / 2)-zCDP.

A name that ends in `_charge` gives a Fraction that is not below the true value: what ledgers add
up. The same name without it gives the nearest float, for people and plots.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from noren.privacy.decimals import TINY, decimal, precise, rounded_up
from noren.privacy.numbers import Number, not_negative, positive, whole

SEARCH_MARGIN = Decimal("1e-12")  # of the value; the search below is right to about 1e-20


def pure_to_zcdp_charge(epsilon: Number) -> Fraction:
    """Give the rho of any epsilon-DP mechanism: epsilon * tanh(epsilon / 2), rounded up."""
    return _pure_rho(not_negative("epsilon", epsilon))


@lru_cache(maxsize=1024)  # asked again for each request of a price that many requests have
def _pure_rho(size: Fraction) -> Fraction:
    if size < TINY:
        return size * size / 2
    with precise(size):
        x, e = (-decimal(size)).exp(), decimal(size)
        return rounded_up(e * (1 - x) / (1 + x))


def laplace_rho_charge(epsilon: Number) -> Fraction:
    """Give the rho of the continuous Laplace mechanism, rounded up."""
    size = not_negative("epsilon", epsilon)
    if size < TINY:
        return size * size / 2
    with precise(size):
        e = decimal(size)
        return rounded_up(e + (-e).exp() - 1)


def discrete_laplace_rho_charge(epsilon: Number, sensitivity: int = 1) -> Fraction:
    """Give the rho of discrete Laplace noise of scale sensitivity / epsilon, rounded up.

    This is the price of noise on a grid: `sensitivity` counts grid steps (for a vector, L1).
    """
    return _grid_rho(not_negative("epsilon", epsilon), whole("sensitivity", sensitivity, 1))


@lru_cache(maxsize=1024)
def _grid_rho(size: Fraction, steps: int) -> Fraction:
    if size < TINY:
        return size * size / 2
    with precise(size / steps):
        e, step = decimal(size), decimal(size / steps)
        x, y = (-e).exp(), (-step).exp()
        return rounded_up(e - 2 * e * (1 - x) * y / (steps * (1 - y * y)))


def exponential_mechanism_rho_charge(epsilon: Number) -> Fraction:
    """Give the rho of the exponential mechanism (epsilon-bounded range), rounded up."""
    size = not_negative("epsilon", epsilon)
    if size < TINY:
        return size * size / 8
    with precise(size):
        e = decimal(size)
        z = e / (1 - (-e).exp())
        return rounded_up(z - 1 - z.ln())


def randomized_response_rho_charge(epsilon: Number, k: int = 2) -> Fraction:
    """Give the rho of k-ary randomized response, rounded up."""
    size, k = not_negative("epsilon", epsilon), whole("k", k, 2)
    if size < TINY:
        return size * size / 2
    with precise(size):
        e = decimal(size)
        x = (-e).exp()
        if k > 6 and (k - 2) ** 2 * x > 16:
            return min(_searched_response_rho(size, k), pure_to_zcdp_charge(size))
        return rounded_up(e * (1 - x) / (1 + (k - 1) * x))


def discrete_gaussian_rho_charge(variance: Number, sensitivity_squared: Number = 1) -> Fraction:
    """Give the rho of discrete Gaussian noise: squared L2 sensitivity / (2 variance), exact."""
    squared = positive("sensitivity_squared", sensitivity_squared)
    return squared / (2 * positive("variance", variance, "It is the square of the noise's sd."))


def pure_to_zcdp(epsilon: Number) -> float:
    """Give the rho of any epsilon-DP mechanism.

    Examples
    --------
    >>> round(pure_to_zcdp(1), 10)
    0.4621171573
    """
    return float(pure_to_zcdp_charge(epsilon))


def laplace_rho(epsilon: Number) -> float:
    """Give the rho of the continuous Laplace mechanism (the limit of a fine grid)."""
    return float(laplace_rho_charge(epsilon))


def discrete_laplace_rho(epsilon: Number, sensitivity: int = 1) -> float:
    """Give the rho of discrete Laplace noise of scale sensitivity / epsilon."""
    return float(discrete_laplace_rho_charge(epsilon, sensitivity))


def exponential_mechanism_rho(epsilon: Number) -> float:
    """Give the rho of the exponential mechanism: smaller than epsilon**2 / 8."""
    return float(exponential_mechanism_rho_charge(epsilon))


def randomized_response_rho(epsilon: Number, k: int = 2) -> float:
    """Give the rho of k-ary randomized response."""
    return float(randomized_response_rho_charge(epsilon, k))


@lru_cache(maxsize=256)
def _searched_response_rho(size: Fraction, k: int) -> Fraction:
    """Maximize D_a / a over the orders a = 1 + b: on a grid in ln b, then around its best."""
    farthest = math.log((math.log(k) + 50) / float(size)) + 3
    with precise(size):
        value = _response_rho_at(decimal(size), k)
        grid = [Decimal(j) / 4 for j in range(-40, math.ceil(4 * farthest))]
        best = max(grid, key=value)
        low, high = best - Decimal("0.25"), best + Decimal("0.25")
        for _ in range(60):
            third = (high - low) / 3
            if value(low + third) < value(high - third):
                low += third
            else:
                high -= third
        e = decimal(size)
        kullback_leibler = e * (e.exp() - 1) / (e.exp() + (k - 1))
        return rounded_up(max(value(low), kullback_leibler) * (1 + SEARCH_MARGIN))


def _response_rho_at(e: Decimal, k: int) -> Callable[[Decimal], Decimal]:
    """Give D_a / a as a function of ln b, a = 1 + b."""
    log_rest = (e.exp() + (k - 1)).ln()

    def value(log_b: Decimal) -> Decimal:
        b = log_b.exp()
        top = ((1 + b) * e).exp() + (-b * e).exp() + (k - 2)
        return (top.ln() - log_rest) / (b * (1 + b))

    return value
