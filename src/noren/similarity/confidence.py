"""What an attacker believes of a bit after seeing exact scores or ranks.

Maths (q = |Hq| columns in the query; u_i = a_i . q; prior: bits independent, Pr(a_ih = 1) = p_h)
    scores   Pr(a_ih = 1 | u_i = v) = p_h f_-h(v - 1) / f(v), f the law of a sum of independent
             coins p_k, k in Hq, and f_-h the same without h. All p equal: v / q.
    ranks    c_j records share rank j, and their scores are v_1 > v_2 > .. > v_b, unknown. Given the
             ranks a choice of v has weight prod_j f(v_j)^c_j, so
             Pr(v_j = v) = F[j, v] B[j, v] / w^c_j over its sum, with
             F[j, v] = w(v)^c_j sum over v' > v of F[j-1, v'],  B[j, v] the same from below.
             The mean over Hq of the attacker's confidence is then E[v_j] / q.
    Uniform prior: w(v) = C(q, v). Bounds: (b - j) / q <= E[v_j] / q <= (q - j + 1) / q.

All sums are taken of logarithms; max log w is subtracted first, which changes nothing and keeps
the digits that c_j log w would eat. `rank_confidence_exact` is the same in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from noren.errors import ParameterError
from noren.privacy.numbers import whole

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

NEVER = -math.inf


def sum_law(p: Any) -> Floats:
    """Give the law of a sum of independent coins: f(0), .., f(q)."""
    law = np.ones(1)
    for chance in read_prior(p):
        law = np.append(law * (1 - chance), 0.0) + np.append(0.0, law * chance)
    return law


def laws_without(p: Any) -> Floats:
    """Give, for each coin, the law of the sum of all others."""
    chances = read_prior(p)
    before, after = [np.ones(1)], [np.ones(1)]
    for chance in chances:
        before.append(np.convolve(before[-1], [1 - chance, chance]))
    for chance in chances[::-1]:
        after.append(np.convolve(after[-1], [1 - chance, chance]))
    count = len(chances)
    return np.array([np.convolve(before[h], after[count - 1 - h]) for h in range(count)])


def score_confidence(u: int, p: Any) -> Floats:
    """Give Pr(a_ih = 1 | u_i = u) for each column of the query.

    Parameters
    ----------
    u : int
        The exact score of a record.
    p
        The attacker's prior for each column of the query.

    Examples
    --------
    >>> score_confidence(2, [0.5, 0.3, 0.2, 0.1]).round(6).tolist()
    [0.812245, 0.6, 0.395918, 0.191837]
    """
    chances = read_prior(p)
    score = whole("u", u, 0)
    law = sum_law(chances)
    if score >= len(law) or not law[score] > 0:
        raise ParameterError("the score", u, "possible under this prior", "Some p may be 0 or 1.")
    if score == 0:
        return np.zeros(len(chances))
    found: Floats = np.clip(chances * laws_without(chances)[:, score - 1] / law[score], 0.0, 1.0)
    return found


def confidence_by_score(p: Any) -> Floats:
    """Give `score_confidence` for every score 0..q: a row for each, NaN where it is impossible."""
    chances = read_prior(p)
    law, others = sum_law(chances), laws_without(chances)
    table = np.full((len(chances) + 1, len(chances)), np.nan)
    possible = law > 0
    shifted = np.vstack([np.zeros(len(chances)), others.T])
    table[possible] = np.clip(chances * shifted[possible] / law[possible, None], 0.0, 1.0)
    return table


def log_weights(q: int, prior: Any) -> Floats:
    """Give log w(v), v = 0..q, with the largest moved to 0."""
    if prior is None:
        v = np.arange(1, q + 1, dtype=np.float64)
        found = np.concatenate([[0.0], np.cumsum(np.log((q + 1 - v) / v))])
    else:
        chances = read_prior(prior)
        if len(chances) != q:
            raise ParameterError("prior", f"of {len(chances)} columns", f"of the query's {q}")
        with np.errstate(divide="ignore"):
            found = np.log(sum_law(chances))
    moved: Floats = found - found.max()
    return moved


def score_chances(sizes: Sequence[int], q: int, prior: Any = None) -> Floats:
    """Give Pr(v_j = v | ranks): a row for each rank j, a column for each score v."""
    counts = read_sizes(sizes, q)
    weights = log_weights(q, prior)
    with np.errstate(invalid="ignore"):
        own = counts[:, None] * weights  # a count is at least 1, so never 0 * -inf
    above, below = own.copy(), own.copy()
    for j in range(1, len(counts)):
        above[j] += running_log_sum(above[j - 1][::-1])[::-1]
    for j in range(len(counts) - 2, -1, -1):
        below[j] += running_log_sum(below[j + 1])
    with np.errstate(invalid="ignore"):
        joint = above + below - own
    joint[~(np.isfinite(above) & np.isfinite(below))] = NEVER
    tops = joint.max(axis=1, keepdims=True)
    if not np.isfinite(tops).all():
        raise ParameterError("the ranks", "impossible", "possible under this prior")
    chances = np.exp(joint - tops)
    normalised: Floats = chances / chances.sum(axis=1, keepdims=True)
    return normalised


def rank_confidence(sizes: Sequence[int], q: int, prior: Any = None) -> Floats:
    """Give the attacker's mean confidence over the query's columns, for each rank.

    Parameters
    ----------
    sizes
        How many records share rank 1, 2, ...
    q : int
        The number of columns in the query.
    prior, optional
        Pr(bit = 1) for each column of the query; every database equally likely when left out.

    Examples
    --------
    >>> rank_confidence([2, 1, 1], 3).round(6).tolist()
    [0.785714, 0.428571, 0.071429]
    """
    if q == 0:
        raise ParameterError("q", q, "at least 1", "An empty query says nothing.")
    found: Floats = score_chances(sizes, q, prior) @ np.arange(q + 1) / q
    return found


def rank_cell_confidence(sizes: Sequence[int], p: Any) -> Floats:
    """Give Pr(a_ih = 1 | ranks) for each rank and each column of the query."""
    by_score = np.nan_to_num(confidence_by_score(p))
    found: Floats = score_chances(sizes, len(by_score) - 1, p) @ by_score
    return found


def rank_confidence_exact(sizes: Sequence[int], q: int) -> list[Fraction]:
    """Give `rank_confidence` under the uniform prior in exact fractions (slow; for checks)."""
    counts = read_sizes(sizes, q).tolist()
    weights = [math.comb(q, v) for v in range(q + 1)]
    above = [[w ** counts[0] for w in weights]]
    for count in counts[1:]:
        last = above[-1]
        above.append([w**count * sum(last[v + 1 :]) for v, w in enumerate(weights)])
    below = [[1] * (q + 1)]  # without the level's own weight
    for count in reversed(counts[1:]):
        last = [w**count * b for w, b in zip(weights, below[-1], strict=True)]
        below.append([sum(last[:v]) for v in range(q + 1)])
    joint = [
        [f * b for f, b in zip(up, down, strict=True)]
        for up, down in zip(above, reversed(below), strict=True)
    ]
    return [Fraction(sum(v * x for v, x in enumerate(row)), q * sum(row)) for row in joint]


def running_log_sum(values: Floats) -> Floats:
    """Give log of the sum of exp of all values before each place."""
    with np.errstate(invalid="ignore"):
        sums = np.logaddexp.accumulate(values)
    return np.concatenate([[NEVER], sums[:-1]])


def read_prior(p: Any) -> Floats:
    """Take one probability for each column."""
    chances = np.atleast_1d(np.asarray(p, dtype=np.float64))
    if chances.ndim != 1 or not ((chances >= 0) & (chances <= 1)).all():
        raise ParameterError("the prior", "no list of probabilities", "numbers between 0 and 1")
    return chances


def read_sizes(sizes: Sequence[int], q: int) -> Any:
    """Take the sizes of the groups of equal rank."""
    counts = np.asarray(sizes)
    if counts.ndim != 1 or not len(counts) or counts.dtype.kind not in "iu" or counts.min() < 1:
        raise ParameterError("sizes", "not group sizes", "whole numbers, each at least 1")
    if len(counts) > q + 1:
        raise ParameterError("sizes", f"{len(counts)} groups", f"at most q + 1 = {q + 1} of them")
    return counts.astype(np.int64)


def log_odds(p: Any) -> Any:
    """Give log(p / (1 - p)), infinite at 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-np.asarray(p))


def confidence_bounds(p: float, epsilon: float) -> tuple[float, float]:
    """Bound Pr(bit = 1) after answers of total BIT epsilon, for a cell independent of all others.

    Examples
    --------
    >>> [round(bound, 6) for bound in confidence_bounds(0.5, math.log(2))]
    [0.333333, 0.666667]
    """
    odds = math.log(p) - math.log1p(-p)
    low, high = odds - epsilon, odds + epsilon
    return 1 / (1 + math.exp(-low)), 1 / (1 + math.exp(-high))
