"""What many tests on the same people really cost, and what each may spend of a total.

Maths
    A person's genotypes feed all M tests. M releases of price e each cost M e as pure epsilon. With
    delta > 0 they cost less; the exact price is that of M randomized responses (no M mechanisms of
    price e are worse), whose privacy loss is (2 i - M) e with probability
    p_i = C(M, i) e^(i e) / (1 + e^e)^M:
        delta(total) = sum over (2 i - M) e > total of p_i (1 - exp(total - (2 i - M) e)).
    All M prices must be fixed beforehand: one plan, charged once.

Accuracy
    The first term comes from 50 digits, the others from it by ratios; 1e-10 is added for rounding.
    The price found is the largest of 12 significant digits for which that bound is at most delta.
"""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

from noren.errors import ParameterError
from noren.privacy.composition import optimal_composition_epsilon_charge
from noren.privacy.numbers import positive, read_delta, read_epsilon, whole

DIGITS = 12  # significant digits of a derived price
LOST = 1e-10  # relative; at most a few 10^5 terms matter, each off by three roundings an item
REACH = 60
FAR = 12.0  # standard deviations; nearly all of the loss then lies above the total


def per_test_epsilon(total: object, delta: object, tests: int) -> Fraction:
    """Give what each of `tests` tests may spend so that all cost (total, delta).

    Parameters
    ----------
    total
        The epsilon of all tests together.
    delta
        Their delta; 0 divides the total evenly.
    tests
        How many tests read the same people.

    Examples
    --------
    >>> float(per_test_epsilon(3, 0, 311))
    0.0096463022508
    >>> round(float(per_test_epsilon(3, 1e-6, 311)), 5)
    0.03696
    """
    budget, spare = positive("total", total), read_delta(delta)
    low = rounded_down(budget / whole("tests", tests, 1))
    if not spare:
        return low
    high = 2 * low
    while composed_delta(high, tests, budget) <= spare:
        low, high = high, 2 * high
    while (middle := rounded_down((low + high) / 2)) > low:
        fits = composed_delta(middle, tests, budget) <= spare
        low, high = (middle, high) if fits else (low, middle)
    return low


def total_epsilon(per_test: object, delta: object, tests: int) -> Fraction:
    """Give the exact price, at a delta, of tests that each cost `per_test`.

    Examples
    --------
    >>> round(float(total_epsilon("0.1", "1e-6", 311)), 11)
    9.37191875535
    """
    return optimal_composition_epsilon_charge(
        read_epsilon(per_test), whole("tests", tests, 1), read_delta(delta)
    )


def rounded_down(value: Fraction) -> Fraction:
    """Round to DIGITS significant digits, downwards."""
    context = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if not rounded:
        raise ParameterError("total", "too small", "enough for every test to have a part of it")
    return Fraction(rounded)


def composed_delta(each: Fraction, tests: int, total: Fraction) -> float:
    """Bound from above the delta at epsilon `total` of that many tests of price `each`."""
    first = math.floor((total / each + tests) / 2) + 1  # the first i with (2 i - M) e > total
    if first > tests:
        return 0.0
    rate = 1 / (1 + math.exp(-float(each)))
    if first < tests * rate - FAR * math.sqrt(tests * rate * (1 - rate)) - FAR:
        return 1.0
    last = min(tests, first + REACH + REACH * math.isqrt(tests))  # 100 deviations past the middle
    i = np.arange(first, last)
    terms = np.cumprod((tests - i) / (i + 1.0) * math.exp(each))
    losses = np.arange(last - first + 1) * (2 * float(each))
    beyond = float((2 * first - tests) * each - total)
    gains = -np.expm1(-(losses + beyond))
    first_mass = math.exp(log_mass(first, tests, each))
    return float(first_mass * (gains[0] + terms @ gains[1:]) * (1 + LOST))


def log_mass(i: int, tests: int, each: Fraction) -> Decimal:
    """Give ln p_i with far more digits than its size takes away."""
    with localcontext(Context(prec=50)):
        e = Decimal(each.numerator) / Decimal(each.denominator)
        ways = log_factorial(tests) - log_factorial(i) - log_factorial(tests - i)
        return ways - (tests - i) * e - tests * (1 + (-e).exp()).ln()


def log_factorial(n: int) -> Decimal:
    """Give ln n!, by the product for small n, by Stirling's series from 60 on."""
    if n < 60:
        return Decimal(math.factorial(n)).ln()
    x, two_pi = Decimal(n), Decimal("6.2831853071795864769252867665590057683943387987502")
    series = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156))
    rest = sum(Decimal(up) / (down * x ** (2 * j + 1)) for j, (up, down) in enumerate(series))
    return x * x.ln() - x + (two_pi * x).ln() / 2 + rest
