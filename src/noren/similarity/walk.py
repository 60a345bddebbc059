"""The highest noisy scores without drawing noise for every record, equal in law to doing so.

Maths (Z two-sided geometric, x = exp(-1 / scale), r_i = u_i + Z_i)
    What is wanted: all records with r_i >= R, R the depth-th highest noisy score, and their values,
    ties in a uniform order. That is a function of all r_i. Records of equal score are exchangeable,
    so it is drawn level by level (c_v records of score v):
    1. Take any t. Of level v < t a Binomial(c_v, Pr(Z >= t - v)) number of uniformly chosen records
       lie at or above t, each by an independent excess j, Pr(j) = (1 - x) x^j (no memory). Of level
       v >= t draw all noise.
    2. While fewer than `depth` are found, go one value down, r = t - 1, t - 2, ..: of the `left`
       records of level v < t a Binomial(left, Pr(Z = r - v | Z <= r - v)) number lie at r. All
       levels finish r before anything stops.
    3. Cut at the depth-th highest value R, keeping all that tie with it.
    The result does not depend on t, so t may be chosen from the data: just low enough to find about
    `depth`. It must then be cut at R: a value cut at t would show t.
        Pr(Z >= d) = x^d / (1 + x), d >= 1
        Pr(Z = d | Z <= d) = (1 - x) for d <= 0, (1 - x) x^d / (1 + x - x^(d+1)) for d > 0

Privacy
    That of full noise, since the law is equal (enumerated in the audit). Stopping inside one value
    would break ties towards the true score, and is not private. The running time depends on the
    data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from noren.noise import Noise
from noren.noise.reals import decimal, precision
from noren.similarity.scoring import Indexes, Scores

WORTH = 8  # a walk pays when so many times the depth are there
FEW = 4096  # records of which all scores are listed
SPARSE = 6  # scores that at most one record in 2^6 has are listed; of others, records are tried


@dataclass(frozen=True, slots=True)
class Found:
    """Records in the order of their noisy scores; `reach`: all at or above it are here."""

    rows: Indexes
    values: Indexes
    reach: int | None


def full_draw(scores: Scores, scale: Fraction, depth: int | None, noise: Noise) -> Found:
    """Draw noise for every record, then order, then cut."""
    values = scores.astype(np.int64) + noise.discrete_laplace(scale, len(scores))
    return in_order(np.arange(len(scores)), values, depth, noise)


def in_order(rows: Indexes, values: Indexes, depth: int | None, noise: Noise) -> Found:
    """Order by value, ties uniformly at random, and keep all that tie with the depth-th."""
    reach = None
    if depth is not None and depth < len(rows):
        reach = int(np.partition(values, len(values) - depth)[len(values) - depth])
        kept = values >= reach
        rows, values = rows[kept], values[kept]
    elif depth is not None:
        reach = int(values.min())
    mixed = noise.permutation(len(rows))
    order = mixed[np.argsort(-values[mixed], kind="stable")]
    return Found(rows[order], values[order], reach)


def highest(scores: Scores, q: int, scale: Fraction, depth: int | None, noise: Noise) -> Found:
    """Find the highest noisy scores by whichever way is faster; n and depth are public."""
    if depth is None or depth * WORTH >= len(scores):
        return full_draw(scores, scale, depth, noise)
    return lazy_walk(scores, q, scale, depth, noise)


def lazy_walk(
    scores: Scores, q: int, scale: Fraction, depth: int, noise: Noise, begin: int | None = None
) -> Found:
    """Find the highest noisy scores level by level; `begin` is the first t, for tests."""
    sizes = np.bincount(scores, minlength=q + 1)
    top = first_value(sizes, float(scale), depth) if begin is None else begin
    members = Members.of(scores, sizes)
    levels = [Level(members, v, int(c)) for v, c in enumerate(sizes.tolist()) if c]
    for level in levels:
        level.open(top, scale, noise)
    value = top
    while sum(level.found for level in levels) < depth:
        value -= 1
        for level in levels:
            level.descend(value, scale, noise)
    rows = np.concatenate([part for level in levels for part in level.rows])
    values = np.concatenate([part for level in levels for part in level.values])
    return in_order(rows, values, depth, noise)


@dataclass(frozen=True, slots=True)
class Members:
    """The records of each score: those of the highest scores are listed in one pass."""

    scores: Scores
    least: int  # scores from here on are listed
    rows: Indexes

    @classmethod
    def of(cls, scores: Scores, sizes: Any) -> Members:
        """List the highest scores, as long as they are few; all, where there are few records."""
        if len(scores) <= FEW:
            return cls(scores, 0, np.arange(len(scores)))
        above = np.cumsum(sizes[::-1])[::-1]
        least = int(np.flatnonzero(above > len(scores) >> SPARSE)[-1]) + 1
        return cls(scores, least, np.flatnonzero(scores >= least))

    def of_score(self, score: int) -> Indexes:
        """List the records of one score."""
        if score < self.least:
            return np.flatnonzero(self.scores == score)
        own: Indexes = self.rows[self.scores[self.rows] == score]
        return own

    def some(self, score: int, size: int, count: int, taken: Indexes, noise: Noise) -> Indexes:
        """Choose records of a score uniformly among those not taken."""
        n = len(self.scores)
        if score >= self.least or size <= n >> SPARSE:
            own = self.of_score(score)
            if taken.size:
                own = np.setdiff1d(own, taken, assume_unique=True)
            return own[noise.subset(len(own), count)]
        chosen = dict.fromkeys(taken.tolist())
        while len(chosen) < len(taken) + count:  # any record; it counts if it is one of these
            tried = noise.integers_below(n, 2 * (count * n // size) + 8)
            for row in tried[self.scores[tried] == score].tolist():
                if len(chosen) < len(taken) + count:
                    chosen.setdefault(row)
        return np.array(list(chosen)[len(taken) :], np.int64)


@dataclass(slots=True)
class Level:
    """The records of one score, and what was drawn of them."""

    members: Members
    score: int
    size: int
    found: int = 0
    taken: Indexes = field(default_factory=lambda: np.empty(0, np.int64))
    waiting: tuple[Indexes, Indexes] | None = None  # rows and values drawn, still too low
    rows: list[Indexes] = field(default_factory=list)
    values: list[Indexes] = field(default_factory=list)

    def open(self, top: int, scale: Fraction, noise: Noise) -> None:
        """Find those at or above the first value."""
        if self.score >= top:
            own = self.members.of_score(self.score)
            values = self.score + noise.discrete_laplace(scale, self.size)
            high = values >= top
            self.keep(own[high], values[high])
            self.waiting = own[~high], values[~high]
            return
        count = noise.binomial(self.size, tail(top - self.score, scale))
        if count:
            self.keep(self.choose(count, noise), top + noise.geometric(scale, count))

    def descend(self, value: int, scale: Fraction, noise: Noise) -> None:
        """Find those at one value."""
        if self.waiting is not None:
            rows, values = self.waiting
            here = values == value
            self.keep(rows[here], values[here])
            self.waiting = rows[~here], values[~here]
            return
        left = self.size - self.found
        count = noise.binomial(left, step(value - self.score, scale)) if left else 0
        if count:
            self.keep(self.choose(count, noise), np.full(count, value, np.int64))

    def keep(self, rows: Indexes, values: Indexes) -> None:
        """Add records to what was found."""
        self.rows.append(rows)
        self.values.append(values)
        self.found += len(rows)

    def choose(self, count: int, noise: Noise) -> Indexes:
        """Choose records of the level uniformly among those not taken yet."""
        chosen = self.members.some(self.score, self.size, count, self.taken, noise)
        self.taken = np.concatenate([self.taken, chosen])
        return chosen


def first_value(sizes: Any, scale: float, depth: int) -> int:
    """Choose a value above which about as many as wanted, and a few more, are expected."""
    levels = np.flatnonzero(sizes)
    x = math.exp(-1 / scale)
    wanted = depth + 2 * math.sqrt(depth) + 1
    high = int(levels[-1]) + math.ceil(scale * math.log(max(2.0, float(sizes.sum()))))
    values = np.arange(high, int(levels[0]) - 1, -1)
    gaps = values[:, None] - levels
    beyond = np.where(
        gaps >= 1, x ** np.maximum(gaps, 0) / (1 + x), 1 - x ** np.maximum(1 - gaps, 0) / (1 + x)
    )
    enough = np.flatnonzero(beyond @ sizes[levels] >= wanted)
    return int(values[enough[0]] if enough.size else values[-1])


def tail(gap: int, scale: Fraction) -> Callable[[int], Decimal]:
    """Give Pr(Z >= gap), gap >= 1, to any number of digits."""

    def at(digits: int) -> Decimal:
        with precision(digits + 20 + len(str(gap))):
            x = decay(scale, getcontext().prec)
            return x**gap / (1 + x)

    return at


def step(gap: int, scale: Fraction) -> Callable[[int], Decimal]:
    """Give Pr(Z = gap | Z <= gap) to any number of digits."""

    def at(digits: int) -> Decimal:
        with precision(digits + 20 + len(str(int(scale))) + len(str(abs(gap)))):
            x = decay(scale, getcontext().prec)
            if gap <= 0:
                return 1 - x
            power = x**gap
            return (1 - x) * power / (1 + x - power * x)

    return at


@lru_cache(maxsize=256)
def decay(scale: Fraction, digits: int) -> Decimal:
    """Give x = exp(-1 / scale) to so many digits; x**gap loses as many as gap has."""
    with precision(digits):
        return (-decimal(1 / scale)).exp()
