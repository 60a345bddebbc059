"""The continuous Laplace mechanism, alone and composed, in closed form.

Maths
    With e = sensitivity / scale, the privacy loss of one answer has atoms 1/2 at +e and e^-e / 2
    at -e, and density e^((l - e) / 2) / 4 between them: it is e^(-e/2) e^(l/2) times the symmetric
    measure nu = (atoms 1/2 at -e and +e) + 1/4 on (-e, e). Hence, for n answers,
        delta(epsilon) = e^(-n e / 2) * integral over L > epsilon of
                         (e^(L/2) - e^(epsilon - L/2)) d nu^(*n)(L).
    nu^(*n) is a mixture over the number j of answers that fall between the atoms: j = 0 gives
    binomial atoms at (2 t - n) e, and j > 0 the spline
        C(n, j) 2^-(n - j) 4^-j / (j - 1)! * sum_t w_(j,t) max(0, L - (2 t - n) e)^(j - 1),
    where w_(j,t) is the coefficient of x^t in (1 + x)^(n - j) (1 - x)^j. Power times exponential
    integrates in closed form. Terms cancel, so the digits grow with n.

Noren releases discrete Laplace noise; this is its limit on a fine grid, and an oracle for the
accountant. One answer: delta = 1 - e^((epsilon - e) / 2).
"""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import lru_cache

from noren.errors import ParameterError
from noren.privacy.decimals import decimal, precise, rounded_up
from noren.privacy.gaussian import bracketed
from noren.privacy.numbers import Number, not_negative, positive, read_delta, whole

MOST_ANSWERS = 60  # beyond, use the accountant: the digits needed grow with the count


def laplace_delta(epsilon0: Number, epsilon: Number, count: int = 1) -> float:
    """Give the exact delta at an epsilon of `count` Laplace answers of epsilon0 each.

    Examples
    --------
    >>> round(laplace_delta(epsilon0=1, epsilon="0.5"), 12)
    0.221199216929
    """
    each, size = positive("epsilon0", epsilon0), not_negative("epsilon", epsilon)
    answers = whole("count", count, 1)
    if answers > MOST_ANSWERS:
        raise ParameterError("count", answers, f"at most {MOST_ANSWERS}", "Use the accountant.")
    if size >= answers * each:
        return 0.0
    lost_digits = answers * (2 + math.log10(answers + 1 / float(each)))
    with precise(Fraction(1, 10 ** math.ceil(lost_digits))):
        total = _atoms(each, size, answers) + sum(
            _spline(each, size, answers, j) for j in range(1, answers + 1)
        )
        return float(rounded_up(total * (-answers * decimal(each) / 2).exp()))


def laplace_epsilon(epsilon0: Number, delta: Number, count: int = 1) -> float:
    """Give the exact epsilon at a delta of `count` Laplace answers of epsilon0 each."""
    target = float(read_delta(delta))
    if not target:
        return float(positive("epsilon0", epsilon0)) * whole("count", count, 1)
    if laplace_delta(epsilon0, 0, count) <= target:
        return 0.0
    return bracketed(lambda size: laplace_delta(epsilon0, size, count) > target)[1]


def _atoms(each: Fraction, size: Fraction, n: int) -> Decimal:
    """Sum the binomial atoms of nu^(*n) above epsilon."""
    losses = [((2 * t - n) * each, math.comb(n, t)) for t in range(n + 1)]
    return sum(
        (ways * (_rise(loss, size)) for loss, ways in losses if loss > size), Decimal(0)
    ) / Decimal(2**n)


def _rise(loss: Fraction, size: Fraction) -> Decimal:
    """Compute e^(L/2) - e^(epsilon - L/2)."""
    up, down = _growths(loss, size, getcontext().prec)
    return up - down


@lru_cache(maxsize=256)
def _growths(loss: Fraction, size: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """Compute e^(L/2) and e^(epsilon - L/2) in a context of so many digits."""
    return decimal(loss / 2).exp(), decimal(size - loss / 2).exp()


def _spline(each: Fraction, size: Fraction, n: int, j: int) -> Decimal:
    """Integrate the part of nu^(*n) in which j answers fall between the atoms."""
    knots = [((2 * t - n) * each, w) for t, w in enumerate(_weights(n, j)) if w]
    total = sum((w * _integral(knot, size, n * each, j - 1) for knot, w in knots), Decimal(0))
    return total * math.comb(n, j) / (Decimal(2) ** (n + j) * math.factorial(j - 1))


def _weights(n: int, j: int) -> list[int]:
    """Expand (1 + x)^(n - j) (1 - x)^j."""
    weights = [1]
    for sign in [1] * (n - j) + [-1] * j:
        weights = [a + sign * b for a, b in zip([*weights, 0], [0, *weights], strict=True)]
    return weights


def _integral(knot: Fraction, size: Fraction, end: Fraction, power: int) -> Decimal:
    """Integrate (e^(L/2) - e^(epsilon - L/2)) (L - knot)^power from max(epsilon, knot) to end."""
    start = max(size, knot)
    if start >= end:
        return Decimal(0)
    return _primitive(end, knot, size, power) - _primitive(start, knot, size, power)


def _primitive(loss: Fraction, knot: Fraction, size: Fraction, power: int) -> Decimal:
    """Integrate up to L: each exponential times a polynomial in L - knot, by Horner's rule.

    For e^(r L) the polynomial is sum_s (-1)^s power! / (power - s)! y^(power - s) / r^(s + 1).
    """
    y, rising, falling = decimal(loss - knot), Decimal(0), Decimal(0)
    up, down = Decimal(2), Decimal(-2)
    for s in range(power + 1):
        rising, falling = rising * y + up, falling * y + down
        up, down = -2 * (power - s) * up, 2 * (power - s) * down
    growth, decay = _growths(loss, size, getcontext().prec)
    return growth * rising - decay * falling
