"""The continuous Gaussian mechanism, exact (Balle and Wang 2018).

Maths
    With mu = sensitivity / sigma,
        delta(epsilon) = Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu),
    in the stable form e^la (1 - e^(epsilon + lb - la)), la and lb the logarithms of the two Phi.
    Gaussians with mu_i compose to mu = sqrt(sum mu_i^2) exactly.

Noren never releases continuous Gaussian noise: use this for forecasts and for mechanisms outside
it. The discrete Gaussian has its own delta (`noren.privacy.discrete_gaussian`), which is larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from noren.errors import ParameterError
from noren.privacy.numbers import Number, not_negative, positive, read_delta, whole

SMALLEST_DELTA = Fraction(1, 10**300)  # below, floats round a Gaussian delta to nothing
SIGMA = "It is the standard deviation of the noise; larger is more private."


def gaussian_delta(epsilon: Number, sigma: Number) -> float:
    """Give the delta at an epsilon of Gaussian noise, sensitivity 1.

    Examples
    --------
    >>> round(gaussian_delta(epsilon=1, sigma=1), 12)
    0.126936737507
    """
    size = float(not_negative("epsilon", epsilon))
    return gdp_delta(1 / positive("sigma", sigma, SIGMA), size)


def gaussian_sigma(epsilon: Number, delta: Number) -> float:
    """Give the sigma at which Gaussian noise, sensitivity 1, is (epsilon, delta)-DP."""
    size, target = float(not_negative("epsilon", epsilon)), gaussian_target(delta)
    return 1 / bracketed(lambda mu: gdp_delta(mu, size) <= target)[0]


def gaussian_epsilon(sigma: Number, delta: Number, count: int = 1) -> float:
    """Give the epsilon at a delta of `count` answers with Gaussian noise, sensitivity 1.

    Examples
    --------
    >>> round(gaussian_epsilon(sigma=2, delta="1e-6"), 10)
    2.2540846502
    """
    mu = math.sqrt(whole("count", count, 1)) / float(positive("sigma", sigma, SIGMA))
    return gdp_epsilon(mu, delta)


def gdp_delta(mu: Number, epsilon: Number) -> float:
    """Give the delta at an epsilon of a mu-GDP mechanism."""
    from scipy.special import log_ndtr

    shift, size = (
        float(positive("mu", mu, "It is sensitivity / sigma; smaller is more private.")),
        float(not_negative("epsilon", epsilon)),
    )
    first = float(log_ndtr(shift / 2 - size / shift))
    second = float(log_ndtr(-shift / 2 - size / shift))
    return max(0.0, -math.exp(first) * math.expm1(size + second - first))


def gdp_epsilon(mu: Number, delta: Number) -> float:
    """Give the epsilon at a delta of a mu-GDP mechanism."""
    shift, target = (
        positive("mu", mu, "It is sensitivity / sigma; smaller is more private."),
        gaussian_target(delta),
    )
    if gdp_delta(shift, 0) <= target:
        return 0.0
    return bracketed(lambda size: gdp_delta(shift, size) > target)[1]


def gaussian_target(delta: Number) -> float:
    """Read a delta for Gaussian noise: it is never (epsilon, 0)-DP."""
    target = read_delta(delta)
    if target < SMALLEST_DELTA:
        raise ParameterError(
            "delta",
            delta,
            "above 0 and below 1 for Gaussian noise" if not target else "at least 1e-300",
            "Gaussian noise at delta 0 has no finite epsilon; state it in rho instead.",
        )
    return float(target)


def bracketed(holds: Callable[[float], bool]) -> tuple[float, float]:
    """Enclose, to 1e-13, the positive number at which a condition ends: it holds, it does not."""
    low, high = 1.0, 1.0
    while holds(high):
        high *= 2
    while not holds(low):
        low /= 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high
