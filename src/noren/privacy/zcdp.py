"""From rho to (epsilon, delta) and back, tight, rounded to the safe side.

Maths (Canonne, Kamath, Steinke 2020)
    A rho-zCDP mechanism is (epsilon, delta)-DP for every order a = 1 + b > 1 with
        delta = exp(b ((1 + b) rho - epsilon)) (1 - 1/a)^a / b.
    Every order gives a true statement, so only the choice of the order is a search, and it may be
    done in floats; the statement at that order is then computed exactly and rounded. With
    L = ln(1 / delta) the best order solves
        epsilon and rho given    (2 b + 1) rho - epsilon + ln(b / (1 + b)) = 0
        rho and delta given      b^2 rho + ln(1 + b) = L
        epsilon and delta given  the first line, at rho(b) = (epsilon - e(b)) / (1 + b),
                                 e(b) = (L + (1 + b) ln(b / (1 + b)) - ln b) / b
    and each left side changes its sign once (the first is the derivative of a convex function).
    An error of relative size h in the order costs only h^2 in the result.

    d-approximate rho-zCDP is (epsilon, d + (1 - d) delta_rho(epsilon))-DP.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from noren.errors import ParameterError
from noren.privacy.decimals import decimal, precise, rounded_down, rounded_up
from noren.privacy.numbers import Number, not_negative, positive, read_delta, shown

FARTHEST = 120.0  # orders between 1 + exp(-120) and 1 + exp(120)


def zcdp_delta_charge(rho: Number, epsilon: Number) -> Fraction:
    """Give the smallest delta at an epsilon, rounded up, at most 1."""
    spent, size = not_negative("rho", rho), not_negative("epsilon", epsilon)
    if not spent:
        return Fraction(0)
    order = Fraction(_order_for_delta(float(spent), float(size)))
    with precise(min(order, spent, 1 / order)):
        b = decimal(order)
        log_delta = b * ((1 + b) * decimal(spent) - decimal(size)) + _log_rest(b)
        return min(Fraction(1), rounded_up(log_delta.exp()))


def zcdp_epsilon_charge(rho: Number, delta: Number, rho_delta: Number = 0) -> Fraction:
    """Give the smallest epsilon at a delta, rounded up.

    `rho_delta` is the delta that rho already has (approximate zCDP): it must be below `delta`.
    """
    spent, left = not_negative("rho", rho), delta_left(delta, rho_delta)
    if not spent:
        return Fraction(0)
    order = Fraction(_root(lambda b: b * b * float(spent) + math.log1p(b) - _log_inverse(left)))
    with precise(min(order, spent, 1 / order)):
        b = decimal(order)
        return max(Fraction(0), rounded_up((1 + b) * decimal(spent) + _epsilon_part(b, left)))


def zcdp_rho_budget(epsilon: Number, delta: Number) -> Fraction:
    """Give the largest rho that implies (epsilon, delta), rounded down."""
    size, left = not_negative("epsilon", epsilon), _positive_delta(delta)
    order = Fraction(_order_for_rho(float(size), left))
    with precise(min(order, 1 / order)):
        b = decimal(order)
        return max(Fraction(0), rounded_down((decimal(size) - _epsilon_part(b, left)) / (1 + b)))


def zcdp_delta(rho: Number, epsilon: Number) -> float:
    """Give the delta at an epsilon of a rho-zCDP mechanism.

    Examples
    --------
    >>> round(zcdp_delta(rho="0.1", epsilon=1), 12)
    0.008933245772
    """
    return float(zcdp_delta_charge(rho, epsilon))


def zcdp_epsilon(rho: Number, delta: Number) -> float:
    """Give the epsilon at a delta of a rho-zCDP mechanism.

    Examples
    --------
    >>> round(zcdp_epsilon(rho="0.5", delta="1e-5"), 10)
    4.7283869849
    """
    return float(zcdp_epsilon_charge(rho, delta))


def zcdp_rho(epsilon: Number, delta: Number) -> float:
    """Give the largest rho that implies (epsilon, delta)."""
    return float(zcdp_rho_budget(epsilon, delta))


def zcdp_order(rho: Number, epsilon: Number) -> float:
    """Give the order a at which `zcdp_delta` is attained."""
    return 1 + _order_for_delta(float(positive("rho", rho)), float(not_negative("eps", epsilon)))


def zcdp_epsilon_simple(rho: Number, delta: Number) -> float:
    """Give rho + 2 sqrt(rho ln(1 / delta)): the textbook bound, a cross-check only."""
    spent = float(not_negative("rho", rho))
    return spent + 2 * math.sqrt(spent * _log_inverse(_positive_delta(delta)))


def delta_left(delta: Number, rho_delta: Number) -> Fraction:
    """Give the delta that is left for the conversion: (delta - d) / (1 - d)."""
    target, used = _positive_delta(delta), read_delta(rho_delta)
    if target <= used:
        raise ParameterError(
            "delta",
            shown(target),
            f"above the delta {shown(used)} that the zCDP guarantee already has",
            "Ask for a larger delta.",
        )
    return (target - used) / (1 - used)


def _positive_delta(delta: Number) -> Fraction:
    """Read a delta that must not be 0: rho has no finite epsilon there."""
    if not read_delta(delta):
        raise ParameterError(
            "delta", delta, "above 0 and below 1", "At delta 0, rho has no finite epsilon."
        )
    return read_delta(delta)


def _log_rest(b: Decimal) -> Decimal:
    """Compute ln((1 - 1/a)^a / b), a = 1 + b."""
    return (1 + b) * (b / (1 + b)).ln() - b.ln()


def _epsilon_part(b: Decimal, delta: Fraction) -> Decimal:
    """Compute e(b) of the module's text."""
    return (_log_rest(b) - decimal(delta).ln()) / b


def _log_inverse(delta: Fraction) -> float:
    """Compute ln(1 / delta) for deltas below the range of floats too."""
    return math.log(delta.denominator) - math.log(delta.numerator)


def _order_for_delta(rho: float, epsilon: float) -> float:
    """Solve the first line of the module's text for b."""
    return _root(lambda b: (2 * b + 1) * rho - epsilon - math.log1p(1 / b))


def _order_for_rho(epsilon: float, delta: Fraction) -> float:
    """Solve the third line of the module's text for b."""
    log_inverse = _log_inverse(delta)

    def slope(b: float) -> float:
        log_ratio = -math.log1p(1 / b)
        part = (log_inverse + (1 + b) * log_ratio - math.log(b)) / b
        return (2 * b + 1) * (epsilon - part) / (1 + b) - epsilon + log_ratio

    return _root(slope)


def _root(rising: Callable[[float], float]) -> float:
    """Bisect, in ln b, a function that is below 0 before its root and above 0 after it."""
    low, high = -FARTHEST, FARTHEST
    for _ in range(64):
        middle = (low + high) / 2
        if rising(math.exp(middle)) < 0:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)
