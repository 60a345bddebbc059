"""The paper's own randomizers of scores and ranks, with the guarantees that they really have.

Maths
    scores   every score is replaced by r in 0..q with Pr(r | u) = x^|u - r| / z(u), x = e^-epsilon,
             z(u) = (1 + x - x^(u+1) - x^(q-u+1)) / (1 - x)
    ranks    every dense rank is replaced by a value of 1..(largest rank), Pr proportional to
             x^|rank - value|

Privacy (BIT)
    scores   The paper says 2 epsilon. That is right and loose: the tight loss, attained at
             u = 0 -> 1 and r = 0, is epsilon + ln((1 + x - x^2 - x^q) / (1 - x^(q+1))).
    ranks    The paper says 2 epsilon, from a sensitivity of 1. That is wrong, twice. The range is a
             function of the data: scores (1,0,0,0) -> (0,0,0,0) is one bit, the ranks (1,2,2,2) ->
             (1,1,1,1), and what the first can give with probability (2/3)^4 (epsilon = ln 2) the
             second cannot give at all. And one bit can move n - 1 dense ranks by 1 each. There is
             no epsilon for which this is private: its guarantee is None, and no ledger takes it.

Accuracy
    See `noren reproduce similarity`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from noren.errors import ParameterError
from noren.noise.public import generator
from noren.privacy.numbers import Number, read_epsilon, whole
from noren.similarity.laws import Floats
from noren.similarity.scoring import dense_ranks


def published_loss(q: int, epsilon: Number) -> float:
    """Give the exact privacy loss (one bit) of the paper's randomized scores.

    Examples
    --------
    >>> round(published_loss(8, 1), 10)
    1.2089316637
    """
    size, e = whole("q", q, 1), float(read_epsilon(epsilon))
    x = math.exp(-e)
    return e + math.log((1 + x - x**2 - x**size) / (1 - x ** (size + 1)))


def published_epsilon(q: int, loss: Number) -> float:
    """Give the paper's parameter at which its randomized scores cost `loss`."""
    target, low, high = float(read_epsilon(loss)), 0.0, float(read_epsilon(loss))
    for _ in range(100):
        middle = (low + high) / 2
        if middle and published_loss(q, middle) > target:
            high = middle
        else:
            low = middle
    return low


def published_law(size: int, epsilon: Number) -> Floats:
    """Give Pr(r | u) for all u, r in 0..size - 1: a row for each u."""
    places = np.arange(size)
    weights = np.exp(-float(read_epsilon(epsilon)) * np.abs(places[:, None] - places))
    law: Floats = weights / weights.sum(axis=1, keepdims=True)
    return law


@dataclass(frozen=True, slots=True)
class PublishedScores:
    """The paper's randomized scores, simulated; with secure noise they would have a price."""

    guarantee: ClassVar[None] = None

    values: Any
    q: int
    epsilon: Fraction

    @property
    def loss(self) -> float:
        """The price of one bit that secure noise of this law has, exactly."""
        return published_loss(self.q, self.epsilon)

    @property
    def claimed(self) -> Fraction:
        """The price that the paper states."""
        return 2 * self.epsilon

    @property
    def notes(self) -> tuple[str, ...]:
        """Say that these were simulated, and what the law would cost."""
        return (
            f"NOT PRIVATE: simulated with public randomness; with secure noise a bit costs epsilon "
            f"{self.loss:.4f} (the paper says {float(self.claimed):.4f})",
        )

    def __str__(self) -> str:
        return f"randomized scores of {len(self.values)} records; {self.notes[0]}"


def published_scores(scores: Any, q: int, epsilon: Number, *, seed: int) -> PublishedScores:
    """Randomize scores as the paper does, simulated with public randomness.

    For a private search with the same aim and less noise, ask `NoisyScores`.

    Examples
    --------
    >>> print(published_scores([1, 0, 2, 2], 2, 1, seed=1))
    randomized scores of 4 records; NOT PRIVATE: simulated ... (the paper says 2.0000)
    """
    size, price = whole("q", q, 1), read_epsilon(epsilon)
    found = np.asarray(scores)
    if found.size and not 0 <= found.min() <= found.max() <= size:
        raise ParameterError("scores", "outside 0..q", f"whole numbers from 0 to {size}")
    values = drawn(published_law(size + 1, price), found, generator(seed))
    return PublishedScores(values, size, price)


def drawn(law: Floats, values: Any, public: Any) -> Any:
    """Draw one outcome for each value, a row of the law being the law of one value."""
    sums = np.cumsum(law, axis=1)
    return (public.random(len(values))[:, None] > sums[values]).sum(axis=1)


@dataclass(frozen=True, slots=True)
class PublishedRanks:
    """The paper's randomized ranks; not private at any epsilon."""

    guarantee: ClassVar[None] = None
    notes: ClassVar[tuple[str, ...]] = (
        "NOT PRIVATE: the randomized ranks of the paper have no guarantee at any epsilon",
    )

    values: Any

    def __str__(self) -> str:
        return f"randomized ranks of {len(self.values)} records; {self.notes[0]}"


def published_rank(scores: Any, epsilon: Number, *, seed: int) -> PublishedRanks:
    """Randomize dense ranks as the paper does: for reproduction only, never for a release.

    Examples
    --------
    >>> print(published_rank([1, 0, 0, 0], 1, seed=1))
    randomized ranks of 4 records; NOT PRIVATE: the randomized ranks of the paper have no ...
    """
    ranks = dense_ranks(scores)
    law = published_law(int(ranks.max()), epsilon)
    return PublishedRanks(drawn(law, ranks - 1, generator(seed)) + 1)


def rank_log_ratio(epsilon: Number, levels: int, first: Any, second: Any, seen: Any) -> float:
    """Give ln Pr(seen | ranks first) / Pr(seen | ranks second), both in the public range 1..levels.

    Examples
    --------
    >>> import math
    >>> round(rank_log_ratio(math.log(2), 5, [1, 1, 1, 1], [1, 2, 2, 2], [1, 1, 1, 1]), 6)
    2.690238
    """
    law = np.log(published_law(levels, epsilon))
    one, other, out = (np.asarray(ranks) - 1 for ranks in (first, second, seen))
    if not len(one) == len(other) == len(out):
        raise ParameterError("ranks", "of different lengths", "of one length")
    return float((law[one, out] - law[other, out]).sum())


def rank_sensitivity(n: int, most: int) -> int:
    """Give the largest L1 change of dense ranks when one score in 0..most moves by 1 (tiny n)."""
    from itertools import product

    worst = 0
    for scores in product(range(most + 1), repeat=n):
        for place in range(n):
            if scores[place] < most:
                other = [*scores]
                other[place] += 1
                worst = max(worst, int(np.abs(dense_ranks(scores) - dense_ranks(other)).sum()))
    return worst
