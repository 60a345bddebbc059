"""The laws themselves: probabilities, variances and margins, for forecasts and for audits.

Maths
    discrete Laplace(t), r = exp(-1/t)
        P(k) = (1-r)/(1+r) r**abs(k), variance 2 r / (1-r)**2, P(abs(Z) > m) = 2 r**(m+1) / (1+r)
    discrete Gaussian(v)
        P(k) = exp(-k**2 / (2 v)) / S. By Poisson summation S = sqrt(2 pi v) theta with
        theta = 1 + 2 sum over n >= 1 of exp(-2 pi**2 n**2 v), and the variance is
        v + 2 v**2 theta' / theta: below v, by a factor that is nothing from v = 10 on.
        It is not the normal law.
    selection, p_r = exp(c (s_r - max s)), c = epsilon / (2 sensitivity), or without the 2
        exponential mechanism P(r) = p_r / sum p
        permute-and-flip      P(r) = p_r * integral over t in [0, 1] of prod over j != r (1 - t p_j)

    Everything is computed in decimals with digits to spare; what is given is a decimal, or the
    float nearest to one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist

from noren.errors import ParameterError
from noren.noise.reals import decimal, precision
from noren.noise.selection import selection_rate
from noren.noise.tails import GaussianLaw, powers
from noren.privacy.numbers import Number, positive, probability, read_epsilon, whole

DIGITS = 50
SPARE = 20  # digits that sums and differences may lose
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620900")
ZERO = Decimal(0)
SMALL_VARIANCE = 100  # above it theta is 1 to more than 800 digits
COUNTED_VARIANCE = 1000**2  # up to it margins are counted; above, the normal law is within a step


def discrete_laplace_pmf(scale: Number, k: int) -> Decimal:
    """Give P(Z = k).

    Examples
    --------
    >>> round(discrete_laplace_pmf(1, 0), 12)
    Decimal('0.462117157260')
    """
    t = positive("scale", scale)
    with precision(DIGITS + SPARE + len(str(int(t)))):
        r = powers(t, 1, 1)[0]
        return (1 - r) / (1 + r) * powers(t, abs(whole("k", k)), 1)[0]


def discrete_laplace_variance(scale: Number) -> float:
    """Give the variance, 2 r / (1 - r)**2."""
    t = positive("scale", scale)
    with precision(DIGITS + 2 * len(str(int(t)))):
        r = powers(t, 1, 1)[0]
        return float(2 * r / (1 - r) ** 2)


def discrete_laplace_margin(scale: Number, confidence: Number = "0.95") -> int:
    """Give the least m with P(abs(Z) > m) at most 1 - confidence.

    Examples
    --------
    >>> discrete_laplace_margin(10)
    30
    """
    t, outside = positive("scale", scale), remaining(confidence)
    with precision(DIGITS + len(str(int(t)))):
        r = powers(t, 1, 1)[0]
        steps = decimal(t) * (2 / (decimal(outside) * (1 + r))).ln()
        return max(0, (steps - 1).__ceil__())


def remaining(confidence: Number) -> Fraction:
    """Give what a margin may leave out: more than nothing, for the noise has no largest value."""
    inside = probability("confidence", confidence)
    if inside == 1:
        raise ParameterError("confidence", confidence, "below 1", "0.95 is usual.")
    return 1 - inside


def discrete_gaussian_pmf(variance: Number, k: int) -> Decimal:
    """Give P(Z = k).

    Examples
    --------
    >>> round(discrete_gaussian_pmf(1, 0), 12)
    Decimal('0.398942278267')
    """
    v = positive("variance", variance)
    with precision(DIGITS + SPARE):
        return decimal(Fraction(-(whole("k", k) ** 2)) / (2 * v)).exp() / gaussian_total(v)


def gaussian_total(variance: Fraction) -> Decimal:
    """Give the sum over all integers k of exp(-k**2 / (2 variance))."""
    with precision(DIGITS + SPARE):
        if variance > SMALL_VARIANCE:
            return (2 * PI * decimal(variance)).sqrt()
        weights = GaussianLaw(variance).weights(DIGITS + SPARE)
        return 2 * sum(weights) - weights[0]


def discrete_gaussian_variance(variance: Number) -> float:
    """Give the variance of the law, which is a little below its parameter.

    Examples
    --------
    >>> round(discrete_gaussian_variance(0.25), 12)
    0.215012675088
    """
    v = positive("variance", variance)
    if v > SMALL_VARIANCE:
        return float(v)
    with precision(DIGITS + SPARE):
        weights = GaussianLaw(v).weights(DIGITS + SPARE)
        second = 2 * sum((k * k * weight for k, weight in enumerate(weights)), ZERO)
        return float(second / gaussian_total(v))


def discrete_gaussian_margin(variance: Number, confidence: Number = "0.95") -> int:
    """Give the least m with P(abs(Z) > m) at most 1 - confidence (within one, from 1000 s on)."""
    v, outside = positive("variance", variance), remaining(confidence)
    if v > COUNTED_VARIANCE:
        return math.ceil(-NormalDist().inv_cdf(float(outside / 2)) * math.sqrt(v))
    with precision(DIGITS + SPARE):
        allowed = decimal(outside / 2)
        return next(k for k, tail in enumerate(gaussian_tails(v)) if tail <= allowed)


@lru_cache(maxsize=16)
def gaussian_tails(variance: Fraction) -> list[Decimal]:
    """Give P(Z > k) for k = 0, 1, .. as far as the digits reach."""
    law = GaussianLaw(variance)
    return law.tails(0, len(law.weights(DIGITS)), DIGITS)


def randomized_response_keep(k: int, epsilon: Number) -> Decimal:
    """Give the probability that k-ary randomised response reports the true value."""
    categories, eps = whole("k", k, 2), read_epsilon(epsilon)
    with precision(DIGITS + SPARE + len(str(int(eps)))):
        kept = decimal(eps).exp()
        return kept / (kept + categories - 1)


def exponential_mechanism_law(
    scores: Iterable[float | Fraction],
    epsilon: Number,
    sensitivity: Number = 1,
    *,
    monotone: bool = False,
) -> list[Decimal]:
    """Give the probability of each index."""
    weights = acceptances(scores, selection_rate(epsilon, sensitivity, monotone), SPARE)
    with precision(DIGITS + SPARE):
        total = sum(weights)
        return [weight / total for weight in weights]


def permute_and_flip_law(
    scores: Iterable[float | Fraction],
    epsilon: Number,
    sensitivity: Number = 1,
    *,
    monotone: bool = False,
) -> list[Decimal]:
    """Give the probability of each index, for up to some hundred candidates.

    The product is expanded into powers of t; its coefficients reach 2**n with both signs, so n
    candidates take n / 3 more digits. Dividing by one factor gives each candidate's integral.
    """
    given = list(scores)
    spare = SPARE + len(given)
    chances = acceptances(given, selection_rate(epsilon, sensitivity, monotone), spare)
    with precision(DIGITS + spare):
        product = [Decimal(1)]
        for p in chances:
            product = [a - p * b for a, b in zip([*product, ZERO], [ZERO, *product], strict=True)]
        integrals = {p: integral_without(product, p) for p in set(chances)}
        return [p * integrals[p] for p in chances]


def integral_without(product: Sequence[Decimal], p: Decimal) -> Decimal:
    """Divide the polynomial by 1 - p t and integrate it over [0, 1]."""
    quotient = accumulate(product[:-1], lambda carried, a: a + p * carried)
    return sum((a / (i + 1) for i, a in enumerate(quotient)), ZERO)


def acceptances(scores: Iterable[float | Fraction], rate: Fraction, spare: int) -> list[Decimal]:
    """Give exp(rate * (s - max s)), a float score being exactly the double it is."""
    given = [Fraction(score) for score in scores]
    with precision(DIGITS + spare + 10):
        return [decimal(rate * (score - max(given))).exp() for score in given]


def expected_loss(law: Sequence[Decimal], scores: Iterable[float | Fraction]) -> float:
    """Give by how much the chosen score falls short of the best one, on average."""
    given = [Fraction(score) for score in scores]
    with precision(DIGITS + SPARE):
        losses = [p * decimal(max(given) - s) for p, s in zip(law, given, strict=True)]
        return float(sum(losses))
