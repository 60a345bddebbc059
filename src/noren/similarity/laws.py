"""Laws of noisy scores and of noisy choices, as probabilities: for reports, forecasts and audits.

Maths (x = exp(-epsilon))
    clamped geometric   Pr(0 | u) = x^u / (1 + x), Pr(q | u) = x^(q-u) / (1 + x),
                        else (1 - x) / (1 + x) x^|u - r|; q = 0 gives 0.
    top-k set           Pr(S) proportional to exp(epsilon * sum over S of u_i), |S| = k
    cap on top-1        any rule that treats records alike and costs epsilon (one bit): with gap D
                        between the best record and n - 1 equal others, it names the best with
                        probability at most p_D, p_0 = 1 / n,
                        p_{t+1} = min(e^epsilon p_t, 1 - e^-epsilon (1 - p_t)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from noren.errors import ParameterError
from noren.privacy.numbers import Number, read_epsilon, whole

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

EQUAL = 1e-9  # deviations that differ by less are equal but for rounding


def clamped_geometric(q: int, epsilon: Number, u: int) -> Floats:
    """Give the law of a score u in 0..q with two-sided geometric noise, moved into 0..q.

    Examples
    --------
    >>> clamped_geometric(4, 1, 1).round(6).tolist()
    [0.268941, 0.462117, 0.170003, 0.062541, 0.036397]
    """
    most, score = whole("q", q, 0), whole("u", u, 0)
    if score > most:
        raise ParameterError("u", u, f"a score of 0 to {q}")
    if most == 0:
        return np.ones(1)
    x = math.exp(-float(read_epsilon(epsilon)))
    law = (1 - x) / (1 + x) * x ** np.abs(np.arange(most + 1) - score)
    law[0], law[most] = x**score / (1 + x), x ** (most - score) / (1 + x)
    return law


def top_set_inclusion(scores: Sequence[int], k: int, epsilon: Number) -> Floats:
    """Give the probability of each record to be in the private top-k set.

    Examples
    --------
    >>> top_set_inclusion([3, 2, 2, 0], 2, 1).round(6).tolist()
    [0.820403, 0.544672, 0.544672, 0.090253]
    """
    found, size = np.asarray(scores, np.float64), read_k(k, len(scores))
    weights = np.exp(float(read_epsilon(epsilon)) * (found - found.max()))
    sums = symmetric_sums(weights, size)
    inclusion = [
        w * symmetric_sums(np.delete(weights, i), size - 1)[size - 1] / sums[size]
        for i, w in enumerate(weights)
    ]
    return np.array(inclusion)


def symmetric_sums(weights: Floats, most: int) -> Floats:
    """Give, for each j, the sum over sets of j of the product of their weights."""
    sums = np.zeros(most + 1)
    sums[0] = 1
    for weight in weights:
        sums[1:] += weight * sums[:-1]
    return sums


def read_k(k: int, n: int) -> int:
    """Take how many records are wanted: 1 to n, both public."""
    size = whole("k", k, 1)
    if size > n:
        raise ParameterError("k", k, f"at most {n}, the number of records")
    return size


def top_one_cap(n: int, epsilon: Number, gap: int) -> float:
    """Bound how often any private rule names a record that leads n - 1 equal others by `gap`.

    Examples
    --------
    >>> round(top_one_cap(1000, 1, 6), 9)
    0.403428793
    """
    e = float(read_epsilon(epsilon))
    chance = 1 / whole("n", n, 1)
    for _ in range(whole("gap", gap, 0)):
        chance = min(math.exp(e) * chance, 1 - math.exp(-e) * (1 - chance))
    return chance


def noisy_top_one(scores: Sequence[int], epsilon: Number) -> Floats:
    """Give the probability of each record to have the highest noisy score, ties at random."""
    found = np.asarray(scores, np.int64)
    e = float(read_epsilon(epsilon))
    reach = math.ceil(45 / e) + 1
    values = np.arange(found.min() - reach, found.max() + reach + 1)
    x = math.exp(-e)
    masses = (1 - x) / (1 + x) * x ** np.abs(values - found[:, None])
    below = np.cumsum(masses, axis=1) - masses
    win = np.zeros(len(found))
    for i in range(len(found)):
        ties = np.zeros((len(found), len(values)))  # ties[m]: exactly m others at the same value
        ties[0] = 1
        for j in range(len(found)):
            if j != i:
                ties[1:] = ties[1:] * below[j] + ties[:-1] * masses[j]
                ties[0] *= below[j]
        shared = (ties / (1 + np.arange(len(found)))[:, None]).sum(axis=0)
        win[i] = (masses[i] * shared).sum()
    return win


def geometric_deviation(epsilon: Number) -> float:
    """Give the standard deviation of two-sided geometric noise, sqrt(2 x) / (1 - x)."""
    e = float(read_epsilon(epsilon))
    return math.sqrt(2 * math.exp(-e)) / -math.expm1(-e)


def flip_probability(epsilon: Number) -> float:
    """Give f = 1 / (1 + e^epsilon), with which randomized records flip each bit."""
    return 1 / (1 + math.exp(float(read_epsilon(epsilon))))


def randomized_deviation(q: int, epsilon: Number) -> float:
    """Give the standard deviation of an unbiased score from randomized records.

    Examples
    --------
    >>> round(randomized_deviation(64, 2 * math.log(2)), 10)
    5.3333333333
    """
    f = flip_probability(epsilon)
    return math.sqrt(q * f * (1 - f)) / (1 - 2 * f)


def crossover(q: int, epsilon: Number) -> int:
    """Give the least number of queries sharing a column from which on publishing once is better.

    Examples
    --------
    >>> [crossover(q, 1) for q in (4, 16, 64, 256)]
    [2, 3, 6, 11]
    """
    eps, once = float(read_epsilon(epsilon)), randomized_deviation(whole("q", q, 1), epsilon)
    queries = 1
    while geometric_deviation(eps / queries) <= once * (1 + EQUAL):  # equal for q = 2, one query
        queries += 1
    return queries


def needed_gap(n: int, epsilon: Number, chance: float = 0.5) -> int:
    """Give the least lead of the best record at which any private rule may name it this often.

    The cap grows by e^epsilon with each bit until it passes y / (1 + y), y = e^-epsilon: those
    bits are counted by a logarithm, the few after them one by one.

    Examples
    --------
    >>> needed_gap(1000, 1), needed_gap(10**6, "0.001")
    (7, 13123)
    """
    e, records = float(read_epsilon(epsilon)), whole("n", n, 1)
    y = math.exp(-e)
    gap = max(0, math.floor(math.log(records * min(chance, y / (1 + y))) / e) - 1)
    cap = math.exp(gap * e) / records
    while cap < chance:
        cap = min(cap / y, 1 - y * (1 - cap))
        gap += 1
    return gap
