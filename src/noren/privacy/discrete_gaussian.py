"""The discrete Gaussian's own delta: not that of the Gaussian curve, and larger.

Maths
    Noise P(k) = exp(-k^2 / (2 v)) / Z on the integers, and one integer that moves by D. Then
    P(k) / P(k + D) > e^epsilon exactly when k > (2 epsilon v - D^2) / (2 D), and
        delta(epsilon) = sum over those k of P(k) (1 - exp(epsilon - (2 k D + D^2) / (2 v))).
    The weights follow a recurrence, so a sum of some ten standard deviations of terms is quick.
    It is right for one number only: for a vector the worst shift is not along one coordinate
    (v = 4, epsilon 1: delta 0.1196 for a shift of 2, 0.1251 for four shifts of 1). Vectors are
    charged in rho. For the same reason the law is not mu-GDP.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from noren.errors import ParameterError
from noren.privacy.decimals import decimal, precise, rounded_up
from noren.privacy.gaussian import gaussian_target
from noren.privacy.numbers import Number, not_negative, positive, shown, whole

FINEST_EXACT = 10**8  # the largest variance that is summed in Decimals
FINEST = 10**12  # and in floats, whose error FLOAT_SLACK covers a thousand times over
FLOAT_SLACK = Fraction(1, 10**9)
LAST_TERM = Decimal("1e-50")


def discrete_gaussian_delta_charge(
    variance: Number, epsilon: Number, sensitivity: int = 1
) -> Fraction:
    """Give the exact delta at an epsilon of one number with discrete Gaussian noise, rounded up."""
    v, size = positive("variance", variance), not_negative("epsilon", epsilon)
    step = whole("sensitivity", sensitivity, 1)
    first = math.floor((2 * size * v - step**2) / (2 * step)) + 1
    gap = (2 * first * step + Fraction(step) ** 2) / (2 * v) - size
    if v > FINEST:
        raise ParameterError(
            "variance",
            shown(v),
            f"at most {shown(FINEST)}",
            "Charge it in rho, or coarsen the grid.",
        )
    total = _decimal_sum if v <= FINEST_EXACT else _float_sum
    return min(Fraction(1), total(v, step, first, gap))


def discrete_gaussian_delta(variance: Number, epsilon: Number, sensitivity: int = 1) -> float:
    """Give the delta at an epsilon of one number with discrete Gaussian noise.

    Examples
    --------
    >>> round(discrete_gaussian_delta(variance=16, epsilon=1), 15)
    3.055454649e-06
    """
    return float(discrete_gaussian_delta_charge(variance, epsilon, sensitivity))


def discrete_gaussian_variance(epsilon: Number, delta: Number, sensitivity: int = 1) -> Fraction:
    """Give a variance at which one number is (epsilon, delta)-DP: to 1e-6, rounded up."""
    size, target = positive("epsilon", epsilon), Fraction(gaussian_target(delta))
    step = whole("sensitivity", sensitivity, 1)

    def enough(steps_squared: float) -> bool:
        variance = Fraction(steps_squared) * step**2
        return discrete_gaussian_delta_charge(variance, size, step) <= target

    low, high = 1.0, 1.0
    while not enough(high):
        high *= 2
    while enough(low) and low > 1e-3:
        low /= 2
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Fraction(high) * step**2


def discrete_gaussian_epsilon(
    variance: Number, delta: Number, count: int = 1, sensitivity: int = 1
) -> float:
    """Give the epsilon at a delta of `count` numbers with discrete Gaussian noise, exactly.

    The loss (D^2 - 2 D k) / (2 v) is linear in the noise, so the sum of the noises decides.
    """
    from noren.privacy.accountant import compose
    from noren.privacy.lattice import DiscreteGaussianLoss

    loss = DiscreteGaussianLoss(
        positive("variance", variance), whole("sensitivity", sensitivity, 1)
    )
    return compose([(loss, whole("count", count, 1))]).epsilon(gaussian_target(delta)).high


def discrete_gaussian_shift_delta(variance: Number, epsilon: Number, shift: Sequence[int]) -> float:
    """Give the delta at an epsilon of a vector that moves by exactly `shift`."""
    from noren.privacy.accountant import compose
    from noren.privacy.lattice import DiscreteGaussianLoss

    v = positive("variance", variance)
    steps = [abs(whole("shift", step)) for step in shift]
    parts = [(DiscreteGaussianLoss(v, step), steps.count(step)) for step in sorted({*steps} - {0})]
    return compose(parts).delta(float(not_negative("epsilon", epsilon))).high if parts else 0.0


def _decimal_sum(v: Fraction, step: int, first: int, gap: Fraction) -> Fraction:
    """Sum from the first k on; the cut tail, below a geometric series, is added to the sum."""
    with precise(min(Fraction(1), gap)):
        square, rate = (-1 / decimal(v)).exp(), (-decimal(step / v)).exp()
        weight = (-decimal(Fraction(first) ** 2 / (2 * v))).exp()
        ratio = (-decimal(Fraction(2 * first + 1) / (2 * v))).exp()
        left, total, k = (-decimal(gap)).exp(), Decimal(0), first
        while k <= 0 or weight > LAST_TERM * total * (1 - ratio):
            total += weight * (1 - left)
            weight, ratio, left, k = weight * ratio, ratio * square, left * rate, k + 1
        return rounded_up((total + weight / (1 - ratio)) / _normalizer(v))


def _normalizer(v: Fraction) -> Decimal:
    """Sum exp(-k^2 / (2 v)) over all integers, from below."""
    square, weight = (-1 / decimal(v)).exp(), (-1 / decimal(2 * v)).exp()
    total, ratio = Decimal(1), weight * square
    while weight > LAST_TERM * total:
        total += 2 * weight
        weight, ratio = weight * ratio, ratio * square
    return total


def _float_sum(v: Fraction, step: int, first: int, gap: Fraction) -> Fraction:
    """Sum in floats for a large variance, where Z is sqrt(2 pi v) from below."""
    import numpy as np

    sigma = math.sqrt(v)
    last = max(first, 0) + math.ceil(12 * sigma)
    total = 0.0
    for start in range(first, last, 2**20):
        k = np.arange(start, min(start + 2**20, last), dtype=np.float64)
        left = -np.expm1(-(float(gap) + (k - first) * float(step / v)))
        total += float(np.sum(np.exp(-k * k / (2 * float(v))) * left))
    return Fraction(total / (math.sqrt(2 * math.pi) * sigma)) * (1 + FLOAT_SLACK)
