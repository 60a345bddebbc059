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
SAFE = 1e-250  # below, a law is taken apart in logarithms or tilted, so that nothing vanishes


def sum_law(p: Any) -> Floats:
    """Give the law of a sum of independent coins: f(0), .., f(q)."""
    chances = read_prior(p)
    law = np.zeros(len(chances) + 1)
    law[0] = 1.0
    for done, chance in enumerate(chances.tolist()):
        moved = law[: done + 1] * chance
        law[: done + 1] *= 1 - chance
        law[1 : done + 2] += moved
    return law


def log_sum_law(p: Any) -> Floats:
    """Give log f(0), .., log f(q), also where f is too small for a float."""
    chances = read_prior(p)
    law = sum_law(chances)
    with np.errstate(divide="ignore"):
        logs = np.log(law)
        if (law >= SAFE).all():
            return logs
        own = np.zeros(1)
        for zero, one in zip(np.log1p(-chances), np.log(chances), strict=True):
            own = np.logaddexp(np.append(own + zero, NEVER), np.append(NEVER, own + one))
    return np.where(law >= SAFE, logs, own)


def tilted(p: Any, score: int) -> Floats:
    """Give coins with the same law given their sum, and with `score` as their mean sum.

    All odds are multiplied by one factor, which cancels once the sum is known.
    """
    chances = read_prior(p)
    low, high = -800.0, 800.0
    with np.errstate(divide="ignore", over="ignore"):
        odds = np.log(chances) - np.log1p(-chances)
        for _ in range(80):
            middle = (low + high) / 2
            if (1 / (1 + np.exp(-odds - middle))).sum() < score:
                low = middle
            else:
                high = middle
        found: Floats = 1 / (1 + np.exp(-odds - (low + high) / 2))
    return found


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
    if not (chances == 1).sum() <= score <= (chances > 0).sum():
        raise ParameterError("the score", u, "possible under this prior", "Some p may be 0 or 1.")
    return score_beliefs(chances, score)[0]


def score_beliefs(p: Any, score: int) -> tuple[Floats, Floats]:
    """Give Pr(a_ih = 1 | u_i = score) and Pr(a_ih = 0 | u_i = score), each to its own digits."""
    chances = read_prior(p)
    law = sum_law(chances)
    if law[score] < SAFE:
        chances = tilted(chances, score)
        law = sum_law(chances)
    others = laws_without(chances)
    nothing = np.zeros(len(chances))
    one = chances * others[:, score - 1] if score > 0 else nothing
    zero = (1 - chances) * others[:, score] if score < len(chances) else nothing
    return np.clip(one / law[score], 0.0, 1.0), np.clip(zero / law[score], 0.0, 1.0)


def beliefs_by_score(p: Any, needed: Any = None) -> tuple[Floats, Floats]:
    """Give `score_beliefs` for every score 0..q, a row for each; NaN where it is impossible.

    Scores that are too unlikely for a float are costly; they stay NaN unless `needed`.
    """
    chances = read_prior(p)
    law, others = sum_law(chances), laws_without(chances).T
    edge = np.zeros((1, len(chances)))
    ones = np.full((len(law), len(chances)), np.nan)
    zeros = ones.copy()
    plain = law >= SAFE
    divisor = law[plain, None]
    ones[plain] = np.clip(chances * np.vstack([edge, others])[plain] / divisor, 0.0, 1.0)
    zeros[plain] = np.clip((1 - chances) * np.vstack([others, edge])[plain] / divisor, 0.0, 1.0)
    least, most = int((chances == 1).sum()), int((chances > 0).sum())
    for score in np.flatnonzero(~plain):
        if least <= score <= most and (needed is None or needed[score]):
            ones[score], zeros[score] = score_beliefs(chances, int(score))
    return ones, zeros


def log_weights(q: int, prior: Any) -> Floats:
    """Give log w(v), v = 0..q, with the largest moved to 0."""
    if prior is None:
        v = np.arange(1, q + 1, dtype=np.float64)
        found = np.concatenate([[0.0], np.cumsum(np.log((q + 1 - v) / v))])
    else:
        chances = read_prior(prior)
        if len(chances) != q:
            raise ParameterError("prior", f"of {len(chances)} columns", f"of the query's {q}")
        found = log_sum_law(chances)
    moved: Floats = found - found.max()
    return moved


def score_chances(sizes: Sequence[int], q: int, prior: Any = None) -> Floats:
    """Give Pr(v_j = v | ranks): a row for each rank j, a column for each score v."""
    return np.exp(log_score_chances(sizes, q, prior))


def log_score_chances(sizes: Sequence[int], q: int, prior: Any = None) -> Floats:
    """Give log Pr(v_j = v | ranks)."""
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
    sums = np.exp(joint - tops).sum(axis=1, keepdims=True)
    normalised: Floats = joint - tops - np.log(sums)
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
    by_score = np.nan_to_num(beliefs_by_score(p)[0])
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
