"""Several questions fixed in advance: closed forms, rounded up.

Maths
    Basic: epsilons and deltas add. Advanced, for epsilons fixed before the first question
    (Kairouz, Oh, Viswanath 2015):
        epsilon = sum e_i tanh(e_i / 2) + sqrt(2 ln(1 / d') sum e_i^2),  never above sum e_i,
        delta = 1 - (1 - d') prod(1 - delta_i).
    Optimal, count copies of e0 (same paper): the worst mechanism of price e0 is randomized
    response, whose loss after `count` copies is (2 i - count) e0 with the binomial masses
        p_i = C(count, i) e^(i e0) / (1 + e^e0)^count,   q_i = p_i e^-((2 i - count) e0),
        delta(epsilon) = sum over (2 i - count) e0 > epsilon of p_i - e^epsilon q_i.
    Copies of (e0, delta0): 1 - (1 - delta0)^count (1 - delta(epsilon)). Between two neighboring
    losses delta is A - e^epsilon B, so epsilon follows from delta without a search.
    The same numbers are exact for count-fold discrete Laplace noise of integer sensitivity 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import takewhile

from noren.errors import ParameterError
from noren.privacy.decimals import TINY, decimal, precise, rounded_up
from noren.privacy.numbers import Number, not_negative, positive, read_delta, shown, whole


def optimal_composition_delta_charge(
    epsilon0: Number, count: int, epsilon: Number, delta0: Number = 0
) -> Fraction:
    """Give the exact delta at an epsilon of `count` copies of (epsilon0, delta0), rounded up."""
    each, copies = positive("epsilon0", epsilon0), whole("count", count, 1)
    size = not_negative("epsilon", epsilon)
    kept = (1 - read_delta(delta0)) ** copies
    above = _losses_above(each, copies, size)
    if not above:
        return 1 - kept
    with precise(min(each, above[-1] - size)):
        masses = zip(above, _masses(each, copies), strict=False)
        delta = sum(p * (1 - (-decimal(loss - size)).exp()) for loss, (p, _) in masses)
        return 1 - kept * (1 - rounded_up(Decimal(delta)))


def optimal_composition_epsilon_charge(
    epsilon0: Number, count: int, delta: Number, delta0: Number = 0
) -> Fraction:
    """Give the exact epsilon at a delta of `count` copies of (epsilon0, delta0), rounded up."""
    each, copies = positive("epsilon0", epsilon0), whole("count", count, 1)
    target = spare_delta(read_delta(delta), [(read_delta(delta0), copies)])
    if not target:
        return copies * each
    if each < TINY:
        return copies * each
    with precise(each):
        t, ratio = decimal(target), (2 * decimal(each)).exp()
        upper = below = Decimal(0)  # A and B of the module's text, losses from the top
        reach = (decimal(each) * (copies - 2)).exp()
        for p, q in _masses(each, copies):
            upper, below = upper + p, below + q
            if upper - reach * below >= t or reach <= 1:
                growth = (upper - t) / below
                return rounded_up(growth.ln()) if growth > 1 else Fraction(0)
            reach /= ratio
    raise AssertionError("the last loss is negative")


def advanced_composition_epsilon_charge(epsilons: Iterable[Number], delta: Number) -> Fraction:
    """Give the epsilon of the advanced theorem at delta d', rounded up, at most the sum."""
    counts = Counter(not_negative("epsilons", epsilon) for epsilon in epsilons)
    total = sum((size * n for size, n in counts.items()), Fraction(0))
    slack = read_delta(delta)
    if not slack or not total:
        return total
    with precise(min((size for size in counts if size), default=Fraction(1))):
        means = (_mean_loss(decimal(size)) * n for size, n in counts.items())
        squares = decimal(sum((size**2 * n for size, n in counts.items()), Fraction(0)))
        bound = sum(means) + (-2 * decimal(slack).ln() * squares).sqrt()
        return min(total, rounded_up(bound))


def optimal_composition_delta(epsilon0: Number, count: int, epsilon: Number) -> float:
    """Give the exact delta at an epsilon of `count` pure mechanisms of epsilon0.

    Examples
    --------
    >>> round(optimal_composition_delta(epsilon0="0.1", count=100, epsilon=2), 10)
    0.0201401784
    """
    return float(optimal_composition_delta_charge(epsilon0, count, epsilon))


def optimal_composition_epsilon(epsilon0: Number, count: int, delta: Number) -> float:
    """Give the exact epsilon at a delta of `count` pure mechanisms of epsilon0.

    Examples
    --------
    >>> round(optimal_composition_epsilon(epsilon0="0.1", count=100, delta="1e-6"), 10)
    4.7745675881
    """
    return float(optimal_composition_epsilon_charge(epsilon0, count, delta))


def advanced_composition_epsilon(epsilons: Iterable[Number], delta: Number) -> float:
    """Give the epsilon of the advanced theorem at its own delta d'."""
    return float(advanced_composition_epsilon_charge(epsilons, delta))


def advanced_filter_epsilon(sum_of_squares: Number, delta: Number) -> float:
    """Give the epsilon that the advanced filter reaches at a sum of squared epsilons."""
    squares = float(not_negative("sum_of_squares", sum_of_squares))
    slack = positive("delta", read_delta(delta), "It is the theorem's own delta; 1e-6 is usual.")
    log_inverse = math.log(slack.denominator) - math.log(slack.numerator)
    return math.sqrt(2 * log_inverse * squares) + squares / 2


def randomized_response_delta(epsilon0: Number, epsilon: Number, k: int = 2) -> float:
    """Give the exact profile of k-ary randomized response: (e^e0 - e^epsilon) / (e^e0 + k - 1)."""
    each, size = positive("epsilon0", epsilon0), not_negative("epsilon", epsilon)
    if size >= each:
        return 0.0
    others = whole("k", k, 2) - 1
    return -math.expm1(float(size - each)) / (1 + others * math.exp(-float(each)))


def spare_delta(delta: Fraction, used: Iterable[tuple[Fraction, int]]) -> Fraction:
    """Give the d' with 1 - (1 - d') prod(1 - delta_i)^n_i = delta, or refuse."""
    kept = math.prod(((1 - each) ** n for each, n in used), start=Fraction(1))
    spare = 1 - (1 - delta) / kept
    if spare < 0:
        raise ParameterError(
            "delta",
            shown(delta),
            f"at least {shown(1 - kept)}, which the parts already have",
            "State a larger one.",
        )
    return spare


def _mean_loss(e: Decimal) -> Decimal:
    """Compute e tanh(e / 2)."""
    x = (-e).exp()
    return e * (1 - x) / (1 + x)


def _losses_above(each: Fraction, copies: int, size: Fraction) -> list[Fraction]:
    """List the losses (2 i - copies) e0 above epsilon, largest first."""
    losses = ((2 * i - copies) * each for i in range(copies, -1, -1))
    return list(takewhile(lambda loss: loss > size, losses))


def _masses(each: Fraction, copies: int) -> Iterator[tuple[Decimal, Decimal]]:
    """Give (p_i, q_i) for i = copies, copies - 1, ..., 0."""
    x = (-decimal(each)).exp()
    p, q = (1 / (1 + x)) ** copies, (x / (1 + x)) ** copies
    for i in range(copies, -1, -1):
        yield p, q
        p, q = p * x * i / (copies - i + 1), q * i / (x * (copies - i + 1))
